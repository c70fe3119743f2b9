"""The documentation cannot rot: its examples are run, its tables and links are checked."""

import contextlib
import io
import re
import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import yaml
from sklearn.base import is_classifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.svm import SVR, LinearSVR

import unassuming as ua
from speed import slow_but
from unassuming.experiments import EffectStatus
from unassuming.regions import Status

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("docs/*.md", "docs/howto/*.md")
SITE = sorted(str(page.relative_to(ROOT)) for folder in FOLDERS for page in ROOT.glob(folder))
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", *SITE)
WORKFLOW = ".github/workflows/ci.yml"
MODELS, NOISES = "docs/howto/models.md", "docs/howto/choose-noise-and-level.md"
STATUSES = "docs/howto/read-an-unbounded-result.md"
ESTIMATORS = {
    cls.__name__: cls
    for cls in (
        *(LinearRegression, Ridge, RidgeClassifier, KernelRidge, SVR, Lasso, HuberRegressor),
        *(QuantileRegressor, ElasticNet, LinearSVR),
        *(LogisticRegression, ua.KernelLasso, ua.KernelHuber, ua.LSSVC),
        *(GaussianProcessRegressor, ua.ARX),
    )
} | {"InstrumentalRegression": partial(ua.InstrumentalRegression, endogenous=0, instruments=1)}


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def fenced(page):
    """The fenced blocks of a page: line number, language, text."""
    text = read(page)
    return [
        (text[: match.start(2)].count("\n"), match[1], match[2])
        for match in re.finditer(r"^```([\w{}]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def examples(page):
    """The Python blocks of a page, each with the output shown below it or None."""
    blocks = fenced(page)
    after = [*blocks, (0, "", "")][1:]
    return [
        (line, source, shown if language == "text" else None)
        for (line, kind, source), (_, language, shown) in zip(blocks, after, strict=True)
        if kind == "python"
    ]


def table(page, heading):
    """The cells of the table whose first column has that heading, without the header."""
    lines = iter(read(page).splitlines())
    for line in lines:
        if line.startswith(f"| {heading} |"):
            next(lines)
            break
    rows = []
    for line in lines:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


SHOWN = [page for page in PAGES if examples(page)]


def printed(source, page, line, names):
    """What an example prints; the line numbers of a traceback are those of the page."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile("\n" * line + source, page, "exec"), names)
    return out.getvalue()


@pytest.mark.slow_but_first
@pytest.mark.parametrize("page", slow_but(SHOWN, *(set(SHOWN) - {"README.md"})))
def test_examples_run_and_print_what_the_page_shows(page, tmp_path, monkeypatch):
    """All examples of a page in one namespace of their own, in the order of the page."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page"}
    for line, source, shown in examples(page):
        assert (printed(source, page, line, names) or None) == shown


def test_there_are_pages_with_examples():
    found = {page for page in PAGES if any(shown for *_, shown in examples(page))}
    assert {"README.md", NOISES, "docs/howto/add-an-objective.md", "docs/tutorial.md"} <= found


def words(page):
    """The number of words of a page, code left aside."""
    prose = re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)
    return len(prose.split())


def test_the_manual_stays_short():
    guides = [page for page in SITE if "howto/" in page and not page.endswith("index.md")]
    pages = ["docs/tutorial.md", *guides]
    assert len(pages) <= 16
    assert sum(words(page) for page in pages) <= 6_500
    assert words("README.md") <= 600
    assert words("docs/theory.md") <= 8_000
    assert words("CHANGELOG.md") <= 400


def test_every_supported_estimator_is_in_the_table_and_no_other():
    with pytest.raises(TypeError) as refused:
        ua.objectives.factory_for(object())
    supported = re.search(r"one of (.*?), or a Pipeline", str(refused.value))[1].split(", ")
    listed = [cells[0].strip("`").removeprefix("ua.") for cells in table(MODELS, "estimator")]
    # Other tests may have registered estimators of their own.
    assert set(listed) == set(ESTIMATORS)
    assert set(listed) <= set(supported)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", ["Ridge", "RidgeClassifier", "ua.LSSVC"])
def test_the_table_converts_hyper_parameters_as_the_library_does(name):
    """The estimate solves the normal equations of Σ r² / n + λ ‖coef‖² with λ of the table."""
    (conversion,) = [row[2] for row in table(MODELS, "estimator") if row[0] == f"`{name}`"]
    estimator = ESTIMATORS[name.removeprefix("ua.")]()
    estimator.set_params(**{"C" if "C" in conversion else "alpha": 0.7})
    values = {"n": 12, "alpha": 0.7, "C": 0.7}
    lam = eval(re.fullmatch(r"`λ = (.*)`", conversion)[1], values)
    X, y, _ = data_of(estimator)
    design = np.column_stack([np.ones(12), X])
    penalty = np.diag([0.0, 12 * lam, 12 * lam])
    expected = np.linalg.solve(design.T @ design + penalty, design.T @ y)
    np.testing.assert_allclose(build(estimator).estimate, expected, atol=1e-9)


@pytest.mark.parametrize("cells", table(MODELS, "estimator"), ids=lambda cells: cells[0])
def test_the_table_says_which_models_take_sample_weights(cells):
    estimator = ESTIMATORS[cells[0].strip("`").removeprefix("ua.")]()
    weights = [1.0, 2.0, 3.0] * 4
    if cells[3] == "yes":
        assert build(estimator, sample_weight=weights).n == 12
    else:
        assert cells[3] == "no"
        with pytest.raises(ValueError, match=r"sample_weight (varies|does not apply)"):
            build(estimator, sample_weight=weights)


def data_of(estimator):
    """Twelve rows with two columns, labels for a classifier."""
    make = ua.datasets.labels if is_classifier(estimator) else ua.datasets.linear
    return make(n=12, d=2, random_state=0)


def build(estimator, **options):
    """A region of a model with 12 rows."""
    X, y, _ = data_of(estimator)
    X = X[:, 0] if isinstance(estimator, ua.ARX) else X
    return ua.confidence_region(estimator, X, y, m=10, random_state=0, **options)


def test_every_named_noise_is_in_the_table_and_no_other():
    column = " ".join(cells[1] for cells in table(NOISES, "you assume that the noise is"))
    assert set(re.findall(r'"([\w-]+)"', column)) == set(ua.noise.NAMED)


@pytest.mark.parametrize(
    ("page", "heading", "statuses"),
    [
        (STATUSES, "`status.name`", Status),
        ("docs/howto/randomization-inference.md", "`interval.status.name`", EffectStatus),
    ],
)
def test_every_status_is_in_the_table_and_no_other(page, heading, statuses):
    listed = [cells[0].strip("`") for cells in table(page, heading)]
    assert sorted(listed) == sorted(status.name for status in statuses)


@pytest.mark.parametrize("page", PAGES)
def test_names_of_the_library_exist(page):
    for dotted in re.findall(r"\bua((?:\.\w+)+)", read(page)):
        found = ua
        for name in dotted.strip(".").split("."):
            assert hasattr(found, name), f"{page} names ua{dotted}"
            found = getattr(found, name)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)\s]+)\)", read(page))
    local = [target for target in targets if not target.startswith(("http", "#"))]
    missing = [target for target in local if not (ROOT / page).parent.joinpath(target).exists()]
    assert not missing


@pytest.mark.parametrize("page", [*PAGES, ".ci/run", WORKFLOW])
def test_make_targets_exist(page):
    if not (ROOT / page).exists():
        pytest.skip(f"{page} is not part of the source archive")
    mentioned = set(re.findall(r"(?:^|`|run: )make ([a-z-]+)", read(page), re.MULTILINE))
    assert mentioned <= targets()


def targets():
    return set(re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE))


def matrix(job):
    return job.get("strategy", {}).get("matrix", {})


def test_the_workflow_runs_what_has_to_pass():
    if not (ROOT / WORKFLOW).exists():
        pytest.skip("the workflow is not part of the source archive")
    jobs = yaml.safe_load(read(WORKFLOW))["jobs"].values()
    commands = {step["run"] for job in jobs for step in job["steps"] if "run" in step}
    several = {target for job in jobs for target in matrix(job).get("target", ())}
    named = {command.removeprefix("make ") for command in commands} - {"${{ matrix.target }}"}
    required = set(re.findall(r"^(?:CI=true )?make ([a-z-]+)", read(".ci/run"), re.MULTILINE))
    assert required | {"test-oldest"} == named | several
    assert named | several <= targets()


def test_the_citation_names_the_article_and_the_developers():
    cited = yaml.safe_load(read("CITATION.cff"))
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert cited["authors"] == project["authors"]
    assert cited["license"] == project["license"]
    (article,) = cited["references"]
    readme = " ".join(read("README.md").split())
    assert article["title"] in readme
    assert article["doi"] in readme
    assert [author["family-names"] for author in article["authors"]] == ["Csáji", "Kis"]

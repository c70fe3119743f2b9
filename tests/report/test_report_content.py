"""What a report says, as values, and the page made of it."""

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import unassuming as ua
from unassuming.report.collect import nested

UGLY = "<b>\"x\" & 'y'</script> $a$"


def table(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({UGLY: rng.normal(size=n), "z": rng.uniform(size=n)})
    return X, 2 * X[UGLY].to_numpy() + rng.laplace(size=n)


@pytest.fixture(scope="module")
def region():
    return ua.confidence_region(LinearRegression(), *table(), random_state=0, m=100)


@pytest.fixture(scope="module")
def content(region):
    return ua.report.collect(region, target="<target>", levels=[0.9, 0.5])


@pytest.fixture(scope="module")
def page(content):
    return Reader(ua.report.render(content))


class Reader(HTMLParser):
    """The elements and the text of a page, as a browser reads them."""

    def __init__(self, source):
        super().__init__()
        self.source, self.tags, self.texts = source, [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, text):
        self.texts.append(text)

    def number(self, text):
        return float(text.rstrip("\u2007\u2008").replace("\u2212", "-").replace("∞", "inf"))


def test_the_content_agrees_with_the_region(region, content):
    summary = region.summary(0.9)
    np.testing.assert_array_equal(content.summary.lower, summary.lower)
    np.testing.assert_array_equal(content.summary.pvalue, summary.pvalue)
    assert content.lack_of_fit == region.lack_of_fit()
    assert content.assumptions == region.diagnose().rests_on
    assert [panel.name for panel in content.bands.panels] == [UGLY, "z"]
    assert [column.name for column in content.columns] == ["<target>", UGLY, "z"]
    assert content.columns[0].quantiles[0] == region.objective.y.min()
    assert content.columns[0].counts.sum() == 80


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, np.asarray])
def test_the_bands_are_those_of_the_region_at_all_inputs_at_once(form):
    X, y = table()
    given = form(X) if form is not pl.DataFrame else pl.DataFrame(X.to_dict("list"))
    region = ua.confidence_region(LinearRegression(), given, y, random_state=0, m=100)
    first, second = ua.report.collect(region, levels=[0.9]).bands.panels
    middle = X.iloc[[np.argmin(sum(abs(X[c] - X[c].median()) / np.ptp(X[c]) for c in X))]]
    inputs = pd.concat([middle] * (len(first.x) + len(second.x)), ignore_index=True)
    inputs.loc[: len(first.x) - 1, UGLY] = first.x
    inputs.loc[len(first.x) :, "z"] = second.x
    same = inputs if form is pd.DataFrame else inputs.to_numpy()
    if form is pl.DataFrame:
        same = pl.DataFrame(inputs.to_dict("list"))
    band = region.band(same, level=0.9)
    drawn = np.concatenate([first.lower[0.9], second.lower[0.9]])
    np.testing.assert_array_equal(drawn, band.lower)


def test_names_are_escaped_everywhere_and_nothing_is_fetched(page):
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 1
    assert "b" not in tags
    assert UGLY in page.texts
    for tag, attributes in page.tags:
        assert not {"src", "srcset", "action"} & set(attributes), (tag, attributes)
        assert attributes.get("href", "#").startswith("#"), (tag, attributes)
    for outside in ("url(http", "@import", "://", "<metadata"):
        assert outside not in page.source


def test_every_picture_is_drawn_and_has_a_text(content, page):
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    labels = [attributes["aria-label"] for attributes in pictures]
    assert labels.count("histogram") == len(content.columns)
    expected = [
        "Intervals of the coefficients",
        f"<target> over {UGLY}: the estimate, with bands of level 90 %, 50 %",
        "<target> over z: the estimate, with bands of level 90 %, 50 %",
        "Residuals over the fitted values",
        "Residuals in the order of the rows",
    ]
    assert [label for label in labels if label != "histogram"] == expected
    assert all(attributes["role"] == "img" for attributes in pictures)
    assert page.texts.count("90 % simultaneous band") == 2
    kept = [attributes["id"] for tag, attributes in page.tags if "id" in attributes if tag == "g"]
    assert kept == []


def test_the_same_seed_gives_the_same_bytes_whatever_the_style(region, tmp_path):
    from matplotlib import rc_context

    again = ua.confidence_region(LinearRegression(), *table(), random_state=0, m=100)
    first = region.report(tmp_path / "a.html", levels=[0.9]).read_bytes()
    with rc_context({"font.size": 20, "lines.linewidth": 5}):
        assert again.report(tmp_path / "b.html", levels=[0.9]).read_bytes() == first


def test_a_line_through_a_curve_is_reported_with_a_warning():
    X, y, _ = ua.datasets.sine(n=120, random_state=0)
    found = ua.confidence_region(LinearRegression(), X, y, random_state=0, m=100)
    content = ua.report.collect(found)
    assert "cannot both hold" in content.warnings[0]
    assert content.warnings[0] in Reader(ua.report.render(content)).texts


@pytest.mark.parametrize(("noise", "advised"), [("symmetric", True), ("blocks", False)])
def test_a_warning_about_skewed_residuals_says_what_to_do(noise, advised):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(150, 1)), rng.lognormal(sigma=1.5, size=150)
    assumed = ua.noise.BlockSymmetric(np.arange(150)) if noise == "blocks" else noise
    found = ua.confidence_region(LinearRegression(), X, y, noise=assumed, random_state=0, m=100)
    said = " ".join(ua.report.collect(found, levels=[0.9]).warnings)
    assert "symmetry, p-value" in said
    remedy = "such as the median, QuantileRegressor(alpha=0), or noise='exchangeable'"
    assert (remedy in said) == advised


@pytest.mark.slow
def test_models_without_a_summary_say_so_and_show_what_they_have():
    X, y, _ = ua.datasets.sine(n=25, random_state=0)
    kernel = ua.confidence_region(KernelRidge(kernel="rbf", gamma=0.5), X, y, random_state=0, m=100)
    plain = ua.report.collect(kernel)
    assert plain.summary is None
    assert plain.bands.panels == ()
    assert "unbounded" in plain.bands.sentences[0]
    assert any("norm_bound" in sentence for sentence in plain.bands.sentences)
    assert not any("Each band" in sentence for sentence in plain.guaranteed)
    bounded = ua.report.collect(kernel, norm_bound=30, levels=[0.9])
    assert len(bounded.bands.panels) == 1
    assert "Covers the function itself, if its norm is at most 30." in bounded.bands.sentences[0]
    assert any("norm bound of 30" in sentence for sentence in bounded.not_guaranteed)
    for content in (plain, bounded):
        assert "There is no table of coefficients." in Reader(ua.report.render(content)).texts


@pytest.mark.slow
@pytest.mark.parametrize("model", [RidgeClassifier(), LogisticRegression()])
def test_classifiers(model):
    X, y, _ = ua.datasets.sine(n=25, random_state=0)
    labels = np.where(y > 0, "yes", "no")
    found = ua.confidence_region(model, X, labels, random_state=0, m=100)
    content = ua.report.collect(found, levels=[0.9])
    assert content.columns[0].common == ("no", "yes")
    assert content.summary is None
    assert ("Labels", "+1 is yes, -1 is no") in content.facts
    assert bool(content.bands.panels) == isinstance(model, RidgeClassifier)
    assert "<svg" in ua.report.render(content)


def test_bands_of_a_quantile_cover_the_quantile():
    X, y, _ = ua.datasets.sine(n=25, random_state=0)
    model = QuantileRegressor(quantile=0.7, alpha=0)
    found = ua.confidence_region(model, X, y, random_state=0, m=100)
    said = ua.report.collect(found, levels=[0.5]).bands.sentences[0]
    assert "Covers the 0.7-quantile of y given x, if it lies in the span of the features." in said


def test_text_columns_keep_the_values_of_one_row():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"city": ["a", "b", "b"] * 30, "size": rng.integers(0, 9, size=90)})
    one_hot = (OneHotEncoder(drop="first"), ["city"])
    encode = make_column_transformer(one_hot, ("passthrough", ["size"]))
    model = make_pipeline(encode, LinearRegression())
    found = ua.confidence_region(model, X, rng.normal(size=90), random_state=0, m=100)
    content = ua.report.collect(found)
    assert [panel.name for panel in content.bands.panels] == ["size"]
    assert content.columns[1].common == ("b", "a")


def test_half_of_a_band_far_wider_than_the_outputs_is_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    found = ua.confidence_region(LinearRegression(), X, rng.normal(size=40), random_state=0, m=100)
    bands = ua.report.collect(found, levels=[0.9, 0.5]).bands
    low, high = bands.vertical
    ends = [end for panel in bands.panels for end in (panel.lower[0.5], panel.upper[0.5])]
    assert np.mean([(low <= end) & (end <= high) for end in ends]) >= 0.5
    assert high - low > 10 * np.ptp(found.objective.y)


def test_few_rows_and_infinite_intervals():
    X = np.arange(4.0)[:, None]
    found = ua.confidence_region(LinearRegression(), X, X[:, 0], m=8, random_state=0)
    content = ua.report.collect(found)
    assert np.isinf(content.summary.upper).all()
    page = ua.report.render(content).partition("<script>")[0]
    assert "NaN" not in page
    assert not re.search(r">[^<]*\bnan\b", page)


def test_what_has_no_report_says_so(region, tmp_path):
    X, y = table(40)
    stream = ua.StreamingRegion(LinearRegression())
    stream.partial_fit(X.to_numpy(), y)
    with pytest.raises(ua.NotAvailable, match="a report needs the rows"):
        stream.region().report(tmp_path / "report.html")
    with pytest.raises(ValueError, match="levels is empty"):
        ua.report.collect(region, levels=[])
    with pytest.raises(ValueError, match="level"):
        ua.report.collect(region, levels=[0.999])
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_a_report_says_what_to_install(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import numpy as np, unassuming as ua\n"
        "from sklearn.linear_model import LinearRegression\n"
        "X = np.arange(20.0)[:, None]\n"
        "region = ua.confidence_region(LinearRegression(), X, X[:, 0] ** 2)\n"
        "try: region.report('report.html')\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert ran.stdout == 'Drawing needs matplotlib: pip install "unassuming[plot]"\n'
    assert not list(tmp_path.iterdir())


# --- numbers ------------------------------------------------------------------------------------


def rows_of(content, lower, upper):
    """The table of coefficients with these intervals, as texts."""
    few = slice(len(lower))
    names = tuple(f"c{k}" for k in range(len(lower)))
    middle = np.where(np.isfinite(lower), (lower + upper) / 2, upper)
    parts = {"estimate": middle, "lower": lower, "upper": upper}
    one = content.summary
    given = {n: np.resize(getattr(one, n), len(lower)) for n in ("pvalue", "level")}
    both = [n for n in ("cell_estimate", "model_estimate") if hasattr(one, n)]
    given |= dict.fromkeys(both, parts["estimate"])
    summary = replace(one, names=names, method=one.method[:1] * len(lower), **parts, **given)
    page = ua.report.render(replace(content, summary=summary))
    body = re.search(r'class="summary sortable">.*?<tbody>(.*?)</tbody>', page, re.DOTALL)[1]
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.split("</tr>")]
    return cells[few]


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e3, 1e8, 1e15])
def test_intervals_are_rounded_outward_and_keep_their_sign(content, page, size):
    rng = np.random.default_rng(3)
    low, high = size * np.sort(rng.normal(size=(50, 2)), axis=1).T
    for (_, a, b, _), lower, upper in zip(rows_of(content, low, high), low, high, strict=True):
        left, right = page.number(a), page.number(b)
        assert left <= lower
        assert upper <= right
        assert np.sign([left, right]).tolist() == np.sign([lower, upper]).tolist()
        allowed = (
            0.11 * (upper - lower) if 1e-4 < size < 1e7 else 0.01 * np.abs([left, right]).sum()
        )
        assert right - left <= upper - lower + 2 * max(allowed, 1e-8 if size == 1e-3 else 0.0)


def test_numbers_align_on_the_decimal_point_and_round_ends_stay(content):
    low, high = np.array([0.29, -310.0, -np.inf]), np.array([1.1, 4000.0, 2.0])
    cells = rows_of(content, low, high)
    assert [text.rstrip("\u2007\u2008") for text in cells[0][1:3]] == ["0.29", "1.10"]
    assert cells[2][1].rstrip("\u2007\u2008") == "\u2212∞"
    behind = [len(row[2]) - len(row[2].rstrip("\u2007\u2008").partition(".")[0]) for row in cells]
    assert len(set(behind)) == 1


# --- several levels -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["joint region", "balanced cells"])
def test_bounds_of_a_joint_region_lie_within_those_of_a_higher_level(region, method):
    def ended_early(*, level, **options):
        """A search at level 0.5 that has left the first interval wide."""
        found = region.interval(level=level, simultaneous=True, **options)
        if 0.5 in found:
            far = found[0.5].lower - np.array([100.0, 0.0, 0.0])
            found[0.5] = replace(found[0.5], lower=far, method=method)
        return found

    found = nested(ended_early, [0.9, 0.5], {"method": "joint"})
    exact = region.interval(level=[0.9, 0.5], method="joint", simultaneous=True)
    np.testing.assert_array_equal(found[0.9].lower, exact[0.9].lower)
    np.testing.assert_array_equal(found[0.5].lower[1:], exact[0.5].lower[1:])
    first = exact[0.9].lower[0] if method == "joint region" else exact[0.5].lower[0] - 100
    assert found[0.5].lower[0] == first

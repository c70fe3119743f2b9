"""``unassuming region`` and ``test``: the library's own numbers, and what the screen says."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unassuming as ua
from speed import slow_but
from unassuming.cli.build import Advice, build_in_memory
from unassuming.cli.columns import find
from unassuming.cli.options import Model, Problem

MODELS = ("spline", "krr", "ridge", "ols", "svr", "klasso", "huber")
OUT = Path("unassuming-region")


def shown_by(run, *words):
    result = run(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def report(run, *words):
    result = run("region", *words)
    assert result.exit_code == 0, result.stderr
    return result


@pytest.mark.slow
def test_the_band_is_that_of_the_library(run, tables):
    report(run, "people.csv", "--target", "y", "--model", "ols", "--seed", 3, "--level", 0.8)
    people = pd.read_csv(tables / "people.csv")
    X = people.drop(columns="y")
    region = ua.confidence_region(LinearRegression(), X, people["y"], random_state=3)
    expected = region.band(X, level=0.8, method="auto")
    found = pd.read_csv(OUT / "band.csv")
    bounds = ["level", "estimate", "lower", "upper", "attained_level"]
    assert list(found) == ["age", "income", "height", *bounds]
    np.testing.assert_allclose(found[["age", "income", "height"]], X, rtol=1e-15)
    for name in ("estimate", "lower", "upper"):
        np.testing.assert_allclose(found[name], getattr(expected, name), rtol=1e-9)


def test_unbounded_is_infinite_in_the_files_and_explained_on_the_screen(run):
    result = report(run, "sine.csv", "--target", "y", "--model", "krr", "--level", 0.9)
    assert np.isposinf(pd.read_csv(OUT / "band.csv")["upper"]).all()
    found = json.loads((OUT / "region.json").read_text())
    assert found["band"][0]["status"] in ("UNBOUNDED", "UNDETERMINED")
    assert "--norm-bound B" in result.stdout
    assert "heuristic" in result.stdout


@pytest.mark.parametrize("model", slow_but(MODELS, "spline", "krr"))
def test_every_model_of_a_number_gives_files(run, model):
    result = report(run, "sine.csv", "--target", "y", "--model", model, "--m", 20)
    written = {path.name for path in OUT.iterdir()}
    assert {"band.csv", "region.json"} <= written
    finite = np.isfinite(pd.read_csv(OUT / "band.csv")["upper"]).any()
    assert ("band.png" in written) == finite
    assert ("no finite band" in result.stdout) or finite
    for name in written:
        assert str(OUT / name) in result.stdout


@pytest.mark.slow
def test_the_same_command_twice_gives_the_same_bytes(run, real_pictures):
    def files(out, seed):
        words = ("--model", "ols", "--features", "x", "--seed", seed, "--out", out, "--m", 20)
        report(run, "sine.csv", "--target", "y", *words)
        return {path.name: path.read_bytes() for path in Path(out).iterdir()}

    one, two, other = files("one", 0), files("two", 0), files("other", 1)
    assert set(one) == {"band.csv", "region.json", "band.png", "coefficients.png"}
    assert one == two
    assert all(one[name] != other[name] for name in one)


# One number at a time, and the method of simultaneous bounds


def test_the_pointwise_band_is_that_of_the_library(run, tables):
    words = ("--model", "ols", "--level", 0.9, "--pointwise", "--out", "out")
    shown = shown_by(run, "region", "sine.csv", "--target", "y", *words)
    sine = pd.read_csv(tables / "sine.csv")
    region = ua.confidence_region(LinearRegression(), sine[["x"]], sine["y"], random_state=0)
    found = pd.read_csv("out/band.csv")
    assert found["level"].unique().tolist() == [0.9]
    expected = region.band(found[["x"]], level=0.9, simultaneous=False)
    np.testing.assert_allclose(found["lower"], expected.lower, rtol=1e-9)
    np.testing.assert_allclose(found["attained_level"], expected.attained)
    content = json.loads(Path("out/region.json").read_text())
    assert content["simultaneous"] is False
    one = region.interval(level=0.9, simultaneous=False)
    assert content["intervals"][0]["upper"]["x"] == pytest.approx(one.upper[1], rel=1e-9)
    assert "The finite bounds hold one at a time" in shown
    assert Path("out/band.png").exists()


# Labels and quantiles


@pytest.fixture
def one(write):
    """Write a table whose target has the same value everywhere."""

    def to(label):
        x = np.random.default_rng(0).normal(size=20).round(3)
        table = pd.DataFrame({"x": x, "mean": 0.9, "label": label})
        return write("one.csv", table.to_csv(index=False))

    return to


def classes(run, *words):
    result = run("region", *words, "--level", 0.9)
    assert result.exit_code == 0, result.stderr
    found = json.loads((OUT / "region.json").read_text())
    return [found["classes"]["-1"], found["classes"]["+1"]]


@pytest.mark.slow
def test_names_choose_the_sign_of_two_classes(run):
    words = ("labels.csv", "--target", "label", "--features", "a", "--model", "ls-svc")
    assert classes(run, *words) == ["no", "yes"]
    straight = json.loads((OUT / "region.json").read_text())["estimate"]
    assert classes(run, *words, "--classes", "yes,no") == ["yes", "no"]
    turned = json.loads((OUT / "region.json").read_text())["estimate"]
    assert turned == {name: pytest.approx(-value) for name, value in straight.items()}


# unassuming test


@pytest.mark.parametrize("candidate", ["truth", "late"])
def test_the_verdict_is_that_of_the_library(run, tables, candidate):
    words = ("--candidate", candidate, "--features", "x", "--model", "krr", "--seed", 5)
    result = run("test", "candidates.csv", "--target", "y", *words)
    assert result.exit_code == 0, result.stderr
    table = pd.read_csv(tables / "candidates.csv")
    model = make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", gamma=1.0, alpha=1.0))
    region = ua.confidence_region(model, table[["x"]], table["y"], random_state=5)
    expected = region.test(lambda X: table[candidate])
    assert str(expected) in result.stdout
    inside = [line.split()[1] for line in result.stdout.splitlines() if line[:3] in ("0.9", "0.5")]
    assert inside == ["inside" if expected.rank <= limit else "outside" for limit in (122, 64)]


def test_the_candidate_is_never_a_feature(run, tables, tmp_path):
    table = pd.read_csv(tables / "candidates.csv")
    alone = tmp_path / "alone.csv"
    table[["x", "y", "truth"]].to_csv(alone, index=False)
    words = ("--target", "y", "--candidate", "truth", "--m", 20)
    by_default, named = run("test", alone, *words), run("test", alone, *words, "--features", "x")
    assert by_default.exit_code == 0
    assert by_default.stdout == named.stdout
    refused = run("test", alone, *words, "--features", "x,truth")
    assert refused.exit_code == 2
    assert "beside 'y' and 'truth', given 'truth'" in refused.stderr


# Advice


@pytest.fixture
def advice(write):
    """What may be said about a table of numbers or labels and the options of a region."""

    def of(rows, columns, *, labels=False, norm_bound=None, pointwise=False, **options):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(rows, columns))).rename(columns=lambda j: f"x{j}")
        y = rng.integers(2, size=rows) if labels else rng.normal(size=rows)
        path = write("advice.csv", X.assign(y=y).to_csv(index=False))
        problem = Problem(path, "y", **({"model": Model.OLS} | options))
        return Advice(build_in_memory(problem, *find(problem)), norm_bound, pointwise)

    return of


@pytest.mark.filterwarnings("ignore:y has only two values")
def test_a_quantile_is_advised_only_where_it_has_bounds(advice):
    text = "Use a regression quantile, unassuming region --model quantile."
    assert advice(60, 3).holds(text)
    assert not advice(60, 4).holds(text)
    assert not advice(60, 3, labels=True).holds(text)


@pytest.mark.filterwarnings("ignore:y has only two values")
@pytest.mark.parametrize("model", [Model.OLS, Model.LS_SVC, Model.LOGISTIC])
@pytest.mark.parametrize("columns", [2, 5])
def test_no_advice_leads_from_one_model_to_another_and_back(advice, model, columns):
    about = advice(40, columns, labels=True, model=model)
    led = [name for name in Model if about.holds(f"--model {name}")]
    few = model is not Model.LS_SVC and columns <= 3
    assert led == ([Model.LS_SVC] if few else [])
    assert ("ls-svc" in about.built.two_values) == (model is Model.OLS)


def test_a_norm_bound_is_advised_where_it_gives_bounds(run, advice):
    text = "assume a norm bound, --norm-bound B"
    assert advice(12, 6).holds(text)
    assert not advice(12, 6, norm_bound=5.0).holds(text)
    assert not advice(40, 2, model=Model.SVR).holds(text)
    assert not advice(40, 2, model=Model.QUANTILE).holds(text)
    words = ("--target", "y", "--model", "ols", "--norm-bound", 5)
    path = advice(12, 6).built.problem.data
    report(run, path, *words)
    assert np.isfinite(pd.read_csv(OUT / "band.csv")["upper"]).all()


def test_advice_about_levels_columns_and_noise_depends_on_the_table(advice):
    about = advice(40, 3, levels=[0.9, 0.6])
    assert about.holds("--level 0.5 or less")
    assert not about.holds("--level 0.7 or less")
    assert about.holds("use fewer features, or more rows")
    assert not advice(40, 1).holds("use fewer features, or more rows")
    assert not advice(40, 3, model=Model.KRR).holds("leave out columns that depend on others")
    assert not advice(10, 6, noise="exchangeable").holds("--noise symmetric, if it is symmetric")
    assert advice(40, 3, noise="exchangeable").holds("--noise symmetric, if it is symmetric")
    assert not advice(40, 3, pointwise=True).holds("--pointwise")
    assert advice(40, 3, pointwise=True).holds("unassuming region without --pointwise")
    kept = advice(40, 9).sentences("A fact. Use --model quantile. Another one.")
    assert kept == "A fact. Another one."

"""``unassuming summary`` and ``region --pointwise``: the library's own numbers, one at a time."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from unassuming.cli import _streamed
from unassuming.cli.tables import _sources

OUT = Path("unassuming-summary")
NUMBERS = ["estimate", "lower", "upper", "pvalue", "model_estimate"]


@pytest.fixture
def schools(write):
    """A table with labels of clusters and weights, and what the library makes of it."""
    X, y, _ = ua.datasets.linear(n=60, d=2, random_state=0)
    table = pd.DataFrame(X, columns=["age", "income"]).assign(y=y)
    table["school"] = [f"school {row % 12}" for row in range(60)]
    table["weight"] = np.linspace(0.5, 2, 60)
    table.loc[7, "weight"] = 0.0
    path = write("schools.csv", table.to_csv(index=False))
    return path, pd.read_csv(path)


def printed(run, *words):
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def refused(result, message):
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr


@pytest.mark.slow
def test_the_files_contain_the_numbers_of_the_library(run, schools):
    path, table = schools
    words = ("--clusters", "school", "--weights", "weight", "--seed", 5)
    shown = printed(run, "summary", path, "--target", "y", *words)
    region = ua.confidence_region(
        LinearRegression(),
        table[["age", "income"]],
        table["y"],
        noise=ua.noise.BlockSymmetric(table["school"]),
        sample_weight=table["weight"],
        random_state=5,
    )
    expected = region.summary(0.95)
    found = pd.read_csv(OUT / "summary.csv")
    assert list(found) == ["level", "name", *NUMBERS, "attained_level", "method"]
    assert found["name"].tolist() == ["intercept", "age", "income"]
    assert found["level"].tolist() == [0.95] * 3
    np.testing.assert_allclose(found[NUMBERS], expected.to_frame()[NUMBERS], rtol=1e-9)
    np.testing.assert_allclose(found["attained_level"], expected.level)
    assert str(expected) in shown
    content = json.loads((OUT / "summary.json").read_text())
    assert (content["clusters"], content["weights"], content["rows"]) == ("school", "weight", 59)
    (one,) = content["summaries"]
    assert one["coefficients"][1]["lower"] == pytest.approx(expected.lower[1], rel=1e-9)
    assert (OUT / "forest.png").exists()


@pytest.mark.slow
def test_clusters_and_weights_change_the_intervals_and_no_seed_does(run, schools):
    path, _ = schools

    def lower(*words):
        columns = ("--features", "age,income")
        printed(run, "summary", path, "--target", "y", *columns, *words)
        return tuple(pd.read_csv(OUT / "summary.csv")["lower"])

    choices = [(), ("--clusters", "school"), ("--weights", "weight")]
    found = {words: lower(*words) for words in choices}
    assert len(set(found.values())) == 3
    assert lower("--seed", 1) == found[()]


def test_several_levels_come_from_the_highest_on(run, schools):
    path, table = schools
    words = ("--features", "age", "--model", "ridge", "--level", 0.8, "--level", 0.975)
    printed(run, "summary", path, "--target", "y", *words)
    region = ua.confidence_region(Ridge(), table[["age"]], table["y"], random_state=0)
    found = pd.read_csv(OUT / "summary.csv")
    assert found["level"].tolist() == [0.975, 0.975, 0.8, 0.8]
    for level, rows in found.groupby("level"):
        np.testing.assert_allclose(rows["upper"], region.summary(level).upper, rtol=1e-9)


def test_infinite_intervals_are_explained_with_options_of_the_command_line(run, write):
    path = write("few.csv", "x,y\n1,2\n2,3\n3,5\n4,4\n5,7\n")
    shown = " ".join(printed(run, "summary", path, "--target", "y").split())
    found = pd.read_csv(OUT / "summary.csv")
    assert np.isposinf(found["upper"]).all()
    content = json.loads((OUT / "summary.json").read_text())
    assert content["summaries"][0]["coefficients"][0]["upper"] == "inf"
    assert "--norm-bound B of unassuming region" in shown
    assert "interval(" not in shown
    assert "--norm-bound B" in content["summaries"][0]["notes"][-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--clusters y", "--clusters is the target"),
        ("--clusters place", "the column 'place' is not in schools.csv"),
        ("--clusters school --weights school", "--weights is the column of --clusters"),
        ("--clusters school --features age,school", "neither the target nor the clusters, given"),
        ("--clusters school --noise exchangeable", "expected --noise symmetric, given --noise"),
        ("--weights age --clusters school", "the column 'age' has negative weights"),
        ("--weights school", "row 1 below the header. Choose a column of numbers."),
        ("--model krr", "expected spline or ridge or ols or iv, given krr"),
        ("--model logistic", "--model has no coefficients to summarise"),
        ("--features age --level 1", "expected numbers between 0 and 1"),
    ],
)
def test_bad_options_are_refused_in_one_line(run, schools, options, message):
    refused(run("summary", schools[0], "--target", "y", *options.split()), message)
    assert not OUT.exists()


@pytest.mark.slow
def test_a_cluster_without_a_label_is_refused_or_dropped(run, schools, write):
    _, table = schools
    table.loc[3, "school"] = None
    path = write("gap.csv", table.drop(columns="weight").to_csv(index=False))
    words = ("summary", path, "--target", "y", "--clusters", "school")
    refused(run(*words), "the column 'school' has missing values")
    assert "1 rows with missing values dropped" in printed(run, *words, "--drop-missing")


# The same columns for the other commands


@pytest.mark.slow
def test_clusters_and_weights_of_a_region(run, schools):
    path, table = schools
    words = ("--model", "ols", "--level", 0.9, "--clusters", "school", "--weights", "weight")
    printed(run, "region", path, "--target", "y", *words, "--out", "out")
    X = table.drop(columns=["y", "school", "weight"])
    noise = ua.noise.BlockSymmetric(table["school"])
    region = ua.confidence_region(
        LinearRegression(),
        X,
        table["y"],
        noise=noise,
        sample_weight=table["weight"],
        random_state=0,
    )
    content = json.loads(Path("out/region.json").read_text())
    assert (content["clusters"], content["weights"]) == ("school", "weight")
    expected = region.interval(level=0.9, method="auto", simultaneous=True)
    found = content["intervals"][0]
    assert found["method"] == expected.method
    np.testing.assert_allclose(list(found["lower"].values()), expected.lower, rtol=1e-9)
    refused(
        run("region", path, "--target", "y", "--model", "ols", "--clusters", "school", "--stream"),
        "--clusters school needs all rows at once: expected no --clusters with --stream",
    )
    labels = run("region", path, "--target", "y", "--model", "logistic", "--clusters", "school")
    refused(labels, "--clusters needs a regression")


@pytest.mark.slow
def test_the_method_of_simultaneous_bounds(run, write):
    X, y, _ = ua.datasets.linear(n=400, d=6, random_state=0)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    path = write("wide.csv", table.to_csv(index=False))
    inputs = table.iloc[:, :6]
    region = ua.confidence_region(LinearRegression(), inputs, y, m=40, random_state=0)
    for method, name in (("auto", "balanced cells"), ("joint", "joint region")):
        words = ("--model", "ols", "--level", 0.9, "--m", 40, "--method", method, "--out", method)
        shown = printed(run, "region", path, "--target", "y", *words)
        found = pd.read_csv(f"{method}/band.csv")
        expected = region.band(inputs, level=0.9, method=method)
        assert expected.method == name
        np.testing.assert_allclose(found["upper"], expected.upper, rtol=1e-9)
        assert ("The band comes from balanced cells of rows" in shown) == (method == "auto")


@pytest.mark.slow_but_first
@pytest.mark.parametrize("method", ["auto", "cells", "joint"])
def test_the_picture_shows_the_band_of_the_method(run, write, monkeypatch, method):
    X, y, _ = ua.datasets.linear(n=100, d=1, random_state=0)
    path = write("line.csv", pd.DataFrame({"x": X[:, 0], "y": y}).to_csv(index=False))
    drawn = []
    monkeypatch.setattr(ua.plots, "band", lambda *_, **options: drawn.append(options["method"]))
    words = ("--model", "ols", "--m", 20, "--level", 0.8, "--method", method, "--out", "out")
    printed(run, "region", path, "--target", "y", *words)
    (answer,) = json.loads(Path("out/region.json").read_text())["band"]
    used = "cells" if answer["method"] == "balanced cells" else "joint"
    assert drawn == [used]
    assert method in ("auto", used)


# region --pointwise


def test_the_pointwise_band_is_that_of_the_library(run, tables):
    words = ("--model", "ols", "--level", 0.9, "--pointwise", "--out", "out")
    shown = printed(run, "region", "sine.csv", "--target", "y", *words)
    sine = _sources.open_source(tables / "sine.csv").whole()
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
    assert "The band is pointwise: at each input by itself it covers" in shown
    assert Path("out/band.png").exists()


@pytest.mark.slow
def test_a_pointwise_band_needs_a_norm_bound_for_kernels(run):
    words = ("region", "sine.csv", "--target", "y", "--pointwise")
    shown = printed(run, *words, "--model", "krr", "--m", 20, "--level", 0.9)
    assert "Not available: intervals and tests of one number at a time need a model" in shown
    shown = printed(run, *words, "--model", "krr", "--m", 20, "--level", 0.9, "--norm-bound", 30)
    assert "The band is pointwise: at each input by itself it covers the function itself" in shown


@pytest.mark.slow
def test_a_pointwise_band_with_a_norm_bound_needs_all_rows(run, monkeypatch):
    words = ("region", "sine.csv", "--target", "y", "--pointwise", "--norm-bound", 30)
    message = "--pointwise with --norm-bound needs all rows at once: expected one of the two with"
    refused(run(*words, "--stream"), f"{message} --stream")
    refused(run(*words, "--checkpoint", "c"), f"{message} --checkpoint")
    monkeypatch.setattr(_streamed, "LARGE", 10)
    result = run(*words, "--m", 20, "--level", 0.9)
    assert result.exit_code == 0
    assert "since --pointwise with --norm-bound needs all rows at once" in result.stderr


# streams


def long_table(path="long.csv", n=2500):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=n), rng.uniform(size=n)
    table = pd.DataFrame({"a": a, "b": b, "y": a - b + rng.standard_t(3, size=n)})
    table.to_csv(path, index=False)
    return pd.read_csv(path)


def streamed(table, model, m=2):
    stream = ua.StreamingRegion(model, m=m, cells=32, random_state=0)
    return stream.partial_fit(table[["a", "b"]], table["y"]).region()


def test_a_streamed_summary_is_that_of_the_library(run, monkeypatch):
    monkeypatch.setattr(_sources, "CHUNK_ROWS", 700)
    table = long_table()
    shown = printed(run, "summary", "long.csv", "--target", "y", "--stream", "--level", 0.95)
    assert "long.csv was read in chunks; only sums over its 2500 rows were kept.\n" in shown
    found = pd.read_csv(OUT / "summary.csv")
    expected = streamed(table, LinearRegression()).summary(0.95)
    for name in ("estimate", "model_estimate", "lower", "upper", "pvalue"):
        np.testing.assert_allclose(found[name], getattr(expected, name), rtol=1e-9)
    assert (OUT / "forest.png").exists()


@pytest.mark.slow
def test_a_large_table_is_streamed_unless_clusters_or_weights_need_its_rows(run, monkeypatch):
    long_table(n=300)
    monkeypatch.setattr(_streamed, "LARGE", 100)
    words = ("summary", "long.csv", "--target", "y")
    assert "read in chunks" in printed(run, *words)
    assert "read in chunks" not in printed(run, *words, "--no-stream")
    result = run(*words, "--weights", "b")
    assert result.exit_code == 0
    assert "--weights b needs all rows at once; it would be streamed with no --weights" in (
        result.stderr
    )
    for option in ("--weights", "--clusters"):
        message = f"{option} b needs all rows at once: expected no {option} with --stream"
        refused(run(*words, option, "b", "--stream"), message)


def test_a_checkpoint_serves_the_pointwise_band_too(run, monkeypatch):
    table = long_table(n=1500)
    pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [0.5, 0.5, 1.0]}).to_csv("inputs.csv", index=False)
    words = ("region", "long.csv", "--target", "y", "--model", "ols", "--checkpoint", "c")
    words = (*words, "--level", 0.9, "--m", 20, "--at", "inputs.csv", "--out", "out")
    printed(run, *words)
    monkeypatch.setattr(_sources.CsvSource, "chunks", None)
    printed(run, *words, "--pointwise")
    found = pd.read_csv("out/band.csv")
    region = streamed(table, LinearRegression(), m=20)
    expected = region.band(found[["a", "b"]], level=0.9, simultaneous=False)
    np.testing.assert_allclose(found["lower"], expected.lower, rtol=1e-9)
    np.testing.assert_allclose(found["attained_level"], expected.attained)


@pytest.mark.slow
def test_pictures_show_the_target_and_leave_out_a_large_intercept(run, write, monkeypatch):
    seen = []
    save = Figure.savefig

    def remember(figure, *args, **options):
        axes = figure.axes[0]
        labels = [label.get_text() for label in axes.get_yticklabels()]
        seen.append((axes.get_ylabel(), labels))
        save(figure, *args, **options)

    monkeypatch.setattr(Figure, "savefig", remember)
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    for shift, rows in ((1000.0, ["price"]), (0.0, ["intercept", "price"])):
        table = pd.DataFrame({"price": x, "sales": shift + x + rng.normal(size=60)})
        path = write("shop.csv", table.to_csv(index=False))
        printed(run, "summary", path, "--target", "sales")
        assert seen.pop()[1] == rows
    printed(run, "region", path, "--target", "sales", "--model", "ols", "--pointwise")
    assert seen[0][0] == "sales"

"""``unassuming summary``: the library's own numbers, one at a time."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua

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
        ("--clusters y", "--clusters is the column of --target"),
        ("--clusters place", "the column 'place' is not in schools.csv"),
        ("--clusters school --weights school", "--weights is the column of --clusters"),
        ("--clusters school --features age,school", "beside 'y' and 'school', given 'school'"),
        ("--clusters school --noise exchangeable", "expected --noise symmetric, given --noise"),
        ("--weights age --clusters school", "has a negative entry"),
        ("--weights school", "row 1 below the header. Choose a column of numbers."),
        ("--model krr", "expected spline or ridge or ols or iv, given krr"),
        ("--model logistic", "--model has no coefficients to summarise"),
        ("--features age --level 1", "'--level': "),
    ],
)
def test_bad_options_are_refused_in_one_line(run, schools, options, message):
    refused(run("summary", schools[0], "--target", "y", *options.split()), message)
    assert not OUT.exists()


# Instruments


@pytest.fixture
def table(tmp_path):
    """A table of sales: the price depends on the noise, the tax and the season do not."""
    X, y, _ = ua.datasets.instrumented(n=90, strength=0.2, random_state=1)
    rows = pd.DataFrame(X, columns=["price", "age", "tax"]).assign(sales=y)
    rows["season"] = np.array(["spring", "summer", "winter"])[np.arange(90) % 3]
    path = tmp_path / "sales.csv"
    rows.to_csv(path, index=False)
    return path


def test_the_summary_is_that_of_python(table, tmp_path, run):
    done = run(
        "summary", table, "--target", "sales", "--features", "age", "--endogenous", "price",
        "--instruments", "tax", "--level", "0.9", "--out", tmp_path / "out",
    )  # fmt: skip
    rows = pd.read_csv(table)
    model = ua.InstrumentalRegression(endogenous="price", instruments="tax")
    X = rows[["age", "price", "tax"]]
    found = ua.confidence_region(model, X, rows["sales"], random_state=0).summary(0.9)
    assert str(found.sets[0]) in done.stdout or f"{found.lower[0]:.6g}" in done.stdout
    written = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert written["set"].tolist() == [str(found.sets[0])]
    saved = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert saved["model"] == "iv"
    assert saved["options"] == {"endogenous": "price", "instruments": "tax"}
    assert (tmp_path / "out" / "forest.png").exists()

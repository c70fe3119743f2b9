"""Instruments on the command line: the summary, categories, errors in one line."""

import json

import numpy as np
import pandas as pd
import pytest

import unassuming as ua


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


def test_a_category_is_as_many_instruments_as_it_has_indicators(table, tmp_path, run):
    done = run(
        "summary", table, "--target", "sales", "--endogenous", "price", "--instruments",
        "tax,season", "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0
    model = ua.InstrumentalRegression(endogenous="price", instruments=["tax", "a", "b"])
    rows = pd.read_csv(table)
    X = rows[["price", "age", "tax"]].assign(
        a=1.0 * (rows["season"] == "summer"), b=1.0 * (rows["season"] == "winter")
    )
    found = ua.confidence_region(model, X, rows["sales"]).summary()
    written = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert written["lower"].tolist() == pytest.approx(found.lower.tolist(), rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--endogenous", "price"], "needs both kinds of columns"),
        (["--model", "iv"], "given neither of them"),
        (["--endogenous", "prize", "--instruments", "tax"], "names a column that is not a feature"),
        (["--endogenous", "price", "--instruments", "price"], "both endogenous and an instrument"),
        (["--endogenous", "price,age", "--instruments", "tax"], "fewer instruments than"),
        (["--endogenous", "price", "--instruments", "tax", "--model", "ridge"], "not an option"),
    ],
)
def test_errors_are_one_line(table, tmp_path, run, options, message):
    out = tmp_path / "out"
    done = run("summary", table, "--target", "sales", *options, "--out", out)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_bounds_at_each_input_are_refused(table, tmp_path, run):
    done = run(
        "region", table, "--target", "sales", "--endogenous", "price", "--instruments", "tax",
        "--pointwise", "--out", tmp_path / "out",
    )  # fmt: skip
    assert "unassuming summary" in done.stderr

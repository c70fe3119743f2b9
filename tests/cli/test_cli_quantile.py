"""``unassuming region --model quantile``: the library's numbers, and words about a quantile."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import QuantileRegressor

import unassuming as ua

WORDS = ("region", "sine.csv", "--target", "y", "--model", "quantile")


@pytest.mark.slow
def test_the_band_of_a_quantile_is_that_of_the_library(run, tables):
    result = run(*WORDS, "--quantile", 0.3, "--level", 0.8)
    assert result.exit_code == 0, result.stderr
    assert "covers the 0.3-quantile of y given x, if this lies in the span" in " ".join(
        result.stdout.split()
    )
    sine = pd.read_csv(tables / "sine.csv")
    model = QuantileRegressor(quantile=0.3, alpha=0)
    region = ua.confidence_region(model, sine[["x"]], sine["y"], random_state=0)
    found = pd.read_csv(Path("unassuming-region") / "band.csv")
    expected = region.band(found[["x"]], level=0.8, method="joint")
    np.testing.assert_allclose(found["lower"], expected.lower, rtol=1e-9)
    np.testing.assert_allclose(found["upper"], expected.upper, rtol=1e-9)


def test_the_hypothesis_about_a_column_names_the_quantile(run):
    words = ("test", "candidates.csv", "--target", "y", "--features", "x", "--model", "quantile")
    result = run(*words, "--candidate", "truth")
    assert result.exit_code == 0, result.stderr
    assert "the column truth is the 0.5-quantile of y given x at the 40 rows" in result.stdout
    assert "not examined" not in result.stdout


def test_a_report_without_a_table_of_coefficients_names_a_command_that_has_one(run):
    result = run("report", *WORDS[1:], "--level", 0.5, "--out", "report.html")
    assert result.exit_code == 0, result.stderr
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Use unassuming region without --pointwise" in page


def test_dependent_rows_are_refused_without_advice_to_call_them_independent(run, tables):
    result = run("region", "people.csv", *WORDS[2:], "--clusters", "age")
    assert result.exit_code == 2
    assert "a quantile, which need independent rows, given --model quantile" in result.stderr
    sine = pd.read_csv(tables / "sine.csv")
    noise = ua.noise.BlockSymmetric(np.arange(len(sine)) // 4)
    with pytest.raises(ValueError, match="Leave it out if the rows are independent"):
        ua.confidence_region(QuantileRegressor(alpha=0), sine[["x"]], sine["y"], noise=noise)


def test_a_quantile_out_of_range_and_a_model_without_one_are_refused(run):
    result = run(*WORDS, "--quantile", 1.5)
    assert result.exit_code == 2
    assert "quantile is out of range" in result.stderr
    result = run("region", "sine.csv", "--target", "y", "--model", "ols", "--quantile", 0.5)
    assert result.exit_code == 2
    assert "--quantile is not an option of ols" in result.stderr

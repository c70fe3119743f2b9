"""``unassuming arx``: the library's numbers for a table whose rows are times."""

from pathlib import Path

import pandas as pd
import pytest

import unassuming as ua


@pytest.fixture
def series(write):
    u, y, _ = ua.datasets.arx(n=40, noise="student", random_state=0)
    return write(
        "series.csv", pd.DataFrame({"u": u, "y": y, "time": range(40)}).to_csv(index=False)
    )


@pytest.mark.slow
@pytest.mark.usefixtures("real_pictures")
def test_estimates_tests_and_a_picture(run, series):
    words = ("arx", series, "--target", "y", "--input", "u", "--level", 0.9, "--m", 20)
    result = run(*words, "--candidate", "0.8,1.0", "--candidate", "3,1")
    assert result.exit_code == 0, result.stderr
    table = pd.read_csv(series)
    region = ua.confidence_region(ua.ARX(), table["u"], table["y"], m=20, random_state=0)
    said = " ".join(result.stdout.split())
    assert "output y, input u, rows in the order of time" in said
    assert f"a1 {region.estimate[0]:.4g} [" in said
    assert f"Hypothesis: [a1, b1] = [0.8,1.0]. {region.test([0.8, 1.0])}" in said
    assert "Rank 20 of 20" in said
    assert "These are not confidence intervals" in said
    assert Path("unassuming-arx/coefficients.png").stat().st_size > 1000


def test_an_autoregression_needs_no_input_column(run, series):
    result = run("arx", series, "--target", "y", "--nb", 0, "--m", 20, "--level", 0.5)
    assert result.exit_code == 0, result.stderr
    assert "ARX(nb=0)" in result.stdout
    assert "found by a search on a grid. The ends are not certified." in result.stdout
    assert "coefficients.png" not in result.stdout


def test_errors_are_one_line(run, series):
    for words, message in (
        (("--target", "y"), "--input is missing"),
        (("--target", "z", "--input", "u"), "the column 'z' is not in series.csv"),
        (("--target", "y", "--input", "u,time"), "--input names several columns"),
        (("--target", "y", "--input", "u", "--candidate", "1"), "expected 2 numbers a1,b1"),
        (("--target", "y", "--input", "u", "--na", 39), "the series is too short"),
        (("--target", "y", "--input", "u", "--noise", "labels"), "needs a classifier"),
        (("--target", "y", "--input", "u", "--delay", 0), "delay"),
    ):
        result = run("arx", series, *words)
        assert result.exit_code == 2
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_gaps_are_not_left_out(run, series, write):
    path = write("gap.csv", series.read_text().replace("\n", "\n,1,0\n", 1))
    result = run("arx", path, "--target", "y", "--input", "u")
    assert result.exit_code == 2
    assert "in row 1. Fill them in, or take a part of the series" in result.stderr


@pytest.mark.slow
def test_lagged_columns_in_other_models_are_noted(run, series, write):
    table = pd.read_csv(series)
    table["before"] = table["y"].shift(1)
    path = write("lagged.csv", table.dropna().to_csv(index=False))
    result = run("summary", path, "--target", "y", "--features", "u,before")
    assert result.exit_code == 0, result.stderr
    assert "Column 'before' of X is y shifted by 1 row" in result.stderr

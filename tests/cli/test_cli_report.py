"""unassuming report, and the checks that all commands print."""

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.usefixtures("all_checks")


@pytest.fixture
def curve(tmp_path):
    """Flat at first, then a deep dip and an overshoot, with noise that grows."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(2, 58, 133))
    dip = -110 * np.exp(-(((x - 21) / 5) ** 2)) + 45 * np.exp(-(((x - 33) / 5) ** 2))
    y = np.where(x < 14, 0.0, dip) + np.where(x < 14, 2.0, 24.0) * rng.standard_t(4, size=133)
    path = tmp_path / "curve.csv"
    pd.DataFrame({"time <s>": x, "y": y}).to_csv(path, index=False)
    return path


@pytest.mark.slow_but_first
@pytest.mark.parametrize("command", ["summary", "region", "report"])
def test_a_line_through_a_curve_is_never_printed_without_a_warning(run, curve, command, tmp_path):
    words = [command, str(curve), "--target", "y", "--out", str(tmp_path / "out")]
    printed = run(*words, "--model", "ols").stdout
    assert "Warning: Lack of fit: " in printed
    assert "cannot both hold" in printed


@pytest.mark.slow
def test_the_report_is_one_file_that_tells_how_to_make_it_again(run, curve, tmp_path):
    out = tmp_path / "report.html"
    words = ["report", str(curve), "--target", "y", "-o", str(out), "--level", "0.9"]
    result = run(*words, "--title", "A <dip>")
    assert result.stdout.endswith(f"Wrote {out}.\n")
    first = out.read_bytes()
    page = first.decode()
    again = "unassuming report curve.csv --target y --model ols --level 0.9 --title 'A &lt;dip&gt;'"
    assert f"{again} --out report.html" in page
    assert "time &lt;s&gt;" in page
    run(*words, "--title", "A <dip>")
    assert out.read_bytes() == first


def test_the_checks_find_nothing_where_nothing_is_wrong(run, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.uniform(size=80)
    path = tmp_path / "line.csv"
    pd.DataFrame({"x": x, "y": 3 * x + rng.laplace(size=80)}).to_csv(path, index=False)
    printed = run("summary", str(path), "--target", "y", "--out", str(tmp_path)).stdout
    assert "Warning" not in printed
    assert "P-values from residuals (indications, not proofs): symmetry " in printed
    assert "No lack of fit was found." in printed
    streamed = run("summary", str(path), "--target", "y", "--stream", "--out", str(tmp_path)).stdout
    assert "were not checked" in streamed


def test_a_place_that_cannot_be_written_is_refused(run, curve, tmp_path):
    out = tmp_path / "nowhere" / "report.html"
    result = run("report", str(curve), "--target", "y", "-o", str(out))
    assert result.exit_code == 2
    assert "--out cannot be written: expected a file in a directory that exists" in result.stderr

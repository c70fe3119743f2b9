"""``unassuming report``, ``arx`` and ``experiment``: the numbers of the library, and checks."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unassuming as ua

# report and --check


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
@pytest.mark.usefixtures("all_checks")
@pytest.mark.parametrize("words", [("summary", "--check"), ("region", "--check"), ("report",)])
def test_the_checks_find_that_a_line_does_not_fit_a_curve(run, curve, words, tmp_path):
    command, *check = words
    given = [command, curve, "--target", "y", "--out", tmp_path / "out", "--model", "ols"]
    printed = run(*given, *check).stdout
    assert not check or "Lack of fit" not in run(*given).stdout
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
    again = f"unassuming report {curve} --target y -o {out} --level 0.9 --title 'A &lt;dip&gt;'"
    assert again in page
    assert "time &lt;s&gt;" in page
    run(*words, "--title", "A <dip>")
    assert out.read_bytes() == first


# arx


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


def test_wrong_systems_are_refused_in_one_line(run, series):
    for words, message in (
        (("--target", "y"), "--input is missing"),
        (("--target", "z", "--input", "u"), "the column 'z' is not in series.csv"),
        (("--target", "y", "--input", "u,time"), "the column 'u,time' is not in series.csv"),
        (("--target", "y", "--input", "u", "--candidate", "1"), "expected 2 numbers a1,b1"),
        (("--target", "y", "--input", "u", "--na", 39), "the series is too short"),
        (("--target", "y", "--input", "u", "--noise", "labels"), "needs a classifier"),
        (("--target", "y", "--input", "u", "--delay", 0), "delay"),
    ):
        result = run("arx", series, *words)
        assert result.exit_code == 2
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1


# experiment


@pytest.fixture
def trial(write):
    rng = np.random.default_rng(0)
    before, treated = rng.normal(size=24), rng.permutation(np.repeat(["no", "yes"], 12))
    table = {
        "y": before + rng.lognormal(size=24) + 2 * (treated == "yes"),
        "treated": treated,
        "before": before,
        "group": np.tile(["u", "v", "w"], 8),
        "school": np.repeat(["a", "b"], 12),
    }
    return write("trial.csv", pd.DataFrame(table).to_csv(index=False))


def words(result):
    assert result.exit_code == 0, result.stderr
    return " ".join(result.stdout.split())


def test_it_prints_what_the_library_prints(run, trial):
    said = words(run("experiment", trial, "--target", "y", "--treatment", "treated", "--effect", 1))
    table = pd.read_csv(trial)
    result = ua.assignment_test(table["y"], table["treated"], effect=1.0, random_state=0)
    assert " ".join(str(result).split()) in said
    assert "target y, treatment treated" in said
    assert "Controls" not in said


def test_controls_strata_and_levels(run, trial):
    given = ("--strata", "school", "--controls", "before,group", "--level", 0.8, "--level", 0.9)
    result = run("experiment", trial, "--target", "y", "--treatment", "treated", *given, "--m", 200)
    said, table = words(result), pd.read_csv(trial)
    controls = pd.get_dummies(table[["before", "group"]], drop_first=True).astype(float)
    expected = ua.assignment_test(
        table["y"],
        table["treated"],
        strata=table["school"],
        controls=controls,
        level=0.9,
        m=200,
        random_state=0,
    )
    assert f"interval {expected.interval}" in said
    assert said.endswith(f"Interval {expected.interval_at(0.8)}.")
    assert "Controls: before, group." in said
    assert "indicators of group" in said


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--treatment", "group"), "treatment does not have two values"),
        (("--treatment", "tt"), "the column 'tt' is not in trial.csv"),
        (("--treatment", "treated", "--controls", "y"), "trial.csv has no such inputs"),
        (("--treatment", "treated", "--strata", "y"), "--strata is the column of --target"),
        (("--treatment", "treated", "--level", "2"), "'--level': "),
    ],
)
def test_wrong_columns_get_one_sentence(run, trial, given, message):
    result = run("experiment", trial, "--target", "y", *given)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") <= 1


def test_it_says_which_rows_are_treated_and_an_option_chooses_the_others(run, trial):
    asked = ("experiment", trial, "--target", "y", "--treatment", "treated")
    said = words(run(*asked))
    assert "Rows whose treated is 'yes', the later of its two values in order, count" in said
    assert "--treated 'no' chooses the others." in said
    said, table = words(run(*asked, "--treated", "no")), pd.read_csv(trial)
    assert "Rows whose treated is 'no' count as treated." in said
    result = ua.assignment_test(table["y"], table["treated"], treated="no", random_state=0)
    assert " ".join(str(result).split()) in said
    assert result.estimate < 0

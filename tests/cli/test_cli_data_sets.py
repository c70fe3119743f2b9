"""The default command on well-known tables: a finite band, or a short explanation."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer, load_diabetes

from speed import slow_but

OUT = Path("unassuming-region")
PYTHON = re.compile(r"region\.(?!json)\w|\b\w+=[^\s;,]|\b[a-z]\w+\(")
"""Calls and keyword arguments."""

TARGETS = {
    "engel": "foodexp",
    "longley": "TOTEMP",
    "stackloss": "STACKLOSS",
    "strikes": "duration",
    "heart": "survival",
    "spector": "GRADE",
    "diabetes": "target",
    "cancer": "target",
}
CANCER = ["mean texture", "mean smoothness", "mean symmetry", "target"]
DIABETES = ["sex", "bmi", "bp", "s3", "s5", "target"]


def table(name):
    if name == "diabetes":  # a third of the rows, half of the columns
        return load_diabetes(as_frame=True).frame[DIABETES].iloc[::3]
    if name == "cancer":  # a fifth of the rows, a few of the columns
        return load_breast_cancer(as_frame=True).frame[CANCER].iloc[::5]
    return getattr(sm.datasets, name).load_pandas().data


@pytest.fixture
def reported(run, write):
    """Run the default command; return what it prints and writes."""

    def report(name, *options):
        path = write(f"{name}.csv", table(name).to_csv(index=False))
        result = run("region", path, "--target", TARGETS[name], *options)
        assert result.exit_code == 0, result.stderr
        assert ("has two values, 0 and 1." in result.stdout) == (name in ("spector", "cancer"))
        assert result.stderr == ""
        return " ".join(result.stdout.split()), json.loads((OUT / "region.json").read_text())

    return report


@pytest.mark.parametrize("name", slow_but(list(TARGETS), "stackloss"))
def test_the_default_command_gives_a_finite_band_or_a_reason(reported, name):
    text, found = reported(name)
    finite_or_explained(name, text, found)


def finite_or_explained(name, text, found):
    band = pd.read_csv(OUT / "band.csv")
    finite = np.isfinite(band["lower"]) & np.isfinite(band["upper"])
    assert finite[band["level"] == 0.5].all()
    if name == "longley":  # 7 coefficients of 16 rows
        assert not finite[band["level"] > 0.9].any()
    else:
        assert finite.all()
        assert "inf" not in json.dumps(found["intervals"])
    assert len(set(band.groupby("level")["attained_level"].first())) == 2
    wide = band.pivot_table(index=band.groupby("level").cumcount(), columns="level")
    assert (wide["lower"].iloc[:, 1] <= wide["lower"].iloc[:, 0]).all() or name == "longley"
    advice = text.split(" covers ", 1)[1]
    assert not PYTHON.findall(advice)
    assert "Model, chosen from the inputs alone: " in text


# That of cancer takes seconds.
@pytest.mark.parametrize("name", slow_but([name for name in TARGETS if name != "cancer"], "engel"))
def test_a_summary_has_an_interval_or_a_reason_for_each_coefficient(run, write, name):
    path = write(f"{name}.csv", table(name).to_csv(index=False))
    result = run("summary", path, "--target", TARGETS[name])
    assert result.exit_code == 0, result.stderr
    found = pd.read_csv("unassuming-summary/summary.csv")
    infinite = found[~np.isfinite(found["upper"] - found["lower"])]
    text = " ".join(result.stdout.split())
    assert infinite.empty or "Remedies" in text or "rows like these would do" in text
    nothing = bool(np.isinf(found[["lower", "upper"]]).all(axis=None))
    assert nothing == (name == "longley") == ("No picture: no interval has a finite end." in text)
    assert Path("unassuming-summary/forest.png").exists() != nothing
    assert not PYTHON.findall(text.split("Assumes", 1)[1])

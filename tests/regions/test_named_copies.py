"""Columns that repeat others are named where bounds of the joint region depend on that."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

X, Y = load_diabetes(return_X_y=True, as_frame=True)
POUNDS = X.assign(pounds=X["bmi"] * 2.20462)
SAID = "pounds repeats bmi up to rounding. Leave out one of them."


def region_of(table, model=None, y=Y, **options):
    return ua.confidence_region(model or LinearRegression(), table, y, random_state=0, **options)


def test_a_copy_is_named_where_it_matters():
    region = region_of(POUNDS)
    for found in (region.interval(), region.interval("bmi"), region.interval("pounds")):
        assert found.reason.endswith(SAID)
        assert (found.upper - found.lower).max() > 1e6
    for found in (region.interval(["age", "bp"]), region.band(POUNDS[:5])):
        assert "repeats" not in found.reason
        assert (found.upper - found.lower).max() < 1e4
    beyond = POUNDS[:1].assign(pounds=1.0)  # no copy here
    assert region.band(beyond).reason.endswith(SAID)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge()])
@pytest.mark.parametrize("apart", [0.0, 1e-12])
def test_a_copy_is_named_in_the_verdict(model, apart):
    table = POUNDS.assign(pounds=2 * X["bmi"])
    table.loc[[3, 9], "pounds"] *= 1 + apart
    found = region_of(table, model).bounded()
    assert "pounds repeats bmi up to " in found.reason
    assert "repeats" not in region_of(X, model).bounded().reason


def test_leaving_out_a_copy_helps():
    found, alone = region_of(POUNDS).interval(), region_of(X).interval()
    assert np.isfinite(alone.upper - alone.lower).all()
    assert (alone.upper - alone.lower).max() < 1e-6 * (found.upper - found.lower).max()
    assert "repeats" not in alone.reason


def test_another_free_direction_is_not_blamed_on_a_copy():
    rare = POUNDS.assign(rare=np.arange(len(X)) < 2)
    found = region_of(rare).bounded()
    assert found.verdict == "unbounded"
    assert found.direction[list(rare).index("rare") + 1] != 0
    assert "repeats" not in found.reason


def test_a_free_direction_of_a_copy_is():
    table = X[["age", "bmi"]].assign(pounds=2 * X["bmi"])
    table.loc[table.index[:2], "pounds"] += [1e-8, -2e-8]
    region = region_of(table)
    found = region.bounded()
    assert found.verdict != "bounded"
    assert "pounds repeats bmi up to " in found.reason


def test_streams_name_copies_too():
    region = ua.StreamingRegion(LinearRegression(), random_state=0)
    region.partial_fit(POUNDS, Y)
    assert "pounds repeats bmi up to " in region.region().interval().reason

"""Which functionals dependent columns identify: a stream knows it without rounding, as memory."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

N = 1300  # more than a leaf
OPTIONS = {"m": 20, "random_state": 0}


def dummies(rng):
    """Two dummies that add up to the intercept: (1, -1, -1, 0) is a null vector."""
    a = (rng.random(N) < 0.4) * 1.0
    return np.column_stack([a, 1 - a, rng.normal(size=N)]), [1.0, -1.0, -1.0, 0.0]


def multiples(rng):
    """A column and three quarters of it, whose numbers have few digits: exact multiples."""
    x = np.round(rng.normal(size=N) * 64) / 64
    return np.column_stack([x, 0.75 * x, rng.normal(size=N)]), [0.0, 3.0, -4.0, 0.0]


def a_constant(rng):
    """A constant column that no simple number describes."""
    return np.column_stack([np.full(N, 0.1), rng.normal(size=(N, 2))]), [0.1, -1.0, 0.0, 0.0]


TABLES = {"dummies": dummies, "multiples": multiples, "a constant": a_constant}


def both(table, model, cuts=(N,)):
    rng = np.random.default_rng(3)
    X, null = TABLES[table](rng)
    y = X @ [1.0, 2.0, 0.5] + rng.laplace(size=N)
    stream, first = ua.StreamingRegion(model, **OPTIONS), 0
    for stop in cuts:
        stream.partial_fit(X[first:stop], y[first:stop])
        first = stop
    return stream, ua.confidence_region(model, X, y, **OPTIONS), np.array(null), X


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(2.0)], ids=str)
@pytest.mark.parametrize("table", TABLES)
def test_tiny_parts_outside_the_rows_are_not_overlooked(table, model):
    stream, memory, null, X = both(table, model)
    region = stream.region()
    rows = np.column_stack([np.ones(3), X[:3]])
    seen = int(np.flatnonzero(null)[-1])
    for tiny in (0.0, 1e-3, 1e-12, 1e-15, 1e-30, 1e-200):
        moved = rows.copy()
        if tiny >= 1e-15:
            moved[:, seen] += tiny
        else:  # a number that is zero becomes a tiny one
            moved[:, seen] = np.where(moved[:, seen] == 0, tiny, moved[:, seen])
        one, two = (r.interval(moved, level=0.5) for r in (memory, region))
        assert two.status == one.status
        assert np.array_equal(np.isfinite(two.upper), np.isfinite(one.upper))
        if not tiny:
            assert two.status.name == "CERTIFIED"
            assert two.upper == pytest.approx(one.upper, rel=1e-6)


def test_averages_with_rounded_weights_are_what_they_are_meant_to_be():
    stream, memory, _, _ = both("dummies", LinearRegression())
    g = np.array([[1.0, 1 / 3, 2 / 3, 0.3], [1.0, 0.1, 0.9, 0.0]])
    one, two = (r.interval(g, level=0.5) for r in (memory, stream.region()))
    assert one.status.name == two.status.name == "CERTIFIED"


def test_the_functional_of_an_issue_is_not_certified(tmp_path):
    """(1, 1, 1e-15, 0) needs a + b, which dummies and an intercept do not identify."""
    streams = [both("dummies", LinearRegression(), cuts)[0] for cuts in ((N,), (7, 600, N))]
    streams[1].save(tmp_path / "stream")
    for stream in (*streams, ua.StreamingRegion.load(tmp_path / "stream")):
        found = stream.region().interval(np.array([[1.0, 1.0, 1e-15, 0.0]]), level=0.5)
        assert found.status.name != "CERTIFIED"
        assert np.isinf(found.upper).all()

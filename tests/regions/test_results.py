"""Results print and tabulate as those of the library do, field by field."""

import numpy as np
import pandas as pd
import pytest

import unassuming.regions as today
from unassuming.regions import results
from unassuming.regions.explain import (
    NORM_BOUND,
    Cause,
    Explanation,
    Language,
    Status,
    lower_level,
)

INF = np.inf
ENDS = {
    "CERTIFIED": ([-1.0, 0.5], [1.0, 2.5]),
    "UNBOUNDED": ([-INF, 0.5], [1.0, INF]),
    "EMPTY": ([INF, INF], [-INF, -INF]),
    "ENDLESS_SET": ([-INF, 0.5], [INF, 2.5]),
}


def made(kind, of, status, **more):
    lower, upper = map(np.array, ENDS[status])
    words = {"status": getattr(of, status), "reason": "A reason.", "level": 0.953125}
    bounds = {"estimate": np.array([0.25, 1.5]), "lower": lower, "upper": upper}
    inner = {"inner_lower": None, "inner_upper": None, "witnesses": None}
    return kind(**words, **bounds, **inner, **more)


@pytest.mark.parametrize("status", ENDS)
@pytest.mark.parametrize("norm_bound", [None, 3.0])
def test_intervals(status, norm_bound):
    more = {"names": ("intercept", "x0"), "norm_bound": norm_bound}
    ours = made(results.Interval, Status, status, **more)
    known = made(today.Interval, today.Status, status, **more)
    assert str(ours) == str(known)
    assert ours.description == known.description
    pd.testing.assert_frame_equal(ours.to_frame(), known.to_frame())
    if status == "EMPTY":
        assert np.isnan([ours.lower, ours.upper]).all()


@pytest.mark.parametrize("X", [np.array([[0.0], [1.0]]), pd.DataFrame({"age": [30.0, 40.0]})])
def test_bands(X):
    more = {"X": X, "target": "function", "caveat": "No guarantee."}
    ours = made(results.Band, Status, "CERTIFIED", **more)
    known = made(today.Band, today.Status, "CERTIFIED", **more)
    assert str(ours) == str(known)
    pd.testing.assert_frame_equal(ours.to_frame(), known.to_frame())


def test_unions():
    ends = np.array([[-INF, -0.5], [1.0, 1.0], [2.0, INF]])
    ours, known = results.IntervalUnion(ends), today.IntervalUnion(ends)
    assert str(ours) == str(known)
    assert str(ours.times(-2.0)) == str(known.times(-2.0))
    assert ours.contains([0.0, 1.0, 3.0]).tolist() == [False, True, True]


def test_an_ellipsoid_of_a_hidden_direction_is_endless_there():
    root = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    matrix = np.diag([1.0, 0.25, 0.0])
    found = results.Ellipsoid(np.zeros(3), matrix, 4.0, 0.9, Status.CERTIFIED, "", root)
    low, high = found.project(np.eye(3))
    np.testing.assert_allclose(high, [2.0, 4.0, INF])
    np.testing.assert_allclose(low, [-2.0, -4.0, -INF])
    assert found.volume() == INF
    assert found.contains([[2.0, 0.0, 9.0], [2.1, 0.0, 0.0]]).tolist() == [True, False]


def test_explanations_are_facts_and_then_remedies_for_the_reader():
    why = Explanation((Cause.NEVER_END(found=30, sets=99, q=10),), (lower_level(0.7), NORM_BOUND))
    assert "30 of the 99" in why.text()
    assert why.text().endswith(
        "Remedies: ask at level 0.7 or below; assume a norm bound, norm_bound=B."
    )
    assert why.text(Language.COMMAND_LINE).endswith(
        "--level 0.7 or less; assume a norm bound, --norm-bound B."
    )
    assert Explanation(why.facts, ()).text().endswith("No remedy is known.")

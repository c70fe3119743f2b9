"""Results print and tabulate what they hold."""

import numpy as np
import pandas as pd
import pytest

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


def made(kind, status, **more):
    lower, upper = map(np.array, ENDS[status])
    words = {"status": getattr(Status, status), "reason": "A reason.", "level": 0.953125}
    bounds = {"estimate": np.array([0.25, 1.5]), "lower": lower, "upper": upper}
    inner = {"inner_lower": None, "inner_upper": None, "witnesses": None}
    return kind(**words, **bounds, **inner, **more)


@pytest.mark.parametrize("status", ENDS)
@pytest.mark.parametrize("norm_bound", [None, 3.0])
def test_intervals(status, norm_bound):
    found = made(results.Interval, status, names=("intercept", "x0"), norm_bound=norm_bound)
    given = "" if norm_bound is None else ", given a norm of at most 3 (your assumption)"
    counted = " (2 of 4 bounds are finite)" if status == "UNBOUNDED" else ""
    first, *rows = str(found).splitlines()
    start = f"Interval of 2 functionals at level 0.953125{given}, all at once (joint region): "
    assert first == f"{start}{found.status.given(norm_bound)}{counted}. A reason."
    assert [row.split()[0] for row in rows] == ["estimate", "intercept", "x0"]
    frame = found.to_frame()
    assert frame.index.tolist() == ["intercept", "x0"]
    assert frame.columns.tolist() == ["estimate", "lower", "upper"]
    assert np.isnan([found.lower, found.upper]).all() == (status == "EMPTY")


@pytest.mark.parametrize("X", [np.array([[30.0], [40.0]]), pd.DataFrame({"age": [30.0, 40.0]})])
def test_bands(X):
    more = {"X": X, "target": "function", "caveat": "No guarantee."}
    found = made(results.Band, "CERTIFIED", **more)
    name = "age" if hasattr(X, "columns") else "x0"
    lines = str(found).splitlines()
    assert lines[0].startswith("Band of the regression function at 2 inputs at level 0.953125, all")
    assert lines[1].split() == [name, "estimate", "lower", "upper"]
    assert lines[-2].split() == ["40", "1.5", "0.5", "2.5"]
    assert lines[-1] == "No guarantee."
    assert found.to_frame()[name].tolist() == [30.0, 40.0]


def test_unions():
    found = results.IntervalUnion(np.array([[-INF, -0.5], [1.0, 1.0], [2.0, INF]]))
    assert str(found) == "(-inf, -0.5] or {1} or [2, inf)"
    assert str(found.times(-2.0)) == "(-inf, -4] or {-2} or [1, inf)"
    assert found.contains([0.0, 1.0, 3.0]).tolist() == [False, True, True]
    assert (found.lower, found.upper, found.bounded) == (-INF, INF, False)


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

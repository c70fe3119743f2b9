"""Bounds under a norm bound: the recorded ones, and those of a convex solver."""

import numpy as np
import pytest

from engines import asked, count, engine_of, quadratic_sets, rows_at
from recorded import problems
from unassuming.geometry.quadratic import SetsAndBall, qth_largest

CLOSE = 1e-3

BANDS = [
    pytest.param(name, question, id=f"{name}, {question['level']}, {question.get('target')}")
    for name, question in asked("band")
    if "norm_bound" in question and quadratic_sets(name) is not None
]


@pytest.mark.parametrize(("name", "question"), BANDS)
def test_bands_are_the_recorded_ones(name, question):
    sets = SetsAndBall.of(quadratic_sets(name))
    design = engine_of(name).objective.design
    g, inputs = rows_at(problems()[name], question["inputs"]), np.array(question["inputs"])
    similarity = design.self_similarity(inputs) if design.dual else None
    function = question.get("target") == "function"
    t, rest = sets.ball.functionals(g, similarity, function=function)
    q, (up, down) = count(question["level"]), sets.supports(t, rest, question["norm_bound"])
    lower, upper = -qth_largest(down, q), qth_largest(up, q)
    low, high = np.array(question["answer"]["lower"]), np.array(question["answer"]["upper"])
    np.testing.assert_array_less(np.abs(lower - low), CLOSE * (high - low))
    np.testing.assert_array_less(np.abs(upper - high), CLOSE * (high - low))


@pytest.mark.parametrize(
    ("name", "question"),
    [pair for pair in asked("norm_lower_bound") if quadratic_sets(pair[0]) is not None],
)
def test_lower_bounds_of_norms_are_the_recorded_ones(name, question):
    norms = SetsAndBall.of(quadratic_sets(name)).least_norms()
    bound = -qth_largest(-norms, count(question["level"]))
    np.testing.assert_allclose(bound, question["answer"]["bound"], rtol=1e-5, atol=1e-9)

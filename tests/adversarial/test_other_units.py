"""Columns in another unit: for doubles they depend on each other up to rounding alone.

The numbers given decide: ranks are those of exact arithmetic, and lines end where they do.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from adversarial import checks
from adversarial.arithmetic import rationals
from adversarial.problems import Problem

UNITS = {
    "pounds": lambda x: 2.20462 * x,
    "thirds": lambda x: x / 3,
    "degrees": lambda x: 1.8 * x + 32,
}


MEANS = (0, 70)


def weighed(name, mean):
    rng = np.random.default_rng([3, len(name), mean])
    X = rng.normal(mean, 15, size=(40, 2)).round(1)
    y = 0.3 * X[:, 0] - X[:, 1] + rng.laplace(size=40)
    X = np.column_stack([X, UNITS[name](X[:, 0])])
    return Problem("least squares", [rationals(row) for row in X], rationals(y), m=20, seed=1)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("name", UNITS)
def test_ranks_and_lines_beside_a_column_in_another_unit(name, mean):
    problem = weighed(name, mean)
    region = problem.region()
    estimate = rationals(region.estimate)
    steps = [rationals(step) for step in np.vstack([np.eye(4), [3.0, 1.0, -2.0, 0.5]])]
    sizes = (Fraction(1, 8), 1, 1000, 10**6)
    candidates = [checks.line_at(estimate, step, size) for step in steps for size in sizes]
    assert list(checks.ranks(problem, region, [estimate, *candidates])) == []
    assert region.rank(checks.in_floats(checks.line_at(estimate, steps[2], 10**6))) == region.m
    for step in steps:
        found = list(checks.crossings(problem, region, estimate, step, 2, [-3.0, 0.5, 2.0]))
        assert found == []
        ends = region.crossings(checks.in_floats(step), 0.9)
        assert np.isfinite(ends).all()
        assert len(ends)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("name", UNITS)
def test_members_stay_within_the_interval_beside_a_column_in_another_unit(name, mean):
    region = weighed(name, mean).region()
    found = region.interval("x1", 0.9)
    assert found.status.name == "CERTIFIED"
    low, high = found.lower[0] - region.estimate[2], found.upper[0] - region.estimate[2]
    (ends,) = region.crossings(np.eye(4)[2], 0.9)
    assert low <= ends[0] < 0 < ends[1] <= high
    for t in (2 * low, 2 * high, 1e3 * low, 1e3 * high):
        assert not region.contains(region.estimate + t * np.eye(4)[2], 0.9)


def test_ties_of_decimals_are_ties_of_their_doubles():
    """Reversed residuals have the same statistic, but doubles are not symmetric about a mean."""
    X = [[Fraction(1000 + k, 10)] for k in range(1, 7)]
    zero, tied = [Fraction(0)] * 2, 0
    for pattern in product([1, -1], repeat=6):
        y = [Fraction(3 * s, 10) for s in pattern]
        problem = Problem("least squares", X, y, m=20, seed=2)
        region = problem.region()
        exact = problem.exact(region)
        assert region.rank(np.zeros(2)) == exact.rank(zero)
        doubles = problem.rounded().exact(region)
        pairs = zip(exact.gaps(zero), doubles.gaps(zero), strict=True)
        tied += sum(not gap and bool(other) for gap, other in pairs)
    assert tied > 10

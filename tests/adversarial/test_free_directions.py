"""Directions without end of kernels that are too nearly singular for double precision.

Most of the residual lies where the whitening does not resolve the kernel matrix, so that the sets
are 10⁷ times as large as they are in double precision.
"""

from fractions import Fraction

import numpy as np
import pytest

from adversarial import checks
from adversarial.arithmetic import rationals, root_below
from adversarial.problems import Problem
from unassuming.regions.shapes._far_out import _steps

ROWS = {
    9: [[4e5, 0.0, 0.5, 60.0], [3e6, 0.0, 3.0, 1200.0], [3e5, 0.0, 0.25, 28.0]],
    39: [[8e5, 0.0, 0.125, 90.0], [1.2e7, 0.0, 2.0, 600.0], [4e5, 0.0, 0.125, 28.0]],
    45: [[8e5, 0.0, 0.375, 90.0], [9e6, 0.0, 3.0, 1200.0], [3e5, 0.0, 0.125, 28.0]],
}
LAST = {
    9: [-(2.0**47), -(2.0**17), -3 * 2.0**25, 2.0**31],
    39: [-(2.0**47), -(2.0**15), -(2.0**27), 2.0**29],
    45: [-3 * 2.0**45, -(2.0**17), -(2.0**27), 3 * 2.0**29],
}


def of_labels(X, seed, y=(1, -1, -1, -1), alpha=1):
    return Problem.of(
        model="LS-SVC, polynomial kernel",
        X=X,
        y=y,
        alpha=alpha,
        intercept=False,
        degree=1,
        gamma=0.5,
        noise="symmetric-exchangeable",
        seed=seed,
        ties="conservative",
    )


@pytest.mark.parametrize("seed", ROWS)
def test_a_direction_that_the_sets_leave_is_not_named(seed):
    problem = of_labels([*ROWS[seed], LAST[seed]], seed)
    region = problem.region()
    found = region.bounded(0.9)
    # In exact arithmetic some sets share a direction; double precision misses it by 10⁻⁸.
    assert found.verdict != "bounded"
    assert found.direction is None
    assert list(checks.verdict(problem, region, 1)) == []


def sizes(problem, region):
    """10⁹ sizes of the sets along one coefficient: those of the package, and exact ones."""
    exact, v = problem.exact(region), np.eye(problem.n)[1]
    line = exact.line(exact.estimate, rationals(v))
    largest = max(Fraction(c) for c, _, _ in line)
    unit = root_below(largest / exact.statistics_of_step(rationals(v)))
    return _steps(region.shape.sets, v)[0, 0], 1e9 * float(unit)


PLAIN = [[1.0, 2.0, 0.5], [0.25, -1.0, 3.0], [2.0, 1.5, -0.5], [-1.0, 0.75, 1.0]]


@pytest.mark.parametrize("alpha", [2.0**-8, 1.0, 2.0**40])
def test_sizes_of_sets_are_exact_where_double_precision_resolves_the_kernel(alpha):
    X = [[*row, float(k == 0)] for k, row in enumerate(PLAIN)]
    problem = of_labels(X, 3, alpha=alpha)
    found, exact = sizes(problem, problem.region())
    assert found == pytest.approx(exact, rel=1e-6)


def test_sizes_of_sets_include_directions_that_are_not_resolved():
    K = np.diag([2.0**53, 2.0, 2.0, 2.0])  # eigenvalues of 2 may be rounding of 2⁵³
    problem = Problem.of(model="precomputed kernel", X=K.tolist(), y=[1, 2, -3, 4], alpha=2)
    region = problem.region()
    assert region.shape.sets.maker.q.shape[1] == 1
    found, exact = sizes(problem, region)
    assert exact <= found < 4 * exact


def test_sizes_of_sets_survive_residuals_that_are_rounding_alone():
    X = [[2.0**40 * x for x in [*row, k]] for k, row in enumerate(PLAIN)]
    problem = of_labels(X, 3)
    region = problem.region()
    assert not region.shape.sets.maker.moved.any()
    found, exact = sizes(problem, region)
    assert exact / 2 <= found < 4 * exact


@pytest.mark.parametrize("seed", [0, 1, 8])
def test_rounding_of_a_kernel_whose_rank_is_unknown_makes_no_region_unbounded(seed):
    """One row has the kernel value 0, and signs that change there change no statistic."""
    K = np.outer([1.0, 0.0, -2.0, 2.0], [1.0, 0.0, -2.0, 2.0])
    problem = Problem.of(
        model="precomputed kernel",
        X=K.tolist(),
        y=[1, 2, -3, 5],
        alpha=2,
        noise="block symmetric",
        blocks=(0, 1, 0, 0),
        m=5,
        seed=seed,
    )
    region = problem.region()
    for q in (1, 2):
        assert list(checks.verdict(problem, region, q)) == []

"""Kernel values far above the penalty: rounding of each by itself would make all statistics tie.

Columns in different units make them so. Ranks are those of the numbers given.
"""

from fractions import Fraction

import numpy as np
import pytest

from adversarial import checks
from adversarial.arithmetic import rationals
from adversarial.labels_oracle import LabelProblem
from adversarial.problems import Problem
from unassuming.membership._label_gaps import LabelGaps
from unassuming.objectives import Images

UNITS = np.array([1e6, 1.0, 1e-3])
ALPHAS = [Fraction(1), Fraction(1, 1024)]


def inputs(seed, n):
    return [rationals(row) for row in np.random.default_rng(seed).normal(size=(n, 3)) * UNITS]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_ranks_of_kernel_ridge_regression(alpha):
    for seed in range(3):
        X, y = inputs(seed, 9), rationals(np.random.default_rng(seed).normal(size=9))
        options = {"degree": 2, "coef0": Fraction(0), "m": 20, "seed": seed}
        problem = Problem("polynomial kernel", X, y, alpha=alpha, **options)
        region, zero = problem.region(), [Fraction(0)] * 9
        found = [region.rank(checks.in_floats(a)) for a in (zero, rationals(region.estimate))]
        exact = problem.exact(region)
        assert found == [exact.rank(a) for a in (zero, rationals(region.estimate))]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_ranks_of_labels(alpha):
    for seed in range(3):
        y = np.where(np.random.default_rng(seed).uniform(size=11) < 0.5, 1, -1)
        y[:2] = 1, -1
        problem = LabelProblem(
            "LS-SVC, polynomial kernel",
            inputs(seed, 11),
            rationals(y),
            alpha=alpha,
            degree=2,
            coef0=Fraction(0),
            m=20,
            seed=seed,
        )
        region = problem.region()
        constant = [Fraction(float(y.mean()) / 2), *[Fraction(0)] * 11]
        low, high, _ = problem.labels(region).allowed(constant)
        assert low == high == region.rank(checks.in_floats(constant))


def test_equal_inputs_and_a_small_penalty_leave_no_rank_of_labels_undecided():
    """Equations of a nearly singular kernel were asked for what is known without them."""
    for seed in range(6):
        x = np.random.default_rng(seed).uniform(-1, 1, size=(3, 2))
        X, y = [rationals(row) for row in np.vstack([x, x])], rationals([1, -1, 1, -1, 1, -1])
        problem = LabelProblem(
            "LS-SVC, gaussian kernel", X, y, alpha=Fraction(1e-13), gamma=Fraction(1, 16), m=20
        )
        region = problem.region()
        candidates = [[Fraction(c), *[Fraction(0)] * 6] for c in (0, 0.25)]
        for a in candidates:
            low, high, _ = problem.labels(region).allowed(a)
            assert low <= region.rank(checks.in_floats(a)) <= high


def test_gaps_of_labels_below_the_errors_of_the_smoother_are_exact():
    """One kernel value of 2e20 hides the others; a gap of 5e-11 was called a tie."""
    X = [[1.1778113552036809], [0.6435674511060837], [1.1778113552036809], [10000000000.0]]
    problem = LabelProblem.of(
        model="LS-SVC, polynomial kernel",
        X=X,
        y=[1.0, -1.0, 1.0, 1.0],
        intercept=False,
        degree=1,
        gamma=2.0,
        coef0=1.0,
        m=10,
    )
    region = problem.region()
    a = [-3.092990550857858e-06, -3.093202018010686e-10, 3.0932020180106864e-06, 0.0]
    low, high, _ = problem.labels(region).allowed(rationals(a))
    assert low == high == region.rank(a)


@pytest.mark.parametrize("alpha", [1e-6, 1e-9])
def test_gaps_of_labels_are_within_their_bounds_beside_a_small_penalty(alpha):
    X = [rationals(row) for row in np.random.default_rng(0).uniform(-1, 1, (8, 1))]
    problem = LabelProblem(
        "LS-SVC, gaussian kernel",
        X,
        rationals([1, -1] * 4),
        alpha=Fraction(alpha),
        gamma=Fraction(1, 4),
        intercept=False,
        m=20,
    )
    region = problem.region()
    exact, score = problem.labels(region), region._engine.score
    known = LabelGaps.of(region.objective, score)
    fresh = np.unique(np.where(region.perturbations.drawn < 0.5, 1.0, -1.0), axis=0)
    y = region.objective.y
    images = Images(y[None], np.zeros((1, 8)), fresh[None], np.zeros(1, bool), True, None, None)
    gaps, bounds = known._gaps(images, np.zeros(len(fresh), dtype=np.intp), fresh - y)
    zero = [Fraction(0)] * 8
    expected = [float(exact.gap(zero, tuple(map(int, row)))) for row in fresh]
    errors = np.abs(8 * gaps - expected)
    assert errors.max() > 1e-12  # the smoother itself is that far off
    assert (errors <= 8 * bounds).all()

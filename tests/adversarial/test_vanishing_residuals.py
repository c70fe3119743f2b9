"""Residuals that vanish after the data were rounded, and not as they are meant.

Statistics then have no slope in such a residual, and rounding moves them by its square.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua
from adversarial import checks
from adversarial.problems import Problem
from unassuming._exact import Exact

SEEDS = (0, 1, 3, 4)


def residuals_vanish(seed: int) -> tuple[Problem, list[Fraction]]:
    """y = 3 X + (1/8, 1/8, 1/8): equal residuals at 3, and 3 X + 1/8 rounds to another number."""
    X = [1125899906842624.5, 0.5, -8.0]
    y = [3 * Fraction(x) + Fraction(1, 8) for x in X]
    problem = Problem.of(
        model="ridge", X=[[x] for x in X], y=y, alpha=1024.0, intercept=False,
        noise="exchangeable within", blocks=(2, 0, 2), block_rows=3, m=20, seed=seed,
    )  # fmt: skip
    return problem, [Fraction(3)]


def weighted_residuals_vanish(seed: int) -> tuple[Problem, list[Fraction]]:
    """The same with weights: the large row has the least."""
    problem, a = residuals_vanish(seed)
    return replace(problem, w=[Fraction(1, 4), Fraction(3), Fraction(3)]), a


@pytest.mark.slow_but_first
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("tied", [residuals_vanish, weighted_residuals_vanish])
def test_what_is_meant_to_tie_ties_in_memory_and_in_a_stream(tied, seed):
    problem, a = tied(seed)
    numbers = [*problem.y, *(x for row in problem.X for x in row)]
    assert any(Fraction(float(z)) != z for z in numbers)
    region = problem.region()
    assert any(gap == 0 for gap in problem.exact(region).gaps(a))
    assert not list(checks.ranks(problem, region, [a]))
    assert not list(checks.stream(problem, region, [a]))


@pytest.mark.slow
@pytest.mark.parametrize("tied", [residuals_vanish, weighted_residuals_vanish])
def test_what_is_meant_to_tie_ties_among_forty(tied):
    problem, a = tied(SEEDS[0])
    assert not list(checks.one_answer(problem.region(), [a]))


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable", "symmetric-exchangeable"])
@pytest.mark.parametrize("intercept", [True, False])
def test_rounding_of_rows_that_hardly_matter_ties_nothing(noise, intercept):
    """The estimate has rank 1 beside one large input and a large output of another row."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 2))
    y = X.sum(axis=1) + rng.laplace(size=30)
    X[3, 0], y[7] = 1e12, 1e9
    model = LinearRegression(fit_intercept=intercept)
    region = ua.confidence_region(model, X, y, noise=noise, random_state=5)
    assert region.rank(region.estimate) == 1


MODELS = ["least squares", "ridge", "LS-SVC", "polynomial kernel", "LS-SVC, polynomial kernel"]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_second_order_is_that_of_rationals(model, intercept):
    rng = np.random.default_rng(6)
    weights = rng.integers(1, 9, size=6) * 2.0 ** np.arange(-9, 9, 3)
    problem = Problem.of(
        model=model, intercept=intercept, alpha=0.25, degree=2, m=4, seed=0,
        noise="symmetric-exchangeable",
        X=rng.integers(-9, 9, size=(6, 2)) * [1.0, 4.0], y=rng.choice([-1.0, 1.0], size=6),
        w=None if "SVC" in model else weights,
    )  # fmt: skip
    region = problem.region()
    exact = problem.exact(region)
    rounding = problem.rounding(exact)
    leverages = region._engine._exact.system.given.leverages
    assert any(h > 0.5 for h in rounding.leverages)
    assert "kernel" in model or any(h <= 0.5 for h in rounding.leverages)

    # At zero the residuals change by |y|, in units of rounding, whatever the model.
    zero, delta = [Fraction(0)] * exact.d, Exact.of(np.array([float(abs(z)) for z in problem.y]))
    for i in range(1, region.m):
        to = np.argsort([row for row, _ in exact.all_moves[i]])
        one = leverages.map(lambda x, to=to: x[to]).second_order(delta)
        found = one.apart(leverages.second_order(delta))
        expected = rounding.curvature(zero, i)
        assert abs(Fraction(found.number) / 2**found.shift - expected) <= expected / 2**40


PLAIN_OR_WEIGHTED = [(model, False) for model in MODELS]
PLAIN_OR_WEIGHTED += [(model, True) for model in MODELS if "SVC" not in model]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", ["symmetric", "exchangeable", "block symmetric"])
@pytest.mark.parametrize(("model", "weighted"), PLAIN_OR_WEIGHTED)
def test_the_second_order_is_not_exceeded_and_not_much_too_large(model, weighted, noise):
    """At zero, Z_i - Z_0 of outputs that are the changes δ is the second order itself."""
    rng = np.random.default_rng(7)
    largest = Fraction(0)
    for spread in (0, 0, 4, 30):
        size = 2.0 ** rng.integers(-spread, spread + 1, (3, 7))
        labels = "SVC" in model
        problem = Problem.of(
            model=model, X=rng.normal(size=(7, 2)) * size[0][:, None],
            y=rng.choice([-1.0, 1.0], size=7) if labels else rng.normal(size=7) * size[1],
            w=size[2] if weighted else None,
            alpha=0.5 * 4.0**spread, intercept=bool(spread % 30), degree=1, noise=noise,
            blocks=(0, 0, 1, 1, 2, 2, 2), m=6, seed=1,
        )  # fmt: skip
        region = problem.region()
        exact = problem.exact(region)
        rounding, zero = problem.rounding(exact), [Fraction(0)] * exact.d
        for i in range(1, problem.m):
            gap = rounding.gap(rounding.side(zero, i), rounding.side(zero, 0))
            bound = rounding.curvature(zero, i)
            moved = [problem.y[row] for row, _ in exact.all_moves[i]]
            sizes = [
                sum(w * z**2 for w, z in zip(exact.w, u, strict=True)) for u in (problem.y, moved)
            ]
            assert abs(gap) <= bound <= max(sizes) * (1 + Fraction(1, 2**40))
            largest = max(largest, abs(gap) / bound) if bound else largest
    assert largest > 0.1


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
def test_many_columns_do_not_tie_noise_of_a_few_digits(noise):
    X = np.random.default_rng(0).normal(size=(40, 15))
    y = 1e9 + 2e-6 * (X.sum(axis=1) + np.random.default_rng(1).laplace(size=40))
    region = ua.confidence_region(LinearRegression(), X, y, noise=noise, m=40, random_state=1)
    assert region.rank(region.estimate) == 1

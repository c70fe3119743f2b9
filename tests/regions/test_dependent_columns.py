"""Columns that depend on each other: what they share is free, all else stays as it was."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import unassuming as ua

X, Y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def region_of(X, model=None, y=Y):
    return ua.confidence_region(model or LinearRegression(), X, y, m=40, random_state=0)


def tables(rng):
    """Kinds of dependent columns in steps of 0.1, and which coefficients are shared."""
    n = 60
    a, b, c = np.rint(10 * rng.normal(size=(3, n)) * 8) / 10
    parts = np.rint(10 * rng.uniform(1, 9, size=(3, n))) / 10
    level = rng.integers(0, 3, size=n)
    dummies = (level == np.arange(3)[:, None]).astype(float)
    yield "temperatures", [a, b], [32 + 1.8 * a], {0, 2}
    yield "kilograms and pounds", [a, b], [a / 0.4536], {0, 2}
    yield "shares that sum to one", [*(parts / parts.sum(axis=0)), b], [], {0, 1, 2}
    yield "parts and their total", [*parts, b], [parts.sum(axis=0)], {0, 1, 2, 4}
    yield "standardised", [a, b], [(a - a.mean()) / a.std()], {0, 2}
    yield "all dummies", [*dummies, b], [], {0, 1, 2}
    yield "a column twice", [a, b, c], [a], {0, 3}
    yield "a difference", [a, b, c], [a - b], {0, 1, 3}
    yield "a constant", [a, b], [np.full(n, 3.0)], {2}
    yield "two pairs", [a, b, c], [2 * a, 0.1 * b], {0, 1, 3, 4}


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 40))]


@pytest.mark.parametrize("seed", SEEDS)
def test_shared_coefficients_are_infinite_and_named_and_the_others_stay(seed):
    rng = np.random.default_rng(seed)
    for kind, columns, extra, shared in tables(rng):
        table = np.column_stack([*columns, *extra])
        y = table[:, 1] + rng.standard_t(3, size=60)
        found = region_of(table, y=y).summary()
        assert {j for j in range(table.shape[1]) if np.isinf(found.upper[1 + j])} == shared, kind
        assert "depend on each other" in str(found), kind
        drop = [max(shared)] if kind != "two pairs" else [3, 4]
        less = np.delete(table, drop, axis=1)
        plain = region_of(less, y=y).summary()
        kept = [j for j in range(table.shape[1]) if j not in shared and j not in drop]
        rows = [1 + j for j in kept]
        there = [1 + j - sum(d < j for d in drop) for j in kept]
        for end in ("estimate", "lower", "upper"):
            gap = np.abs(getattr(found, end)[rows] - getattr(plain, end)[there])
            assert (gap < 1e-9 * (plain.upper - plain.lower)[there]).all(), (kind, end)


@pytest.mark.parametrize("noise", ["symmetric", "spherical", "exchangeable"])
def test_a_hypothesis_about_columns_that_depend_on_each_other_tests_what_they_determine(noise):
    rng = np.random.default_rng(0)
    celsius = rng.normal(20, 5, 120)
    both, y = np.column_stack([celsius, celsius * 1.8 + 32]), 3 * celsius + rng.normal(size=120)
    two = ua.confidence_region(LinearRegression(), both, y, noise=noise)
    one = ua.confidence_region(LinearRegression(), both[:, :1], y, noise=noise)
    for value in (0.0, 3.0):
        found = two.hypothesis(["x0", "x1"], value=[value, 0.0])
        assert found.pvalue == pytest.approx(one.hypothesis("x0", value=value).pvalue, abs=1e-9)
    assert two.hypothesis("x0").pvalue == 1


def test_spherical_noise_refuses_weights_that_differ():
    X, y, _ = ua.datasets.linear(n=40, d=2, random_state=0)
    weights = np.linspace(1, 2, 40)
    region = ua.confidence_region(
        LinearRegression(), X, y, noise="spherical", sample_weight=weights
    )
    with pytest.raises(ua.NotAvailable, match="which weights contradict"):
        region.summary()
    same = ua.confidence_region(
        LinearRegression(), X, y, noise="spherical", sample_weight=np.full(40, 2.0)
    )
    plain = ua.confidence_region(LinearRegression(), X, y, noise="spherical")
    np.testing.assert_allclose(same.summary().lower, plain.summary().lower)

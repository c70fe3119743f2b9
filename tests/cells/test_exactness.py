"""Exact and certified levels through the library's own choices, over all signs and arrangements."""

from collections import Counter
from copy import copy
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from exact_cells import sign_patterns, within_binomial_band
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.cells.division import divide
from unassuming.cells.estimates import Sample, fits
from unassuming.cells.theorem import intervals
from unassuming.inputs import SingleOptions
from unassuming.regions.single.numbers import Numbers


def numbers_of(X, noise="symmetric", model=None, **options):
    model = LinearRegression() if model is None else model
    region = ua.confidence_region(model, X, np.zeros(len(X)), noise=noise, **options)
    return Numbers(region.problem)


def with_outputs(numbers, y):
    """The same numbers for other outputs, answered in the ways chosen until now."""
    other = copy(numbers)
    other.evidence, other._paired = replace(numbers.evidence, y=y), {}
    return other


def ranks(numbers, outputs, g, tau, options, level=0.5):
    """The rank of the true value for each of some outputs."""
    numbers.ways(g, level, options)
    found = [with_outputs(numbers, y).outcome(g, level, options, tau) for y in outputs]
    return Counter(int(one.rank[0]) for one in found), int(found[0].m[0])


def uniform(m, count):
    return dict.fromkeys(range(1, m + 1), count // m)


@pytest.mark.parametrize("n", [8, 10])
@pytest.mark.parametrize(
    "options",
    [SingleOptions(4), SingleOptions(4, weights="residuals"), SingleOptions(3)],
    ids=["cells", "residual weights", "3 cells"],
)
def test_every_rank_occurs_equally_often_over_all_signs_of_the_noise(n, options):
    rng = np.random.default_rng(n)
    X, truth = rng.normal(size=(n, 1)), np.array([2.0])
    e = rng.standard_cauchy(n) * sign_patterns(n)
    outputs = 1 + X @ truth + e
    counts, m = ranks(numbers_of(X), outputs, np.eye(2)[1:], truth, options)
    assert m == 2 ** (options.cells - 1)
    assert counts == uniform(m, 2**n)


def test_robust_estimates_keep_the_rank_uniform():
    """The solver has a choice in cells of four rows, and is not odd there by itself."""
    rng = np.random.default_rng(2)
    e = rng.standard_cauchy(8) * sign_patterns(8)
    options = SingleOptions(np.arange(8) % 2, estimator="median")
    model = LinearRegression(fit_intercept=False)
    counts, m = ranks(
        numbers_of(np.ones((8, 1)), model=model), 3 + e, np.ones((1, 1)), np.array([3.0]), options
    )
    assert counts == uniform(m, 256)


def test_clusters_change_their_sign_as_a_whole():
    """Nine clusters of unequal size: all signs of the clusters, the rest of the noise fixed."""
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(9), [1, 2, 3, 4, 5, 3, 2, 4, 3])
    X = rng.normal(size=(len(clusters), 1))
    e = rng.normal(size=len(clusters)).cumsum()  # dependent within a cluster, in any way
    outputs = 1 + 2 * X[:, 0] + sign_patterns(9)[:, clusters] * e
    numbers = numbers_of(X, ua.noise.BlockSymmetric(clusters))
    counts, m = ranks(numbers, outputs, np.eye(2)[1:], np.array([2.0]), SingleOptions(4))
    assert (m, counts) == (8, uniform(8, 2**9))


def test_pairs_over_all_arrangements_of_skewed_noise():
    rng = np.random.default_rng(6)
    X, noise = rng.normal(size=(6, 1)), np.exp(3 * rng.normal(size=6))
    outputs = [3 - 2 * X[:, 0] + noise[list(order)] for order in permutations(range(6))]
    numbers = numbers_of(X, "exchangeable")
    counts, m = ranks(numbers, outputs, np.eye(2)[1:], np.array([-2.0]), SingleOptions(3))
    assert (m, counts) == (4, uniform(4, 720))


def test_pairs_within_blocks():
    """The level of the noise differs between the blocks."""
    rng = np.random.default_rng(0)
    blocks = np.repeat([0, 1], 4)
    X = rng.normal(size=(8, 1)) + 5 * blocks[:, None]
    first, second = rng.exponential(size=4), 100 + 9 * rng.exponential(size=4)
    orders = [list(order) for order in permutations(range(4))]
    outputs = [X[:, 0] + np.concatenate([first[a], second[b]]) for a, b in product(orders, orders)]
    numbers = numbers_of(X, ua.noise.ExchangeableWithin(4))
    counts, m = ranks(numbers, outputs, np.eye(2)[1:], np.array([1.0]), SingleOptions(4))
    assert (m, counts) == (8, uniform(8, 576))


LAWS = {
    "Gaussian": lambda rng, X: rng.normal(size=len(X)),
    "t(2)": lambda rng, X: rng.standard_t(2, size=len(X)),
    "Cauchy": lambda rng, X: rng.standard_cauchy(size=len(X)),
    "scale grows with x": lambda rng, X: np.exp(X[:, 0]) * rng.standard_t(3, size=len(X)),
    "large at high leverage": lambda rng, X: (
        (1 + 20 * (np.abs(X[:, 0]) > 1.5)) * rng.laplace(size=len(X))
    ),
    "discrete": lambda rng, X: rng.integers(-2, 3, size=len(X)).astype(float),
}


def coverage(X, law, runs, noise="symmetric", level=0.95, j=1):
    """How many intervals cover, at the attained level, and the method."""
    rng = np.random.default_rng([9, len(X)])
    numbers, g = numbers_of(X, noise), np.eye(X.shape[1] + 1)[j : j + 1]
    numbers.ways(g, level, SingleOptions())
    covered = 0
    for _ in range(runs):
        y = 3.0 * X[:, 0] + law(rng, X)
        out = with_outputs(numbers, y).outcome(g, level, SingleOptions())
        covered += bool(out.lower[0] <= (3.0 if j == 1 else 0.0) <= out.upper[0])
    return covered, float(out.level[0]), out.method[0]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n", "d", "method"), [(60, 5, "cells"), (24, 6, "halves")])
def test_coverage_of_rows(law, n, d, method):
    """Inside the band of its binomial law: exact for cells without atoms, else at least."""
    X, runs = np.random.default_rng(d).normal(size=(n, d - 1)), 1000
    covered, level, used = coverage(X, LAWS[law], runs)
    assert used == method
    if method == "cells" and law != "discrete":
        assert within_binomial_band(covered, runs, level)
    else:
        assert covered >= 0.95 * runs - 5 * np.sqrt(0.05 * 0.95 * runs)


@pytest.mark.slow
def test_coverage_of_clusters_of_unequal_size():
    clusters = np.repeat(np.arange(12), [3, 4, 5, 6, 8, 11, 15, 3, 4, 5, 6, 8])
    X = np.random.default_rng(3).normal(size=(len(clusters), 1))

    def law(rng, X):
        effects = rng.standard_t(2, size=(2, 12))[:, clusters]
        return effects[0] + effects[1] * X[:, 0] + rng.normal(size=len(X))

    covered, level, method = coverage(X, law, 1000, ua.noise.BlockSymmetric(clusters))
    assert method == "cells"
    assert within_binomial_band(covered, 1000, level)


@pytest.mark.slow
def test_coverage_of_skewed_exchangeable_noise():
    X = np.random.default_rng(4).normal(size=(80, 3))
    covered, level, method = coverage(
        X, lambda rng, X: rng.lognormal(sigma=1.5, size=len(X)), 1000, "exchangeable"
    )
    assert method == "pairs"
    assert within_binomial_band(covered, 1000, level)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("n", [60, 240])
@pytest.mark.parametrize(("kind", "count"), [("half dummy", 2), ("three levels", 3), ("mean", 1)])
def test_tables_that_are_sorted_by_y_keep_their_coverage(n, kind, count):
    """Rows with equal inputs are ordered by a permutation that is fixed, not by their position.

    For a mean, where all rows tie, that is on average over the key.
    """
    levels, g = np.arange(n) % count, np.eye(count)[-1:]
    Phi = np.column_stack([np.ones(n), *(levels == k for k in range(1, count))]).astype(float)
    rng, covered, level = np.random.default_rng(7), 0, 1.0
    runs = 600 if n == 60 else 300
    for run in range(runs):
        y = rng.standard_t(3, size=n)
        order = np.argsort(y)
        sample = Sample.of(Phi[order], y[order], intercept=True)
        U, size, _ = sample.at.vectors(g)
        (division,) = divide(sample.atoms, U, 0.95, key=run if kind == "mean" else 0)
        sums = sample.atoms.sums(division.places)
        v, beta = fits(sums.G, sums.h, U)
        found = intervals(beta, v, 0.95, -sample.at.estimates(g) / size)
        covered += bool(found.pvalue[0] > 1 - found.level[0])
        level = float(found.level[0])
    assert within_binomial_band(covered, runs, level)

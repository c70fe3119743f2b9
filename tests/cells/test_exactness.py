"""The rank of the true number is uniform: counted over all signs of the noise, as integers."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from exact_cells import (
    dot,
    exact_ranks,
    exact_weights,
    rational,
    sign_patterns,
    within_binomial_band,
)

from unassuming.cells import divide, estimates, factors_of_rows, intervals, largest_q, ranks

pytestmark = pytest.mark.slow_but_first


def designs():
    rng = np.random.default_rng(5)
    for n, d, K in ((10, 1, 5), (10, 2, 4), (12, 3, 4), (12, 2, 6)):
        Phi = rng.integers(-3, 4, size=(n, d)).astype(float)
        Phi[:, 0] = 1
        yield Phi, rng.normal(size=d), rng.permutation(np.arange(n) % K)


@pytest.mark.parametrize("case", list(designs()), ids=lambda case: str(case[0].shape))
def test_every_rank_occurs_equally_often_over_all_signs_of_the_noise(case):
    """In floating point, with the estimates of the library, a nuisance, and Cauchy sizes."""
    Phi, theta, labels = case
    n, d = Phi.shape
    c = np.eye(d)[-1:]
    maps, v = library_maps(Phi, labels, c)
    K = len(v)
    size = np.random.default_rng(6).standard_cauchy(n)
    y = Phi @ theta + sign_patterns(n) * size
    beta = y @ maps.T
    result = ranks(
        beta, np.tile(v, (2**n, 1)), np.full(2**n, theta[-1]), np.full(beta.shape, 1e-13)
    )
    m = 2 ** (K - 1)
    assert np.bincount(result.rank).tolist() == [0] + [2**n // m] * m
    assert (result.m == m).all()


def library_maps(Phi, labels, c):
    """The vectors a_b with β_b = a_bᵀy and v_b, as the library computes them."""
    K = labels.max() + 1
    columns = [estimates(factors_of_rows(Phi, e, labels, K), c) for e in np.eye(len(Phi))]
    known = columns[0].v[0] > 0
    maps = np.array([column.beta[0] for column in columns]).T
    return maps[known], columns[0].v[0][known]


@pytest.mark.parametrize("case", list(designs()), ids=lambda case: str(case[0].shape))
def test_with_atoms_ranks_are_uniform_over_signs_and_tie_orders(case):
    """Noise of sizes 0, 1 and 2: exact in fractions, and the library finds the same ties."""
    Phi, _, labels = case
    n, d = Phi.shape
    size = np.random.default_rng(7).integers(0, 3, size=n).astype(float)
    c = np.eye(d)[-1]
    cells = exact_weights(Phi, c, labels.tolist())
    K = len(cells)
    theta = np.arange(1.0, d + 1)
    everything = sign_patterns(n)
    share = Counter()
    parts = [
        cell_scores(residual, [rational(size[i]) for i in rows]) for rows, residual, _ in cells
    ]
    for scores, times in weighted_products(parts):  # n rows change sign: the cells by themselves
        low, high, m = exact_ranks(scores)
        for r in range(low, high + 1):
            share[r] += Fraction(times, high - low + 1)
    total = sum(share.values())
    assert share == dict.fromkeys(range(1, m + 1), total / m)
    for signs in everything[:: len(everything) // 16]:
        e = rational(signs * size)
        scores = [dot(residual, [e[i] for i in rows]) for rows, residual, _ in cells]
        low, high, m = exact_ranks(scores)
        found = estimates(
            factors_of_rows(Phi, Phi @ theta + signs * size, labels, labels.max() + 1), c[None]
        )
        assert (found.v > 0).sum() == K
        answers = [
            int(ranks(found.beta, found.v, theta[-1:], found.error, "random", seed).rank[0])
            for seed in range(8)
        ]
        assert min(answers) >= low
        assert max(answers) <= high
        assert (len(set(answers)) > 1) == (high > low)  # the tie order is random
        cautious = ranks(found.beta, found.v, theta[-1:], found.error)
        assert (int(cautious.rank[0]), int(cautious.m[0])) == (low, m)


def cell_scores(residual, size):
    """The values of x̃_bᵀe_b over all signs of the noise of a cell, with their frequencies."""
    values = Counter()
    for signs in product((1, -1), repeat=len(size)):
        values[dot(residual, [s * e for s, e in zip(signs, size, strict=True)])] += 1
    return values


def weighted_products(parts):
    for combination in product(*(part.items() for part in parts)):
        yield [value for value, _ in combination], prod(times for _, times in combination)


def test_clusters_that_change_sign_as_a_whole():
    """Seven clusters of unequal size: all signs of the clusters, the rest of the noise fixed."""
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(9), [1, 2, 3, 4, 5, 3, 2, 4, 3])
    n = len(clusters)
    Phi = np.column_stack([np.ones(n), rng.normal(size=n)])
    division = divide(Phi, np.eye(2), level=0.9, clusters=clusters, cells=4)
    labels = division.labels[division.which[1]]
    assert all(len(set(labels[clusters == u])) == 1 for u in range(9))
    e = rng.normal(size=n).cumsum()  # dependent within a cluster, in any way
    maps, v = library_maps(Phi, labels, np.eye(2)[1:])
    y = Phi @ [1.0, 2.0] + sign_patterns(9)[:, clusters] * e
    result = ranks(y @ maps.T, np.tile(v, (2**9, 1)), np.full(2**9, 2.0))
    counts = Counter(result.rank.tolist())
    assert counts == dict.fromkeys(range(1, 9), 2**9 // 8)


NOISES = {
    "Gaussian": lambda rng, x, shape: rng.normal(size=shape),
    "t(2)": lambda rng, x, shape: rng.standard_t(2, size=shape),
    "Cauchy": lambda rng, x, shape: rng.standard_cauchy(size=shape),
    "growing": lambda rng, x, shape: rng.normal(size=shape) * x**2,
    "discrete": lambda rng, x, shape: rng.integers(-2, 3, size=shape).astype(float),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("d", "level"), [(2, 0.9), (5, 0.95)])
def test_coverage(noise, d, level):
    runs, n = 2000, 60
    rng = np.random.default_rng([9, d, len(noise)])
    Phi = np.column_stack([np.ones(n), np.exp(rng.normal(size=(n, d - 1)))])
    division = divide(Phi, np.eye(d)[1:2], level, cells=7)
    labels, K = division.labels[0], int(division.sizes[0])
    maps = linear_maps(Phi, labels, K, np.eye(d)[1])  # (K, n)
    e = NOISES[noise](rng, Phi[:, 1], (runs, n))
    beta = 3.0 + e @ maps.T
    v = np.tile(1 / np.square(maps).sum(axis=1), (runs, 1))
    found = intervals(beta, v, level)
    q, m = int(found.q[0]), int(found.m[0])
    assert q == largest_q(level, m) == int((1 - level) * m + 1e-9)
    covered = np.count_nonzero((found.lower <= 3) & (found.upper >= 3))
    tied = noise == "discrete"
    exact = ranks(beta, v, np.full(runs, 3.0), np.full(v.shape, 1e-12), ties="random")
    assert within_binomial_band(np.count_nonzero(exact.rank <= m - q), runs, 1 - q / m)
    assert tied or within_binomial_band(covered, runs, 1 - q / m)
    assert covered >= np.count_nonzero(exact.rank <= m - q)


def linear_maps(Phi, labels, K, c):
    """The vectors a_b with β_b = a_bᵀy, from the definition with x̃."""
    x = Phi @ c / (c @ c)
    Z = Phi @ np.linalg.svd(c[None])[2][1:].T
    maps = np.zeros((K, len(Phi)))
    for b in range(K):
        rows = labels == b
        Q = np.linalg.qr(Z[rows])[0]
        residual = x[rows] - Q @ (Q.T @ x[rows])
        maps[b, rows] = residual / (residual @ residual)
    return maps

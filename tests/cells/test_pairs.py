"""Exchangeable noise: all arrangements of the noise, as integers."""

from itertools import permutations, product

import numpy as np
import pytest

from unassuming.cells import (
    divide,
    estimates,
    factors_of_rows,
    opposite_pairs,
    pair_differences,
    ranks,
)


def arrangement_counts(Phi, arrangements, blocks=None):
    """How often each rank of the true slope occurs."""
    pairs = opposite_pairs(Phi, np.array([0.0, 1.0]), blocks)
    assert len(np.unique(pairs)) == pairs.size
    theta = np.array([3.0, -2.0])
    K = len(pairs)
    unit = [np.eye(K)[b] for b in range(K)]
    rows, _ = pair_differences(Phi, Phi[:, 0], pairs)
    cells = [estimates(factors_of_rows(rows, e, np.arange(K), K), np.eye(2)[1:]) for e in unit]
    slopes = np.array([cell.beta[0] for cell in cells])  # β_b = Σ_k slopes[k, b] target_k
    targets = np.array([pair_differences(Phi, Phi @ theta + e, pairs)[1] for e in arrangements])
    v = np.tile(cells[0].v, (len(targets), 1))
    result = ranks(targets @ slopes, v, np.full(len(targets), theta[1]), np.full(v.shape, 1e-10))
    return np.bincount(result.rank).tolist()


@pytest.mark.parametrize("n", [6, 7])
def test_all_arrangements_of_skewed_noise(n):
    rng = np.random.default_rng(n)
    Phi = np.column_stack([np.ones(n), rng.normal(size=n)])
    noise = np.exp(3 * rng.normal(size=n))
    swaps = list(permutations(range(n)))
    counts = arrangement_counts(Phi, [noise[list(order)] for order in swaps])
    assert counts == [0] + [len(swaps) // 4] * 4


def test_all_arrangements_within_blocks():
    """The level of the noise differs between the blocks."""
    rng = np.random.default_rng(0)
    blocks = np.repeat([0, 1], 4)
    Phi = np.column_stack([np.ones(8), rng.normal(size=8) + 5 * blocks])
    first, second = rng.exponential(size=4), 100 + 9 * rng.exponential(size=4)
    orders = [list(order) for order in permutations(range(4))]
    arrangements = [np.concatenate([first[a], second[b]]) for a, b in product(orders, orders)]
    assert arrangement_counts(Phi, arrangements, blocks) == [0] + [576 // 8] * 8


def test_what_pairs_keep_of_the_information():
    rng = np.random.default_rng(1)
    kept = {}
    for name, x in {
        "normal": rng.normal(size=200),
        "exponential": rng.exponential(size=200),
    }.items():
        Phi = np.column_stack([np.ones(200), x, rng.normal(size=(200, 3))])
        c = np.eye(5)[1]
        pairs = opposite_pairs(Phi, c)
        rows, _ = pair_differences(Phi, np.zeros(200), pairs)
        whole = np.zeros(200, dtype=int)
        v = estimates(factors_of_rows(rows, np.zeros(100), whole[:100], 1), c[None]).v[0, 0]
        v_all = estimates(factors_of_rows(Phi, np.zeros(200), whole, 1), c[None]).v[0, 0]
        kept[name] = v / v_all / 2  # the variance of a difference is twice that of the noise
        assert divide(rows, c[None], 0.9).kept[0] > 0.9
    assert kept["normal"] > 0.96
    assert 0.55 < kept["exponential"] < 0.9


def test_constant_columns_are_not_identified_by_differences():
    rng = np.random.default_rng(2)
    Phi = np.column_stack([np.full(20, 0.1), rng.normal(size=20)])
    rows, targets = pair_differences(Phi, np.ones(20), opposite_pairs(Phi, np.array([0.0, 1.0])))
    found = estimates(factors_of_rows(rows, targets, np.arange(10) % 2, 2), np.eye(2))
    assert (found.v > 0).all(axis=1).tolist() == [False, True]
    assert opposite_pairs(Phi, np.array([1.0, 0.0])).shape == (10, 2)

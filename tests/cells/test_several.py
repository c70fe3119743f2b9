"""Several numbers at once: the rank of a vector, against the plain formula and over all signs."""

from itertools import product

import numpy as np
import pytest

from unassuming.cells.estimates import Atoms
from unassuming.cells.several import Several, division, joint_rank
from unassuming.cells.theorem import words


def design(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))]))[0]
    return rng, Q, rng.normal(size=(2, d))


def sums(Q, y, labels):
    rows = [labels == b for b in range(labels.max() + 1)]
    G, h = [Q[some].T @ Q[some] for some in rows], [Q[some].T @ y[some] for some in rows]
    return np.array(G), np.array(h)[..., None]


def plain_statistics(Q, y, labels, C, tau):
    """‖V^(-1/2) Σ s_b X̃_bᵀ(y_b - X_bτ)‖² with X̃_b from least squares in each cell."""
    k = len(C)
    P, N = np.linalg.pinv(C), np.linalg.qr(C.T, mode="complete")[0][:, k:]
    u, V = [], np.zeros((k, k))
    for b in range(labels.max() + 1):
        X, Z = Q[labels == b] @ P, Q[labels == b] @ N
        tilde = X - Z @ np.linalg.lstsq(Z, X, rcond=None)[0]
        V += tilde.T @ tilde
        u.append(tilde.T @ (y[labels == b] - X @ tau))
    z = words(len(u)) @ np.array(u)
    return np.einsum("sk,kl,sl->s", z, np.linalg.inv(V), z)


def test_statistics_are_those_of_the_plain_formula():
    rng, Q, C = design()
    y, labels, tau = rng.normal(size=60), np.arange(60) % 8, rng.normal(size=2)
    found = Several.of(*sums(Q, y, labels), C)
    rank, statistics = joint_rank(found.at(tau))
    expected = plain_statistics(Q, y, labels, C, tau)
    np.testing.assert_allclose(statistics, expected, rtol=1e-9, atol=1e-12)
    assert rank == 1 + np.count_nonzero(expected[1:] < expected[0])


def test_every_rank_occurs_equally_often_over_all_signs():
    rng, Q, C = design()
    e, labels = rng.standard_cauchy(60), np.arange(60) % 6
    truth = rng.normal(size=5)
    ranks = []
    for s in product((1, -1), repeat=6):
        y = Q @ truth + np.array(s)[labels] * e
        ranks.append(joint_rank(Several.of(*sums(Q, y, labels), C).at(C @ truth))[0])
    assert np.bincount(ranks).tolist() == [0] + [2] * 32


def test_ties_count_in_favour_of_the_hypothesis():
    y, labels = np.ones(8), np.arange(8)
    found = Several.of(*sums(np.full((8, 1), 8**-0.5), y, labels), np.full((1, 1), 8**-0.5))
    rank, _ = joint_rank(found.at(np.zeros(1)))
    assert rank == 128  # only the identity has all signs equal
    assert joint_rank(found.at(np.ones(1)))[0] == 1  # all statistics are zero


@pytest.mark.parametrize(
    ("n", "level", "finite"), [(200, 0.95, True), (40, 0.95, True), (14, 0.95, False)]
)
def test_divisions_keep_most_of_the_information_or_are_infinite(n, level, finite):
    _, Q, C = design(n)
    made = division(Atoms.of(Q, np.zeros(n)), C, level)
    assert np.isfinite(made.width) == finite
    if n == 200:
        G = Atoms.of(Q, np.zeros(n)).products(made.places)
        assert Several.of(G, np.zeros((len(G), 5, 1)), C).kept(C) > 0.9
        assert made.width < 1.1 * division(Atoms.of(Q, np.zeros(n)), C[:1], level).width

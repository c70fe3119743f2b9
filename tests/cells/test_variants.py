"""Several numbers at once, residual weights, robust estimates, spherical noise."""

from itertools import product

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming.cells import (
    estimates,
    factors_of_rows,
    intervals,
    joint_rank,
    least_absolute_deviations,
    pseudo_rows,
    ranks,
    residual_weights,
    robust_coefficients,
    robust_estimates,
    t_intervals,
    t_pvalues,
)


def counts_over_signs(n, m, rank):
    """How often each rank occurs over all signs of n rows; s and -s have the same."""
    counts = np.zeros(m + 1, dtype=int)
    for signs in product((1.0,), *[(1.0, -1.0)] * (n - 1)):
        counts[rank(np.array(signs))] += 2
    return counts.tolist()


@pytest.mark.parametrize(("n", "K"), [(8, 4), pytest.param(9, 3, marks=pytest.mark.slow)])
def test_the_rank_of_two_numbers_is_uniform(n, K):
    """With two rows a cell identifies one direction of two only."""
    rng = np.random.default_rng(n)
    Phi = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    size, theta = rng.standard_cauchy(n), np.array([1.0, 2.0, 3.0])
    labels = np.arange(n) % K

    def rank(signs):
        cells = factors_of_rows(Phi, Phi @ theta + signs * size, labels, K)
        return joint_rank(pseudo_rows(cells, np.eye(3)[1:]), theta[1:])[0]

    m = 2 ** (K - 1)
    assert counts_over_signs(n, m, rank) == [0] + [2**n // m] * m


def test_one_number_is_a_special_case_and_statistics_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    n, K = 40, 6
    Phi = np.column_stack([np.ones(n), rng.normal(size=(n, 3)) * [1, 1e6, 1e-6]])
    y, labels = rng.normal(size=n), np.arange(n) % K
    cells = factors_of_rows(Phi, y, labels, K)
    found = estimates(cells, np.eye(4)[1:2])
    for tau in (-1.0, 0.0, 0.1, 0.5):
        single = ranks(found.beta, found.v, np.array([tau])).rank[0]
        assert joint_rank(pseudo_rows(cells, np.eye(4)[1:2]), np.array([tau]))[0] == single
    C = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1e6, 0.0]])
    tau = np.array([0.1, -0.2])
    _, statistics = joint_rank(pseudo_rows(cells, C), tau)
    X, Z = Phi[:, 1:3] / [1, 1e6], Phi[:, [0, 3]]
    u, V = [], 0
    for b in range(K):
        rows = labels == b
        Q = np.linalg.qr(Z[rows] / np.abs(Z[rows]).max(axis=0))[0]
        residual = X[rows] - Q @ (Q.T @ X[rows])
        u.append(residual.T @ (y[rows] - X[rows] @ tau))
        V = V + residual.T @ residual
    signs = np.array([(1, *rest) for rest in product((1, -1), repeat=K - 1)])
    totals = signs @ np.array(u)
    slow = np.einsum("si,ij,sj->s", totals, np.linalg.inv(V), totals)
    np.testing.assert_allclose(np.sort(statistics), np.sort(slow), rtol=1e-9)
    assert statistics[0] == pytest.approx(slow[0])


@pytest.mark.slow
def test_residual_weights_keep_the_rank_uniform():
    rng = np.random.default_rng(2)
    n, K = 9, 3
    Phi = np.column_stack([np.ones(n), rng.normal(size=n)])
    size, labels = rng.standard_cauchy(n), np.arange(n) % K

    def rank(signs):
        found = estimates(factors_of_rows(Phi, signs * size, labels, K), np.eye(2)[1:])
        return ranks(found.beta, residual_weights(found), np.zeros(1)).rank[0]

    assert counts_over_signs(n, 4, rank) == [0] + [2**n // 4] * 4


def test_residual_weights_pay_where_the_scale_differs_between_cells():
    rng = np.random.default_rng(3)
    n, K = 96, 8
    labels = np.arange(n) % K
    Phi = np.column_stack([np.ones(n), rng.normal(size=n)])
    scale = np.where(labels < 3, 5.0, 0.3)
    plain, weighted = [], []
    for _ in range(30):
        found = estimates(
            factors_of_rows(Phi, scale * rng.normal(size=n), labels, K), np.eye(2)[1:]
        )
        for v, widths in ((found.v, plain), (residual_weights(found), weighted)):
            got = intervals(found.beta, v, 0.9)
            widths.append(got.upper[0] - got.lower[0])
    assert np.median(weighted) < 0.4 * np.median(plain)


def test_cells_without_residuals():
    Phi = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 0.0], [1.0, 2.0], [1.0, 5.0]])
    y = np.array([0.0, 1.0, 2.0, 2.0, 9.0])
    labels = np.array([0, 0, 1, 1, 1])
    found = estimates(factors_of_rows(Phi, y, labels, 2), np.eye(2)[1:])
    np.testing.assert_allclose(residual_weights(found), found.v / found.rest[1] ** 2)
    exact = estimates(factors_of_rows(Phi[:4], y[:4], labels[:4], 2), np.eye(2)[1:])
    assert residual_weights(exact) is exact.v


def lower_median(Phi, y):
    """A fit that is not odd: the smaller of the two middle values."""
    return np.array([np.sort(y)[(len(y) - 1) // 2]])


def test_robust_estimates_keep_the_rank_uniform():
    """Also with a fit that is not odd where it has a choice."""
    rng = np.random.default_rng(4)
    n, K = 8, 4
    size, labels, Phi = rng.standard_cauchy(n), np.arange(n) % K, np.ones((n, 1))
    counts = np.zeros(9, dtype=int)
    for signs in product((1.0, -1.0), repeat=n):
        y = 3 + np.array(signs) * size
        found = robust_estimates(Phi, y, labels, K, np.ones((1, 1)), lower_median)
        counts[ranks(found.beta, found.v, np.full(1, 3.0), found.error).rank[0]] += 1
    assert counts.tolist() == [0] + [32] * 8


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=25, derandomize=True)
def test_robust_coefficients_are_equivariant_and_odd(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 3))
    Phi, y = rng.normal(size=(n, d)), rng.standard_cauchy(n)
    theta, found = rng.normal(size=d), robust_coefficients(Phi, y)
    size = 1e-8 * (1 + np.abs(found).max() + np.abs(y).max())
    np.testing.assert_allclose(robust_coefficients(Phi, y + Phi @ theta), found + theta, atol=size)
    np.testing.assert_allclose(robust_coefficients(Phi, -y), -found, atol=size)


def test_least_absolute_deviations_are_least():
    rng = np.random.default_rng(5)
    Phi = np.column_stack([np.ones(15), rng.normal(size=15) * 1e6])
    y = rng.standard_cauchy(15)
    best = np.abs(y - Phi @ least_absolute_deviations(Phi, y)).sum()
    pairs = [(i, j) for i in range(15) for j in range(i)]  # some minimiser passes through d points
    through = [np.linalg.solve(Phi[list(p)], y[list(p)]) for p in pairs]
    assert best == pytest.approx(min(np.abs(y - Phi @ theta).sum() for theta in through))


def test_robust_cells_are_narrow_where_the_tails_are_heavy():
    rng = np.random.default_rng(6)
    n, K = 120, 6
    Phi, labels = np.column_stack([np.ones(n), rng.normal(size=n)]), np.arange(n) % K
    y = rng.standard_cauchy(n)
    robust = robust_estimates(Phi, y, labels, K, np.eye(2)[1:])
    plain = estimates(factors_of_rows(Phi, y, labels, K), np.eye(2)[1:])
    assert np.array_equal(robust.v, plain.v)
    spread = [np.abs(found.beta).max() for found in (robust, plain)]
    assert spread[0] < spread[1] / 2


def test_spherical_noise_has_the_t_interval():
    rng = np.random.default_rng(7)
    Phi = np.column_stack([np.ones(20), rng.normal(size=(20, 2))])
    y = rng.normal(size=20)
    fit = sm.OLS(y, Phi).fit()
    center, half = t_intervals(Phi, y, np.eye(3), 0.95)
    np.testing.assert_allclose(np.column_stack([center - half, center + half]), fit.conf_int(0.05))
    np.testing.assert_allclose(t_pvalues(Phi, y, np.eye(3), np.zeros(3)), fit.pvalues)
    doubled = np.column_stack([Phi, Phi[:, 1]])
    center, half = t_intervals(doubled, y, np.eye(4), 0.95)
    assert np.isinf(half).tolist() == [False, True, False, True]
    assert t_pvalues(doubled, y, np.eye(4), np.zeros(4))[1] == 1
    assert np.isinf(t_intervals(Phi[:3], y[:3], np.eye(3), 0.95)[1]).all()
    assert (t_pvalues(Phi[:3], y[:3], np.eye(3), np.zeros(3)) == 1).all()

"""Every solver ends where its optimality conditions hold to rounding, and agrees with another."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics.pairwise import rbf_kernel

from unassuming.models.solvers import (
    epsilon_svr,
    huber_scale,
    kernel_huber,
    l1_least_squares,
    logistic,
)

SEEDS = st.integers(0, 2**32 - 1)


def noisy_sine(n, seed=0):
    x = np.linspace(0.0, 10.0, n).reshape(-1, 1)
    rng = np.random.default_rng(seed)
    return x, x[:, 0] * np.sin(x[:, 0]) + rng.laplace(scale=0.5, size=n)


# --- absolute values ------------------------------------------------------------------------------


def assert_l1_optimal(D, y, p, a):
    """The subgradient condition, to the rounding error of evaluating it."""
    correlations = D.T @ (y - D @ a)
    size = np.linalg.norm(y) + np.linalg.norm(D, axis=0) @ np.abs(a)
    rounding = 1e-13 * (np.linalg.norm(D, axis=0) * size + p)
    active = (a != 0.0) | (p == 0.0)
    gap = np.where(active, np.abs(correlations - p * np.sign(a)), np.abs(correlations) - p)
    assert np.all(gap <= rounding), (gap / rounding).max()


@st.composite
def l1_problems(draw):
    """Random problems of all kinds: wide, tall, with copies, of low rank, of small integers."""
    rng = np.random.default_rng(draw(SEEDS))
    n, d = draw(st.integers(1, 15)), draw(st.integers(1, 20))
    kind = draw(st.sampled_from(["normal", "copies", "low rank", "integers", "gaussian kernel"]))
    if kind == "gaussian kernel":
        x = np.sort(rng.uniform(0.0, 3.0, size=(n, 1)), axis=0)
        D = rbf_kernel(x, gamma=10.0 ** draw(st.integers(-2, 1)))
    elif kind == "integers":
        D = rng.integers(-2, 3, size=(n, d)).astype(float)
    else:
        D = rng.normal(size=(n, d))
        if kind == "copies":
            D = np.hstack([D, D[:, ::2], -D[:, :1]])
        if kind == "low rank":
            D = D[:, :2] @ rng.normal(size=(min(d, 2), d))
    y = rng.integers(-3, 4, size=n).astype(float) if kind == "integers" else rng.normal(size=n)
    p = np.full(D.shape[1], 10.0 ** draw(st.integers(-5, 1)))
    if draw(st.booleans()):
        p = p * rng.integers(0, 3, size=p.size)
    return D * 10.0 ** draw(st.integers(-2, 2)), y, p


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(problem=l1_problems())
def test_l1(problem):
    D, y, p = problem
    a = l1_least_squares(D, y, p)
    assert_l1_optimal(D, y, p, a)
    columns = D[:, a != 0.0]
    assert columns.shape[1] == 0 or np.linalg.matrix_rank(columns, tol=0.0) == columns.shape[1]


# --- the box of support vector regression ---------------------------------------------------------


def assert_svr_optimal(K, y, C, epsilon, b, a, *, fit_intercept=True):
    """The conditions of Karush, Kuhn and Tucker."""
    r = y - K @ a - b
    rounding = 1e-7 * (np.abs(y) + np.abs(K) @ np.abs(a) + abs(b) + epsilon).max()
    assert np.all(np.abs(a) <= C)
    at_bound, zero = np.abs(a) == C, a == 0.0
    assert np.all(np.abs(r - epsilon * np.sign(a))[~at_bound & ~zero] <= rounding)
    assert np.all(np.abs(r)[zero] <= epsilon + rounding)
    assert np.all((np.sign(a) * r)[at_bound] >= epsilon - rounding)
    assert abs(a.sum()) <= 1e-12 * C * len(y) if fit_intercept else b == 0.0


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(
    seed=SEEDS,
    n=st.integers(1, 25),
    tied=st.booleans(),
    gamma=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    C=st.sampled_from([0.01, 1.0, 30.0]),
    epsilon=st.sampled_from([0.0, 0.1, 1.0]),
    fit_intercept=st.booleans(),
)
def test_svr(seed, n, tied, gamma, C, epsilon, fit_intercept):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0.0, 5.0, size=(n, 1)), 3.0 * rng.standard_t(3, size=n)
    if tied:
        x, y = np.round(x), np.round(y)
    K = rbf_kernel(x, gamma=gamma) if gamma else x @ x.T
    b, a = epsilon_svr(K, y, C, epsilon, fit_intercept=fit_intercept)
    assert_svr_optimal(K, y, C, epsilon, b, a, fit_intercept=fit_intercept)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_svr_agrees_with_cvxpy(fit_intercept):
    rng = np.random.default_rng(12)
    X, C, epsilon = rng.normal(size=(30, 2)), 1.5, 0.1
    y = X[:, 0] ** 2 + 0.3 * rng.standard_t(2, size=30) + 5.0
    K, unknown = rbf_kernel(X), cp.Variable(30)
    b, a = epsilon_svr(K, y, C, epsilon, fit_intercept=fit_intercept)
    root = np.linalg.cholesky(K).T
    dual = y @ unknown - cp.sum_squares(root @ unknown) / 2.0 - epsilon * cp.norm1(unknown)
    constraints = [cp.abs(unknown) <= C] + [cp.sum(unknown) == 0.0] * fit_intercept
    cp.Problem(cp.Maximize(dual), constraints).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(a, unknown.value, atol=1e-4)
    if fit_intercept:
        assert abs(constraints[1].dual_value) == pytest.approx(abs(b), abs=1e-4)


# --- Huber ----------------------------------------------------------------------------------------


@given(seed=SEEDS, n=st.integers(1, 12), epsilon=st.floats(1.001, 6.0))
def test_the_scale_is_the_root_whatever_the_signs(seed, n, epsilon):
    rng = np.random.default_rng(seed)
    r, w = np.round(3 * rng.standard_t(2, size=n)), rng.integers(0, 4, size=n).astype(float)
    assume(w.sum() > 0.0)
    share = epsilon**2 * np.sum(w[r != 0.0]) / w.sum()
    assume(abs(share - 1.0) > 1e-9)
    sigma = huber_scale(r, w, epsilon)
    np.testing.assert_array_equal(
        huber_scale(rng.choice([-1.0, 1.0], (5, n)) * r, w, epsilon), sigma
    )
    if share < 1.0:
        assert np.isnan(sigma)
    else:
        left = w @ np.minimum((r / sigma) ** 2, epsilon**2)
        assert left == pytest.approx(w.sum(), rel=1e-12)


def test_kernel_huber_agrees_with_cvxpy_and_counts_weights_as_repetitions():
    x, y = noisy_sine(25)
    K, w = rbf_kernel(x), np.random.default_rng(1).integers(0, 3, size=25)
    a = kernel_huber(K, y, 0.2, 0.3, w.astype(float))
    root, unknown = np.linalg.cholesky(K + 1e-13 * np.eye(25)).T, cp.Variable(25)
    huber = cp.sum(cp.multiply(w, cp.huber(y - K @ unknown, 0.3))) / 2.0
    problem = cp.Problem(cp.Minimize(huber + 0.1 * cp.sum_squares(root @ unknown)))
    problem.solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(K @ a, K @ unknown.value, atol=1e-4)
    index = np.repeat(np.arange(25), w)
    again = kernel_huber(K[np.ix_(index, index)], y[index], 0.2, 0.3, np.ones(len(index)))
    np.testing.assert_allclose(K @ a, K[:, index] @ again, atol=1e-11)


# --- labels ---------------------------------------------------------------------------------------


def labels(seed, n=30, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2, size=d)
    odds = (X / np.abs(X).max(axis=0)) @ rng.normal(size=d)
    y = np.where(rng.uniform(size=n) < expit(odds), 1.0, -1.0)
    return np.column_stack([np.ones(n), X]), y, rng.uniform(0.1, 3.0, size=n)


def lack(Phi, y, c, q, p, a):
    """The distance of each derivative from the subdifferential, over the size of its terms."""
    terms = Phi.T * (c * y * expit(-y * (Phi @ a)))
    u = terms.sum(axis=1) - q * a
    gap = np.where(a == 0, np.maximum(np.abs(u) - p, 0), np.abs(u - p * np.sign(a)))
    return (gap / (np.abs(terms).sum(axis=1) + q * np.abs(a) + p)).max()


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    seed=SEEDS,
    n=st.integers(2, 40),
    d=st.integers(1, 8),
    strength=st.floats(-3, 3),
    ratio=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_logistic(seed, n, d, strength, ratio):
    Phi, y, c = labels(seed, n, d)
    assume(abs(y.sum()) < n)
    penalty = 10.0**strength * np.r_[0.0, np.ones(d)]
    q, p = (1 - ratio) * penalty, ratio * penalty
    assert lack(Phi, y, c, q, p, logistic(Phi, y, c, q, p)) < 1e-12


def test_groups_have_their_own_odds_and_dependent_columns_share_them():
    Phi = np.repeat([[1.0, 0.0], [0.0, 1.0]], [5, 7], axis=0)
    y, free = np.array([1, 1, -1, -1, -1, 1, 1, 1, 1, 1, -1, -1.0]), np.zeros(2)
    a = logistic(Phi, y, np.ones(12), free, free)
    np.testing.assert_allclose(a, [np.log(2 / 3), np.log(5 / 2)], rtol=1e-12)
    a = logistic(Phi[:, [0, 1, 1]], y, np.ones(12), np.zeros(3), np.zeros(3))
    np.testing.assert_allclose([a[0], a[1] + a[2]], [np.log(2 / 3), np.log(5 / 2)], rtol=1e-12)


@pytest.mark.parametrize(
    ("y", "separable"),
    [
        ([-1, -1, 1, 1, 1, 1], True),
        ([-1, -1, -1, -1, -1, 1], True),
        ([-1, -1, -1, 1, 1, 1], True),  # both labels at one input, all others on their own side
        ([-1, 1, -1, 1, 1, 1], False),
        ([1, -1, -1, -1, -1, 1], False),
    ],
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_separable_labels_have_no_minimum(y, separable, scale):
    Phi = np.column_stack([np.ones(6), scale * np.array([-2.0, -1.0, 0.5, 0.5, 1.0, 3.0])])
    y, free = np.array(y, dtype=float), np.zeros(2)
    if separable:
        with pytest.raises(ValueError, match=r"^y can be separated by the features.*finite C"):
            logistic(Phi, y, np.ones(6), free, free)
    else:
        a = logistic(Phi, y, np.ones(6), free, free)
        assert lack(Phi, y, np.ones(6), free, free, a) < 1e-12
    ridge = np.array([0.0, 1e-3 * scale**2])
    assert np.isfinite(logistic(Phi, y, np.ones(6), ridge, free)).all()

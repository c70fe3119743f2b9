"""Every solver ends where its optimality conditions hold to rounding, and agrees with another."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, QuantileRegressor, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR, LinearSVR

from unassuming.kernels import rectangular, truncated_parabolic
from unassuming.models.solvers import (
    concomitant_huber,
    epsilon_svr,
    huber_scale,
    kernel_huber,
    kernel_ridge,
    l1_least_squares,
    least_squares,
    linear_svr,
    logistic,
    quantile_regression,
)

SEEDS = st.integers(0, 2**32 - 1)


def noisy_sine(n, seed=0):
    x = np.linspace(0.0, 10.0, n).reshape(-1, 1)
    rng = np.random.default_rng(seed)
    return x, x[:, 0] * np.sin(x[:, 0]) + rng.laplace(scale=0.5, size=n)


def sample(seed=0, n=60, d=3):
    """A column of ones and d others, outputs with heavy tails."""
    rng = np.random.default_rng(seed)
    D = np.column_stack([np.ones(n), rng.normal(size=(n, d))])
    return D, D @ rng.normal(size=d + 1) + rng.standard_t(2, size=n)


# --- least squares and kernel ridge ---------------------------------------------------------------


def test_least_squares_of_dependent_columns_are_the_shortest_in_units_of_the_columns():
    D, y = sample()
    np.testing.assert_allclose(least_squares(D, y), np.linalg.lstsq(D, y)[0], atol=1e-12)
    twice = least_squares(np.column_stack([D, 1e6 * D[:, 1]]), y)
    np.testing.assert_allclose(twice[1], 1e6 * twice[4], rtol=0.1)
    np.testing.assert_allclose(twice[1] + 1e6 * twice[4], least_squares(D, y)[1])


@settings(deadline=None, max_examples=50)
@given(
    seed=SEEDS,
    n=st.integers(1, 25),
    alpha=st.sampled_from([1e-6, 1e-3, 1.0, 1e3]),
    linear=st.booleans(),
    fit_intercept=st.booleans(),
)
def test_kernel_ridge(seed, n, alpha, linear, fit_intercept):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0.0, 5.0, size=(n, 1)), rng.normal(size=n) + 10.0
    w = rng.integers(0, 3, size=n).astype(float)
    w[0] = 1.0
    K = x @ x.T if linear else rbf_kernel(x)
    b, a = kernel_ridge(K, y, alpha, w, fit_intercept=fit_intercept)
    size = (np.abs(y) + np.abs(K) @ np.abs(a) + abs(b)).max()
    assert np.max(np.abs(alpha * a - w * (y - b - K @ a))) <= 1e-12 * w.max() * size
    assert abs(a.sum()) <= 1e-12 * w.sum() / alpha * size if fit_intercept else b == 0.0


def test_kernel_ridge_is_that_of_scikit_learn():
    D, y = sample()
    w = np.random.default_rng(1).uniform(0.1, 2.0, size=60)
    expected = KernelRidge(alpha=0.4, kernel="rbf").fit(D, y, sample_weight=w).dual_coef_
    found = kernel_ridge(rbf_kernel(D), y, 0.4, w, fit_intercept=False)[1]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    ridge = Ridge(alpha=0.4, solver="cholesky").fit(D[:, 1:], y, sample_weight=w)
    b, a = kernel_ridge(D[:, 1:] @ D[:, 1:].T, y, 0.4, w)
    np.testing.assert_allclose([b, *(D[:, 1:].T @ a)], [ridge.intercept_, *ridge.coef_], rtol=1e-9)


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


@pytest.mark.parametrize("alpha", [10.0, 0.1, 1e-3, 1e-5])
@pytest.mark.parametrize("n", [20, 100, 300])
def test_l1_with_numerically_singular_gaussian_kernels(n, alpha):
    x, y = noisy_sine(n)
    K = rbf_kernel(x, gamma=2.0)  # its numerical rank is about 45 whatever n
    a = l1_least_squares(K, y, np.full(n, alpha))
    assert 0 < np.count_nonzero(a) <= min(n, 60)
    assert_l1_optimal(K, y, np.full(n, alpha), a)


def test_l1_with_an_indefinite_kernel():
    x, y = noisy_sine(60)
    K, p = truncated_parabolic(x, c=0.7), np.full(60, 0.01)
    assert np.linalg.eigvalsh(K)[0] < -1e-3
    assert_l1_optimal(K, y, p, l1_least_squares(K, y, p))


def test_l1_is_the_lasso_of_scikit_learn():
    D, y = sample(d=8)
    lasso = Lasso(alpha=0.2, tol=1e-14, max_iter=100_000).fit(D[:, 1:], y)
    a = l1_least_squares(D, y, 60 * 0.2 * np.r_[0.0, np.ones(8)])
    np.testing.assert_allclose(a, [lasso.intercept_, *lasso.coef_], rtol=0.0, atol=1e-9)
    np.testing.assert_array_equal(a[1:] == 0.0, lasso.coef_ == 0.0)


def test_l1_limits():
    D, y = sample()
    copies = D.copy(), y.copy()
    assert not l1_least_squares(D, y, np.full(4, np.max(np.abs(D.T @ y)) * 1.0001)).any()
    np.testing.assert_allclose(l1_least_squares(D, y, np.zeros(4)), np.linalg.lstsq(D, y)[0])
    twice = l1_least_squares(D[:, [0, 0, 1]], y, np.array([0.0, 0.0, 0.5]))
    assert np.count_nonzero(twice[:2]) == 1  # of two columns without a penalty one is enough
    assert l1_least_squares(np.empty((3, 0)), np.ones(3), np.empty(0)).shape == (0,)
    np.testing.assert_array_equal(D, copies[0])
    np.testing.assert_array_equal(y, copies[1])


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


@pytest.mark.slow_but_first
@pytest.mark.parametrize("C", [0.1, 12.5, 1e4])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("gamma", [2.0, 0.05])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_svr_with_numerically_singular_gaussian_kernels(C, epsilon, gamma, fit_intercept):
    x, y = noisy_sine(100)
    K = rbf_kernel(x, gamma=gamma)
    b, a = epsilon_svr(K, y, C, epsilon, fit_intercept=fit_intercept)
    assert_svr_optimal(K, y, C, epsilon, b, a, fit_intercept=fit_intercept)


@pytest.mark.parametrize("kernel", [truncated_parabolic, rectangular])
@pytest.mark.parametrize("C", [0.1, 12.5, 1e3])
def test_svr_with_an_indefinite_kernel_ends_at_the_stationary_point_of_scikit_learn(kernel, C):
    x, y = noisy_sine(60)
    K = kernel(x)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    b, a = epsilon_svr(K, y, C, 0.1)
    assert_svr_optimal(K, y, C, 0.1, b, a)
    theirs = SVR(kernel="precomputed", C=C, epsilon=0.1, tol=1e-8 * np.ptp(y)).fit(K, y)
    np.testing.assert_allclose(K @ a + b, theirs.predict(K), atol=1e-4 * max(C, 1.0))


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


def test_an_undetermined_intercept_is_the_midpoint():
    b, a = epsilon_svr(np.eye(3), np.array([1.0, 1.2, 1.4]), 1.0, 0.5)
    assert not a.any()
    assert b == pytest.approx((0.9 + 1.5) / 2.0)
    b, a = epsilon_svr(np.eye(2), np.array([0.0, 10.0]), 1.0, 0.5)
    np.testing.assert_array_equal(a, [-1.0, 1.0])
    assert b == pytest.approx(5.0)  # anything from 1.5 to 8.5 will do


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_linear_svr(C, epsilon, squared):
    D, y = sample()
    p = np.array([0.25, 1.0, 1.0, 1.0])
    a = linear_svr(D, y, C, epsilon, p, squared=squared)
    unknown = cp.Variable(4)
    outside = cp.pos(cp.abs(y - D @ unknown) - epsilon)
    loss = cp.sum_squares(outside) if squared else cp.sum(outside)
    cp.Problem(cp.Minimize(p @ unknown**2 / 2 + C * loss)).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(a, unknown.value, atol=1e-5)
    r = np.abs(y - D @ a)
    if squared:
        pull = 2 * C * np.sign(y - D @ a) * np.maximum(r - epsilon, 0)
        np.testing.assert_allclose(D.T @ pull, p * a, rtol=1e-11, atol=1e-11 * C)
    else:  # as many residuals at the sides of the tube as the equations have
        at_side = np.abs(r - epsilon) <= 1e-13 * (np.abs(y) + np.abs(D) @ np.abs(a)).max()
        rows = (D * np.sign(y - D @ a)[:, None])[~at_side & (r > epsilon)]
        rest = p * a - C * rows.sum(axis=0)
        assert np.linalg.norm(rest - D[at_side].T @ np.linalg.lstsq(D[at_side].T, rest)[0]) < 1e-9
        loss = {"loss": "epsilon_insensitive", "tol": 1e-10, "max_iter": 10**6}
        theirs = LinearSVR(C=C, epsilon=epsilon, intercept_scaling=2.0, **loss).fit(D[:, 1:], y)
        np.testing.assert_allclose(a, [*np.ravel(theirs.intercept_), *theirs.coef_], atol=1e-3)


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


@pytest.mark.parametrize("epsilon", [1.05, 1.35, 10.0])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_huber(epsilon, alpha, seed):
    D, y = sample(seed)
    w, p = np.random.default_rng(seed).uniform(0.5, 2.0, size=60), alpha * np.r_[0.0, np.ones(3)]
    a, sigma = concomitant_huber(D, y, w, epsilon, p)
    z = np.clip((y - D @ a) / sigma, -epsilon, epsilon)
    np.testing.assert_allclose(D.T @ (w * z), p * a, atol=1e-11 * (1 + alpha))
    assert w @ z**2 == pytest.approx(w.sum(), rel=1e-12)
    theirs = HuberRegressor(epsilon=epsilon, alpha=alpha, tol=1e-10, max_iter=10_000)
    theirs.fit(D[:, 1:], y, sample_weight=w)
    np.testing.assert_allclose(a, [theirs.intercept_, *theirs.coef_], atol=1e-3)


def test_huber_limits():
    D, y = sample()
    far = y.copy()
    far[3] = 1e9  # an outlier pulls as hard as any other row beyond the threshold
    found = [concomitant_huber(D, v, np.ones(60), 1.35, np.zeros(4))[0] for v in (far, 1e3 * far)]
    np.testing.assert_allclose(1e3 * found[0], found[1], rtol=1e-6)
    a, sigma = concomitant_huber(D, y, np.ones(60), 1e3, np.zeros(4))
    np.testing.assert_allclose(a, np.linalg.lstsq(D, y)[0], atol=1e-12)
    assert sigma == pytest.approx(np.sqrt(np.mean((y - D @ a) ** 2)), rel=1e-12)
    with pytest.raises(ValueError, match=r"y leaves too few nonzero residuals.*epsilon = 1\.35"):
        concomitant_huber(D, np.zeros(60), np.ones(60), 1.35, np.zeros(4))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("alpha", [2.0, 1e-2, 1e-5])
@pytest.mark.parametrize("delta", [0.05, 1.0, 1e3])
@pytest.mark.parametrize("n", [30, 300])
def test_kernel_huber(n, alpha, delta):
    x, y = noisy_sine(n)
    y = y + np.random.default_rng(0).standard_cauchy(n)
    K, w = rbf_kernel(x, gamma=2.0), np.random.default_rng(1).integers(0, 3, size=n).astype(float)
    a = kernel_huber(K, y, alpha, delta, w)
    gap = np.abs(alpha * a - w * np.clip(y - K @ a, -delta, delta))
    assert gap.max() <= 1e-12 * (np.abs(y) + K @ np.abs(a)).max()
    beyond = np.abs(y - K @ a) > delta * (1 + 1e-9)
    np.testing.assert_array_equal(np.abs(a[beyond]), w[beyond] * delta / alpha)


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


@pytest.mark.parametrize("seed", range(3))
def test_logistic_is_the_minimum_that_a_general_method_finds(seed):
    Phi, y, c = labels(seed)
    Phi[:, 1:] /= np.abs(Phi[:, 1:]).max(axis=0)
    q, p = np.r_[0.0, np.full(4, 0.4)], np.r_[0.0, np.full(4, 0.3)]

    def value(split):  # a = a⁺ - a⁻ makes the absolute values smooth
        a = split[:5] - split[5:]
        loss = c @ np.logaddexp(0, -y * (Phi @ a))
        return loss + q @ a**2 / 2 + np.r_[p, p] @ split

    found = minimize(value, np.zeros(10), bounds=[(0, None)] * 10, tol=1e-14)
    a = logistic(Phi, y, c, q, p)
    np.testing.assert_allclose(a, found.x[:5] - found.x[5:], atol=1e-4)


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


# --- quantiles ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("outlier", [1.0, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_quantiles(tau, alpha, outlier, seed):
    """At a vertex as many residuals and coefficients are zero as there are coefficients."""
    D, y = sample(seed)
    D[:, 2] *= 1e3
    y[3] *= outlier
    p = 60 * alpha * np.r_[0.0, np.ones(3)]
    a = quantile_regression(D, 100 + y, tau, p)
    r = 100 + y - D @ a
    zero = np.abs(r) <= 1e-12 * (100 + np.abs(y) + np.abs(D) @ np.abs(a))
    assert zero.sum() + (a == 0).sum() == 4

    def loss(a):
        r = 100 + y - D @ a
        return r @ (tau - (r < 0)) + p @ np.abs(a)

    theirs = QuantileRegressor(quantile=tau, alpha=alpha).fit(D[:, 1:], 100 + y)
    assert loss(a) <= loss(np.r_[theirs.intercept_, theirs.coef_]) * (1 + 1e-9)

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from unassuming.kernels import rectangular, truncated_parabolic
from unassuming.models.solvers import epsilon_svr


def assert_optimal(K, y, C, epsilon, b, a, *, fit_intercept=True):
    """The conditions of Karush, Kuhn and Tucker, to the rounding error of evaluating them."""
    C = np.broadcast_to(C, y.shape)
    r = y - K @ a - b
    rounding = 1e-13 * (np.abs(y) + np.abs(K) @ np.abs(a) + abs(b) + epsilon).max()
    assert np.all(np.abs(a) <= C)
    # At ±C the sign of the residual is known; at 0 and in between it may also touch the tube.
    at_bound, zero = np.abs(a) == C, a == 0.0
    between = ~at_bound & ~zero
    assert np.all(np.abs(r - epsilon * np.sign(a))[between] <= rounding)
    assert np.all(np.abs(r)[zero] <= epsilon + rounding)
    assert np.all((np.sign(a) * r)[at_bound] >= epsilon - rounding)
    if fit_intercept:
        assert abs(a.sum()) <= 1e-13 * C.sum()
    else:
        assert b == 0.0


def noisy_sine(n, seed=0):
    x = np.linspace(0.0, 10.0, n).reshape(-1, 1)
    rng = np.random.default_rng(seed)
    return x, x[:, 0] * np.sin(x[:, 0]) + rng.laplace(scale=0.5, size=n)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 25))
    x = rng.uniform(0.0, 5.0, size=(n, 1))
    y = 3.0 * rng.standard_t(3, size=n)
    if draw(st.booleans()):
        x, y = np.round(x), np.round(y)  # duplicated inputs, tied outputs
    gaussian = draw(st.booleans())
    K = rbf_kernel(x, gamma=10.0 ** draw(st.integers(-2, 1))) if gaussian else x @ x.T
    C = np.full(n, 10.0 ** draw(st.integers(-2, 3)))
    if draw(st.booleans()):
        C = C * rng.integers(1, 4, size=n)
    return K, y, C, draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])), draw(st.booleans())


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(problem=problems())
def test_the_optimality_conditions_hold(problem):
    K, y, C, epsilon, fit_intercept = problem
    b, a = epsilon_svr(K, y, C, epsilon, fit_intercept=fit_intercept)
    assert_optimal(K, y, C, epsilon, b, a, fit_intercept=fit_intercept)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("C", [0.1, 12.5, 1e4])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("gamma", [2.0, 0.05])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_numerically_singular_gaussian_kernels(C, epsilon, gamma, fit_intercept):
    x, y = noisy_sine(100)
    K = rbf_kernel(x, gamma=gamma)
    b, a = epsilon_svr(K, y, C, epsilon, fit_intercept=fit_intercept)
    assert_optimal(K, y, C, epsilon, b, a, fit_intercept=fit_intercept)


@pytest.mark.parametrize("kernel", [truncated_parabolic, rectangular])
@pytest.mark.parametrize("C", [0.1, 12.5, 1e3])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_indefinite_kernels_lead_to_a_stationary_point(kernel, C, epsilon):
    x, y = noisy_sine(60)
    K = kernel(x)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    b, a = epsilon_svr(K, y, C, epsilon)
    assert_optimal(K, y, C, epsilon, b, a)
    libsvm = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-8 * np.ptp(y)).fit(K, y)
    found = np.zeros(60)
    found[libsvm.support_] = libsvm.dual_coef_[0]
    np.testing.assert_allclose(K @ a + b, K @ found + libsvm.intercept_, atol=1e-4 * max(C, 1.0))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_scikit_learn_agrees(kernel):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.3 * rng.standard_t(2, size=60)
    w = rng.uniform(0.5, 2.0, size=60)
    svr = SVR(kernel=kernel, C=2.0, epsilon=0.2, gamma=0.4, tol=1e-10).fit(X, y, sample_weight=w)
    K = rbf_kernel(X, gamma=0.4) if kernel == "rbf" else X @ X.T
    b, a = epsilon_svr(K, y, 2.0 * w, 0.2)
    # LIBSVM keeps the kernel in single precision.
    np.testing.assert_allclose(K @ a + b, svr.predict(X), atol=2e-5)
    assert b == pytest.approx(svr.intercept_[0], abs=2e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_cvxpy_agrees(fit_intercept):
    rng = np.random.default_rng(12)
    X, C, epsilon = rng.normal(size=(30, 2)), 1.5, 0.1
    y = X[:, 0] ** 2 + 0.3 * rng.standard_t(2, size=30) + 5.0
    K = rbf_kernel(X)
    b, a = epsilon_svr(K, y, C, epsilon, fit_intercept=fit_intercept)
    unknown = cp.Variable(30)
    root = np.linalg.cholesky(K).T
    dual = y @ unknown - cp.sum_squares(root @ unknown) / 2.0 - epsilon * cp.norm1(unknown)
    constraints = [cp.abs(unknown) <= C] + [cp.sum(unknown) == 0.0] * fit_intercept
    problem = cp.Problem(cp.Maximize(dual), constraints)
    problem.solve(solver=cp.CLARABEL)
    mine = y @ a - a @ K @ a / 2.0 - epsilon * np.abs(a).sum()
    assert mine == pytest.approx(problem.value, rel=1e-7)
    np.testing.assert_allclose(a, unknown.value, atol=1e-4)
    if fit_intercept:
        assert abs(constraints[1].dual_value) == pytest.approx(abs(b), abs=1e-4)


def test_a_start_is_polished():
    x, y = noisy_sine(50)
    K = rbf_kernel(x, gamma=2.0)
    loose = SVR(kernel="precomputed", C=5.0, epsilon=0.2).fit(K, y)
    start = np.zeros(50)
    start[loose.support_] = loose.dual_coef_[0]
    b, a = epsilon_svr(K, y, 5.0, 0.2, start=start)
    assert_optimal(K, y, 5.0, 0.2, b, a)
    from_nothing = epsilon_svr(K, y, 5.0, 0.2, start=np.zeros(50))
    np.testing.assert_allclose(from_nothing[1], a, atol=1e-9)
    assert from_nothing[0] == pytest.approx(b, abs=1e-9)


def test_an_undetermined_intercept_is_the_midpoint():
    b, a = epsilon_svr(np.eye(3), np.array([1.0, 1.2, 1.4]), 1.0, 0.5)
    assert not a.any()
    assert b == pytest.approx((0.9 + 1.5) / 2.0)
    b, a = epsilon_svr(np.eye(2), np.array([0.0, 10.0]), 1.0, 0.5)
    np.testing.assert_array_equal(a, [-1.0, 1.0])
    assert b == pytest.approx(5.0)  # anything from 1.5 to 8.5 will do

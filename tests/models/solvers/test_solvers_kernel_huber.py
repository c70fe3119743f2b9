import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from unassuming.models.solvers import kernel_huber


def loss(r, delta):
    return np.where(np.abs(r) <= delta, r**2 / 2.0, delta * np.abs(r) - delta**2 / 2.0)


def assert_optimal(K, y, alpha, delta, w, a):
    """The fixed point alpha a = w clip(y − Ka), to the rounding error of evaluating it."""
    gap = np.abs(alpha * a - w * np.clip(y - K @ a, -delta, delta))
    rounding = 1e-13 * w * (np.abs(y) + np.abs(K) @ np.abs(a)).max() + 1e-300
    assert np.all(gap <= rounding), (gap / rounding).max()
    assert np.all(np.abs(a) <= w * delta / alpha * (1.0 + 1e-15))


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 30))
    x = rng.uniform(0.0, 5.0, size=(n, 1))
    if draw(st.booleans()):
        x = np.round(x)  # duplicated inputs
    kind = draw(st.sampled_from(["gaussian", "linear", "zero"]))
    K = {"gaussian": rbf_kernel(x), "linear": x @ x.T, "zero": np.zeros((n, n))}[kind]
    y = 3.0 * rng.standard_t(2, size=n)
    w = np.ones(n) if draw(st.booleans()) else rng.integers(0, 4, size=n).astype(float)
    return K, y, 10.0 ** draw(st.integers(-4, 1)), 10.0 ** draw(st.integers(-2, 3)), w


@settings(deadline=None, max_examples=100)
@given(problem=problems())
def test_the_optimality_condition_holds(problem):
    K, y, alpha, delta, w = problem
    assert_optimal(K, y, alpha, delta, w, kernel_huber(K, y, alpha, delta, w))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("alpha", [2.0, 1e-2, 1e-5])
@pytest.mark.parametrize("delta", [0.05, 0.1, 1.0])
@pytest.mark.parametrize("n", [100, 300])
def test_heavy_tails_and_numerically_singular_kernels(n, alpha, delta):
    # Small thresholds are where the block guesses cycle and the active-set method has to finish.
    x = np.linspace(0.0, 10.0, n).reshape(-1, 1)
    y = x[:, 0] * np.sin(x[:, 0]) + np.random.default_rng(0).standard_cauchy(n)
    K = rbf_kernel(x, gamma=2.0)
    a = kernel_huber(K, y, alpha, delta)
    assert_optimal(K, y, alpha, delta, np.ones(n), a)


def test_a_large_threshold_is_kernel_ridge():
    rng = np.random.default_rng(4)
    X, y, w = rng.normal(size=(25, 2)), rng.normal(size=25), rng.uniform(0.2, 3.0, size=25)
    K = rbf_kernel(X)
    ridge = KernelRidge(kernel="rbf", alpha=0.3, gamma=0.5).fit(X, y, sample_weight=w)
    for delta in (1e9, np.inf):
        a = kernel_huber(K, y, 0.3, delta, w)
        np.testing.assert_allclose(a, ridge.dual_coef_, rtol=1e-11)


def test_cvxpy_agrees():
    rng = np.random.default_rng(6)
    x = rng.uniform(0.0, 6.0, size=(25, 1))
    y = np.sin(x[:, 0]) + rng.standard_t(1.5, size=25)
    w = rng.uniform(0.5, 2.0, size=25)
    K, alpha, delta = rbf_kernel(x), 0.2, 0.3
    a = kernel_huber(K, y, alpha, delta, w)
    root = np.linalg.cholesky(K + 1e-13 * np.eye(25)).T
    unknown = cp.Variable(25)
    huber = cp.sum(cp.multiply(w, cp.huber(y - K @ unknown, delta))) / 2.0
    problem = cp.Problem(cp.Minimize(huber + alpha / 2.0 * cp.sum_squares(root @ unknown)))
    problem.solve(solver=cp.CLARABEL)
    value = w @ loss(y - K @ a, delta) + alpha / 2.0 * a @ K @ a
    assert value == pytest.approx(problem.value, rel=1e-7)
    np.testing.assert_allclose(K @ a, K @ unknown.value, atol=1e-4)


def test_coefficients_of_outliers_are_exactly_at_the_bound():
    K, y = np.eye(3), np.array([0.5, 100.0, -100.0])
    a = kernel_huber(K, y, 0.7, 0.3, np.array([1.0, 2.0, 3.0]))
    assert a[1] == 2.0 * 0.3 / 0.7
    assert a[2] == -(3.0 * 0.3 / 0.7)
    assert a[0] == pytest.approx(0.5 / 1.7)


def test_rows_without_weight_are_left_out():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(12, 1)), rng.normal(size=12)
    w = np.array([1.0, 0.0] * 6)
    K = rbf_kernel(x)
    a = kernel_huber(K, y, 0.1, 0.5, w)
    rest = kernel_huber(K[::2, ::2], y[::2], 0.1, 0.5)
    assert not a[1::2].any()
    np.testing.assert_array_equal(a[::2], rest)


def test_an_integer_weight_is_a_repetition():
    rng = np.random.default_rng(10)
    x, y = rng.normal(size=(8, 1)), rng.standard_cauchy(8)
    repeats = rng.integers(0, 4, size=8)
    index = np.repeat(np.arange(8), repeats)
    K = rbf_kernel(x)
    weighted = K @ kernel_huber(K, y, 0.1, 0.5, repeats.astype(float))
    repeated = K[:, index] @ kernel_huber(K[np.ix_(index, index)], y[index], 0.1, 0.5)
    np.testing.assert_allclose(weighted, repeated, atol=1e-12)

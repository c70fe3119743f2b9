import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso
from sklearn.metrics.pairwise import rbf_kernel

from unassuming.kernels import rectangular, truncated_parabolic
from unassuming.models.solvers import l1_least_squares


def objective(D, y, p, a):
    return 0.5 * np.sum((y - D @ a) ** 2) + p @ np.abs(a)


def assert_optimal(D, y, p, a):
    """The subgradient condition, to the rounding error of evaluating it."""
    correlations = D.T @ (y - D @ a)
    size = np.linalg.norm(np.abs(y) + np.abs(D) @ np.abs(a))
    rounding = 1e-13 * (np.linalg.norm(D, axis=0) * size + p)
    active = (a != 0.0) | (p == 0.0)
    gap = np.where(active, np.abs(correlations - p * np.sign(a)), np.abs(correlations) - p)
    assert np.all(gap <= rounding), (gap / rounding).max()


def noisy_sine(n, seed=0):
    x = np.linspace(0.0, 10.0, n).reshape(-1, 1)
    rng = np.random.default_rng(seed)
    return x, x[:, 0] * np.sin(x[:, 0]) + rng.laplace(scale=0.5, size=n)


@st.composite
def problems(draw):
    """Random problems of all kinds: wide, tall, with copies, of low rank, of small integers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
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
@settings(deadline=None, max_examples=150)
@given(problem=problems())
def test_the_optimality_conditions_hold(problem):
    D, y, p = problem
    assert_optimal(D, y, p, l1_least_squares(D, y, p))


@settings(deadline=None, max_examples=50)
@given(problem=problems())
def test_active_columns_are_independent(problem):
    D, y, p = problem
    a = l1_least_squares(D, y, p)
    columns = D[:, a != 0.0]
    assert columns.shape[1] == 0 or np.linalg.matrix_rank(columns, tol=0.0) == columns.shape[1]
    assert columns.shape[1] <= D.shape[0]


@pytest.mark.parametrize("alpha", [10.0, 1.0, 0.1, 1e-3, 1e-5])
@pytest.mark.parametrize("n", [20, 100, 300])
def test_numerically_singular_gaussian_kernels(n, alpha):
    x, y = noisy_sine(n)
    K = rbf_kernel(x, gamma=2.0)  # σ = ½; the numerical rank is about 45 whatever n
    a = l1_least_squares(K, y, np.full(n, alpha))
    assert 0 < np.count_nonzero(a) <= min(n, 60)
    assert_optimal(K, y, np.full(n, alpha), a)


@pytest.mark.parametrize("kernel", [truncated_parabolic, rectangular])
@pytest.mark.parametrize("n", [20, 100])
def test_indefinite_kernels(kernel, n):
    x, y = noisy_sine(n)
    K = kernel(x, c=0.7)
    assert np.linalg.eigvalsh(K)[0] < -1e-3
    for alpha in (1.0, 0.01):
        a = l1_least_squares(K, y, np.full(n, alpha))
        assert_optimal(K, y, np.full(n, alpha), a)


@pytest.mark.parametrize("alpha", [0.5, 0.01])
def test_cvxpy_agrees(alpha):
    rng = np.random.default_rng(3)
    D, y = rng.normal(size=(30, 12)), rng.normal(size=30)
    p = alpha * rng.uniform(0.5, 2.0, size=12)
    p[0] = 0.0
    a = l1_least_squares(D, y, p)
    unknown = cp.Variable(12)
    loss = 0.5 * cp.sum_squares(y - D @ unknown) + p @ cp.abs(unknown)
    cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(a, unknown.value, rtol=0.0, atol=1e-6)
    assert objective(D, y, p, a) <= objective(D, y, p, unknown.value) + 1e-12


def test_cvxpy_finds_no_better_value_on_a_singular_kernel():
    x, y = noisy_sine(60)
    K, p = rbf_kernel(x, gamma=0.5), np.full(60, 0.05)
    a = l1_least_squares(K, y, p)
    unknown = cp.Variable(60)
    loss = 0.5 * cp.sum_squares(y - K @ unknown) + p @ cp.abs(unknown)
    cp.Problem(cp.Minimize(loss)).solve(solver=cp.CLARABEL)
    mine, theirs = objective(K, y, p, a), objective(K, y, p, unknown.value)
    assert mine <= theirs + 1e-10
    assert mine == pytest.approx(theirs, rel=1e-6)


def test_scikit_learn_agrees():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 8))
    y = X[:, 0] - 2.0 * X[:, 3] + 3.0 + rng.normal(size=50)
    lasso = Lasso(alpha=0.2, tol=1e-14, max_iter=100_000).fit(X, y)
    p = np.full(9, 50 * 0.2)
    p[0] = 0.0
    a = l1_least_squares(np.column_stack([np.ones(50), X]), y, p)
    np.testing.assert_allclose(a[1:], lasso.coef_, rtol=0.0, atol=1e-9)
    assert a[0] == pytest.approx(lasso.intercept_, abs=1e-9)
    np.testing.assert_array_equal(a[1:] == 0.0, lasso.coef_ == 0.0)


def test_a_large_penalty_leaves_exact_zeros():
    x, y = noisy_sine(30)
    K = rbf_kernel(x)
    assert not l1_least_squares(K, y, np.full(30, np.max(np.abs(K @ y)) * 1.0001)).any()


def test_no_penalty_is_least_squares():
    rng = np.random.default_rng(1)
    D, y = rng.normal(size=(20, 5)), rng.normal(size=20)
    a = l1_least_squares(D, y, np.zeros(5))
    np.testing.assert_allclose(a, np.linalg.lstsq(D, y, rcond=None)[0], atol=1e-12)


def test_copies_of_an_unpenalised_column():
    D = np.column_stack([np.ones(4), np.ones(4), np.arange(4.0)])
    a = l1_least_squares(D, np.array([1.0, 2.0, 3.0, 5.0]), np.array([0.0, 0.0, 0.5]))
    assert np.count_nonzero(a[:2]) == 1
    assert_optimal(D, np.array([1.0, 2.0, 3.0, 5.0]), np.array([0.0, 0.0, 0.5]), a)


def test_the_inputs_are_not_changed():
    x, y = noisy_sine(15)
    K, p = rbf_kernel(x), np.full(15, 0.1)
    copies = K.copy(), y.copy(), p.copy()
    l1_least_squares(K, y, p)
    for array, copy in zip((K, y, p), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_empty_design():
    assert l1_least_squares(np.empty((3, 0)), np.ones(3), np.empty(0)).shape == (0,)

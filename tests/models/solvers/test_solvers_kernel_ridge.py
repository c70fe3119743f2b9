import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from unassuming.models.solvers import kernel_ridge
from unassuming.models.solvers._linear import solve_positive


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 25),
    alpha=st.sampled_from([1e-6, 1e-3, 1.0, 1e3]),
    linear=st.booleans(),
    fit_intercept=st.booleans(),
)
def test_the_optimality_conditions_hold(seed, n, alpha, linear, fit_intercept):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(0.0, 5.0, size=(n, 1)), rng.normal(size=n) + 10.0
    w = rng.integers(0, 3, size=n).astype(float)
    w[0] = 1.0
    K = x @ x.T if linear else rbf_kernel(x)
    b, a = kernel_ridge(K, y, alpha, w, fit_intercept=fit_intercept)
    size = (np.abs(y) + np.abs(K) @ np.abs(a) + abs(b)).max()
    assert np.max(np.abs(alpha * a - w * (y - b - K @ a))) <= 1e-13 * w.max() * size
    if fit_intercept:
        assert abs(a.sum()) <= 1e-13 * w.sum() / alpha * size
    else:
        assert b == 0.0


def test_without_intercept_it_is_scikit_learns_kernel_ridge():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(20, 3)), rng.normal(size=20), rng.uniform(0.1, 2.0, size=20)
    expected = KernelRidge(alpha=0.4, kernel="rbf").fit(X, y, sample_weight=w).dual_coef_
    b, a = kernel_ridge(rbf_kernel(X), y, 0.4, w, fit_intercept=False)
    assert b == 0.0
    np.testing.assert_allclose(a, expected, rtol=1e-11)


def test_with_intercept_and_linear_kernel_it_is_ridge():
    rng = np.random.default_rng(1)
    X, y, w = rng.normal(size=(30, 3)), rng.normal(size=30), rng.uniform(0.1, 2.0, size=30)
    ridge = Ridge(alpha=0.4, solver="cholesky").fit(X, y, sample_weight=w)
    b, a = kernel_ridge(X @ X.T, y, 0.4, w)
    np.testing.assert_allclose(X.T @ a, ridge.coef_, rtol=1e-11)
    assert b == pytest.approx(ridge.intercept_, rel=1e-11)


def test_solve_positive_survives_a_matrix_that_rounding_made_indefinite():
    x = np.linspace(0.0, 10.0, 100).reshape(-1, 1)
    K = rbf_kernel(x, gamma=0.5)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(K)
    rhs = K @ np.sin(x[:, 0])
    found = solve_positive(K, rhs)
    assert np.max(np.abs(K @ found - rhs)) <= 1e-12 * np.abs(K).sum(axis=1).max() * max(
        1.0, np.abs(found).max()
    )
    several = solve_positive(np.diag([1.0, 2.0]), np.array([[1.0, 2.0], [2.0, 8.0]]))
    np.testing.assert_array_equal(several, [[1.0, 2.0], [1.0, 4.0]])
    assert solve_positive(np.empty((0, 0)), np.empty(0)).shape == (0,)

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from unassuming.kernels import truncated_parabolic
from unassuming.models import KernelLasso

RNG = np.random.default_rng(30)
X = np.linspace(0.0, 10.0, 100).reshape(-1, 1)
Y = X[:, 0] * np.sin(X[:, 0]) + RNG.laplace(scale=0.5, size=100)


@pytest.mark.parametrize("alpha", [5.0, 0.3, 0.01])
def test_the_subgradient_condition_on_a_singular_kernel(alpha):
    model = KernelLasso(alpha, kernel="rbf", gamma=2.0).fit(X, Y)
    K, a = rbf_kernel(X, gamma=2.0), model.dual_coef_
    correlations = K @ (Y - K @ a)
    assert 0 < np.count_nonzero(a) < 50
    np.testing.assert_allclose(correlations[a != 0.0], alpha * np.sign(a[a != 0.0]), atol=1e-11)
    assert np.max(np.abs(correlations[a == 0.0])) <= alpha * (1.0 + 1e-12)
    assert model.intercept_ == 0.0


def test_an_indefinite_kernel_is_accepted():
    model = KernelLasso(0.2, kernel=truncated_parabolic).fit(X, Y)
    K, a = truncated_parabolic(X), model.dual_coef_
    gap = np.abs(K @ (Y - K @ a)) - 0.2
    assert np.max(gap) <= 1e-12
    assert np.mean((model.predict(X) - Y) ** 2) < np.var(Y) / 10.0


def test_a_large_penalty_gives_the_zero_function():
    alpha = np.max(np.abs(rbf_kernel(X) @ Y)) * (1.0 + 1e-9)
    model = KernelLasso(alpha, kernel="rbf", gamma=1.0).fit(X, Y)
    assert not model.dual_coef_.any()
    assert not model.predict(X).any()


def test_a_small_penalty_interpolates():
    x, y = X[::10], Y[::10]
    model = KernelLasso(1e-9, kernel="rbf", gamma=2.0).fit(x, y)
    np.testing.assert_allclose(model.predict(x), y, atol=1e-7)


def test_weights_multiply_the_losses():
    weights = RNG.uniform(0.5, 3.0, size=100)
    model = KernelLasso(0.3, kernel="rbf", gamma=2.0).fit(X, Y, sample_weight=weights)
    K, a = rbf_kernel(X, gamma=2.0), model.dual_coef_
    correlations = K @ (weights * (Y - K @ a))
    np.testing.assert_allclose(correlations[a != 0.0], 0.3 * np.sign(a[a != 0.0]), atol=1e-10)
    assert np.max(np.abs(correlations[a == 0.0])) <= 0.3 * (1.0 + 1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_row_of_weight_zero_is_left_out(kernel):
    weights = np.ones(100)
    weights[::3] = 0.0
    kept = weights > 0.0
    K = rbf_kernel(X, gamma=2.0)
    options = {"kernel": kernel, "gamma": 2.0}
    given, part = (X, X[kept]) if kernel == "rbf" else (K, K[np.ix_(kept, kept)])
    model = KernelLasso(0.3, **options).fit(given, Y, sample_weight=weights)
    expected = KernelLasso(0.3, **options).fit(part, Y[kept])
    assert not model.dual_coef_[~kept].any()
    np.testing.assert_allclose(model.dual_coef_[kept], expected.dual_coef_, rtol=1e-12)
    new = X if kernel == "rbf" else K
    there = X if kernel == "rbf" else K[:, kept]
    np.testing.assert_allclose(model.predict(new), expected.predict(there), rtol=1e-10, atol=1e-12)

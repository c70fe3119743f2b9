import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from unassuming.models import KernelHuber

RNG = np.random.default_rng(31)
X = np.linspace(0.0, 10.0, 60).reshape(-1, 1)
TRUTH = X[:, 0] * np.sin(X[:, 0])
Y = TRUTH + RNG.standard_cauchy(60)
W = RNG.integers(0, 4, size=60).astype(float)


@pytest.mark.parametrize("alpha", [2.0, 0.01])
@pytest.mark.parametrize("delta", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
def test_the_fixed_point(alpha, delta, weights):
    model = KernelHuber(alpha, delta=delta, kernel="rbf", gamma=2.0)
    model.fit(X, Y, sample_weight=weights)
    w = np.ones(60) if weights is None else weights
    K, a = rbf_kernel(X, gamma=2.0), model.dual_coef_
    np.testing.assert_allclose(alpha * a, w * np.clip(Y - K @ a, -delta, delta), atol=1e-11)


def test_kernel_ridge_is_the_limit():
    huber = KernelHuber(0.7, delta=1e6, kernel="rbf", gamma=0.5).fit(X, Y, sample_weight=W + 0.1)
    ridge = KernelRidge(0.7, kernel="rbf", gamma=0.5).fit(X, Y, sample_weight=W + 0.1)
    np.testing.assert_allclose(huber.dual_coef_, ridge.dual_coef_, rtol=1e-9)
    np.testing.assert_allclose(huber.predict(X + 0.05), ridge.predict(X + 0.05), rtol=1e-9)


def test_outliers_do_less_harm_than_to_kernel_ridge():
    huber = KernelHuber(0.7, delta=1.0, kernel="rbf", gamma=0.5).fit(X, Y)
    ridge = KernelRidge(0.7, kernel="rbf", gamma=0.5).fit(X, Y)
    error = np.mean((huber.predict(X) - TRUTH) ** 2)
    assert error < np.mean((ridge.predict(X) - TRUTH) ** 2) / 2.0

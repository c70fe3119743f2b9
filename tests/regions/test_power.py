"""Wrong candidates are rejected: exactness alone would be met by ranks that ignore the data."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.svm import SVR

import unassuming as ua
from speed import slow_but

N = 20
X = np.linspace(0, 10, N)[:, None]
SCALE = 0.5  # of the Laplace noise
RUNS = 12


def line(X):
    return 1 + 0.5 * X[:, 0]


def wave(X):
    return X[:, 0] * np.sin(X[:, 0])


KERNEL = {"kernel": "rbf", "gamma": 0.5}
MODELS = {
    "LinearRegression": (LinearRegression(), line),
    "Ridge": (Ridge(alpha=1.0), line),
    "Lasso": (Lasso(alpha=0.1), line),
    "HuberRegressor": (HuberRegressor(), line),
    "pipeline": (make_pipeline(SplineTransformer(5), Ridge(alpha=0.1)), line),
    "KernelRidge": (KernelRidge(alpha=0.05, **KERNEL), wave),
    "KernelLasso": (ua.KernelLasso(alpha=0.5, **KERNEL), wave),
    "KernelHuber": (ua.KernelHuber(alpha=0.05, delta=1.0, **KERNEL), wave),
    "SVR": (SVR(C=12.5, epsilon=0.1, gamma=0.5), wave),
}


def rejected(estimator, truth, shift, *, runs=RUNS, level=0.95, m=40, **options):
    """The share of runs in which the truth minus a shift lies outside its region."""
    count = 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, 77])
        y = truth(X) + rng.laplace(scale=SCALE, size=N)
        region = ua.confidence_region(estimator, X, y, m=m, random_state=seed, **options)
        count += not region.contains(lambda X: truth(X) - shift(X), level=level)
    return count / runs


def three_scales(X):
    return np.full(len(X), 3 * SCALE)


def a_slope(X):
    """Minus to plus six noise scales; no constant in it."""
    return 0.6 * (X[:, 0] - 5)


SHIFTED = [
    *((name, "symmetric") for name in MODELS),
    *((name, noise) for noise in ("symmetric-exchangeable", "spherical")
      for name in ("Ridge", "KernelLasso", "SVR")),
]  # fmt: skip


@pytest.mark.parametrize("case", slow_but(SHIFTED, ("Lasso", "symmetric"), ("SVR", "symmetric")))
def test_a_shift_by_three_noise_scales_is_rejected(case):
    (estimator, truth), noise = MODELS[case[0]], case[1]
    assert rejected(estimator, truth, three_scales, noise=noise) >= 0.95


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", slow_but(MODELS, "LinearRegression", "SVR"))
def test_a_wrong_slope_is_rejected_under_exchangeable_noise(name):
    estimator, truth = MODELS[name]
    assert rejected(estimator, truth, a_slope, noise="exchangeable") >= 0.95


@pytest.mark.parametrize("estimator", [LinearRegression(), Ridge(alpha=2.0)])
def test_exchangeable_noise_never_sees_a_shift_of_the_intercept(estimator):
    rng = np.random.default_rng(3)
    y = line(X) + rng.exponential(size=N)
    region = ua.confidence_region(estimator, X, y, noise="exchangeable", random_state=1, m=100)
    candidates = np.array([1.0, 0.5]) + rng.normal(size=(200, 2)) * [1.0, 0.1]
    ranks = region.rank(candidates)
    assert len(np.unique(ranks)) > 20
    for shift in (-1.0, 3.7, 1e3):
        moved = candidates + np.array([shift, 0.0])
        np.testing.assert_array_equal(region.rank(moved), ranks)
        assert [region.rank(a) for a in moved[:20]] == ranks[:20].tolist()

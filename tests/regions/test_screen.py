"""Ranks of many candidates at once are those of each by itself."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.svm import SVR

import oracles
import unassuming as ua

KERNEL = {"kernel": "rbf", "gamma": 0.5}
MODELS = {
    "kernel ridge": KernelRidge(kernel="rbf", gamma=0.5, alpha=0.5),
    "ridge": Ridge(0.5),
    "least squares": LinearRegression(),
    "SVR": SVR(C=3.0, **KERNEL),
    "lasso": Lasso(0.05),
    "kernel lasso": ua.KernelLasso(0.5, **KERNEL),
    "indefinite": ua.KernelLasso(1.0, kernel=ua.kernels.truncated_parabolic),
    "kernel Huber": ua.KernelHuber(0.5, delta=0.7, **KERNEL),
}
LINEAR = ["kernel ridge", "ridge", "least squares", "SVR", "lasso", "kernel lasso"]


def build(name, noise, m=150, offset=0.0, n=14, **options):
    rng = np.random.default_rng(1)
    X = np.linspace(0, 10, n)[:, None]
    y = offset + np.sin(X[:, 0]) + rng.laplace(size=n)
    return ua.confidence_region(MODELS[name], X, y, noise=noise, m=m, random_state=1, **options)


def candidates(region, count=400):
    rng = np.random.default_rng(2)
    size = 10.0 ** rng.uniform(-3, 3, size=(count, 1))
    return region.estimate + size * rng.normal(size=(count, region.objective.d))


def one_by_one(region, a):
    """Few candidates at a time take another way."""
    return np.concatenate([region.rank(part) for part in np.split(a, len(a) // 20)])


SETTINGS = [
    *((name, noise, {}) for name in MODELS for noise in ("symmetric", "symmetric-exchangeable")),
    *((name, "spherical", {}) for name in LINEAR),
    ("SVR", "symmetric", {"weighting": "identity"}),
    ("SVR", "exchangeable", {"weighting": "identity"}),
    ("kernel ridge", "symmetric", {"weighting": "identity"}),
    ("kernel lasso", "exchangeable", {"weighting": "hessian"}),
    ("kernel Huber", "exchangeable", {"sample_weight": np.linspace(1, 2, 14)}),
    ("lasso", ua.noise.BlockSymmetric(np.arange(14) // 2), {}),
]


@pytest.mark.slow_but_first
@pytest.mark.parametrize(("name", "noise", "options"), SETTINGS)
def test_ranks_of_many_are_those_of_each(name, noise, options):
    region = build(name, noise, **options)
    a = candidates(region)
    ranks = region.rank(a)
    assert len(np.unique(ranks)) > 10
    np.testing.assert_array_equal(ranks, one_by_one(region, a))


def test_the_ranks_are_those_of_the_published_formula():
    region = build("kernel lasso", "symmetric")
    K, y = region.objective.design.matrix, region.objective.y
    a = region.estimate + np.random.default_rng(3).normal(size=(40, region.n))
    images = region.perturbations.apply
    expected = [
        oracles.rank(oracles.kernel_lasso(K, y, 0.5, one, images), region.tie_order) for one in a
    ]
    assert len(set(expected)) > 10
    assert region.rank(a).tolist() == expected


def test_an_assumption_that_excludes_candidates_is_asked_about_each():
    class Bounded(ua.noise.Symmetric):
        def admits(self, residuals, fitted):
            return (np.abs(residuals) <= 1).all(axis=-1)

    X, y, _ = ua.datasets.sine(n=20, random_state=0)
    region = ua.confidence_region(Ridge(), X, y, noise=Bounded(), m=20, random_state=0)
    a = region.estimate + np.random.default_rng(0).normal(size=(60, 2))
    np.testing.assert_array_equal(region.rank(a), one_by_one(region, a))

"""Gaussian process regression with a fixed kernel as a model."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua

X, Y, _ = ua.datasets.sine(n=40, noise="laplace", random_state=0)
GRID = np.array([[0.5], [4.4], [8.0]])


def region_of(model):
    return ua.confidence_region(model, X, Y, m=20, random_state=0)


@pytest.mark.parametrize(
    ("kernel", "alpha"),
    [
        (None, 0.3),
        (4.0 * RBF(1.3), 0.3),
        (4.0 * RBF(1.3) + WhiteKernel(0.2), 0.1),
        (RBF(1.0), np.linspace(0.1, 0.5, 40)),
    ],
)
def test_the_estimate_is_the_mean_of_the_process(kernel, alpha):
    process = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None)
    region = region_of(process)
    mean = process.fit(X, Y).predict(GRID)
    np.testing.assert_allclose(region.band(GRID, norm_bound=50).estimate, mean, atol=1e-8)


def test_it_is_kernel_ridge_with_the_same_kernel():
    process = region_of(GaussianProcessRegressor(RBF(1.0), alpha=0.3, optimizer=None))
    ridge = region_of(KernelRidge(kernel="rbf", gamma=0.5, alpha=0.3))
    candidates = np.random.default_rng(0).normal(size=(5, 40))
    np.testing.assert_array_equal(process.rank(candidates), ridge.rank(candidates))
    bands = [one.band(GRID, norm_bound=30, simultaneous=False) for one in (process, ridge)]
    np.testing.assert_allclose(bands[0].lower, bands[1].lower, rtol=1e-6)


def test_what_depends_on_y_is_refused():
    with pytest.raises(ValueError, match=r"tuned on the same y.*optimizer=None"):
        region_of(GaussianProcessRegressor(RBF()))
    with pytest.raises(ValueError, match="normalize_y of the Gaussian process uses y"):
        region_of(GaussianProcessRegressor(RBF(), optimizer=None, normalize_y=True, alpha=0.1))
    fixed = GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.1)
    assert region_of(fixed).n == 40
    for alpha in (-1.0, [0.1, 0.2]):
        with pytest.raises(ValueError, match="alpha of the Gaussian process does not fit"):
            region_of(GaussianProcessRegressor(RBF(), optimizer=None, alpha=alpha))


def test_a_saved_region_comes_back(tmp_path):
    region = region_of(GaussianProcessRegressor(RBF(1.0), alpha=0.3, optimizer=None))
    ua.save(region, tmp_path / "gp.region")
    again = ua.load(tmp_path / "gp.region", estimator=region.problem.estimator)
    assert again.rank(np.zeros(40)) == region.rank(np.zeros(40))

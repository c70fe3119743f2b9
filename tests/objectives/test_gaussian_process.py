"""The region of the mean of a Gaussian process with a fixed kernel."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    Matern,
    WhiteKernel,
)
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from unassuming.kernels import white_noise, without_white_noise

rng = np.random.default_rng(0)
X = rng.uniform(0, 5, (25, 1))
y = np.sin(X[:, 0]) + rng.laplace(size=25)
Z = np.linspace(-1, 6, 9)[:, None]


def region_of(kernel, **options):
    process = GaussianProcessRegressor(kernel, **{"optimizer": None, "alpha": 0.1, **options})
    return process, ua.confidence_region(process, X, y, random_state=0, m=100)


KERNELS = {
    "default": None,
    "plain": RBF(0.7),
    "noise": 2.0 * RBF(0.7) + WhiteKernel(0.3),
    "noise in a product": 3.0 * (Matern(1.0, nu=1.5) + WhiteKernel(0.1)),
    "noise in a power": (RBF() + WhiteKernel(0.2)) ** 2,
    "features": DotProduct() + WhiteKernel(0.3),
}


@pytest.mark.parametrize("alpha", [1e-3, np.linspace(0.1, 0.6, 25)], ids=["one", "rows"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_estimate_is_the_mean_of_the_process(name, alpha):
    process, region = region_of(KERNELS[name], alpha=alpha)
    expected = process.fit(X, y).predict(Z)
    found = region.objective.design.rows(Z) @ region.estimate
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.slow
def test_a_common_variance_is_kernel_ridge_regression():
    _, region = region_of(RBF(1.0) + WhiteKernel(0.25), alpha=0.5)
    ridge = ua.confidence_region(
        KernelRidge(kernel="rbf", gamma=0.5, alpha=0.75), X, y, random_state=0, m=100
    )
    for at_once in (True, False):
        options = {"norm_bound": 5.0, "simultaneous": at_once}
        one, two = (r.band(Z, **options) for r in (region, ridge))
        np.testing.assert_allclose(one.lower, two.lower, rtol=1e-7)
        np.testing.assert_allclose(one.upper, two.upper, rtol=1e-7)
    slopes = [r.interval(ua.functionals.slope(Z), **options) for r in (region, ridge)]
    np.testing.assert_allclose(slopes[0].lower, slopes[1].lower, rtol=1e-7)


def test_the_variance_of_each_row_is_a_weight():
    variance = np.linspace(0.1, 0.6, 25)
    _, region = region_of(RBF(1.0), alpha=variance)
    ridge = ua.confidence_region(
        KernelRidge(kernel="rbf", gamma=0.5, alpha=2.0),
        X,
        y,
        sample_weight=2.0 / variance,
        random_state=0,
        m=100,
    )
    candidates = rng.normal(size=(20, 25))
    np.testing.assert_array_equal(region.rank(candidates), ridge.rank(candidates))


def test_noise_is_taken_out_of_a_kernel_without_cancellation():
    kernel = 1e8 * (RBF() + WhiteKernel(1e-15)) + WhiteKernel(3.0)
    np.testing.assert_allclose(white_noise(kernel, X), 3.0 + 1e-7, rtol=1e-15)
    own = without_white_noise(kernel)
    np.testing.assert_allclose(own(X), kernel(X, X))
    assert without_white_noise(2.0 * WhiteKernel()) is None


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        (RBF(), {"optimizer": "fmin_l_bfgs_b"}, "same y.*1 free hyper-parameters. Fit the process"),
        (
            ConstantKernel() * RBF(),
            {"optimizer": "fmin_l_bfgs_b"},
            r"2 free hyper-parameters.*kernel_, alpha=process.alpha, optimizer=None\)",
        ),
        (RBF(), {"normalize_y": True}, "normalize_y=True subtracts the mean of y"),
        (RBF(), {"alpha": -1.0}, "alpha is out of range"),
        (RBF(), {"alpha": "small"}, "alpha is out of range"),
        (
            "rbf",
            {},
            "expected one kernel of sklearn.gaussian_process.kernels, such as RBF.*given 'rbf'",
        ),
        (RBF(), {"alpha": np.ones(3)}, "one for each of the 25 rows"),
        (RBF(), {"alpha": np.eye(1, 25)[0]}, "with positive variances"),
        (WhiteKernel(), {}, "noise alone"),
        (CompoundKernel([RBF(), RBF()]), {}, "kernel is out of range"),
    ],
)
def test_refusals(kernel, options, message):
    with pytest.raises(ValueError, match=message):
        region_of(kernel, **options)


def test_a_saved_region_comes_back(tmp_path):
    process, region = region_of(RBF(1.0) + WhiteKernel(0.3))
    ua.save(region, tmp_path / "process.region")
    again = ua.load(tmp_path / "process.region", estimator=process)
    candidates = np.random.default_rng(1).normal(size=(20, 25))
    np.testing.assert_array_equal(again.rank(candidates), region.rank(candidates))

"""Values, differences, averages and slopes of a function, pointwise and from cells."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVR

import unassuming as ua
from unassuming.functionals import average, difference, slope, value

pytestmark = pytest.mark.slow_but_first
GRID = np.array([[0.9], [4.37], [7.2]])
KERNEL = {"kernel": "rbf", "gamma": 0.5}
MODELS = [
    KernelRidge(alpha=0.8, **KERNEL),
    ua.KernelLasso(**KERNEL),
    ua.KernelHuber(**KERNEL),
    SVR(gamma=0.5),
    make_pipeline(Nystroem(n_components=40, gamma=0.5, random_state=0), Ridge()),
    make_pipeline(SplineTransformer(10), Ridge()),
    make_pipeline(SplineTransformer(10), LinearRegression()),
]


def region_of(model=MODELS[0], n=120, **options):
    X, y, f = ua.datasets.sine(n=n, noise="laplace", random_state=3)
    return ua.confidence_region(model, X, y, m=20, random_state=0, **options), f


def half(band):
    return (band.upper - band.lower) / 2


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_every_model_has_pointwise_intervals(model):
    region, f = region_of(model)
    band = region.band(GRID, norm_bound=30, simultaneous=False, level=0.9)
    assert (band.simultaneous, band.method, band.norm_bound) == (False, "cells", 30)
    assert (band.attained >= 0.9).all()
    assert (half(band) < 1.5).all()
    assert (np.abs((band.lower + band.upper) / 2 - f(GRID)) < 2 * half(band)).all()
    assert "norm of at most 30 (your assumption), one at a time (cells" in str(band)


def test_model_error_widens_the_interval_by_more_than_itself():
    region, _ = region_of(MODELS[6])
    none = region.band(GRID, simultaneous=False, model_error=0.0, noise_scale=1.0, level=0.9)
    some = region.band(GRID, simultaneous=False, model_error=0.2, noise_scale=1.0, level=0.9)
    whole = region.band(
        GRID, simultaneous=False, model_error=0.2, noise_scale=1.0, target="function", level=0.9
    )
    assert (half(some) >= half(none) + 0.2 - 1e-12).all()
    np.testing.assert_allclose(half(whole) - half(some), 0.2)
    assert (none.target, whole.target) == ("representation", "function")
    assert "model error of at most 0.2" in str(some)


# --- the choice of the method ---


FINE = np.linspace(0.2, 9.8, 13)[:, None]
CHOSEN = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.05)
ASSUMED = {"norm_bound": 29.2, "noise_scale": 0.7}


def sine(n, seed=0):
    X, _, f = ua.datasets.sine(n=n, random_state=0)
    return X, f(X) + 0.7 * np.random.default_rng(seed).standard_normal(n)


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 120])
def test_an_interval_is_not_wider_than_the_band(n):
    """With 30 rows cells alone would be twice as wide as the joint region."""
    alone, at_once, methods = [], [], set()
    for seed in range(2):
        region = ua.confidence_region(CHOSEN, *sine(n, seed))
        one = region.band(FINE, 0.9, simultaneous=False, **ASSUMED)
        methods.add(one.method)
        alone.append(half(one))
        at_once.append(half(region.band(FINE, 0.9, **ASSUMED)))
    assert (np.mean(alone, axis=0) <= 1.15 * np.mean(at_once, axis=0)).all()
    assert len(methods) == 1  # y decides nothing
    assert ("joint region" in methods.pop()) == (n < 120)


@pytest.mark.slow
def test_a_value_of_a_kernel_is_the_band_at_one_input_and_dual_to_its_test():
    region = ua.confidence_region(CHOSEN, *sine(30))
    band = region.band(FINE[[6]], 0.9, simultaneous=False, **ASSUMED)
    found = region.interval(value(FINE[[6]]), 0.9, **ASSUMED)
    assert band.method == found.method == "joint region"
    assert (found.lower[0], found.upper[0]) == pytest.approx((band.lower[0], band.upper[0]))
    for end, inside in ((found.lower[0], -1), (found.upper[0], 1)):
        for step in (-1e-4, 1e-4):
            test = region.hypothesis(value(FINE[[6]]), end + step, level=0.9, **ASSUMED)
            assert (test.pvalue > 1 - found.attained[0]) == (step * inside < 0)


def two_columns(n=90):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 3, (n, 2))
    return X, np.sin(X.sum(axis=1)) + 0.3 * rng.standard_t(3, size=n)


@pytest.mark.parametrize("make", [lambda: sine(90), two_columns], ids=["one", "two"])
@pytest.mark.parametrize("model", [CHOSEN, Ridge(0.1)], ids=["kernel", "features"])
def test_neither_seeds_nor_the_order_of_rows_matter(make, model):
    X, y = make()
    Z = X[:4] + 0.05
    options = {"norm_bound": 20.0, "noise_scale": 0.4}
    region = ua.confidence_region(model, X, y)
    plain = [region.band(Z, simultaneous=one, method="cells", **options) for one in (False, True)]
    seeded = ua.confidence_region(model, X, y, random_state=5)
    order = np.random.default_rng(0).permutation(len(X))
    moved = ua.confidence_region(model, X[order], y[order])
    for band, one in zip(plain, (False, True), strict=True):
        same = seeded.band(Z, simultaneous=one, method="cells", **options)
        assert np.array_equal([same.lower, same.upper], [band.lower, band.upper])
        other = moved.band(Z, simultaneous=one, method="cells", **options)
        for name in ("lower", "upper"):
            np.testing.assert_allclose(getattr(other, name), getattr(band, name), atol=1e-6)


@pytest.mark.slow
def test_rows_that_are_sorted_by_y_among_equal_inputs_keep_the_level():
    """Five inputs with thirty rows each: rows of one input are ordered by a fixed permutation."""
    X = np.repeat(np.linspace(0, 4, 5), 30)[:, None]
    truth, inside = np.sin(X[:, 0]), 0
    for seed in range(60):
        y = truth + 0.5 * np.random.default_rng(seed).standard_normal(150)
        y = np.sort(y.reshape(5, 30), axis=1).ravel()
        region = ua.confidence_region(KernelRidge(kernel="rbf"), X, y)
        found = region.band([[2.0]], 0.8, norm_bound=3.0, simultaneous=False, method="cells")
        inside += bool(found.lower[0] <= np.sin(2.0) <= found.upper[0])
    assert inside >= binom.ppf(1e-6, 60, 0.8)


# --- functionals ---


X, Y, F = ua.datasets.sine(n=120, noise="laplace", random_state=3)
ALONE = {"norm_bound": 30, "simultaneous": False}


def sine_region(model=None, y=Y):
    model = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8) if model is None else model
    return ua.confidence_region(model, X, y, m=20, random_state=0)


def middle(found):
    return (found.lower + found.upper) / 2


@pytest.mark.parametrize(
    "model",
    [None, SVR(gamma=0.5), KernelRidge(kernel="poly", degree=3, gamma=0.1)],
    ids=["ridge", "SVR", "poly"],
)
def test_values_are_those_of_the_band(model):
    region = sine_region(model)
    found, band = region.interval(value(GRID), **ALONE), region.band(GRID, **ALONE)
    np.testing.assert_allclose(found.lower, band.lower, rtol=1e-6)
    np.testing.assert_allclose(found.estimate, band.estimate)
    assert found.names == ("value 0", "value 1", "value 2")


@pytest.mark.parametrize(
    "model",
    [
        None,
        GaussianProcessRegressor(Matern(1.0, nu=2.5), alpha=0.5, optimizer=None),
        SVR(C=5.0, gamma="scale"),
        make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", gamma=4.0, alpha=0.8)),
        make_pipeline(SplineTransformer(12), Ridge(0.01)),
    ],
)
def test_a_slope_is_the_limit_of_differences(model):
    region = sine_region(model)
    h = 1e-3
    near = difference(GRID + h / 2, GRID - h / 2)
    options = {"norm_bound": 30, "simultaneous": False, "cells": 6}
    exact = region.interval(slope(GRID), **options)
    quotient = region.interval(near, **options)
    np.testing.assert_allclose(exact.estimate, quotient.estimate / h, rtol=1e-2)
    truth = np.sin(GRID[:, 0]) + GRID[:, 0] * np.cos(GRID[:, 0])
    assert (np.abs(middle(exact) - truth) < exact.upper - exact.lower).all()


def test_hypotheses_are_dual_to_intervals():
    region = sine_region()
    found = region.interval(slope(GRID[[1]]), level=0.9, **ALONE)
    for end, inside in ((found.lower[0], -1), (found.upper[0], 1)):
        for step in (-1e-6, 1e-6):
            test = region.hypothesis(slope(GRID[[1]]), value=end + step, level=0.9, norm_bound=30)
            assert (test.pvalue > 1 - found.attained[0]) == (step * inside < 0)
    assert test.tested.startswith("slope 0 = ")
    assert "upper bound" in str(test)


def test_bad_input():
    region = sine_region()
    with pytest.raises(ua.NotAvailable, match="slopes need a kernel with a derivative"):
        sine_region(KernelRidge(kernel="laplacian")).interval(slope(GRID), **ALONE)
    steps = make_pipeline(KBinsDiscretizer(5, strategy="uniform"), Ridge())
    for pipeline in (steps, make_pipeline(SplineTransformer(5, degree=1), Ridge())):
        with pytest.raises(ua.NotAvailable, match="slopes need transformers with a known deriv"):
            sine_region(pipeline).interval(slope(GRID), **ALONE)
    with pytest.raises(ValueError, match="column does not fit X: expected a number below 1"):
        region.interval(slope(GRID, 1), **ALONE)
    with pytest.raises(ValueError, match="column is not the number of a column"):
        slope(GRID, -1)
    with pytest.raises(ValueError, match="Z does not fit X: expected 3 rows"):
        difference(GRID, GRID[:2])
    with pytest.raises(ValueError, match="weights does not fit X: expected 3 finite numbers"):
        average(GRID, [1.0, 2.0])
    with pytest.raises(ValueError, match="X is not a table"):
        value([1.0, 2.0])
    with pytest.raises(ua.NotAvailable, match=r"norm_bound=B, simultaneous=False"):
        region.interval(value(GRID), simultaneous=False)
    with pytest.raises(ua.NotAvailable, match="expected one functional, given 3"):
        region.hypothesis(value(GRID), norm_bound=30)

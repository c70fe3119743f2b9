"""region.lack_of_fit(): features that are added one at a time, and exact tests of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import unassuming as ua
from unassuming.regions import Reason


def motorcycle_like(n, seed):
    """Flat at first, then a deep dip and an overshoot, with noise that grows."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(2, 58, n))
    dip = -110 * np.exp(-(((x - 21) / 5) ** 2)) + 45 * np.exp(-(((x - 33) / 5) ** 2))
    scale = np.where(x < 14, 2.0, 24.0)
    return x[:, None], np.where(x < 14, 0.0, dip) + scale * rng.standard_t(4, size=n)


def region_of(X, y, model=None, **options):
    model = LinearRegression() if model is None else model
    return ua.confidence_region(model, X, y, **{"random_state": 0, **options})


@pytest.mark.slow
def test_a_line_through_motorcycle_like_data_is_always_rejected():
    for seed in range(8):
        check = region_of(*motorcycle_like(133, seed), random_state=seed).lack_of_fit()
        assert check.found
        assert check.tests[0].exact
        assert "cannot both hold" in check.sentence()


@pytest.mark.slow
def test_a_correct_model_is_rejected_in_at_most_5_percent_of_runs():
    rng = np.random.default_rng(1)
    X = rng.lognormal(size=(60, 2))
    runs, rejected = 50, 0  # more than 24 % would be too many
    for _ in range(runs):
        y = X @ [1.0, -2.0] + X[:, 0] * rng.standard_t(2, size=60)
        check = region_of(X, y).lack_of_fit()
        rejected += check.found
        assert len(check.tests) == 3
    assert rejected <= binom(runs, 0.05).isf(1e-6)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", ["spherical", "symmetric", "exchangeable"])
def test_the_tests_are_those_of_the_enlarged_model(noise):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 2))
    y = X @ [1.0, 1.0] + rng.laplace(size=120)
    check = region_of(X, y, noise=noise).lack_of_fit()
    pvalue = {test.name: test.pvalue for test in check.tests}["x0 × x1"]
    centred = X - X.mean(axis=0)
    enlarged = np.column_stack([X, centred[:, 0] * centred[:, 1]])
    options = {"level": 1 - 0.05 / 3}
    bigger = region_of(enlarged, y, noise=noise).hypothesis("x2", **options)
    assert_allclose(pvalue, bigger.pvalue, rtol=1e-6)


@pytest.mark.slow
def test_power_grows_with_what_is_missing_and_the_right_feature_is_named():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 3))
    y = X @ [1.0, 1.0, 1.0] + 2 * X[:, 0] * X[:, 2] + rng.laplace(size=120)
    check = region_of(X, y).lack_of_fit()
    assert check.found
    assert check.tests[0].name == "x0 × x2"
    complete = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())
    assert not region_of(X, y, complete).lack_of_fit().found


@pytest.mark.slow
def test_the_number_of_tests_is_bounded_and_the_rest_is_counted():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 8))
    check = region_of(X, rng.normal(size=150)).lack_of_fit(most=5)
    assert [test.name[:6] for test in check.tests] == ["spline"] * 5
    (left,) = check.left_out
    assert (left.count, left.reason) == (8 + 28 - 5, Reason.TOO_MANY)
    assert check.omitted() == "Left out: 31 features, because the number of tests is limited."
    assert check.to_frame().shape == (5, 4)
    assert check.pvalue == min(1.0, 5 * min(test.pvalue for test in check.tests))


@pytest.mark.slow
def test_few_rows_are_tested_by_certified_methods_or_not_at_all():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(16, 2))
    check = region_of(X, rng.normal(size=16)).lack_of_fit()
    assert all(not test.exact and test.terms == 1 for test in check.tests)
    X = rng.normal(size=(6, 4))
    check = region_of(X, rng.normal(size=6)).lack_of_fit()
    assert check.tests == ()
    assert check.pvalue == 1
    assert not check.found
    start, _, reason = check.sentence().partition(" (")
    assert start == "Lack of fit was not tested. Left out: 10 features"
    assert reason.endswith("), because there are too few rows for a test at this level.")


def test_models_without_a_test_say_why():
    X, y, _ = ua.datasets.sine(n=30, random_state=0)
    with pytest.raises(ua.NotAvailable, match="can take every value at the inputs"):
        region_of(X, y, KernelRidge(kernel="rbf")).lack_of_fit()
    with pytest.raises(ua.NotAvailable, match="needs a regression"):
        region_of(X, np.sign(y), RidgeClassifier()).lack_of_fit()
    linear = region_of(X, y, KernelRidge(kernel="linear")).lack_of_fit()
    assert [test.name for test in linear.tests] == ["spline of x0"]
    with pytest.raises(ValueError, match="most is not a number of tests"):
        region_of(X, y).lack_of_fit(most=0)

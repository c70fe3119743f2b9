"""Residual plots' data, indications, lack of fit: valid p-values, and what is wrong is found."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    Ridge,
    RidgeClassifier,
)

import unassuming as ua

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 2))
TRUTH = X @ [1.0, -1.0]


def diagnose(noise_terms, model=None, noise="symmetric", **options):
    model = LinearRegression() if model is None else model
    y = TRUTH + noise_terms
    options = {"m": 100, "random_state": 0, **options}
    return ua.confidence_region(model, X, y, noise=noise, **options).diagnose()


def by_name(diagnosis):
    return {indication.name: indication for indication in diagnosis.indications}


GOOD = RNG.laplace(size=N)
SKEWED = RNG.exponential(size=N) ** 2
WIDENING = np.exp(1.5 * TRUTH) * RNG.normal(size=N)
DRIFTING = np.sin(np.arange(N) / 5) + 0.1 * RNG.normal(size=N)


@pytest.mark.parametrize(
    ("noise_terms", "name"),
    [(SKEWED, "symmetry"), (WIDENING, "equal spread"), (DRIFTING, "no order")],
    ids=["skewed", "widening", "drifting"],
)
def test_what_is_wrong_is_indicated(noise_terms, name):
    assert by_name(diagnose(noise_terms, noise="spherical"))[name].pvalue <= 0.02


def test_the_statistics_are_those_of_least_squares_residuals():
    y = TRUTH + WIDENING
    r = y - LinearRegression().fit(X, y).predict(X)
    found = by_name(diagnose(WIDENING))
    assert found["symmetry"].statistic == pytest.approx(np.sum(np.sign(r) * r**2) / np.sum(r**2))
    assert found["no order"].statistic == pytest.approx(np.sum(r[1:] * r[:-1]) / np.sum(r**2))
    share = LinearRegression().fit(X, abs(r)).score(X, abs(r))
    assert found["equal spread"].statistic == pytest.approx(share)


def test_rows_of_weight_zero_are_left_out():
    weight = np.ones(N)
    weight[[3, 10]] = 0
    diagnosis = diagnose(GOOD, sample_weight=weight)
    assert len(diagnosis.residuals) == N - 2
    assert not {3, 10} & set(diagnosis.rows)
    np.testing.assert_array_equal(diagnosis.inputs["x0"], X[diagnosis.rows, 0])


# --- false alarms and power ---


def indications(X, y, model=None, noise="symmetric", seed=0):
    model = LinearRegression() if model is None else model
    region = ua.confidence_region(model, X, y, noise=noise, m=20, random_state=seed)
    return {i.name: i for i in region.diagnose().indications}


def heteroscedastic(rng, X):
    return np.exp(X[:, 0]) * rng.standard_t(3, size=len(X))


def cauchy(rng, X):
    return rng.standard_cauchy(size=len(X))


def alarms_of(draw, n, runs, noise="symmetric", model=None):
    found = dict.fromkeys(("symmetry", "equal spread", "no order"), 0)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n])
        X = rng.normal(size=(n, 2))
        for name, i in indications(X, X.sum(axis=1) + draw(rng, X), model, noise, seed).items():
            found[name] += i.pvalue <= 0.05
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "model", "n"),
    [(heteroscedastic, Ridge(10.0), 60), (cauchy, LinearRegression(), 30)],
    ids=["Ridge", "LinearRegression"],
)
def test_false_alarms_are_at_most_as_frequent_as_the_level(draw, model, n):
    found = alarms_of(draw, n, 60, model=model)
    most = binom.ppf(1 - 1e-6, 60, 0.05)  # no lower bound: p-values hold, and are not uniform
    assert found["symmetry"] <= most
    assert found["no order"] <= most
    assert draw is heteroscedastic or found["equal spread"] <= most


def autoregressive(rho):
    def draw(rng, X):
        e = rng.normal(size=len(X))
        for j in range(1, len(e)):
            e[j] += rho * e[j - 1]
        return e

    return draw


def skewed(kind):
    return lambda rng, X: getattr(rng, kind)(size=len(X))


def chi_square(rng, X):
    return rng.chisquare(3, size=len(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "draw", "noise"),
    [
        ("symmetry", skewed("exponential"), "symmetric"),
        ("symmetry", chi_square, "symmetric"),
        ("no order", autoregressive(0.5), "symmetric"),
        ("no order", autoregressive(0.5), "exchangeable"),
        ("equal spread", heteroscedastic, "exchangeable"),
    ],
    ids=["exponential", "chi-square", "0.5", "0.5 exchangeable", "spread"],
)
def test_power(name, draw, noise):
    """With 100 rows at least nine of ten departures are found at 5 %."""
    runs = 30
    assert alarms_of(draw, 100, runs, noise)[name] >= binom.ppf(1e-6, runs, 0.9)


# --- lack of fit ---


def region_of(X, y, model=None, **options):
    model = LinearRegression() if model is None else model
    return ua.confidence_region(model, X, y, **{"random_state": 0, **options})


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

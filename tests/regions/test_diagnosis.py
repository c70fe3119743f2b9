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
from sklearn.svm import SVR

import unassuming as ua
from unassuming.regions import Reason

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


def test_residuals_and_fitted_values_are_those_of_the_estimate():
    y = TRUTH + GOOD
    diagnosis = diagnose(GOOD)
    fit = LinearRegression().fit(X, y)
    np.testing.assert_allclose(diagnosis.fitted, fit.predict(X), rtol=1e-10)
    np.testing.assert_allclose(diagnosis.residuals, y - fit.predict(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(diagnosis.inputs["x1"], X[:, 1])


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


def waves(X):
    return 6 * X[:, 0] * np.sin(5 * X[:, 0])


@pytest.mark.parametrize("intercept", [False, True])
def test_tests_of_kernels_look_at_eigenfunctions_chosen_by_generalised_cross_validation(intercept):
    inputs = np.sort(RNG.uniform(-1, 1, size=(N, 1)), axis=0)
    y = 3 + waves(inputs) + GOOD
    model = SVR(gamma=10.0) if intercept else KernelRidge(kernel="rbf", gamma=10.0, alpha=100.0)
    diagnosis = ua.confidence_region(model, inputs, y, random_state=0, m=100).diagnose()
    K, centre = np.exp(-10 * (inputs - inputs.T) ** 2), np.eye(N) - intercept / N
    directions = np.linalg.svd(centre @ K @ centre)[0]
    scores, fits = [], []
    for count in range(1, N // 4 + 1):
        U = np.column_stack([np.ones((N, int(intercept))), directions[:, :count]])
        r = y - U @ np.linalg.lstsq(U, y, rcond=None)[0]
        scores.append(np.sum(r**2) / (N - U.shape[1]) ** 2)
        fits.append(r)
    best = int(np.argmin(scores))
    np.testing.assert_allclose(diagnosis.tested, fits[best], rtol=1e-6, atol=1e-8)
    assert f"the leading {best + 1} eigenfunctions" in diagnosis.caveat
    assert "Dependence between neighbours may be mistaken for variation" in diagnosis.caveat


def test_rows_of_weight_zero_are_left_out():
    weight = np.ones(N)
    weight[[3, 10]] = 0
    diagnosis = diagnose(GOOD, sample_weight=weight)
    assert len(diagnosis.residuals) == N - 2
    assert not {3, 10} & set(diagnosis.rows)
    np.testing.assert_array_equal(diagnosis.inputs["x0"], X[diagnosis.rows, 0])


def test_a_perfect_fit_indicates_nothing():
    region = ua.confidence_region(LinearRegression(), X, np.zeros(N), random_state=0, m=100)
    assert all(indication.pvalue == 1 for indication in region.diagnose().indications)


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
    runs, rejected = 30, 0  # more than 30 % would be too many
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

"""The p-values of region.diagnose() hold for every n, and the tests find what is wrong."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

RNG = np.random.default_rng(7)


def diagnose(X, y, model=None, noise="symmetric", seed=0):
    model = LinearRegression() if model is None else model
    region = ua.confidence_region(model, X, y, noise=noise, m=20, random_state=seed)
    return {i.name: i for i in region.diagnose().indications}


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable", "spherical"])
def test_neither_coefficients_nor_scale_nor_a_penalty_change_p_values(noise):
    X, e = RNG.normal(size=(40, 2)), RNG.standard_t(3, size=40)
    outputs = (e, 1 + X @ [5.0, -3.0] + e, e * 2.0**-560, e * 2.0**400)
    found = [[i.pvalue for i in diagnose(X, y, noise=noise).values()] for y in outputs]
    found.append([i.pvalue for i in diagnose(X, e, Ridge(100.0), noise=noise).values()])
    assert all(row == found[0] for row in found)


def heteroscedastic(rng, X):
    return np.exp(X[:, 0]) * rng.standard_t(3, size=len(X))


def cauchy(rng, X):
    return rng.standard_cauchy(size=len(X))


def alarms(draw, n, runs, noise="symmetric", model=None):
    found = dict.fromkeys(("symmetry", "equal spread", "no order"), 0)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n])
        X = rng.normal(size=(n, 2))
        for name, i in diagnose(X, X.sum(axis=1) + draw(rng, X), model, noise, seed).items():
            found[name] += i.pvalue <= 0.05
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "model", "n"),
    [(heteroscedastic, Ridge(10.0), 60), (cauchy, LinearRegression(), 30)],
    ids=["Ridge", "LinearRegression"],
)
def test_false_alarms_are_at_most_as_frequent_as_the_level(draw, model, n):
    found = alarms(draw, n, 100, model=model)
    most = binom.ppf(1 - 1e-6, 100, 0.05)  # no lower bound: p-values hold, and are not uniform
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
    assert alarms(draw, 100, runs, noise)[name] >= binom.ppf(1e-6, runs, 0.9)


def test_too_few_rows_give_no_p_value():
    X, e = RNG.normal(size=(14, 4)), RNG.normal(size=14)
    for i in diagnose(X, e).values():
        assert np.isnan(i.pvalue)
        assert str(i) == f"{i.name}: not available. 5 features need 15 rows, and there are 14."
    assert all(i.pvalue <= 1 for i in diagnose(X[:, :3], e).values())


def test_without_inputs_there_is_no_spread_to_compare():
    found = diagnose(np.ones((30, 1)), RNG.normal(size=30), Ridge(fit_intercept=False))
    assert "no inputs along which the spread could change" in str(found["equal spread"])
    assert found["symmetry"].exact

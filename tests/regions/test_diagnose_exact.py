"""The p-values of region.diagnose() hold for every n, and the tests find what is wrong."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua


def diagnose(X, y, model=None, noise="symmetric", seed=0):
    model = LinearRegression() if model is None else model
    region = ua.confidence_region(model, X, y, noise=noise, m=20, random_state=seed)
    return {i.name: i for i in region.diagnose().indications}


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

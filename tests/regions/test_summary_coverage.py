"""Coverage of intervals and tests through the public interface: exact, whatever the noise.

``python -m benchmarks.evidence.single_numbers`` has more settings, and tests/cells has them
through the choices of the library.
"""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua


def within_binomial_band(count, runs, p):
    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], runs, p)
    return low <= count <= high


def skewed(rng, X):
    return rng.lognormal(sigma=1.5, size=len(X))


def growing(rng, X):
    return (0.2 + X[:, 0] ** 2) * rng.standard_t(2, size=len(X))


def grouped(rng, X):
    return np.repeat(rng.standard_cauchy(size=12), 4) + X[:, 0] * rng.normal(size=len(X))


def discrete(rng, X):
    return rng.choice([-1.0, 0.0, 1.0], size=len(X))


CASES = [
    ("symmetric", growing),
    ("symmetric", discrete),
    ("exchangeable", skewed),
    (ua.noise.BlockSymmetric(np.repeat(np.arange(12), 4)), grouped),
]


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "law"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_tests_of_one_and_of_two_numbers_run_by_run(noise, law):
    """Few runs, each of them a user's: tie orders, nested models and a penalty."""
    rng, runs = np.random.default_rng(0), 60
    X, truth = rng.normal(size=(48, 2)), np.array([0.5, 1.0, -2.0])
    if law is discrete:
        X = X.round()
    cells = np.repeat(np.arange(6), 8)
    accepted, small = 0, 0
    for run in range(runs):
        y = truth[0] + X @ truth[1:] + law(rng, X)
        region = ua.confidence_region(Ridge(5.0), X, y, noise=noise, m=2, random_state=run)
        one = region.hypothesis("x0", truth[1], cells=cells)
        accepted += one.pvalue > 0.25
        both = region.hypothesis(["x0", "x1"], truth[1:], cells=cells)
        small += both.pvalue <= 0.25
    assert (one.m, both.m) == (32, 32)
    ties = law is discrete  # they count in favour of the truth
    assert within_binomial_band(accepted, runs, 0.75) or (ties and accepted > 0.75 * runs)
    assert within_binomial_band(small, runs, 0.25) or (ties and small < 0.25 * runs)


@pytest.mark.slow
def test_simultaneous_coverage_is_exact_and_a_wrong_value_is_rejected():
    """The 2,000 runs are in tests/cells/test_balanced.py; here a user's."""
    rng = np.random.default_rng(1)
    X, truth = rng.normal(size=(64, 1)), np.array([0.5, 1.0])
    covered, rejected, runs = 0, 0, 80
    for _ in range(runs):
        y = truth[0] + X @ truth[1:] + rng.standard_t(3, size=64)
        region = ua.confidence_region(LinearRegression(), X, y, m=2, random_state=1)
        found = region.interval(level=0.75, method="cells", cells=8, simultaneous=True)
        covered += bool(((found.lower <= truth) & (truth <= found.upper)).all())
        rejected += bool(found.lower[1] > 0)
    assert within_binomial_band(covered, runs, float(found.attained[0]))
    assert found.attained[0] == 0.75
    assert rejected > 0.8 * runs

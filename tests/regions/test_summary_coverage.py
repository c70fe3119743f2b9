"""Coverage of intervals of one number through the public interface: exact, whatever the noise."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

RUNS = 80


def within_binomial_band(count, runs, p):
    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], runs, p)
    return low <= count <= high


def skewed(rng, x):
    return rng.lognormal(sigma=1.5, size=len(x))


def growing(rng, x):
    return (0.2 + x**2) * rng.standard_t(2, size=len(x))


def grouped(rng, x):
    effect = rng.standard_cauchy(size=12)
    return np.repeat(effect, 4) + x * rng.normal(size=len(x))


CASES = [
    ("symmetric", growing),
    ("exchangeable", skewed),
    (ua.noise.BlockSymmetric(np.repeat(np.arange(12), 4)), grouped),
]


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "law"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_coverage_and_uniform_ranks(noise, law):
    """With given cells, since a search for each run would take long."""
    rng = np.random.default_rng(0)
    X, truth = rng.normal(size=(48, 2)), np.array([0.5, 1.0, -2.0])
    cells = np.repeat(np.arange(6), 8)
    covered, small, level = 0, 0, 0.0
    for _ in range(RUNS):
        y = truth[0] + X @ truth[1:] + law(rng, X[:, 0])
        region = ua.confidence_region(Ridge(5.0), X, y, noise=noise, m=2, random_state=1)
        found = region.interval("x0", level=0.9, simultaneous=False, cells=cells)
        level = float(found.attained[0])
        covered += bool(found.lower[0] <= truth[1] <= found.upper[0])
        both = region.test_functional(["x0", "x1"], truth[1:], level=0.9, cells=cells)
        small += both.pvalue <= 0.25
    assert 0.9 <= level < 1
    assert within_binomial_band(covered, RUNS, level)
    assert within_binomial_band(small, RUNS, 0.25)


@pytest.mark.slow
def test_simultaneous_coverage_is_exact_and_a_wrong_value_is_rejected():
    rng = np.random.default_rng(1)
    X, truth = rng.normal(size=(64, 1)), np.array([0.5, 1.0])
    covered, rejected, runs = 0, 0, 80
    for _ in range(runs):
        y = truth[0] + X @ truth[1:] + rng.standard_t(3, size=64)
        region = ua.confidence_region(LinearRegression(), X, y, m=2, random_state=1)
        found = region.interval(level=0.75, method="cells", cells=8)
        covered += bool(((found.lower <= truth) & (truth <= found.upper)).all())
        rejected += bool(found.lower[1] > 0)
    assert within_binomial_band(covered, runs, float(found.attained[0]))
    assert found.attained[0] == 0.75
    assert rejected > 0.8 * runs


LAWS = {
    "Cauchy": lambda rng, x: rng.standard_cauchy(size=len(x)),
    "large at high leverage": lambda rng, x: (
        (1 + 20 * (np.abs(x) > 1.5)) * rng.laplace(size=len(x))
    ),
    "ties": lambda rng, x: rng.choice([-1.0, 0.0, 1.0], size=len(x)),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_every_coefficient_has_its_coverage(law):
    """A part of ``python -m benchmarks.cell_coverage``, whose cells are not given."""
    rng, runs = np.random.default_rng(2), 60
    x, levels = rng.normal(size=36), np.arange(36) % 3
    X = np.column_stack([x, levels == 1, levels == 2])  # a factor
    truth, cells = np.array([0.5, 1.0, -2.0, 3.0]), np.arange(36) // 3 % 6
    covered, accepted = np.zeros(4, dtype=int), 0
    for run in range(runs):
        y = truth[0] + X @ truth[1:] + law(rng, x)
        region = ua.confidence_region(LinearRegression(), X, y, m=2, random_state=run)
        found = region.summary(level=0.9, cells=cells)
        covered += (found.lower <= truth) & (truth <= found.upper)
        accepted += region.test_functional("x0", truth[1], level=0.9, cells=cells).pvalue > 0.09375
    assert set(found.level) == {0.90625}
    assert within_binomial_band(accepted, runs, 0.90625)  # ties are broken at random
    for count in covered:
        assert within_binomial_band(count, runs, 0.90625) or (law is LAWS["ties"] and count > 54)

"""Coverage of intervals of one number through the public interface: exact, whatever the noise.

The settings are those of ``python -m benchmarks.cell_coverage``, which has more of them. A division
serves all runs, and a few runs are asked one by one to confirm that the others are the library's.
"""

import numpy as np
import pytest
from benchmarks import cell_coverage
from benchmarks.cell_coverage import LAWS, SETTINGS, intervals
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua

RUNS, ROWS = 2000, {2: 20, 5: 60, 12: 150}


@pytest.fixture(autouse=True)
def few_runs_one_by_one(monkeypatch):
    monkeypatch.setattr(cell_coverage, "ONE_BY_ONE", 3)


def within_binomial_band(count, runs, p):
    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], runs, p)
    return low <= count <= high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "d"), [*((law, 2) for law in LAWS), ("Cauchy", 5), ("large at high leverage", 12)]
)
def test_every_coefficient_has_its_coverage(law, d):
    X = np.random.default_rng(d).normal(size=(ROWS[d], d - 1))
    first = max(d - 4, 0)  # of many coefficients the last few
    rows = list(intervals(law, X, LAWS[law], RUNS, first=first))
    assert sum(len(row.counts) for row in rows) == 2 * (d - first)
    assert all(row.met for row in rows), "\n".join(map(str, rows))


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["dummies", "clusters", "pairs"])
def test_factors_clusters_and_pairs_have_their_coverage(setting):
    if setting == "pairs":
        X = np.random.default_rng(4).normal(size=(80, 4))
        rows = list(intervals(setting, X, skewed, RUNS, noise="exchangeable", first=3))
    else:
        rows = list(SETTINGS[setting](RUNS))
    assert len(rows) >= 2
    assert all(row.met for row in rows), "\n".join(map(str, rows))


@pytest.mark.slow
def test_power_is_near_that_of_hc3():
    found = list(SETTINGS["power"](RUNS // 2))
    sizes = [row for row in found if isinstance(row, cell_coverage.Row)]
    assert len(sizes) == 2
    assert all(row.met for row in sizes), "\n".join(map(str, sizes))
    powers = [row for row in found if isinstance(row, cell_coverage.Power) and row.slope > 0]
    assert len(powers) == 6
    for row in powers:
        assert row.cells > row.hc3 - 0.1
    assert max(row.cells for row in powers) > 0.99


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
    assert within_binomial_band(accepted, runs, 0.75)
    assert within_binomial_band(small, runs, 0.25)


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

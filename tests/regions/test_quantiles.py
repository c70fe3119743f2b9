"""Regression quantiles: exact ranks, coverage for skewed noise and for atoms, estimates, errors."""

from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.stats import binom, norm
from sklearn.linear_model import LinearRegression, QuantileRegressor
from statsmodels.regression.quantile_regression import QuantReg

import unassuming as ua
from enumeration import ChosenQuantile, rank_bounds

TAUS = (0.1, 0.5, 0.9)


def skewed(n, tau, rng):
    """Log-normal noise whose scale grows with x, and the coefficients of the tau-quantile."""
    x = np.linspace(0, 2, n)
    noise = (0.3 + x) * rng.lognormal(sigma=0.8, size=n)
    y = 1 + x + noise
    centre = float(np.exp(0.8 * norm.ppf(tau)))
    return x[:, None], y, np.array([1 + 0.3 * centre, 1 + centre])


def region_of(tau=0.5, alpha=0.0, n=40, seed=0, **options):
    X, y, truth = skewed(n, tau, np.random.default_rng(seed))
    model = QuantileRegressor(quantile=tau, alpha=alpha)
    return ua.confidence_region(model, X, y, **{"m": 100, "random_state": seed, **options}), truth


def penalty_of(region):
    """n α for each coefficient but the intercept."""
    model = region.estimator
    penalty = np.full(region.objective.d, region.n * model.alpha)
    penalty[: int(model.fit_intercept)] = 0
    return penalty


def band_of(runs, level):
    return binom.ppf(5e-7, runs, level), binom.isf(5e-7, runs, level)


# --- the rank ----------------------------------------------------------------------------------


def plain_statistics(region, a):
    """Z_0, ..., Z_{m-1} from the formula, with free indicators where a residual is zero."""
    phi, y = region.objective.design.matrix, region.objective.y
    tau, penalty = region.noise.tau, penalty_of(region)
    w, v = np.linalg.eigh(phi.T @ phi)
    psi = v @ np.diag(w**-0.5) @ v.T
    r = y - phi @ a
    zero, kinks = np.abs(r) < 1e-10, (a == 0) & (penalty > 0)

    def z(b):
        u = phi.T @ (tau - b)
        s = np.where(kinks, np.clip(u, -penalty, penalty), penalty * np.sign(a))
        return psi @ (u - s)

    first = np.sum(z((r < 0).astype(float)) ** 2)
    if zero.any():
        fixed = np.where(kinks, 0.0, penalty * np.sign(a))
        base = psi @ (phi.T @ np.where(zero, 0.0, tau - (r < 0)) - fixed)
        A = np.hstack([psi @ phi[zero].T, -psi[:, kinks]])
        p = penalty[kinks]
        bounds = np.r_[np.full(zero.sum(), tau - 1), -p], np.r_[np.full(zero.sum(), tau), p]
        first = 2 * lsq_linear(A, -base, bounds, method="bvls").cost
    fresh = region.perturbations.apply(r) < 0
    return np.array([first, *(np.sum(z(b.astype(float)) ** 2) for b in fresh)])


def plain_rank(region, a):
    Z, order = plain_statistics(region, a), region.tie_order
    tied = np.abs(Z[1:] - Z[0]) <= 1e-9 * (1 + Z[0])
    return 1 + int(np.where(tied, order[1:] < order[0], Z[1:] < Z[0]).sum())


@pytest.mark.parametrize("alpha", [0.0, 0.03])
@pytest.mark.parametrize("tau", TAUS)
def test_statistics_and_ranks_are_those_of_the_formula(tau, alpha):
    region, truth = region_of(tau, alpha, m=20)
    rng = np.random.default_rng(1)
    some = truth + rng.normal(size=(30, 2))
    some[::5, 1] = 0.0  # at the kink of the penalty
    some[1::5, 0] = (region.objective.y - some[:, 1:] @ region.inputs.T)[1::5, 7]  # through a point
    np.testing.assert_allclose(
        region.statistics(some), [plain_statistics(region, a) for a in some], atol=1e-9
    )
    assert region.rank(some).tolist() == [plain_rank(region, a) for a in some]


# --- exhaustive: the rank of the truth is uniform, in rational numbers ---------------------------


PHI = np.array([[1, 0], [1, 1], [1, 2], [1, 3], [1, 3], [1, 5]], dtype=float)


def comparisons(truth, tau, alpha):
    """Of all fresh indicators with k rows below, how many are before, tied, after the observed."""
    below = np.array(list(product([False, True], repeat=len(PHI))))
    model = QuantileRegressor(quantile=float(tau), alpha=alpha, fit_intercept=False)
    count = below.sum(axis=1)
    for observed in below:
        y, table = PHI @ truth + np.where(observed, -1.0, 1.0), []
        for k in range(len(PHI) + 1):
            noise = ChosenQuantile(float(tau), below[count == k])
            options = {"noise": noise, "m": 1 + int((count == k).sum())}
            low, high = rank_bounds(partial(ua.confidence_region, model, PHI, y, **options), truth)
            table.append((low - 1, high - low, options["m"] - high))
        yield int(observed.sum()), table


def rank_law(weights, rows, m):
    """The law of the rank for one observed and m - 1 fresh vectors of these probabilities."""
    law = [Fraction(0)] * m
    for k, table in rows:
        before, tied, after = (
            sum(w * row[kind] for w, row in zip(weights, table, strict=True)) for kind in range(3)
        )
        for less in range(m):
            for equal in range(m - less):
                rest = m - 1 - less - equal
                ways = comb(m - 1, less) * comb(m - 1 - less, equal)
                chance = weights[k] * ways * before**less * tied**equal * after**rest
                for place in range(less, less + equal + 1):
                    law[place] += chance / (equal + 1)
    return law


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tau", "truth", "alpha"),
    [
        (Fraction(1, 2), (1.0, 2.0), 0.0),
        (Fraction(1, 10), (1.0, 2.0), 0.3),
        (Fraction(2, 3), (1.0, 0.0), 0.3),
    ],
)
def test_the_rank_of_the_truth_is_uniform_over_all_indicators(tau, truth, alpha):
    """Over all observed and all fresh indicators, in rational numbers."""
    n, rows = len(PHI), list(comparisons(np.array(truth), tau, alpha))
    weights = [tau**k * (1 - tau) ** (n - k) for k in range(n + 1)]
    assert sum(row[1] for _, table in rows for row in table) > len(
        rows
    )  # ties, and not with itself
    for m in (2, 3, 5):
        assert rank_law(weights, rows, m) == [Fraction(1, m)] * m


# --- coverage ----------------------------------------------------------------------------------


def truth_ranks(tau, runs, alpha):
    rng = np.random.default_rng([int(100 * tau), runs])
    model = QuantileRegressor(quantile=tau, alpha=alpha)
    ranks = []
    for seed in range(runs):
        X, y, truth = skewed(30, tau, rng)
        region = ua.confidence_region(model, X, y, m=10, random_state=seed)
        ranks.append(region.rank(truth))
    return np.array(ranks)


@pytest.mark.slow
def test_coverage_is_the_level_for_skewed_noise_of_growing_scale():
    """In every case a rank that is missing at either end shows, in all a rank twice as frequent."""
    cases = [truth_ranks(tau, 140, alpha) for tau, alpha in ((0.1, 0.0), (0.9, 0.0), (0.5, 0.05))]
    for ranks in (*cases, np.concatenate(cases)):
        for level in (0.1, 0.5, 0.8, 0.9):
            low, high = band_of(len(ranks), level)
            assert low <= (ranks <= round(10 * level)).sum() <= high


@pytest.mark.slow
@pytest.mark.parametrize("tau", TAUS)
def test_coverage_is_at_least_the_level_with_atoms(tau):
    """Three values, the middle one the quantile: every candidate meets many rows exactly."""
    runs, rng = 150, np.random.default_rng(5)
    model = QuantileRegressor(quantile=tau, alpha=0)
    x = np.arange(20.0)[:, None]
    ranks = []
    for seed in range(runs):
        e = rng.choice(
            [-1.0, 0.0, 2.0], size=20, p=[0.6 * tau, 0.8 * (1 - 0.6 * tau), 0.2 * (1 - 0.6 * tau)]
        )
        region = ua.confidence_region(model, x, 3 + 2 * x[:, 0] + e, m=10, random_state=seed)
        ranks.append(region.rank([3.0, 2.0]))
    for level in (0.1, 0.5, 0.9):
        assert (np.array(ranks) <= round(10 * level)).sum() >= band_of(runs, level)[0]


# --- the estimate ------------------------------------------------------------------------------


def loss(region, a):
    r = region.objective.residuals(a)
    tau = region.noise.tau
    return np.where(r < 0, (tau - 1) * r, tau * r).sum() + penalty_of(region) @ np.abs(a)


@pytest.mark.parametrize("tau", TAUS)
def test_the_estimate_is_that_of_statsmodels(tau):
    region, _ = region_of(tau, n=80)
    fit = QuantReg(region.objective.y, region.objective.design.matrix).fit(q=tau, p_tol=1e-10)
    assert loss(region, region.estimate) <= loss(region, fit.params) * (1 + 1e-12)
    np.testing.assert_allclose(region.estimate, fit.params, atol=1e-4)


# --- bounds ---


def made(seed, *, n=40, tau=0.5, alpha=0.0, m=20, columns=1, **options):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 2, size=(n, columns))
    y = 1 + X.sum(axis=1) + (0.3 + X[:, 0]) * rng.lognormal(size=n)
    model = QuantileRegressor(quantile=tau, alpha=alpha)
    return ua.confidence_region(model, X, y, m=m, random_state=seed, **options)


def vertices(region):
    """All points at which d of the data hyperplanes, or faces a_j = 0, meet."""
    phi, y, d = region.objective.design.matrix, region.objective.y, region.objective.d
    held = np.flatnonzero(penalty_of(region))
    rows = np.vstack([phi, np.eye(d)[held]])
    values = np.r_[y, np.zeros(len(held))]
    found = []
    for some in map(list, combinations(range(len(rows)), d)):
        if abs(np.linalg.det(rows[some])) > 1e-9:
            a = np.linalg.solve(rows[some], values[some])
            for j, index in enumerate(held):
                if len(phi) + j in some:
                    a[index] = 0.0
            found.append(a)
    return np.array(found)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("alpha", [0.0, 0.05])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_bounds_are_close_to_the_farthest_vertices(level, alpha):
    """A bounded polyhedron is largest at a vertex."""
    region = made(0, n=30, alpha=alpha)
    # With a penalty a vertex on a_j = 0 has another critical value than the cells around it.
    angles = np.linspace(0, 2 * np.pi, 60)
    around = 1e-7 * np.column_stack([np.cos(angles), np.sin(angles)])
    corners = vertices(region)
    corners = np.concatenate([corners, *(corners + step for step in around)])
    members = corners[region.contains(corners, level)]
    g = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -3.0]])
    found = region.interval(g, level, simultaneous=True, method="joint")
    values = members @ g.T
    width = values.max(axis=0) - values.min(axis=0)
    assert found.status.name == "CERTIFIED"
    assert (found.upper >= values.max(axis=0)).all()
    assert (found.lower <= values.min(axis=0)).all()
    assert (found.upper - values.max(axis=0) <= 0.03 * width).all()
    assert (values.min(axis=0) - found.lower <= 0.03 * width).all()


def far_members(region, level):
    """Which data lines r_j = 0 end in members, on them or on one of their sides (d = 2)."""
    phi, y = region.objective.design.matrix, region.objective.y
    far = []
    for row, value in zip(phi, y, strict=True):
        along, off = np.array([-row[1], row[0]]), row / (row @ row)
        for t in (-1e6, 1e6):
            on = value * off + t * along
            far += [on, on + 1e-3 * off, on - 1e-3 * off]
    return bool(region.contains(np.array(far), level).any())


@pytest.mark.slow_but_first
@pytest.mark.parametrize("seed", range(8))
def test_the_verdict_is_that_of_the_lines_of_the_data(seed):
    """The region may end in a narrow cone, or in a single ray along which a residual is zero."""
    region = made(seed, n=12, tau=(0.3, 0.7)[seed % 2])
    expected = "unbounded" if far_members(region, 0.8) else "bounded"
    verdict = region.bounded(0.8)
    assert verdict.verdict == expected
    found = region.interval(level=0.8, simultaneous=True, method="joint")
    assert found.status.name == ("UNBOUNDED" if expected == "unbounded" else "CERTIFIED")


# --- what is said, saved and refused -------------------------------------------------------------


X, Y = np.arange(12.0)[:, None], np.arange(12.0) % 5


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (QuantileRegressor(quantile=1.5), {}, r"quantile is out of range.*given 1.5"),
        (QuantileRegressor(quantile=0), {}, r"quantile is out of range.*given 0\."),
        (
            QuantileRegressor(quantile=1),
            {"noise": ua.noise.Quantile()},
            r"quantile is out of range",
        ),
        (QuantileRegressor(alpha=-1), {}, r"alpha is out of range"),
        (
            QuantileRegressor(quantile=0.2),
            {"noise": ua.noise.Quantile(0.3)},
            r"loss of that quantile: .*quantile=0.3.*Quantile\(tau=0.3\)",
        ),
        (QuantileRegressor(), {"noise": "symmetric"}, r"expected noise='quantile'"),
        (LinearRegression(), {"noise": "quantile"}, r"expected QuantileRegressor"),
        (QuantileRegressor(), {"sample_weight": 1 + X[:, 0]}, r"sample_weight varies"),
        (QuantileRegressor(), {"weighting": "gram"}, r"weighting is not available"),
        (QuantileRegressor(), {"m": "all"}, r"has no finite group"),
    ],
)
def test_bad_input_gets_one_sentence(model, options, message):
    with pytest.raises(ValueError, match=message):
        ua.confidence_region(model, X, Y, **options)

"""Regression quantiles: exact ranks, coverage for skewed noise and for atoms, estimates, errors."""

from fractions import Fraction
from itertools import product
from math import comb, lcm

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.stats import binom, norm
from sklearn.linear_model import LinearRegression, QuantileRegressor
from statsmodels.regression.quantile_regression import QuantReg

import unassuming as ua
from unassuming.membership import RankEngine
from unassuming.noise import Perturbations

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


def band_of(runs, level):
    return binom.ppf(5e-7, runs, level), binom.isf(5e-7, runs, level)


# --- the rank ----------------------------------------------------------------------------------


def plain_statistics(region, a):
    """Z_0, ..., Z_{m-1} from the formula, with free indicators where a residual is zero."""
    phi, y = region.objective.design.matrix, region.objective.y
    tau, penalty = region.noise.tau, region.objective.penalty
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


def test_an_intercept_alone_ties_all_the_time():
    """Only the number of rows below matters, so that nearly every comparison may tie."""
    rng = np.random.default_rng(3)
    y = rng.exponential(size=12)
    model = QuantileRegressor(alpha=0, fit_intercept=False)
    region = ua.confidence_region(model, np.ones((12, 1)), y, m=40, random_state=1)
    some = np.linspace(0, 3, 200)[:, None]
    assert region.rank(some).tolist() == [plain_rank(region, a) for a in some]


# --- exhaustive: the rank of the truth is uniform, in rational numbers ---------------------------


def comparisons(phi, truth, tau, alpha):
    """Compare the statistics of all observed and all fresh indicators, by the careful engine."""
    n = len(phi)
    below = np.array(list(product([False, True], repeat=n)))
    model = QuantileRegressor(quantile=float(tau), alpha=alpha, fit_intercept=False)
    noise = ua.noise.Quantile(float(tau))
    m = len(below) + 1
    first, last = np.arange(m), np.r_[m - 1, np.arange(m - 1)]
    rows = []
    for observed in below:
        y = phi @ truth + np.where(observed, -1.0, 1.0)
        objective = ua.objectives.from_quantile_regressor(model, phi, y, None)
        drawn = Perturbations(noise, below, n, m)
        less, not_more = (
            RankEngine(objective, objective.score("hessian"), drawn, order, whitened=True)
            .before(truth[None, :])[0]
            .astype(int)
            for order in (first, last)
        )
        rows.append(less + not_more)  # 0: after, 1: tied, 2: before
    return below, np.array(rows)


def rank_law(weights, table, m):
    """The law of the rank for one observed and m - 1 fresh vectors of these probabilities."""
    bottom = lcm(*(w.denominator for w in weights))
    whole = np.array([int(w * bottom) for w in weights])
    sums = zip(*(((table == kind) @ whole).tolist() for kind in (0, 1, 2)), strict=True)
    law = [Fraction(0)] * m
    for weight, (after, tied, before) in zip(whole.tolist(), sums, strict=True):
        for less in range(m):
            for equal in range(m - less):
                rest = m - 1 - less - equal
                ways = comb(m - 1, less) * comb(m - 1 - less, equal)
                chance = weight * ways * before**less * tied**equal * after**rest
                for k in range(less, less + equal + 1):
                    law[k] += Fraction(chance, equal + 1)
    return [value / bottom**m for value in law]


PHI = np.array([[1, 0], [1, 1], [1, 2], [1, 3], [1, 3], [1, 5], [1, 8]], dtype=float)


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("tau", "truth", "alpha"),
    [
        (Fraction(1, 2), (1.0, 2.0), 0.0),
        (Fraction(1, 10), (1.0, 2.0), 0.3),
        (Fraction(2, 3), (1.0, 0.0), 0.3),
    ],
)
def test_the_rank_of_the_truth_is_uniform_over_all_indicators(tau, truth, alpha):
    below, table = comparisons(PHI, np.array(truth), tau, alpha)
    weights = [tau ** int(b.sum()) * (1 - tau) ** int((~b).sum()) for b in below]
    assert sum(weights) == 1
    assert (table == 1).sum() > len(below)  # there are ties beyond equal vectors
    for m in (2, 3, 5):
        assert rank_law(weights, table, m) == [Fraction(1, m)] * m


@pytest.mark.slow
def test_the_rank_is_uniform_over_the_512_indicators_of_nine_rows():
    phi = np.column_stack([np.ones(9), np.arange(9.0)])
    below, table = comparisons(phi, np.array([0.5, -1.0]), Fraction(1, 4), 0.0)
    weights = [Fraction(1, 4) ** int(b.sum()) * Fraction(3, 4) ** int((~b).sum()) for b in below]
    assert rank_law(weights, table, 3) == [Fraction(1, 3)] * 3


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


@pytest.mark.parametrize("tau", TAUS)
def test_a_shifted_candidate_is_rejected(tau):
    region, truth = region_of(tau, n=200)
    assert region.contains(truth, 0.99)
    for shift in ([2.0, 0.0], [-2.0, 0.0], [0.0, 2.0], [0.0, -2.0]):
        assert region.pvalue(truth + shift) == 0.01


def test_the_other_quantile_is_rejected():
    region, _ = region_of(0.5, n=200)
    _, truth = region_of(0.9, n=200)
    assert not region.contains(truth, 0.99)


# --- the estimate ------------------------------------------------------------------------------


def loss(region, a):
    r = region.objective.residuals(a)
    tau = region.noise.tau
    return np.where(r < 0, (tau - 1) * r, tau * r).sum() + region.objective.penalty @ np.abs(a)


@pytest.mark.parametrize("tau", TAUS)
def test_the_estimate_is_that_of_statsmodels(tau):
    region, _ = region_of(tau, n=80)
    fit = QuantReg(region.objective.y, region.objective.design.matrix).fit(q=tau, p_tol=1e-10)
    assert loss(region, region.estimate) <= loss(region, fit.params) * (1 + 1e-12)
    np.testing.assert_allclose(region.estimate, fit.params, atol=1e-4)


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.1, 10.0])
@pytest.mark.parametrize("tau", [0.3, 0.5])
def test_the_estimate_is_the_minimum_and_has_the_smallest_statistic(tau, alpha):
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=(60, 2)), 1000 + rng.normal(size=60)])
    y = X @ [1.0, 0.0, 0.5] + rng.lognormal(size=60)
    model = QuantileRegressor(quantile=tau, alpha=alpha)
    # With a large penalty many fresh statistics are zero too: the tie order must not matter.
    region = ua.confidence_region(model, X, y, ties="conservative", random_state=0, m=100)
    model.fit(X, y)
    theirs = np.r_[model.intercept_, model.coef_]
    assert loss(region, region.estimate) <= loss(region, theirs) * (1 + 1e-9)
    assert region.statistics(region.estimate)[0] < 1e-20
    assert region.rank(region.estimate) == 1
    zeros = (np.abs(region.objective.residuals(region.estimate)) < 1e-9 * np.abs(y).max()).sum()
    assert zeros + (region.estimate == 0).sum() >= 4


@pytest.mark.parametrize("alpha", [0.0, 0.02])
def test_outliers_do_not_move_the_estimate(alpha):
    region, _ = region_of(0.5, alpha)
    y = region.objective.y
    far = y.copy()
    above = np.argsort(region.objective.residuals(region.estimate))[-3:]
    far[above] = [1e8, 1e12, 1e16]  # on the same side as before: nothing changes
    model = QuantileRegressor(alpha=alpha)
    other = ua.confidence_region(model, region.inputs, far, random_state=0, m=100)
    np.testing.assert_allclose(other.estimate, region.estimate, rtol=1e-9)
    assert other.rank(other.estimate) == 1


@pytest.mark.slow_but_first
@pytest.mark.parametrize("values", [(0.0, 0.0), (3.0, 0.0), (1.0, 2.0)])
@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_without_noise_the_region_is_a_point(values, alpha):
    x = np.random.default_rng(0).normal(size=20)
    y = values[0] + values[1] * x
    model = QuantileRegressor(alpha=alpha)
    region = ua.confidence_region(model, x[:, None], y, m=10, random_state=0)
    found = region.interval(level=0.5, simultaneous=True, method="joint")
    assert found.status.name == "CERTIFIED"
    assert (found.lower <= values).all()
    assert (values <= found.upper).all()
    assert (found.upper - found.lower < 1e-9).all()


# --- what is said, saved and refused -------------------------------------------------------------


def test_only_the_order_of_signs_is_diagnosed():
    region, _ = region_of(0.9, n=60)
    found = {one.name: one for one in region.diagnose().indications}
    for name in ("symmetry", "equal spread"):
        assert "assume nothing about it" in found[name].unavailable
    assert found["no order"].assumed
    assert 0 < found["no order"].pvalue <= 1
    order = np.sign(region.objective.residuals(region.estimate)).argsort(kind="stable")
    sorted_ = ua.confidence_region(
        region.estimator, region.inputs[order], region.objective.y[order], random_state=0, m=100
    )
    assert sorted_.diagnose().indications[2].pvalue < 0.01


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
            r"another quantile than the model: expected tau=0.2.*Quantile\(tau=0.3\)",
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


@pytest.mark.parametrize("tau", [0, 1, -0.5, 1.5, "0.5", True, float("nan")])
def test_a_noise_of_no_quantile_is_refused(tau):
    with pytest.raises(ValueError, match=r"tau is out of range.*between 0 and 1"):
        ua.noise.Quantile(tau)

"""Dynamical systems: exact ranks, coverage, unstable candidates, lines, errors."""

from itertools import permutations, product

import mpmath
import numpy as np
import pytest
from scipy.stats import binom
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unassuming as ua

pytestmark = pytest.mark.slow_but_first


def output(orders, u, start, theta, e):
    """Run a system by its definition; e has one entry for each time after the initial values."""
    y = list(start)
    for t in range(len(start), len(u)):
        y.append(row(orders, u, y, t) @ np.asarray(theta) + e[t - len(start)])
    return np.array(y)


def row(orders, u, y, t):
    """The regressors at time t, in the order of the coefficients."""
    na, nb, delay, intercept = orders
    past = [y[t - k] for k in range(1, na + 1)]
    return np.array([1.0] * intercept + past + [u[t - delay - k + 1] for k in range(1, nb + 1)])


def plain_statistics(orders, u, y, theta, images, digits=60):
    """Z_0, ..., Z_{m-1} by the definition, one series and one time at a time, with many digits."""
    with mpmath.workdps(digits):
        na, nb, delay, intercept = orders
        first = max(na, nb + delay - 1 if nb else 0)
        number = mpmath.mpf
        u, y, theta = ([number(float(x)) for x in series] for series in (u, y, theta))

        def regressors(y, t):
            past = [y[t - k] for k in range(1, na + 1)]
            inputs = [u[t - delay - k + 1] for k in range(1, nb + 1)]
            return [number(1)] * intercept + past + inputs

        e = [y[t] - mpmath.fdot(regressors(y, t), theta) for t in range(first, len(y))]
        found = []
        for image in [list(range(1, len(e) + 1)), *images]:
            moved = [np.sign(i) * e[abs(int(i)) - 1] for i in image]
            outputs = y[:first]
            for t in range(first, len(y)):
                outputs.append(mpmath.fdot(regressors(outputs, t), theta) + moved[t - first])
            columns = list(
                zip(*(regressors(outputs, t) for t in range(first, len(y))), strict=True)
            )
            found.append(float(projection(columns, moved)))
        return np.array(found), float(mpmath.fdot(e, e))


def projection(columns, e):
    square, basis = mpmath.mpf(0), []
    for column in columns:
        for unit in basis:
            share = mpmath.fdot(unit, column)
            column = [x - share * z for x, z in zip(column, unit, strict=True)]
        size = mpmath.sqrt(mpmath.fdot(column, column))
        basis.append([x / size for x in column])
        square += mpmath.fdot(basis[-1], e) ** 2
    return square


def images_of(region):
    """The signed numbers of the entries that the transformations take."""
    return region.perturbations.apply(np.arange(1.0, region.n + 1))


def region_of(na=1, nb=1, n=40, seed=0, delay=1, fit_intercept=False, noise=None, m=20, **data):
    u, y, truth = ua.datasets.arx(n=n, noise="student", random_state=seed, **data)
    model = ua.ARX(na, nb, delay=delay, fit_intercept=fit_intercept)
    return ua.confidence_region(model, u, y, m=m, noise=noise, random_state=seed), truth


# --- the rank of the truth is uniform ---------------------------------------------------------


SMALL = {
    "ARX(1, 1)": ((1, 1, 1, False), [0.7, 1.0]),
    "unstable": ((1, 1, 1, False), [1.6, 1.0]),
    "ARX(2, 1) with intercept": ((2, 1, 1, True), [0.3, 0.5, 0.2, 1.0]),
    "delay": ((1, 2, 2, False), [-0.9, 1.0, 0.5]),
    "autoregression": ((2, 0, 1, False), [1.1, -0.5]),
}


@pytest.mark.parametrize("name", SMALL)
def test_over_all_signs_the_truth_takes_every_rank_once(name):
    orders, theta = SMALL[name]
    rng = np.random.default_rng(1)
    first, n = max(orders[0], orders[1] + orders[2] - 1 if orders[1] else 0), 6
    u, start = rng.normal(size=first + n), rng.normal(size=first)
    e = rng.standard_t(2, size=n)
    model = ua.ARX(orders[0], orders[1], delay=orders[2], fit_intercept=orders[3])
    ranks = []
    for signs in product([-1.0, 1.0], repeat=n):
        y = output(orders, u, start, theta, np.array(signs) * e)
        ranks.append(ua.confidence_region(model, u, y, m="all", random_state=0).rank(theta))
    assert sorted(ranks) == list(range(1, 2**n + 1))


def test_over_all_permutations_the_truth_takes_every_rank_once():
    rng = np.random.default_rng(3)
    u, e = rng.normal(size=6), rng.lognormal(size=5)
    ranks = []
    for order in permutations(range(5)):
        y = output((1, 1, 1, False), u, [0.5], [0.8, 1.0], e[list(order)])
        region = ua.confidence_region(ua.ARX(), u, y, noise="exchangeable", m="all")
        ranks.append(region.rank([0.8, 1.0]))
    assert sorted(ranks) == list(range(1, 121))


@pytest.mark.parametrize("a", [0.8, 0.99, 1.0, 1.3])
def test_coverage_for_heavy_tails_of_changing_scale(a):
    """Few runs; benchmarks/arx_coverage.py has many."""
    runs, m, hits, rng = 150, 20, {0.5: 0, 0.9: 0}, np.random.default_rng(int(100 * a))
    scale = 0.2 + np.abs(np.sin(np.arange(30)))
    for run in range(runs):
        u = rng.normal(size=31)
        y = output((1, 1, 1, False), u, [1.0], [a, 1.0], scale * rng.standard_t(2, size=30))
        region = ua.confidence_region(ua.ARX(), u, y, m=m, random_state=run)
        for level, inside in region.contains([a, 1.0], level=[0.5, 0.9]).items():
            hits[level] += inside
    for level, count in hits.items():
        assert binom.ppf(5e-7, runs, level) <= count <= binom.isf(5e-7, runs, level)


# --- the statistics ---------------------------------------------------------------------------


CASES = {
    "stable": ((1, 1, 1, False), [[0.8, 1.0], [-0.5, 0.2]]),
    "unit root": ((1, 1, 1, False), [[1.0, 1.0], [0.99, 1.0], [-1.0, 0.5]]),
    "unstable": ((1, 1, 1, False), [[1.3, 1.0], [10.0, 1.0], [-30.0, 0.0]]),
    "intercept and delay": ((1, 2, 3, True), [[0.1, 0.7, 1.0, 0.2], [5.0, 1.5, 0.0, 1.0]]),
    "no past outputs": ((0, 2, 1, True), [[0.0, 1.0, 0.5]]),
    "no inputs": ((2, 0, 1, False), [[0.5, 0.3], [2.0, -0.75]]),
}


@pytest.mark.parametrize("name", CASES)
def test_statistics_agree_with_60_digits(name):
    (na, nb, delay, intercept), candidates = CASES[name]
    region, _ = region_of(na, nb, n=30, delay=delay, fit_intercept=intercept, m=6)
    u, y = ua.datasets.arx(n=30, noise="student", random_state=0)[:2]
    for theta in candidates:
        expected, size = plain_statistics(
            (na, nb, delay, intercept), u, y, theta, images_of(region)
        )
        assert np.abs(region.statistics(theta) - expected).max() <= 1e-12 * size
        assert region.rank(theta) == 1 + int((expected[1:] < expected[0]).sum())


# --- lines, samples, words --------------------------------------------------------------------


@pytest.mark.slow
def test_crossings_agree_with_a_dense_scan():
    region, _ = region_of()
    assert not region.exact_crossings
    t = np.linspace(-1, 1, 1001)
    for direction in ([1.0, 0.0], [0.0, 1.0], [1.0, -2.0]):
        inside = region.contains(region.estimate + t[:, None] * np.array(direction), level=0.9)
        spans = region.crossings(direction, level=0.9)
        found = ((t[:, None] >= spans[:, 0]) & (t[:, None] <= spans[:, 1])).any(axis=1)
        ends = np.abs(t[:, None] - spans.ravel()).min(axis=1) < 1e-9
        assert (found == inside)[~ends].all()
        assert region.reach(direction, level=0.9) == pytest.approx(spans[spans[:, 1] > 0][0, 1])


# --- bad input ----------------------------------------------------------------------------------


def refused(match, model=None, u=None, y=None, error=ValueError, **options):
    series = ua.datasets.arx(n=20, random_state=0)
    u, y = series[0] if u is None else u, series[1] if y is None else y
    with pytest.raises(error, match=match):
        ua.confidence_region(ua.ARX() if model is None else model, u, y, **options)


def test_bad_input_is_one_sentence():
    refused("u and y differ in length: expected one input for each of the 20", u=np.zeros(19))
    refused("series is too short: expected at least 4 outputs", u=np.zeros(3), y=np.ones(3))
    refused("na of ARX is out of range: expected an integer >= 0, given -1", ua.ARX(-1))
    refused("nb of ARX is out of range: expected an integer >= 0, given -2", ua.ARX(1, -2))
    refused("delay of ARX is out of range: expected an integer >= 1, given 0", ua.ARX(delay=0))
    refused("delay of ARX is out of range: .* given -1", ua.ARX(delay=-1))
    refused("na of ARX is out of range: .* given 1.5", ua.ARX(1.5))
    refused("nb of ARX is out of range: expected an integer >= 1, given 0", ua.ARX(0, 0))
    refused("y has missing or infinite values", y=np.r_[np.nan, np.ones(19)])
    refused("u has missing or infinite values", u=np.r_[np.ones(19), np.inf])
    refused("u is not one column", u=np.ones((20, 2)))
    refused("sample_weight does not apply to ARX", sample_weight=np.ones(20))
    refused("weighting is not available", weighting="identity")
    refused("weighting is not available", weighting=np.eye(2))
    refused("noise 'labels' needs a classifier", noise="labels")
    refused("needs the loss of that quantile", noise="quantile")
    refused("one label for each of the 20 rows", noise=ua.noise.BlockSymmetric(np.arange(19)))
    refused("initial values of a time series", noise=ua.noise.ExchangeableWithin(5))
    refused(
        "a basis of the 19 rows that count",
        noise=ua.noise.InBasis(np.eye(20)),
        error=ua.NotAvailable,
    )
    pipeline = make_pipeline(StandardScaler(), ua.ARX())
    refused("at the end of a pipeline", pipeline, u=np.ones((20, 1)), error=TypeError)
    with pytest.raises(ValueError, match="u is missing"):
        ua.confidence_region(ua.ARX(), None, np.ones(20))


def test_what_needs_fixed_inputs_is_refused_with_the_reason():
    region, _ = region_of()
    u = np.zeros((3, 1))
    for ask in (
        region.summary,
        lambda: region.band(u, method="joint"),
        lambda: region.hypothesis("a1"),
        region.lack_of_fit,
        region.suggest_norm_bound,
        lambda: region.interval(simultaneous=False),
    ):
        with pytest.raises(ua.NotAvailable, match="contain past outputs"):
            ask()
    for function in (lambda u: u, lambda X: X[:, 0]):  # refused before it is called
        with pytest.raises(ua.NotAvailable, match="cannot be a function"):
            region.test(function)
    with pytest.raises(ValueError, match="expected 2 coefficients"):
        region.test([1.0, 2.0, 3.0])
    u, y, _ = ua.datasets.arx(n=30, random_state=0)
    with pytest.raises(ValueError, match=r"given ARX .*Leave out `noise`"):
        ua.confidence_region(ua.ARX(), u, y, noise="quantile")
    interval = region.interval(simultaneous=True, method="joint")
    assert np.isinf(interval.lower).all()
    assert "only membership can be tested" in interval.reason

"""Labels of one class: their regions exist, and belong to the coverage of all (theory 8)."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unassuming as ua

N, M, RUNS = 20, 20, 400
LEVELS = np.arange(1, M) / M
MODELS = {
    "ridge classifier": RidgeClassifier(),
    "linear LSSVC": ua.LSSVC(C=0.5),
    "rbf LSSVC": ua.LSSVC(kernel="rbf"),
    "logistic": LogisticRegression(),
    "pipeline": make_pipeline(StandardScaler(), RidgeClassifier()),
}
every = pytest.mark.parametrize("name", MODELS)
# All but logistic regression, whose intercept goes to infinity.
ESTIMATED = [name for name in MODELS if name != "logistic"]


def inputs(n=N, d=1, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def constant(value):
    return lambda X: np.full(len(X), value)


def region_of(name, label=1, n=N, **options):
    return ua.confidence_region(
        MODELS[name], inputs(n), np.full(n, label), **{"m": 100, "random_state": 0, **options}
    )


# --- coverage -------------------------------------------------------------------------------------


def counts(model, chance=0.95):
    """Count, at each level, regions that hold E[y|x], of all data sets and of two classes."""
    inside, runs = np.zeros((2, M - 1), dtype=int), np.zeros(2, dtype=int)
    for seed in range(RUNS):
        rng = np.random.default_rng([seed, 15])
        X, y = rng.normal(size=(N, 2)), np.where(rng.uniform(size=N) < chance, 1, -1)
        region = ua.confidence_region(model, X, y, m=M, random_state=seed)
        counted = np.array([True, len(set(y.tolist())) == 2])
        runs += counted
        inside[counted, region.rank(constant(2 * chance - 1)) - 1 :] += 1
    return inside, runs


def in_band(count, runs):
    """Which counts are binomial at the levels, two-sided at 1e-6."""
    return (binom.ppf(5e-7, runs, LEVELS) <= count) & (count <= binom.isf(5e-7, runs, LEVELS))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ridge classifier", "rbf LSSVC"])
def test_coverage_is_the_level_among_all_data_sets_and_not_among_those_of_two_classes(name):
    """More than a third of the data sets have one class; to refuse them takes coverage away."""
    (all_inside, two_inside), (runs, two) = counts(MODELS[name])
    assert runs == RUNS
    assert binom.ppf(5e-7, runs, 1 - 0.95**N) <= two <= binom.isf(5e-7, runs, 1 - 0.95**N)
    assert in_band(all_inside, runs).all(), all_inside / runs
    at = LEVELS.tolist().index(0.5)
    assert not in_band(two_inside, two)[at]
    assert two_inside[at] / two < 0.4


# --- the region -----------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("label", [-1, 1])
def test_members_are_functions_that_often_give_one_class(name, label):
    region = region_of(name, label)
    assert (region.objective.y == label).all()
    assert region.contains(constant(0.95 * label), level=0.9)
    assert not region.contains(constant(0.0), level=0.9)
    assert not region.contains(constant(-0.95 * label), level=0.9)
    assert region.test(constant(0.0)).pvalue <= 0.05


# --- the estimate ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATED)
def test_the_estimate_is_the_label_itself_where_there_is_an_intercept(name):
    region = region_of(name, -1)
    f = region.objective.fitted(region.estimate[None])[0]
    np.testing.assert_allclose(f, -1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(region.estimate[0], -1, rtol=1e-14)


@pytest.mark.parametrize("name", ESTIMATED)
@pytest.mark.parametrize("seed", range(3))
def test_the_estimate_is_certain_of_every_label_so_that_its_rank_is_that_of_ties(name, seed):
    """All fresh labels are the observed ones, whatever the rounding of the estimate."""
    region = region_of(name, random_state=seed)
    before = (region.tie_order[1:] < region.tie_order[0]).sum()
    assert region.rank(region.estimate) == 1 + before
    assert region.rank(constant(1.0)) == 1 + before


def test_the_minimiser_without_an_intercept():
    X = inputs(d=2)
    region = ua.confidence_region(RidgeClassifier(0.5, fit_intercept=False), X, np.ones(N), m=100)
    expected = np.linalg.solve(X.T @ X + 0.5 * np.eye(2), X.sum(axis=0))
    np.testing.assert_allclose(region.estimate, expected, rtol=1e-12)
    logistic = ua.confidence_region(LogisticRegression(fit_intercept=False), X, np.ones(N), m=100)
    gradient = logistic.objective.gradient(
        logistic.estimate[None], logistic.objective.residuals(logistic.estimate[None])
    )
    np.testing.assert_allclose(gradient, 0, rtol=0, atol=1e-15)


def test_without_an_estimate_everything_else_works():
    region = region_of("logistic")
    origin = np.array([3.0, 0.0])
    assert region.contains(origin, level=0.9)
    ((low, high),) = region.crossings("intercept", origin=origin, level=0.9)
    assert low < 0
    assert high == np.inf
    near_the_end = origin + low * np.array([[0.99, 0.0], [1.01, 0.0]])
    assert region.contains(near_the_end, level=0.9).tolist() == [True, False]
    assert region.statistics(origin).shape == (100,)
    assert "LogisticRegression" in str(region)
    assert region.test(origin).caveat == ""


NEEDS = {
    "estimate": lambda region: region.estimate,
    "band": lambda region: region.band([[0.0]], method="joint", level=0.9),
    "interval": lambda region: region.interval(simultaneous=True, method="joint", level=0.9),
    "reach": lambda region: region.reach("x0", level=0.9),
    "crossings": lambda region: region.crossings("x0", level=0.9),
    "sample": lambda region: region.sample(2, level=0.9),
    "suggestion": lambda region: region.suggest_norm_bound(),
    "diagnosis": lambda region: region.diagnose(),
}


@pytest.mark.parametrize("what", NEEDS)
def test_what_needs_the_estimate_says_why_there_is_none(what):
    with pytest.raises(ua.NotAvailable, match=r"^the estimate of logistic regression needs labels"):
        NEEDS[what](region_of("logistic"))


# --- geometry -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n"), [("ridge classifier", 20), ("ridge classifier", 100), ("rbf LSSVC", 20)]
)
def test_samples_spread_from_a_corner_of_the_unit_interval(name, n):
    """At f = 1 almost every line leaves the region: walks have to begin elsewhere."""
    region = region_of(name, n=n)
    members = region.sample(16, random_state=0, level=0.9)
    assert region.contains(members, level=0.9).all()
    fitted = region.objective.fitted(members)
    assert (fitted.min(axis=1) < 1 - 0.1 / n).all()
    assert len(np.unique(fitted.round(8), axis=0)) == 16

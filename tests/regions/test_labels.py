"""Labels drawn afresh from the candidate: exact tests of a regression function E[y | x]."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline

import unassuming as ua
from enumeration import ChosenLabels, rank_bounds
from speed import slow_but
from unassuming.regions import Status

RUNS, M = 140, 10  # a rank that is missing at either end is outside the 1e-6 band
# scikit-learn 1.8 replaced penalty="l1" by l1_ratio=1.
OLD = LogisticRegression().get_params().get("penalty") == "l2"
L1 = {"penalty": "l1"} if OLD else {"l1_ratio": 1}

SQUARES = {
    "ridge classifier": RidgeClassifier(alpha=0.5),
    "linear LSSVC": ua.LSSVC(C=0.4),
    "rbf LSSVC": ua.LSSVC(C=0.4, kernel="rbf", gamma=0.7),
    "LSSVC without bias": ua.LSSVC(C=0.4, kernel="rbf", gamma=0.7, fit_intercept=False),
}
MODELS = SQUARES | {
    "logistic": LogisticRegression(C=0.8),
    "logistic, l1": LogisticRegression(C=0.8, **L1),
    "logistic, no penalty": LogisticRegression(C=np.inf),
}


def problem(n=24, seed=0):
    """Draw labels with E[y | x] = 0.1 + 0.5 tanh(x_1) - 0.3 tanh(x_2)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(rng.uniform(size=n) < (1 + truth(X)) / 2, 1, -1)


def truth(X):
    return 0.1 + 0.5 * np.tanh(X[:, 0]) - 0.3 * np.tanh(X[:, 1])


def region_of(model, X, y, **options):
    return ua.confidence_region(model, X, y, **{"m": 100, "random_state": 0, **options})


# --- the two classes ---


@pytest.mark.parametrize("name", slow_but(MODELS, "ridge classifier", "logistic"))
def test_labels_of_any_kind_are_coded_with_the_second_class_as_plus_one(name):
    X, y = problem()
    plain = region_of(MODELS[name], X, y)
    assert isinstance(plain.noise, ua.noise.Labels)
    words = np.where(y > 0, "yes", "no")
    for coded in (
        words,
        words.tolist(),
        np.where(y > 0, 1, 0),
        np.where(y > 0, 5.5, -3.0),
        y > 0,
        pd.Series(words, dtype="object"),
        pd.Series(words).astype("category"),
    ):
        region = region_of(MODELS[name], X, coded)
        np.testing.assert_array_equal(region.objective.y, y)
        np.testing.assert_array_equal(region.estimate, plain.estimate)
        assert region.rank(truth) == plain.rank(truth)


@pytest.mark.parametrize(
    ("y", "classes", "sign"),
    [
        (np.zeros(16, dtype=int), [0, 1], -1),
        (-np.ones(16, dtype=int), [-1, 1], -1),
        (np.ones(16), [0.0, 1.0], 1),
        (np.zeros(16, dtype=bool), [False, True], -1),
        ([True] * 16, [False, True], 1),
        (pd.Series([1] * 16, dtype="Int64"), [0, 1], 1),
    ],
)
def test_numbers_and_booleans_of_one_class_tell_the_other(y, classes, sign):
    region = region_of(RidgeClassifier(), problem(16)[0], y)
    found = region.problem.classes.tolist()
    assert found == classes
    assert list(map(type, found)) == list(map(type, classes))
    assert (region.objective.y == sign).all()


# --- candidates ---


def overshooting(X):
    """Return the truth, but for one value that is barely too large."""
    f = truth(X)
    f[np.argmax(f)] = 1.02
    return f


@pytest.mark.parametrize("name", MODELS)
def test_a_candidate_outside_the_unit_interval_is_in_no_region(name):
    X, y = problem()
    region = region_of(MODELS[name], X, y, m=20)
    Z = region.statistics(overshooting)
    assert (Z[1:] > Z[0]).any()  # it is not its statistic that puts it last
    assert region.rank(overshooting) == 20
    assert region.pvalue(overshooting) == pytest.approx(1 / 20)
    assert not any(region.contains(overshooting, level=np.arange(1, 20) / 20).values())
    assert "1.02" in region.test(overshooting).caveat
    assert region.test(truth).caveat == ""


def test_the_bounds_of_the_unit_interval_belong_to_it():
    X, y = problem()
    X = np.sign(X)
    y = np.sign(X[:, 0])
    certain = np.array([0.0, 1.0, 0.0])  # f = ±1, and right each time
    favoured = region_of(RidgeClassifier(alpha=0.1), X, y, ties="conservative")
    statistics = favoured.statistics(certain)
    np.testing.assert_allclose(statistics, statistics[0], rtol=1e-12)  # every label is certain
    assert favoured.rank(certain) == 1
    assert favoured.rank(certain * (1 + 1e-9)) == 100


@pytest.mark.parametrize("slope", [-1e6, -1e4, 1e4, 1e6])
def test_coefficients_under_which_an_observed_label_cannot_happen(slope):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(40, 1))
    y = np.where(rng.uniform(size=40) < 1 / (1 + np.exp(-1.5 * X[:, 0])), 1, -1)
    region = region_of(LogisticRegression(), X, y, m=20)
    far = np.array([0.3 * slope, slope])
    assert (abs(region.objective.y - region.objective.fitted(far[None])[0]) == 2).any()
    assert region.rank(far) == region.m
    for direction in np.eye(2):
        assert np.isfinite(region.crossings(direction)).all()
    # Where all labels are right, certainty is no reason to leave: every statistic ties.
    separated = region_of(
        LogisticRegression(C=np.inf), [[-1.0], [-0.5], [0.5], [1.0]], [0, 0, 1, 1]
    )
    ties = separated.tie_order[1:] < separated.tie_order[0]
    assert separated.rank(np.array([0.0, 1e4])) == 1 + ties.sum()


# --- exactness ---


def rank_distribution(model, X, candidate, m):
    """Add up the probability of every rank over all observed and fresh label vectors.

    All tie orders are equally likely: the rank is uniform between that with all ties for the
    candidate and that with all ties against it. Uniform numbers on either side of (1 + f) / 2 draw
    each combination of labels.
    """
    n = len(X)
    vectors = np.array(list(product([-1.0, 1.0], repeat=n)))
    if callable(candidate):
        f = candidate(X)
    else:
        f = region_of(model, X, vectors[1]).objective.fitted(candidate[None])[0]
    plus = (1 + f) / 2
    chance = np.where(vectors > 0, plus, 1 - plus).prod(axis=1)
    uniforms = np.where(vectors > 0, plus / 2, (1 + plus) / 2)
    total = np.zeros(m)
    for y, p in zip(vectors, chance, strict=True):
        for drawn in map(list, product(range(len(vectors)), repeat=m - 1)):
            share = p * chance[drawn].prod()
            if share:
                options = {"noise": ChosenLabels(uniforms[drawn]), "m": m, "classes": (-1, 1)}
                low, high = rank_bounds(partial(region_of, model, X, y, **options), candidate)
                total[low - 1 : high] += share / (high - low + 1)
    return total


EXHAUSTIVE = [("ridge classifier", 3, 2), ("rbf LSSVC", 3, 2), ("logistic, l1", 3, 2)]
EXHAUSTIVE += [("linear LSSVC", 2, 3), ("logistic", 2, 3), ("logistic, no penalty", 2, 3)]


@pytest.mark.slow_but_first
@pytest.mark.parametrize(("name", "n", "m"), EXHAUSTIVE)
def test_every_rank_has_probability_one_over_m(name, n, m):
    rng = np.random.default_rng(n + m)
    X, model = rng.normal(size=(n, 2)), MODELS[name]
    d = region_of(model, X, np.arange(n) % 2).objective.d
    a = rng.uniform(-0.3, 0.3, size=d)
    a[1] = 0.0  # where an l1 penalty has a kink
    np.testing.assert_allclose(rank_distribution(model, X, a, m), 1 / m, rtol=0, atol=1e-12)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", ["ridge classifier", "rbf LSSVC", "logistic", "logistic, l1"])
def test_ranks_are_uniform_where_labels_are_certain_or_tie(name):
    """Certain labels have infinite log-odds; of equal inputs only the number of labels counts."""
    X = np.random.default_rng(0).normal(size=(3, 2))
    for inputs, f in ((X, [1.0, 0.3, -0.6]), (np.ones((3, 1)), [0.1, 0.1, 0.1])):
        total = rank_distribution(MODELS[name], inputs, lambda X, f=f: np.array(f), 2)
        np.testing.assert_allclose(total, 1 / 2, rtol=0, atol=1e-12)


COVERAGE = {
    "ridge classifier, coefficients": (
        RidgeClassifier(alpha=0.5),
        lambda X: 0.2 + 0.6 * X[:, 0],
        np.array([0.2, 0.6]),
    ),
    "rbf LSSVC, callable": (
        ua.LSSVC(C=0.5, kernel="rbf", gamma=2.0),
        lambda X: 0.8 * np.sin(3 * X[:, 0]),
        lambda X: 0.8 * np.sin(3 * X[:, 0]),
    ),
    "logistic with l1, a coefficient of zero": (
        LogisticRegression(C=0.3, **L1),
        lambda X: np.full(len(X), np.tanh(0.25)),
        np.array([0.5, 0.0]),
    ),
    "logistic behind a kernel map, callable": (
        make_pipeline(Nystroem(gamma=2.0, n_components=8), LogisticRegression()),
        lambda X: 0.8 * np.sin(3 * X[:, 0]),
        lambda X: 0.8 * np.sin(3 * X[:, 0]),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", COVERAGE)
def test_coverage_is_the_level(case):
    model, mean, candidate = COVERAGE[case]
    inside, wrong = np.zeros(M, dtype=int), 0
    for seed in range(RUNS):
        rng = np.random.default_rng([seed, 77])
        X = rng.uniform(-1, 1, size=(40, 1))
        y = np.where(rng.uniform(size=40) < (1 + mean(X)) / 2, "yes", "no")
        region = region_of(model, X, y, m=M, random_state=seed)
        inside[region.rank(candidate) - 1 :] += 1
        wrong += region.contains(lambda X: -mean(X), level=0.5)
    levels = np.arange(1, M) / M
    assert (inside[:-1] >= binom.ppf(5e-7, RUNS, levels)).all(), inside
    assert (inside[:-1] <= binom.isf(5e-7, RUNS, levels)).all(), inside
    assert wrong < 0.4 * RUNS


# --- bounds ---


@pytest.mark.slow_but_first
@pytest.mark.parametrize("model", [RidgeClassifier(), ua.LSSVC(C=0.5)], ids=repr)
def test_bounds_agree_with_a_dense_grid(model):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(40, 1))
    y = np.where(rng.uniform(size=40) < (1.1 + 0.6 * X[:, 0]) / 2, 1, -1)
    region, Z = region_of(model, X, y, m=40), np.array([[-1.0], [0.2], [0.9]])
    band = region.band(Z, 0.9, inner=True, method="joint")
    assert band.status is Status.CERTIFIED
    interval = region.interval(level=0.9, simultaneous=True, method="joint")
    axes = [np.linspace(*ends, 100) for ends in zip(interval.lower, interval.upper, strict=True)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    members = grid[region.contains(grid, 0.9)]
    values = np.clip(members @ region.objective.design.rows(Z).T, -1, 1)
    near = 0.04 * (band.upper - band.lower)  # the gap of the search, and the step of the grid
    assert (values.max(axis=0) <= band.upper).all()
    assert (values.min(axis=0) >= band.lower).all()
    assert (values.max(axis=0) >= band.upper - near).all()
    assert (values.min(axis=0) <= band.lower + near).all()
    assert (band.inner_upper >= band.upper - near).all()


def test_what_labels_do_not_determine_is_trivial_or_infinite():
    """|f| <= 1 holds at the inputs; a bias beside a kernel leaves the rest open."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(30, 1))
    y = np.where(rng.uniform(size=30) < (1 + 0.7 * x[:, 0]) / 2, 1, -1)
    twice = region_of(RidgeClassifier(), np.hstack([x, x]), y, m=20)
    joint = {"simultaneous": True, "method": "joint"}
    interval = twice.interval([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0]], **joint)
    assert (interval.lower[0], interval.upper[0]) == (-np.inf, np.inf)
    assert np.isfinite([interval.lower[1], interval.upper[1]]).all()
    kernel = region_of(ua.LSSVC(C=0.4, kernel="rbf", gamma=0.7), x, y, m=20)
    for region in (kernel, region_of(LogisticRegression(), x, y, m=20)):
        band = region.band([[0.33]], method="joint")
        assert (band.lower[0], band.upper[0], band.status) == (-1, 1, Status.TRIVIAL)
    at_inputs = kernel.band(x, norm_bound=100.0, method="joint")
    assert np.abs([at_inputs.lower, at_inputs.upper]).max() <= 1 + 1e-9
    bare = region_of(LogisticRegression(fit_intercept=False), x, y, m=20)
    band = bare.band([[0.5]], norm_bound=3.0, method="joint")
    assert band.upper[0] == pytest.approx(np.tanh(3 * 0.5 / 2))

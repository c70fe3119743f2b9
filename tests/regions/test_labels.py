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


def constant(value):
    return lambda X: np.full(len(X), value)


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


def test_the_second_class_is_that_of_scikit_learn_unless_classes_are_named():
    X, y = problem()
    labels = np.where(y > 0, "bad", "good")  # now -1 comes second
    model = RidgeClassifier(alpha=0.5)
    fitted, region = model.fit(X, labels), region_of(model, X, labels)
    np.testing.assert_array_equal(region.objective.y == 1, labels == fitted.classes_[1])
    np.testing.assert_allclose(region.estimate[1:], np.ravel(fitted.coef_), rtol=1e-8)
    turned = region_of(model, X, labels, classes=("good", "bad"))
    np.testing.assert_allclose(turned.estimate, -region.estimate, rtol=1e-12)
    assert turned.problem.classes.tolist() == ["good", "bad"]
    a = -np.concatenate([np.ravel(fitted.intercept_), np.ravel(fitted.coef_)])
    np.testing.assert_array_equal(turned.statistics(fitted), turned.statistics(a))


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


def test_other_labels_of_one_class_have_to_be_named():
    X = problem(16)[0]
    for y in (["a"] * 16, [2] * 16, [0.5] * 16):
        with pytest.raises(ValueError, match=r"given 1: .*Name both with classes="):
            region_of(RidgeClassifier(), X, y)
        named = region_of(RidgeClassifier(), X, y, classes=("other", y[0]))
        assert named.problem.classes.tolist() == ["other", y[0]]


# --- candidates ---


def test_fresh_labels_are_drawn_from_the_candidate():
    X, y = problem()
    region = region_of(RidgeClassifier(), X, y, m=2000)
    f = truth(X)
    fresh = region.perturbations.apply(y - f, f) + f
    np.testing.assert_allclose(abs(fresh), 1.0, rtol=1e-12)
    plus = (fresh > 0).sum(axis=0)
    assert (plus >= binom.ppf(5e-7, 1999, (1 + f) / 2)).all()
    assert (plus <= binom.isf(5e-7, 1999, (1 + f) / 2)).all()


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


class Probabilities:
    """A classifier that knows nothing of scikit-learn."""

    classes_ = ("no", "yes")

    def predict_proba(self, X):
        p = (1 + truth(X)) / 2
        return np.column_stack([1 - p, p])


def test_classifiers_are_their_probabilities():
    X, y = problem()
    labels = np.where(y > 0, "yes", "no")
    region, logistic = region_of(RidgeClassifier(), X, labels), LogisticRegression().fit(X, labels)

    def mean(inputs):
        return 2 * logistic.predict_proba(inputs)[:, 1] - 1

    np.testing.assert_allclose(region.statistics(logistic), region.statistics(mean), rtol=1e-9)
    assert "p-value is not a valid test" in region.test(logistic).caveat
    assert region.rank(Probabilities()) == region.rank(truth)
    assert region.rank([Probabilities(), truth]).tolist() == [region.rank(truth)] * 2
    for codes in (np.arange(len(y)) % 3, np.where(y > 0, "a", "b")):
        with pytest.raises(ValueError, match=r"class"):
            region.rank(LogisticRegression().fit(X, codes))


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ridge classifier", "rbf LSSVC"])
def test_data_sets_of_one_class_belong_to_the_coverage_of_all(name):
    """More than a third of the data sets have one class; to refuse them takes coverage away."""
    runs, n, chance, m = 300, 20, 0.95, 20
    inside, counted = np.zeros((2, m - 1), dtype=int), np.zeros(2, dtype=int)
    for seed in range(runs):
        rng = np.random.default_rng([seed, 15])
        X, y = rng.normal(size=(n, 2)), np.where(rng.uniform(size=n) < chance, 1, -1)
        region = region_of(MODELS[name], X, y, m=m, random_state=seed)
        which = np.array([True, len(set(y.tolist())) == 2])
        counted += which
        inside[which, region.rank(constant(2 * chance - 1)) - 1 :] += 1
    levels = np.arange(1, m) / m
    low, high = binom.ppf(5e-7, runs, levels), binom.isf(5e-7, runs, levels)
    assert ((low <= inside[0]) & (inside[0] <= high)).all(), inside[0]
    assert inside[1][m // 2 - 1] / counted[1] < 0.4  # of those of two classes alone, at level 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The published region of LS-SVC")
def test_the_published_region_misses_the_classifier_with_symmetric_slacks():
    """Given the labels the slacks of w = (2, 2) are symmetric; given the inputs they are not."""
    inside = 0
    for seed in range(60):
        X, y = ua.datasets.two_classes(n=100, random_state=seed)
        region = region_of(ua.LSSVC(C=0.1), X, y, noise="symmetric", random_state=seed)
        inside += region.contains(np.array([0.0, 2.0, 2.0]), level=0.8)
    assert inside == 0
    with pytest.raises(ValueError, match=r"^noise does not fit logistic regression"):
        region_of(LogisticRegression(), X, y, noise="symmetric")


# --- regions of one class ---

ONE = {name: MODELS[name] for name in ("ridge classifier", "linear LSSVC", "rbf LSSVC", "logistic")}


def of_one_class(name, label=1, **options):
    return region_of(ONE[name], problem(20)[0][:, :1], np.full(20, label), **options)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("label", [-1, 1])
def test_members_are_functions_that_often_give_one_class(name, label):
    region = of_one_class(name, label)
    assert region.contains(constant(0.95 * label), level=0.9)
    assert not region.contains(constant(0.0), level=0.9)
    assert not region.contains(constant(-0.95 * label), level=0.9)


@pytest.mark.parametrize("name", [name for name in ONE if name != "logistic"])
def test_the_estimate_is_certain_of_every_label_so_that_its_rank_is_that_of_ties(name):
    """All fresh labels are the observed ones, whatever the rounding of the estimate."""
    for seed in range(3):
        region = of_one_class(name, -1, random_state=seed)
        f = region.objective.fitted(region.estimate[None])[0]
        np.testing.assert_allclose(f, -1, rtol=0, atol=1e-14)
        before = (region.tie_order[1:] < region.tie_order[0]).sum()
        assert region.rank(region.estimate) == region.rank(constant(-1.0)) == 1 + before
        members = region.sample(4, random_state=0, level=0.9)
        assert region.contains(members, level=0.9).all()
        spread = np.abs(region.objective.fitted(members)).min(axis=1) < 1 - 0.1 / 20
        assert spread.mean() >= 0.5  # f = -1 is a corner, which almost every line leaves


NEEDS = {
    "estimate": lambda region: region.estimate,
    "band": lambda region: region.band([[0.0]], method="joint", level=0.9),
    "reach": lambda region: region.reach("x0", level=0.9),
    "sample": lambda region: region.sample(2, level=0.9),
    "diagnosis": lambda region: region.diagnose(),
}


@pytest.mark.parametrize("what", NEEDS)
def test_logistic_regression_of_one_class_has_tests_but_no_estimate(what):
    region, origin = of_one_class("logistic"), np.array([3.0, 0.0])
    with pytest.raises(ua.NotAvailable, match=r"^the estimate of logistic regression needs labels"):
        NEEDS[what](region)
    assert region.contains(origin, level=0.9)
    assert region.test(origin).caveat == ""
    assert region.crossings("intercept", origin=origin, level=0.9)[-1, 1] == np.inf


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

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

RUNS, M = 140, 10  # a rank that is missing at either end is outside the 1e-6 band
SLOW = pytest.mark.slow
# scikit-learn 1.8 replaced penalty="l1" by l1_ratio=1.
OLD = LogisticRegression().get_params().get("penalty") == "l2"
L1 = {"penalty": "l1"} if OLD else {"l1_ratio": 1}

SQUARES = {
    "ridge classifier": RidgeClassifier(alpha=0.5),
    "linear LSSVC": ua.LSSVC(C=0.4),
    "rbf LSSVC": ua.LSSVC(C=0.4, kernel="rbf", gamma=0.7),
    "LSSVC without bias": ua.LSSVC(C=0.4, kernel="rbf", gamma=0.7, fit_intercept=False),
}
LOGISTIC = {
    "logistic": LogisticRegression(C=0.8),
    "logistic, l1": LogisticRegression(C=0.8, **L1),
    "logistic, no penalty": LogisticRegression(C=np.inf),
}
MODELS = SQUARES | LOGISTIC


def problem(n=24, seed=0):
    """Draw labels with E[y | x] = 0.1 + 0.5 tanh(x_1) - 0.3 tanh(x_2)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(rng.uniform(size=n) < (1 + truth(X)) / 2, 1, -1)


def truth(X):
    return 0.1 + 0.5 * np.tanh(X[:, 0]) - 0.3 * np.tanh(X[:, 1])


def region_of(model, X, y, **options):
    return ua.confidence_region(model, X, y, **{"m": 100, "random_state": 0, **options})


# --- labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "coding",
    [
        lambda y: np.where(y > 0, "yes", "no"),
        lambda y: np.where(y > 0, "yes", "no").tolist(),
        lambda y: np.where(y > 0, 1, 0),
        lambda y: np.where(y > 0, 5.5, -3.0),
        lambda y: y > 0,
        lambda y: pd.Series(np.where(y > 0, "yes", "no"), dtype="object"),
        lambda y: pd.Series(np.where(y > 0, "yes", "no")).astype("category"),
    ],
    ids=["text", "list of text", "zero and one", "numbers", "booleans", "Series", "categories"],
)
def test_labels_of_any_kind_are_coded_with_the_second_class_as_plus_one(name, coding):
    X, y = problem()
    plain, coded = region_of(MODELS[name], X, y), region_of(MODELS[name], X, coding(y))
    np.testing.assert_array_equal(coded.objective.y, y)
    np.testing.assert_array_equal(coded.estimate, plain.estimate)
    assert coded.rank(truth) == plain.rank(truth)


def test_the_second_class_is_that_of_scikit_learn():
    X, y = problem()
    labels = np.where(y > 0, "bad", "good")  # now -1 comes second
    fitted = RidgeClassifier(alpha=0.5).fit(X, labels)
    region = region_of(RidgeClassifier(alpha=0.5), X, labels)
    np.testing.assert_array_equal(region.objective.y == 1, labels == fitted.classes_[1])
    np.testing.assert_allclose(region.estimate[1:], np.ravel(fitted.coef_), rtol=1e-8)


# --- candidates -----------------------------------------------------------------------------------


def test_fresh_labels_are_drawn_from_the_candidate():
    X, y = problem()
    region = region_of(RidgeClassifier(), X, y, m=2000)
    f = truth(X)
    fresh = region.perturbations.apply(y - f, f) + f
    np.testing.assert_allclose(abs(fresh), 1.0, rtol=1e-12)
    plus = (fresh > 0).sum(axis=0)
    assert (plus >= binom.ppf(5e-7, 1999, (1 + f) / 2)).all()
    assert (plus <= binom.isf(5e-7, 1999, (1 + f) / 2)).all()


@pytest.mark.parametrize("name", SQUARES)
def test_a_callable_is_ranked_by_the_formula(name):
    """Z = sᵀ H⁺ s with s = Φᵀ(y - f) / n - λ P a and the coefficients a closest to f."""
    X, y = problem()
    region = region_of(MODELS[name], X, y)
    design, f = region.objective.design, truth(X)
    Phi, lam = design.matrix, region.objective.lam
    P = region.objective.penalty.P / region.objective.penalty.alpha
    a = np.linalg.lstsq(Phi, f, rcond=1e-13)[0]
    rows = np.vstack([y - f, region.perturbations.apply(y - f, f)])
    s = rows @ Phi / len(y) - lam * P @ a
    inverse = np.linalg.pinv(Phi.T @ Phi / len(y) + lam * P, rcond=1e-13, hermitian=True)
    Z = np.einsum("ij,ij->i", s @ inverse, s)
    np.testing.assert_allclose(region.statistics(truth), Z, rtol=1e-5)
    assert region.rank(truth) == 1 + (Z[1:] < Z[0]).sum()


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
    levels = [q / 20 for q in range(1, 20)]
    assert region.contains(overshooting, level=levels) == dict.fromkeys(levels, False)


def test_coefficients_that_leave_the_unit_interval_are_in_no_region():
    X, _ = problem()
    region = region_of(RidgeClassifier(), X, np.sign(X[:, 0]))
    steps = np.linspace(0.3, 1, 60)[:, None] * region.estimate
    outside = abs(steps[:, 0] + X @ steps[:, 1:].T).max(axis=0) > 1
    ranks, Z = region.rank(steps), region.statistics(steps)
    assert 0 < outside.sum() < 60
    assert (Z[outside, 1:] > Z[outside, :1]).any()  # statistics do not put all of them last
    assert (ranks[outside] == 100).all()
    assert (ranks[~outside] < 100).any()


def test_the_bounds_of_the_unit_interval_belong_to_it():
    X, y = problem()
    X = np.sign(X)
    y = np.sign(X[:, 0])
    region = region_of(RidgeClassifier(alpha=0.1), X, y)
    certain = np.array([0.0, 1.0, 0.0])  # f = ±1, and right each time
    r = region.objective.residuals(certain[None])
    assert region.noise.admits(r, region.objective.y - r)
    statistics = region.statistics(certain)
    np.testing.assert_allclose(statistics, statistics[0], rtol=1e-12)  # every label is certain
    favoured = region_of(RidgeClassifier(alpha=0.1), X, y, ties="conservative")
    assert favoured.rank(certain) == 1
    assert favoured.rank(certain * (1 + 1e-9)) == 100


def test_a_fitted_logistic_regression_is_its_probabilities():
    X, y = problem()
    labels = np.where(y > 0, "yes", "no")
    region, logistic = region_of(RidgeClassifier(), X, labels), LogisticRegression().fit(X, labels)

    def mean(inputs):
        odds = np.exp(logistic.intercept_ + inputs @ logistic.coef_[0])
        return (odds - 1) / (odds + 1)

    np.testing.assert_allclose(region.statistics(logistic), region.statistics(mean), rtol=1e-9)
    assert region.rank(logistic) == region.rank(mean)
    assert "p-value is not a valid test" in region.test(logistic).caveat


def test_a_classifier_of_three_classes_is_no_candidate():
    X, y = problem()
    three = LogisticRegression().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match=r"class"):
        region_of(RidgeClassifier(), X, y).rank(three)


# --- exactness ------------------------------------------------------------------------------------


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


EXHAUSTIVE = [
    ("ridge classifier", 3, 2),
    ("rbf LSSVC", 3, 2),
    ("logistic", 3, 2),
    ("logistic, l1", 3, 2),
    *(
        pytest.param(*case, marks=SLOW)
        for case in [
            ("linear LSSVC", 2, 3),
            ("LSSVC without bias", 2, 3),
            ("logistic", 2, 3),
            ("logistic, no penalty", 2, 3),
        ]
    ),
]


@pytest.mark.slow_but_first
@pytest.mark.parametrize(("name", "n", "m"), EXHAUSTIVE)
def test_every_rank_has_probability_one_over_m(name, n, m):
    rng = np.random.default_rng(n + m)
    X, model = rng.normal(size=(n, 2)), MODELS[name]
    d = region_of(model, X, np.arange(n) % 2).objective.d
    a = rng.uniform(-0.3, 0.3, size=d)
    a[1] = 0.0  # where an l1 penalty has a kink
    np.testing.assert_allclose(rank_distribution(model, X, a, m), 1 / m, rtol=0, atol=1e-12)


def partly_certain(X):
    """Certain labels have infinite log-odds."""
    return np.array([1.0, 0.3, -0.6])


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", ["ridge classifier", "logistic", "logistic, l1"])
def test_ranks_are_uniform_where_some_labels_are_certain(name):
    X = np.random.default_rng(0).normal(size=(3, 2))
    total = rank_distribution(MODELS[name], X, partly_certain, 2)
    np.testing.assert_allclose(total, 1 / 2, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["ridge classifier", "rbf LSSVC", "logistic"])
def test_ranks_are_uniform_where_many_label_vectors_tie(name):
    """Equal inputs: a statistic sees only how many labels are +1."""
    X, model = np.ones((3, 1)), MODELS[name]
    d = region_of(model, X, np.array([-1, 1, 1])).objective.d
    np.testing.assert_allclose(
        rank_distribution(model, X, np.full(d, 0.05), 2), 1 / 2, rtol=0, atol=1e-12
    )


def coverage(model, mean, candidate, runs=RUNS, n=40, m=M):
    """Count how often the region of each level holds the regression function of the labels."""
    inside = np.zeros(m, dtype=int)
    for seed in range(runs):
        rng = np.random.default_rng([seed, 77])
        X = rng.uniform(-1, 1, size=(n, 1))
        y = np.where(rng.uniform(size=n) < (1 + mean(X)) / 2, "yes", "no")
        region = region_of(model, X, y, m=m, random_state=seed)
        inside[region.rank(candidate) - 1 :] += 1
    return inside[:-1]


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
    "logistic, coefficients": (
        LogisticRegression(C=2.0),
        lambda X: np.tanh(0.3 + X[:, 0]),
        np.array([0.6, 2.0]),
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
    counts = coverage(*COVERAGE[case])
    levels = np.arange(1, M) / M
    assert (counts >= binom.ppf(5e-7, RUNS, levels)).all(), counts
    assert (counts <= binom.isf(5e-7, RUNS, levels)).all(), counts


def test_a_wrong_regression_function_is_rejected():
    """The power that goes with the coverage."""
    model, mean, _ = COVERAGE["ridge classifier, coefficients"]
    counts = coverage(model, mean, np.array([0.2, -0.6]), runs=100, m=100)
    assert counts[8] < 25  # level 0.9


FLIPPED = {
    "rbf LSSVC": ua.LSSVC(C=5.0, kernel="rbf", gamma=1.0),
    "logistic behind a kernel map": make_pipeline(
        Nystroem(gamma=1.0, n_components=10), LogisticRegression(C=10.0)
    ),
}


def clusters(rng, n=12):
    """Draw three clusters in the plane, one of them with its labels flipped afterwards."""
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    X = np.repeat(centres, n, axis=0) + 0.3 * rng.normal(size=(3 * n, 2))
    y = np.where(rng.uniform(size=3 * n) < (1 + by_cluster(X)) / 2, 1, -1)
    return X, np.where(np.arange(3 * n) < n, -y, y)


def by_cluster(X):
    return np.where(X[:, 0] > 2, 0.6, np.where(X[:, 1] > 2, -0.6, 0.7))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", FLIPPED)
def test_labels_flipped_in_one_cluster_are_detected(name):
    detected = 0
    for seed in range(50):
        X, y = clusters(np.random.default_rng([seed, 5]))
        region = region_of(FLIPPED[name], X, y, m=40, random_state=seed)
        detected += not region.contains(by_cluster, level=0.95)
    assert detected >= 45


# --- the published region -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The published region of LS-SVC")
def test_the_published_region_misses_the_classifier_with_symmetric_slacks():
    """Given the labels the slacks of w = (2, 2) are symmetric; given the inputs they are not.

    An exact region of level 0.8 would hold it in 59 to 97 of 100 runs.
    """
    inside = 0
    for seed in range(100):
        X, y = ua.datasets.two_classes(n=100, random_state=seed)
        region = region_of(ua.LSSVC(C=0.1), X, y, noise="symmetric", random_state=seed)
        inside += region.contains(np.array([0.0, 2.0, 2.0]), level=0.8)
    assert inside == 0

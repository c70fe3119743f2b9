"""ConfidenceClassifier: the predictions of the estimator, the labels that its region leaves."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import unassuming as ua
from conventions import follows

RNG = np.random.default_rng(0)
N = 120
X = RNG.uniform(-1, 1, size=(N, 1))
TRUTH = 0.1 + 0.8 * X[:, 0]
Y = np.where(RNG.uniform(size=N) < (1 + TRUTH) / 2, "yes", "no")
NEW = np.array([[-0.95], [-0.1], [0.95]])

MODELS = [
    RidgeClassifier(0.5),
    ua.LSSVC(C=0.5),
    ua.LSSVC(C=0.5, kernel="rbf"),
    LogisticRegression(),
    make_pipeline(StandardScaler(), RidgeClassifier()),
]
names = pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model).split("(")[0])


@pytest.fixture(scope="module")
def fitted():
    return ua.ConfidenceClassifier(RidgeClassifier(0.5), level=0.9, m=20, random_state=0).fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([ua.ConfidenceClassifier(m=100)])
def test_scikit_learn_conventions(estimator, check):
    follows(estimator, check)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [ua.ConfidenceClassifier(model, m=100) for model in (ua.LSSVC(), LogisticRegression())]
)
def test_scikit_learn_conventions_with_other_models(estimator, check):
    follows(estimator, check)


@names
def test_predictions_are_those_of_the_plain_estimator(model):
    ours, plain = (
        ua.ConfidenceClassifier(model, random_state=0, m=100).fit(X, Y),
        clone(model).fit(X, Y),
    )
    np.testing.assert_array_equal(ours.predict(NEW), plain.predict(NEW))
    np.testing.assert_array_equal(ours.classes_, ["no", "yes"])
    np.testing.assert_allclose(ours.decision_function(NEW), plain.decision_function(NEW))
    assert ours.score(X, Y) == plain.score(X, Y)


def test_probabilities_are_there_if_the_estimator_has_them():
    logistic = LogisticRegression()
    ours = ua.ConfidenceClassifier(logistic, random_state=0, m=100)
    assert hasattr(ours, "predict_proba")
    expected = clone(logistic).fit(X, Y).predict_proba(NEW)
    np.testing.assert_array_equal(ours.fit(X, Y).predict_proba(NEW), expected)
    assert not hasattr(ua.ConfidenceClassifier(m=100), "predict_proba")
    assert not hasattr(ua.ConfidenceClassifier(RidgeClassifier(), m=100).fit(X, Y), "predict_proba")


@pytest.mark.slow
def test_the_band_is_that_of_the_region_cut_to_the_unit_interval(fitted):
    inputs = np.array([[-3.0], [0.0], [3.0]])
    band, ours = fitted.region_.band(inputs, method="joint", level=0.9), fitted.predict_band(inputs)
    np.testing.assert_array_equal(ours, np.column_stack([band.lower, band.upper]))
    assert band.upper[2] == 1
    assert (np.abs(ours) <= 1).all()
    assert "honest outer bound" in fitted.band_status_


@pytest.mark.slow
def test_a_label_is_dropped_only_by_an_outer_bound(fitted):
    inputs = np.linspace(-1, 1, 41)[:, None]
    band, kept = fitted.predict_band(inputs), fitted.predict_set(inputs)
    np.testing.assert_array_equal(kept[:, 0], ~(band[:, 0] > 0))
    np.testing.assert_array_equal(kept[:, 1], ~(band[:, 1] < 0))
    a = fitted.region_.sample(200, level=0.9, random_state=0)
    values = a @ np.column_stack([np.ones(41), inputs]).T
    assert kept[(values > 0).any(axis=0), 1].all()
    assert kept[(values < 0).any(axis=0), 0].all()
    assert {1, 2} == set(kept.sum(axis=1))


@pytest.mark.slow
def test_the_inner_set_is_a_subset_and_close(fitted):
    inputs = np.linspace(-1, 1, 41)[:, None]
    outer, inner = fitted.predict_set(inputs), fitted.predict_set(inputs, kind="inner")
    assert (inner <= outer).all()
    assert inner.any(axis=1).all()
    assert 0 <= outer.sum() - inner.sum() <= 6


@pytest.mark.slow
def test_several_levels_give_a_mapping_of_growing_sets(fitted):
    sets = fitted.predict_set(NEW, level=[0.5, 0.95])
    assert (sets[0.5] <= sets[0.95]).all()
    np.testing.assert_array_equal(sets[0.5], fitted.predict_set(NEW, level=0.5))
    bands = fitted.predict_band(NEW, level=[0.5, 0.95])
    assert (bands[0.95][:, 0] < bands[0.5][:, 0]).all()
    inner = fitted.predict_set(NEW, level=[0.5, 0.95], kind="inner")
    assert (inner[0.5] <= sets[0.5]).all()


def test_nothing_is_dropped_where_nothing_is_certified():
    ours = ua.ConfidenceClassifier(LogisticRegression(), random_state=0, m=100).fit(X, Y)
    np.testing.assert_array_equal(ours.predict_band(NEW), [[-1, 1]] * 3)
    with pytest.warns(UserWarning, match="every set holds both labels") as caught:
        assert ours.predict_set(NEW).all()
    assert caught[0].filename == __file__
    assert ours.predict_set(NEW[:1], [0.5, 0.9])[0.5].all()  # it warns once
    assert ours.band_status_[0.9].startswith("nothing is known beyond [-1, 1]")
    with pytest.warns(UserWarning, match="every set holds both labels"):
        ours.fit(X, Y).predict_set(NEW)


def test_an_empty_region_leaves_no_label():
    ours = ua.ConfidenceClassifier(RidgeClassifier(), level=0.5, random_state=0, m=100)
    ours.fit(np.linspace(-1, 1, 200)[:, None], np.arange(200) >= 100)
    assert not ours.predict_set(NEW).any()
    assert not ours.predict_set(NEW, kind="inner").any()
    np.testing.assert_array_equal(ours.predict_band(NEW), [[np.nan, np.nan]] * 3)
    assert "too small for the data" in ours.band_status_


@pytest.mark.slow
@pytest.mark.parametrize(
    "coding",
    [lambda y: y == "yes", lambda y: np.where(y == "yes", 7, 3), pd.Series],
    ids=["booleans", "integers", "series"],
)
def test_any_two_labels_give_the_same_sets(coding):
    few, names = X[:60], Y[:60]
    model = ua.ConfidenceClassifier(RidgeClassifier(0.5), m=20, random_state=0).fit(few, names)
    sets, band = model.predict_set(NEW), model.predict_band(NEW)
    model.fit(few, coding(names))
    np.testing.assert_array_equal(model.predict_set(NEW), sets)
    np.testing.assert_array_equal(model.predict_band(NEW), band)


@pytest.mark.slow
def test_clone_and_pickle_keep_everything(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_band(NEW), fitted.predict_band(NEW))
    copy = clone(fitted)
    with pytest.raises(NotFittedError):
        copy.predict_set(NEW)
    np.testing.assert_array_equal(copy.fit(X, Y).predict_set(NEW), fitted.predict_set(NEW))


def test_it_may_end_a_pipeline_and_be_cross_validated():
    outer = make_pipeline(StandardScaler(), ua.ConfidenceClassifier(random_state=0, m=100))
    plain = make_pipeline(StandardScaler(), RidgeClassifier())
    np.testing.assert_array_equal(cross_val_score(outer, X, Y), cross_val_score(plain, X, Y))


@pytest.mark.parametrize(
    ("options", "y", "error", "message"),
    [
        ({"estimator": Ridge()}, Y, TypeError, r"is not a classifier.*ua\.ConfidenceRegressor"),
        ({"level": 0.995, "m": 100}, Y, ValueError, "level is too high"),
        ({}, np.arange(N) % 3, ValueError, "Only binary .* given 3 classes"),
        ({}, np.full(N, "a"), ValueError, "does not hold two classes.*classes="),
        ({}, TRUTH, ValueError, "Unknown label type"),
    ],
    ids=["regressor", "level", "three classes", "one class", "numbers"],
)
def test_errors_come_at_fit(options, y, error, message):
    with pytest.raises(error, match=message):
        ua.ConfidenceClassifier(**options).fit(X, y)


def test_an_unknown_kind_of_set_is_refused(fitted):
    with pytest.raises(ValueError, match=r"kind is unknown.*'outer' or 'inner'"):
        fitted.predict_set(NEW, kind="best")


def breast_cancer(columns, seed, n):
    """Return inputs and labels of n rows, and 40 others held out."""
    features, benign = load_breast_cancer(return_X_y=True)
    features = StandardScaler().fit_transform(features[:, columns])
    order = np.random.default_rng(seed).permutation(len(benign))
    held_out, rows = order[:20], order[100 : 100 + n]
    return features[rows], benign[rows], features[held_out], benign[held_out]


def test_a_linear_mean_is_refuted_by_classes_that_are_well_separated():
    """Radius and texture of breast cancer: no line within [-1, 1] agrees with the labels."""
    inputs, labels, others, _ = breast_cancer([0, 1], 0, 300)
    model = ua.ConfidenceClassifier(m=20, random_state=0).fit(inputs, labels)
    assert not model.predict_set(others[:2]).any()
    assert "too small for the data" in model.band_status_


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "predict_band", "predict_set"]
)
def test_a_model_that_overwrites_its_inputs_leaves_those_of_the_caller(method):
    X, y, _ = ua.datasets.labels(n=60, random_state=0)
    inner = make_pipeline(StandardScaler(copy=False), LogisticRegression())
    model = ua.ConfidenceClassifier(inner, random_state=0, m=100).fit(X.copy(), y)
    given = X.copy()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "every set holds both labels")
        getattr(model, method)(given)
    np.testing.assert_array_equal(given, X)

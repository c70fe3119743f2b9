"""ConfidenceClassifier: the predictions of the estimator, the labels that its region leaves."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
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


def test_an_empty_region_leaves_no_label():
    ours = ua.ConfidenceClassifier(RidgeClassifier(), level=0.5, random_state=0, m=100)
    ours.fit(np.linspace(-1, 1, 200)[:, None], np.arange(200) >= 100)
    assert not ours.predict_set(NEW).any()
    assert not ours.predict_set(NEW, kind="inner").any()
    np.testing.assert_array_equal(ours.predict_band(NEW), [[np.nan, np.nan]] * 3)
    assert "too small for the data" in ours.band_status_


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

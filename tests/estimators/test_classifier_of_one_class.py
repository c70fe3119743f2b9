"""ConfidenceClassifier on labels of one class, which scikit-learn's classifiers refuse."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unassuming as ua

N = 20
X = np.random.default_rng(0).normal(size=(N, 2))
NEW = np.array([[-1.0, 0.5], [0.3, 2.0]])

WITH_BIAS = [
    RidgeClassifier(0.5),
    ua.LSSVC(C=0.5),
    ua.LSSVC(kernel="rbf"),
    make_pipeline(StandardScaler(), RidgeClassifier()),
]
WITHOUT = [
    RidgeClassifier(0.5, fit_intercept=False),
    ua.LSSVC(C=0.5, fit_intercept=False),
    ua.LSSVC(C=0.5, kernel="rbf", fit_intercept=False),
    LogisticRegression(C=0.7, fit_intercept=False),
]


def ours(model, y="yes", weight=None, **options):
    y = np.full(N, y) if isinstance(y, str) else y
    options = {"classes": ("no", "yes"), "m": 20, "random_state": 0, **options}
    return ua.ConfidenceClassifier(model, **options).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("model", WITH_BIAS, ids=repr)
@pytest.mark.parametrize(("label", "sign"), [("no", -1), ("yes", 1)])
def test_predictions_are_the_only_label(model, label, sign):
    fitted = ours(model, label)
    assert fitted.classes_.tolist() == ["no", "yes"]
    assert fitted.predict(NEW).tolist() == [label, label]
    np.testing.assert_allclose(fitted.decision_function(NEW), sign, rtol=1e-12)
    assert fitted.region_.problem.classes.tolist() == ["no", "yes"]
    assert fitted.score(X, np.full(N, label)) == 1
    assert fitted.n_features_in_ == 2


@pytest.mark.parametrize("model", WITHOUT, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_are_those_of_the_minimiser(model, weighted):
    """Scikit-learn reaches it with one more row, of the other class and no weight."""
    w = np.linspace(0, 2, N) if weighted else None
    fitted = ours(model, weight=w)
    values = fitted.region_.objective.design.rows(NEW) @ fitted.region_.estimate
    np.testing.assert_allclose(fitted.decision_function(NEW), values, rtol=1e-8)
    if isinstance(model, ua.LSSVC):
        gram = ua.LSSVC._gram(model, X)
        reference = np.linalg.lstsq(
            np.diag(np.ones(N) if w is None else w) @ gram + np.eye(N) / (2 * model.C),
            np.ones(N) if w is None else w,
            rcond=None,
        )[0]
        expected = ua.LSSVC._gram(model, NEW, X) @ reference
    else:
        more = np.vstack([X, X[:1]]), ["yes"] * N + ["no"]
        weight = np.append(np.ones(N) if w is None else w, 0.0)
        exact = clone(model).set_params(tol=1e-12).fit(*more, sample_weight=weight)
        expected = exact.decision_function(NEW)
    np.testing.assert_allclose(fitted.decision_function(NEW), expected, rtol=1e-5)


def test_logistic_regression_has_nothing_to_predict_from():
    expected = (
        r"^y has one class only, for which LogisticRegression has no fit: expected rows of both"
    )
    with pytest.raises(ValueError, match=expected):
        ours(LogisticRegression())
    with pytest.raises(ValueError, match=expected):
        ours(make_pipeline(StandardScaler(), LogisticRegression()))

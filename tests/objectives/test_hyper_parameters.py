"""Hyper-parameters of estimators in the symbols of the theory."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor, Ridge, RidgeClassifier
from sklearn.svm import SVR
from test_registry import problem, region_of

import unassuming as ua


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_ridge_classifier_is_ridge_on_labels_of_plus_and_minus_one(fit_intercept):
    X, y = problem()
    labels = np.where(y > 0, "b", "a")
    model = RidgeClassifier(3.0, fit_intercept=fit_intercept)
    classifier = region_of(model, X, labels)
    with pytest.warns(UserWarning, match="y has only two values, -1 and 1"):
        ridge = region_of(Ridge(3.0, fit_intercept=fit_intercept), X, np.where(y > 0, 1.0, -1.0))
    np.testing.assert_allclose(classifier.estimate, ridge.estimate, rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [Ridge(-1.0), Ridge(np.inf), Ridge([1.0, 2.0]), Ridge(None), Ridge("auto")],
    ids=repr,
)
def test_a_hyper_parameter_out_of_range_is_named(model):
    with pytest.raises(ValueError, match=r"Ridge's alpha .*expected one finite number >= 0, given"):
        region_of(model, *problem())


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (SVR(C=0), "SVR's C"),
        (SVR(epsilon=-0.1), "SVR's epsilon"),
        (ua.KernelHuber(alpha=0), "KernelHuber's alpha"),
        (ua.KernelHuber(delta=-1), "KernelHuber's delta"),
        (ua.LSSVC(C=0), "LSSVC's C"),
        (HuberRegressor(epsilon=np.nan), "HuberRegressor's epsilon"),
        (HuberRegressor(epsilon=1.0), "HuberRegressor's epsilon"),
    ],
    ids=repr,
)
def test_hyper_parameters_that_leave_no_objective_are_refused(model, name):
    X, y = problem()
    with pytest.raises(ValueError, match=f"{name} is out of range: expected"):
        region_of(model, X, np.sign(y))

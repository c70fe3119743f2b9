"""One region, several shapes: which one it has and why, and what it costs to ask."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.svm import SVR

import unassuming as ua
from unassuming.regions.shapes import LabelShape, PiecewiseShape, QuadraticShape

X, Y, _ = ua.datasets.linear(n=20, d=2, random_state=0)
LABELS = np.where(np.median(Y) < Y, 1, -1)

CASES = {
    "least squares": (LinearRegression(), Y, {}, QuadraticShape, "weighted by its Hessian"),
    "kernel ridge": (KernelRidge(kernel="rbf"), Y, {}, QuadraticShape, "weighted by its Hessian"),
    "identity": (Ridge(), Y, {"weighting": "identity"}, PiecewiseShape, "not weighted by its Hess"),
    "SVR": (SVR(), Y, {}, PiecewiseShape, "gradient of ε-SVR is piecewise linear"),
    "Lasso": (Lasso(0.1), Y, {}, PiecewiseShape, "gradient of the LASSO objective is piecewise"),
    "Huber": (HuberRegressor(), Y, {}, PiecewiseShape, "only membership can be tested for Huber"),
    "labels": (RidgeClassifier(), LABELS, {}, LabelShape, "fresh labels are drawn"),
    "logistic": (LogisticRegression(), LABELS, {}, LabelShape, "fresh labels are drawn"),
}


def build(name, m=20):
    estimator, y, options, _, _ = CASES[name]
    return ua.confidence_region(estimator, X, y, m=m, random_state=0, **options)


def test_the_identity_of_a_region_is_read_only():
    region = build("least squares")
    for name in ("n", "m", "noise", "names", "tie_order", "estimate"):
        with pytest.raises(AttributeError):
            setattr(region, name, 1)

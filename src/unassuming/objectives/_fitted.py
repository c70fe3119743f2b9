"""The values and the coefficients of a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.svm import SVR

from unassuming._typing import Array
from unassuming.models import LSSVC


def fitted_values(estimator: Any, X: Any) -> Array:
    """Return the estimates of E[y | x] by a fitted estimator.

    These are the predictions of a regressor, 2 P(y = 1 | x) - 1 for a classifier with
    probabilities, and the decision function of any other classifier.

    Parameters
    ----------
    estimator : fitted estimator
    X : array or DataFrame

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0]]), np.array([1.0, 3.0])
    >>> fitted_values(LinearRegression().fit(X, y), X).round(6)
    array([1., 3.])
    """
    if hasattr(estimator, "predict_proba"):
        return np.asarray(2 * estimator.predict_proba(X)[:, 1] - 1, dtype=np.float64)
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    return np.asarray(estimator.predict(X), dtype=np.float64)


def fitted_coefficients(estimator: Any, n: int) -> Array | None:
    """Return [intercept, coefficients] of a fitted estimator, or None if it has no such vector.

    The caller must check that they refer to the same inputs.

    Parameters
    ----------
    estimator : fitted estimator
    n : int
        Number of rows that dual coefficients should refer to.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0]]), np.array([1.0, 3.0])
    >>> fitted_coefficients(LinearRegression().fit(X, y), n=2).round(6)
    array([1., 2.])
    """
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(final, LSSVC) and final.kernel == "linear":
        weights = np.asarray(final.X_fit_).T @ np.ravel(final.dual_coef_)
    elif isinstance(final, SVR):
        if (final.support_ >= n).any():
            return None
        weights = np.zeros(n)
        weights[final.support_] = np.ravel(final.dual_coef_)
    elif hasattr(final, "dual_coef_"):
        weights = np.ravel(final.dual_coef_)
    elif hasattr(final, "coef_"):
        weights = np.ravel(final.coef_)
    else:
        return None
    fit_intercept = isinstance(final, SVR) or getattr(final, "fit_intercept", False)
    intercept = np.ravel(final.intercept_) if fit_intercept else np.empty(0)
    return np.concatenate([intercept, weights]).astype(np.float64)

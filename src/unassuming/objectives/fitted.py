"""What a fitted estimator says: its estimates of E[y | x], and its coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from unassuming._typing import Array


def fitted_values(estimator: Any, X: Any) -> Array:
    """Return the estimates of E[y | x] at inputs ``X`` by a fitted ``estimator``.

    These are the predictions of a regressor, 2 P(y = 1 | x) - 1 for a classifier with
    probabilities, and the decision function of any other classifier.

    Examples
    --------
    >>> ua.objectives.fitted_values(LinearRegression().fit([[0], [1]], [1, 3]), [[2]])
    array([5.])
    """
    if hasattr(estimator, "predict_proba"):
        return np.asarray(2 * estimator.predict_proba(X)[:, 1] - 1, dtype=np.float64)
    decides = getattr(estimator, "decision_function", estimator.predict)
    return np.asarray(decides(X), dtype=np.float64)


def fitted_coefficients(estimator: Any, n: int) -> Array | None:
    """Return [intercept, coefficients] of a fitted ``estimator``, or None if it has no such vector.

    Dual coefficients are those of ``n`` rows.

    Examples
    --------
    >>> ua.objectives.fitted_coefficients(LinearRegression().fit([[0], [1]], [1, 3]), 2)
    array([1., 2.])
    """
    final = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    dual = hasattr(final, "dual_coef_")
    weights = final.dual_coef_ if dual else getattr(final, "coef_", None)
    support = getattr(final, "support_", None) if dual else None
    if weights is None or (support is not None and (support >= n).any()):
        return None
    weights = np.ravel(weights)
    if support is not None:  # SVR
        weights = np.bincount(support, weights, minlength=n)
    elif dual and hasattr(final, "fit_intercept") and final.kernel == "linear":
        weights = np.asarray(final.X_fit_).T @ weights  # LSSVC
    shifted = support is not None or getattr(final, "fit_intercept", False)
    intercept = np.ravel(final.intercept_) if shifted else np.empty(0)
    return np.concatenate([intercept, weights]).astype(np.float64)

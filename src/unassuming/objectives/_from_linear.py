"""The objectives of scikit-learn's linear regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge

from unassuming._typing import Array
from unassuming.objectives._huber import HuberObjective
from unassuming.objectives._hyperparameters import common_weight, number, row_weights
from unassuming.objectives._lasso import LassoObjective
from unassuming.objectives._quadratic import Quadratic
from unassuming.objectives._registry import register_objective
from unassuming.objectives.designs import FeatureDesign


def from_linear_regression(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> Quadratic:
    """Build Σ w r².

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> from_linear_regression(LinearRegression(), X, y, None).estimate().round(3)
    array([ 0.45 ,  1.11 , -0.242])
    """
    _refuse_positive(estimator)
    return Quadratic(features(estimator, X), y, row_weights(sample_weight, y), 0.0)


def from_ridge(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> Quadratic:
    """Build Σ w r² + alpha ‖coef‖², divided by n: λ = alpha / n.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> from_ridge(Ridge(alpha=0.5), X, y, None).lam
    0.01
    """
    _refuse_positive(estimator)
    lam = number(estimator, "alpha", zero=True) / len(y)
    return Quadratic(features(estimator, X), y, row_weights(sample_weight, y), lam)


def from_lasso(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> LassoObjective:
    """Build Σ r² / (2n) + alpha ‖coef‖₁; a constant sample weight changes nothing.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> objective = from_lasso(Lasso(alpha=0.5), X, y, None)
    >>> objective.penalty, objective.c
    (array([0. , 0.5, 0.5]), 0.02)
    """
    _refuse_positive(estimator)
    common_weight(sample_weight, "Lasso")
    design = features(estimator, X)
    penalty = number(estimator, "alpha", zero=True) * design.penalised
    return LassoObjective(design, y, 1 / len(y), penalty)


def from_huber_regressor(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> HuberObjective:
    """Build Huber's loss with concomitant scale, divided by n: λ = alpha / n.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> objective = from_huber_regressor(HuberRegressor(epsilon=1.5, alpha=0.5), X, y, None)
    >>> objective.epsilon, objective.lam
    (1.5, 0.01)
    """
    w = np.full(len(y), common_weight(sample_weight, "HuberRegressor"))
    lam = number(estimator, "alpha", zero=True) / len(y)
    epsilon = number(estimator, "epsilon", above=1.0)
    return HuberObjective(features(estimator, X), y, w, lam, epsilon)


def features(estimator: Any, X: Array) -> FeatureDesign:
    """Return the design of a model that is linear in the columns of X."""
    return FeatureDesign(X, intercept=bool(estimator.fit_intercept))


def _refuse_positive(estimator: Any) -> None:
    if getattr(estimator, "positive", False):
        raise ValueError(
            "positive=True is not supported: expected an unconstrained model, given "
            f"{estimator!r}. Set positive=False: the constraint would have to enter the gradient."
        )


register_objective(LinearRegression, from_linear_regression)
register_objective(Ridge, from_ridge)
register_objective(Lasso, from_lasso)
register_objective(HuberRegressor, from_huber_regressor)

"""The objectives of scikit-learn's linear regressors."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNet, HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.svm import LinearSVR

from unassuming._typing import Array
from unassuming.objectives._huber import HuberObjective
from unassuming.objectives._hyperparameters import common_weight, number, row_weights
from unassuming.objectives._quadratic import Quadratic
from unassuming.objectives._registry import register_objective
from unassuming.objectives.designs import FeatureDesign
from unassuming.objectives.kinked import LassoObjective, LinearSVRObjective


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


def from_elastic_net(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> LassoObjective | Quadratic:
    """Build Σ r² / (2n) + alpha (l1_ratio ‖coef‖₁ + (1 - l1_ratio) ‖coef‖²/2).

    A constant sample weight changes nothing. With ``l1_ratio=0`` this is half of the ridge
    objective with λ = alpha, and has its exact bounds.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> objective = from_elastic_net(ElasticNet(alpha=0.5, l1_ratio=0.8), X, y, None)
    >>> objective.penalty, objective.ridge.round(6)
    (array([0. , 0.4, 0.4]), array([0. , 0.1, 0.1]))
    """
    _refuse_positive(estimator)
    common_weight(sample_weight, "ElasticNet")
    alpha = number(estimator, "alpha", zero=True)
    share = number(estimator, "l1_ratio", zero=True, largest=1.0)
    design = features(estimator, X)
    if share == 0:
        return Quadratic(design, y, np.ones(len(y)), alpha)
    penalty, ridge = (part * alpha * design.penalised for part in (share, 1 - share))
    return LassoObjective(design, y, 1 / len(y), penalty, ridge)


def from_linear_svr(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> LinearSVRObjective:
    """Build ½ ‖coef‖² + ½ (intercept / intercept_scaling)² + C Σ max(``|r|`` - epsilon, 0).

    The terms of the sum are squared if ``loss="squared_epsilon_insensitive"``. LIBLINEAR penalises
    the intercept as written here. A constant sample weight multiplies C.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> objective = from_linear_svr(LinearSVR(epsilon=0.1, intercept_scaling=2.0), X, y, None)
    >>> objective.ridge, objective.squared
    (array([0.25, 1.  , 1.  ]), False)
    """
    losses = ("epsilon_insensitive", "squared_epsilon_insensitive")
    if estimator.loss not in losses:
        raise ValueError(
            f"LinearSVR's loss is not known: expected {losses[0]!r} or {losses[1]!r}, given "
            f"{estimator.loss!r}. Set the hyper-parameter before building the region."
        )
    C = number(estimator, "C") * common_weight(sample_weight, "LinearSVR")
    epsilon = number(estimator, "epsilon", zero=True)
    design = features(estimator, X)
    ridge = np.ones(design.matrix.shape[1])
    if design.intercept:
        ridge[0] = number(estimator, "intercept_scaling") ** -2
    return LinearSVRObjective(design, y, C, epsilon, ridge, estimator.loss == losses[1])


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
register_objective(ElasticNet, from_elastic_net)
register_objective(LinearSVR, from_linear_svr)
register_objective(HuberRegressor, from_huber_regressor)

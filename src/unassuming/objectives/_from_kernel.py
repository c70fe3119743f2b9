"""The objectives of kernel models, those of this library included."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

from unassuming._typing import Array
from unassuming.kernels import (
    TrainingKernel,
    gram,
    inner_product_kernel,
    kernel_slope,
    require_symmetric,
    resolve_svr_gamma,
    strictly_positive_definite,
    svr_gram,
)
from unassuming.models import LSSVC, KernelHuber, KernelLasso
from unassuming.objectives._huber import KernelHuberObjective
from unassuming.objectives._hyperparameters import (
    check_kernel_number,
    common_weight,
    number,
    row_weights,
)
from unassuming.objectives._quadratic import Quadratic
from unassuming.objectives._registry import register_objective
from unassuming.objectives.designs import FeatureDesign, KernelDesign, least_penalty
from unassuming.objectives.kinked import LassoObjective, SVRObjective

_SMALLEST = 1e-290


def from_kernel_ridge(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> Quadratic:
    """Build Σ w r² + alpha aᵀKa, divided by n: λ = alpha / n.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> objective = from_kernel_ridge(KernelRidge(kernel="rbf", alpha=0.5), X, y, None)
    >>> objective.d, objective.lam
    (50, 0.01)
    """
    lam = number(estimator, "alpha", zero=True) / len(y)
    design = _kernel_design(estimator, X)
    design.require_positive_semidefinite("KernelRidge")
    require_visible(design, lam)
    return Quadratic(design, y, row_weights(sample_weight, y), lam)


def from_lssvc(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> Quadratic:
    """Build ½‖w‖² + C Σ ξ² as ridge regression on the labels: alpha = 1 / (2C).

    The region is exact for label noise. The published region, which assumes symmetric slacks,
    carries no coverage guarantee: the slacks of labels are not symmetric given the inputs
    (docs/theory.md 8).

    A model with a linear kernel has coefficients [intercept, w] of the features; with any other
    kernel it has dual coefficients.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> from_lssvc(LSSVC(C=2.0), X, np.sign(y), None).names
    ['intercept', 'x0', 'x1']
    """
    lam = 1 / (2 * number(estimator, "C") * len(y))
    design: FeatureDesign | KernelDesign
    if estimator.kernel == "linear":
        design = FeatureDesign(X, intercept=estimator.fit_intercept)
    else:
        design = _kernel_design(estimator, X, intercept=estimator.fit_intercept)
        design.require_positive_semidefinite("LSSVC")
    return Quadratic(design, y, row_weights(sample_weight, y), lam)


def from_svr(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> SVRObjective:
    """Build the dual with the box C and the tube ε; a constant sample weight multiplies C.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> objective = from_svr(SVR(C=2.0, epsilon=0.1), X, y, None)
    >>> objective.C, objective.epsilon, objective.names[:3]
    (2.0, 0.1, ['intercept', 'dual0', 'dual1'])
    """
    C = number(estimator, "C") * common_weight(sample_weight, "SVR")
    epsilon = number(estimator, "epsilon", zero=True)
    evaluate = partial(svr_gram, clone(estimator))
    design = _kernel_design(estimator, X, evaluate, intercept=True)
    return SVRObjective(design, y, C, epsilon)


def from_kernel_lasso(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> LassoObjective:
    """Build ½ Σ r² + alpha ‖a‖₁; the kernel matrix need only be symmetric.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> from_kernel_lasso(KernelLasso(alpha=0.5), X, y, None).penalty[:3]
    array([0.5, 0.5, 0.5])
    """
    c = common_weight(sample_weight, "KernelLasso")
    alpha = number(estimator, "alpha", zero=True)
    return LassoObjective(_kernel_design(estimator, X), y, c, np.full(len(y), alpha))


def from_kernel_huber(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> KernelHuberObjective:
    """Build Σ w h_δ(r) + (alpha/2) aᵀKa, divided by n: λ = alpha / n.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> from_kernel_huber(KernelHuber(delta=0.5), X, y, None).influence(np.array([-2.0, 0.1]))
    array([-0.5,  0.1])
    """
    lam = number(estimator, "alpha") / len(y)
    delta = number(estimator, "delta")
    design = _kernel_design(estimator, X)
    design.require_positive_semidefinite("KernelHuber")
    return KernelHuberObjective(design, y, row_weights(sample_weight, y), lam, delta)


def _kernel_design(
    estimator: Any,
    X: Array,
    evaluate: Callable[[Array, Array | None], Array] | None = None,
    *,
    intercept: bool = False,
) -> KernelDesign:
    """Return the design of an estimator's kernel, whose parameters default to KernelRidge's."""
    kernel, gamma = estimator.kernel, estimator.gamma
    built_in = evaluate is None
    if isinstance(kernel, str):
        _check_parameters(estimator, kernel, built_in=built_in)
    if not built_in and kernel in ("poly", "polynomial", "rbf"):
        gamma = resolve_svr_gamma(gamma, X)
    if evaluate is None:
        evaluate = partial(
            gram,
            kernel,
            gamma=estimator.gamma,
            degree=estimator.degree,
            coef0=estimator.coef0,
            params=estimator.kernel_params,
        )
    training = TrainingKernel(
        evaluate,
        X,
        precomputed=isinstance(kernel, str) and kernel == "precomputed",
        strict=strictly_positive_definite(kernel),
        polynomial=inner_product_kernel(
            kernel, X.shape[1], gamma, estimator.degree, estimator.coef0
        ),
        slope=kernel_slope(
            kernel, 1 / X.shape[1] if gamma is None else gamma, estimator.degree, estimator.coef0
        ),
    )
    return kernel_design(training, intercept=intercept)


def _check_parameters(estimator: Any, kernel: str, *, built_in: bool) -> None:
    """Refuse parameters with which a kernel cannot be computed."""
    gamma = estimator.gamma
    known = gamma is None if built_in else isinstance(gamma, str) and gamma in ("scale", "auto")
    if not known:
        check_kernel_number(
            estimator, "gamma", 0.0, ", or None" if built_in else ", 'scale' or 'auto'"
        )
    if kernel in ("poly", "polynomial"):
        check_kernel_number(estimator, "degree", 0.0)
    if kernel in ("poly", "polynomial", "sigmoid"):
        check_kernel_number(estimator, "coef0", -np.inf)


def kernel_design(training: TrainingKernel, *, intercept: bool = False) -> KernelDesign:
    """Return the design of a kernel, after checking its matrix."""
    with np.errstate(over="ignore"):  # refused below
        K = training.evaluate(training.X, None)
    _require_resolved(K)
    require_symmetric(K, "the kernel matrix")
    # Symmetric to the last bit, since decompositions read one triangle and products both.
    return KernelDesign((K + K.T) / 2, intercept=intercept, kernel=training)


def require_visible(design: KernelDesign, lam: float) -> None:
    """Refuse a penalty λ > 0 that is lost in the rounding errors of the kernel matrix."""
    alpha, least = design.n * lam, least_penalty(design)
    if 0 < alpha < least:
        raise ValueError(
            f"alpha is too small beside the kernel matrix: expected 0, or at least {least:.2g}, "
            f"below which rounding hides the penalty, given {alpha:.3g}. Use a larger alpha, or 0 "
            "for none."
        )


def _require_resolved(K: Array) -> None:
    """Refuse kernel values that double precision cannot hold."""
    largest = float(np.abs(K).max(initial=0.0))
    if not _SMALLEST <= largest < np.inf:
        given = "values that are not finite" if not np.isfinite(largest) else f"{largest:.3g}"
        raise ValueError(
            "the kernel matrix is beyond double precision: expected a largest value between "
            f"{_SMALLEST:.0e} and 1e308, given {given}. Rescale the inputs, or the kernel."
        )


register_objective(KernelRidge, from_kernel_ridge)
register_objective(LSSVC, from_lssvc)
register_objective(SVR, from_svr)
register_objective(KernelLasso, from_kernel_lasso)
register_objective(KernelHuber, from_kernel_huber)

"""What each supported estimator minimises, with its hyper-parameters in the theory's symbols.

============================ =============================== ==================================
estimator                    its own objective               here
============================ =============================== ==================================
LinearRegression             Σ w r²                          λ = 0
Ridge, RidgeClassifier       Σ w r² + alpha ‖coef‖²          λ = alpha / n
KernelRidge                  Σ w r² + alpha aᵀKa             λ = alpha / n
LSSVC                        ½ ‖w‖² + C Σ ξ²                 λ = 1 / (2 C n); the paper's λ is C
SVR                          ½ ‖w‖² + C Σ |r|_ε              |a| <= C; the paper's c is n C
Lasso                        Σ r² / (2n) + alpha ‖coef‖₁     penalty alpha
KernelLasso                  ½ Σ r² + alpha ‖a‖₁             the paper's λ is alpha
HuberRegressor               Σ (σ + σ H_ε(r/σ)) + alpha ‖·‖² λ = alpha / n
KernelHuber                  Σ w h_δ(r) + (alpha/2) aᵀKa     λ = alpha / n
LogisticRegression           C Σ w log(1+exp(-yg)) + ½ ‖·‖²  λ = 1 / (C n)
============================ =============================== ==================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
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

from unassuming._typing import Array
from unassuming.kernels import TrainingKernel, gram, require_symmetric, svr_gram
from unassuming.models import LSSVC, KernelHuber, KernelLasso
from unassuming.objectives._feature_design import FeatureDesign
from unassuming.objectives._huber import HuberObjective, KernelHuberObjective
from unassuming.objectives._kernel_design import KernelDesign
from unassuming.objectives._lasso import LassoObjective
from unassuming.objectives._logistic import LogisticObjective
from unassuming.objectives._quadratic import Quadratic
from unassuming.objectives._registry import register_objective
from unassuming.objectives._svr import SVRObjective


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
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])
    >>> from_linear_regression(LinearRegression(), X, y, None).estimate().round(3)
    array([-0.167,  1.5  ])
    """
    _refuse_positive(estimator)
    return Quadratic(_features(estimator, X), y, _weights(sample_weight, y), 0.0)


def from_ridge(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> Quadratic:
    """Build Σ w r² + alpha ‖coef‖², divided by n: λ = alpha / n.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])
    >>> round(from_ridge(Ridge(alpha=0.6), X, y, None).lam, 3)
    0.2
    """
    _refuse_positive(estimator)
    lam = _number(estimator, "alpha", zero=True) / len(y)
    return Quadratic(_features(estimator, X), y, _weights(sample_weight, y), lam)


def from_ridge_classifier(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> Quadratic:
    """Build ridge regression on the labels ±1.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0])
    >>> round(from_ridge_classifier(RidgeClassifier(alpha=0.6), X, y, None).lam, 3)
    0.2
    """
    _refuse_class_weight(estimator)
    return from_ridge(estimator, X, y, sample_weight)


def from_kernel_ridge(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> Quadratic:
    """Build Σ w r² + alpha aᵀKa, divided by n: λ = alpha / n.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])
    >>> objective = from_kernel_ridge(KernelRidge(kernel="rbf", alpha=0.6), X, y, None)
    >>> objective.d, round(objective.lam, 3)
    (3, 0.2)
    """
    lam = _number(estimator, "alpha", zero=True) / len(y)
    design = _kernel_design(estimator, X)
    design.require_positive_semidefinite("KernelRidge")
    return Quadratic(design, y, _weights(sample_weight, y), lam)


def from_lssvc(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> Quadratic:
    """Build ½‖w‖² + C Σ ξ² as ridge regression on the labels: alpha = 1 / (2C).

    The region is exact for label noise. The published one, with symmetric slacks, carries no
    coverage guarantee: given the inputs slacks of labels are not symmetric (docs/theory.md 8).

    A linear kernel is taken in its features, coefficients [intercept, w]; any other kernel in
    its dual coefficients.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0])
    >>> from_lssvc(LSSVC(C=2.0), X, y, None).names
    ['intercept', 'x0']
    """
    lam = 1 / (2 * _number(estimator, "C") * len(y))
    design: FeatureDesign | KernelDesign
    if estimator.kernel == "linear":
        design = FeatureDesign(X, intercept=estimator.fit_intercept)
    else:
        design = _kernel_design(estimator, X, intercept=estimator.fit_intercept)
        design.require_positive_semidefinite("LSSVC")
    return Quadratic(design, y, _weights(sample_weight, y), lam)


def from_logistic_regression(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> LogisticObjective:
    """Build C Σ w log(1 + exp(-y g)) + ½ (1 - ρ) ‖coef‖² + ρ ‖coef‖₁, divided by C n.

    ρ is ``l1_ratio``, or what ``penalty`` says where it is given. ``penalty=None`` and an infinite
    C are no penalty. Of ``solver`` only liblinear matters, since it penalises the intercept.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, -1.0, 1.0])
    >>> from_logistic_regression(LogisticRegression(C=2.0), X, y, None).response(np.zeros(1))
    array([0.])
    """
    _refuse_class_weight(estimator)
    _refuse_other_likelihoods(estimator)
    ratio = _l1_ratio(estimator)
    lam = 0.0 if ratio is None else 1 / (_number(estimator, "C", infinite=True) * len(y))
    l1 = lam * (ratio or 0.0)
    weights = _weights(sample_weight, y)
    return LogisticObjective(_features(estimator, X), y, weights, lam - l1, l1)


def _l1_ratio(estimator: Any) -> float | None:
    """Return the share of absolute values in the penalty, or None without a penalty.

    scikit-learn 1.8 deprecated ``penalty`` in favour of ``l1_ratio`` and an infinite C.
    """
    penalty = getattr(estimator, "penalty", "deprecated")
    if penalty is None:
        return None
    if penalty in ("l1", "l2"):
        return float(penalty == "l1")
    if penalty not in ("elasticnet", "deprecated"):
        raise ValueError(
            "LogisticRegression's penalty is unknown: expected 'l1', 'l2', 'elasticnet' or None, "
            f"given {penalty!r}. Set the hyper-parameter before building the region."
        )
    if penalty == "deprecated" and estimator.l1_ratio is None:
        return 0.0
    return _number(estimator, "l1_ratio", zero=True, largest=1.0)


def _refuse_other_likelihoods(estimator: Any) -> None:
    if estimator.solver == "liblinear" and estimator.fit_intercept:
        raise ValueError(
            "solver='liblinear' penalises the intercept, which the other solvers do not: expected "
            "solver='lbfgs' or 'saga', or fit_intercept=False, given fit_intercept=True. The "
            "region has a solver of its own: only what is minimised matters."
        )
    if getattr(estimator, "multi_class", "auto") == "multinomial":
        raise ValueError(
            "multi_class='multinomial' penalises one coefficient vector for each of the two "
            "classes: expected multi_class='auto', given 'multinomial'. Leave it out; with an l2 "
            "penalty, twice the C gives the same model."
        )


def from_svr(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> SVRObjective:
    """Build the dual with the box C and the tube ε; a constant sample weight multiplies C.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])
    >>> objective = from_svr(SVR(C=2.0, epsilon=0.1), X, y, None)
    >>> objective.C, objective.epsilon, objective.names
    (2.0, 0.1, ['intercept', 'dual0', 'dual1', 'dual2'])
    """
    weight = _constant(sample_weight, "SVR")
    C = _number(estimator, "C") * weight
    epsilon = _number(estimator, "epsilon", zero=True)
    evaluate = partial(svr_gram, clone(estimator))
    strict = estimator.kernel == "rbf"
    design = _design_of_kernel(estimator, evaluate, X, strict=strict, intercept=True)
    return SVRObjective(design, y, C, epsilon)


def from_lasso(estimator: Any, X: Array, y: Array, sample_weight: Array | None) -> LassoObjective:
    """Build Σ r² / (2n) + alpha ‖coef‖₁; a constant sample weight changes nothing.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])
    >>> objective = from_lasso(Lasso(alpha=0.5), X, y, None)
    >>> objective.penalty, round(objective.c, 3)
    (array([0. , 0.5]), 0.333)
    """
    _refuse_positive(estimator)
    _constant(sample_weight, "Lasso")
    design = _features(estimator, X)
    penalty = _number(estimator, "alpha", zero=True) * design.penalised
    return LassoObjective(design, y, 1 / len(y), penalty)


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
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])
    >>> from_kernel_lasso(KernelLasso(alpha=0.5), X, y, None).penalty
    array([0.5, 0.5, 0.5])
    """
    c = _constant(sample_weight, "KernelLasso")
    alpha = _number(estimator, "alpha", zero=True)
    return LassoObjective(_kernel_design(estimator, X), y, c, np.full(len(y), alpha))


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
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])
    >>> objective = from_huber_regressor(HuberRegressor(epsilon=1.5, alpha=0.6), X, y, None)
    >>> objective.epsilon, round(objective.lam, 3)
    (1.5, 0.2)
    """
    w = np.full(len(y), _constant(sample_weight, "HuberRegressor"))
    lam = _number(estimator, "alpha", zero=True) / len(y)
    epsilon = _number(estimator, "epsilon", above=1.0)
    return HuberObjective(_features(estimator, X), y, w, lam, epsilon)


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
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 3.0])
    >>> from_kernel_huber(KernelHuber(delta=0.5), X, y, None).influence(np.array([-2.0, 0.1]))
    array([-0.5,  0.1])
    """
    lam = _number(estimator, "alpha") / len(y)
    delta = _number(estimator, "delta")
    design = _kernel_design(estimator, X)
    design.require_positive_semidefinite("KernelHuber")
    return KernelHuberObjective(design, y, _weights(sample_weight, y), lam, delta)


def _features(estimator: Any, X: Array) -> FeatureDesign:
    return FeatureDesign(X, intercept=bool(estimator.fit_intercept))


def _kernel_design(estimator: Any, X: Array, *, intercept: bool = False) -> KernelDesign:
    evaluate = partial(
        _gram,
        estimator.kernel,
        estimator.gamma,
        estimator.degree,
        estimator.coef0,
        estimator.kernel_params,
    )
    strict = estimator.kernel in ("rbf", "laplacian")
    return _design_of_kernel(estimator, evaluate, X, strict=strict, intercept=intercept)


def _gram(
    kernel: Any, gamma: Any, degree: Any, coef0: Any, params: Any, Z: Array, X: Array | None
) -> Array:
    return gram(kernel, Z, X, gamma=gamma, degree=degree, coef0=coef0, params=params)


def _design_of_kernel(
    estimator: Any,
    evaluate: Callable[[Array, Array | None], Array],
    X: Array,
    *,
    strict: bool,
    intercept: bool,
) -> KernelDesign:
    K = evaluate(X, None)
    require_symmetric(K, "the kernel matrix")
    precomputed = estimator.kernel == "precomputed"
    finite = estimator.kernel in ("linear", "poly", "polynomial", "cosine")
    kernel = TrainingKernel(evaluate, X, precomputed=precomputed, strict=strict, finite=finite)
    # Symmetric to the last bit, since decompositions read one triangle and products both.
    return KernelDesign((K + K.T) / 2, intercept=intercept, kernel=kernel)


def _weights(sample_weight: Array | None, y: Array) -> Array:
    return np.ones(len(y)) if sample_weight is None else sample_weight


def _constant(sample_weight: Array | None, name: str) -> float:
    """Return the one weight that all rows have."""
    if sample_weight is None:
        return 1.0
    if (sample_weight != sample_weight[0]).any():
        raise ValueError(
            f"sample_weight varies, which the region of {name} does not support: expected the same "
            "weight for every row (or zero, to drop a row), given weights from "
            f"{sample_weight.min():g} to {sample_weight.max():g}. Use Ridge, KernelRidge or "
            "ua.KernelHuber for a weighted model."
        )
    return float(sample_weight[0])


def _number(
    estimator: Any,
    name: str,
    *,
    above: float = 0.0,
    zero: bool = False,
    largest: float = np.inf,
    infinite: bool = False,
) -> float:
    """Return a hyper-parameter: one number above a limit, or zero if that is allowed."""
    try:
        given = np.asarray(getattr(estimator, name), dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full((), np.nan)
    expected = "one finite number >= 0" if zero else f"one finite number > {above:g}"
    expected += "" if largest == np.inf else f" and <= {largest:g}"
    expected += ", or infinity" if infinite else ""
    inside = given.size == 1 and (np.isfinite(given).all() or infinite) and given <= largest
    if not inside or not (given > above or (zero and given == 0)):
        raise ValueError(
            f"{type(estimator).__name__}'s {name} is out of range: expected {expected}, given "
            f"{getattr(estimator, name)!r}. Set the hyper-parameter before building the region."
        )
    return float(given.reshape(()))


def _refuse_positive(estimator: Any) -> None:
    if getattr(estimator, "positive", False):
        raise ValueError(
            "positive=True is not supported: expected an unconstrained model, given "
            f"{estimator!r}. Set positive=False: the constraint would have to enter the gradient."
        )


def _refuse_class_weight(estimator: Any) -> None:
    if estimator.class_weight is not None:
        raise ValueError(
            "class_weight depends on the labels, which voids the guarantee: expected "
            f"class_weight=None, given {estimator.class_weight!r}. Weight rows by something other "
            "than y, with sample_weight."
        )


register_objective(LinearRegression, from_linear_regression)
register_objective(Ridge, from_ridge)
register_objective(RidgeClassifier, from_ridge_classifier)
register_objective(KernelRidge, from_kernel_ridge)
register_objective(LSSVC, from_lssvc)
register_objective(LogisticRegression, from_logistic_regression)
register_objective(SVR, from_svr)
register_objective(Lasso, from_lasso)
register_objective(KernelLasso, from_kernel_lasso)
register_objective(HuberRegressor, from_huber_regressor)
register_objective(KernelHuber, from_kernel_huber)

"""The objectives of estimators: one function each, with the hyper-parameters as written here.

============================ =============================== ==================================
estimator                    its own objective               here, times a constant
============================ =============================== ==================================
LinearRegression             Σ w r²                          no penalty
Ridge, RidgeClassifier       Σ w r² + alpha ‖coef‖²          alpha
KernelRidge                  Σ w r² + alpha aᵀKa             alpha
GaussianProcessRegressor     Σ r²/v + aᵀKa                   alpha = max v, weights max v / v
LSSVC                        ½ ‖w‖² + C Σ ξ²                 alpha = 1 / (2C); the paper's λ is C
SVR                          ½ ‖w‖² + C Σ |r|_ε              |a| <= C; the paper's c is n C
Lasso                        Σ r² / (2n) + alpha ‖coef‖₁     l1 = n alpha
ElasticNet                   Σ r² / (2n) + alpha (ρ ‖·‖₁ +   l1 = n alpha ρ, and n alpha (1 - ρ)
                             (1 - ρ) ‖·‖²/2)                 in place of alpha; ρ is l1_ratio
LinearSVR                    ½ ‖[b/s, w]‖² + C Σ |r|_ε       weights C; or |r|_ε², weights 2C
QuantileRegressor            Σ ρ_τ(r) / n + alpha ‖coef‖₁    l1 = n alpha
KernelLasso                  ½ Σ r² + alpha ‖a‖₁             l1 = alpha, the paper's λ
HuberRegressor               Σ (σ + σ H_ε(r/σ)) + alpha ‖·‖² alpha
InstrumentalRegression       Σ w (Pr)²; P: exogenous columns no penalty
KernelHuber                  Σ w h_δ(r) + (alpha/2) aᵀKa     alpha
LogisticRegression           C Σ w log(1+exp(-yg)) + ½ ‖·‖²  alpha = 1 / C
============================ =============================== ==================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, CompoundKernel, ConstantKernel, Kernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.svm import SVR, LinearSVR

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.inputs import as_orders, as_series, model_quantile
from unassuming.kernels import (
    TrainingKernel,
    gram,
    inner_product_kernel,
    kernel_slope,
    require_positive_semidefinite,
    require_symmetric,
    resolve_svr_gamma,
    strictly_positive_definite,
    svr_gram,
    white_noise,
    without_white_noise,
)
from unassuming.models import ARX, LSSVC, InstrumentalRegression, KernelHuber, KernelLasso, roles_of
from unassuming.models.solvers import (
    concomitant_huber,
    epsilon_svr,
    kernel_huber,
    kernel_ridge,
    l1_least_squares,
    linear_svr,
    logistic,
    quantile_regression,
)
from unassuming.objectives.designed import DesignedObjective
from unassuming.objectives.features import FeatureDesign
from unassuming.objectives.hyperparameters import (
    Weights,
    check_kernel_parameters,
    common_weight,
    number,
    out_of_range,
    refuse_class_weight,
    row_weights,
)
from unassuming.objectives.instruments import InstrumentObjective
from unassuming.objectives.kernel import KernelDesign
from unassuming.objectives.losses import (
    Huber,
    Insensitive,
    Logistic,
    Pinball,
    ScaledHuber,
    SquaredInsensitive,
    Squares,
)
from unassuming.objectives.penalties import Penalty
from unassuming.objectives.registry import register_objective
from unassuming.objectives.systems import ArxObjective, Series

# --- features ------------------------------------------------------------------------------------


def _features(estimator: Any, X: Array) -> FeatureDesign:
    """Return the design of a model that is linear in the columns of X."""
    if getattr(estimator, "positive", False):
        raise ValueError(
            "positive=True is not supported: expected an unconstrained model, given "
            f"{estimator!r}. Set positive=False: the constraint would have to enter the gradient."
        )
    return FeatureDesign(X, intercept=bool(estimator.fit_intercept))


def from_linear_regression(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ w r²."""
    return _squares(estimator, X, y, w, 0.0)


def from_ridge(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ w r² + alpha ‖coef‖²."""
    return _squares(estimator, X, y, w, number(estimator, "alpha", zero=True))


def from_ridge_classifier(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build ridge regression on the labels ±1."""
    refuse_class_weight(estimator)
    return from_ridge(estimator, X, y, w)


def _squares(estimator: Any, X: Array, y: Array, w: Weights, alpha: float) -> DesignedObjective:
    design = _features(estimator, X)
    weights, penalty = row_weights(w, y), design.penalty(alpha)
    return DesignedObjective(design, y, weights, Squares(), penalty, scale=1 / len(y))


def from_lasso(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ r² / (2n) + alpha ‖coef‖₁; a constant sample weight changes nothing."""
    return _elastic_net(estimator, X, y, w, 1.0)


def from_elastic_net(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ r² / (2n) + alpha (l1_ratio ‖coef‖₁ + (1 - l1_ratio) ‖coef‖²/2)."""
    return _elastic_net(estimator, X, y, w, number(estimator, "l1_ratio", zero=True, largest=1.0))


def _elastic_net(estimator: Any, X: Array, y: Array, w: Weights, share: float) -> DesignedObjective:
    common_weight(w, type(estimator).__name__)
    design, alpha = _features(estimator, X), len(y) * number(estimator, "alpha", zero=True)
    penalty = design.penalty(alpha * (1 - share), alpha * share)
    w, solve = np.ones(len(y)), _least_l1 if share else None
    title = "the LASSO objective" if share == 1 else "the elastic net objective"
    return DesignedObjective(
        design, y, w, Squares(), penalty, solve=solve, scale=1 / len(y), title=title
    )


def _least_l1(o: DesignedObjective) -> Array:
    """A ridge is a set of further rows of Φ, where y is zero."""
    held = o.penalty.ridge > 0
    rows = np.sqrt(o.penalty.ridge[held] / o.w[0])[:, None] * np.eye(o.d)[held]
    y = np.append(o.y, np.zeros(len(rows)))
    return l1_least_squares(np.vstack([o.design.matrix, rows]), y, o.penalty.l1 / o.w[0])


def from_huber_regressor(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Huber's loss with concomitant scale + alpha ‖coef‖²."""
    design, epsilon = _features(estimator, X), number(estimator, "epsilon", above=1.0)
    w = np.full(len(y), common_weight(w, "HuberRegressor"))
    loss, penalty = ScaledHuber(epsilon), design.penalty(number(estimator, "alpha", zero=True))

    title, solve = f"Huber regression with epsilon {epsilon:g}", partial(_least_huber, epsilon)
    return DesignedObjective(
        design, y, w, loss, penalty, solve=solve, scale=1 / len(y), title=title
    )


def _least_huber(epsilon: float, o: DesignedObjective) -> Array:
    return concomitant_huber(o.design.matrix, o.y, o.w, epsilon, o.penalty.ridge)[0]


def from_linear_svr(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build ½ ‖coef‖² + ½ (intercept / intercept_scaling)² + C Σ max(``|r|`` - epsilon, 0).

    The terms of the sum are squared if ``loss="squared_epsilon_insensitive"``. LIBLINEAR penalises
    the intercept as written here. A constant sample weight multiplies C.
    """
    squared = estimator.loss == "squared_epsilon_insensitive"
    if not squared and estimator.loss != "epsilon_insensitive":
        raise out_of_range(
            estimator, "loss", "'epsilon_insensitive' or 'squared_epsilon_insensitive'"
        )
    C = number(estimator, "C") * common_weight(w, "LinearSVR")
    epsilon, design = number(estimator, "epsilon", zero=True), _features(estimator, X)
    ridge = np.ones(design.matrix.shape[1])
    if design.intercept:
        ridge[0] = number(estimator, "intercept_scaling") ** -2

    w, penalty = np.full(len(y), 2 * C if squared else C), Penalty(np.diag(ridge), 0 * ridge)
    loss = SquaredInsensitive(epsilon) if squared else Insensitive(epsilon)
    title = f"the {'squared ' * squared}ε-insensitive loss with epsilon {epsilon:g}"
    solve = partial(_least_svr, C, epsilon, squared)
    return DesignedObjective(design, y, w, loss, penalty, solve=solve, title=title)


def _least_svr(C: float, epsilon: float, squared: bool, o: DesignedObjective) -> Array:
    return linear_svr(o.design.matrix, o.y, C, epsilon, o.penalty.ridge, squared=squared)


def from_quantile_regressor(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ ρ_τ(r) + n alpha ‖coef‖₁; a constant sample weight changes nothing."""
    common_weight(w, "QuantileRegressor")
    design, tau = _features(estimator, X), model_quantile(estimator)
    penalty = design.penalty(0.0, len(y) * number(estimator, "alpha", zero=True))

    w, title = np.ones(len(y)), f"the pinball loss of the {tau:g}-quantile"
    solve = partial(_least_pinball, tau)
    return DesignedObjective(design, y, w, Pinball(tau), penalty, solve=solve, title=title)


def _least_pinball(tau: float, o: DesignedObjective) -> Array:
    return quantile_regression(o.design.matrix, o.y, tau, o.penalty.l1)


def from_logistic_regression(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build C Σ w log(1 + exp(-y g)) + ½ (1 - ρ) ‖coef‖² + ρ ‖coef‖₁, divided by C.

    ρ follows from ``penalty`` where that is given, and is ``l1_ratio`` otherwise. With
    ``penalty=None`` or an infinite C there is no penalty. The solver does not matter, except
    that liblinear penalises the intercept.
    """
    refuse_class_weight(estimator)
    if estimator.solver == "liblinear" and estimator.fit_intercept:
        raise ValueError(
            "solver='liblinear' penalises the intercept, unlike the other solvers: expected "
            "solver='lbfgs' or 'saga', or fit_intercept=False, given fit_intercept=True. The "
            "region has its own solver: only the objective matters."
        )
    if getattr(estimator, "multi_class", "auto") == "multinomial":
        raise ValueError(
            "multi_class='multinomial' penalises one coefficient vector for each of the two "
            "classes: expected multi_class='auto', given 'multinomial'. Leave it out; with an l2 "
            "penalty, twice the C gives the same model."
        )
    ratio, n, design = _l1_ratio(estimator), len(y), _features(estimator, X)
    alpha = 0.0 if ratio is None else 1 / number(estimator, "C", infinite=True)
    l1 = alpha * (ratio or 0.0)

    w, penalty, title = row_weights(w, y), design.penalty(alpha - l1, l1), "logistic regression"
    return DesignedObjective(
        design, y, w, Logistic(), penalty, solve=_least_logistic, scale=1 / n, title=title
    )


def _least_logistic(o: DesignedObjective) -> Array:
    if o.design.intercept and (o.y == o.y[0]).all():
        raise NotAvailable(
            "the estimate of logistic regression needs labels of both classes: all labels are "
            "equal, so the likelihood has no maximum. Pass candidates to rank, contains and "
            "test, or an origin to crossings, or use RidgeClassifier or ua.LSSVC, which have "
            "an estimate."
        )
    return logistic(o.design.matrix, o.y, o.w / o.n, o.penalty.ridge / o.n, o.penalty.l1 / o.n)


def _l1_ratio(estimator: Any) -> float | None:
    """Return the share of absolute values in the penalty, or None without a penalty.

    scikit-learn 1.8 replaces ``penalty`` by ``l1_ratio`` and an infinite C.
    """
    penalty = getattr(estimator, "penalty", "deprecated")
    if penalty is None or penalty in ("l1", "l2"):
        return None if penalty is None else float(penalty == "l1")
    if penalty not in ("elasticnet", "deprecated"):
        raise out_of_range(estimator, "penalty", "'l1', 'l2', 'elasticnet' or None")
    if penalty == "deprecated" and estimator.l1_ratio is None:
        return 0.0
    return number(estimator, "l1_ratio", zero=True, largest=1.0)


def from_instrumental_regression(
    estimator: Any, X: Array, y: Array, w: Weights
) -> InstrumentObjective:
    """Build ‖(WᵀW)^(-1/2) Wᵀr‖² with weighted rows; the columns are given by numbers."""
    roles = roles_of(estimator, None, X.shape[1])
    intercept = bool(estimator.fit_intercept)
    return InstrumentObjective(X, y, row_weights(w, y), roles, intercept=intercept)


def from_arx(estimator: Any, X: Array, y: Array, w: Weights) -> ArxObjective:
    """Build Σ r² over the times after the initial values; X is the input u."""
    if w is not None:
        raise ValueError(
            "sample_weight does not apply to ARX: expected None, given weights. Leaving out a "
            "time would break the series, and weights do not change the assumption on the noise."
        )
    orders = as_orders(estimator)
    return ArxObjective(Series(orders, *as_series(X, y, orders)))


# --- kernels -------------------------------------------------------------------------------------


def from_kernel_ridge(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ w r² + alpha aᵀKa."""
    design = _kernel(estimator, X, semidefinite=True)
    return _kernel_squares(design, y, row_weights(w, y), number(estimator, "alpha", zero=True))


def from_lssvc(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build ½‖w‖² + C Σ ξ² as ridge regression on the labels: alpha = 1 / (2C).

    The region is exact for label noise. The published region, which assumes symmetric slacks,
    carries no coverage guarantee: the slacks of labels are not symmetric given the inputs
    (docs/theory.md 8).

    A model with a linear kernel has coefficients [intercept, w] of the features; with any other
    kernel it has dual coefficients.
    """
    alpha = 1 / (2 * number(estimator, "C"))
    if estimator.kernel == "linear":
        return _squares(estimator, X, y, w, alpha)
    design = _kernel(estimator, X, intercept=estimator.fit_intercept, semidefinite=True)
    return _kernel_squares(design, y, row_weights(w, y), alpha)


def from_gaussian_process(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build the objective of the mean: Σ r_j² / v_j + aᵀKa with the variances v of the noise.

    The variances are ``alpha``, a number or one for each row, plus those of a `WhiteKernel`. With a
    common variance v this is kernel ridge regression with alpha = v. The kernel has to be fixed: by
    ``optimizer=None``, or by hyper-parameters that are all ``"fixed"``.
    """
    whole = _fixed_kernel(estimator)
    kernel = without_white_noise(whole)
    if kernel is None:
        raise out_of_range(estimator, "kernel", "a kernel of the function, not of noise alone")
    try:
        alpha = np.asarray(estimator.alpha, dtype=np.float64)
    except (TypeError, ValueError):
        alpha = np.full((), np.nan)
    if alpha.shape not in ((), (len(y),)) or not np.isfinite(alpha).all() or (alpha < 0).any():
        raise out_of_range(
            estimator,
            "alpha",
            f"one finite number >= 0, or one for each of the {len(y)} rows of positive weight",
        )
    training = TrainingKernel(
        partial(gram, kernel),
        X,
        precomputed=False,
        strict=strictly_positive_definite(kernel),
        polynomial=inner_product_kernel(kernel, X.shape[1]),
        slope=kernel_slope(kernel),
    )
    variance = alpha + white_noise(whole, X)
    largest, equal = float(variance.max()), (variance == variance.max()).all()
    if not equal and not variance.all():
        raise out_of_range(estimator, "alpha", "positive variances, or zero for all rows")
    # Rows of equal variance have equal weights, to the last bit.
    weights = row_weights(w, y) if equal else row_weights(w, y) * (largest / variance)
    design = _kernel_design(training, "GaussianProcessRegressor", semidefinite=True)
    return _kernel_squares(design, y, weights, largest)


def _fixed_kernel(estimator: Any) -> Any:
    """Return the kernel; refuse one that fitting would change, and outputs that it would centre."""
    if estimator.normalize_y:
        raise ValueError(
            "normalize_y=True subtracts the mean of y, which the noise changes too: expected "
            "normalize_y=False. Subtract a number from y that is known beforehand, or add "
            "ConstantKernel() to the kernel."
        )
    kernel = estimator.kernel
    if kernel is None:  # as in scikit-learn, where it is fixed
        return ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")
    if not isinstance(kernel, Kernel) or isinstance(kernel, CompoundKernel):
        raise out_of_range(
            estimator, "kernel", "one kernel of sklearn.gaussian_process.kernels, such as RBF(1.0)"
        )
    if estimator.optimizer is not None and kernel.n_dims > 0:
        raise ValueError(
            "GaussianProcessRegressor chooses its kernel with the same y, which voids the "
            f"guarantee: expected optimizer=None, given optimizer={estimator.optimizer!r} and "
            f"{kernel.n_dims} free hyper-parameters. Fit the process to other rows, and pass "
            "GaussianProcessRegressor(process.kernel_, alpha=process.alpha, optimizer=None)."
        )
    return kernel


def _kernel_squares(design: KernelDesign, y: Array, w: Array, alpha: float) -> DesignedObjective:
    penalty, scale = design.penalty(alpha), 1 / len(y)
    closed = partial(_least_kernel_squares, design) if alpha else None
    return DesignedObjective(design, y, w, Squares(), penalty, solve=closed, scale=scale)


def _least_kernel_squares(design: KernelDesign, o: DesignedObjective) -> Array:
    one = design.intercept
    b, a = kernel_ridge(design.K, o.y, o.penalty.alpha, o.w, fit_intercept=one)
    return np.append(b, a) if one else a


def from_kernel_huber(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ w h_δ(r) + (alpha/2) aᵀKa."""
    delta, alpha = number(estimator, "delta"), number(estimator, "alpha")
    design = _kernel(estimator, X, semidefinite=True)

    w, loss, penalty = row_weights(w, y), Huber(delta), design.penalty(alpha)
    title = f"kernel Huber regression with threshold {delta:g}"
    solve = partial(_least_kernel_huber, design, delta)
    return DesignedObjective(
        design, y, w, loss, penalty, solve=solve, scale=1 / len(y), title=title
    )


def _least_kernel_huber(design: KernelDesign, delta: float, o: DesignedObjective) -> Array:
    return kernel_huber(design.K, o.y, o.penalty.alpha, delta, o.w)


def from_kernel_lasso(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build ½ Σ r² + alpha ‖a‖₁; the kernel matrix need only be symmetric."""
    design, n = _kernel(estimator, X), len(y)
    penalty = Penalty(np.zeros((n, n)), np.full(n, number(estimator, "alpha", zero=True)))
    w, psi, title = np.full(n, common_weight(w, "KernelLasso")), "identity", "the LASSO objective"
    return DesignedObjective(
        design, y, w, Squares(), penalty, weighting=psi, solve=_least_l1, title=title
    )


def from_svr(
    estimator: Any, X: Array, y: Array, w: Weights, *, intercept: bool = True
) -> DesignedObjective:
    """Build the dual ½ aᵀKa - yᵀa + ε̄‖a‖₁, ``|a| <= C``; a constant sample weight multiplies C.

    Without an ``intercept`` the constraint due to the bias is left out. Beyond the box the formula
    without it is used, since true coefficients do not depend on C.
    """
    C = number(estimator, "C") * common_weight(w, "SVR")
    epsilon, n = number(estimator, "epsilon", zero=True), len(y)
    design = _kernel(estimator, X, partial(svr_gram, clone(estimator)), intercept=intercept)

    w, d = np.ones(n), n + intercept
    penalty = Penalty(np.zeros((d, d)), np.full(n, epsilon), C)
    options: dict[str, Any] = {"weighting": "gram", "dual": True, "title": "ε-SVR"}
    solve = partial(_least_kernel_svr, design, C, epsilon)
    return DesignedObjective(design, y, w, Squares(), penalty, solve=solve, **options)


def _least_kernel_svr(
    design: KernelDesign, C: float, epsilon: float, o: DesignedObjective
) -> Array:
    one = design.intercept
    b, a = epsilon_svr(design.K, o.y, C, epsilon, fit_intercept=one)
    return np.append(b, a) if one else a


def _kernel(
    estimator: Any,
    X: Array,
    evaluate: Callable[[Array, Array | None], Array] | None = None,
    *,
    intercept: bool = False,
    semidefinite: bool = False,
) -> KernelDesign:
    """Return the design of an estimator's kernel, whose parameters default to KernelRidge's."""
    kernel, gamma, own = estimator.kernel, estimator.gamma, evaluate is None
    options = estimator.degree, estimator.coef0
    if isinstance(kernel, str):
        check_kernel_parameters(estimator, kernel, default_gamma=own)
    if evaluate is None:
        params = estimator.kernel_params
        evaluate = partial(
            gram, kernel, gamma=gamma, degree=options[0], coef0=options[1], params=params
        )
    elif kernel in ("poly", "polynomial", "rbf"):
        gamma = resolve_svr_gamma(gamma, X)
    width = 1 / X.shape[1] if gamma is None else gamma
    training = TrainingKernel(
        evaluate,
        X,
        precomputed=isinstance(kernel, str) and kernel == "precomputed",
        strict=strictly_positive_definite(kernel),
        polynomial=inner_product_kernel(kernel, X.shape[1], gamma, *options),
        slope=kernel_slope(kernel, width, *options),
    )
    name = type(estimator).__name__
    return _kernel_design(training, name, intercept=intercept, semidefinite=semidefinite)


def _kernel_design(
    training: TrainingKernel, name: str, *, semidefinite: bool, intercept: bool = False
) -> KernelDesign:
    """Return the design of a kernel, after checking its matrix."""
    K = training.evaluate(training.X, None)
    require_symmetric(K, "the kernel matrix")
    # Symmetric to the last bit, since decompositions read one triangle and products both.
    design = KernelDesign((K + K.T) / 2, intercept=intercept, kernel=training)
    if semidefinite:  # a matrix that is given may be of single precision
        tolerance = 1e-6 if training.precomputed else 0.0
        require_positive_semidefinite(design.spectrum[0], name, tolerance=tolerance)
    return design


for _class, _factory in {
    LinearRegression: from_linear_regression,
    Ridge: from_ridge,
    RidgeClassifier: from_ridge_classifier,
    Lasso: from_lasso,
    ElasticNet: from_elastic_net,
    HuberRegressor: from_huber_regressor,
    LinearSVR: from_linear_svr,
    QuantileRegressor: from_quantile_regressor,
    LogisticRegression: from_logistic_regression,
    InstrumentalRegression: from_instrumental_regression,
    ARX: from_arx,
    KernelRidge: from_kernel_ridge,
    LSSVC: from_lssvc,
    GaussianProcessRegressor: from_gaussian_process,
    KernelHuber: from_kernel_huber,
    KernelLasso: from_kernel_lasso,
    SVR: from_svr,
}.items():
    register_objective(_class, _factory)

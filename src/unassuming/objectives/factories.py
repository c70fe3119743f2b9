"""The objectives of estimators: one function each, whose docstring has what is minimised.

That is the estimator's own objective, times a constant. Rows have weights w, one by default.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, CompoundKernel, ConstantKernel, Kernel
from sklearn.kernel_ridge import KernelRidge

from unassuming import kernels, models
from unassuming._errors import NotAvailable, complaint
from unassuming._typing import Array
from unassuming.inputs import as_orders, as_series, model_quantile
from unassuming.models import solvers as solve
from unassuming.objectives import losses
from unassuming.objectives.designed import DesignedObjective
from unassuming.objectives.features import FeatureDesign
from unassuming.objectives.hyperparameters import (
    Weights,
    check_kernel_parameters,
    common_weight,
    number,
    numbers,
    out_of_range,
)
from unassuming.objectives.instruments import InstrumentObjective
from unassuming.objectives.kernel import KernelDesign
from unassuming.objectives.penalties import Penalty
from unassuming.objectives.registry import register_objective
from unassuming.objectives.systems import ArxObjective


def _refused(option: str, problem: str, expected: str, remedy: str) -> ValueError:
    """Return the refusal of an option of an estimator."""
    return ValueError(complaint(option, problem, expected, option, remedy))


# --- features ------------------------------------------------------------------------------------


def _features(estimator: Any, X: Array) -> FeatureDesign:
    """Return the design of a model that is linear in the columns of X."""
    if getattr(estimator, "positive", False):
        remedy = "Set positive=False: the constraint would have to enter the gradient."
        raise _refused("positive=True", "is not supported", "an unconstrained model", remedy)
    if getattr(estimator, "class_weight", None) is not None:
        problem = "depends on the labels, which voids the guarantee"
        remedy = "Weight rows by something other than y, with sample_weight."
        raise _refused("class_weight", problem, "class_weight=None", remedy)
    return FeatureDesign(X, intercept=bool(estimator.fit_intercept))


def _squares(
    estimator: Any, X: Array, y: Array, w: Weights, alpha: float = 0.0
) -> DesignedObjective:
    design = _features(estimator, X)
    penalty, scale = design.penalty(alpha), 1 / len(y)
    return DesignedObjective(design, y, w, losses.SQUARES, penalty, scale=scale)


def from_linear_regression(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ w r²."""
    return _squares(estimator, X, y, w)


def from_ridge(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ w r² + alpha ‖coef‖²."""
    return _squares(estimator, X, y, w, number(estimator, "alpha", zero=True))


def from_ridge_classifier(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build ridge regression on the labels ±1."""
    return from_ridge(estimator, X, y, w)


def from_lasso(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ r² / (2n) + alpha ‖coef‖₁; a constant sample weight changes nothing."""
    return _elastic_net(estimator, X, y, w, 1.0)


def from_elastic_net(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ r² / (2n) + alpha (l1_ratio ‖coef‖₁ + (1 - l1_ratio) ‖coef‖²/2)."""
    return _elastic_net(estimator, X, y, w, number(estimator, "l1_ratio", zero=True, largest=1.0))


def _elastic_net(estimator: Any, X: Array, y: Array, w: Weights, share: float) -> DesignedObjective:
    common_weight(w, estimator)
    n, design = len(y), _features(estimator, X)
    alpha = n * number(estimator, "alpha", zero=True)
    penalty = design.penalty(alpha * (1 - share), alpha * share)
    title = "the LASSO objective" if share == 1 else "the elastic net objective"
    least = _least_l1 if share else None
    return DesignedObjective(
        design, y, None, losses.SQUARES, penalty, solve=least, scale=1 / n, title=title
    )


def _least_l1(o: DesignedObjective) -> Array:
    # A ridge is a set of further rows of Φ, where y is zero.
    held = o.penalty.ridge > 0
    rows = np.sqrt(o.penalty.ridge[held] / o.w[0])[:, None] * np.eye(o.d)[held]
    y = np.append(o.y, np.zeros(len(rows)))
    return solve.l1_least_squares(np.vstack([o.design.matrix, rows]), y, o.penalty.l1 / o.w[0])


def from_huber_regressor(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Huber's loss with concomitant scale + alpha ‖coef‖²."""
    design, epsilon = _features(estimator, X), number(estimator, "epsilon", above=1.0)
    w, alpha = np.full(len(y), common_weight(w, estimator)), number(estimator, "alpha", zero=True)

    title, loss = f"Huber regression with epsilon {epsilon:g}", losses.scaled_huber(epsilon)
    penalty, scale = design.penalty(alpha), 1 / len(y)
    least = partial(_least_huber, epsilon)
    return DesignedObjective(design, y, w, loss, penalty, solve=least, scale=scale, title=title)


def _least_huber(epsilon: float, o: DesignedObjective) -> Array:
    return solve.concomitant_huber(o.design.matrix, o.y, o.w, epsilon, o.penalty.ridge)[0]


def from_linear_svr(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build ½ ‖coef‖² + ½ (intercept / intercept_scaling)² + C Σ max(``|r|`` - epsilon, 0).

    The terms of the sum are squared if ``loss="squared_epsilon_insensitive"``. LIBLINEAR penalises
    the intercept as written here. A constant sample weight multiplies C.
    """
    squared = estimator.loss == "squared_epsilon_insensitive"
    if not squared and estimator.loss != "epsilon_insensitive":
        either = "'epsilon_insensitive' or 'squared_epsilon_insensitive'"
        raise out_of_range(estimator, "loss", either)
    C = number(estimator, "C") * common_weight(w, estimator)
    epsilon, design = number(estimator, "epsilon", zero=True), _features(estimator, X)
    ridge = np.ones(design.matrix.shape[1])
    if design.intercept:
        ridge[0] = number(estimator, "intercept_scaling") ** -2
    w, penalty = np.full(len(y), 2 * C if squared else C), Penalty(np.diag(ridge), 0 * ridge)
    loss = losses.squared_insensitive(epsilon) if squared else losses.insensitive(epsilon)

    title = f"the {'squared ' * squared}ε-insensitive loss with epsilon {epsilon:g}"
    least = partial(_least_svr, C, epsilon, squared)
    return DesignedObjective(design, y, w, loss, penalty, solve=least, title=title)


def _least_svr(C: float, epsilon: float, squared: bool, o: DesignedObjective) -> Array:
    return solve.linear_svr(o.design.matrix, o.y, C, epsilon, o.penalty.ridge, squared=squared)


def from_quantile_regressor(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ ρ_τ(r) + n alpha ‖coef‖₁; a constant sample weight changes nothing."""
    common_weight(w, estimator)
    design, tau = _features(estimator, X), model_quantile(estimator)
    penalty = design.penalty(0.0, len(y) * number(estimator, "alpha", zero=True))

    title, loss = f"the pinball loss of the {tau:g}-quantile", losses.pinball(tau)
    least = partial(_least_pinball, tau)
    return DesignedObjective(design, y, None, loss, penalty, solve=least, title=title)


def _least_pinball(tau: float, o: DesignedObjective) -> Array:
    return solve.quantile_regression(o.design.matrix, o.y, tau, o.penalty.l1)


def from_logistic_regression(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build C Σ w log(1 + exp(-y g)) + ½ (1 - ρ) ‖coef‖² + ρ ‖coef‖₁, divided by C.

    ρ follows from ``penalty`` where that is given, and is ``l1_ratio`` otherwise. With
    ``penalty=None`` or an infinite C there is no penalty. The solver does not matter, except
    that liblinear penalises the intercept.
    """
    if estimator.solver == "liblinear" and estimator.fit_intercept:
        problem, expected = "penalises the intercept, unlike the other solvers", "solver='lbfgs'"
        remedy = "Or set fit_intercept=False: only the objective matters to the region."
        raise _refused("solver='liblinear'", problem, expected, remedy)
    if getattr(estimator, "multi_class", "auto") == "multinomial":
        problem = "penalises one coefficient vector for each of the two classes"
        remedy = "Leave it out; with an l2 penalty, twice the C gives the same model."
        raise _refused("multi_class='multinomial'", problem, "multi_class='auto'", remedy)
    ratio, n, design = _l1_ratio(estimator), len(y), _features(estimator, X)
    alpha = 0.0 if ratio is None else 1 / number(estimator, "C", infinite=True)
    l1 = alpha * (ratio or 0.0)
    penalty, title = design.penalty(alpha - l1, l1), "logistic regression"
    return DesignedObjective(
        design, y, w, losses.LOGISTIC, penalty, solve=_most_likely, scale=1 / n, title=title
    )


def _most_likely(o: DesignedObjective) -> Array:
    if o.design.intercept and (o.y == o.y[0]).all():
        raise NotAvailable(
            "the estimate of logistic regression needs labels of both classes: all labels are "
            "equal, so the likelihood has no maximum. Pass candidates to rank, contains and "
            "test, or an origin to crossings, or use RidgeClassifier or ua.LSSVC, which have "
            "an estimate."
        )
    p, n = o.penalty, o.n
    return solve.logistic(o.design.matrix, o.y, o.w / n, p.ridge / n, p.l1 / n)


def _l1_ratio(estimator: Any) -> float | None:
    """Return the share of absolute values in the penalty, or None without a penalty."""
    # scikit-learn 1.8 replaces `penalty` by `l1_ratio` and an infinite C.
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
    roles, intercept = models.roles_of(estimator, None, X.shape[1]), bool(estimator.fit_intercept)
    return InstrumentObjective(X, y, w, roles, intercept=intercept)


def from_arx(estimator: Any, X: Array, y: Array, _: Weights) -> ArxObjective:
    """Build Σ r² over the times after the initial values; X is the input u, without weights."""
    orders = as_orders(estimator)
    return ArxObjective(orders, *as_series(X, y, orders))


# --- kernels -------------------------------------------------------------------------------------


def from_kernel_ridge(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ w r² + alpha aᵀKa."""
    design = _kernel(estimator, X)
    return _kernel_squares(design, y, w, number(estimator, "alpha", zero=True))


def from_lssvc(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build ½‖w‖² + C Σ ξ² as ridge regression on the labels: alpha = 1 / (2C).

    The region is exact for label noise; the published one assumes symmetric slacks, which those of
    labels are not (docs/theory.md 8). With a linear kernel there are coefficients [intercept, w] of
    the features, with any other kernel dual coefficients. The article's λ is C.
    """
    alpha = 1 / (2 * number(estimator, "C"))
    if estimator.kernel == "linear":
        return _squares(estimator, X, y, w, alpha)
    design = _kernel(estimator, X, intercept=estimator.fit_intercept)
    return _kernel_squares(design, y, w, alpha)


def from_gaussian_process(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build the objective of the mean: Σ r_j² / v_j + aᵀKa with the variances v of the noise.

    The variances are ``alpha``, a number or one for each row, plus those of a `WhiteKernel`. With a
    common variance v this is kernel ridge regression with alpha = v. The kernel has to be fixed: by
    ``optimizer=None``, or by hyper-parameters that are all ``"fixed"``.
    """
    whole, alpha = _fixed_kernel(estimator), numbers(estimator.alpha)
    kernel = kernels.without_white_noise(whole)
    if kernel is None:
        raise out_of_range(estimator, "kernel", "a kernel of the function, not of noise alone")
    fits, white = alpha.shape in ((), y.shape), kernels.white_noise(whole, X)
    variance = alpha + white if fits else numbers(None)
    largest, equal = float(variance.max()), (variance == variance.max()).all()
    if not (np.isfinite(variance).all() and (alpha >= 0).all() and (equal or variance.all())):
        each = f"one for each of the {len(y)} rows of positive weight, with positive variances"
        raise out_of_range(estimator, "alpha", f"one finite number >= 0, or {each}")
    # Rows of equal variance have equal weights, to the last bit.
    if not equal:
        w = largest / variance * (1.0 if w is None else w)
    design = _kernel_design(estimator, X, kernel, partial(kernels.gram, kernel))
    return _kernel_squares(design, y, w, largest)


def _fixed_kernel(estimator: Any) -> Any:
    """Return the kernel; refuse one that fitting would change, and outputs that it would centre."""
    if estimator.normalize_y:
        problem = "subtracts the mean of y, which the noise changes too"
        remedy = "Subtract a number from y that is known beforehand, or add ConstantKernel() to it."
        raise _refused("normalize_y=True", problem, "normalize_y=False", remedy)
    kernel = estimator.kernel
    if kernel is None:  # as in scikit-learn, where it is fixed
        return ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")
    if not isinstance(kernel, Kernel) or isinstance(kernel, CompoundKernel):
        one = "one kernel of sklearn.gaussian_process.kernels, such as RBF(1.0)"
        raise out_of_range(estimator, "kernel", one)
    if estimator.optimizer is not None and kernel.n_dims > 0:
        raise ValueError(
            "GaussianProcessRegressor chooses its kernel with the same y, which voids the "
            f"guarantee: expected optimizer=None, given optimizer={estimator.optimizer!r} and "
            f"{kernel.n_dims} free hyper-parameters. Fit the process to other rows, and pass "
            "GaussianProcessRegressor(process.kernel_, alpha=process.alpha, optimizer=None)."
        )
    return kernel


def _kernel_squares(design: KernelDesign, y: Array, w: Weights, alpha: float) -> DesignedObjective:
    penalty, closed, scale = design.penalty(alpha), _least_ridge if alpha else None, 1 / len(y)
    return DesignedObjective(design, y, w, losses.SQUARES, penalty, solve=closed, scale=scale)


def _least_ridge(o: DesignedObjective) -> Array:
    return _stacked(solve.kernel_ridge, o, o.penalty.alpha, o.w)


def _stacked(solver: Callable[..., tuple[float, Array]], o: DesignedObjective, *of: Any) -> Array:
    """Return [b, a] from a solver for kernels, or a without an intercept."""
    one = o.design.intercept
    b, a = solver(o.design.matrix[:, int(one) :], o.y, *of, fit_intercept=one)
    return np.append(b, a) if one else a


def from_kernel_huber(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build Σ w h_δ(r) + (alpha/2) aᵀKa."""
    delta, alpha = number(estimator, "delta"), number(estimator, "alpha")
    design = _kernel(estimator, X)

    loss, penalty = losses.huber(delta), design.penalty(alpha)
    title, scale = f"kernel Huber regression with threshold {delta:g}", 1 / len(y)
    least = partial(_least_kernel_huber, delta)
    return DesignedObjective(design, y, w, loss, penalty, solve=least, scale=scale, title=title)


def _least_kernel_huber(delta: float, o: DesignedObjective) -> Array:
    return solve.kernel_huber(o.design.matrix, o.y, o.penalty.alpha, delta, o.w)


def from_kernel_lasso(estimator: Any, X: Array, y: Array, w: Weights) -> DesignedObjective:
    """Build ½ Σ r² + alpha ‖a‖₁; the kernel matrix need only be symmetric."""
    design, n = _kernel(estimator, X, semidefinite=False), len(y)
    penalty = Penalty(np.zeros((n, n)), np.full(n, number(estimator, "alpha", zero=True)))
    w, title = np.full(n, common_weight(w, estimator)), "the LASSO objective"
    options: dict[str, Any] = {"weighting": "identity", "solve": _least_l1, "title": title}
    return DesignedObjective(design, y, w, losses.SQUARES, penalty, **options)


def from_svr(
    estimator: Any, X: Array, y: Array, w: Weights, *, intercept: bool = True
) -> DesignedObjective:
    """Build the dual ½ aᵀKa - yᵀa + ε̄‖a‖₁, ``|a| <= C``; a constant sample weight multiplies C.

    Without an ``intercept`` the constraint due to the bias is left out. Beyond the box the formula
    without it is used, since true coefficients do not depend on C. The article's c is n C.
    """
    C = number(estimator, "C") * common_weight(w, estimator)
    epsilon, n = number(estimator, "epsilon", zero=True), len(y)
    design = _kernel(estimator, X, intercept=intercept, semidefinite=False)

    d = n + intercept
    penalty = Penalty(np.zeros((d, d)), np.full(n, epsilon), C)
    options: dict[str, Any] = {
        "weighting": "gram",
        "dual": True,
        "title": "ε-SVR",
        "solve": _least_dual,
    }
    return DesignedObjective(design, y, None, losses.SQUARES, penalty, **options)


def _least_dual(o: DesignedObjective) -> Array:
    return _stacked(solve.epsilon_svr, o, o.penalty.box, float(o.penalty.l1[0]))


def _kernel(estimator: Any, X: Array, **checks: bool) -> KernelDesign:
    """Return the design of an estimator's kernel, with KernelRidge's or SVR's default of gamma."""
    kernel, gamma, own = estimator.kernel, estimator.gamma, hasattr(estimator, "kernel_params")
    if isinstance(kernel, str):
        check_kernel_parameters(estimator, kernel, default_gamma=own)
    options = {"degree": estimator.degree, "coef0": estimator.coef0}
    if own:
        params = estimator.kernel_params
        evaluate = partial(kernels.gram, kernel, gamma=gamma, params=params, **options)
    else:
        evaluate = partial(kernels.svr_gram, clone(estimator))
        if kernel in ("poly", "polynomial", "rbf"):
            gamma = kernels.resolve_svr_gamma(gamma, X)
    width = 1 / X.shape[1] if gamma is None else gamma
    return _kernel_design(estimator, X, kernel, evaluate, width, *options.values(), **checks)


def _kernel_design(
    estimator: Any,
    X: Array,
    kernel: Any,
    evaluate: Callable[[Array, Array | None], Array],
    *options: Any,
    intercept: bool = False,
    semidefinite: bool = True,
) -> KernelDesign:
    """Return the design of a kernel, whose options are gamma, degree and coef0."""
    training = kernels.TrainingKernel(
        evaluate,
        X,
        precomputed=kernel == "precomputed",
        strict=kernels.strictly_positive_definite(kernel),
        polynomial=kernels.inner_product_kernel(kernel, X.shape[1], *options),
        slope=kernels.kernel_slope(kernel, *options),
    )
    K = evaluate(X, None)
    kernels.require_symmetric(K, "the kernel matrix")
    # Symmetric to the last bit, since decompositions read one triangle and products both.
    design = KernelDesign((K + K.T) / 2, intercept=intercept, kernel=training)
    if semidefinite:  # a matrix that is given may be of single precision
        name, tolerance = type(estimator).__name__, 1e-6 if training.precomputed else 0.0
        kernels.require_positive_semidefinite(design.spectrum[0], name, tolerance=tolerance)
    return design


for _class, _factory in {
    linear_model.LinearRegression: from_linear_regression,
    linear_model.Ridge: from_ridge,
    linear_model.RidgeClassifier: from_ridge_classifier,
    linear_model.Lasso: from_lasso,
    linear_model.ElasticNet: from_elastic_net,
    linear_model.HuberRegressor: from_huber_regressor,
    svm.LinearSVR: from_linear_svr,
    linear_model.QuantileRegressor: from_quantile_regressor,
    linear_model.LogisticRegression: from_logistic_regression,
    models.InstrumentalRegression: from_instrumental_regression,
    models.ARX: from_arx,
    KernelRidge: from_kernel_ridge,
    models.LSSVC: from_lssvc,
    GaussianProcessRegressor: from_gaussian_process,
    models.KernelHuber: from_kernel_huber,
    models.KernelLasso: from_kernel_lasso,
    svm.SVR: from_svr,
}.items():
    register_objective(_class, _factory)

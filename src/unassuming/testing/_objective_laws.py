"""Checks of a user-defined objective: the laws behind the uniform rank."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.inputs import as_seed, is_label_model, split_pipeline
from unassuming.objectives import Objective
from unassuming.regions import confidence_region
from unassuming.testing._laws import require

_SEE = "See the how-to 'Add an objective'."
_TOLERANCE = 1e-8


def check_objective(estimator: Any, X: Any, y: Any, *, random_state: Any = 0) -> None:
    """Check that the objective of an estimator keeps the laws that make the ranks uniform.

    It checks the shapes of residuals and gradients, for one and three candidates and for several
    residual vectors each; that many candidates at once give the same numbers as one at a time; that
    the gradient is zero at the estimate, if there is one; and that y enters only through the
    residuals: an objective of the same inputs and other outputs must have the same fitted values,
    gradients and statistics at the same residuals.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Of a class with a factory (see `unassuming.register_objective`), or a Pipeline that ends in
        one.
    X, y : arrays or DataFrames
        Data for the checks; a few rows are enough.
    random_state : int, Generator, RandomState or None, default 0
        Source of the candidates, the residuals and the other outputs.

    Raises
    ------
    AssertionError
        The message names the broken law.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator, RegressorMixin
    >>> ua.testing.check_objective(Lasso(0.1), X, y)
    >>> class ScaledRidge(RegressorMixin, BaseEstimator):
    ...     pass
    >>> def from_scaled_ridge(estimator, X, y, sample_weight):
    ...     return ua.objectives.from_ridge(Ridge(y.std()), X, y, sample_weight)  # uses y
    >>> ua.register_objective(ScaledRidge, from_scaled_ridge)
    >>> ua.testing.check_objective(ScaledRidge(), X, y)
    Traceback (most recent call last):
        ...
    AssertionError: the gradient of Quadratic depends on y other than through the residuals: ...
    """
    rng = np.random.default_rng(as_seed(random_state))
    objective = _objective(estimator, X, y)
    other = _objective(estimator, X, _other_outputs(estimator, y, rng))
    n, d = objective.n, objective.d
    a = rng.normal(size=(3, d)) / np.sqrt(d)
    r = rng.normal(size=(3, 4, n)) * (1 + np.abs(objective.y).mean())
    _check_shapes(objective, a, r)
    _check_estimate(objective)
    name = type(objective).__name__
    for what, ours, theirs in (
        (f"fitted values of {name} depend", objective.fitted(a), other.fitted(a)),
        (f"gradient of {name} depends", objective.gradient(a, r), other.gradient(a, r)),
        (f"statistic of {name} depends", _statistics(objective, a, r), _statistics(other, a, r)),
    ):
        require(
            _same(ours, theirs),
            f"the {what} on y other than through the residuals: expected the same at the same "
            f"residuals for every y, given other numbers. Use y only in the residuals. {_SEE}",
        )
    _check_coefficients(objective, other, a)


def _objective(estimator: Any, X: Any, y: Any) -> Objective:
    """Return the objective of a region, which has checked and transformed the data."""
    return confidence_region(estimator, deepcopy(X), y, m=2, random_state=0).objective


def _other_outputs(estimator: Any, y: Any, rng: np.random.Generator) -> Any:
    outputs = np.asarray(y).ravel()
    _, model = split_pipeline(estimator)
    if is_label_model(model):
        first, second = np.unique(outputs)
        return np.where(outputs == first, second, first)
    return rng.normal(size=len(outputs)) * (1 + 3 * np.abs(outputs.astype(np.float64)).mean())


def _check_shapes(objective: Objective, a: Array, r: Array) -> None:
    """Compare one candidate with three, and one residual vector with four."""
    name = type(objective).__name__
    n = objective.n
    residuals = _shaped(f"{name}.residuals", objective.residuals(a), (3, n))
    k = np.asarray(objective.gradient(a, r[:, 0])).shape[-1]
    many = _shaped(f"{name}.gradient", objective.gradient(a, r), (3, 4, k))
    for j in range(3):
        aj, rj = a[j : j + 1], r[j : j + 1]
        one = _shaped(f"{name}.residuals", objective.residuals(aj), (1, n))
        alone = _shaped(f"{name}.gradient", objective.gradient(aj, rj[:, 1]), (1, k))
        several = _shaped(f"{name}.gradient", objective.gradient(aj, rj), (1, 4, k))
        for what, ours, theirs in (
            ("residuals", one[0], residuals[j]),
            ("gradient", alone[0], many[j, 1]),
            ("gradient", several[0], many[j]),
        ):
            require(
                _same(ours, theirs),
                f"{name}.{what} gives other numbers for several at once: expected the same as for "
                f"one at a time, given others. Candidates come first, rows last. {_SEE}",
            )


def _shaped(what: str, found: Any, expected: tuple[int, ...]) -> Array:
    values = np.asarray(found, dtype=np.float64)
    require(
        values.shape == expected,
        f"{what} has the wrong shape: expected shape {expected}, given shape {values.shape}. "
        f"Candidates come first, rows or coefficients last. {_SEE}",
    )
    require(
        not np.isnan(values).any(),
        f"{what} is not a number somewhere: expected numbers, given NaN. {_SEE}",
    )
    return values


def _check_estimate(objective: Objective) -> None:
    """Compare the gradient at the estimate with gradients for residuals of the same size."""
    try:
        estimate = np.asarray(objective.estimate(), dtype=np.float64)[None, :]
    except NotAvailable:
        return
    name = type(objective).__name__
    _shaped(f"{name}.estimate", estimate[0], (objective.d,))
    r = objective.residuals(estimate)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(1, 20, objective.n))
    size = np.abs(objective.gradient(estimate, r[:, None, :] * signs)).max()
    left = np.abs(objective.gradient(estimate, r)).max()
    require(
        not left > 1e-6 * size + 1e-12,
        f"the gradient of {name} is not zero at the estimate: expected zero up to rounding, given "
        f"{left:.3g}. Return the minimiser, polished, or define no estimate. {_SEE}",
    )


def _statistics(objective: Objective, a: Array, r: Array) -> Array:
    """Return Z_0 and Z_i with the default weighting, for given residuals."""
    score = objective.score(objective.default_weighting)
    return score.contrast(a, r[:, 0], r[:, 1:], exact=False).statistics()


def _check_coefficients(objective: Objective, other: Objective, a: Array) -> None:
    values = objective.fitted(a)
    try:
        ours, theirs = objective.coefficients(values), other.coefficients(values)
    except NotAvailable:
        return
    require(
        _same(objective.fitted(ours), objective.fitted(theirs)),
        f"{type(objective).__name__}.coefficients depends on y: expected the same for the same "
        f"fitted values, given others. {_SEE}",
    )


def _same(ours: Array, theirs: Array) -> bool:
    size = float(np.abs(theirs).max(initial=0.0))
    return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=0, atol=_TOLERANCE * size)

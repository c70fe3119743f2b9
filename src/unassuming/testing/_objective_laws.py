"""Law checks for an objective of one's own: what the uniform rank rests on."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.inputs import as_seed, is_label_model, split_pipeline
from unassuming.objectives import Objective
from unassuming.regions import confidence_region

_SEE = "See the how-to 'Add an objective'."
_TOLERANCE = 1e-8


def check_objective(estimator: Any, X: Any, y: Any, *, random_state: Any = 0) -> None:
    """Check that the objective of an estimator keeps the laws that make the ranks uniform.

    Shapes of residuals and gradients for one and three candidates and for several residual vectors
    each, the same numbers for many at once as for one at a time, a gradient of zero at the
    estimate where there is one, and no way for y to enter but through the residuals: an objective
    of the same inputs and other outputs must have the same fitted values, gradients and statistics
    at the same residuals.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Of a class with a factory, see `unassuming.register_objective`; or a Pipeline that ends in
        one.
    X, y : arrays or DataFrames
        Data to try it on; a few rows are enough.
    random_state : int, Generator, RandomState or None, default 0
        Source of the candidates, the residuals and the other outputs.

    Raises
    ------
    AssertionError
        With the law that is broken, in words.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.base import BaseEstimator, RegressorMixin
    >>> from sklearn.linear_model import Lasso, Ridge
    >>> X, y, coefficients = ua.datasets.linear(n=20, random_state=0)
    >>> ua.testing.check_objective(Lasso(0.1), X, y)
    >>> class ScaledRidge(RegressorMixin, BaseEstimator):
    ...     pass
    >>> def from_scaled_ridge(estimator, X, y, sample_weight):
    ...     scale = y.std()  # what must not be done
    ...     return ua.objectives.from_ridge(Ridge(scale), X, y, sample_weight)
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
        ("fitted values", objective.fitted(a), other.fitted(a)),
        ("gradient", objective.gradient(a, r), other.gradient(a, r)),
        ("statistic", _statistics(objective, a, r), _statistics(other, a, r)),
    ):
        if not _same(ours, theirs):
            raise _broken(f"the {what} of {name}", "depends on y other than through the residuals",
                          "the same at the same residuals, whatever y is", "other numbers",
                          f"Take nothing but the residuals from y. {_SEE}")  # fmt: skip
    _check_coefficients(objective, other, a)


def _objective(estimator: Any, X: Any, y: Any) -> Objective:
    """Return the objective as a region has it, behind transformers and checks of the data."""
    return confidence_region(estimator, deepcopy(X), y, m=2, random_state=0).objective


def _other_outputs(estimator: Any, y: Any, rng: np.random.Generator) -> Any:
    outputs = np.asarray(y).ravel()
    _, model = split_pipeline(estimator)
    if is_label_model(model):
        first, second = np.unique(outputs)
        return np.where(outputs == first, second, first)
    return rng.normal(size=len(outputs)) * (1 + 3 * np.abs(outputs.astype(np.float64)).mean())


def _check_shapes(objective: Objective, a: Array, r: Array) -> None:
    """Ask for one candidate and for three, with one residual vector and with four."""
    name = type(objective).__name__
    n = objective.n
    fitted = _shaped(f"{name}.residuals", objective.residuals(a), (3, n))
    k = np.asarray(objective.gradient(a, r[:, 0])).shape[-1]
    many = _shaped(f"{name}.gradient", objective.gradient(a, r), (3, 4, k))
    for j in range(3):
        aj, rj = a[j : j + 1], r[j : j + 1]
        one = _shaped(f"{name}.residuals", objective.residuals(aj), (1, n))
        alone = _shaped(f"{name}.gradient", objective.gradient(aj, rj[:, 1]), (1, k))
        several = _shaped(f"{name}.gradient", objective.gradient(aj, rj), (1, 4, k))
        for what, ours, theirs in (
            ("residuals", one[0], fitted[j]),
            ("gradient", alone[0], many[j, 1]),
            ("gradient", several[0], many[j]),
        ):
            if not _same(ours, theirs):
                raise _broken(f"{name}.{what}", "gives other numbers for several at once",
                              "the same as for one at a time", "others",
                              f"Candidates come first, rows last. {_SEE}")  # fmt: skip


def _shaped(what: str, found: Any, expected: tuple[int, ...]) -> Array:
    values = np.asarray(found, dtype=np.float64)
    if values.shape != expected:
        raise _broken(what, "has the wrong shape", f"shape {expected}", f"shape {values.shape}",
                      f"Candidates come first, rows or coefficients last. {_SEE}")  # fmt: skip
    if np.isnan(values).any():
        raise _broken(what, "is not a number somewhere", "numbers", "NaN", _SEE)
    return values


def _check_estimate(objective: Objective) -> None:
    """The gradient vanishes at the minimum, compared with what residuals of that size can do."""
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
    if left > 1e-6 * size + 1e-12:
        raise _broken(f"the gradient of {name}", "is not zero at the estimate",
                      "zero to rounding", f"{left:.3g}",
                      f"Return the minimiser, polished, or define no estimate. {_SEE}")  # fmt: skip


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
    if not _same(objective.fitted(ours), objective.fitted(theirs)):
        raise _broken(f"{type(objective).__name__}.coefficients", "depends on y",
                      "the same for the same fitted values", "others", _SEE)  # fmt: skip


def _same(ours: Array, theirs: Array) -> bool:
    size = float(np.abs(theirs).max(initial=0.0))
    return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=0, atol=_TOLERANCE * size)


def _broken(name: str, wrong: str, expected: str, given: str, remedy: str) -> AssertionError:
    return AssertionError(f"{name} {wrong}: expected {expected}, given {given}. {remedy}")

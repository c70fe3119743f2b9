"""What a model minimises: residuals, and the gradient as a function of residuals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unassuming._errors import NotAvailable
from unassuming._numerics import blur, snapped
from unassuming._typing import Array
from unassuming.inputs import as_finite, is_series_model
from unassuming.objectives.features import FeatureDesign
from unassuming.objectives.kernel import KernelDesign
from unassuming.objectives.losses import Loss
from unassuming.objectives.penalties import Kinks, Penalty
from unassuming.objectives.score import PublicGradient, Score, State

Design = FeatureDesign | KernelDesign
"""Fitted values Φ a, of features or of a kernel."""

Weighting = str | ArrayLike
"""Ψ: ``"identity"``, ``"gram"``, ``"hessian"`` or a matrix."""


class Objective(ABC):
    """An objective whose (sub)gradient depends on the outputs through the residuals only.

    A subclass supplies `residuals` and `gradient`, which is enough for exact tests and membership.
    The gradient must be a function of coefficients, residuals and inputs, and not otherwise of y:
    this makes the ranks uniform (docs/theory.md 2).

    Parameters
    ----------
    y : array of shape (n,)
        Outputs.
    d : int
        Number of coefficients.
    names : sequence of str, optional
        Their names.

    Attributes
    ----------
    design, loss, penalty : Design, Loss, Penalty or None
        The parts of the objective, where fitted values are linear in the coefficients.
    quadratic : bool
        Whether the sets {Z_0 <= Z_i} are ellipsoids: squares, a quadratic penalty, Ψ = H^(-1/2).
    sign_blind : bool
        Whether Z(a, -r) = Z(a, r), as without a penalty; a group is then taken modulo ±I.
    default_weighting : str
        The weighting Ψ used by default.
    labels_only : bool
        Whether the objective is for labels ±1 and their noise only.
    quantile : float or None
        The quantile that it estimates; its gradient then depends on signs of residuals alone.
    endogenous : list of int
        The coefficients whose columns may depend on the noise, so that least squares is biased.
    basis : array of shape (n, n), or None
        Q, if the rows are those of (Qᵀy, QᵀΦ).
    initial : int
        The number of first rows that only start a time series.

    Examples
    --------
    >>> class Mean(ua.objectives.Objective):
    ...     def residuals(self, coefficients):
    ...         return self.y - coefficients
    ...
    ...     def gradient(self, coefficients, residuals):
    ...         return -residuals.mean(axis=-1, keepdims=True)
    >>> objective = Mean(np.array([1.0, 3.0]), d=1)
    >>> objective.gradient(np.array([[1.0]]), objective.residuals(np.array([[1.0]])))
    array([[-1.]])
    """

    design: Design | None = None
    loss: Loss | None = None
    penalty: Penalty | None = None
    quadratic: bool = False
    sign_blind: bool = False
    default_weighting: str = "identity"
    labels_only: bool = False
    quantile: float | None = None
    endogenous: Sequence[int] = ()
    basis: Array | None = None
    initial: int = 0

    def __init__(self, y: Array, d: int, names: Sequence[str] | None = None) -> None:
        self.y, self.n, self.d = y, len(y), d
        self.names = [f"a{j}" for j in range(d)] if names is None else list(names)

    @abstractmethod
    def residuals(self, coefficients: Array) -> Array:
        """Return y minus the fitted values of ``coefficients``, (..., d) -> (..., n)."""

    @abstractmethod
    def gradient(self, coefficients: Array, residuals: Array) -> Array:
        """Return the (sub)gradient with respect to the coefficients, given the residuals.

        ``coefficients`` has shape (N, d); ``residuals`` has shape (N, ..., n), several residual
        vectors for each candidate. The result has shape (N, ..., k).
        """

    @property
    def exogenous(self) -> Design | None:
        """The columns that do not depend on the noise."""
        return self.design

    def response(self, g: Array) -> Array:
        """Return the value of the function at which the linear part is g; it increases in g."""
        return g if self.loss is None else self.loss.mean(g)

    def fitted(self, coefficients: Array) -> Array:
        """Return the fitted values of ``coefficients``, (N, d) -> (N, n)."""
        return self.y - self.residuals(coefficients)

    def state(self, coefficients: Array) -> State:
        """Return residuals and fitted values of ``coefficients``, with their rounding."""
        f = self.fitted(coefficients)
        return self.at_values(f, coefficients, blur(self.y, 2 * np.abs(f)))

    def at_values(self, f: Array, a: Array | None = None, e: Array | None = None) -> State:
        """Return the state of functions with the values f (N, n), coefficients a and rounding e."""
        kinks = self.kinks()
        at = (0.0, *(kinks.thresholds if kinks else ()))
        e = blur(self.y, np.abs(f)) if e is None else e
        return State(self.coefficients(f) if a is None else a, snapped(self.y - f, e, at), f, e)

    def kinks(self) -> Kinks | None:
        """Return where the gradient changes its form; None if that is unknown."""
        return None

    def estimate(self) -> Array:
        """Return the minimiser, with a gradient that is zero to rounding, shape (d,)."""
        raise self._missing("no point estimate", "it", "estimate()", "pass candidates")

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of fitted ``values``, (N, n) -> (N, d)."""
        what = "no rule from fitted values to coefficients"
        remedy = f"pass a coefficient vector of length {self.d}"
        raise self._missing(what, "a callable candidate", "coefficients(values)", remedy)

    def _missing(self, what: str, who: str, method: str, remedy: str) -> NotAvailable:
        name = type(self).__name__
        said = f"{name} has {what}: {who} needs the method {method}. Define it, or {remedy}."
        return NotAvailable(said)

    def coefficients_of(self, estimator: Any) -> Array | None:
        """Return the coefficients (d,) of a fitted ``estimator``; None if predictions decide."""
        if is_series_model(estimator):
            raise ValueError(
                f"the candidate is a model of a time series: expected a function of X, given "
                f"{type(estimator).__name__}. Build the region with ua.confidence_region("
                f"{estimator!r}, u, y)."
            )
        return None

    def in_basis(self, Q: Array) -> Objective | None:
        """Return the objective of (Qᵀy, QᵀΦ), Q orthogonal; None if that is another minimum."""
        return None

    def rename(self, names: Sequence[Any]) -> None:
        """Give the coefficients the ``names`` of the columns, where they belong to columns."""
        if self.design is not None:
            self.design.rename(names)
            self.names = self.design.names

    def score(self, weighting: Weighting) -> Score:
        """Return the statistics with that ``weighting``."""
        known = named(weighting)
        if known not in ("", "identity"):
            raise self.refused(weighting, "'identity' or a matrix")
        return PublicGradient(self.gradient, None if known else as_matrix(weighting))

    def refused(self, weighting: object, expected: str) -> ValueError:
        """Return the refusal of a ``weighting`` that is not one of the ``expected``."""
        return ValueError(
            f"weighting is not available for {self}: expected {expected}, given "
            f"{weighting!r}. Leave it out for the default, {self.default_weighting!r}."
        )

    def __str__(self) -> str:
        return type(self).__name__


def as_state(candidates: Array | State, objective: Objective) -> State:
    """Return the state of coefficients (N, d); that of functions is known."""
    return candidates if isinstance(candidates, State) else objective.state(candidates)


def named(weighting: Weighting) -> str:
    """Return the name of a weighting; nothing for a matrix."""
    return weighting if isinstance(weighting, str) else ""


def as_matrix(weighting: Weighting, columns: int | None = None) -> Array:
    """Return Ψ as a clean matrix whose columns match the gradient."""
    psi = as_finite(weighting, "weighting", "Pass a name, or a finite matrix.")
    if psi.ndim != 2 or not psi.any() or columns not in (None, psi.shape[1]):
        many = "one column" if columns is None else f"{columns} columns, one"
        raise ValueError(
            "weighting must be a name or a finite matrix other than zero, given an array of shape "
            f"{psi.shape}. Pass {many} for each component of the gradient."
        )
    return psi

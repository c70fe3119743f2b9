"""What a model minimises: residuals, and the gradient as a function of residuals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unassuming._errors import NotAvailable
from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.inputs import is_series_model
from unassuming.objectives._kinks import Kinks
from unassuming.objectives._score import GradientScore, Score
from unassuming.objectives.designs import Design

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
    design : Design or None
        The features or the kernel, if fitted values are a linear map of the coefficients.
    default_weighting : str
        The weighting Ψ used by default.
    labels_only : bool
        True if the objective is for labels ±1 and their noise only.
    quantile : float or None
        The quantile that it estimates; its gradient then depends on signs of residuals alone.
    basis : array of shape (n, n), or None
        Q, if the rows are those of (Qᵀy, QᵀΦ); None if they are those of the data.
    y_error : array of shape (n,), or 0
        Bounds of errors that y has beyond the rounding of each number.
    spanned : str
        The function that the features have to span, if it is not that of the noise-free outputs.
    atoms : str
        Where an atom of the noise makes the coverage at least the level, instead of equal to it.
    independent : str
        What must not depend on the noise.
    equation : str
        What is assumed of y instead of a function that the features span.
    assumed : tuple of str
        Assumptions besides those on the noise and on the inputs.
    ideal : str
        The coefficients that a region covers, if not those that give the noise-free outputs.
    endogenous : list of int
        The coefficients whose columns may depend on the noise, so that least squares is biased.
    initial : int
        The number of first rows that only start a time series.
    undesigned : str
        What an operation needs that this objective without a design does not have.

    Examples
    --------
    >>> class Mean(Objective):
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
    quantile: float | None = None
    basis: Array | None = None
    y_error: Array | float = 0.0
    default_weighting: str = "identity"
    labels_only: ClassVar[bool] = False
    spanned: ClassVar[str] = ""
    atoms: str = ""
    independent: ClassVar[str] = "inputs, features, weights, hyper-parameters and seed"
    equation: ClassVar[str] = ""
    assumed: ClassVar[tuple[str, ...]] = ()
    ideal: ClassVar[str] = ""
    initial: int = 0
    undesigned: ClassVar[str] = (
        "a model with features or a kernel, and {objective} does not declare any: use "
        "interval(functionals) and crossings, or derive the objective from DesignedObjective"
    )

    def __init__(self, y: Array, d: int, names: list[str] | None = None) -> None:
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

    def fitted(self, coefficients: Array) -> Array:
        """Return the fitted values of ``coefficients``, (N, d) -> (N, n)."""
        return self.y - self.residuals(coefficients)

    def response(self, g: Array) -> Array:
        """Return the value of the function at which the linear part is g; it increases in g."""
        return g

    def residual_error(self, coefficients: Array, residuals: Array) -> Array:
        """Bound the rounding error of ``residuals`` at ``coefficients``: (N, n).

        Two residuals that differ by less may be equal, and one that is smaller may be zero.
        """
        del coefficients
        return rounding_of_difference(self.y, self.y - residuals) + self.y_error

    def accurate_residuals(self, coefficients: Array) -> tuple[Array, Array] | None:
        """Return residuals with about twice as many digits and their errors; None if unavailable.

        They take the coefficients as exact numbers, where the terms of the fitted values cancel.
        """
        del coefficients
        return None

    @property
    def endogenous(self) -> list[int]:
        """The coefficients whose columns may depend on the noise."""
        return []

    @property
    def excluded(self) -> list[str]:
        """The columns that have no coefficient, such as instruments."""
        return []

    @property
    def regressors(self) -> Array | None:
        """The observed regressors (n, d) of a model without a design; they depend on the noise.

        They serve searches and pictures, to which it matters how large coefficients are.
        """
        return None

    @property
    def sign_blind(self) -> bool:
        """Whether Z(a, -r) = Z(a, r), as without a penalty; a group is then taken modulo ±I."""
        return False

    def kinks(self) -> Kinks | None:
        """Return where the gradient changes its form; None if that is unknown.

        If an objective declares its kinks, the crossings of its region with lines are exact.
        """
        return None

    def estimate(self) -> Array:
        """Return the minimiser, with a gradient that is zero to rounding, shape (d,)."""
        raise NotAvailable(
            f"{type(self).__name__} has no point estimate: it needs the method estimate(). Define "
            "it, or pass candidates."
        )

    def refuse_values(self) -> NotAvailable | None:
        """Return the refusal of candidates given by their values at the inputs; None by default."""
        return None

    def in_basis(self, Q: Array) -> Objective | None:
        """Return the objective of (Qᵀy, QᵀΦ), Q orthogonal; None if that is another minimum."""
        del Q
        return None

    def rename(self, names: Sequence[Any]) -> None:
        """Give the coefficients the names of the columns, where they belong to columns."""
        if self.design is not None and self.design.rename(names):
            self.names = self.design.names

    def standardised(self) -> Objective | None:
        """Return the objective on standardised features; None if that is not available."""
        return None

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of fitted ``values``, (N, n) -> (N, d)."""
        raise NotAvailable(
            f"{type(self).__name__} has no rule from fitted values to coefficients: a callable "
            "candidate needs the method coefficients(values). Define it, or pass a coefficient "
            f"vector of length {self.d}."
        )

    def coefficients_of(self, estimator: Any) -> Array | None:
        """Return the coefficients (d,) of a fitted ``estimator``; None if predictions decide."""
        if is_series_model(estimator):
            raise ValueError(
                f"the candidate is a model of a time series: expected a function of X, given "
                f"{type(estimator).__name__}. Build the region with ua.confidence_region("
                f"{estimator!r}, u, y)."
            )
        return None

    def score(self, weighting: Weighting) -> Score:
        """Return the weighted gradient Ψ ḡ for that weighting."""
        if not isinstance(weighting, str):
            return GradientScore(self.gradient, as_weighting_matrix(weighting, None))
        if weighting == "identity":
            return GradientScore(self.gradient, None)
        raise self._refused_weighting(weighting, "'identity' or a matrix")

    def _refused_weighting(self, weighting: str, expected: str, why: str = "") -> ValueError:
        return ValueError(
            f"weighting is not available for {self}{why}: expected {expected}, given "
            f"{weighting!r}. Leave it out for the default, {self.default_weighting!r}."
        )

    def __str__(self) -> str:
        return type(self).__name__


def rounding_of_difference(y: Array, f: Array) -> Array:
    """Bound the rounding error of y - f, with a margin.

    Examples
    --------
    >>> bool(rounding_of_difference(np.ones(1), np.ones(1))[0] < 1e-14)
    True
    """
    return np.asarray(8 * EPS * (np.abs(y) + np.abs(f)))


def as_weighting_matrix(weighting: ArrayLike, columns: int | None) -> Array:
    """Return Ψ as a clean matrix whose columns match the gradient."""
    try:
        psi = np.asarray(weighting, dtype=np.float64)
    except (TypeError, ValueError):
        psi = np.full((), np.nan)
    if psi.ndim != 2 or not np.isfinite(psi).all():
        given = "" if np.isfinite(psi).all() else ", not all finite numbers"
        raise ValueError(
            "weighting must be a name or a finite matrix, given an array of shape "
            f"{np.shape(weighting)}{given}. Pass one column for each component of the gradient."
        )
    if not psi.any():
        raise ValueError(
            "weighting is zero: expected a matrix with non-zero entries, given only zeros. Leave "
            "it out for the default."
        )
    if columns is not None and psi.shape[1] != columns:
        raise ValueError(
            f"weighting has the wrong number of columns: expected {columns}, one for each "
            f"component of the gradient, given shape {psi.shape}. Transpose or extend it."
        )
    return psi

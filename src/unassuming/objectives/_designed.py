"""Objectives on a design, whose gradient is a subdifferential minus L ρ(r)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Self

import numpy as np

from unassuming._rounding import of_products
from unassuming._typing import Array
from unassuming.objectives._accurate import accurate_residuals
from unassuming.objectives._base import Objective, Weighting, as_weighting_matrix
from unassuming.objectives._score import LeastNormScore, Score
from unassuming.objectives.designs import ROTATED, Design, in_basis


class DesignedObjective(Objective):
    """Fitted values Φ a, and minus the gradient in the form L ρ(r) - ∂penalty(a).

    The least-norm element of the subdifferential is taken, so that the gradient vanishes at the
    minimum (docs/theory.md 6).

    Parameters
    ----------
    design : Design
        Φ and its penalty matrix.
    y : array of shape (n,)

    Examples
    --------
    >>> objective: DesignedObjective = region.objective
    >>> objective.residuals(region.estimate).shape, objective.design.matrix.shape
    ((50,), (50, 3))
    """

    design: Design

    def __init__(self, design: Design, y: Array) -> None:
        super().__init__(y, design.matrix.shape[1], design.names)
        self.design = design

    @abstractmethod
    def pullback(self) -> Array | None:
        """Return L, shape (k, n); None is the identity."""

    @abstractmethod
    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return the box [lo, hi] of the penalty's subgradients at a (N, d), each (N, k)."""

    def influence(self, r: Array) -> Array:
        """Return ρ(r), the derivative of the loss; the residual itself for squares."""
        return r

    def rotated(self, Q: Array, make: Callable[[Design, Array], Self]) -> Self | None:
        """Return the objective that is made of QᵀΦ and Qᵀy; None if the design has no such form."""
        design = self.design.in_basis(Q)
        if design is None:
            return None
        y, size = in_basis(Q, self.y[:, None])
        found = make(design, y[:, 0])
        found.basis, found.y_error = Q, ROTATED * size[:, 0]
        return found

    def fitted(self, coefficients: Array) -> Array:
        """Return the fitted values, the response at Φ a."""
        return self.response(np.asarray(coefficients @ self.design.matrix.T))

    def residuals(self, coefficients: Array) -> Array:
        """Return r(a) = y - Φ a."""
        return self.y - self.fitted(coefficients)

    def residual_error(self, coefficients: Array, residuals: Array) -> Array:
        """Bound the rounding error of y - Φ a, relative to ``|y| + |Φ| |a|``."""
        return super().residual_error(coefficients, residuals) + self.product_error(coefficients)

    def accurate_residuals(self, coefficients: Array) -> tuple[Array, Array] | None:
        """Sum y - Φ a in twice the precision, if fitted values are Φ a and Φ is known exactly."""
        if type(self).response is not Objective.response or self.design.rounding:
            return None
        return accurate_residuals(self.y, self.design.matrix, coefficients)

    def product_error(self, coefficients: Array) -> Array:
        """Bound the rounding error of Φ a, relative to ``|Φ| |a|``."""
        size = np.abs(coefficients) @ self._size_of_design.T
        return np.asarray((of_products(self.d) + self.design.rounding) * size)

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of least norm."""
        return self.design.coefficients(values)

    def gradient(self, coefficients: Array, residuals: Array) -> Array:
        """Return the (sub)gradient of least norm."""
        rho = self.influence(residuals)
        u = rho if self._pullback is None else rho @ self._pullback.T
        extra = (1,) * (u.ndim - coefficients.ndim)
        box = self.subdifferential(coefficients)
        lo, hi = (side.reshape(len(side), *extra, -1) for side in box)
        return np.clip(u, lo, hi) - u

    def score(self, weighting: Weighting) -> Score:
        """Return Ψ times the least-norm gradient."""
        if isinstance(weighting, str):
            psi = self.named_weighting(weighting)
        else:
            k = self.n if self._pullback is None else len(self._pullback)
            psi = as_weighting_matrix(weighting, k)
        penalty, terms = self.subdifferential, self.penalty_terms
        return LeastNormScore(self._pullback, self.influence, penalty, psi, terms)

    def penalty_terms(self, a: Array) -> Array:
        """Return the sizes of the terms summed to a finite subgradient at a (N, d), (N, k)."""
        lo, _ = self.subdifferential(a)
        return np.where(np.isfinite(lo), np.abs(lo), 0.0)

    @abstractmethod
    def named_weighting(self, weighting: str) -> Array | None:
        """Return Ψ by name; None for the identity."""

    @cached_property
    def _size_of_design(self) -> Array:
        sizes = self.design.sizes
        return np.abs(self.design.matrix) if sizes is None else sizes

    @cached_property
    def _pullback(self) -> Array | None:
        return self.pullback()

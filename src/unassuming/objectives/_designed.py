"""Objectives on a design: L ρ(r) minus a subdifferential, for every method of the library."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.objectives._base import Objective, Weighting, as_weighting_matrix
from unassuming.objectives._design import Design
from unassuming.objectives._score import LeastNormScore, Score


class DesignedObjective(Objective):
    """Fitted values Φ a, and minus the gradient in the form L ρ(r) - ∂penalty(a).

    The least-norm element of the subdifferential is taken, so that the gradient vanishes at the
    minimum (docs/theory.md 6).

    Parameters
    ----------
    design : Design
        Φ, and what it penalises.
    y : array of shape (n,)

    Examples
    --------
    >>> from unassuming.objectives import FeatureDesign, LassoObjective
    >>> design = FeatureDesign(np.array([[0.0], [1.0]]), intercept=True)
    >>> y, nothing = np.array([1.0, 3.0]), np.zeros(2)
    >>> objective: DesignedObjective = LassoObjective(design, y, 0.5, nothing)
    >>> objective.residuals(np.array([1.0, 1.0]))
    array([0., 1.])
    """

    design: Design

    def __init__(self, design: Design, y: Array) -> None:
        super().__init__(y, design.matrix.shape[1], design.names)
        self.design = design

    @abstractmethod
    def pullback(self) -> Array | None:
        """Return L, (k, n), from the loss in the fitted values to the coefficients."""

    @abstractmethod
    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return the box [lo, hi] of the penalty's subgradients at a (N, d), each (N, k)."""

    def influence(self, r: Array) -> Array:
        """Return ρ(r), the derivative of the loss; the residual itself for squares."""
        return r

    def fitted(self, coefficients: Array) -> Array:
        """Return the fitted values, those of Φ a."""
        return self.response(np.asarray(coefficients @ self.design.matrix.T))

    def residuals(self, coefficients: Array) -> Array:
        """Return r(a) = y - Φ a."""
        return self.y - self.fitted(coefficients)

    def residual_error(self, coefficients: Array, residuals: Array) -> Array:
        """Bound the rounding error of y - Φ a, relative to ``|y| + |Φ| |a|``."""
        return super().residual_error(coefficients, residuals) + self.product_error(coefficients)

    def product_error(self, coefficients: Array) -> Array:
        """Bound the rounding error of Φ a, relative to ``|Φ| |a|``."""
        size = np.abs(coefficients) @ self._size_of_design.T
        return np.asarray((4 * EPS * np.sqrt(self.d) + self.design.rounding) * size)

    def coefficients(self, values: Array) -> Array:
        """Return the least-norm coefficients of fitted values."""
        return self.design.coefficients(values)

    def gradient(self, coefficients: Array, residuals: Array) -> Array:
        """Return the least-norm (sub)gradient, with several residual vectors for each candidate."""
        rho = self.influence(residuals)
        u = rho if self._pullback is None else rho @ self._pullback.T
        extra = (1,) * (u.ndim - coefficients.ndim)
        lo, hi = (
            side.reshape(len(side), *extra, -1) for side in self.subdifferential(coefficients)
        )
        return np.clip(u, lo, hi) - u

    def score(self, weighting: Weighting) -> Score:
        """Return Ψ times the least-norm gradient."""
        if isinstance(weighting, str):
            psi = self.named_weighting(weighting)
        else:
            k = self.n if self._pullback is None else len(self._pullback)
            psi = as_weighting_matrix(weighting, k)
        return LeastNormScore(self._pullback, self.influence, self.subdifferential, psi)

    @abstractmethod
    def named_weighting(self, weighting: str) -> Array | None:
        """Return Ψ by name; None for the identity."""

    @cached_property
    def _size_of_design(self) -> Array:
        return np.abs(self.design.matrix)

    @cached_property
    def _pullback(self) -> Array | None:
        return self.pullback()

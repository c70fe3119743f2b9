"""Squares with a 1-norm penalty: LASSO, elastic net and kernel LASSO (docs/theory.md 6)."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.models.solvers import l1_least_squares, l1_subdifferential
from unassuming.objectives._designed import DesignedObjective
from unassuming.objectives._kinks import Kinks
from unassuming.objectives.designs import Design
from unassuming.objectives.kinked._inverse_root import inverse_root


class LassoObjective(DesignedObjective):
    """(c/2) ‖y - Φa‖² + ``Σ_j penalty_j |a_j|`` + ½ Σ_j ridge_j a_j².

    Kernel LASSO: Φ = K, c = 1, penalty = alpha (the paper's λ). scikit-learn's Lasso: Φ = [1, X],
    c = 1/n, penalty = alpha, and 0 for the intercept. Its ElasticNet has a ridge as well.

    Parameters
    ----------
    design : Design
    y : array of shape (n,)
    c : float
    penalty : array of shape (d,)
    ridge : array of shape (d,), optional
        Zero by default.

    Examples
    --------
    >>> design = ua.objectives.FeatureDesign(np.array([[1.0], [-1.0]]), intercept=False)
    >>> objective = LassoObjective(design, np.array([3.0, -1.0]), 0.5, np.array([0.5]))
    >>> objective.estimate().round(6)
    array([1.5])
    """

    def __init__(
        self, design: Design, y: Array, c: float, penalty: Array, ridge: Array | None = None
    ) -> None:
        super().__init__(design, y)
        # With the identity, the units of the features decide whether anything is bounded.
        self.default_weighting = "identity" if design.dual else "hessian"
        self.c = c
        self.penalty = penalty
        self.ridge = np.zeros(self.d) if ridge is None else ridge

    def pullback(self) -> Array:
        """Return c Φᵀ."""
        return self.c * self.design.matrix.T

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return ridge · a + penalty · sign(a), and [-penalty, penalty] where a_j = 0."""
        lo, hi = l1_subdifferential(a, self.penalty)
        return (lo + self.ridge * a, hi + self.ridge * a) if self.ridge.any() else (lo, hi)

    def penalty_terms(self, a: Array) -> Array:
        """Return the sizes of both parts of the penalty's gradient."""
        return self.penalty + self.ridge * np.abs(a)

    def kinks(self) -> Kinks:
        """Return the zeros of the penalised coefficients."""
        zero, ridge = np.where(self.penalty > 0, 0.0, np.nan), self.ridge
        ridge = ridge if ridge.any() else ridge[:0]
        return Kinks(coefficient=np.arange(self.d), values=zero[:, None], ridge=ridge)

    @property
    def sign_blind(self) -> bool:
        """True without a penalty."""
        return not (self.penalty.any() or self.ridge.any())

    def named_weighting(self, weighting: str) -> Array | None:
        """Return the identity, the root of the Gram matrix, or H^{-1/2} on the range of H.

        H = c ΦᵀΦ + diag(ridge).
        """
        if weighting == "identity":
            return None
        if weighting == "gram":
            return self.design.gram_root()
        if weighting == "hessian":
            return inverse_root(self.design.matrix, self.c, self.ridge)
        gram = "'gram', " if self.design.dual else ""
        raise self._refused_weighting(weighting, f"'identity', {gram}'hessian' or a matrix")

    def in_basis(self, Q: Array) -> LassoObjective | None:
        """Rotate the rows, which leaves the sum of squares as it is."""

        def make(design: Design, y: Array) -> LassoObjective:
            return LassoObjective(design, y, self.c, self.penalty, self.ridge)

        return self.rotated(Q, make)

    def standardised(self) -> LassoObjective | None:
        """Return the objective on features of mean zero and variance one."""
        scaled = None if self.design.dual else self.design.standardised()
        if scaled is None:
            return None
        return LassoObjective(scaled, self.y, self.c, self.penalty, self.ridge)

    def estimate(self) -> Array:
        """Return the minimiser; a ridge is a set of further rows of Φ, where y is zero."""
        held = np.flatnonzero(self.ridge)
        rows = np.sqrt(self.ridge[held] / self.c)[:, None] * np.eye(self.d)[held]
        y = np.concatenate([self.y, np.zeros(len(held))])
        return l1_least_squares(np.vstack([self.design.matrix, rows]), y, self.penalty / self.c)

    def __str__(self) -> str:
        return "the elastic net objective" if self.ridge.any() else "the LASSO objective"

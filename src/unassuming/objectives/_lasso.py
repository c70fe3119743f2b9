"""Squares with a 1-norm penalty: LASSO and kernel LASSO (docs/theory.md 6)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from unassuming._typing import Array
from unassuming.models.solvers import l1_least_squares, l1_subdifferential
from unassuming.objectives._designed import DesignedObjective
from unassuming.objectives._kinks import Kinks
from unassuming.objectives.designs import Design

_SEEN = 1e-6
"""Singular values of Φ below this share of the largest count as zero in the Hessian: dividing by
them would drown the other components of the gradient in rounding errors."""


class LassoObjective(DesignedObjective):
    """(c/2) ‖y - Φa‖² + ``Σ_j penalty_j |a_j|``.

    Kernel LASSO: Φ = K, c = 1, penalty = alpha (the paper's λ). scikit-learn's Lasso: Φ = [1, X],
    c = 1/n, penalty = alpha, and 0 for the intercept.

    Parameters
    ----------
    design : Design
    y : array of shape (n,)
    c : float
    penalty : array of shape (d,)

    Examples
    --------
    >>> design = ua.objectives.FeatureDesign(np.array([[1.0], [-1.0]]), intercept=False)
    >>> objective = LassoObjective(design, np.array([3.0, -1.0]), 0.5, np.array([0.5]))
    >>> objective.estimate().round(6)
    array([1.5])
    """

    def __init__(self, design: Design, y: Array, c: float, penalty: Array) -> None:
        super().__init__(design, y)
        # With the identity, the units of the features decide whether anything is bounded.
        self.default_weighting = "identity" if design.dual else "hessian"
        self.c = c
        self.penalty = penalty

    def pullback(self) -> Array:
        """Return c Φᵀ."""
        return self.c * self.design.matrix.T

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return penalty · sign(a), and [-penalty, penalty] where a_j = 0."""
        return l1_subdifferential(a, self.penalty)

    def kinks(self) -> Kinks:
        """Return the zeros of the penalised coefficients."""
        zero = np.where(self.penalty > 0, 0.0, np.nan)
        return Kinks(coefficient=np.arange(self.d), values=zero[:, None])

    @property
    def sign_blind(self) -> bool:
        """True without a penalty."""
        return not self.penalty.any()

    def named_weighting(self, weighting: str) -> Array | None:
        """Return the identity, the root of the Gram matrix, or (c ΦᵀΦ)^{-1/2} on its range."""
        if weighting == "identity":
            return None
        if weighting == "gram":
            return self.design.gram_root()
        if weighting == "hessian":
            _, s, vt = svd(self.design.matrix, full_matrices=False)
            keep = s > _SEEN * s[0]
            return np.asarray(vt[keep] / (np.sqrt(self.c) * s[keep, None]))
        gram = "'gram', " if self.design.dual else ""
        raise self._refused_weighting(weighting, f"'identity', {gram}'hessian' or a matrix")

    def standardised(self) -> LassoObjective | None:
        """Return the objective on features of mean zero and variance one."""
        scaled = None if self.design.dual else self.design.standardised()
        return None if scaled is None else LassoObjective(scaled, self.y, self.c, self.penalty)

    def estimate(self) -> Array:
        """Return the minimiser."""
        return l1_least_squares(self.design.matrix, self.y, self.penalty / self.c)

    def __str__(self) -> str:
        return "the LASSO objective"

"""ε-insensitive regression in the features, as scikit-learn's LinearSVR (docs/theory.md 7)."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.models.solvers import linear_svr
from unassuming.objectives._base import Weighting
from unassuming.objectives._designed import DesignedObjective
from unassuming.objectives._kinks import Kinks
from unassuming.objectives._score import LeastNormScore, Score
from unassuming.objectives.designs import FeatureDesign
from unassuming.objectives.kinked._inverse_root import inverse_root
from unassuming.objectives.kinked._jump_score import JumpScore


class LinearSVRObjective(DesignedObjective):
    """½ Σ_j ridge_j a_j² + C Σ_i max(``|r_i|`` - ε, 0), or the squares of the last terms.

    Minus the gradient is CΦᵀρ(r) - ridge · a with ρ(r) = sign(r) outside the tube and 0 inside, or
    twice the distance from the tube for squares. LIBLINEAR penalises the intercept too: its ridge
    is ``intercept_scaling**-2``.

    Parameters
    ----------
    design : FeatureDesign
    y : array of shape (n,)
    C : float
    epsilon : float
        ε, half the width of the tube.
    ridge : array of shape (d,)
        Positive.
    squared : bool
        Whether distances from the tube are squared.

    Examples
    --------
    >>> design = ua.objectives.FeatureDesign(np.array([[1.0], [2.0]]), intercept=False)
    >>> objective = LinearSVRObjective(design, np.array([1.0, 5.0]), 1.0, 0.5, np.ones(1), False)
    >>> objective.influence(np.array([-2.0, 0.3, 0.7]))
    array([-1.,  0.,  1.])
    >>> objective.estimate().round(6)
    array([1.5])
    """

    default_weighting: str = "hessian"

    design: FeatureDesign

    def __init__(
        self,
        design: FeatureDesign,
        y: Array,
        C: float,
        epsilon: float,
        ridge: Array,
        squared: bool,
    ) -> None:
        super().__init__(design, y)
        self.C, self.epsilon, self.ridge, self.squared = C, epsilon, ridge, squared
        self.c = 2 * C if squared else C
        if not squared:
            self.atoms = f"±{epsilon:g}" if epsilon else "0"

    def pullback(self) -> Array:
        """Return CΦᵀ, twice that for squares."""
        return self.c * self.design.matrix.T

    def influence(self, r: Array) -> Array:
        """Return the distance from the tube with its sign, or the sign alone."""
        outside = r - np.clip(r, -self.epsilon, self.epsilon)
        return outside if self.squared else np.sign(outside)

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return ridge · a for both ends: the penalty is smooth."""
        return self.ridge * a, self.ridge * a

    def kinks(self) -> Kinks:
        """Return the sides of the tube, where ρ bends or jumps."""
        sides = np.array([-self.epsilon, self.epsilon]) if self.epsilon else np.zeros(1)
        if self.squared:
            return (
                Kinks(thresholds=sides, slopes=np.array([1.0, 0.0, 1.0]))
                if self.epsilon
                else Kinks()
            )
        return Kinks(
            thresholds=sides,
            slopes=np.zeros(len(sides) + 1),
            jumps=np.full(len(sides), 2.0 / len(sides)),
        )

    def score(self, weighting: Weighting) -> Score:
        """Return Ψ times the gradient, which is a set where ρ jumps."""
        score = super().score(weighting)
        assert isinstance(score, LeastNormScore)
        return score if self.squared else JumpScore(score, self.epsilon)

    def named_weighting(self, weighting: str) -> Array | None:
        """Return the identity, or H^{-1/2} with H = cΦᵀΦ + diag(ridge), c as in the gradient."""
        if weighting == "identity":
            return None
        if weighting == "hessian":
            return inverse_root(self.design.matrix, self.c, self.ridge)
        raise self._refused_weighting(weighting, "'hessian', 'identity' or a matrix")

    def estimate(self) -> Array:
        """Return the minimiser."""
        return linear_svr(
            self.design.matrix, self.y, self.C, self.epsilon, self.ridge, squared=self.squared
        )

    def __str__(self) -> str:
        loss = "the squared ε-insensitive loss" if self.squared else "the ε-insensitive loss"
        return f"{loss} with epsilon {self.epsilon:g}"

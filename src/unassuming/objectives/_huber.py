"""Huber's loss: fixed threshold for kernels, concomitant scale for features (docs/theory.md 7)."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.models.solvers import concomitant_huber, huber_scale, kernel_huber
from unassuming.objectives._kinks import Kinks
from unassuming.objectives._quadratic import SmoothObjective
from unassuming.objectives.designs import FeatureDesign, KernelDesign


class KernelHuberObjective(SmoothObjective):
    """Σ w_j h_δ(r_j) + (alpha/2) aᵀKa, divided by n, with ``h_δ(r) = r²/2`` for ``|r| <= δ``.

    The limit of a large δ is kernel ridge regression.

    Parameters
    ----------
    design : KernelDesign
    y : array of shape (n,)
    w : array of shape (n,)
        Weights.
    lam : float
        λ = alpha / n.
    delta : float
        δ.

    Examples
    --------
    >>> design = KernelDesign(np.eye(2))
    >>> objective = KernelHuberObjective(design, np.array([3.0, -1.0]), np.ones(2), 0.5, delta=1.0)
    >>> objective.influence(np.array([-2.0, 0.5]))
    array([-1. ,  0.5])
    """

    def __init__(self, design: KernelDesign, y: Array, w: Array, lam: float, delta: float) -> None:
        super().__init__(design, y, w, lam)
        self.K = design.K
        self.delta = delta

    def influence(self, r: Array) -> Array:
        """Return clip(r, ±δ)."""
        return np.clip(r, -self.delta, self.delta)

    def kinks(self) -> Kinks:
        """Return the two thresholds."""
        return Kinks(
            thresholds=np.array([-self.delta, self.delta]), slopes=np.array([0.0, 1.0, 0.0])
        )

    def estimate(self) -> Array:
        """Return the minimiser."""
        return kernel_huber(self.K, self.y, self.n * self.lam, self.delta, self.w)

    def __str__(self) -> str:
        return f"kernel Huber regression with threshold {self.delta:g}"


class HuberObjective(SmoothObjective):
    """Σ w_j (σ + σ H_ε(r_j/σ)) + alpha ‖coef‖², divided by n, as scikit-learn's HuberRegressor.

    The scale σ is not a coefficient here: for every residual vector, perturbed or not, it is the
    root of Σ w_j min(r_j²/σ², ε²) = Σ w_j. It is thus a function of the residuals alone, as
    exactness requires (docs/theory.md 7).

    Parameters
    ----------
    design : FeatureDesign
    y : array of shape (n,)
    w : array of shape (n,)
        Weights.
    lam : float
        λ = alpha / n.
    epsilon : float
        ε, above 1.

    Examples
    --------
    >>> design = FeatureDesign(X, intercept=True)
    >>> objective = HuberObjective(design, y, np.ones(50), 0.1, epsilon=1.5)
    >>> np.allclose(objective.influence(10 * y), objective.influence(y))  # the scale cancels
    True
    """

    def __init__(
        self, design: FeatureDesign, y: Array, w: Array, lam: float, epsilon: float
    ) -> None:
        super().__init__(design, y, w, lam)
        self.penalised = design.penalised
        self.epsilon = epsilon

    def influence(self, r: Array) -> Array:
        """Return clip(r/σ(r), ±ε)."""
        sigma = huber_scale(r, self.w, self.epsilon)
        if np.isnan(sigma).any():
            raise ValueError(
                "the candidate passes through too many points for HuberRegressor's scale to "
                "exist: expected nonzero residuals in a share of more than "
                f"{self.epsilon ** (-2):.3g} of the rows (1/epsilon²), given a candidate with a "
                f"share of {float((r != 0).mean(axis=-1).min()):.3g}. Raise epsilon, or use "
                "ua.KernelHuber with its fixed threshold."
            )
        return np.clip(r / sigma[..., None], -self.epsilon, self.epsilon)

    def estimate(self) -> Array:
        """Return the minimiser."""
        penalty = self.n * self.lam * self.penalised
        return concomitant_huber(self.design.matrix, self.y, self.w, self.epsilon, penalty)[0]

    def __str__(self) -> str:
        return f"Huber regression with epsilon {self.epsilon:g}"

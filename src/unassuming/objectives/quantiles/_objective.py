"""The pinball loss, whose minimum is a regression quantile (docs/theory.md 13)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.linalg import svd
from sklearn.linear_model import QuantileRegressor

from unassuming._rounding import rank_cut
from unassuming._typing import Array
from unassuming.inputs import model_quantile
from unassuming.models.solvers import l1_subdifferential, quantile_regression
from unassuming.objectives._base import Weighting, as_weighting_matrix
from unassuming.objectives._designed import DesignedObjective
from unassuming.objectives._from_linear import features
from unassuming.objectives._hyperparameters import common_weight, number
from unassuming.objectives._kinks import Kinks
from unassuming.objectives._registry import register_objective
from unassuming.objectives._score import Score
from unassuming.objectives.designs import FeatureDesign
from unassuming.objectives.quantiles._score import SignScore


class QuantileObjective(DesignedObjective):
    """Σ_j ρ_τ(r_j) + ``Σ_k penalty_k |a_k|`` with ρ_τ(r) = r (τ - 1{r < 0}).

    Minus the gradient is Φᵀ(τ - 1{r < 0}) minus a subgradient of the penalty. It depends on the
    residuals through their signs alone, whose law is known under `unassuming.noise.Quantile`.

    Parameters
    ----------
    design : FeatureDesign
    y : array of shape (n,)
    tau : float
        τ.
    penalty : array of shape (d,)

    Examples
    --------
    >>> design = ua.objectives.FeatureDesign(X, intercept=True)
    >>> objective = QuantileObjective(design, y, 0.5, np.zeros(3))
    >>> r = objective.residuals(objective.estimate())
    >>> int((r < -1e-9).sum()), int((np.abs(r) <= 1e-9).sum())
    (23, 3)
    """

    default_weighting: str = "hessian"
    spanned: ClassVar[str] = "the conditional quantiles of y"

    design: FeatureDesign
    quantile: float

    def __init__(self, design: FeatureDesign, y: Array, tau: float, penalty: Array) -> None:
        super().__init__(design, y)
        self.quantile, self.penalty = tau, penalty

    def pullback(self) -> Array:
        """Return Φᵀ."""
        return self.design.matrix.T

    def influence(self, r: Array) -> Array:
        """Return τ - 1{r < 0}."""
        return np.asarray(self.quantile - (r < 0))

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return penalty · sign(a), and [-penalty, penalty] where a_k = 0."""
        return l1_subdifferential(a, self.penalty)

    def kinks(self) -> Kinks:
        """Return the zeros of the penalised coefficients."""
        zero = np.where(self.penalty > 0, 0.0, np.nan)
        return Kinks(coefficient=np.arange(self.d), values=zero[:, None])

    def score(self, weighting: Weighting) -> Score:
        """Return Ψ times the least-norm gradient."""
        phi = self.design.matrix
        if isinstance(weighting, str) and weighting == "hessian":
            # (ΦᵀΦ)^{-1/2} Φᵀ has orthonormal rows, up to a rotation: no product loses digits.
            u, s, vt = svd(phi, full_matrices=False)
            keep = s > rank_cut(phi.shape) * s[0]
            pull, psi = u[:, keep].T, vt[keep] / s[keep, None]
        elif isinstance(weighting, str):
            psi = np.eye(self.d) if (named := self.named_weighting(weighting)) is None else named
            pull = psi @ phi.T
        else:
            psi = as_weighting_matrix(weighting, self.d)
            pull = psi @ phi.T
        return SignScore(self.quantile, pull, phi.T, psi, self.penalty, self.subdifferential)

    def named_weighting(self, weighting: str) -> Array | None:
        """Return the identity; the score makes (ΦᵀΦ)^{-1/2} itself."""
        if weighting == "identity":
            return None
        raise self._refused_weighting(weighting, "'identity', 'hessian' or a matrix")

    def estimate(self) -> Array:
        """Return a minimiser at a vertex, where d residuals or coefficients are zero."""
        return quantile_regression(self.design.matrix, self.y, self.quantile, self.penalty)

    def __str__(self) -> str:
        return f"the pinball loss of the {self.quantile:g}-quantile"


def from_quantile_regressor(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> QuantileObjective:
    """Build Σ ρ_τ(r) + n alpha ‖coef‖₁; a constant sample weight changes nothing.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> objective = from_quantile_regressor(QuantileRegressor(quantile=0.9, alpha=0.5), X, y, None)
    >>> objective.quantile, objective.penalty
    (0.9, array([ 0., 25., 25.]))
    """
    common_weight(sample_weight, "QuantileRegressor")
    design = features(estimator, X)
    penalty = len(y) * number(estimator, "alpha", zero=True) * design.penalised
    return QuantileObjective(design, y, model_quantile(estimator), penalty)


register_objective(QuantileRegressor, from_quantile_regressor)

"""ε-SVR in its two dual vectors α⁺ and α⁻, as the article first writes it (docs/theory.md 5)."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from unassuming._typing import Array
from unassuming.objectives import (
    DesignedObjective,
    FeatureDesign,
    Kinks,
    SVRObjective,
    register_objective,
)
from unassuming.paper._models import BiasFreeSVR, from_bias_free_svr


class SplitSVR(BiasFreeSVR):
    """Hyper-parameters of ε-SVR for a region in (α⁺, α⁻)."""


@final
class SplitSVRObjective(DesignedObjective):
    """½ (α⁺ - α⁻)ᵀK(α⁺ - α⁻) - yᵀ(α⁺ - α⁻) + ε̄ 1ᵀ(α⁺ + α⁻) with entries in [0, C].

    The coefficients are [α⁺, α⁻], fitted values [K, -K] times them, and minus the gradient is
    [r - ε̄, -r - ε̄]. At 0 and C the normal cone of the box is added. Without it every transformation
    ties: 2‖G_i r‖² + 2nε̄² does not depend on i.

    Parameters
    ----------
    dual : SVRObjective
        The same model in α = α⁺ - α⁻, without a bias.

    Examples
    --------
    >>> from unassuming.objectives import KernelDesign
    >>> alpha = SVRObjective(KernelDesign(np.eye(2)), np.array([3.0, -1.0]), C=2.0, epsilon=0.1)
    >>> split = SplitSVRObjective(alpha)
    >>> split.estimate()
    array([2. , 0. , 0. , 0.9])
    """

    def __init__(self, dual: SVRObjective) -> None:
        K = dual.kernel.K
        names = [f"{name}{sign}" for sign in "+-" for name in dual.names]
        design = FeatureDesign.of_columns(
            np.hstack([K, -K]), intercept=False, names=names, rounding=dual.design.rounding
        )
        design.computed = True
        super().__init__(design, dual.y)
        self.dual = dual

    def pullback(self) -> Array:
        """Return [I; -I]."""
        one = np.eye(self.n)
        return np.vstack([one, -one])

    def subdifferential(self, a: Array) -> tuple[Array, Array]:
        """Return ε̄, a half-line at each end of the box."""
        slope = np.full(a.shape, self.dual.epsilon)
        low = np.where(a == 0, -np.inf, slope)
        return low, np.where(a == self.dual.C, np.inf, slope)

    def kinks(self) -> Kinks:
        """Return the ends of the box."""
        values = np.array([0.0, self.dual.C])
        return Kinks(coefficient=np.arange(self.d), values=np.tile(values, (self.d, 1)))

    def coefficients(self, values: Array) -> Array:
        """Return the positive and negative parts of the least-norm α."""
        return _parts(self.dual.coefficients(values))

    def named_weighting(self, weighting: str) -> None:
        """Return the identity."""
        if weighting != "identity":
            raise self._refused_weighting(weighting, "'identity' or a matrix")

    def estimate(self) -> Array:
        """Return the positive and negative parts of the estimate of α."""
        return _parts(self.dual.estimate())

    def __str__(self) -> str:
        return "ε-SVR in (α⁺, α⁻)"


def _parts(a: Array) -> Array:
    return np.concatenate([np.maximum(a, 0.0), np.maximum(-a, 0.0)], axis=-1)


def from_split_svr(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> SplitSVRObjective:
    """Build the dual in (α⁺, α⁻)."""
    return SplitSVRObjective(from_bias_free_svr(estimator, X, y, sample_weight))


register_objective(SplitSVR, from_split_svr)

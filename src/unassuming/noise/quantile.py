"""Regression quantiles: the signs of the residuals have a known law, and nothing else is needed."""

from __future__ import annotations

from numbers import Real

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.noise.base import Noise, draw_key, keyed_uniforms


class Quantile(Noise):
    """Independent rows whose tau-quantile given the inputs is the model's value.

    The indicators 1{y < f(x)} of the true function are then independent and equal to one with
    probability tau. No symmetry, no common law and no moments are needed: skewed noise whose scale
    changes from row to row is allowed (docs/theory.md 13). A transformation replaces the signs of
    the residuals by fresh ones, so that only a gradient that depends on signs alone can be
    compared: that of ``QuantileRegressor``. If y has atoms at the quantile, the coverage is at
    least the level instead of exactly the level.

    Parameters
    ----------
    tau : float, default 0.5
        The probability of falling below, between 0 and 1; the default is the median.

    Examples
    --------
    >>> noise = ua.noise.Quantile(0.9)
    >>> fresh = noise.apply(noise.draw(1000, 2, np.random.default_rng(0)), np.zeros(1000), None)
    >>> (fresh < 0).mean(axis=1).round(1)
    array([0.9, 0.9])
    """

    orthogonal = False
    separable = True

    def __init__(self, tau: float = 0.5) -> None:
        if not isinstance(tau, Real) or not 0 < tau < 1:
            raise ValueError(
                "tau is out of range: expected one number between 0 and 1, both excluded, given "
                f"{tau!r}. Pass e.g. ua.noise.Quantile(0.5) for the median."
            )
        self.tau: float = float(tau)
        self.target = f"the {self.tau:g}-quantile of y given x"
        self.assumption = (
            f"rows are independent, and {self.target} is the value of the model (if y has atoms "
            "there, the coverage is at least the level)"
        )

    def draw(self, n: int, size: int, rng: np.random.Generator) -> BoolArray:
        """Draw indicators that are True with probability tau, shape (size, n)."""
        return np.asarray(keyed_uniforms(draw_key(rng), n, size) < self.tau)

    def apply(self, drawn: BoolArray, residuals: Array, fitted: Array | None) -> Array:
        """Return fresh signs of residuals (..., n): -1 with probability tau, (..., size, n)."""
        signs = np.where(drawn, -1.0, 1.0)
        return np.broadcast_to(signs, (*residuals.shape[:-1], *signs.shape))

    def __repr__(self) -> str:
        return f"Quantile(tau={self.tau:g})"

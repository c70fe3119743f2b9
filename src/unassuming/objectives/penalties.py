"""The penalty of an objective, and the kinks of penalty and loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray


@final
@dataclass(frozen=True, eq=False)
class Penalty:
    """½ aᵀPa + Σ l1_j ``|a_j|``, with ``|a_j| <= box`` in the dual of SVR."""

    P: Array  # (d, d): diagonal for features, and alpha times the squared norm
    l1: Array  # (k,): of the last k coefficients, which are the components of the gradient
    box: float = np.inf  # of the same coefficients
    alpha: float = 0.0

    @property
    def kinked(self) -> bool:
        """Whether the gradient of the penalty is a box somewhere."""
        return bool(self.l1.any()) or bool(np.isfinite(self.box))

    @property
    def ridge(self) -> Array:
        """The diagonal of P for the components of the gradient (k,)."""
        return np.diagonal(self.P)[len(self.P) - len(self.l1) :]

    @property
    def none(self) -> bool:
        """Whether there is no penalty at all."""
        return not (self.kinked or self.P.any())

    def own(self, a: Array) -> Array:
        """Return the coefficients (N, k) that l1 and the box belong to."""
        return a[:, a.shape[1] - len(self.l1) :]

    def smooth(self, a: Array) -> Array:
        """Return the components (N, k) of P a."""
        return self.own(a @ self.P)

    def subgradients(self, a: Array) -> tuple[Array, Array]:
        """Return the least and the largest subgradient of the kinked part at a (N, d), (N, k)."""
        a = self.own(a)
        low, high = np.where(a > 0, self.l1, -self.l1), np.where(a < 0, -self.l1, self.l1)
        return np.where(a == -self.box, -np.inf, low), np.where(a == self.box, np.inf, high)

    @property
    def values(self) -> tuple[float, ...]:
        """Values at which a coefficient changes the subgradient, increasing."""
        sides = (self.box,) if np.isfinite(self.box) else ()
        return (*(-side for side in sides), *(0.0,) * bool(self.l1.any()), *sides)

    def kinks(self, thresholds: tuple[float, ...]) -> Kinks:
        """Return where the subgradient changes, beside the thresholds of a loss."""
        values = self.values
        each = np.tile(values, (len(self.l1), 1)) if values else np.empty((0, 0))
        if values == (0.0,):
            each[self.l1 == 0] = np.nan
        last = np.arange(len(self.P) - len(self.l1), len(self.P))
        return Kinks(last[: len(each)], each, thresholds)


@final
@dataclass(frozen=True, eq=False)
class Kinks:
    """Where the gradient changes its form (docs/theory.md 7).

    Attributes
    ----------
    coefficient : integer array of shape (k,)
        The coefficient that determines the subgradient in each component of the gradient.
    values : array of shape (k, K)
        The values of that coefficient at the kinks, increasing and padded with NaN.
    thresholds : sequence of float
        Residuals at which the derivative of the loss changes its slope or jumps, increasing.

    Examples
    --------
    >>> ua.objectives.Kinks(thresholds=(-1.0, 1.0)).thresholds
    (-1.0, 1.0)
    """

    coefficient: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    values: Array = field(default_factory=lambda: np.empty((0, 0)))
    thresholds: tuple[float, ...] = ()

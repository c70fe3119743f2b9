"""The penalty of an objective, and the kinks of penalty and loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray


@final
@dataclass(frozen=True, eq=False)
class Penalty:
    """½ aᵀPa + Σ l1_j ``|a_j|``, with ``|a_j| <= box`` in the dual of SVR.

    ``l1`` (k,) and the box belong to the last k coefficients, which are the components of the
    gradient. P (d, d) is diagonal for features, and alpha times the squared norm.
    """

    P: Array
    l1: Array
    box: float = np.inf
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


@dataclass(frozen=True, eq=False)
class Kinks:
    """The kinks of a separable penalty, and those of a loss (docs/theory.md 7).

    Between kinks the subdifferential of the penalty is constant in each component of the gradient,
    but for a multiple of the coefficient itself; at a kink it is a box. The derivative ρ of the
    loss is affine between thresholds, where it may jump.

    Attributes
    ----------
    coefficient : integer array of shape (k,)
        The coefficient that determines the subdifferential in each component of the gradient.
    values : array of shape (k, K)
        The values of that coefficient at the kinks, increasing and padded with NaN.
    ridge : array of shape (k,)
        The multiple of that coefficient in each component; empty if all are zero.
    thresholds : array of shape (R,)
        Residuals at which ρ changes its slope or jumps, increasing.
    slopes : array of shape (R + 1,)
        The slopes of ρ between them.
    jumps : array of shape (R,)
        By how much ρ jumps at the thresholds; empty if it is continuous.

    Examples
    --------
    >>> huber = Kinks(thresholds=np.array([-1.0, 1.0]), slopes=np.array([0.0, 1.0, 0.0]))
    >>> huber.slopes[np.searchsorted(huber.thresholds, [-3.0, 0.5, 2.0])]
    array([0., 1., 0.])
    """

    coefficient: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    values: Array = field(default_factory=lambda: np.empty((0, 0)))
    thresholds: Array = field(default_factory=lambda: np.empty(0))
    slopes: Array = field(default_factory=lambda: np.ones(1))
    ridge: Array = field(default_factory=lambda: np.empty(0))
    jumps: Array = field(default_factory=lambda: np.empty(0))

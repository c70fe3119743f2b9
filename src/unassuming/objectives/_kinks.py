"""Where a gradient changes its form, which makes a region piecewise (docs/theory.md 7.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unassuming._typing import Array, IntArray


@dataclass(frozen=True, eq=False)
class Kinks:
    """The kinks of a separable penalty, or those of a loss.

    Between kinks the subdifferential of the penalty is constant in each component of the gradient,
    but for a multiple of the coefficient itself; at a kink it is a box. The gradient of a penalty
    without kinks is linear in the coefficients. The derivative ρ of the loss is odd, elementwise
    and affine between thresholds, where it may jump.

    Attributes
    ----------
    coefficient : integer array of shape (k,)
        The coefficient that determines the subdifferential in each component of the gradient.
    values : array of shape (k, K)
        The values of that coefficient at the kinks, increasing and padded with NaN.
    ridge : array of shape (k,)
        The multiple of that coefficient in each component; empty if all are zero.
    thresholds : array of shape (R,)
        Residuals at which ρ changes its slope or jumps, increasing and symmetric about zero.
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

    def ridge_part(self, a: Array) -> Array:
        """Return the part of the penalty's gradient that is linear in a (N, d), if it has kinks."""
        return self.ridge * a[:, self.coefficient] if self.ridge.size else np.zeros((len(a), 1))

    def levels(self) -> Array:
        """Return the values of the affine pieces of ρ at zero, (R + 1,); ρ is odd."""
        steps = -np.diff(self.slopes) * self.thresholds
        if self.jumps.size:
            steps = steps + self.jumps
        rises = np.concatenate([[0.0], np.cumsum(steps)])
        return np.asarray(rises - (rises[0] + rises[-1]) / 2)

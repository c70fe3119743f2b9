"""Where a gradient changes its form: why regions are piecewise quadratic (docs/theory.md 7.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unassuming._typing import Array, IntArray


def _none(shape: tuple[int, ...]) -> Array:
    return np.empty(shape)


@dataclass(frozen=True, eq=False)
class Kinks:
    """The kinks of a separable penalty, or those of a loss.

    Between its kinks the subdifferential of the penalty is one constant for each component of the
    gradient; at a kink it is a box. A penalty without kinks has a gradient that is linear in the
    coefficients. The derivative ρ of the loss is odd, elementwise and affine between thresholds.

    Attributes
    ----------
    coefficient : integer array of shape (k,)
        The coefficient that decides on each component of the gradient.
    values : array of shape (k, K)
        Its values at which the subdifferential changes, increasing; NaN where there is none.
    thresholds : array of shape (R,)
        Residuals at which ρ changes its slope, increasing and symmetric about zero.
    slopes : array of shape (R + 1,)
        The slopes of ρ between them.

    Examples
    --------
    >>> huber = Kinks(thresholds=np.array([-1.0, 1.0]), slopes=np.array([0.0, 1.0, 0.0]))
    >>> huber.slope(np.array([-3.0, 0.5, 2.0]))
    array([0., 1., 0.])
    """

    coefficient: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    values: Array = field(default_factory=lambda: _none((0, 0)))
    thresholds: Array = field(default_factory=lambda: _none((0,)))
    slopes: Array = field(default_factory=lambda: np.ones(1))

    def slope(self, r: Array) -> Array:
        """Return the derivative of ρ away from its thresholds."""
        return self.slopes[np.searchsorted(self.thresholds, r)]

"""Where a gradient changes its form, which makes a region piecewise (docs/theory.md 7.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unassuming._typing import Array, IntArray


@dataclass(frozen=True, eq=False)
class Kinks:
    """The kinks of a separable penalty, or those of a loss.

    Between kinks the subdifferential of the penalty is constant in each component of the gradient;
    at a kink it is a box. The gradient of a penalty without kinks is linear in the coefficients.
    The derivative ρ of the loss is odd, elementwise and affine between thresholds.

    Attributes
    ----------
    coefficient : integer array of shape (k,)
        The coefficient that determines the subdifferential in each component of the gradient.
    values : array of shape (k, K)
        The values of that coefficient at the kinks, increasing and padded with NaN.
    thresholds : array of shape (R,)
        Residuals at which ρ changes its slope, increasing and symmetric about zero.
    slopes : array of shape (R + 1,)
        The slopes of ρ between them.

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

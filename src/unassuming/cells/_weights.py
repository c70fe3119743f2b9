"""Weights of the cells from their own residuals (docs/theory.md 9.2).

The residuals of a cell that is fitted by itself change their signs with the noise of the cell, so
their size does not change. Weights that are functions of such sizes keep the rank exact. Residuals
of one fit to all rows would not do.
"""

from __future__ import annotations

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.cells._estimates import Estimates


def residual_weights(found: Estimates) -> Array:
    """Return v_b / s_b² in place of v_b, with s_b² the residual variance of the cell itself.

    A cell without degrees of freedom gets the pooled variance of the others. If no cell has any,
    the weights stay v_b.

    Parameters
    ----------
    found : Estimates
        The estimates in the cells.

    Examples
    --------
    >>> ones = np.ones((1, 2))
    >>> found = Estimates(ones, ones, 0 * ones, rest=np.array([1.0, 2.0]), freedom=np.ones(2))
    >>> residual_weights(found)
    array([[1.  , 0.25]])
    """
    free = found.freedom > 0
    if not (found.rest[free] > 0).any():
        return found.v
    largest = found.rest[free].max()
    squares = np.square(np.where(free, found.rest / largest, 0.0))
    pooled = squares.sum() / found.freedom[free].sum()
    variance = np.where(free, squares / np.maximum(found.freedom, 1), pooled)
    return np.asarray(found.v / np.maximum(variance, EPS * EPS) / largest**2)

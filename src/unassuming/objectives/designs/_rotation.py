"""Rows of the data in another basis, with bounds of their errors."""

from __future__ import annotations

import numpy as np

from unassuming._products import accurate_product
from unassuming._rounding import EPS
from unassuming._typing import Array

ROTATED = 8 * EPS
"""Errors of rotated numbers, relative to the sums of the sizes of their terms.

The products are computed with twice the digits, so this is the rounding of Q itself: a few units of
each entry, since an orthogonal matrix is seldom known exactly."""


def in_basis(Q: Array, values: Array) -> tuple[Array, Array]:
    """Return Qᵀ times columns (n, k), and the sizes of their terms: errors are ROTATED times these.

    What may be zero is zero.

    Examples
    --------
    >>> rotated, size = in_basis(np.array([[0.6, -0.8], [0.8, 0.6]]), np.array([[4.0], [-3.0]]))
    >>> rotated[:, 0], size[:, 0].round(12)
    (array([ 0., -5.]), array([4.8, 5. ]))
    """
    found = accurate_product(np.ascontiguousarray(Q.T), values)
    size = np.abs(Q).T @ np.abs(values)
    return np.where(np.abs(found) <= ROTATED * size, 0.0, found), size

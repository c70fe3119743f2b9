"""Monomials of degree two: products of coordinates, and their coefficients in quadratic forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unassuming._typing import Array

Floats = NDArray[np.float32] | NDArray[np.float64]


def pairs_of(Q: Array, first: int = 0) -> Array:
    """Return the coefficients of x_j x_l, l >= j + first, in symmetric forms xᵀQx, (s, k, k)."""
    rows, columns = np.triu_indices(Q.shape[-1], first)
    return np.asarray(Q[:, rows, columns] * np.where(rows == columns, 1.0, 2.0))


def pairs_into(out: Floats, x: Floats, y: Floats, first: int = 0) -> int:
    """Write the products x_j y_l, l >= j + first, row by row; return the number of rows."""
    k, start = len(x), 0
    for j in range(k - first):
        stop = start + k - first - j
        np.multiply(x[j], y[j + first :], out=out[start:stop])
        start = stop
    return start

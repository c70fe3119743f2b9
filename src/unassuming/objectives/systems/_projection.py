"""How much of a vector lies in the span of its regressors, for many series at once."""

from __future__ import annotations

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array

_LOST = 16 * EPS
"""Times the number of rows: a column whose remainder is relatively smaller adds nothing."""


def projected_lengths(columns: list[Array], e: Array, basis: Array) -> tuple[Array, Array]:
    """Return the length of the projection of e on fixed and on other columns.

    This is Gram-Schmidt with the vector as the last column, which is as accurate as Householder's
    factorisation. The lengths of the columns do not matter.

    Parameters
    ----------
    columns : list of arrays of shape (n, B)
    e : array of shape (n, B)
    basis : array of shape (n, p)
        An orthonormal basis of the fixed columns.

    Returns
    -------
    lengths : array of shape (B,)
    kept : array of shape (B,)
        The smallest share of a column that the columns before it leave. Rounding errors are
        divided by it.

    Examples
    --------
    >>> e = np.array([[3.0], [4.0], [5.0]])
    >>> projected_lengths([np.array([[1.0], [0.0], [0.0]])], e, np.eye(3)[:, 1:2])
    (array([5.]), array([1.]))
    """
    n, B = e.shape
    inside = basis.T @ e
    rest = e - basis @ inside
    square, kept = (inside**2).sum(axis=0), np.ones(B)
    done: list[Array] = []
    for column in columns:
        size = np.abs(column).max(axis=0)
        direction = column / np.where(size > 0, size, 1.0)
        whole = np.sqrt(_dots(direction, direction))
        direction -= basis @ (basis.T @ direction)
        for unit in done:
            direction -= unit * _dots(unit, direction)
        left = np.sqrt(_dots(direction, direction))
        share = left / np.where(whole > 0, whole, 1.0)
        used = share > _LOST * n
        direction *= used / np.where(used, left, 1.0)
        part = _dots(direction, rest)
        rest -= direction * part
        square += part**2
        kept = np.where(used, np.minimum(kept, share), kept)
        done.append(direction)
    return np.sqrt(square), kept


def _dots(x: Array, z: Array) -> Array:
    return np.asarray(np.einsum("tb,tb->b", x, z))

"""Least squares with columns that depend on each other up to rounding, as copies in other units do.

Their coefficients can be so long that fitted values in double precision are off by as much as the
noise, since their terms cancel. A solution without such directions then fits better.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr, solve_triangular, svd

from unassuming._rounding import EPS, column_units, length, rank_cut
from unassuming._typing import Array

_LOST = 1e-3
"""Rounding may move the fitted values of most rows by this share of the residuals."""


def best_representable(
    a: Array, Phi: Array, y: Array, root: Array, penalty: Array, counted: slice
) -> Array:
    """Return the solution a (d,), or one without the directions that rounding has lost.

    Both minimise ‖root (y - Φa)‖² + ‖penalty a‖² but for rounding. The other one is returned if its
    root is not larger by more than what rounding may add in double precision, as predictions are
    computed so. Of all solutions without these directions it is the one whose ``counted``
    coefficients have the least norm.

    Examples
    --------
    >>> x = np.array([0.1, 0.2, 0.3, 0.5])
    >>> Phi, y = np.column_stack([x, 3 * x]), np.array([1.0, 2.0, 3.5, 5.0])
    >>> start, one, none = np.array([3e15, -1e15]), np.ones(4), np.zeros(2)
    >>> best_representable(start, Phi, y, one, none, slice(None)).round(3)
    array([1.038, 3.115])
    """

    def objective(a: Array) -> float:
        return float(length(np.append(root * (y - Phi @ a), penalty * a)))

    r, lost = root * (y - Phi @ a), EPS * root * (np.abs(Phi) @ np.abs(a))
    # Not if it is only one row with large numbers: that determines directions of its own.
    if not np.median(lost) > _LOST * np.median(np.abs(r)):
        return a
    unit = column_units(Phi)
    stacked = np.vstack([root[:, None] * (Phi / unit), np.diag(penalty / unit)])
    u, s, vt = svd(stacked, full_matrices=False)
    keep = s > rank_cut(stacked.shape) * s[0]
    if keep.all():
        return a
    right = u[: len(y)].T @ (root * y)
    other = vt[keep].T @ (right[keep] / s[keep]) / unit
    other = shortest(other, vt[~keep].T / unit[:, None], counted)
    return other if objective(other) < objective(a) + float(length(lost)) else a


def shortest(a: Array, null: Array, counted: slice) -> Array:
    """Move a along null vectors (d, f) until the coefficients that count have the least norm."""
    if not null.shape[1]:
        return a
    basis, triangle = qr(null[counted], mode="economic")
    return np.asarray(a - null @ solve_triangular(triangle, basis.T @ a[counted]))

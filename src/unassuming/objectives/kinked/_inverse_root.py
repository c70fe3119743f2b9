"""H^{-1/2} of a loss with a ridge, up to a rotation."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from unassuming._typing import Array

_SEEN = 1e-6
"""Singular values below this share of the largest count as zero in the Hessian: dividing by them
would drown the other components of the gradient in rounding errors."""


def inverse_root(matrix: Array, c: float, ridge: Array) -> Array:
    """Return H^{-1/2} on the range of H = c ΦᵀΦ + diag(ridge), up to a rotation, (k, d).

    It comes from the singular values of the stacked matrix, so that H is not formed.
    """
    held = np.flatnonzero(ridge)
    if not len(held):
        _, s, vt = svd(matrix, full_matrices=False)
        keep = s > _SEEN * s[0]
        return np.asarray(vt[keep] / (np.sqrt(c) * s[keep, None]))
    rows = np.sqrt(ridge[held])[:, None] * np.eye(len(ridge))[held]
    _, s, vt = svd(np.vstack([np.sqrt(c) * matrix, rows]), full_matrices=False)
    keep = s > _SEEN * s[0]
    return np.asarray(vt[keep] / s[keep, None])

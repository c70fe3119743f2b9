"""The shortest vector among z + Ax with x in a box."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear

from unassuming._typing import Array


def least_element(z: Array, A: Array, lower: Array, upper: Array) -> Array:
    """Return the x (N, v) in the boxes [lower, upper] (N, v) that minimise ‖z + Ax‖.

    z has shape (N, k) and A shape (N, k, v). One variable has a closed form; more are found by an
    active-set method for bounded least squares.

    Examples
    --------
    >>> z, A = np.array([[1.0, 1.0]]), np.array([[[-1.0], [0.0]]])
    >>> least_element(z, A, np.zeros((1, 1)), np.full((1, 1), 0.25))
    array([[0.25]])
    """
    if A.shape[2] == 1:
        column = A[:, :, 0]
        size = np.einsum("nk,nk->n", column, column)
        x = -np.einsum("nk,nk->n", column, z) / np.where(size > 0, size, 1.0)
        return np.asarray(np.clip(x[:, None], lower, upper))
    found = [_one(*part) for part in zip(z, A, lower, upper, strict=True)]
    return np.array(found).reshape(lower.shape)


def _one(z: Array, A: Array, lower: Array, upper: Array) -> Array:
    x = lsq_linear(A, -z, (lower, upper), method="bvls", tol=1e-15).x
    return np.asarray(np.clip(x, lower, upper))


def optimality_gap(z: Array, A: Array, x: Array, lower: Array, upper: Array) -> Array:
    """Bound by how much the squares ‖z + Ax‖² exceed the minima, (N,).

    A convex function lies above its tangent, whose minimum over a box is known.
    """
    slope = 2 * np.einsum("nkv,nk->nv", A, z + np.einsum("nkv,nv->nk", A, x))
    return np.asarray((slope * np.where(slope > 0, x - lower, x - upper)).sum(axis=1))

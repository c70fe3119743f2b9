"""Linear algebra that the solvers share."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dsysv

from unassuming._typing import Array


def solve_positive(M: Array, rhs: Array) -> Array:
    """Solve M x = rhs for symmetric positive definite M, with one step of refinement.

    Where rounding has made M indefinite, Cholesky's factorisation gives way to one for symmetric
    indefinite matrices: nothing is ever added to M.

    Parameters
    ----------
    M : ndarray of shape (n, n)
        Symmetric positive definite up to rounding.
    rhs : ndarray of shape (n,) or (n, k)
        Right-hand sides.

    Returns
    -------
    ndarray
        The solution, of the shape of `rhs`.

    Examples
    --------
    >>> import numpy as np
    >>> solve_positive(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    if rhs.size == 0:
        return np.zeros_like(rhs)
    try:
        factor = cho_factor(M, lower=True)
    except np.linalg.LinAlgError:
        x: Array = dsysv(M, rhs, lower=1)[2].reshape(rhs.shape)
        x += dsysv(M, rhs - M @ x, lower=1)[2].reshape(rhs.shape)
        return x
    x = cho_solve(factor, rhs)
    x += cho_solve(factor, rhs - M @ x)
    return x


def sum_zero_reflection(n: int) -> Array:
    """The vector v of a reflection I − vvᵀ that takes the first unit vector to a constant one.

    Its other columns are an orthonormal basis of the vectors with sum zero, so that problems with
    the constraint 1ᵀa = 0 become problems without it.

    Examples
    --------
    >>> import numpy as np
    >>> v = sum_zero_reflection(4)
    >>> basis = (np.eye(4) - np.outer(v, v))[:, 1:]
    >>> bool(np.allclose(basis.sum(axis=0), 0.0) and np.allclose(basis.T @ basis, np.eye(3)))
    True
    """
    v: Array = np.full(n, 1.0 / np.sqrt(n))
    v[0] += 1.0
    v *= np.sqrt(2.0) / np.linalg.norm(v)
    return v


def restrict_to_sum_zero(v: Array, M: Array) -> Array:
    """The matrix of the quadratic form M on the vectors with sum zero, in the basis of `v`."""
    M = M - np.outer(v, v @ M)
    M = M - np.outer(M @ v, v)
    return M[1:, 1:]


def coordinates_of_sum_zero(v: Array, x: Array) -> Array:
    """The coordinates, in the basis of `v`, of x without its mean."""
    coordinates: Array = (x - v * (v @ x))[1:]
    return coordinates


def from_sum_zero(v: Array, coordinates: Array) -> Array:
    """The vector with sum zero that has these coordinates in the basis of `v`."""
    x = np.concatenate([[0.0], coordinates])
    vector: Array = x - v * (v @ x)
    return vector

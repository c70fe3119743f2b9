"""Solving a symmetric system that is positive definite in exact arithmetic."""

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

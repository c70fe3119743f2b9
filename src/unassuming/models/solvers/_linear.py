"""Linear algebra that the solvers share."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dsysv

from unassuming._typing import Array


def solve_positive(M: Array, rhs: Array) -> Array:
    """Solve M x = rhs for symmetric positive definite M, with one step of refinement.

    Where rounding has made M indefinite, a factorisation for symmetric indefinite matrices replaces
    Cholesky's: nothing is ever added to M. ``rhs`` has shape (n,) or (n, k).
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


class SumZero:
    """An orthonormal basis of the n-vectors with sum zero, which removes the constraint 1ᵀa = 0.

    The reflection I − vvᵀ takes the first unit vector to a constant one; its other columns are the
    basis.

    Examples
    --------
    >>> space = SumZero(4)
    >>> space.vector(space.coordinates(np.array([1.0, 2.0, 3.0, 10.0]))).round(6)
    array([-3., -2., -1.,  6.])
    """

    def __init__(self, n: int) -> None:
        v: Array = np.full(n, 1.0 / np.sqrt(n))
        v[0] += 1.0
        v *= np.sqrt(2.0) / np.linalg.norm(v)
        self.v = v

    def form(self, M: Array) -> Array:
        """Return the matrix of the quadratic form M in this basis."""
        M = M - np.outer(self.v, self.v @ M)
        M = M - np.outer(M @ self.v, self.v)
        return M[1:, 1:]

    def coordinates(self, x: Array) -> Array:
        """Return the coordinates of x without its mean."""
        coordinates: Array = (x - self.v * (self.v @ x))[1:]
        return coordinates

    def vector(self, coordinates: Array) -> Array:
        """Return the vector with these coordinates."""
        x = np.concatenate([[0.0], coordinates])
        vector: Array = x - self.v * (self.v @ x)
        return vector

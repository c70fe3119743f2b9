"""Two-stage least squares."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq, qr

from unassuming._rounding import powers_of_two, rank_cut
from unassuming._typing import Array


def exogenous_basis(W: Array) -> Array:
    """Return an orthonormal basis of the columns of W, shape (n, r).

    The columns are divided by powers of two first, so that their units do not decide the rank.

    Examples
    --------
    >>> exogenous_basis(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])).shape
    (3, 1)
    """
    scaled = W / powers_of_two(np.abs(W).max(axis=0, initial=0.0))
    Q, R, _ = qr(scaled, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    return np.asarray(Q[:, : int(np.count_nonzero(size > rank_cut(W.shape) * size.max(initial=0)))])


def two_stage_least_squares(X: Array, y: Array, basis: Array) -> Array:
    """Return the minimiser of ‖Qᵀ(y - Xθ)‖, of least norm if there are several.

    Parameters
    ----------
    X : array of shape (n, d)
        The columns of the equation, each row multiplied by the square root of its weight.
    y : array of shape (n,)
        The outputs, multiplied likewise.
    basis : array of shape (n, r)
        Q, an orthonormal basis of the exogenous columns, multiplied likewise.

    Examples
    --------
    The instrument w moves x by one or two units, and y by twice as much:

    >>> w, x = np.array([[0.0], [1.0], [2.0]]), np.array([[5.0], [6.0], [8.0]])
    >>> Q = exogenous_basis(np.column_stack([np.ones(3), w]))
    >>> X = np.column_stack([np.ones(3), x])
    >>> two_stage_least_squares(X, X @ [1.0, 2.0], Q).round(6)
    array([1., 2.])
    """
    scale = powers_of_two(np.abs(X).max(axis=0, initial=0.0))
    A = basis.T @ (X / scale)
    cut = rank_cut(X.shape)
    theta = np.asarray(lstsq(A, basis.T @ y, cond=cut)[0])
    for _ in range(2):  # refined, so that the gradient is zero to rounding
        theta = theta + lstsq(A, basis.T @ (y - (X / scale) @ theta), cond=cut)[0]
    return np.asarray(theta / scale)

"""Conditions on a Gram matrix, checked before a method uses it."""

from __future__ import annotations

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array


def require_symmetric(K: Array, what: str = "The precomputed kernel matrix") -> None:
    """Raise unless `K` is square and symmetric up to rounding.

    Parameters
    ----------
    K : ndarray
    what : str
        Its name at the beginning of the error message.

    Examples
    --------
    >>> require_symmetric(np.array([[2.0, 1.0], [0.0, 2.0]]))
    Traceback (most recent call last):
        ...
    ValueError: The precomputed kernel matrix is not symmetric: expected equal kernel values ...
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(
            f"{what} is not square: expected one row and one column per training sample, given "
            f"shape {K.shape}. Pass the kernel values between the training samples."
        )
    if K.size == 0:
        return
    gap = K - K.T
    np.abs(gap, out=gap)
    # k(x, z) and k(z, x) may be summed in different orders, which changes the last digits of the
    # largest term; that term is of the order of the diagonal.
    if np.max(gap) > 1e-10 * max(np.max(K), -np.min(K)):
        i, j = sorted(int(index) for index in np.unravel_index(np.argmax(gap), gap.shape))
        raise ValueError(
            f"{what} is not symmetric: expected equal kernel values k(x, z) and k(z, x), given "
            f"entries ({i}, {j}) and ({j}, {i}) that differ by {gap[i, j]:.3g}. Compute it from "
            "one list of samples, or symmetrise it first."
        )


def require_positive_semidefinite(
    eigenvalues: Array, method: str, *, tolerance: float = 0.0
) -> None:
    """Raise if the Gram matrix with these eigenvalues is indefinite beyond rounding.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n,)
        All eigenvalues of the symmetric Gram matrix, in any order.
    method : str
        Name, for the message, of the method that needs positive semidefiniteness.
    tolerance : float, default=0.0
        How negative an eigenvalue may be relative to the largest one, beyond rounding in double
        precision. A matrix computed in single precision needs about 1e-7.

    Examples
    --------
    >>> require_positive_semidefinite(np.array([-1e-16, 0.5, 2.0]), "kernel ridge")
    >>> require_positive_semidefinite(np.array([-0.43, 0.5, 2.0]), "kernel ridge")
    Traceback (most recent call last):
        ...
    ValueError: The Gram matrix is indefinite, which kernel ridge cannot use: expected a positive
    semidefinite kernel, given eigenvalues from -0.43 to 2. Use such a kernel, or ...
    """
    if eigenvalues.size == 0:
        return
    smallest, largest = float(np.min(eigenvalues)), float(np.max(np.abs(eigenvalues)))
    rounding = 10.0 * eigenvalues.size * EPS
    if smallest < -(rounding + tolerance) * largest:
        raise ValueError(
            f"The Gram matrix is indefinite, which {method} cannot use: expected a positive "
            f"semidefinite kernel, given eigenvalues from {smallest:.3g} to "
            f"{float(np.max(eigenvalues)):.3g}. Use such a kernel, or the kernel Lasso or "
            "support vector regression, which accept any symmetric kernel."
        )

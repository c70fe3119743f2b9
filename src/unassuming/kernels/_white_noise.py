"""The noise in a kernel of scikit-learn's Gaussian processes, apart from the function.

A `WhiteKernel` describes the noise of the outputs. It adds to the diagonal of ``kernel(X)`` and to
nothing else, so it is not part of the function whose norm the rest of the kernel measures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import Exponentiation, Product, Sum, WhiteKernel

from unassuming._typing import Array


def without_white_noise(kernel: Any) -> Any:
    """Return the kernel of the function alone, or None if the kernel is noise alone.

    Parameters
    ----------
    kernel : gaussian_process kernel

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    >>> without_white_noise(2.0 * (RBF() + WhiteKernel(0.5)))
    1.41**2 * RBF(length_scale=1)
    """
    if type(kernel) is WhiteKernel:
        return None
    if type(kernel) is Exponentiation:
        base = without_white_noise(kernel.kernel)
        if base is kernel.kernel or base is None:
            return kernel if base is not None else None
        return Exponentiation(base, kernel.exponent)
    if type(kernel) not in (Sum, Product):
        return kernel
    one, two = without_white_noise(kernel.k1), without_white_noise(kernel.k2)
    if one is kernel.k1 and two is kernel.k2:
        return kernel
    if type(kernel) is Sum:
        if one is None or two is None:
            return two if one is None else one
        return Sum(one, two)
    return None if one is None or two is None else Product(one, two)


def white_noise(kernel: Any, X: Array) -> Array:
    """Return what the noise adds to the diagonal of the kernel matrix, (n,), without cancellation.

    Parameters
    ----------
    kernel : gaussian_process kernel
    X : array of shape (n, p)

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    >>> white_noise(2.0 * (RBF() + WhiteKernel(0.5)), np.zeros((3, 1)))
    array([1., 1., 1.])
    """
    return _diagonals(kernel, X)[1]


def _diagonals(kernel: Any, X: Array) -> tuple[Array, Array]:
    """Return the diagonals of the function and of the noise."""
    if type(kernel) is WhiteKernel:
        return np.zeros(len(X)), np.full(len(X), float(kernel.noise_level))
    if type(kernel) is Exponentiation:
        own, noise = _diagonals(kernel.kernel, X)
        power = own**kernel.exponent
        return power, np.where(noise > 0, (own + noise) ** kernel.exponent - power, 0.0)
    if type(kernel) not in (Sum, Product):
        return np.asarray(kernel.diag(X), dtype=np.float64), np.zeros(len(X))
    (one, noise1), (two, noise2) = _diagonals(kernel.k1, X), _diagonals(kernel.k2, X)
    if type(kernel) is Sum:
        return one + two, noise1 + noise2
    return one * two, one * noise2 + noise1 * two + noise1 * noise2

"""Kernels whose matrix has full rank at distinct inputs, whatever its rank in floating point."""

from __future__ import annotations

from typing import Any

from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    Exponentiation,
    Matern,
    Product,
    RationalQuadratic,
    Sum,
)


def strictly_positive_definite(kernel: Any) -> bool:
    """Whether a kernel is known to be strictly positive definite.

    Parameters
    ----------
    kernel : str, gaussian_process kernel or callable

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct
    >>> strictly_positive_definite("rbf"), strictly_positive_definite("linear")
    (True, False)
    >>> strictly_positive_definite(2.0 * RBF() + DotProduct()), strictly_positive_definite(RBF)
    (True, False)
    """
    if isinstance(kernel, str):
        return kernel in ("rbf", "laplacian")
    if type(kernel) in (RBF, Matern, RationalQuadratic):
        return True
    if type(kernel) is Exponentiation:
        whole = kernel.exponent == int(kernel.exponent) and kernel.exponent >= 1
        return whole and strictly_positive_definite(kernel.kernel)
    if type(kernel) is Sum:
        return strictly_positive_definite(kernel.k1) or strictly_positive_definite(kernel.k2)
    if type(kernel) is Product:
        parts = kernel.k1, kernel.k2
        return any(map(strictly_positive_definite, parts)) and all(
            strictly_positive_definite(part) or type(part) is ConstantKernel for part in parts
        )
    return False

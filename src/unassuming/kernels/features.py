"""What is known of a kernel without its matrix: its features if there are few, or its full rank.

k(x, z) = Σ_k c_k (xᵀz)^k with c_k >= 0 is the inner product of the monomials of x and of z, those
of degree k weighted by √(c_k k!/α!). The features have half as many digits to lose as the Gram
matrix, whose condition is the square of theirs. A strictly positive definite kernel has a matrix of
full rank at distinct inputs, whatever its rank in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, final

import numpy as np
from numpy.polynomial import polynomial
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Exponentiation,
    Matern,
    Product,
    RationalQuadratic,
    Sum,
)

from unassuming._typing import Array


@final
@dataclass(frozen=True)
class InnerProductKernel:
    """k(x, z) = Σ_k c_k (xᵀz)^k with c_k >= 0, of inputs scaled to length one if normalised."""

    c: tuple[float, ...]
    normalised: bool = False

    def count(self, p: int) -> int:
        """Return the number of features of p inputs."""
        return sum(comb(p + k - 1, k) for k, c in enumerate(self.c) if c)

    def features(self, X: Array) -> Array:
        """Return F (N, D) with FFᵀ = K."""
        if self.normalised:
            length = np.linalg.norm(X, axis=1, keepdims=True)
            X = X / np.where(length > 0, length, 1.0)
        columns, degrees = range(X.shape[1]), [k for k, c in enumerate(self.c) if c]
        factors = [m for k in degrees for m in combinations_with_replacement(columns, k)]
        weights = [np.sqrt(self.c[len(m)] * ways(m)) for m in factors]
        return np.column_stack(
            [w * X[:, list(m)].prod(axis=1) for w, m in zip(weights, factors, strict=True)]
        )


def ways(factors: tuple[int, ...]) -> int:
    """Return the number of orders of the factors of a monomial."""
    return factorial(len(factors)) // prod(factorial(factors.count(j)) for j in set(factors))


def inner_product_kernel(
    kernel: Any, p: int, gamma: Any = None, degree: Any = 3, coef0: Any = 1
) -> InnerProductKernel | None:
    """Return a kernel of p inputs as such a polynomial, or None if it is not known to be one."""
    if kernel in ("linear", "cosine"):
        return InnerProductKernel((0.0, 1.0), normalised=kernel == "cosine")
    if kernel in ("poly", "polynomial"):
        c = _power(np.array([coef0, 1 / p if gamma is None else gamma]), degree)
    else:
        c = _coefficients(kernel)
    if c is None or not np.isfinite(c).all() or (c < 0).any() or c[-1] == 0:
        return None
    return InnerProductKernel(tuple(map(float, c)))


def _coefficients(kernel: Any) -> Array | None:
    """Return c of sums, products and powers of constants and inner products."""
    kind = type(kernel)
    if kind is ConstantKernel:
        return np.array([kernel.constant_value])
    if kind is DotProduct:
        return np.array([kernel.sigma_0**2, 1.0])
    if kind is Exponentiation:
        return _power(_coefficients(kernel.kernel), kernel.exponent)
    if kind not in (Sum, Product):
        return None
    one, two = _coefficients(kernel.k1), _coefficients(kernel.k2)
    if one is None or two is None:
        return None
    return np.asarray(np.convolve(one, two) if kind is Product else polynomial.polyadd(one, two))


def _power(c: Array | None, exponent: float) -> Array | None:
    """Return the coefficients of a power of a polynomial; None unless the exponent is whole."""
    return reduce(np.convolve, [c] * int(exponent)) if c is not None and whole(exponent) else None


def whole(exponent: float) -> bool:
    """Whether an exponent is a positive integer."""
    return exponent >= 1 and exponent == int(exponent)


def strictly_positive_definite(kernel: Any) -> bool:
    """Whether a kernel is known to be strictly positive definite."""
    kind = type(kernel)
    if kind is Exponentiation:
        return whole(kernel.exponent) and strictly_positive_definite(kernel.kernel)
    if kind in (Sum, Product):
        parts = kernel.k1, kernel.k2
        strict = [strictly_positive_definite(part) for part in parts]
        constant = [type(part) is ConstantKernel for part in parts]
        return any(strict) and (kind is Sum or all(map(max, strict, constant)))
    return kind in (RBF, Matern, RationalQuadratic) or kernel in ("rbf", "laplacian")

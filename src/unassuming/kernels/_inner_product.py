"""Kernels that are polynomials in the inner product, and their finitely many features.

k(x, z) = Σ_k c_k (xᵀz)^k with c_k >= 0 is the inner product of the monomials of x and of z, those
of degree k weighted by √(c_k k!/α!). The features have half as many digits to lose as the Gram
matrix, whose condition is the square of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, final

import numpy as np
from sklearn.gaussian_process.kernels import (
    ConstantKernel,
    DotProduct,
    Exponentiation,
    Product,
    Sum,
)

from unassuming._modular import PRIMES, Remainders, rank_modulo, remainders
from unassuming._typing import Array

_LARGEST_ELIMINATION = 10**8


@final
@dataclass(frozen=True)
class InnerProductKernel:
    """k(x, z) = Σ_k c_k (xᵀz)^k with c_k >= 0, the inputs first scaled to length one if so wished.

    Examples
    --------
    >>> kernel = InnerProductKernel((1.0, 2.0, 1.0))  # (1 + xz)²
    >>> kernel.count(1), kernel.degree
    (3, 2)
    >>> F = kernel.features(np.array([[0.0], [3.0]]))
    >>> (F @ F.T).round(9)
    array([[  1.,   1.],
           [  1., 100.]])
    """

    c: tuple[float, ...]
    normalised: bool = False

    @property
    def degree(self) -> int:
        """The largest k with c_k > 0."""
        return len(self.c) - 1

    def count(self, p: int) -> int:
        """Return the number of features of p inputs."""
        return sum(comb(p + k - 1, k) for k, c in enumerate(self.c) if c)

    def _monomials(self, p: int) -> list[tuple[int, ...]]:
        """Return the factors of each feature, columns of X with repetitions."""
        degrees = (k for k, c in enumerate(self.c) if c)
        return [m for k in degrees for m in combinations_with_replacement(range(p), k)]

    def features(self, X: Array) -> Array:
        """Return F (N, D) with FFᵀ = K; every entry is rounded a few times, relative to itself."""
        if self.normalised:
            length = np.linalg.norm(X, axis=1, keepdims=True)
            X = X / np.where(length > 0, length, 1.0)
        columns = []
        for factors in self._monomials(X.shape[1]):
            column = np.full(len(X), np.sqrt(self.c[len(factors)] * _ways(factors)))
            for j in factors:
                column = column * X[:, j]
            columns.append(column)
        return np.column_stack(columns)

    def slopes(self, X: Array, along: Array) -> Array | None:
        """Return the derivatives of the features along directions (N, p), shape (N, D).

        None for inputs that are scaled to length one.
        """
        if self.normalised:
            return None
        columns = []
        for factors in self._monomials(X.shape[1]):
            total = np.zeros(len(X))
            for i, j in enumerate(factors):
                others = [k for at, k in enumerate(factors) if at != i]
                total += along[:, j] * X[:, others].prod(axis=1)
            columns.append(np.sqrt(self.c[len(factors)] * _ways(factors)) * total)
        return np.column_stack(columns)

    def squared_weights(self, p: int, prime: int) -> Remainders:
        """Return the squares of the weights of the monomials, modulo a prime, shape (D,)."""
        c, monomials = remainders(np.array(self.c), prime), self._monomials(p)
        return np.array([int(c[len(m)]) * _ways(m) % prime for m in monomials], dtype=np.int64)

    def faithful(self, X: Array, F: Array) -> bool:
        """Whether no feature of X was lost to over- or underflow."""
        nonzero = X != 0
        for column, factors in zip(F.T, self._monomials(X.shape[1]), strict=True):
            expected = nonzero[:, list(factors)].all(axis=1)
            if not np.isfinite(column).all() or (np.abs(column[expected]) < 1e-290).any():
                return False
        return True

    def exact_rank(self, X: Array) -> int | None:
        """Return the rank of the features in exact arithmetic; None if that takes too long.

        It is the rank modulo a prime, which is never above the rank, and below it only if the prime
        divides all minors of that size. Weights of columns and lengths of rows do not matter.
        """
        monomials = self._monomials(X.shape[1])
        if len(X) * len(monomials) * min(len(X), len(monomials)) > _LARGEST_ELIMINATION:
            return None
        return rank_modulo(self.remainders(X, PRIMES[0]), PRIMES[0])

    def remainders(self, X: Array, prime: int) -> Remainders:
        """Return the monomials of X modulo a prime, (N, D): the features up to their weights.

        Inputs are not scaled to length one.
        """
        own, columns = remainders(X, prime), []
        for factors in self._monomials(X.shape[1]):
            column = np.ones(len(X), dtype=np.int64)
            for j in factors:
                column = column * own[:, j] % prime
            columns.append(column)
        return np.column_stack(columns)


def _ways(factors: tuple[int, ...]) -> int:
    """Return the number of orders of the factors of a monomial."""
    return factorial(len(factors)) // prod(factorial(factors.count(j)) for j in set(factors))


def inner_product_kernel(
    kernel: Any, p: int, gamma: Any = None, degree: Any = 3, coef0: Any = 1
) -> InnerProductKernel | None:
    """Return a kernel as such a polynomial, or None if it is not known to be one.

    Parameters
    ----------
    kernel : str, gaussian_process kernel or callable
    p : int
        Number of input columns.
    gamma, degree, coef0
        As in `gram`.

    Examples
    --------
    >>> inner_product_kernel("poly", 1, gamma=2.0, degree=2, coef0=1)
    InnerProductKernel(c=(1.0, 4.0, 4.0), normalised=False)
    >>> from sklearn.gaussian_process.kernels import DotProduct
    >>> inner_product_kernel(2.0 * DotProduct(3.0) ** 2, 1).c
    (162.0, 36.0, 2.0)
    >>> inner_product_kernel("rbf", 1) is None
    True
    """
    if isinstance(kernel, str):
        return _named(kernel, p, gamma, degree, coef0)
    c = _of_object(kernel)
    return None if c is None else _checked(c)


def _named(kernel: str, p: int, gamma: Any, degree: Any, coef0: Any) -> InnerProductKernel | None:
    if kernel in ("linear", "cosine"):
        return InnerProductKernel((0.0, 1.0), normalised=kernel == "cosine")
    if kernel not in ("poly", "polynomial") or degree != int(degree) or degree < 1:
        return None
    return _checked(_power(np.array([coef0, 1 / p if gamma is None else gamma]), int(degree)))


def _of_object(kernel: Any) -> Array | None:
    """Return c of sums, products and powers of constants and inner products."""
    if type(kernel) is ConstantKernel:
        return np.array([kernel.constant_value])
    if type(kernel) is DotProduct:
        return np.array([kernel.sigma_0**2, 1.0])
    if type(kernel) is Exponentiation:
        c = _of_object(kernel.kernel)
        whole = kernel.exponent == int(kernel.exponent) and kernel.exponent >= 1
        return None if c is None or not whole else _power(c, int(kernel.exponent))
    if type(kernel) not in (Sum, Product):
        return None
    one, two = _of_object(kernel.k1), _of_object(kernel.k2)
    if one is None or two is None:
        return None
    if type(kernel) is Product:
        return np.convolve(one, two)
    longer, shorter = (one, two) if len(one) >= len(two) else (two, one)
    return np.asarray(longer + np.pad(shorter, (0, len(longer) - len(shorter))))


def _power(c: Array, exponent: int) -> Array:
    result = np.ones(1)
    for _ in range(exponent):
        result = np.convolve(result, c)
    return result


def _checked(c: Array) -> InnerProductKernel | None:
    """Return the kernel if all c_k are numbers that features can have."""
    c = np.asarray(c, dtype=np.float64)
    usable = np.isfinite(c).all() and (c >= 0).all() and c[-1] > 0
    return InnerProductKernel(tuple(map(float, c))) if usable else None

"""What fitted values determine, decided without rounding (docs/theory.md 8.2).

Double precision cannot tell a functional from a row of Φ if they differ by little, however much the
difference means: coefficients may be as large as features are small. So ranks, functionals and
directions are decided modulo primes where Φ is known to the last digit, and by theory for strictly
positive definite kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._exact import Exact
from unassuming._modular import (
    PRIMES,
    Remainders,
    few_rows,
    integer_vector,
    null_space,
    product,
    rank_modulo,
    remainders,
)
from unassuming._rounding import column_units
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.kernels import InnerProductKernel
from unassuming.objectives.designs._design import Design
from unassuming.objectives.designs._errors import computed_kernel, nonsingular
from unassuming.objectives.designs._kernel import KernelDesign
from unassuming.objectives.designs._remainders import monomials_modulo

_LARGEST = 512
"""Kernel matrices of more rows take too long without rounding."""


@final
@dataclass(frozen=True, eq=False)
class RowSpace:
    """The rows of Φ in exact arithmetic.

    Attributes
    ----------
    design : Design
    rank : int or None
        The rank of Φ; None if it is unknown.
    unit : array of shape (d,)
        Powers of two, the sizes of the columns.
    matrix : tuple of arrays of shape (n, d)
        Φ / unit modulo primes, if Φ is known to the last digit.
    rows : tuple of arrays of shape (n, k)
        Combinations of the rows of Φ vanish exactly where those of one of these matrices do.
    copies : array of shape (n,), or None
        The number of the input of each row, if K is known to be nonsingular at distinct inputs.
    """

    design: Design
    rank: int | None
    unit: Array
    matrix: tuple[Remainders, ...]
    rows: tuple[Remainders, ...]
    copies: IntArray | None = None

    @property
    def most(self) -> int:
        """The rank of Φ, or an upper bound of it."""
        return min(self.design.matrix.shape) if self.rank is None else self.rank

    def holds(self, g: Array) -> BoolArray:
        """Return which functionals (N, d) of given numbers fitted values certainly determine."""
        if self.rank == g.shape[1]:
            return np.ones(len(g), dtype=np.bool_)
        if self.matrix:
            return self._orthogonal([remainders(g / self.unit, prime) for prime in PRIMES])
        if self.copies is None or self.design.intercept:
            return np.zeros(len(g), dtype=np.bool_)
        _, first = np.unique(self.copies, return_index=True)
        apart = np.abs(g - g[:, first[self.copies]])
        return np.asarray(apart.max(axis=1) == 0)

    def holds_values(self, X: Array) -> BoolArray:
        """Return which values of the function at inputs X (N, p) they certainly determine.

        Without an intercept k(z, ·) lies in the range of K at all inputs z, as K is semidefinite.
        """
        design, kernel = self.design, self.design.kernel
        if kernel is None or kernel.precomputed or not design.dual:
            return self.holds(design.rows(X))
        if not design.intercept:
            return np.ones(len(X), dtype=np.bool_)
        if not self.matrix or kernel.polynomial is None:
            return np.zeros(len(X), dtype=np.bool_)
        known = kernel.polynomial
        return self._orthogonal(
            [self._over(_with_ones(_gram(known, X, kernel.X, p)), p) for p in PRIMES]
        )

    def vanish(self, change: Array, w: Array) -> BoolArray:
        """Return which ΦᵀWδ are zero, for small integers δ (N, n) and weights w (n,)."""
        if not self.rows:
            return np.asarray(~change.any(axis=1))
        found = [
            ~product(change.astype(np.int64) % prime, _weighted(rows, w, prime), prime).any(axis=1)
            for rows, prime in zip(self.rows, PRIMES, strict=True)
        ]
        return np.asarray(np.logical_and.reduce(found))

    def free(self) -> Array | None:
        """Return a direction (d,) that changes no fitted value at all; None if none is known."""
        if self.copies is not None:
            one, other = _copy(self.copies)
            if other >= 0:
                found = np.zeros(len(self.unit))
                found[[one + int(self.design.intercept), other + int(self.design.intercept)]] = (
                    1,
                    -1,
                )
                return found
        for j in range(self._null[0].shape[1] if self._null else 0):
            whole = integer_vector([null[:, j] for null in self._null])
            if whole is None:
                continue
            found = whole / self.unit
            found = np.ldexp(found, -np.frexp(np.abs(found).max())[1])
            if np.isfinite(found).all() and not (self._exact @ Exact.of(found)).number.any():
                return np.asarray(found)
        return None

    @cached_property
    def _exact(self) -> Exact:
        """Φ without rounding."""
        if not self.design.dual:
            return Exact.of(self.design.matrix)
        K = computed_kernel(self.design)[0]
        if not self.design.intercept:
            return K
        ones = np.full((len(K.number), 1), 1 << K.shift, dtype=object)
        return Exact(np.hstack([ones, K.number]), K.shift)

    @cached_property
    def _null(self) -> tuple[Remainders, ...]:
        """Bases of what Φ / unit maps to zero."""
        parts = zip(self.matrix, PRIMES, strict=False)
        found = [null_space(few_rows(M, prime), prime) for M, prime in parts]
        least = min((one.shape[1] for one in found), default=0)
        return tuple(found) if all(one.shape[1] == least for one in found) else ()

    def _over(self, rows: Remainders, prime: int) -> Remainders:
        """Return rows (N, d) over the units of the columns."""
        return rows * _inverses(self.unit, prime) % prime

    def _orthogonal(self, rows: list[Remainders]) -> BoolArray:
        """Return which rows (N, d), one array for each prime, all null vectors leave alone."""
        if not self._null:
            return np.zeros(len(rows[0]), dtype=np.bool_)
        parts = zip(rows, self._null, PRIMES, strict=True)
        zero = [~product(some, null, prime).any(axis=1) for some, null, prime in parts]
        return np.asarray(np.logical_and.reduce(zero))


def row_space(design: Design) -> RowSpace:
    """Return what is known of the rows of Φ.

    Examples
    --------
    >>> from unassuming.objectives import FeatureDesign, row_space
    >>> known = row_space(FeatureDesign(np.array([[1.0, 3.0], [2.0, 6.0]]), intercept=False))
    >>> known.rank, known.holds(np.array([[1.0, 3.0], [1.0, 0.0]])), known.free()
    (1, array([ True, False]), array([-0.75,  0.25]))
    """
    unit = column_units(design.matrix)
    if not isinstance(design, KernelDesign):
        found = tuple(remainders(design.matrix / unit, prime) for prime in PRIMES)
        return RowSpace(design, _rank(found), unit, found, found)
    kernel, n = design.kernel, design.n
    known = None if kernel is None else kernel.polynomial
    if kernel is not None and known is not None and not kernel.precomputed:
        monomials = tuple(monomials_modulo(known, kernel.X, prime) for prime in PRIMES)
        if known.normalised:  # rows of length one: their rank is known, and no more
            certain = None if design.intercept else _rank(monomials)
            return RowSpace(design, certain, unit, (), ())
        rows = tuple(map(_with_ones, monomials)) if design.intercept else monomials
        if n > _LARGEST:
            return RowSpace(design, _rank(rows), unit, (), rows)
        found = tuple(_gram(known, kernel.X, kernel.X, prime) for prime in PRIMES)
        if design.intercept:
            found = tuple(map(_with_ones, found))
        pairs = zip(found, PRIMES, strict=True)
        found = tuple(one * _inverses(unit, prime) % prime for one, prime in pairs)
        return RowSpace(design, _rank(rows), unit, found, rows)
    given = kernel is None or kernel.precomputed
    if given and n <= _LARGEST:
        found = tuple(remainders(design.matrix / unit, prime) for prime in PRIMES)
        return RowSpace(design, _rank(found), unit, found, found)
    first, which = design.distinct
    if given or not (design.strict or nonsingular(design)):
        return RowSpace(design, None, unit, (), ())
    same = (which[:, None] == np.arange(len(first))).astype(np.int64)
    return RowSpace(design, len(first), unit, (), (same,) * len(PRIMES), which)


def _rank(matrices: tuple[Remainders, ...]) -> int:
    pairs = zip(matrices, PRIMES, strict=True)
    return max(rank_modulo(few_rows(M, prime), prime) for M, prime in pairs)


def _gram(kernel: InnerProductKernel, A: Array, B: Array, prime: int) -> Remainders:
    """Return the kernel matrix between inputs, modulo a prime."""
    inner = product(remainders(A, prime), remainders(B, prime).T, prime)
    found = np.zeros_like(inner)
    for c in remainders(np.array(kernel.c), prime)[::-1]:  # Horner's rule
        found = (found * inner + c) % prime
    return found


def _with_ones(M: Remainders) -> Remainders:
    return np.hstack([np.ones((len(M), 1), dtype=np.int64), M])


def _weighted(rows: Remainders, w: Array, prime: int) -> Remainders:
    return rows * remainders(w, prime)[:, None] % prime


def _inverses(unit: Array, prime: int) -> Remainders:
    """Return the inverses of powers of two."""
    return remainders(1 / unit, prime)


def _copy(copies: IntArray) -> tuple[int, int]:
    """Return two rows with the same input, or -1 for the second."""
    seen: dict[int, int] = {}
    for row, which in enumerate(copies.tolist()):
        if which in seen:
            return seen[which], row
        seen[which] = row
    return 0, -1

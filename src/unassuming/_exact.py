"""Numbers without rounding: doubles are integers over powers of two."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any, final

import numpy as np

from unassuming._modular import PRIMES, rank_modulo
from unassuming._typing import Array

_PRECISIONS = (512, 2048)
"""Digits after the binary point, in a matrix whose diagonal is near one: the fewest that do."""
_OF_SPAN = 4
"""More digits than these are taken for long numbers: that many times their own."""
_ROOT_DIGITS = 64
_root = np.frompyfunc(lambda x: isqrt(max(0, x)) + 1, 1, 1)


@final
@dataclass(frozen=True, eq=False)
class Exact:
    """An array of integers over 2^shift.

    Examples
    --------
    >>> third = Exact.of(np.array([0.1, 0.2, -0.3]))
    >>> bool(third.sum().number), float(np.sum([0.1, 0.2, -0.3]))
    (True, 5.551115123125783e-17)
    """

    number: Any  # an integer, or an array of integers
    shift: int

    @classmethod
    def of(cls, x: Array | float) -> Exact:
        """Return doubles as they are."""
        mantissa, exponent = np.frexp(np.asarray(x, dtype=np.float64))
        digits = np.ldexp(mantissa, 53).astype(np.int64).astype(object)
        shift = 53 - int(np.where(mantissa != 0, exponent, 1100).min(initial=1100))
        lifted = np.where(mantissa != 0, exponent, 53 - shift) - 53 + shift
        return cls(digits << lifted.astype(object), shift)

    def to(self, shift: int) -> Any:
        """Return the integers over a larger power of two."""
        return self.number << (shift - self.shift)

    def __add__(self, other: Exact) -> Exact:
        shift = max(self.shift, other.shift)
        return Exact(self.to(shift) + other.to(shift), shift)

    def __sub__(self, other: Exact) -> Exact:
        shift = max(self.shift, other.shift)
        return Exact(self.to(shift) - other.to(shift), shift)

    def __mul__(self, other: Exact) -> Exact:
        return Exact(self.number * other.number, self.shift + other.shift)

    def __matmul__(self, other: Exact) -> Exact:
        return Exact(self.number @ other.number, self.shift + other.shift)

    def __abs__(self) -> Exact:
        return Exact(abs(self.number), self.shift)  # NumPy would turn an integer into 64 bits

    def __getitem__(self, which: Any) -> Exact:
        return Exact(self.number[which], self.shift)

    @property
    def T(self) -> Exact:
        """The transpose."""
        return Exact(self.number.T, self.shift)

    def sum(self) -> Exact:
        """Return the sum of all entries."""
        return Exact(int(np.sum(self.number)), self.shift)

    def columns(self) -> Exact:
        """Return the sums of the columns."""
        return Exact(np.sum(self.number, axis=0), self.shift)

    def max(self) -> Exact:
        """Return the largest entry."""
        return Exact(np.max(self.number), self.shift)

    def times_two_to(self, power: int) -> Exact:
        """Return the numbers times a power of two."""
        return Exact(self.number, self.shift - power)

    def root_above(self) -> Exact:
        """Return square roots of the entries, rounded up; those of negative ones count as zero."""
        odd = self.shift % 2
        root = _root(self.number << (2 * _ROOT_DIGITS + odd))
        return Exact(root, (self.shift + odd) // 2 + _ROOT_DIGITS)

    def least(self, other: Exact) -> Exact:
        """Return the smaller of two numbers."""
        return self if self.at_most(other) else other

    def most(self, other: Exact) -> Exact:
        """Return the larger of two numbers."""
        return other if self.at_most(other) else self

    def at_most(self, other: Exact) -> bool:
        """Whether one number is at most another."""
        shift = max(self.shift, other.shift)
        return bool(self.to(shift) <= other.to(shift))


@final
class Triangle:
    """The factors of a positive semidefinite matrix, in fixed-point numbers.

    Rows and columns are scaled by powers of two to a diagonal near one, and pivots are chosen by
    size. With B digits a pivot below 2^(-3B/4) is zero if the others are as many as the rank. The
    digits suffice if all others are above 2^(-B/4): the rounding errors of the last ones are then
    near 2^(-3B/4) or below.

    Examples
    --------
    >>> A = Exact.of(np.array([[4.0, 2.0], [2.0, 1.0]]))
    >>> triangle = Triangle(A)
    >>> len(triangle.pivots)
    1
    >>> x = triangle.solve(Exact.of(np.array([[8.0], [4.0]])))
    >>> float(x.number[0, 0] / 2**x.shift)
    2.0
    """

    def __init__(self, A: Exact, *, digits: int = 0) -> None:
        """Take at least so many digits."""
        diagonal = np.diagonal(A.number)
        if min(diagonal, default=0) < 0:
            raise ArithmeticError("the matrix is not positive semidefinite")
        self.shift = A.shift
        self.scale = np.array([x.bit_length() // 2 for x in diagonal], dtype=object)
        longest = max((abs(int(x)).bit_length() for x in A.number.flat), default=0)
        self._most = max(_PRECISIONS[-1], _PRECISIONS[0] + _OF_SPAN * longest)
        for bits in sorted({*_PRECISIONS, self._most}):
            self.bits = bits
            if bits >= digits and self._factored(A):
                return
        raise ArithmeticError("the digits do not suffice")

    def _factored(self, A: Exact) -> bool:
        """Eliminate row by row; return whether the digits suffice."""
        bits = self.bits
        B = _shifted(A.number, bits - self.scale[:, None] - self.scale)
        left, self.pivots = list(range(len(B))), list[int]()
        self._columns, self._sizes = list[Any](), list[int]()
        while left:
            k = max(left, key=lambda j: B[j, j])
            size = B[k, k]
            if size <= 1 << (bits // 4):
                if min(B[j, j] for j in left) < -(1 << (bits // 2)):
                    raise ArithmeticError("the matrix is not positive semidefinite")
                return len(self.pivots) >= _rank(A.number)
            if size <= 1 << (bits - bits // 4):
                return False
            left.remove(k)
            column = np.zeros(len(B), dtype=object)
            if left:
                rest = np.ix_(left, left)
                column[left] = (B[left, k] << bits) // size
                B[rest] = B[rest] - (column[left][:, None] * B[left, k] >> bits)
            self.pivots.append(k)
            self._columns.append(column)
            self._sizes.append(size)
        return True

    @property
    def finest(self) -> bool:
        """Whether no more digits are taken."""
        return self.bits == self._most

    def alike(self, x: Exact) -> Exact:
        """Return sizes that are alike in the units of the triangle, as large as those of x (d, k).

        The errors of solutions x are small relative to them, not relative to each entry of x.
        """
        most, none = max(self.scale, default=0), np.zeros(x.number.shape[1], dtype=object)
        largest = np.max(abs(x.number) << self.scale[:, None], axis=0, initial=0) + none
        return Exact(largest << (most - self.scale)[:, None], x.shift + most)

    def solve(self, b: Exact) -> Exact:
        """Return a solution of A x = b, (d, k) -> (d, k), that is zero outside the pivots."""
        largest, bits = max(self.scale, default=0), self.bits
        x = b.number << (bits + largest - self.scale)[:, None]
        found = np.zeros_like(x)
        # Column k is zero at earlier pivots, and other rows are not asked for.
        steps = [
            (k, self.pivots[i:], self._columns[i - 1][self.pivots[i:]], self._sizes[i - 1])
            for i, k in enumerate(self.pivots, start=1)
        ]
        for k, later, column, _ in steps:
            x[later] -= column[:, None] * x[k] >> bits
        for k, later, column, size in reversed(steps):
            found[k] = (x[k] << bits) // size - ((column @ found[later]) >> bits)
        shift = bits + 2 * largest + b.shift - self.shift
        return Exact(found << (largest - self.scale)[:, None], shift)


def _rank(numbers: Any) -> int:
    """Return the rank of a matrix of integers; too small only if each prime divides all minors."""
    return max(rank_modulo((numbers % p).astype(np.int64), p) for p in PRIMES)


def _shifted(numbers: Any, by: Any) -> Any:
    """Return integers times powers of two, rounded down."""
    up = np.where(by > 0, by, 0)
    return (numbers << up) >> np.where(by < 0, -by, 0)

"""Which columns of a matrix depend on others, in exact arithmetic, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unassuming._modular import (
    PRIMES,
    Remainders,
    echelon,
    null_space,
    product,
    rational_basis,
    remainders,
    row_spaces,
)
from unassuming._typing import Array, IntArray


class Dependence(NamedTuple):
    """The row space, modulo primes, of a matrix whose columns are in units of their own.

    Examples
    --------
    The second column is the first in other units:

    >>> X = np.array([[3.0, 3.0 * 2.0**-29, 0.0], [1.0, 2.0**-29, 1.0]])
    >>> found = Dependence.of([X], np.zeros(3), np.array([2.0, 2.0**-28, 1.0]))
    >>> order = np.array([1, 0, 2])
    >>> found.first(order)
    array([1, 2])
    >>> found.null_vectors(np.array([[1.0], [-0.9], [1e-17]]), order[[0, 2, 1]])[0]
    array([[ 1.],
           [-1.],
           [ 0.]])
    """

    spaces: list[Remainders]  # bases of these rows, (r, d)
    shift: Array  # what is subtracted from each column, in multiples of the first, (d,)
    inverse: list[Remainders]  # one over the units, (d,)

    @classmethod
    def of(cls, given: Sequence[Array], shift: Array, unit: Array) -> Dependence:
        """Return that of a sum of matrices, less multiples of its first column."""
        spaces, inverses = [], []
        for space, prime in zip(row_spaces(given), PRIMES, strict=True):
            units = remainders(unit, prime).tolist()
            inverses.append(np.array([pow(u, -1, prime) for u in units], dtype=np.int64))
            moved = (space - space[:, :1] * remainders(shift, prime)) % prime
            spaces.append(moved * inverses[-1] % prime)
        return cls(spaces, shift, inverses)

    def first(self, order: IntArray) -> IntArray:
        """Return the columns that do not depend on those before them, in some order."""
        k = max(range(len(PRIMES)), key=lambda i: len(self.spaces[i]))
        return np.asarray(order[echelon(self.spaces[k][:, order], PRIMES[k])[1]])

    def null_vectors(self, near: Array, order: IntArray) -> tuple[Array, tuple[Remainders, ...]]:
        """Return null vectors (d, f), and those of the numbers given, modulo primes.

        The last columns of the order depend on the others. Each of them has one null vector, with
        a one there; ``near`` are these vectors with rounding errors. Simple numbers take the place
        of such, and zeros that of errors.
        """
        nulls, known = [], []
        for space, inverse, prime in zip(self.spaces, self.inverse, PRIMES, strict=True):
            found = np.empty((len(order), len(order) - len(space)), dtype=np.int64)
            found[order] = null_space(space[:, order], prime)
            whole = inverse[:, None] * found % prime
            whole[:1] -= product(remainders(self.shift, prime)[None], whole, prime)
            nulls.append(found)
            known.append(whole % prime)
        free, one = order[len(order) - near.shape[1] :], np.eye(near.shape[1])
        if not all(np.array_equal(part[free], one) for part in nulls):
            return near, tuple(known)  # a prime divides what decides
        simple = rational_basis(nulls)
        if simple is None:
            simple = np.where(np.logical_or(*nulls), near, 0.0)
        return simple, tuple(known)

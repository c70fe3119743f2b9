"""Inner products of moved columns E F, where E = G_i - I and fitted values move by F x.

They are all that a quadratic form needs. For signs they are sums over the rows that change sign,
and one matrix product gives those of all transformations (docs/theory.md 4.5).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, IntArray
from unassuming.noise import BlockSymmetric, Noise, Perturbations, Symmetric

_BLOCK_BYTES = 2**18
"""The size of one block of products of columns: it stays in the cache."""
_BLOCK_ROWS = 1024
_FEW_COLUMNS = 64


class Moves(ABC):
    """Inner products of E F, for s transformations and the k columns of F."""

    @abstractmethod
    def __init__(self, perturbations: Perturbations, F: Array) -> None: ...

    @staticmethod
    @abstractmethod
    def numbers(n: int, k: int, width: int) -> int:
        """Return how many numbers one set takes in all arrays below, if q has ``width`` columns."""

    @abstractmethod
    def gram(self) -> Array:
        """Return (E F)ᵀ(E F), shape (s, k, k)."""

    @abstractmethod
    def seen_by(self, q: Array) -> Array:
        """Return (E F)ᵀq, (n, l) -> (s, k, l)."""

    @abstractmethod
    def against(self, h: Array) -> Array:
        """Return (E F)ᵀh with one vector for each transformation, (s, n) -> (s, k)."""


@final
class AnyMoves(Moves):
    """Any orthogonal transformation: move the columns and multiply."""

    def __init__(self, perturbations: Perturbations, F: Array) -> None:
        self.EF = np.moveaxis(perturbations.apply(F.T) - F.T[:, None, :], 0, 1)  # (s, k, n)

    @staticmethod
    def numbers(n: int, k: int, width: int) -> int:
        """Return the numbers of two copies of E F, and of the results."""
        return k * (2 * n + width + 2 * k)

    def gram(self) -> Array:
        """Return (E F)ᵀ(E F)."""
        return np.asarray(self.EF @ np.swapaxes(self.EF, 1, 2))

    def seen_by(self, q: Array) -> Array:
        """Return (E F)ᵀq."""
        return np.asarray(self.EF @ q)

    def against(self, h: Array) -> Array:
        """Return (E F)ᵀh."""
        return np.asarray((self.EF @ h[:, :, None])[:, :, 0])


@final
class SignMoves(Moves):
    """Signs: E is -2 in the rows that change sign and 0 in the others.

    For few columns the sums of all transformations are one matrix product: which rows change sign
    (s, n), times the products of columns (n, k(k + 1)/2). Many columns are multiplied set by set,
    which takes as many operations.
    """

    def __init__(self, perturbations: Perturbations, F: Array) -> None:
        self.F = F
        self.minus = perturbations.apply(np.full(len(F), -0.5))
        self.minus += 0.5  # (s, n): 1 in the rows that change sign, else 0

    @staticmethod
    def numbers(n: int, k: int, width: int) -> int:
        """Return the numbers of a few vectors of length n, and of the results."""
        return 6 * n + k * (2 * width + 4 * k)

    @cached_property
    def _own(self) -> Array:
        """The sums for pairs of columns of F, each pair computed once."""
        k = self.F.shape[1]
        if k > _FEW_COLUMNS:
            return self._set_by_set(self.F)
        rows, columns = np.triu_indices(k)
        place = np.empty((k, k), dtype=np.intp)
        place[rows, columns] = place[columns, rows] = np.arange(len(rows))
        return self._sums(self.F, rows, columns)[:, place]

    def gram(self) -> Array:
        """Return (E F)ᵀ(E F)."""
        return 4.0 * self._own

    def seen_by(self, q: Array) -> Array:
        """Return (E F)ᵀq."""
        if np.array_equal(q, self.F):
            return -2.0 * self._own
        k, width = self.F.shape[1], q.shape[1]
        if max(k, width) > _FEW_COLUMNS:
            return -2.0 * self._set_by_set(q)
        rows, columns = np.divmod(np.arange(k * width), width)
        return -2.0 * self._sums(q, rows, columns).reshape(len(self.minus), k, width)

    def against(self, h: Array) -> Array:
        """Return (E F)ᵀh."""
        return np.asarray(-2.0 * ((self.minus * h) @ self.F))

    def _set_by_set(self, q: Array) -> Array:
        """Sum over the rows that change sign: Fᵀq of these rows, for each transformation."""
        sums = np.zeros((len(self.minus), self.F.shape[1], q.shape[1]))
        for one, minus in zip(sums, self.minus > 0, strict=True):
            F = self.F[minus]
            seen = F.any(axis=0)  # a column that is zero in these rows is a free direction
            one[seen] = F[:, seen].T @ q[minus]
        return sums

    def _sums(self, q: Array, rows: IntArray, columns: IntArray) -> Array:
        """Sum F[:, row] q[:, column] over the rows that change sign, for pairs (row, column)."""
        sums = np.zeros((len(self.minus), len(rows)))
        for chunk in slices(len(q), _BLOCK_ROWS):
            minus, one, two = self.minus[:, chunk], self.F[chunk].T.copy(), q[chunk].T.copy()
            for some in slices(len(rows), rows_that_fit(_BLOCK_BYTES, one.shape[1])):
                products = one[rows[some]]
                products *= two[columns[some]]
                sums[:, some] += minus @ products.T
        return sums


def moves_of(noise: Noise) -> type[Moves]:
    """Return the fastest class for that assumption."""
    return SignMoves if isinstance(noise, (Symmetric, BlockSymmetric)) else AnyMoves

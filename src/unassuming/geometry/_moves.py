"""How the transformations move the columns of a chart: inner products of E F, E = G_i - I."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.noise import BlockSymmetric, Perturbations, Symmetric

_PRODUCT_BYTES = 2**23
"""The size of one block of products of columns."""


class Moves(ABC):
    """E F for s transformations and the k columns of F, seen through inner products only."""

    @abstractmethod
    def gram(self) -> Array:
        """Return (E F)ᵀ(E F), shape (s, k, k)."""

    @abstractmethod
    def seen_by(self, q: Array) -> Array:
        """Return (E F)ᵀq, (n, l) -> (s, k, l)."""

    @abstractmethod
    def against(self, h: Array) -> Array:
        """Return (E F)ᵀh with one vector for each transformation, (s, n) -> (s, k)."""


def moves(perturbations: Perturbations, F: Array) -> Moves:
    """Choose how to compute the products."""
    if isinstance(perturbations.noise, (Symmetric, BlockSymmetric)):
        return SignMoves(perturbations, F)
    return AnyMoves(perturbations, F)


@final
class AnyMoves(Moves):
    """Any orthogonal transformation: move the columns and multiply."""

    def __init__(self, perturbations: Perturbations, F: Array) -> None:
        self.EF = np.moveaxis(perturbations.apply(F.T) - F.T[:, None, :], 0, 1)  # (s, k, n)

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
    """Signs: E is -2 in the rows that change sign and 0 in the others (docs/theory.md 4.5).

    So every inner product is a sum over these rows, and those of all transformations come from one
    matrix product: which rows (s, n), times the products of columns (n, k(k + 1)/2).
    """

    def __init__(self, perturbations: Perturbations, F: Array) -> None:
        self.F = F
        self.minus = 0.5 - 0.5 * perturbations.apply(np.ones(len(F)))  # (s, n): 0 or 1

    @cached_property
    def _own(self) -> Array:
        k = self.F.shape[1]
        rows, columns = np.triu_indices(k)
        products = np.empty((len(self.minus), k, k))
        for some, found in self._products(self.F, rows, columns):
            products[:, rows[some], columns[some]] = found
            products[:, columns[some], rows[some]] = found
        return products

    def gram(self) -> Array:
        """Return (E F)ᵀ(E F)."""
        return 4.0 * self._own

    def seen_by(self, q: Array) -> Array:
        """Return (E F)ᵀq."""
        if np.array_equal(q, self.F):
            return -2.0 * self._own
        k, width = self.F.shape[1], q.shape[1]
        rows, columns = np.divmod(np.arange(k * width), width)
        seen = np.empty((len(self.minus), k * width))
        for some, found in self._products(q, rows, columns):
            seen[:, some] = found
        return -2.0 * seen.reshape(-1, k, width)

    def against(self, h: Array) -> Array:
        """Return (E F)ᵀh."""
        return np.asarray(-2.0 * ((self.minus * h) @ self.F))

    def _products(self, q: Array, rows: IntArray, columns: IntArray) -> Iterator[tuple[slice, Array]]:
        """Yield the sums over the changed rows of F[:, row] q[:, column], in blocks."""
        step = max(1, _PRODUCT_BYTES // (8 * len(q)))
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            yield some, self.minus @ (self.F[:, rows[some]] * q[:, columns[some]])

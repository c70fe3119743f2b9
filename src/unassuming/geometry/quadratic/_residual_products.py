"""Inner products xᵀ(I - S)y of moved vectors, S = q qᵀ, in as few operations as possible.

There are two ways: by the factor q, or by the matrix I - S itself. The second is faster for wide q
and many lines, since signs leave half of the entries of a vector at zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import final

import numpy as np
from scipy.linalg.blas import dsyrk

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array

_BATCH_BYTES = 2**26
_STRIPES = 6
_SET_BY_SET = 10**7
"""Operations that take about as long as the overhead of Python for each set."""


class Complement(ABC):
    """Inner products with I - S."""

    @abstractmethod
    def products(self, vectors: Array) -> Array:
        """Return xᵀ(I - S)y for pairs among p vectors, (p, N, s, n) -> (p, p, N, s)."""

    @abstractmethod
    def blocks(self, lines: int, sets: int) -> Iterator[tuple[slice, slice]]:
        """Yield which lines and sets to take at a time: memory does not grow with their number."""


@final
class ByFactor(Complement):
    """xᵀy - (qᵀx)ᵀ(qᵀy): 2nk operations for a vector, k the number of columns of q."""

    def __init__(self, q: Array) -> None:
        self.q = q

    def products(self, vectors: Array) -> Array:
        """Return xᵀ(I - S)y."""
        seen = vectors @ self.q
        return _pairs(vectors, vectors) - _pairs(seen, seen)

    def blocks(self, lines: int, sets: int) -> Iterator[tuple[slice, slice]]:
        """Yield a few lines and all sets."""
        step = rows_that_fit(_BATCH_BYTES, (sets + 1) * 3 * sum(self.q.shape))
        return ((some, slice(0, sets)) for some in slices(lines, step))


@final
class ByTriangle(Complement):
    """T + Tᵀ = I - S with a triangle T: only its rows and columns that move are read.

    Takes n²k operations once, and then, where half of the entries of a vector are zero as with
    signs (docs/theory.md 4.5), somewhat more than n²/4 for each. The zeros of one set have to be
    in the same places for all lines, so sets are taken one by one.
    """

    def __init__(self, q: Array) -> None:
        n = len(q)
        factor, turned = (q, 0) if q.flags.f_contiguous else (q.T, 1)
        lower = dsyrk(
            -1.0, factor, beta=1.0, c=np.eye(n, order="F"), trans=turned, lower=1, overwrite_c=1
        )
        self.upper = lower.T
        self.upper[np.diag_indices(n)] /= 2

    def products(self, vectors: Array) -> Array:
        """Return xᵀ(I - S)y."""
        found = np.stack([self._of_one_set(vectors[:, :, i]) for i in range(vectors.shape[2])], -1)
        return found + np.swapaxes(found, 0, 1)

    def blocks(self, lines: int, sets: int) -> Iterator[tuple[slice, slice]]:
        """Yield many lines and one set."""
        step = rows_that_fit(_BATCH_BYTES, 6 * len(self.upper))
        return ((some, one) for some in slices(lines, step) for one in slices(sets, 1))

    def _of_one_set(self, vectors: Array) -> Array:
        """Return xᵀTy, (p, N, n) -> (p, p, N)."""
        rows = np.flatnonzero(vectors.any(axis=(0, 1)))
        x = vectors[:, :, rows]
        found = np.zeros((len(x), *x.shape[:2]))
        for some in slices(len(rows), max(1, -(-len(rows) // _STRIPES))):
            right = slice(some.start, None)  # T is zero left of the stripe
            stripe = self.upper[np.ix_(rows[some], rows[right])]
            found += _pairs(x[:, :, some] @ stripe, x[:, :, right])
        return found


def _pairs(x: Array, y: Array) -> Array:
    return np.asarray(np.einsum("i...n,j...n->ij...", x, y))


def triangle_pays(n: int, k: int, sets: int, lines: int) -> bool:
    """Whether the triangle takes fewer operations, even if it has no zeros to skip."""
    vectors = sets * lines
    return n * n * (k + vectors) + _SET_BY_SET * sets < 2 * n * k * vectors

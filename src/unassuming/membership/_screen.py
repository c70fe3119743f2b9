"""Ranks by one matrix product: it decides on most candidates, in a fraction of the time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unassuming._typing import Array, BoolArray, IntArray

Floats = NDArray[np.float32] | NDArray[np.float64]

FAR = 1e4
"""Rounding errors may be relative to numbers that many times longer than what is left of them."""

_BATCH_BYTES = 2**22
"""Of the monomials of one batch: two such tables fit a cache."""


@dataclass(frozen=True, eq=False)
class Screen(ABC):
    """Signs of Z_i - Z_0; what rounding could decide is left in doubt.

    Up to a positive factor of its own, the gaps of a candidate are the product of a table with
    monomials of the candidate. Each row is divided by a bound of its rounding error, so that a gap
    is in doubt up to ±1.

    Attributes
    ----------
    table : array of shape (transformations, K)
        Without the transformations that move nothing: there Z_i = Z_0.
    ties : int
        How many of those come before Z_0 in the tie order.
    """

    table: Floats
    ties: int

    @abstractmethod
    def monomials(self, a: Array) -> tuple[Floats, BoolArray]:
        """Return what the table is multiplied with (K, N), and which candidates are in doubt."""

    @property
    def batch(self) -> int:
        """How many candidates to take at a time."""
        width = self.table.itemsize * max(1, self.table.shape[1])
        return int(np.clip(_BATCH_BYTES // width, 64, 4096))

    def before(self, a: Array) -> tuple[IntArray, BoolArray]:
        """Return how many Z_i are less than Z_0, and which candidates (N, d) are in doubt."""
        monomials, doubt = self.monomials(a)
        gaps = self.table @ monomials
        # Sums of bytes, at most 127 at a time.
        negative = (gaps < 0).view(np.int8)
        below = np.full(len(a), self.ties, dtype=np.intp)
        for top in range(0, len(negative), 127):
            below += np.add.reduce(negative[top : top + 127], axis=0, dtype=np.int8)
        nearest = np.minimum.reduce(np.abs(gaps, out=gaps), axis=0, initial=np.inf)
        return below, ~(nearest > 1) | doubt  # True also where anything overflowed


def pairs_into(out: Floats, x: Floats, y: Floats, first: int = 0) -> int:
    """Write the products x_j y_l, l >= j + first, row by row; return the number of rows."""
    k, start = len(x), 0
    for j in range(k - first):
        stop = start + k - first - j
        np.multiply(x[j], y[j + first :], out=out[start:stop])
        start = stop
    return start


def ties_before(idle: BoolArray, tie_order: IntArray) -> int:
    """Count the transformations that move nothing and come before Z_0 in the tie order."""
    return int((idle & (tie_order[1:] < tie_order[0])).sum())

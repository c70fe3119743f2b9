"""Screens: the ranks of many candidates by one matrix product (docs/theory.md 4.6).

The gaps Z_i - Z_0 of a candidate are linear in monomials of it, up to a positive factor. So one
table gives all gaps. Candidates with a gap that is within its rounding error are left in doubt.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from unassuming._batches import slices
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership.screens._monomials import Floats

LARGEST_TABLE = 2**23
"""No larger table is built, in numbers (64 MiB)."""

FAR = 1e4
"""Cancellation up to this factor is allowed for in the rounding errors."""

_BATCH_BYTES = 2**22
"""The size of the monomials of one batch: two such tables fit into a cache."""


class Screen(ABC):
    """A fast way to ranks, which leaves in doubt what rounding may affect."""

    @property
    @abstractmethod
    def batch(self) -> int:
        """How many candidates to take at a time."""

    @abstractmethod
    def before(self, a: Array) -> tuple[IntArray, BoolArray]:
        """Return how many Z_i come before Z_0, and which candidates (N, d) are in doubt."""


@dataclass(frozen=True, eq=False)
class TableScreen(Screen):
    """Signs of the gaps. Rows are divided by a bound of their rounding error: ±1 is in doubt."""

    table: Floats  # (transformations that move something, K)
    ties: int  # how many of the others, for which Z_i = Z_0, come before Z_0 in the tie order

    @abstractmethod
    def monomials(self, a: Array) -> tuple[Floats, BoolArray]:
        """Return the monomials of candidates (K, N), and which of them are in doubt."""

    @property
    def batch(self) -> int:
        """How many candidates to take at a time."""
        width = self.table.itemsize * max(1, self.table.shape[1])
        return int(np.clip(_BATCH_BYTES // width, 64, 4096))

    def before(self, a: Array) -> tuple[IntArray, BoolArray]:
        """Return how many Z_i are less than Z_0, and which candidates (N, d) are in doubt."""
        monomials, doubt = self.monomials(a)
        gaps = self.table @ monomials
        negative = (gaps < 0).view(np.int8)
        below = np.full(len(a), self.ties, dtype=np.intp)
        for some in slices(len(negative), 127):  # sums of bytes do not overflow
            below += np.add.reduce(negative[some], axis=0, dtype=np.int8)
        nearest = np.minimum.reduce(np.abs(gaps, out=gaps), axis=0, initial=np.inf)
        return below, ~(nearest > 1) | doubt  # True also where anything overflowed


def ties_before(idle: BoolArray, tie_order: IntArray) -> int:
    """Count the transformations that move nothing and come before Z_0 in the tie order."""
    return int((idle & (tie_order[1:] < tie_order[0])).sum())

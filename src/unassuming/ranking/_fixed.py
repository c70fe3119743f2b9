"""Ranks where the other statistics do not depend on the candidate: a search in their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, IntArray
from unassuming.ranking._contrast import Contrast
from unassuming.ranking._order import precedes, rank

_BATCH_BYTES = 2**23


@final
@dataclass(frozen=True, eq=False)
class FixedStatistics:
    """Statistics Z_i = ‖z_i‖² that are the same for all candidates, so that one search ranks Z_0.

    Attributes
    ----------
    z : array of shape (m - 1, k)
        z_i.
    error : array of shape (k,)
        A bound on the rounding errors of every z_i and z_0.
    tie_order : array of shape (m,)
        The order of equal statistics.

    Examples
    --------
    >>> fixed = FixedStatistics(np.array([[1.0], [2.0], [3.0]]), np.zeros(1), np.arange(4))
    >>> fixed.ranks(np.array([[-2.0], [2.5]]))
    array([2, 3])
    >>> fixed.least_ranks(np.array([4.0, 6.25]))
    array([2, 3])
    """

    z: Array
    error: Array
    tie_order: IntArray

    def ranks(self, z0: Array) -> IntArray:
        """Return the ranks of Z_0 = ‖z_0‖² for z_0 (N, k), from 1 to m."""
        value = np.einsum("nk,nk->n", z0, z0)
        wide = 8 * self._error * (np.sqrt(value) + self._longest)
        first = np.searchsorted(self._sorted, value - wide)
        ranks = np.asarray(1 + first, dtype=np.intp)
        near = np.flatnonzero(np.searchsorted(self._sorted, value + wide, side="right") > first)
        for some in slices(len(near), rows_that_fit(_BATCH_BYTES, 4 * self.z.size)):
            rows = near[some]
            ranks[rows] = rank(precedes(*self.contrast(z0[rows]).gaps(), self.tie_order))
        return ranks

    def contrast(self, z0: Array) -> Contrast:
        """Compare z_0 (N, k) with every z_i."""
        zero = np.zeros_like(z0)
        return Contrast(
            z0, self.z - z0[:, None, :], zero + self.error, 2 * self.error + zero[:, None]
        )

    def least_ranks(self, value: Array) -> IntArray:
        """Return the smallest ranks that Z_0 can have if it is not less than ``value`` (N,)."""
        wide = 8 * self._error * (np.sqrt(value) + self._longest)
        ranks = 1 + np.searchsorted(self._sorted, value - wide)
        # What is not more than an error of z longer ties with every Z_0 that is not before it.
        length, lengths = np.sqrt(value), np.sqrt(self._sorted)
        narrow = self.error.min(initial=np.inf)
        low = np.searchsorted(lengths, length - narrow)
        high = np.searchsorted(lengths, length + narrow, side="right")
        low, high = np.maximum(low, ranks - 1), np.maximum(high, ranks - 1)
        return np.asarray(ranks + self._ties_before[high] - self._ties_before[low], dtype=np.intp)

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(np.einsum("ik,ik->i", self.z, self.z), kind="stable")

    @cached_property
    def _sorted(self) -> Array:
        z = self.z[self._order]
        return np.asarray(np.einsum("ik,ik->i", z, z))

    @cached_property
    def _ties_before(self) -> IntArray:
        """How many of the first j statistics precede Z_0 if they tie with it, for j = 0..m-1."""
        before = (self.tie_order[1:] < self.tie_order[0])[self._order]
        return np.concatenate([[0], np.cumsum(before)])

    @cached_property
    def _longest(self) -> float:
        return float(np.sqrt(self._sorted.max(initial=0.0)))

    @cached_property
    def _error(self) -> float:
        return float(np.linalg.norm(self.error))

"""Intervals and p-values of N numbers, each with the method that gave them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells import Method


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """Intervals and p-values of N numbers, one at a time.

    Attributes
    ----------
    estimate : array of shape (N,)
        The estimate behind the interval; NaN if nothing identifies the number.
    lower, upper : arrays of shape (N,)
    pvalue : array of shape (N,)
        Of the hypothesis that was asked.
    rank, m : integer arrays of shape (N,)
        The rank behind the p-value; m = 0 for t intervals, which have no ranks.
    level : array of shape (N,)
        The attained level.
    method : object array of shape (N,)
        The `Method` of each.
    cells : integer array of shape (N,)
        Number of cells that identify the number; 0 for methods without cells.
    kept : array of shape (N,)
        Share of the information that the cells keep; 1 for methods without cells.
    """

    estimate: Array
    lower: Array
    upper: Array
    pvalue: Array
    rank: IntArray
    m: IntArray
    level: Array
    method: Array
    cells: IntArray
    kept: Array

    @classmethod
    def empty(cls, N: int) -> Outcome:
        """Return an outcome to be filled by `put`."""
        nothing = np.full(N, Method.NOTHING, dtype=object)
        zeros = [np.zeros(N, dtype=np.intp) for _ in range(3)]
        numbers = [np.full(N, value) for value in (np.nan, -np.inf, np.inf, 1.0, 1.0, 0.0)]
        estimate, lower, upper, pvalue, level, kept = numbers
        rank, m, cells = zeros
        return cls(estimate, lower, upper, pvalue, rank, m, level, nothing, cells, kept)

    def put(self, where: IntArray, part: Outcome) -> None:
        """Store the outcome of some of the numbers."""
        for one in fields(self):
            getattr(self, one.name)[where] = getattr(part, one.name)

    @property
    def finite(self) -> BoolArray:
        """Whether both ends are finite, (N,)."""
        return np.asarray(np.isfinite(self.lower) & np.isfinite(self.upper))

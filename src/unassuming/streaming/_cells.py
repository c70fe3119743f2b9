"""The cell of each row in a stream, by the number of the row (docs/theory.md 11.6)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.noise import Key, RowNoise, Symmetric, keyed_uniforms, sign_units_between
from unassuming.streaming._errors import blocked


@final
@dataclass(frozen=True, eq=False)
class RowCells:
    """Cells that depend on row numbers and the seed alone, never on the data.

    Each run of C consecutive units is dealt to the C cells in random order, so the cells have the
    same size up to one unit. A unit is a row, or a block of rows that changes its sign as a whole.
    """

    number: int  # C, or 0 for no cells
    key: Key
    noise: RowNoise

    def __call__(self, first: int, count: int) -> IntArray:
        """Return the cells of rows first, ..., first + count - 1."""
        units = sign_units_between(self.noise, first, count)
        assert units is not None
        if not count:
            return np.zeros(0, dtype=np.intp)
        if self.by_rows:
            run, place = divmod(first, self.number)
            runs = np.arange(run, (first + count - 1) // self.number + 1)
            return self._dealt(runs).ravel()[place : place + count]
        runs, places = np.divmod(units, self.number)
        found, which = np.unique(runs, return_inverse=True)
        return np.asarray(self._dealt(found)[which.reshape(-1), places])

    def sizes(self, n: int) -> IntArray:
        """Return the number of rows in each cell, of the rows 0, ..., n - 1."""
        runs = n // self.number if self.by_rows else 0  # each gives one row to each cell
        first = runs * self.number
        return runs + np.bincount(self(first, n - first), minlength=self.number)

    @property
    def by_rows(self) -> bool:
        """Whether each row is a unit."""
        return isinstance(self.noise, Symmetric)

    def grams(self, Z: Array, first: int) -> Array:
        """Return Z_bᵀZ_b for the rows of each cell, (C, k, k)."""
        found = np.empty((self.number, Z.shape[1], Z.shape[1]))
        if self.number:
            labels = self(first, len(Z))
            rows = Z[np.argsort(labels, kind="stable")]
            ends = np.cumsum(np.bincount(labels, minlength=self.number)).tolist()
            with np.errstate(over="ignore", invalid="ignore"):
                for b, (start, stop) in enumerate(pairwise([0, *ends])):
                    part = rows[start:stop]
                    found[b] = blocked(part.T, part)
        return found

    def _dealt(self, runs: IntArray) -> IntArray:
        """Return the cells of the units of some runs, numbered in increasing order, (R, C)."""
        together = np.split(runs, np.flatnonzero(np.diff(runs) > 1) + 1)
        C = self.number
        drawn = [keyed_uniforms(self.key, len(run), C, int(run[0])) for run in together]
        return np.argsort(np.concatenate(drawn, axis=1).T, axis=1, kind="stable")

"""Transformations that act within blocks of consecutive rows and are drawn by row number."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from unassuming.noise._base import Noise
from unassuming.noise._counter_draws import Key, draw_key


class RowNoise(Noise):
    """An assumption whose transformations can be drawn separately for any range of rows.

    Row j belongs to block j // block_rows, and every transformation acts within blocks. On a range
    of whole blocks it depends on the key and the row numbers alone, so that sums over the data can
    be taken range by range (docs/theory.md 4.5).
    """

    @property
    def block_rows(self) -> int:
        """Number of consecutive rows within which a transformation acts."""
        return 1

    @abstractmethod
    def draw_rows(self, key: Key, first: int, count: int, size: int) -> Any:
        """Draw ``size`` transformations of the rows first, ..., first + count - 1.

        The range starts with a block and ends with one, or with the data.
        """

    def draw(self, n: int, size: int, rng: np.random.Generator) -> Any:
        """Draw ``size`` transformations of rows 0, ..., n - 1."""
        self.check_length(n)
        return self.draw_rows(draw_key(rng), 0, n, size)

    def check_length(self, n: int) -> None:
        """Raise if the assumption cannot be made on this number of rows."""

    def check_rows(self, stop: int) -> None:
        """Raise if the assumption does not cover all rows before ``stop``."""

    def same_as(self, other: Noise) -> bool:
        """Whether both assumptions draw the same transformations from the same key."""
        return type(other) is type(self) and repr(other) == repr(self)

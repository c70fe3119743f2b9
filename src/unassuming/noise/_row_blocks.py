"""Transformations that act within blocks of consecutive rows, drawn by row number."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from unassuming.noise._base import Noise
from unassuming.noise._counter_draws import Key, draw_key


class RowNoise(Noise):
    """An assumption whose transformations can be drawn for any range of rows on its own.

    Row j belongs to block j // block_rows, and no transformation moves anything from one block to
    another. So what a transformation does to a range of whole blocks depends on the key and on the
    row numbers alone, not on the rows before or after, and sums over the data can be taken range by
    range (docs/theory.md 4.5).
    """

    @property
    def block_rows(self) -> int:
        """Number of consecutive rows within which a transformation acts."""
        return 1

    @abstractmethod
    def draw_rows(self, key: Key, first: int, count: int, size: int) -> Any:
        """Draw ``size`` transformations of the rows first, ..., first + count - 1.

        The range starts with a block. It ends with one, or with the data.
        """

    def draw(self, n: int, size: int, rng: np.random.Generator) -> Any:
        """Draw ``size`` transformations of rows 0, ..., n - 1."""
        return self.draw_rows(draw_key(rng), 0, n, size)

    def check_length(self, n: int) -> None:
        """Refuse a number of rows for which the assumption is not made."""

    def check_rows(self, stop: int) -> None:
        """Refuse rows up to, and without, that number if they are more than the assumption has."""

    def same_as(self, other: Noise) -> bool:
        """Whether the other assumption draws the same transformations from the same key."""
        return type(other) is type(self) and repr(other) == repr(self)

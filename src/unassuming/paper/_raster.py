"""A million curves in one picture: the lowest rank among those through each pixel."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, IntArray


class Raster:
    """Pixels of a window, each with the lowest rank of the members marked there.

    There is no interpolation. A curve marks one pixel in each column: that of its value at the
    centre of the column.

    Parameters
    ----------
    window : (low, high), (low, high)
        Horizontally and vertically.
    m : int
        Ranks from 1 to m - 1 can be marked.
    size : int
        Number of columns and of rows.
    """

    def __init__(
        self, window: tuple[tuple[float, float], tuple[float, float]], m: int, size: int = 240
    ) -> None:
        self.window = window
        self.size = size
        # One flag for each rank and pixel: the order of marks does not matter. Values outside the
        # window go to a frame around it.
        self._marked = np.zeros((m, size + 2, size + 2), dtype=np.bool_)

    @property
    def columns(self) -> Array:
        """The centres of the columns, shape (size,)."""
        return self._centres(0)

    @property
    def rows(self) -> Array:
        """The centres of the rows, from the bottom, shape (size,)."""
        return self._centres(1)

    def _centres(self, axis: int) -> Array:
        low, high = self.window[axis]
        return low + (np.arange(self.size) + 0.5) * (high - low) / self.size

    def mark_curves(self, values: Array, ranks: IntArray) -> None:
        """Mark functions with these values (N, size) at the columns."""
        self._mark(np.arange(1, self.size + 1), self._pixel(values, 1), ranks[:, None])

    def mark_steep_curves(self, values: Array, ranks: IntArray) -> None:
        """Mark curves x(y) with these values (N, size) at the rows."""
        self._mark(self._pixel(values, 0), np.arange(1, self.size + 1), ranks[:, None])

    def mark_points(self, points: Array, ranks: IntArray) -> None:
        """Mark points (N, 2)."""
        self._mark(self._pixel(points[:, 0], 0), self._pixel(points[:, 1], 1), ranks)

    def lowest(self) -> IntArray:
        """Return the lowest rank of each pixel, (rows, columns) from the bottom; 0 if unmarked."""
        return np.asarray(np.argmax(self._marked[:, 1:-1, 1:-1], axis=0))  # no mark has rank 0

    def _pixel(self, values: Array, axis: int) -> IntArray:
        """Return the number of the pixel along an axis, from 1; the frame is 0 and size + 1."""
        low, high = self.window[axis]
        place = (values - low) * (self.size / (high - low))
        place += 1
        np.clip(place, 0, self.size + 1, out=place)
        return place.astype(np.intp)  # rounds down, since no value is negative

    def _mark(self, column: IntArray, row: IntArray, ranks: IntArray) -> None:
        width = self.size + 2
        self._marked.reshape(-1)[ranks * width**2 + row * width + column] = True

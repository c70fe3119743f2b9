"""Batches: long arrays are processed in slices, so that memory does not grow with their length.

The length of a slice is the number of rows that fit into a fixed number of bytes, and at least one.
"""

from __future__ import annotations

from collections.abc import Iterator


def rows_that_fit(size: int, numbers_per_row: int) -> int:
    """Return how many rows of double-precision numbers fit into ``size`` bytes, at least one."""
    return max(1, size // (8 * max(1, numbers_per_row)))


def slices(count: int, step: int) -> Iterator[slice]:
    """Cut range(count) into consecutive slices of length ``step``; the last may be shorter."""
    return (slice(start, min(start + step, count)) for start in range(0, count, step))

"""Which method serves a number (docs/theory.md 9.4, last item)."""

from __future__ import annotations

from enum import Enum

from unassuming.cells._signs import fewest_cells


class Method(Enum):
    """How an interval of one number was obtained."""

    CELLS = "cells"
    PAIRS = "pairs"
    HALVES = "halves"
    PALMRT = "palmrt"
    STUDENT = "student"
    NOTHING = "nothing"


def enough_cells(cells: int, level: float) -> bool:
    """Whether so many cells give an interval with q >= 2; with fewer, halves are narrower.

    Examples
    --------
    >>> enough_cells(6, 0.95), enough_cells(7, 0.95)
    (False, True)
    """
    return cells >= fewest_cells(level) + 1


def rows_needed(level: float, rank: int) -> int:
    """Return a number of rows with which cells give an interval with q >= 2.

    In general position a cell needs as many rows as the design has columns.

    Examples
    --------
    >>> rows_needed(0.95, 7)
    49
    """
    return (fewest_cells(level) + 1) * rank

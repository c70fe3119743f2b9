"""Cells of rows in a stream: unions of characters (docs/theory.md 11.6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unassuming.cells.estimates import KeptCells, Sample
from unassuming.streaming.region import Points

MOST_CELLS = 64
"""Characters with equal numbers modulo 64 are one cell; 32 and fewer cells are unions of these."""


def cells_of(points: Points, *, intercept: bool, blocks: bool) -> KeptCells:
    """Return the cells of the characters, from points with the moments of their rows."""
    number = min(MOST_CELLS, points.m // 2)
    ones = [np.ones(len(points.y))] * intercept
    Phi = np.column_stack([*ones, points.X])
    sample = Sample.of(Phi, points.y, points.w, intercept=intercept)
    kept = KeptCells.of_rows(sample, points.character % number, number, blocks=blocks)
    rows = np.bincount(np.arange(1, points.m) % number, points.rows, minlength=number)
    at = replace(kept.at, rows=int(rows.sum()))
    return replace(kept, at=at, sums=replace(kept.sums, rows=rows.astype(np.float64)))

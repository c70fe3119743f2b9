"""Directions that transformations leave as they are: what rounded sums show beyond doubt.

The length of what signs move in a column is zero, or at least twice the smallest entry of the
column. So sums that are more accurate than this entry decide which of the two it is. In a column of
zeros and ones they do; where one entry exceeds all others by ten orders of magnitude they do not.
"""

from __future__ import annotations

import numpy as np

from unassuming._rounding import powers_of_two
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.noise import Rounded


def known_columns(
    E: Array, phi: Array, least: Array, error: float, *, signs: bool, intercept: bool
) -> tuple[BoolArray, BoolArray]:
    """Return which columns each G_i keeps, and which it reverses, beyond doubt: (m - 1, d) each.

    E (m - 1, h, h) are the G_i - I, known to within ``error``, and phi (r, d) the columns in the
    first r of the same coordinates. ``least`` (d,) are the smallest entries other than zero.
    """
    idle = np.asarray(~E.any(axis=(1, 2)))
    kept = np.repeat(idle[:, None], phi.shape[1], axis=1)
    turned = np.zeros_like(kept)
    if intercept:  # the first coordinate
        kept[:, 0] |= ~(E[:, 0].any(axis=1) | E[:, :, 0].any(axis=1))
    if not signs:  # entries that change places may differ by less than the smallest of them
        return kept, turned
    length = np.linalg.norm(phi, axis=0)
    size = powers_of_two(length)
    columns, smallest = phi / size, np.where(np.isfinite(least), least, 0.0) / size
    r, squares = len(phi), (length / size) ** 2
    change = np.einsum("aj,sab,bj->sj", columns, E[:, :r, :r], columns, optimize=True)
    limit = 4 * smallest**2 - 16 * error * squares
    kept |= np.abs(2 * change) < limit
    turned |= np.abs(4 * squares + 2 * change) < limit
    return kept, turned


def known_directions(
    kept: BoolArray, turned: BoolArray, phi: Array, still: IntArray, penalised: BoolArray
) -> tuple[BoolArray, IntArray]:
    """Return the free coefficients of each set, and how many directions are free, -1 if unknown.

    ``still`` (m - 1,) is how many directions G_i keeps or reverses up to rounding. If the columns
    that it certainly keeps or reverses span as many, there are no others.
    """
    free = kept | (turned & ~penalised)
    decided = _ranks(kept | turned, phi) == still
    return free, np.where(decided, _ranks(free, phi), -1)


def rounded(
    E: Array,
    phi: Array,
    least: Array,
    still: IntArray,
    error: float,
    *,
    signs: bool,
    intercept: bool,
    reversed: BoolArray,
    penalised: bool,
) -> Rounded:
    """Return what the sums show of each transformation; ``reversed`` says which of them are -I."""
    kept, turned = known_columns(E, phi, least, error, signs=signs, intercept=intercept)
    turned |= reversed[:, None]
    held = np.full(phi.shape[1], penalised)
    held[: int(intercept)] = False
    return Rounded(error, *known_directions(kept, turned, phi, still, held))


def _ranks(masks: BoolArray, phi: Array) -> IntArray:
    """Return the rank of some columns, for each row of masks (s, d)."""
    length = np.linalg.norm(phi, axis=0)
    columns = phi / np.where(length > 0, length, 1.0)
    some, which = np.unique(masks, axis=0, return_inverse=True)
    ranks = [np.linalg.matrix_rank(columns[:, mask]) if mask.any() else 0 for mask in some]
    return np.array(ranks, dtype=np.intp)[which.reshape(-1)]

"""What a stream knows about its transformations without rounding."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.noise import Rounded
from unassuming.streaming._score import SumErrors

_APART = 1e-3
"""Columns that are nearer to dependence than that are not used to name a direction."""


def rounded(still: BoolArray, seen: BoolArray, held: BoolArray, errors: SumErrors) -> Rounded:
    """Return what is known of the sets.

    ``still`` (2, m - 1, d) says which columns are kept and which reversed, ``seen`` (d,) which have
    numbers other than zero, and ``held`` (d,) which coefficients the penalty holds: along these a
    set ends if the column is reversed.
    """
    kept, reversed = still
    free = kept | (reversed & ~held)
    ties = np.asarray((free | ~seen).all(axis=1))
    parts = (free & seen, kept | reversed, ties, errors.turned, errors.relative)
    return Rounded(errors.whole, errors.lengths, *parts)


def span_of(columns: Array) -> Array:
    """Return an orthonormal basis of directions that columns (r, d) determine well, (r, f)."""
    length = np.linalg.norm(columns, axis=0)
    u, s, _ = np.linalg.svd(columns[:, length > 0] / length[length > 0], full_matrices=False)
    return np.asarray(u[:, s > _APART])

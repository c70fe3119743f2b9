"""Exchangeable noise: differences of pairs of rows (docs/theory.md 11.4).

Swapping two rows of exchangeable noise changes the sign of their difference and nothing else. So
the differences of disjoint pairs are rows with symmetric noise, and cells apply to them. Constant
columns, such as an intercept, vanish. Rows are paired within the blocks in which the noise is
exchangeable.
"""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.cells.estimates import order_of


def centred_in_blocks(Phi: Array, blocks: IntArray) -> Array:
    """Return the design minus its means within blocks: what exchangeable noise identifies."""
    counts = np.bincount(blocks)
    means = [np.bincount(blocks, column) / counts for column in Phi.T]
    centred = Phi - np.transpose(means)[blocks]
    flat = np.abs(centred).max(axis=0) <= 1e-12 * np.abs(Phi).max(axis=0)
    return np.asarray(np.where(flat, 0.0, centred))


def opposite_pairs(scores: Array, blocks: IntArray, key: int = 0) -> IntArray:
    """Return disjoint pairs (P, 2) of rows of a block with opposite first scores (n, k)."""
    order = order_of(scores, key, blocks)
    pairs = []
    for members in np.split(order, np.cumsum(np.bincount(blocks))[:-1]):
        half = len(members) // 2  # of an odd number the one in the middle is left out
        pairs.append(np.column_stack([members[:half], members[::-1][:half]]))
    return np.concatenate(pairs).astype(np.intp)

"""Exchangeable noise: differences of pairs of rows (docs/theory.md 11.4).

Swapping two rows of exchangeable noise changes the sign of their difference and nothing else. So
the differences of disjoint pairs are rows with symmetric noise, and cells apply to them. Constant
columns, such as an intercept, vanish. Rows are paired within the blocks in which the noise is
exchangeable.
"""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.noise import order_of


def centred_in_blocks(Phi: Array, blocks: IntArray) -> Array:
    """Return the design minus its means within blocks: what exchangeable noise lets us identify.

    Examples
    --------
    >>> centred_in_blocks(np.array([[1.0, 0.0], [1.0, 4.0]]), np.array([0, 0]))
    array([[ 0., -2.],
           [ 0.,  2.]])
    """
    counts = np.bincount(blocks)
    means = [np.bincount(blocks, column) / counts for column in Phi.T]
    centred = Phi - np.transpose(means)[blocks]
    flat = np.abs(centred).max(axis=0) <= 1e-12 * np.abs(Phi).max(axis=0)
    return np.asarray(np.where(flat, 0.0, centred))


def opposite_pairs(x: Array, blocks: IntArray, key: int = 0) -> IntArray:
    """Return disjoint pairs of rows of a block with opposite x (n,), shape (P, 2).

    The rows are sorted by x, and the first is paired with the last. With an odd number of rows the
    one in the middle is left out. Rows with equal x are in a pseudo-random order.

    Examples
    --------
    >>> opposite_pairs(np.array([3.0, 1.0, 5.0, 2.0, 4.0]), np.zeros(5, dtype=int))
    array([[2, 1],
           [4, 3]])
    """
    order = order_of(x, key, blocks)
    pairs = []
    for members in np.split(order, np.cumsum(np.bincount(blocks))[:-1]):
        half = len(members) // 2
        pairs.append(np.column_stack([members[:half], members[::-1][:half]]))
    return np.concatenate(pairs).astype(np.intp)

"""Exchangeable noise: differences of pairs of rows (docs/theory.md 9.4).

Swapping two rows of exchangeable noise changes the sign of their difference and nothing else. So
the differences of disjoint pairs are rows with symmetric noise, and cells apply to them. Constant
columns, such as an intercept, vanish. Rows are paired within the blocks in which the noise is
exchangeable.
"""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.cells._old_division import basis_of, settled


def centred_in_blocks(Phi: Array, blocks: IntArray) -> Array:
    """Return the design minus its means within blocks: what exchangeable noise lets us identify.

    Examples
    --------
    >>> centred_in_blocks(np.array([[1.0, 0.0], [1.0, 4.0]]), np.array([0, 0]))
    array([[ 0., -2.],
           [ 0.,  2.]])
    """
    counts = np.maximum(np.bincount(blocks), 1)
    sums = np.zeros((len(counts), Phi.shape[1]))
    np.add.at(sums, blocks, Phi)
    centred = Phi - (sums / counts[:, None])[blocks]
    centred[:, (np.abs(centred) <= 1e-12 * np.abs(Phi).max(axis=0, initial=0.0)).all(axis=0)] = 0
    return np.asarray(centred)


def opposite_pairs(Phi: Array, functional: Array, blocks: IntArray | None = None) -> IntArray:
    """Return disjoint pairs of rows that are opposite for one functional, shape (P, 2).

    The rows are sorted by x̃, and the first is paired with the last. With an odd number of rows the
    one in the middle is left out.

    Parameters
    ----------
    Phi : array of shape (n, d)
    functional : array of shape (d,)
        The number cᵀθ.
    blocks : integer array of shape (n,), optional
        Rows are paired within these blocks, numbered from 0.

    Examples
    --------
    >>> Phi = np.column_stack([np.ones(5), [3.0, 1.0, 5.0, 2.0, 4.0]])
    >>> opposite_pairs(Phi, np.array([0.0, 1.0]))
    array([[1, 2],
           [3, 4]])
    """
    blocks = np.zeros(len(Phi), dtype=np.intp) if blocks is None else blocks
    basis = basis_of(centred_in_blocks(Phi, blocks), functional[None])
    x = settled(basis.rows @ basis.functionals[0])
    pairs = []
    order = np.lexsort((x, blocks))
    for members in np.split(order, np.cumsum(np.bincount(blocks))[:-1]):
        half = len(members) // 2
        pairs.append(np.column_stack([members[:half], members[::-1][:half]]))
    return np.concatenate(pairs).astype(np.intp)


def pair_differences(Phi: Array, y: Array, pairs: IntArray) -> tuple[Array, Array]:
    """Return the differences of paired rows of the design and of the targets.

    A column that is constant within the pairs becomes zero, so its coefficient is not identified.

    Parameters
    ----------
    Phi : array of shape (n, d)
    y : array of shape (n,)
    pairs : integer array of shape (P, 2)

    Examples
    --------
    >>> Phi = np.column_stack([np.ones(2), [3.0, 1.0]])
    >>> pair_differences(Phi, np.array([5.0, 2.0]), np.array([[0, 1]]))
    (array([[0., 2.]]), array([3.]))
    """
    first, second = pairs.T
    return Phi[first] - Phi[second], y[first] - y[second]

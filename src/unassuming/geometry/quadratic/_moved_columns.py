"""Inner products of moved columns E F, where E = G_i - I and fitted values move by F x.

They are all that a quadratic form needs. For signs E is -2 in the rows that change sign and 0 in
the others, so the inner products are sums over these rows (docs/theory.md 4.5).
"""

from __future__ import annotations

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, BoolArray
from unassuming.noise import BlockSymmetric, Noise, Perturbations, Symmetric

_BLOCK_BYTES = 2**18
"""The size of one block of products of columns: it stays in the cache."""
_BLOCK_ROWS = 128
_FEW_COLUMNS = 64
_PROBE_BYTES = 2**26
_SAME_WEIGHT = 1e-12
"""Weights that differ by less, relative to their size, are the same."""


def flips_signs(noise: Noise) -> bool:
    """Whether the transformations flip signs, and do nothing else."""
    return isinstance(noise, (Symmetric, BlockSymmetric))


def commute(perturbations: Perturbations, root: Array) -> bool:
    """Whether the transformations commute with the weights ``root²``, row by row.

    Each may move a row only among rows of the same weight, however small the weights are.
    """
    if flips_signs(perturbations.noise) or (root == root[0]).all():
        return True
    values, which = np.unique(root, return_inverse=True)
    near = values[1:] - values[:-1] <= _SAME_WEIGHT * values[1:]
    group = np.concatenate([[0], np.cumsum(~near)])[which.reshape(-1)]
    probe = np.cos(np.arange(1, len(root) + 1))
    for some in slices(
        int(group.max()) + 1, rows_that_fit(_PROBE_BYTES, root.size * perturbations.m)
    ):
        inside = group == np.arange(some.start, some.stop)[:, None]
        moved = perturbations.apply(inside * probe)
        if (np.abs(moved * ~inside[:, None, :]) > _SAME_WEIGHT).any():
            return False
    return True


def numbers_per_set(noise: Noise, n: int, k: int, width: int) -> int:
    """Return how many numbers `inner_products` takes for one set, if q has ``width`` columns."""
    if flips_signs(noise):
        return 6 * n + k * (2 * width + 4 * k)
    return k * (2 * n + width + 2 * k)


def inner_products(
    perturbations: Perturbations, F: Array, q: Array, h: Array
) -> tuple[Array, Array, Array]:
    """Return (E F)ᵀ(E F), (E F)ᵀq and (E F)ᵀh, of shapes (s, k, k), (s, k, l) and (s, k).

    F is of shape (n, k), q (n, l), and h (s, n) has one vector for each of the s transformations.
    """
    if not flips_signs(perturbations.noise):
        EF = np.moveaxis(perturbations.apply(F.T) - F.T[:, None, :], 0, 1)  # (s, k, n)
        return EF @ np.swapaxes(EF, 1, 2), EF @ q, (EF @ h[:, :, None])[:, :, 0]
    minus = perturbations.apply(np.full(len(F), -0.5))
    minus += 0.5  # (s, n): 1 in the rows that change sign, else 0
    own = _sums(minus, F, F)
    seen = own if np.array_equal(q, F) else _sums(minus, F, q)
    return 4.0 * own, -2.0 * seen, -2.0 * ((minus * h) @ F)


def roundings(perturbations: Perturbations, n: int, k: int) -> int:
    """Return how many roundings add up in the inner products (E F)ᵀ(E F), with a margin."""
    blocks = -(-n // _BLOCK_ROWS)
    by_blocks = flips_signs(perturbations.noise) and k <= _FEW_COLUMNS
    return min(n, _BLOCK_ROWS + blocks) + 8 if by_blocks else n + 8


def moved_lengths(perturbations: Perturbations, columns: Array) -> Array:
    """Bound the lengths of the columns (n, k), in the rows that each transformation moves, (s, k).

    For signs these are the rows that change sign, else all.
    """
    squares = columns**2
    if not flips_signs(perturbations.noise):
        sets = perturbations.m - 1
        return np.broadcast_to(np.sqrt(squares.sum(axis=0)), (sets, squares.shape[1]))
    minus = perturbations.apply(np.full(len(columns), -0.5))
    minus += 0.5
    return np.asarray(np.sqrt(minus @ squares))


def _sums(minus: Array, F: Array, q: Array) -> Array:
    """Return Fᵀq over the rows that change sign, for each transformation, (s, k, l).

    For few columns this is one matrix product: which rows change sign (s, n), times the products of
    columns (n, kl). Many columns are multiplied set by set, which takes as many operations.
    """
    k, width = F.shape[1], q.shape[1]
    if max(k, width) > _FEW_COLUMNS:
        return _set_by_set(minus > 0, F, q)
    symmetric = q is F  # then each pair of columns is needed only once
    rows, columns = np.triu_indices(k) if symmetric else np.divmod(np.arange(k * width), width)
    sums = np.zeros((len(minus), len(rows)))
    for chunk in slices(len(q), _BLOCK_ROWS):
        one, two = F[chunk].T.copy(), q[chunk].T.copy()
        for some in slices(len(rows), rows_that_fit(_BLOCK_BYTES, one.shape[1])):
            products = one[rows[some]]
            products *= two[columns[some]]
            sums[:, some] += minus[:, chunk] @ products.T
    if not symmetric:
        return sums.reshape(len(minus), k, width)
    place = np.empty((k, k), dtype=np.intp)
    place[rows, columns] = place[columns, rows] = np.arange(len(rows))
    return np.asarray(sums[:, place])


def _set_by_set(change: BoolArray, F: Array, q: Array) -> Array:
    sums = np.zeros((len(change), F.shape[1], q.shape[1]))
    for one, rows in zip(sums, change, strict=True):
        some = F[rows]
        seen = some.any(axis=0)  # a column that is zero in these rows is a free direction
        one[seen] = some[:, seen].T @ q[rows]
    return sums

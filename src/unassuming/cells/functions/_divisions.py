"""Cells of inputs: each cell has to see the whole function, so the cells are interleaved."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, svd

from unassuming._rounding import column_units, rank_cut
from unassuming._typing import Array, IntArray
from unassuming.cells._old_division import Basis, Search
from unassuming.cells.functions._system import System

_LEADING = 16
"""Eigenvectors of the kernel matrix that are balanced over the cells."""


def interleaved(
    system: System,
    K: int,
    *,
    order: Array | None = None,
    clusters: IntArray | None = None,
    seed: int = 0,
) -> IntArray:
    """Return the cell of each row, (n,), from the design alone.

    With a single input column every K-th row in its order goes to the same cell. Otherwise the
    second moments of the leading eigenvectors of the kernel matrix are balanced.

    Parameters
    ----------
    system : System
    K : int
        Number of cells.
    order : array of shape (n,), optional
        The single input column.
    clusters : integer array of shape (n,), optional
        Rows that stay together, numbered from 0.
    seed : int
        Where the random start of the search comes from.

    Examples
    --------
    >>> system = System(np.zeros((6, 0)), np.ones(6), features=np.arange(6.0)[:, None])
    >>> interleaved(system, 3, order=np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0]))
    array([2, 1, 0, 2, 1, 0])
    """
    if order is not None and clusters is None:
        labels = np.empty(system.n, dtype=np.intp)
        labels[np.argsort(order, kind="stable")] = np.arange(system.n) % K
        return labels
    rows = _leading(system)
    nothing = Basis(rows, np.zeros((0, rows.shape[1])), np.zeros(0, dtype=bool), np.zeros(0))
    found = Search(nothing, clusters, 0.5, seed).shared(K, search=True).units
    return found if clusters is None else found[clusters]


def _leading(system: System) -> Array:
    """Return √n times an orthonormal basis of the free features and the leading eigenvectors."""
    n, root = system.n, np.sqrt(system.weight)[:, None]
    if system.features is not None:
        u, s, _ = svd(root * system.features, full_matrices=False)
        u, values = u[:, :_LEADING], np.square(s[:_LEADING])
    else:
        assert system.gram is not None
        first = max(0, n - _LEADING)
        values, u = eigh(root * system.gram * root.T, subset_by_index=[first, n - 1])
    seen = values > rank_cut((n, n)) * values.max(initial=0.0)
    trend = root * system.trend
    trend = trend / column_units(trend)
    both, d, _ = svd(np.column_stack([trend, u[:, seen]]), full_matrices=False)
    return np.asarray(np.sqrt(n) * both[:, d > rank_cut((n, n)) * d.max(initial=0.0)])

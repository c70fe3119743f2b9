"""A division that serves one number, or several, where the balanced one loses too much.

See docs/theory.md 11.3.

The width of the interval is about t_{K_eff - 1} / √Σ v_b, with K_eff = (Σ v_b)² / Σ v_b². Its
logarithm, with the first term of the expansion of the t quantile, is what the swaps improve: the
information counts, and so does its even distribution over the cells.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from unassuming._typing import Array, IntArray
from unassuming.cells._balance import MOST_UNITS, SWEEPS, considered, offered, replaced
from unassuming.cells._basis import information
from unassuming.cells._units import Units

_NOTHING = 1e-2
"""Information, of n in all, that counts as none: it keeps searches from improving on nothing."""

_MOST_CLUSTERS = 12
_SWAPS = 4
"""Swaps between two cells before the next two are compared."""


def narrowness(total: Array, squares: Array, level: float) -> Array:
    """Return minus the logarithm of the approximate width, up to a constant.

    Parameters
    ----------
    total, squares : arrays
        Σ v_b and Σ v_b².
    level : float

    Examples
    --------
    >>> v = np.array([[1.0, 1.0, 1.0, 1.0], [3.7, 0.1, 0.1, 0.1]])
    >>> narrowness(v.sum(axis=1), (v**2).sum(axis=1), 0.9).round(1)
    array([ 0.4, -4.7])
    """
    z = float(ndtri(0.5 + level / 2))
    effective = np.square(total + _NOTHING) / (squares + _NOTHING**2)
    penalty = (z * z + 1) / 4 / np.maximum(effective - 1, 0.1)
    return np.asarray(0.5 * np.log(total + _NOTHING) - penalty)


def improve(
    units: Units, labels: IntArray, K: int, h: Array, level: float, rng: np.random.Generator
) -> IntArray:
    """Return a division with narrower intervals for some functionals, by swaps of units.

    Parameters
    ----------
    units : Units
        The second moments of the units.
    labels : integer array of shape (U,)
        The division to start from.
    K : int
        Number of cells.
    h : array of shape (N, r)
        The functionals in orthonormal coordinates.
    level : float
        The level that is wanted.
    rng : Generator
        Which units are considered where a cell has many.

    Examples
    --------
    >>> from unassuming.cells._units import RowUnits
    >>> rows = np.array([[2.0], [2.0], [1.0], [1.0]])
    >>> start, one = np.array([0, 0, 1, 1]), np.ones((1, 1))
    >>> improve(RowUnits(rows), start, 2, one, 0.9, np.random.default_rng(0))
    array([1, 0, 0, 1])
    """
    cells = [np.flatnonzero(labels == b) for b in range(K)]
    M = np.stack([units.total(cell) for cell in cells])
    v = information(M, h)  # (N, K)
    most = _MOST_CLUSTERS if units.movable else MOST_UNITS
    stale = np.ones((K, K), dtype=bool)
    for _ in range(SWEEPS):
        for a in range(K):
            for b in range(a):
                if not stale[a, b]:
                    continue
                stale[a, b] = max(len(cells[a]), len(cells[b])) > most
                for _ in range(_SWAPS):
                    places = [considered(units, cells[c], most, rng) for c in (a, b)]
                    left = offered(units, cells[a], places[0])
                    right = offered(units, cells[b], places[1])
                    v_a = units.information(M[a], h, left, right)
                    v_b = units.information(M[b], h, right, left).swapaxes(1, 2)
                    rest = np.delete(v, [a, b], axis=1)[:, :, None, None]
                    total = rest.sum(axis=1) + v_a + v_b
                    squares = np.square(rest).sum(axis=1) + np.square(v_a) + np.square(v_b)
                    score = narrowness(total, squares, level).sum(axis=0)
                    i, j = np.unravel_index(int(np.argmax(score)), score.shape)
                    now = narrowness(v.sum(axis=1), np.square(v).sum(axis=1), level).sum()
                    if score[i, j] <= now + 1e-5 * len(h):
                        break
                    left[i], right[j] = right[j], left[i]
                    for cell, at, new in ((a, places[0], left), (b, places[1], right)):
                        cells[cell] = replaced(cells[cell], at, new)
                        M[cell] = units.total(cells[cell])
                        v[:, cell] = information(M[[cell]], h)[:, 0]
                    stale[[a, b], :] = stale[:, [a, b]] = True
        if not stale[np.tril_indices(K, -1)].any():
            break
    result = labels.copy()
    for b, members in enumerate(cells):
        result[members] = b
    return result

"""A division that serves one number, where a balanced one loses too much (docs/theory.md 9.3).

The width of the interval is about t_{K_eff - 1} / √Σ v_b, with K_eff = (Σ v_b)² / Σ v_b². Its
logarithm, with the first term of the expansion of the t quantile, is what the swaps improve: the
information counts, and so does its even distribution over the cells.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from unassuming._typing import Array, IntArray
from unassuming.cells._old_division._basis import information
from unassuming.cells._old_division._settled import first_largest
from unassuming.cells._old_division._units import Units

_NOTHING = 1e-2
"""Information, of n in all, that counts as none: it keeps searches from improving on nothing."""

_ROUNDS = 100
_MOST_ROWS, _MOST_CLUSTERS = 240, 48
"""Units that are considered in one round."""

_LEAST = 5e-4
"""A round has to change the logarithm of the width by more than this."""

_TIED = 1e-8
"""Logarithms of widths that differ by less count as equal."""


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
    """Return a division with a narrower interval for one functional, by swaps of units.

    Each round compares all swaps between all cells, and makes the best ones that concern different
    cells.

    Parameters
    ----------
    units : Units
        The second moments of the units.
    labels : integer array of shape (U,)
        The division to start from.
    K : int
        Number of cells.
    h : array of shape (r,)
        The functional in orthonormal coordinates.
    level : float
        The level that is wanted.
    rng : Generator
        Which units are considered where there are many.

    Examples
    --------
    >>> from unassuming.cells._old_division._units import RowUnits
    >>> rows = np.array([[2.0], [2.0], [1.0], [1.0]])
    >>> start = np.array([0, 0, 1, 1])
    >>> improve(RowUnits(rows), start, 2, np.ones(1), 0.9, np.random.default_rng(0))
    array([1, 0, 0, 1])
    """
    M = np.stack([units.total(np.flatnonzero(labels == b)) for b in range(K)])
    most = _MOST_CLUSTERS if units.movable else _MOST_ROWS
    for _ in range(_ROUNDS):
        some = np.arange(len(labels))
        if len(some) > most:
            some = np.sort(rng.choice(some, most, replace=False))
        v = information(M, h[None])[0]
        moved = _best_swaps(units, M, v, labels, some, h, level)
        changed = np.unique(np.append(labels[moved != labels], moved[moved != labels]))
        new = M.copy()
        for b in changed.tolist():
            new[b] = units.total(np.flatnonzero(moved == b))
        if _narrowness_of(information(new, h[None])[0], level) <= _narrowness_of(v, level) + _LEAST:
            break
        labels, M = moved, new
    return labels


def _narrowness_of(v: Array, level: float) -> float:
    return float(narrowness(v.sum(), np.square(v).sum(), level))


def _best_swaps(
    units: Units, M: Array, v: Array, labels: IntArray, some: IntArray, h: Array, level: float
) -> IntArray:
    """Return the labels after the best swaps of some units, at most one for each cell."""
    where = labels[some]
    if units.movable:  # an empty unit in each cell, with which a unit can be swapped
        some = np.append(some, np.full(len(v), -1))
        where = np.append(where, np.arange(len(v)))
    new = units.information(M, h, some, where)
    old = v[where]
    total = (v.sum() - old)[:, None] - old + new + new.T
    np.square(new, out=new)
    old = np.square(old)
    squares = (np.square(v).sum() - old)[:, None] - old + new + new.T
    barred = where[:, None] == where
    last = np.bincount(labels, minlength=len(v))[where] == 1  # no cell loses its last unit
    empty = some < 0
    barred |= (last[:, None] & empty) | (empty[:, None] & last)
    total[barred] = 0.0
    score = narrowness(total, squares, level)
    score[barred] = -np.inf
    least = _narrowness_of(v, level) + _LEAST / len(v)
    labels = labels.copy()
    for _ in range(len(v) // 2):
        i, j = divmod(first_largest(score, _TIED), len(score))
        if score[i, j] <= least:
            break
        a, b = where[i], where[j]
        for unit, cell in ((some[i], b), (some[j], a)):
            if unit >= 0:
                labels[unit] = cell
        taken = (where == a) | (where == b)
        score[taken], score[:, taken] = -np.inf, -np.inf
    return labels

"""A division that serves all numbers: cells with equal second moments (docs/theory.md 9.3).

With S_b the second moments of cell b, minimise Σ_b ‖S_b‖². Swapping the units i (in cell a) and j
(in cell b), with moments f_i and f_j, changes the sum by 2(‖g‖² - ⟨g, S_a - S_b⟩), g = f_i - f_j.
For a row f_j = q_j q_jᵀ, so ⟨f_i, f_j⟩ = (q_iᵀq_j)² and no vector of moments is ever formed. With
weights for some functionals (`Units.aimed`) the same search balances what these lose: for one of
them the vectors x̃_j q_j.
"""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells._old_division._settled import first_largest, settled
from unassuming.cells._old_division._units import Units

SWEEPS, FEW_SWEEPS = 12, 4
"""Sweeps over all pairs of cells; few suffice in cells of more than `MOST_UNITS` units."""

MOST_UNITS = 100
"""Units of a cell that are considered in one comparison with another cell."""

_NEGLIGIBLE = 4e-3
"""A swap has to lower Σ ‖S_b‖² / (n/K)² by more than this."""

_TIED = 1e-5
"""Gains that differ by a smaller share of the least gain count as equal."""


def deal(leverage: Array, K: int, rng: np.random.Generator) -> IntArray:
    """Return a start: sort by leverage, and deal each run of K units at random to the cells.

    Examples
    --------
    >>> np.sort(deal(np.arange(6.0), 3, np.random.default_rng(0)).reshape(2, 3))
    array([[0, 1, 2],
           [0, 1, 2]])
    """
    count = len(leverage)
    runs = -(-count // K)
    shuffled = np.argsort(rng.random((runs, K)), axis=1).ravel()[:count]
    labels = np.empty(count, dtype=np.intp)
    labels[_largest_first(leverage)] = shuffled
    return labels


def _largest_first(leverage: Array) -> IntArray:
    """Return the order of leverages, in which rounding does not count."""
    return np.argsort(-settled(leverage / (float(leverage.mean()) or 1.0)), kind="stable")


def balance(units: Units, labels: IntArray, K: int, rng: np.random.Generator) -> IntArray:
    """Return a division with more equal second moments, by swaps of units between cells.

    Parameters
    ----------
    units : Units
        The second moments of the units.
    labels : integer array of shape (U,)
        The division to start from.
    K : int
        Number of cells.
    rng : Generator
        Which units are considered where a cell has more than `MOST_UNITS`.

    Examples
    --------
    >>> from unassuming.cells._old_division._units import RowUnits
    >>> rows = np.array([[2.0], [2.0], [1.0], [1.0]])
    >>> balance(RowUnits(rows), np.array([0, 0, 1, 1]), 2, np.random.default_rng(0))
    array([1, 0, 0, 1])
    """
    cells = [np.flatnonzero(labels == b) for b in range(K)]
    S = np.stack([units.total(cell) for cell in cells])
    least = _NEGLIGIBLE * (float(units.leverage.sum()) / (K * S.shape[-1])) ** 2
    stale = np.ones((K, K), dtype=bool)  # pairs of cells that changed since they were compared
    for _ in range(FEW_SWEEPS if max(map(len, cells)) > MOST_UNITS else SWEEPS):
        for a in range(K):
            for b in range(a):
                if not stale[a, b]:
                    continue
                stale[a, b] = max(len(cells[a]), len(cells[b])) > MOST_UNITS
                if _exchange(units, cells, S, a, b, least, rng):
                    stale[[a, b], :] = stale[:, [a, b]] = True
        if not stale[np.tril_indices(K, -1)].any():
            break
    result = labels.copy()
    for b, cell in enumerate(cells):
        result[cell] = b
    return result


def _considered(units: Units, cell: IntArray, rng: np.random.Generator) -> IntArray:
    """Return at most `MOST_UNITS` positions in a cell: the highest leverages, others at random."""
    if len(cell) <= MOST_UNITS:
        return np.arange(len(cell))
    order = _largest_first(units.leverage[cell])
    half = MOST_UNITS // 2
    others = rng.choice(order[half:], MOST_UNITS - half, replace=False)
    return np.concatenate([order[:half], others])


def _offered(units: Units, cell: IntArray, places: IntArray) -> IntArray:
    """Return the units at some places of a cell, and the empty unit if units may move alone."""
    return np.append(cell[places], -1) if units.movable else cell[places]


def _replaced(cell: IntArray, places: IntArray, new: IntArray) -> IntArray:
    """Return a cell with other units at some places."""
    new = new[new >= 0]
    return new if len(places) == len(cell) else np.concatenate([np.delete(cell, places), new])


def _keep_last(gain: Array, here: BoolArray, there: BoolArray) -> None:
    """Forbid moves that take the last unit of a cell; ``here`` and ``there`` say which are real."""
    if np.count_nonzero(here) == 1:
        gain[np.ix_(here, ~there)] = -np.inf
    if np.count_nonzero(there) == 1:
        gain[np.ix_(~here, there)] = -np.inf


def _exchange(
    units: Units,
    cells: list[IntArray],
    S: Array,
    a: int,
    b: int,
    least: float,
    rng: np.random.Generator,
) -> bool:
    """Swap units of two cells, the best first, while it helps; return whether any was swapped."""
    places = [_considered(units, cells[c], rng) for c in (a, b)]
    left, right = (_offered(units, cells[c], at) for c, at in zip((a, b), places, strict=True))
    both = np.concatenate([left, right])
    products = units.products(both)
    along = units.along(both, S[a] - S[b])
    own = np.diagonal(products)
    here, there = np.arange(len(left)), np.arange(len(left), len(both))
    cross = 2 * products[: len(left), len(left) :]
    changed, real = False, both >= 0
    for _ in range(len(both)):
        gain = (along - own)[here][:, None] - (along + own)[there]
        gain += cross
        if units.movable:
            _keep_last(gain, real[here], real[there])
        if gain.max() <= least:
            break
        i, j = divmod(first_largest(gain, _TIED * least), len(there))
        if gain[i, j] <= least:
            break
        changed = True
        along = along - 2 * (products[here[i]] - products[there[j]])
        here[i], there[j] = there[j], here[i]
        cross[i], cross[:, j] = 2 * products[here[i]][there], 2 * products[there[j]][here]
    if changed:
        for cell, at, new in ((a, places[0], both[here]), (b, places[1], both[there])):
            cells[cell] = _replaced(cells[cell], at, new)
            S[cell] = units.total(cells[cell])
    return changed

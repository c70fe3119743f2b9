"""How many cells, and which division: the narrowest predicted interval (docs/theory.md 11.3, 11.9).

Nothing here sees y. Numbers of cells are tried from the largest on, and a number of cells only
where the best interval so far is wider than the ideal one, with all the information in equal cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from scipy.special import gammaln, stdtrit

from unassuming._typing import Array, IntArray
from unassuming.cells.codes import in_use, largest_q, number_of_words
from unassuming.cells.division import Leading, deal, exchange, number_of_leading, swap
from unassuming.cells.estimates import Atoms, fits

NUMBERS = (32, 16, 10, 8)
_IDEAL, _NEAR = 1.003, 1.02
_PLACES = 1100
_SOLVES = 10**7


@lru_cache(maxsize=4096)
def width_factor(K: int, level: float, effective: float | None = None) -> float:
    """Return the predicted half-width times the root of the information, for normal noise."""
    # `effective` is (Σv)²/Σv², the number of equal cells with the same sum of squares.
    m = number_of_words(K)
    q = largest_q(level, m)
    k = K if effective is None else effective * (1 + 0.3 * (1 - effective / K))
    if q == 0 or k <= 1:
        return np.inf
    t = stdtrit(k - 1, 1 - q / (2 * m))
    mean_over_sd = np.sqrt(2 / (k - 1)) * np.exp(gammaln(k / 2) - gammaln((k - 1) / 2))
    return float((1 + 0.11 / q) * t * mean_over_sd)


def half_width(v: Array, level: float) -> float:
    """Return the predicted half-width from the information v (K,) of cells, for noise of size 1."""
    v = v[in_use(v)]
    if len(v) < 2:
        return np.inf
    effective = round(float(v.sum() ** 2 / (v @ v)), 1)
    return width_factor(len(v), level, effective) / float(np.sqrt(v.sum()))


def numbers_of_cells(N: int, rows: int, rank: int) -> list[int]:
    """Return which numbers of cells N atoms with so many rows are tried with, largest first."""
    few = {N} if N <= 16 else set()
    return sorted({K for K in few | set(NUMBERS) if K <= N and K * rank <= rows}, reverse=True)


@final
@dataclass(frozen=True, eq=False)
class Division:
    """The cells of one number: atoms (K, s), N for nobody, and the predicted half-width."""

    places: IntArray | None = None
    width: float = np.inf


def divide(
    atoms: Atoms, U: Array, level: float, cells: int | None = None, key: int = 0
) -> list[Division]:
    """Return the division with the narrowest predicted interval for each unit vector U (c, r)."""
    # The user may have chosen the number of cells; `key` orders atoms with equal inputs.
    N, k, r = atoms.L.shape
    best = [Division()] * len(U)
    # Where only some atoms are exchanged all numbers share an order, and so the rest of each cell.
    few = number_of_leading(r) >= N
    orders = list(atoms.orders(U, key)) if few else [atoms.order(key)] * len(U)
    for K in numbers_of_cells(N, N * k, r) if cells is None else [cells]:
        ideal = width_factor(K, level)
        alike: dict[int, list[int]] = {}
        for i, one in enumerate(best):
            if one.width > ideal * _IDEAL:
                alike.setdefault(id(orders[i]), []).append(i)
        dealt = {order: deal(orders[some[0]], K) for order, some in alike.items()}
        for order, some in alike.items():
            widths = [half_width(v, level) for v in information(atoms, dealt[order], U[some])]
            _keep_best(best, some, [dealt[order]] * len(some), widths, N)
        worse = [i for some in alike.values() for i in some if best[i].width > ideal * _IDEAL]
        if worse and N > K:
            leading = Leading(atoms, [dealt[id(orders[i])] for i in worse])
            parts = -(-len(worse) // leading.numbers_at_once())
            for rows in np.array_split(np.arange(len(worse)), parts):
                which = np.array(worse)[rows]
                _improve(leading, leading.places[rows], U, which, level, best, ideal)
    return best


def _improve(
    leading: Leading,
    places: IntArray,
    U: Array,
    which: IntArray,
    level: float,
    best: list[Division],
    ideal: float,
) -> None:
    """Exchange atoms between cells, by the proxy and where it pays by the information itself."""
    (_, K, s), (k, r) = places.shape, leading.L.shape[1:]
    for improved in (swap, exchange):
        places = improved(leading, U[which], places)
        G = leading.products(places)
        v = [fits(one, np.zeros((K, r)), U[[i]])[0][0] for i, one in zip(which, G, strict=True)]
        widths = [half_width(one, level) for one in v]
        cells = [leading.all(one) for one in places]
        _keep_best(best, which.tolist(), cells, widths, leading.N)
        bad = np.flatnonzero(np.array(widths) > ideal * _NEAR)
        solves = len(bad) * K * s * s * r * r if k > 1 else 0
        if not bad.size or K * s > _PLACES or solves > _SOLVES:
            return
        which, places = which[bad], places[bad]


def _keep_best(
    best: list[Division], which: list[int], places: list[IntArray], widths: list[float], N: int
) -> None:
    """Keep the divisions of some numbers that are narrower and have no empty cell."""
    for i, cells, width in zip(which, places, widths, strict=True):
        if width < best[i].width and (cells.min(axis=1) < N).all():
            best[i] = Division(cells, width)


def information(atoms: Atoms, places: IntArray, U: Array) -> Array:
    """Return the information v (c, K) of cells about numbers U (c, r)."""
    G = atoms.products(places)
    return fits(G, np.zeros(G.shape[:2]), U)[0]

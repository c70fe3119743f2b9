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
from unassuming.cells.division import Leading, deal, exchange, swap
from unassuming.cells.estimates import Atoms, fits
from unassuming.cells.tournament import Halves, fewest_words, gaussian_extreme, halves
from unassuming.noise import order_of

NUMBERS = (32, 16, 10, 8)
_IDEAL, _NEAR = 1.003, 1.02
_PLACES = 1100
_SOLVES = 10**7


@lru_cache(maxsize=4096)
def width_factor(K: int, level: float, effective: float | None = None) -> float:
    """Return the predicted half-width times the root of the information, for normal noise.

    ``effective`` is (Σv)²/Σv², the number of equal cells with the same sum of squares.

    Examples
    --------
    >>> [round(width_factor(K, 0.95), 2) for K in (6, 8, 16, 32)]
    [3.13, 2.37, 2.1, 2.02]
    """
    m = number_of_words(K)
    q = largest_q(level, m)
    k = K if effective is None else effective * (1 + 0.3 * (1 - effective / K))
    if q == 0 or k <= 1:
        return np.inf
    t = stdtrit(k - 1, 1 - q / (2 * m))
    mean_over_sd = np.sqrt(2 / (k - 1)) * np.exp(gammaln(k / 2) - gammaln((k - 1) / 2))
    return float((1 + 0.11 / q) * t * mean_over_sd)


def half_width(v: Array, level: float) -> float:
    """Return the predicted half-width from the information v (K,) of cells, for noise of size 1.

    Examples
    --------
    >>> round(half_width(np.full(16, 1 / 16), 0.95), 2), half_width(np.ones(4), 0.95)
    (2.1, inf)
    """
    v = v[in_use(v)]
    if len(v) < 2:
        return np.inf
    effective = round(float(v.sum() ** 2 / (v @ v)), 1)
    return width_factor(len(v), level, effective) / float(np.sqrt(v.sum()))


def numbers_of_cells(N: int, rows: int, rank: int) -> list[int]:
    """Return which numbers of cells N atoms with so many rows are tried with, the largest first.

    Examples
    --------
    >>> numbers_of_cells(200, 200, 5), numbers_of_cells(14, 300, 5)
    ([32, 16, 10, 8], [14, 10, 8])
    """
    few = {N} if N <= 16 else set()
    return sorted({K for K in few | set(NUMBERS) if K <= N and K * rank <= rows}, reverse=True)


@final
@dataclass(frozen=True, eq=False)
class Division:
    """The cells of one number: atoms (K, s), N for nobody, and the predicted half-width."""

    places: IntArray | None
    width: float


NOTHING = Division(None, np.inf)


def divide(
    atoms: Atoms, U: Array, level: float, cells: int | None = None, key: int = 0
) -> list[Division]:
    """Return the division with the narrowest predicted interval for each unit vector U (c, r).

    The user may have chosen the number of cells; ``key`` orders atoms of equal leverage.

    Examples
    --------
    >>> Q = np.linalg.qr(np.random.default_rng(0).normal(size=(200, 3)))[0]
    >>> found = divide(Atoms.of(Q, np.zeros(200)), np.eye(3), 0.95)
    >>> [(len(one.places), bool(2.01 < one.width < 2.1)) for one in found]
    [(32, True), (32, True), (32, True)]
    """
    N, k, r = atoms.L.shape
    best = [NOTHING] * len(U)
    order = order_of(atoms.leverage, key)
    for K in numbers_of_cells(N, N * k, r) if cells is None else [cells]:
        ideal = width_factor(K, level)
        todo = _wider(best, np.arange(len(U)), ideal * _IDEAL)
        if not todo.size:
            continue
        dealt = deal(order, K)
        for i, v in zip(todo.tolist(), information(atoms, dealt, U[todo]), strict=True):
            best[i] = min(best[i], Division(dealt, half_width(v, level)), key=_width)
        todo = _wider(best, todo, ideal * _IDEAL)
        if not todo.size or dealt.shape[1] == 1:
            continue
        leading = Leading(atoms, dealt)
        for part in np.array_split(todo, -(-len(todo) // leading.numbers_at_once())):
            _improve(atoms, leading, U, part, level, best, ideal)
    return best


def _improve(
    atoms: Atoms,
    leading: Leading,
    U: Array,
    part: IntArray,
    level: float,
    best: list[Division],
    ideal: float,
) -> None:
    """Exchange atoms between cells, by the proxy and where it pays by the information itself."""
    k, r = atoms.L.shape[1:]
    places = swap(leading, U[part])
    found = _divisions(atoms, leading, places, U[part], level)
    for i, one in zip(part.tolist(), found, strict=True):
        best[i] = min(best[i], one, key=_width)
    bad = np.flatnonzero([one.width > ideal * _NEAR for one in found])
    solves = len(bad) * leading.places.size * leading.places.shape[1] * r * r if k > 1 else 0
    if not bad.size or leading.places.size > _PLACES or solves > _SOLVES:
        return
    places = exchange(leading, U[part[bad]], places[bad])
    found = _divisions(atoms, leading, places, U[part[bad]], level)
    for i, one in zip(part[bad].tolist(), found, strict=True):
        best[i] = min(best[i], one, key=_width)


def _divisions(
    atoms: Atoms, leading: Leading, places: IntArray, U: Array, level: float
) -> list[Division]:
    """Return the divisions with these leading atoms (c, K, s), each for its own number."""
    found = []
    for one, u in zip(places, U, strict=True):
        whole = leading.all(one)
        (v,) = information(atoms, whole, u[None])
        found.append(Division(whole, half_width(v, level)))
    return found


def information(atoms: Atoms, places: IntArray, U: Array) -> Array:
    """Return the information v (c, K) of cells about numbers U (c, r)."""
    G = atoms.products(places)
    return fits(G, np.zeros(G.shape[:2]), U)[0]


def _wider(best: list[Division], some: IntArray, width: float) -> IntArray:
    """Return those of the numbers whose division is wider than that."""
    return some[np.array([best[i].width > width for i in some.tolist()], dtype=np.bool_)]


def _width(division: Division) -> float:
    return division.width


def halves_where_narrower(
    atoms: Atoms, U: Array, level: float, widths: Array, key: int = 0
) -> tuple[Halves | None, Array]:
    """Return the halves, and their predicted half-widths (c,) where they are tried.

    They are tried only where the cells, of these widths, are wider than halves can be.
    """
    N, k, r = atoms.L.shape
    kept = max(1 - 2 * (r - 1) / (N * k), 0.05)
    narrowest = gaussian_extreme(fewest_words(level)) / np.sqrt(kept)
    tried = np.flatnonzero(widths > narrowest)
    found = halves(atoms, level, key) if tried.size else None
    predicted = np.full(len(U), np.inf)
    if found is not None:
        predicted[tried] = found.widths(atoms, U[tried])
    return found, predicted

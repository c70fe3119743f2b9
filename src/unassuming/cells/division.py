"""The division of the rows into cells: a function of the design (docs/theory.md 11.3, 11.9).

Rows, or units of rows, are dealt in the order of their leverage. Then every two cells in turn
exchange the two atoms that help most: by a proxy, and where this is not enough by the information
itself. All numbers, and pairs of cells without one in common, go at once. Decisions that tie in
exact arithmetic are settled by the places of the atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from scipy.special import gammaln, stdtrit

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, IntArray
from unassuming.cells.estimates import Atoms, fits, labels_of
from unassuming.cells.theorem import in_use, largest_q, number_of_words, sigma

SWEEPS = 12
_GAIN = 0.01  # a sweep that gains less is the last
_LEADING, _LEADING_A_COLUMN = 1000, 40  # so many leading atoms are exchanged
_TILT, _OTHER = 1e-9, 1.7  # settles ties, unlike in the two cells
_RIDGE, _LEAST = 1e-6, 1e-9
_BATCH = 2**18  # the arrays of a round stay in the cache


def deal(order: IntArray, K: int) -> IntArray:
    """Return the atoms (K, s) of cells to which they were dealt back and forth; N is nobody."""
    N = len(order)
    s = -(-N // K)
    rounds = np.append(order, np.full(s * K - N, N, dtype=np.intp)).reshape(s, K)
    rounds[1::2] = rounds[1::2, ::-1].copy()
    return np.ascontiguousarray(rounds.T)


class Leading:
    """The leading atoms of dealt cells, which are exchanged, and the rest of each cell."""

    # `dealt` (K, s) is what c numbers have in common, or one for each of them if all atoms lead.

    def __init__(self, atoms: Atoms, dealt: list[IntArray]) -> None:
        (K, places), (N, k, r) = dealt[0].shape, atoms.L.shape
        s = min(places, -(-max(_LEADING, _LEADING_A_COLUMN * r) // K))
        self.tail = dealt[0][:, s:]
        self.atoms = np.sort(dealt[0][:, :s][dealt[0][:, :s] < N])
        self.N = N
        heads = np.array([one[:, :s] for one in dealt])
        self.places = np.searchsorted(self.atoms, heads)  # nobody comes after all others
        self.L = np.concatenate([atoms.L[self.atoms], np.zeros((1, k, r))])
        self.rest = atoms.products(self.tail) if self.tail.size else np.zeros((K, r, r))

    def all(self, places: IntArray) -> IntArray:
        """Return the atoms (K, s) of whole cells with these leading ones."""
        return np.hstack([np.append(self.atoms, self.N)[places], self.tail])

    def products(self, places: IntArray) -> Array:
        """Return G_b (..., K, r, r) of whole cells with these leading atoms (..., K, s)."""
        rows = self.L[places].reshape(*places.shape[:-1], -1, self.L.shape[2])
        return np.asarray(rows.swapaxes(-1, -2) @ rows + self.rest)

    def numbers_at_once(self) -> int:
        """Return for how many numbers all exchanges fit into memory."""
        _, K, s = self.places.shape
        return max(1, int(_BATCH // (K * s * s + self.L[:, 0].size)))


def _rounds(K: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield disjoint pairs of cells, so that every two meet once: a round robin."""
    ring = np.arange(K + K % 2)
    half = len(ring) // 2
    for _ in range(len(ring) - 1):
        a, b = ring[:half], ring[half:][::-1]
        both = (a < K) & (b < K)
        yield a[both], b[both]
        ring = np.concatenate([ring[:1], ring[-1:], ring[1:-1]])


def swap(leading: Leading, U: Array, places: IntArray) -> IntArray:
    """Return places (c, K, s) that balance f_j = L_jᵀL_j u for numbers U (c, r): u/K a cell."""
    L = leading.L
    f = np.einsum("jkr,cjk->cjr", L, np.einsum("jkr,cr->cjk", L, U))
    S = np.einsum("brs,cs->cbr", leading.rest, U) - U[:, None] / places.shape[1]
    return balance(places, f, S)


def balance(places: IntArray, f: Array, S: Array) -> IntArray:
    """Return places (c, K, s) after exchanges that lower Σ_b ‖S_b‖², for each of c numbers."""
    # S_b is `S` (c, K, p) plus the sum of f (c, N + 1, p) over the cell. Exchanging i (cell a)
    # for j (cell b) changes the sum of squares by 2(‖g‖² - gᵀ(S_a - S_b)), with g = f_i - f_j.
    places = places.copy()
    c, K, s = places.shape
    S = S + f[np.arange(c)[:, None, None], places].sum(axis=2)
    least = _TILT / f.shape[1] ** 2
    tilt = least * np.arange(s) / s
    live, loss = np.arange(c), np.full(c, np.inf)
    for _ in range(SWEEPS):
        lost = K * np.square(S[live]).sum(axis=(1, 2))  # about the share of the information
        go_on = (loss[live] - lost > _GAIN) & (lost > _GAIN)
        loss[live] = lost
        live = live[go_on]
        if not live.size:
            break
        n, every = live[:, None], np.arange(len(live))[:, None]
        for a, b in _rounds(K):
            A, B = f[n[:, :, None], places[n, a]], f[n[:, :, None], places[n, b]]
            D, pair = (S[n, a] - S[n, b])[:, :, None], np.arange(len(a))[None]
            cost = A @ B.swapaxes(2, 3)
            cost *= -2
            cost += ((A * (A - D)).sum(axis=-1) + tilt)[..., None]
            cost += ((B * (B + D)).sum(axis=-1) + _OTHER * tilt)[..., None, :]
            i, j = np.divmod(cost.reshape(len(live), len(a), -1).argmin(axis=-1), s)
            good = cost[every, pair, i, j] < -4 * least
            x, y = places[n, a, i], places[n, b, j]
            places[n, a, i], places[n, b, j] = np.where(good, y, x), np.where(good, x, y)
            g = np.where(good[..., None], f[n, x] - f[n, y], 0.0)
            S[n, a] -= g
            S[n, b] += g
    return places


def exchange(leading: Leading, U: Array, places: IntArray) -> IntArray:
    """Return places (c, K, s) after exchanges by the exact information: Σ_b √v_b grows."""
    (c, K, s), L = places.shape, leading.L
    places = places.copy()
    ridge = _RIDGE * np.eye(L.shape[2])
    tilt = _TILT * (np.arange(s)[:, None] + _OTHER * np.arange(s)) / s
    live, reached = np.arange(c), np.zeros(c)
    for _ in range(SWEEPS):
        G = leading.products(places[live]) + ridge
        inverse = np.linalg.inv(G)
        Iu = np.einsum("cbrs,cs->cbr", inverse, U[live])
        total = _root(np.einsum("cbr,cr->cb", Iu, U[live])).sum(axis=1)
        go_on = total > reached[live] * (1 + _GAIN)
        reached[live] = total
        live, G, inverse = live[go_on], G[go_on], inverse[go_on]
        if not live.size:
            break
        n, every = live[:, None], np.arange(len(live))[:, None]
        for a, b in _rounds(K):
            A, B = L[places[n, a]], L[places[n, b]]
            old_a, gain_a = _exchanged(G[:, a], inverse[:, a], A, B, U[live], by_row=True)
            old_b, gain_b = _exchanged(G[:, b], inverse[:, b], B, A, U[live], by_row=False)
            score = gain_a
            score += gain_b
            score -= tilt
            pair = np.arange(len(a))[None]
            i, j = np.divmod(score.reshape(len(live), len(a), -1).argmax(axis=-1), s)
            now = old_a + old_b
            m, p = np.nonzero(score[every, pair, i, j] > now * (1 + 1e-7))
            at, i, j = live[m], i[m, p], j[m, p]
            x, y = places[at, a[p], i], places[at, b[p], j]
            places[at, a[p], i], places[at, b[p], j] = y, x
            for cell, new, old in ((a[p], y, x), (b[p], x, y)):
                G[m, cell], inverse[m, cell] = _moved(G[m, cell], inverse[m, cell], L[new], L[old])
    return places


def _moved(G: Array, inverse: Array, new: Array, old: Array) -> tuple[Array, Array]:
    """Return G (M, r, r) and its inverse after atoms ``new`` (M, k, r) came for ``old`` ones."""
    G = G + new.swapaxes(1, 2) @ new - old.swapaxes(1, 2) @ old
    if new.shape[1] > 1:
        return G, np.asarray(np.linalg.inv(G))
    for rows, sign in ((new, 1.0), (old, -1.0)):  # first what comes: this loses no digits
        z = (rows @ inverse)[:, 0]
        scale = sign / (1 + sign * (z * rows[:, 0]).sum(axis=1))
        inverse = inverse - (z * scale[:, None])[:, :, None] * z[:, None]
    return G, inverse


def _root(variance: Array) -> Array:
    """Return 1/√ of variances, in place."""
    np.maximum(variance, _LEAST, out=variance)
    np.sqrt(variance, out=variance)
    return np.reciprocal(variance, out=variance)


def _exchanged(
    G: Array, inverse: Array, out: Array, into: Array, U: Array, *, by_row: bool
) -> tuple[Array, Array]:
    """Return √v_b now (c, p), and after each exchange of atoms (c, p, s, s), 11.3 step 4."""
    # `out` (c, p, s, k, r) leave cells with G (c, p, r, r), `into` enter them; the rows of the
    # result, or its columns, are those that leave.
    u = U[:, None]
    Iu = np.einsum("cprs,cs->cpr", inverse, U)
    variance = (Iu * u).sum(axis=-1)
    if out.shape[3] > 1:
        left, entered = (part.swapaxes(3, 4) @ part for part in (out, into))
        G = G[:, :, None, None] - left[:, :, :, None] + entered[:, :, None]
        u = U[:, None, None, None]
        solved = np.linalg.solve(G, np.broadcast_to(u[..., None], (*G.shape[:-1], 1)))
        after = (solved[..., 0] * u).sum(axis=-1)
        return _root(variance), _root(after if by_row else after.swapaxes(2, 3).copy())
    out, into = out[..., 0, :], into[..., 0, :]
    out_I = out @ inverse
    left = 1 / np.maximum(1 - (out_I * out).sum(axis=-1), _LEAST)
    h = 1 + np.einsum("cpsr,cpsr->cps", into @ inverse, into)
    g_out, g_into = (part @ Iu[..., None] for part in (out, into))
    g_out, g_into = g_out[..., 0], g_into[..., 0]
    reduced = variance[..., None] + g_out**2 * left
    t = out_I @ into.swapaxes(2, 3) if by_row else into @ out_I.swapaxes(2, 3)
    rows, columns = np.s_[..., None], np.s_[..., None, :]
    o, i = (rows, columns) if by_row else (columns, rows)
    scaled = t * left[o]
    top = scaled * g_out[o]
    top += g_into[i]
    top *= top
    t *= scaled
    t += h[i]
    top /= t
    np.subtract(reduced[o], top, out=top)
    return _root(variance), _root(top)


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
    few = max(_LEADING, _LEADING_A_COLUMN * r) >= N
    orders = list(atoms.orders(U, key)) if few else [atoms.order(key)] * len(U)
    for K in numbers_of_cells(N, N * k, r) if cells is None else [cells]:
        ideal = width_factor(K, level)
        alike: dict[int, list[int]] = {}
        for i, one in enumerate(best):
            if one.width > ideal * _IDEAL:
                alike.setdefault(id(orders[i]), []).append(i)
        dealt = {order: deal(orders[some[0]], K) for order, some in alike.items()}
        for order, some in alike.items():
            v = information(atoms, dealt[order], U[some])
            _keep_best(best, some, [dealt[order]] * len(some), v, level, N)
        worse = [i for some in alike.values() for i in some if best[i].width > ideal * _IDEAL]
        if worse and N > K:
            leading = Leading(atoms, [dealt[id(orders[i])] for i in worse])
            parts = -(-len(worse) // leading.numbers_at_once())
            for rows in np.array_split(np.arange(len(worse)), parts):
                which = np.array(worse)[rows]
                _improve(leading, leading.places[rows], U, which, level, best)
    return best


def _improve(
    leading: Leading,
    places: IntArray,
    U: Array,
    which: IntArray,
    level: float,
    best: list[Division],
) -> None:
    """Exchange atoms between cells, by the proxy and where it pays by the information itself."""
    (_, K, s), (k, r) = places.shape, leading.L.shape[1:]
    ideal = width_factor(K, level)
    for improved in (swap, exchange):
        places = improved(leading, U[which], places)
        G = leading.products(places)
        v = [fits(one, np.zeros((K, r)), U[[i]])[0][0] for i, one in zip(which, G, strict=True)]
        cells = [leading.all(one) for one in places]
        widths = _keep_best(best, which.tolist(), cells, v, level, leading.N)
        bad = np.flatnonzero(widths > ideal * _NEAR)
        solves = len(bad) * K * s * s * r * r if k > 1 else 0
        if not bad.size or K * s > _PLACES or solves > _SOLVES:
            return
        which, places = which[bad], places[bad]


def _keep_best(
    best: list[Division], which: list[int], places: list[IntArray], v: Any, level: float, N: int
) -> Array:
    """Keep narrower divisions of some numbers without an empty cell, and return their widths."""
    widths = np.array([half_width(one, level) for one in v])
    for i, cells, width in zip(which, places, widths.tolist(), strict=True):
        if width < best[i].width and (cells.min(axis=1) < N).all():
            best[i] = Division(cells, width)
    return widths


def information(atoms: Atoms, places: IntArray, U: Array) -> Array:
    """Return the information v (c, K) of cells about numbers U (c, r)."""
    G = atoms.products(places)
    return fits(G, np.zeros(G.shape[:2]), U)[0]


BALANCED = (2, 4, 8, 16, 32, 64, 128, 256)  # numbers of cells of a simultaneous band (11.8)
_BAND_DRAWS, _BAND_KEY, _BAND_BATCH = 2**14, 118, 2**25


def balanced_places(atoms: Atoms, K: int, U: Array | None = None) -> IntArray:
    """Return the atoms (K, s) of cells with equal second moments; N stands for nobody."""
    # The products L_jᵀL_j of every cell come near to I/K: all of them, or those with the
    # orthonormal rows of U (k, r), if only these numbers matter.
    leading = Leading(atoms, [deal(atoms.order(), K)])
    r = atoms.L.shape[2]
    a, b = np.triu_indices(r)
    twice = np.where(a == b, 1.0, np.sqrt(2.0))  # each product off the diagonal counts twice

    def moments(G: Array) -> Array:
        """Return what is balanced, from products (..., r, r)."""
        if U is None:
            return np.asarray(G[..., a, b] * twice / np.sqrt(r))
        return np.asarray(G @ U.T / np.sqrt(len(U))).reshape(*G.shape[:-2], -1)

    f = moments(leading.L.swapaxes(1, 2) @ leading.L)
    S = moments(leading.rest) - moments(np.eye(r)) / K  # also where cells differ by an atom
    return leading.all(balance(leading.places, f[None], S[None])[0])


def balanced_labels(Q: Array, K: int, units: IntArray | None = None) -> IntArray:
    """Return the cell of each row (n,), from second moments of orthonormal columns Q (n, r)."""
    atoms = Atoms.of(Q, np.zeros(len(Q)), units)
    return labels_of(balanced_places(atoms, K), len(atoms), units)


def width_factors(U: Array, numbers: list[int], level: float) -> Array:
    """Return the expected q-th largest T_s of numbers U (N, r), for each number of equal cells."""
    # The T_s are then independent, and each is distributed as max_z |u_zᵀg| with g standard normal.
    g = np.random.default_rng(_BAND_KEY).standard_normal((U.shape[1], _BAND_DRAWS))
    T = np.zeros(_BAND_DRAWS)
    for part in slices(len(U), rows_that_fit(_BAND_BATCH, _BAND_DRAWS)):
        T = np.maximum(T, np.abs(U[part] @ g).max(axis=0))
    factors: list[float] = []
    for K in numbers:
        q, groups = largest_q(level, K), T[: _BAND_DRAWS - _BAND_DRAWS % (K - 1)].reshape(-1, K - 1)
        factors.append(float(np.sort(groups, axis=1)[:, K - 1 - q].mean()) if q else np.inf)
    return np.array(factors)


def narrowest(
    information: Callable[[int], Array], numbers: list[int], U: Array, level: float
) -> tuple[int, Array] | None:
    """Return the number of cells with the narrowest band expected, and its half-widths (N,)."""
    # `information` gives v (N, K) of the unit vectors U (N, r) for a number of cells, and noise
    # has the size one. None if no number of cells allows the level and identifies all the numbers.
    best = None
    for K, factor in zip(numbers, width_factors(U, numbers, level), strict=True):
        half = factor * sigma(information(K))
        narrower = best is None or np.log(half).mean() < np.log(best[1]).mean()
        if np.isfinite(half).all() and narrower:
            best = K, half
    return best

"""The division of the rows into cells: a function of the design (docs/theory.md 11.3).

Rows, or units of rows, are dealt into K cells in the order of their leverage. Then every two cells
in turn exchange the two atoms that help most: first by a proxy that costs one matrix product for
all exchanges, and where this is not enough by the information itself. All numbers, and all pairs of
cells that have none in common, go at once. Decisions that tie in exact arithmetic are settled by
the places of the atoms, not by rounding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.cells.estimates import Atoms
from unassuming.noise import hashed

SWEEPS = 12
_GAIN = 0.01  # a sweep that gains less is the last
_LEADING, _LEADING_A_COLUMN = 1000, 40  # so many leading atoms are exchanged
_TILT, _OTHER = 1e-9, 1.7  # settles ties, unlike in the two cells
_RIDGE, _LEAST = 1e-6, 1e-9
_BATCH = 10**7


def order_of(values: Array, key: int = 0, blocks: IntArray | None = None) -> IntArray:
    """Return the positions in descending order of values, rounded to 1e-9 of their mean size.

    Ties are broken by a pseudo-random permutation that the key fixes, never by the position: rows
    may be sorted by y. With blocks the positions of each block follow one another.
    """
    scale = float(np.abs(values).mean())
    rounded = np.round(values / scale, 9) if scale > 0 else values
    keys = [hashed(np.arange(len(values)), key), -rounded]
    return np.asarray(np.lexsort(keys if blocks is None else [*keys, blocks]), dtype=np.intp)


def deal(order: IntArray, K: int) -> IntArray:
    """Return the atoms (K, s) of cells to which they were dealt back and forth; N is nobody.

    Examples
    --------
    >>> deal(np.arange(5), 2)
    array([[0, 3, 4],
           [1, 2, 5]])
    """
    N = len(order)
    s = -(-N // K)
    rounds = np.append(order, np.full(s * K - N, N, dtype=np.intp)).reshape(s, K)
    rounds[1::2] = rounds[1::2, ::-1].copy()
    return np.ascontiguousarray(rounds.T)


class Leading:
    """The leading atoms of dealt cells, which are exchanged, and the rest of each cell."""

    def __init__(self, atoms: Atoms, dealt: IntArray) -> None:
        (K, places), (N, k, r) = dealt.shape, atoms.L.shape
        s = min(places, -(-max(_LEADING, _LEADING_A_COLUMN * r) // K))
        self.tail = dealt[:, s:]
        self.atoms = np.sort(dealt[:, :s][dealt[:, :s] < N])
        self.N = N
        self.places = np.searchsorted(self.atoms, dealt[:, :s])  # nobody comes after all others
        self.L = np.concatenate([atoms.L[self.atoms], np.zeros((1, k, r))])
        self.rest = atoms.products(self.tail) if self.tail.size else np.zeros((K, r, r))
        self.behind = (self.tail < N).sum(axis=1)

    def all(self, places: IntArray) -> IntArray:
        """Return the atoms (K, s) of whole cells with these leading ones."""
        return np.hstack([np.append(self.atoms, self.N)[places], self.tail])

    def numbers_at_once(self) -> int:
        """Return for how many numbers all exchanges fit into memory."""
        cost = self.places.size * self.places.shape[1] + self.L[:, 0].size
        return max(1, int(_BATCH // cost))


def _rounds(K: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield disjoint pairs of cells, so that every two meet once: a round robin."""
    ring = np.arange(K + K % 2)
    half = len(ring) // 2
    for _ in range(len(ring) - 1):
        a, b = ring[:half], ring[half:][::-1]
        both = (a < K) & (b < K)
        yield a[both], b[both]
        ring = np.concatenate([ring[:1], ring[-1:], ring[1:-1]])


def swap(leading: Leading, U: Array) -> IntArray:
    """Return places (c, K, s) that balance f_j = L_jᵀL_j u minus its mean for numbers U (c, r)."""
    L, N = leading.L, leading.N
    f = np.einsum("jkr,cjk->cjr", L, np.einsum("jkr,cr->cjk", L, U))
    f[:, :-1] -= U[:, None] / N  # the mean over all atoms; f of nobody is 0
    S = np.einsum("brs,cs->cbr", leading.rest, U) - leading.behind[:, None] * U[:, None] / N
    return balance(np.repeat(leading.places[None], len(U), axis=0), f, S)


def balance(places: IntArray, f: Array, S: Array) -> IntArray:
    """Return places (c, K, s) after exchanges that lower Σ_b ‖S_b‖², for each of c numbers.

    S_b is the sum of f (c, N + 1, p) over the cell, of which ``S`` (c, K, p) belongs to atoms that
    stay. Exchanging i (cell a) for j (cell b) changes Σ_b ‖S_b‖² by 2(‖g‖² - gᵀ(S_a - S_b)), with
    g = f_i - f_j.
    """
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
            cost = -2 * (A @ B.swapaxes(2, 3))
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
        rows = L[places[live]].reshape(len(live), K, -1, L.shape[2])
        G = rows.swapaxes(2, 3) @ rows + leading.rest + ridge
        inverse = np.linalg.inv(G)
        total = _root(np.einsum("cr,cbrs,cs->cb", U[live], inverse, U[live])).sum(axis=1)
        go_on = total > reached[live] * (1 + _GAIN)
        reached[live] = total
        live, G, inverse = live[go_on], G[go_on], inverse[go_on]
        if not live.size:
            break
        n, every = live[:, None], np.arange(len(live))[:, None]
        for a, b in _rounds(K):
            A, B = L[places[n, a]], L[places[n, b]]
            old_a, new_a = _variances(G[:, a], inverse[:, a], A, B, U[live])
            old_b, new_b = _variances(G[:, b], inverse[:, b], B, A, U[live])
            score = _root(new_a) + _root(new_b).swapaxes(2, 3) - tilt
            pair = np.arange(len(a))[None]
            i, j = np.divmod(score.reshape(len(live), len(a), -1).argmax(axis=-1), s)
            now = _root(old_a) + _root(old_b)
            m, p = np.nonzero(score[every, pair, i, j] > now * (1 + 1e-7))
            at, i, j = live[m], i[m, p], j[m, p]
            x, y = places[at, a[p], i], places[at, b[p], j]
            places[at, a[p], i], places[at, b[p], j] = y, x
            change = L[y].swapaxes(1, 2) @ L[y] - L[x].swapaxes(1, 2) @ L[x]
            G[m, a[p]] += change
            G[m, b[p]] -= change
            inverse[m, a[p]], inverse[m, b[p]] = np.linalg.inv(np.stack([G[m, a[p]], G[m, b[p]]]))
    return places


def _root(variance: Array) -> Array:
    return np.asarray(1 / np.sqrt(np.maximum(variance, _LEAST)))


def _variances(G: Array, inverse: Array, out: Array, into: Array, U: Array) -> tuple[Array, Array]:
    """Return uᵀG_b⁻¹u now (c, p), and after each exchange of atoms (c, p, s, s), 11.3 step 4.

    ``out`` (c, p, s, k, r) leave cells with the products G (c, p, r, r), ``into`` enter them.
    """
    Iu = (inverse @ U[:, None, :, None])[..., 0]
    variance = (Iu * U[:, None]).sum(axis=-1)
    if out.shape[3] > 1:
        removed, added = (part.swapaxes(3, 4) @ part for part in (out, into))
        G = G[:, :, None, None] - removed[:, :, :, None] + added[:, :, None]
        u = U[:, None, None, None]
        solved = np.linalg.solve(G, np.broadcast_to(u[..., None], (*G.shape[:-1], 1)))
        return variance, (solved[..., 0] * u).sum(axis=-1)
    out, into = out[..., 0, :], into[..., 0, :]
    out_I, into_I = out @ inverse, into @ inverse
    left = np.maximum(1 - (out_I * out).sum(axis=-1), _LEAST)[..., None]
    t = out_I @ into.swapaxes(2, 3)
    g_out, g_into = (out @ Iu[..., None]), (into @ Iu[..., None]).swapaxes(2, 3)
    scaled = t / left
    top = g_out * scaled
    top += g_into
    np.square(top, out=top)
    t *= scaled
    t += 1 + (into_I * into).sum(axis=-1)[:, :, None]
    top /= t
    return variance, (variance[..., None, None] + g_out**2 / left) - top

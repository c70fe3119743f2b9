"""Least squares in each cell: v_b and β_b of many numbers at once (docs/theory.md 11.2, 11.3).

The rows are those of a factor Q of the design, so that all of them have the information 1 about uᵀθ
with ‖u‖ = 1, and y is replaced by the residuals e of least squares. In cell b v_b = 1 / uᵀG_b⁻¹u
and β_b = uᵀG_b⁻¹h_b with G_b = Q_bᵀQ_b, h_b = Q_bᵀe_b: how far its estimate is from that of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy.optimize import linprog

from unassuming._numerics import EPS, Factor, factor
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.noise import hashed

# Inverses with larger entries give way to eigenvalues; those below this share of the largest are
# zero; a number is identified if its share outside the others is smaller than the last.
_WELL, _CUT, _SEEN = 1e6, 1e-13, 1e-10
BLUR = 64 * EPS  # rounding of estimates where all rows say 1, as a share of the norm of y
_TIED, _SHIFT = 1e9, 0.271828  # nine digits of scores count; the shift keeps 1/1024 off boundaries


def order_of(scores: Array, key: int = 0, blocks: IntArray | None = None) -> IntArray:
    """Return positions by descending scores (N, k), the first one above all, within blocks."""
    # Scores have the unit 1. What ties in all of them follows a pseudo-random permutation that the
    # key fixes, never the position: rows may be sorted by y.
    rounded = np.floor(scores * _TIED + _SHIFT)
    keys = [hashed(np.arange(len(scores)), key), *-rounded.T[::-1]]
    if blocks is not None:
        return np.asarray(np.lexsort([*keys, blocks]), dtype=np.intp)
    order = np.argsort(keys[-1], kind="stable")
    same = np.diff(keys[-1][order]) == 0
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    which = order[tied]
    order[tied] = which[np.lexsort([one[which] for one in keys])]
    return order


@final
@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates θ, with coefficients ``factor.back`` θ, in which all rows have information 1."""

    # The least-squares `fit` (r,) leaves residuals of norm `rest`; `blur` counts as rounding
    # in estimates of uᵀθ. Before, `shift` was subtracted from y, to be added to the coefficient
    # of the first column, which is `first` (r,) in these coordinates.

    factor: Factor
    fit: Array
    rest: float
    rows: int
    blur: float
    shift: float = 0.0
    first: Array | None = None

    @property
    def fit_of_y(self) -> Array:
        """The least-squares fit of y itself, (r,)."""
        return self.fit if self.first is None else self.fit + self.shift * self.first

    @property
    def rank(self) -> int:
        """R."""
        return len(self.fit)

    def vectors(self, g: Array) -> tuple[Array, Array, BoolArray]:
        """Return u (N, r), ‖.‖ (N,) with gᵀa = ‖.‖ uᵀθ, and which g (N, d) are determined."""
        U = g @ self.factor.back
        size = np.linalg.norm(U, axis=1)
        return U / np.where(size > 0, size, 1.0)[:, None], size, ~self.factor.unseen(g)

    def estimates(self, g: Array) -> Array:
        """Return the least-squares estimates of functionals (N, d); NaN if not determined."""
        found = g @ (self.factor.back @ self.fit) + g[:, 0] * self.shift
        return np.where(self.factor.unseen(g), np.nan, found)

    @cached_property
    def ties(self) -> Array:
        """Two directions (r, 2) in which rows differ that differ in a coefficient, units aside."""
        U, _, seen = self.vectors(np.eye(len(self.factor.back)))
        both = np.stack([U[seen].sum(axis=0), np.sqrt(1.0 + np.flatnonzero(seen)) @ U[seen]])
        size = np.linalg.norm(both, axis=1, keepdims=True)
        return np.asarray(np.where(size > 1e-3, both / np.maximum(size, 1e-3), 0.0).T)


@final
@dataclass(frozen=True, eq=False)
class Sample:
    """Rows whose noise may change its sign, one by one or in units, and their coordinates."""

    # The rows Q (n, r) and residuals e (n,) are those of least squares, times the roots of the
    # weights. `units` (n,) numbers them from 0; None if every row is a unit.

    at: Coordinates
    Q: Array
    e: Array
    units: IntArray | None

    @classmethod
    def of(
        cls,
        Phi: Array,
        y: Array,
        w: Array | None = None,
        *,
        intercept: bool = False,
        units: IntArray | None = None,
        found: Factor | None = None,
    ) -> Sample:
        """Return rows (n, d) with targets y (n,) and weights w (n,); ``found`` is their factor."""
        weight = np.ones(len(y)) if w is None else w
        found = factor(Phi, weight, intercept=intercept) if found is None else found
        shift = float(y.mean()) if intercept else 0.0
        e = (y - shift) * np.sqrt(weight)
        length = float(np.linalg.norm(e))
        fit = np.zeros(found.Q.shape[1])
        for _ in range(2):  # once more for orthogonality to rounding
            step = found.Q.T @ e
            fit, e = fit + step, e - found.Q @ step
        rest = float(np.linalg.norm(e))
        first = found.Q.T @ np.sqrt(weight) if intercept else None
        at = Coordinates(found, fit, rest, len(y), BLUR * length, shift, first)
        return cls(at, found.Q, e, units)

    @cached_property
    def atoms(self) -> Atoms:
        """What goes into a cell as a whole."""
        return Atoms.of(self.Q, self.e, self.units, self.at.ties)

    def places(self, labels: IntArray) -> IntArray:
        """Return the atoms (K, s) of cells that labels 0, ..., K - 1 of rows (n,) describe."""
        if self.units is None:
            return places_of(labels)
        return places_of(by_unit(labels, self.units))


def by_unit(labels: IntArray, units: IntArray) -> IntArray:
    """Return the cell of each unit from those of its rows (n,), or refuse cells that divide one."""
    found = labels[np.unique(units, return_index=True)[1]]
    torn = np.flatnonzero(labels != found[units])
    if len(torn):
        row = torn[0]
        raise ValueError(
            "cells divides a block of the noise: expected the same label for all rows of a block, "
            f"given {labels[row]} and {found[units[row]]} (numbered in order of appearance) in the "
            f"block of row {row} (counted from zero). Put whole blocks into a cell."
        )
    return found


@final
@dataclass(frozen=True, eq=False)
class Atoms:
    """What goes into a cell as a whole: N rows, or N units of rows in k rows each."""

    # The rows L_j (k, r) of unit j have L_jᵀL_j = Q_jᵀQ_j, and L_jᵀe_j = Q_jᵀ(the residuals of the
    # unit); `squares` (N,) are the sums of the squared residuals, `rows` (N,) numbers of rows.
    # `scores` (N, r) are sums of rows, and `ties` (r, 2) directions that tell unlike rows
    # apart.

    L: Array
    e: Array
    squares: Array
    rows: Array
    scores: Array
    ties: Array

    @classmethod
    def of(
        cls, Q: Array, e: Array, units: IntArray | None = None, ties: Array | None = None
    ) -> Atoms:
        """Return the atoms of a design (n, r) with residuals (n,), or of its units 0, 1, ..."""
        n, r = Q.shape
        ties = np.zeros((r, 0)) if ties is None else ties
        if units is None:
            return cls(Q[:, None], e[:, None], np.square(e), np.ones(n), Q, ties)
        members = np.split(np.argsort(units, kind="stable"), np.cumsum(np.bincount(units))[:-1])
        G = np.array([Q[rows].T @ Q[rows] for rows in members])
        h = np.array([e[rows] @ Q[rows] for rows in members])
        scores = np.array([Q[rows].sum(axis=0) for rows in members])
        lam, V = np.linalg.eigh(G)
        seen = lam > _CUT
        k = max(1, int(seen.sum(axis=1).max()))
        root = np.sqrt(np.where(seen, lam, 1.0))
        coordinates = np.where(seen, np.einsum("jrk,jr->jk", V, h) / root, 0.0)
        L = np.where(seen, root, 0.0)[:, :, None] * V.swapaxes(1, 2)
        squares = np.bincount(units, np.square(e)).astype(np.float64)
        sizes = np.bincount(units).astype(np.float64)
        return cls(L[:, -k:], coordinates[:, -k:], squares, sizes, scores, ties)

    def __len__(self) -> int:
        return len(self.L)

    @property
    def ordered_by(self) -> Array:
        """What atoms are ordered by, in units of a typical one: leverage, and what breaks ties."""
        unit = self.L.shape[2] / len(self) or 1.0
        others = self.scores @ self.ties / np.sqrt(unit)
        return np.column_stack([np.einsum("jkr,jkr->j", self.L, self.L) / unit, others])

    def order(self, key: int = 0) -> IntArray:
        """Return the atoms by leverage, descending."""
        return order_of(self.ordered_by, key)

    def orders(self, U: Array, key: int = 0) -> Iterator[IntArray]:
        """Yield the atoms by leverage for each number U (c, r), among equal ones by L_ju."""
        by, unit = self.ordered_by, self.L.shape[2] / len(self) or 1.0
        found: dict[bytes, IntArray] = {}
        for s in (self.scores @ U.T).T / np.sqrt(unit):
            order = order_of(np.column_stack([by[:, 0], s, by[:, 1:]]), key)
            found.setdefault(order.tobytes(), order)
            yield found[order.tobytes()]

    def products(self, places: IntArray) -> Array:
        """Return G_b (K, r, r) of cells with these atoms (K, s), of which N stands for nobody."""
        L = _gathered(self.L, places)
        return np.asarray(L.swapaxes(1, 2) @ L)

    def sums(self, places: IntArray) -> CellSums:
        """Return the sums over cells with these atoms (K, s), of which N stands for nobody."""
        L, e = _gathered(self.L, places), _gathered(self.e, places)
        lists = [_gathered(part[:, None], places).sum(axis=1) for part in (self.squares, self.rows)]
        turned = L.swapaxes(1, 2)
        return CellSums(turned @ L, (turned @ e[:, :, None])[:, :, 0], *lists)


def _gathered(A: Array, places: IntArray) -> Array:
    """Return the rows of the atoms (N, k, ...) of each cell (K, s), one after the other."""
    N = len(A)
    part = A[np.minimum(places, N - 1)]
    part[places >= N] = 0.0
    return part.reshape(len(places), -1, *A.shape[2:])


def labels_of(places: IntArray, N: int, units: IntArray | None) -> IntArray:
    """Return the cell of each row (n,) from the atoms (K, s) of the cells."""
    labels = np.empty(N + 1, dtype=np.intp)
    labels[places] = np.arange(len(places))[:, None]
    return labels[:N] if units is None else labels[:N][units]


def places_of(labels: IntArray) -> IntArray:
    """Return the atoms (K, s) of the cells that labels 0, ..., K - 1 (N,) describe."""
    counts, N = np.bincount(labels), len(labels)
    order = np.argsort(labels, kind="stable")
    place = np.arange(N) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.full((len(counts), counts.max()), N, dtype=np.intp)
    places[labels[order], place] = order
    return places


@final
@dataclass(frozen=True, eq=False)
class CellSums:
    """Sums over the rows of K cells: G (K, r, r), h (K, r), squared residuals and rows (K,)."""

    G: Array
    h: Array
    squares: Array
    rows: Array

    def merged(self, K: int) -> CellSums:
        """Return the sums of K cells: cells with equal numbers modulo K, merged."""
        parts = self.G, self.h, self.squares, self.rows
        return CellSums(*(np.array([one[b::K].sum(axis=0) for b in range(K)]) for one in parts))

    def residual_weights(self, v: Array) -> Array:
        """Return v_b / s_b² in place of v (c, K), with s_b² the residual variance of the cell."""
        # A cell without degrees of freedom gets the pooled variance of the others.
        lam, V = np.linalg.eigh(self.G)
        seen = lam > _CUT * lam[:, -1:]
        explained = np.square(np.einsum("brk,br->bk", V, self.h)) / np.where(seen, lam, np.inf)
        rest = np.maximum(self.squares - explained.sum(axis=1), 0.0)
        freedom = np.maximum(self.rows - seen.sum(axis=1), 0)
        free = freedom > 0
        if not rest[free].any():
            return v
        pooled = rest[free].sum() / freedom[free].sum()
        variance = np.where(free, rest / np.maximum(freedom, 1), pooled)
        return np.asarray(v / np.maximum(variance / pooled, 1e-30))


@final
@dataclass(frozen=True, eq=False)
class KeptCells:
    """Cells of a stream, or of ``blocks`` of its rows: sums that can be merged to fewer cells."""

    at: Coordinates
    sums: CellSums
    blocks: bool

    @classmethod
    def of_rows(cls, sample: Sample, labels: IntArray, number: int, *, blocks: bool) -> KeptCells:
        """Return the cells that labels (n,) from 0 to number - 1 describe."""
        places = places_of(np.append(labels, number - 1))  # so that the last cell has a place
        sums = sample.atoms.sums(np.minimum(places, len(labels)))
        return cls(sample.at, sums, blocks)

    @property
    def number(self) -> int:
        """C."""
        return len(self.sums.G)


def fits(G: Array, h: Array, U: Array) -> tuple[Array, Array]:
    """Return v (c, ...) and β (c, ...) of the numbers U (c, r), 0 where they are not identified."""
    # G (..., r, r) are Gram matrices of cells or halves, h (..., r) the products with residuals.
    try:
        inverse = np.linalg.inv(G)
    except np.linalg.LinAlgError:
        inverse = np.full(1, np.inf)
    if np.abs(inverse).max(initial=0.0) < _WELL:
        P = U @ inverse
        variance = np.einsum("...cr,cr->c...", P, U)
        known = variance > 0  # a functional that the rows do not determine may be zero here
        v = np.where(known, 1 / np.where(known, variance, 1.0), 0.0)
        return v, np.einsum("...cr,...r->c...", P, h)
    lam, V = np.linalg.eigh(G)
    seen = (lam > _CUT * lam[..., -1:])[..., None, :]
    P = U @ V
    scaled = P * np.where(seen, 1 / np.where(seen, lam[..., None, :], 1.0), 0.0)
    variance = (P * scaled).sum(axis=-1)
    known = ((np.square(P) * ~seen).sum(axis=-1) < _SEEN) & (variance > 0)
    beta = np.einsum("...ck,...rk,...r->...c", scaled, V, h)
    v = np.where(known, 1 / np.where(known, variance, 1.0), 0.0)
    return np.moveaxis(v, -1, 0), np.moveaxis(np.where(known, beta, 0.0), -1, 0)


def least_absolute_deviations(Q: Array, y: Array) -> Array:
    """Return coefficients that minimise Σ |y - Qθ|."""
    (n, r), size = Q.shape, float(np.abs(y).max(initial=0.0)) or 1.0
    cost, A = np.repeat([0.0, 1.0], [r, 2 * n]), np.hstack([Q, np.eye(n), -np.eye(n)])
    signs = [(None, None)] * r + [(0, None)] * (2 * n)
    found = linprog(cost, A_eq=A, b_eq=y / size, bounds=signs, method="highs-ds")
    return np.asarray(found.x[:r] * size) if found.success else np.zeros(r)


def robust_estimates(Q: Array, e: Array, labels: IntArray, K: int, U: Array) -> Array:
    """Return robust estimates (c, K) of numbers U (c, r) in the cells that labels (n,) describe."""
    # Least squares in the cell plus half the difference of the answers for its residuals and for
    # minus its residuals: equivariant and odd, whatever the solver chooses (11.2).
    theta = np.empty((K, Q.shape[1]))
    for b in range(K):
        own, y = Q[labels == b], e[labels == b]
        theta[b] = np.linalg.lstsq(own, y, rcond=None)[0]
        rest = y - own @ theta[b]
        up, down = (least_absolute_deviations(own, one) for one in (rest, -rest))
        theta[b] += (up - down) / 2
    return np.asarray(U @ theta.T)


def centred_in_blocks(Phi: Array, blocks: IntArray) -> Array:
    """Return the design minus its means within blocks: what exchangeable noise identifies."""
    counts = np.bincount(blocks)
    means = [np.bincount(blocks, column) / counts for column in Phi.T]
    centred = Phi - np.transpose(means)[blocks]
    flat = np.abs(centred).max(axis=0) <= 1e-12 * np.abs(Phi).max(axis=0)
    return np.asarray(np.where(flat, 0.0, centred))


def opposite_pairs(scores: Array, blocks: IntArray, key: int = 0) -> IntArray:
    """Return disjoint pairs (P, 2) of rows of a block with opposite first scores (n, k)."""
    order = order_of(scores, key, blocks)
    pairs = []
    for members in np.split(order, np.cumsum(np.bincount(blocks))[:-1]):
        half = len(members) // 2  # of an odd number the one in the middle is left out
        pairs.append(np.column_stack([members[:half], members[::-1][:half]]))
    return np.concatenate(pairs).astype(np.intp)

"""Label regions along lines: fresh labels flip at known places (docs/theory.md 8.1).

With f = Φa the fresh label y⁽ⁱ⁾_k flips where f_k = 2U_ik - 1. Between two flips
p = z_i - z_0 = ΨLδ, δ = y⁽ⁱ⁾ - y, is constant, and Z_i - Z_0 = ⟨p, p + 2z_0⟩ is affine in
coefficients. If Ψ = H^{-1/2} it is ⟨p, p + 2ΨLy⟩ - 2δᵀWf/n, without the penalty. Where the terms
cancel up to rounding, it is computed without rounding (`Moments`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, of_products
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._lines import Lines
from unassuming.geometry._spans import Spans, sweep
from unassuming.geometry.labels._moments import Moments
from unassuming.objectives import LeastNormScore

EDGE = 1 + 1e-12
"""Values up to here count as values within [-1, 1], as they do in `Labels.admits`."""
ROOTS = 1e-9
"""Errors of roots from here on, relative to the cut, are too large."""
BATCH_BYTES = 2**23
"""The size of the largest table of a batch: one gradient for each piece of each set."""


@final
@dataclass(frozen=True, eq=False)
class LabelModel:
    """A model with f = Φa, a quadratic objective and random labels."""

    phi: Array  # (n, d): Φ
    y: Array  # (n,): the observed labels, ±1
    uniforms: Array  # (m - 1, n): U; the fresh label is +1 iff U < (1 + f)/2
    pull: Array  # (k, n): the weighted gradient is z = pull r - push a
    push: Array  # (k, d)
    tie_wins: BoolArray  # (m - 1,): whether a tie between Z_0 and Z_i counts for the candidate
    whitened: float | None = None
    """If Ψ = H^{-1/2}, a bound of the error of ΨL as a factor of the smoother, LᵀΨᵀΨL; else None.

    Then all ranks depend on the fitted values alone."""
    row_weights: Array | None = None  # (n,): the diagonal of W/n, if Ψ = H^{-1/2}; else None
    moments: Moments | None = None  # what decides where double precision does not

    @classmethod
    def of(
        cls,
        phi: Array,
        y: Array,
        uniforms: Array,
        score: LeastNormScore,
        tie_wins: BoolArray,
        whitened: float | None = None,
        moments: Moments | None = None,
    ) -> LabelModel:
        """Read the matrices off a score that is linear in residuals and coefficients."""
        n, d = phi.shape
        pull = np.eye(n) if score.pullback is None else score.pullback
        push = score.subdifferential(np.eye(d))[0].T
        if score.weighting is not None:
            pull, push = score.weighting @ pull, score.weighting @ push
        weights = score.row_weights
        return cls(phi, y, uniforms, pull, push, tie_wins, whitened, weights, moments)

    @property
    def m(self) -> int:
        """Number of statistics."""
        return len(self.uniforms) + 1

    def follows_values(self, null: Array) -> bool:
        """Whether ranks depend on the fitted values alone, given the null space of Φ."""
        if self.whitened is not None:
            return True
        seen = self.pull.T @ self.push
        size = (np.abs(seen) @ np.abs(null)).max(axis=0, initial=0.0)
        return bool((np.abs(seen @ null).max(axis=0, initial=0.0) <= 1e-9 * size).all())

    @cached_property
    def rounding(self) -> float:
        """The rounding error of ΨL(y⁽ⁱ⁾ - y), summed label by label."""
        return 4 * EPS * float(np.linalg.norm(self.pull, axis=0).sum())

    @cached_property
    def errors(self) -> Array:
        """Bounds on the rounding errors of the entries of ΨLδ, however it is summed, (k,)."""
        return np.asarray(2 * of_products(len(self.y)) * np.abs(self.pull).sum(axis=1))


class _Lines(NamedTuple):
    """Fitted values f[0] + t f[1] on N lines, cut to |f| <= 1, and what Z_i - Z_0 is made of.

    Z_i - Z_0 = ⟨p, p + 2(c[0] + t c[1])⟩ - 2⟨δ, v[0] + t v[1]⟩.
    """

    ways: Array  # (2, N, d): the coefficients are ways[0] + t ways[1]
    f: Array  # (2, N, n)
    v: Array  # (2, N, n): zero where c is the gradient
    c: Array  # (2, N, k)
    v_error: Array  # (2, N): bounds on the rounding errors of ⟨δ, v⟩
    c_error: Array  # (2, N, k): bounds on those of c
    lo: Array  # (N,): the ends of the cut
    hi: Array

    @classmethod
    def of(cls, model: LabelModel, origins: Array, directions: Array) -> _Lines:
        phi, ways = model.phi, np.stack([origins, directions])
        n, d = phi.shape
        f = ways @ phi.T
        size = of_products(d) * (np.abs(ways) @ np.abs(phi).T)
        f[1] = np.where(np.abs(f[1]) <= size[1], 0.0, f[1])
        cut = _cut(model.y, *f)
        if model.row_weights is not None:
            v = model.row_weights * f
            v_error = 2 * ((size + of_products(n) * np.abs(f)) @ model.row_weights)
            c = np.zeros((*f.shape[:2], len(model.pull)))
            c[0] = model.pull @ model.y
            c_error = np.zeros_like(c)
            c_error[0] = model.errors
            return cls(ways, f, v, c, v_error, c_error, *cut)
        r = np.stack([model.y - f[0], -f[1]])
        terms = np.stack([np.abs(r[0]) + np.abs(f[0]), np.abs(r[1])])
        c = r @ model.pull.T - ways @ model.push.T
        c_error = terms @ np.abs(model.pull).T + np.abs(ways) @ np.abs(model.push).T
        c_error = of_products(n + d) * c_error + size @ np.abs(model.pull).T
        return cls(ways, f, np.zeros_like(f), c, np.zeros(f.shape[:2]), c_error, *cut)


def _cut(y: Array, f0: Array, f1: Array) -> tuple[Array, Array]:
    """Return the ends of {t : |f0 + t f1| <= 1} for each line; low > high if it is empty.

    It is empty too if an observed label is impossible on the whole line.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = (-EDGE - f0) / f1, (EDGE - f0) / f1
    still, out = f1 == 0, (np.abs(f0) > EDGE) | (np.abs(y - f0) >= 2)
    low = np.where(still, np.where(out, np.inf, -np.inf), np.minimum(one, two))
    high = np.where(still, np.where(out, -np.inf, np.inf), np.maximum(one, two))
    return low.max(axis=1), high.min(axis=1)


@final
@dataclass(frozen=True, eq=False)
class LabelLines(Lines):
    """Exact intersections of a label region with lines."""

    model: LabelModel
    ranks: Callable[[Array], IntArray]  # (N, d) -> (N,): the careful rank, for single points

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals on which, besides, no fitted value leaves [-1, 1]."""
        lines = _Lines.of(self.model, origins, directions)
        # Expand about a point within the cut: far away the digits of f[0] + t f[1] are lost.
        with np.errstate(invalid="ignore"):
            middle = lines.lo + (lines.hi - lines.lo) / 2
        away = (lines.lo > 0) | (lines.hi < 0)
        shift = np.where(away & np.isfinite(middle), middle, 0.0)
        lines = _Lines.of(self.model, origins + shift[:, None] * directions, directions)
        events = self._events(lines)
        out = []
        for q in qs:
            members = partial(self._members, origins, directions, q) if points else None
            spans = Spans.joined(*sweep(*events, q)).closed(shift, members)
            out.append(spans.split(len(directions)))
        return out

    def _members(
        self, origins: Array, directions: Array, q: int, line: IntArray, t: Array
    ) -> BoolArray:
        return self.ranks(origins[line] + t[:, None] * directions[line]) <= self.model.m - q

    def _events(self, lines: _Lines) -> tuple[IntArray, Array, IntArray]:
        """Return where the number of sets changes: lines, t and changes, with start and end."""
        alive, (sets, n) = np.flatnonzero(lines.lo <= lines.hi), self.model.uniforms.shape
        row_line, row_set = np.repeat(alive, sets), np.tile(np.arange(sets), len(alive))
        start = np.zeros(len(lines.lo), dtype=np.intp)
        found = []
        step = rows_that_fit(BATCH_BYTES, (n + 1) * (len(self.model.pull) + 8))
        for rows in slices(len(row_line), step):
            inside, events = self._pieces(lines, row_line[rows], row_set[rows])
            np.add.at(start, row_line[rows], inside)
            found += events
        found.append((alive, lines.lo[alive], start[alive]))
        found.append((alive, lines.hi[alive], np.zeros(len(alive), dtype=np.intp)))
        line, t, change = (np.concatenate(part) for part in zip(*found, strict=True))
        return line, t, change

    def _pieces(
        self, lines: _Lines, line: IntArray, number: IntArray
    ) -> tuple[BoolArray, list[tuple[IntArray, Array, IntArray]]]:
        """Follow pairs of a line and a set from flip to flip.

        Returns which of them begin inside the set, and the events where they enter or leave it.
        """
        model = self.model
        lo, hi = lines.lo[line, None], lines.hi[line, None]
        f0, f1 = lines.f[:, line]
        u = model.uniforms[number]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (2 * u - 1 - f0) / f1
        still, rising = f1 == 0, f1 > 0
        plus = np.where(still, u < (1 + f0) / 2, np.where(rising, t <= lo, t > lo))
        t = np.where(still | (t <= lo) | (t >= hi), np.inf, t)
        flips = int((t < np.inf).sum(axis=1).max(initial=0))
        order = np.argsort(t, axis=1)[:, :flips]
        t = np.take_along_axis(t, order, axis=1)
        turn = np.where(np.take_along_axis(rising, order, axis=1), 2.0, -2.0)

        (B, C), (B_error, C_error) = self._affine(lines, line, plus, order, turn)
        tied = (np.abs(B) <= B_error) & (np.abs(C) <= C_error)
        edges = np.concatenate([lo, t, hi], axis=1)
        begin, end = edges[:, :-1], np.minimum(edges[:, 1:], hi)
        if model.moments is not None:
            # Lines without end see no fitted value: nothing changes along them.
            far = np.where(np.isfinite(lo), np.maximum(np.abs(lo), np.abs(hi)), 0.0)
            error = C_error + far * B_error
            doubt = (np.abs(C) <= error + far * np.abs(B)) & (begin < end)
            doubt &= error >= ROOTS * far * np.abs(B)
            row, piece = np.nonzero(doubt)
            change = _labels(plus, order, row, piece) - model.y
            exact = model.moments.affine(change, *lines.ways[:, line[row]])
            B[row, piece], C[row, piece], tied[row, piece] = exact

        # It is positive before its root if it falls, behind it if it rises.
        with np.errstate(divide="ignore", invalid="ignore"):
            root = -C / B
        constant = tied | ~np.isfinite(root)
        level = np.where(tied, model.tie_wins[number][:, None], C > 0)
        inside = np.where(constant, level, np.where(root <= begin, B > 0, B < 0))
        crosses = ~constant & (root > begin) & (root < end)
        leaves = inside ^ crosses  # the state at the end of the piece
        real = t < np.inf
        row, piece = np.nonzero((inside[:, 1:] != leaves[:, :-1]) & real)
        at_flips = line[row], t[row, piece], np.where(inside[row, piece + 1], 1, -1)
        crosses[:, 1:] &= real
        row, piece = np.nonzero(crosses)
        at_roots = line[row], root[row, piece], np.where(inside[row, piece], -1, 1)
        return inside[:, 0], [at_flips, at_roots]

    def _affine(
        self, lines: _Lines, line: IntArray, plus: BoolArray, order: IntArray, turn: Array
    ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Return B and C of Z_i - Z_0 = Bt + C in every piece, and bounds on their errors."""
        model = self.model
        p = np.empty((len(line), order.shape[1] + 1, len(model.pull)))
        change = np.where(plus, 1.0, -1.0) - model.y
        p[:, 0] = change @ model.pull.T
        p[:, 1:] = model.pull.T[order] * turn[:, :, None]
        np.cumsum(p, axis=1, out=p)
        square = np.einsum("rpk,rpk->rp", p, p)
        size = np.abs(p)
        values, errors = [], []
        for power in (1, 0):
            c, v, c_error = lines.c[power, line], lines.v[power, line], lines.c_error[power, line]
            fits = np.empty(p.shape[:2])
            fits[:, 0] = (change * v).sum(axis=1)
            fits[:, 1:] = np.take_along_axis(v, order, axis=1) * turn
            np.cumsum(fits, axis=1, out=fits)
            value = 2 * ((p @ c[:, :, None])[:, :, 0] - fits)
            error = 2 * (size @ c_error[:, :, None])[:, :, 0]
            error += 2 * (np.abs(c) @ model.errors + lines.v_error[power, line])[:, None]
            if power == 0:
                value += square
                error += 2 * size @ model.errors
            values.append(value)
            errors.append(error)
        return (values[0], values[1]), (errors[0], errors[1])


def _labels(plus: BoolArray, order: IntArray, row: IntArray, piece: IntArray) -> Array:
    """Return the labels ±1 in some pieces of some rows, (N, n)."""
    place = np.full(plus.shape, order.shape[1])
    np.put_along_axis(place, order, np.arange(order.shape[1])[None, :], axis=1)
    return np.where(plus[row] ^ (place[row] < piece[:, None]), 1.0, -1.0)

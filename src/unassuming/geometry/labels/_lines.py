"""Label regions along lines: fresh labels flip at known places (docs/theory.md 8.1).

With f = Φa the fresh label y⁽ⁱ⁾_k flips where f_k = 2U_ik - 1. As long as none flips,
p = z_i - z_0 = ΨL(y⁽ⁱ⁾ - y) is constant, and Z_i - Z_0 = ⟨p, p + 2z_0⟩ is affine in coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._along_lines import Lines
from unassuming.geometry._spans import Spans, sweep
from unassuming.objectives import LeastNormScore

EDGE = 1 + 1e-12
"""Values up to here count as values within [-1, 1], as they do in `Labels.admits`."""
BATCH_BYTES = 2**23
"""The size of the largest table of a batch: one gradient for each piece of each set."""


@dataclass(frozen=True, eq=False)
class LabelModel:
    """What is needed of a model with f = Φa and a quadratic objective.

    Attributes
    ----------
    phi : array of shape (n, d)
        Φ.
    y : array of shape (n,)
        The observed labels, ±1.
    uniforms : array of shape (m - 1, n)
        U: the fresh label is +1 iff U < (1 + f)/2.
    pull, push : arrays of shape (k, n) and (k, d)
        The weighted gradient is z = pull r - push a.
    tie_wins : boolean array of shape (m - 1,)
        Whether a tie between Z_0 and Z_i counts for the candidate.
    """

    phi: Array
    y: Array
    uniforms: Array
    pull: Array
    push: Array
    tie_wins: BoolArray

    @classmethod
    def of(
        cls, phi: Array, y: Array, uniforms: Array, score: LeastNormScore, tie_wins: BoolArray
    ) -> LabelModel:
        """Read the two matrices off a score that is linear in residuals and coefficients."""
        n, d = phi.shape
        pull = np.eye(n) if score.pullback is None else score.pullback
        push = score.subdifferential(np.eye(d))[0].T
        if score.weighting is not None:
            pull, push = score.weighting @ pull, score.weighting @ push
        return cls(phi, y, uniforms, pull, push, tie_wins)

    @property
    def m(self) -> int:
        """Number of statistics."""
        return len(self.uniforms) + 1

    def follows_values(self, null: Array) -> bool:
        """Whether statistics compare alike wherever fitted values do, given the null space of Φ."""
        seen = self.pull.T @ self.push
        return bool(np.abs(seen @ null).max(initial=0.0) <= 1e-9 * np.abs(seen).max())

    @cached_property
    def rounding(self) -> float:
        """The rounding error of ΨL(y⁽ⁱ⁾ - y), added up label by label."""
        return 4 * EPS * float(np.linalg.norm(self.pull, axis=0).sum())


@dataclass(frozen=True, eq=False)
class _Lines:
    """Lines f0 + t f1 of fitted values, z0 + t z1 of gradients, cut to [lo, hi] where |f| <= 1."""

    f0: Array
    f1: Array
    z0: Array
    z1: Array
    z0_error: Array
    z1_error: Array
    lo: Array
    hi: Array

    @classmethod
    def of(cls, model: LabelModel, origins: Array, directions: Array) -> _Lines:
        phi, size = model.phi, np.abs(model.phi)
        unit = 4 * EPS * np.sqrt(phi.shape[1])
        f0, f1 = origins @ phi.T, directions @ phi.T
        f1 = np.where(np.abs(f1) <= unit * (np.abs(directions) @ size.T), 0.0, f1)
        r = model.y - f0
        z0 = r @ model.pull.T - origins @ model.push.T
        z1 = -(f1 @ model.pull.T) - directions @ model.push.T
        pull, push = (np.linalg.norm(part) for part in (model.pull, model.push))
        unit = 8 * EPS * sum(phi.shape)
        z0_error = unit * (pull * (_norm(r) + _norm(f0)) + push * _norm(origins))
        z1_error = unit * (pull * _norm(f1) + push * _norm(directions))
        return cls(f0, f1, z0, z1, z0_error, z1_error, *_cut(model.y, f0, f1))


def _norm(x: Array) -> Array:
    return np.asarray(np.linalg.norm(x, axis=-1))


def _cut(y: Array, f0: Array, f1: Array) -> tuple[Array, Array]:
    """Return the ends of {t : |f0 + t f1| <= 1} for each line; low > high if there is none.

    There is none either if an observed label is impossible on the whole line.
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
    """The region along many lines, at any levels, exactly.

    Attributes
    ----------
    model : LabelModel
    ranks : callable
        The careful rank of coefficient vectors, (N, d) -> (N,): it decides on single points.
    """

    model: LabelModel
    ranks: Callable[[Array], IntArray]

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals at which no fitted value leaves [-1, 1] either."""
        count = len(directions)
        lines = _Lines.of(self.model, origins, directions)
        # Expand about a point within the cut: far away the digits of f0 + t f1 are lost.
        with np.errstate(invalid="ignore"):
            middle = lines.lo + (lines.hi - lines.lo) / 2
        away = (lines.lo > 0) | (lines.hi < 0)
        shift = np.where(away & np.isfinite(middle), middle, 0.0)
        lines = _Lines.of(self.model, origins + shift[:, None] * directions, directions)
        alive = np.flatnonzero(lines.lo <= lines.hi)
        line, t, change = self._events(lines, alive)
        out = []
        for q in qs:
            spans = Spans.joined(*sweep(line, t, change, q))
            proper = spans.proper()
            touching, spans = spans.take(~proper), spans.take(proper).moved(shift)
            if points:
                where = np.concatenate([touching.line, np.arange(count)])
                at = np.concatenate([touching.moved(shift).ends[:, 0], np.zeros(count)])
                spans = self._with_points(spans, where, at, origins, directions, q)
            out.append(spans.split(count))
        return out

    def _with_points(
        self, spans: Spans, line: IntArray, t: Array, origins: Array, directions: Array, q: int
    ) -> Spans:
        """Add the members among the points that are not covered yet."""
        new = ~spans.cover(line, t) & np.isfinite(t)
        line, t = line[new], t[new]
        if not len(line):
            return spans
        member = self.ranks(origins[line] + t[:, None] * directions[line]) <= self.model.m - q
        each = np.unique(np.stack([line[member], t[member]]), axis=1)
        return spans.with_points(each[0].astype(np.intp), each[1])

    def _events(self, lines: _Lines, alive: IntArray) -> tuple[IntArray, Array, IntArray]:
        """Return where the number of sets changes: lines, t and changes, with start and end."""
        sets = self.model.m - 1
        row_line, row_set = np.repeat(alive, sets), np.tile(np.arange(sets), len(alive))
        n, k = self.model.phi.shape[0], len(self.model.pull)
        step = max(1, BATCH_BYTES // (8 * (n + 1) * (k + 8)))
        start = np.zeros(len(lines.lo), dtype=np.intp)
        found = []
        for first in range(0, len(row_line), step):
            rows = slice(first, first + step)
            inside, events = self._pieces(lines, row_line[rows], row_set[rows])
            np.add.at(start, row_line[rows], inside)
            found.append(events)
        found.append((alive, lines.lo[alive], start[alive]))
        found.append((alive, lines.hi[alive], np.zeros(len(alive), dtype=np.intp)))
        line, t, change = (np.concatenate(part) for part in zip(*found, strict=True))
        return line, t, change

    def _pieces(
        self, lines: _Lines, line: IntArray, number: IntArray
    ) -> tuple[BoolArray, tuple[IntArray, Array, IntArray]]:
        """Follow pairs of a line and a set from flip to flip.

        Returns which of them begin inside the set, and where they enter and leave it.
        """
        model = self.model
        lo, hi = lines.lo[line], lines.hi[line]
        f0, f1, u = lines.f0[line], lines.f1[line], model.uniforms[number]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (2 * u - 1 - f0) / f1
        still, rising = f1 == 0, f1 > 0
        plus = np.where(
            still, u < (1 + f0) / 2, np.where(rising, t <= lo[:, None], t > lo[:, None])
        )
        t = np.where(still | (t <= lo[:, None]) | (t >= hi[:, None]), np.inf, t)
        flips = int((t < np.inf).sum(axis=1).max(initial=0))
        order = np.argsort(t, axis=1)[:, :flips]
        t = np.take_along_axis(t, order, axis=1)
        turn = np.where(np.take_along_axis(rising, order, axis=1), 2.0, -2.0)

        # p = ΨL(y⁽ⁱ⁾ - y) in every piece, and the affine function ⟨p, p + 2(z0 + t z1)⟩.
        p = np.empty((len(line), flips + 1, len(model.pull)))
        p[:, 0] = (np.where(plus, 1.0, -1.0) - model.y) @ model.pull.T
        p[:, 1:] = model.pull.T[order] * turn[:, :, None]
        np.cumsum(p, axis=1, out=p)
        z0, z1 = lines.z0[line], lines.z1[line]
        square = np.einsum("rpk,rpk->rp", p, p)
        C = square + 2 * (p @ z0[:, :, None])[:, :, 0]
        B = 2 * (p @ z1[:, :, None])[:, :, 0]
        size, error = np.sqrt(square), model.rounding
        wide = 2 * (size + _norm(z0)[:, None])
        tied = np.abs(C) <= wide * error + 2 * size * lines.z0_error[line][:, None]
        tied &= np.abs(B) <= 2 * (_norm(z1)[:, None] * error + size * lines.z1_error[line][:, None])

        # It is positive before its root if it falls, behind it if it rises.
        edges = np.concatenate([lo[:, None], t, hi[:, None]], axis=1)
        begin, end = edges[:, :-1], np.minimum(edges[:, 1:], hi[:, None])
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
        events = tuple(np.concatenate(pair) for pair in zip(at_flips, at_roots, strict=True))
        return inside[:, 0], (events[0], events[1], events[2].astype(np.intp))

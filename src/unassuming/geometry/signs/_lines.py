"""Lines through a region of regression quantiles: exact, from breakpoint to breakpoint.

On a line the residuals, and the penalised coefficients, change sign once each. Between two such
breakpoints all statistics are constant, and the gradient changes by one row at a time. A breakpoint
itself has free indicators, so that it can be a member although its neighbours are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, TINY
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._lines import Lines
from unassuming.geometry._spans import SLIVER, Spans
from unassuming.geometry.signs._model import SignModel, least_squares_below
from unassuming.objectives import least_element

BATCH_BYTES = 2**23
"""The size of the largest table of a batch: one gradient for each piece of each line."""


class _Pieces(NamedTuple):
    """N lines cut into B + 1 pieces each, and the least ranks that breakpoints can have."""

    t: Array  # (N, B): the breakpoints in order, infinite where there are fewer
    ranks: IntArray  # (N, B + 1): between them
    at: IntArray  # (N, B): lower bounds of the ranks at the breakpoints themselves


@final
@dataclass(frozen=True, eq=False)
class SignLines(Lines):
    """Exact intersections of a region of regression quantiles with lines."""

    model: SignModel
    ranks: Callable[[Array], IntArray]  # (N, d) -> (N,): the careful rank, for single points

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals, and the breakpoints outside them that are members."""
        n, d = self.model.phi.shape
        width = (n + d + 1) * (4 * len(self.model.score.pull) + 2 * d + 8)
        out: list[list[Array]] = [[] for _ in qs]
        for some in slices(len(directions), rows_that_fit(BATCH_BYTES, width)):
            o, u = origins[some], directions[some]
            pieces = self._pieces(o, u)
            for found, q in zip(out, qs, strict=True):
                found += self._spans(o, u, pieces, q, points=points)
        return out

    def _spans(
        self, origins: Array, directions: Array, pieces: _Pieces, q: int, *, points: bool
    ) -> list[Array]:
        most, lines = self.model.m - q, len(directions)
        end = np.full((lines, 1), np.inf)
        edges = np.concatenate([-end, pieces.t, end], axis=1)
        inside = (pieces.ranks <= most) & (edges[:, :-1] < edges[:, 1:])
        line, piece = np.nonzero(inside)
        ends = np.stack([edges[line, piece], edges[line, piece + 1]], axis=1)
        members = partial(self._members, origins, directions, q) if points else None
        row, which = np.nonzero((pieces.at <= most) & np.isfinite(pieces.t))
        likely = row, pieces.t[row, which]
        spans = Spans.joined(line, ends).closed(np.zeros(lines), members, lambda _: likely)
        return spans.split(lines)

    def _members(
        self, origins: Array, directions: Array, q: int, line: IntArray, t: Array
    ) -> BoolArray:
        return self.ranks(origins[line] + t[:, None] * directions[line]) <= self.model.m - q

    def _pieces(self, origins: Array, directions: Array) -> _Pieces:
        model, score = self.model, self.model.score
        phi, (n, d) = model.phi, model.phi.shape
        r = model.y - origins @ phi.T
        r = np.where(np.abs(r) <= model.residual_error(origins, r), 0.0, r)
        f = directions @ phi.T
        size = 4 * EPS * np.sqrt(d) * (np.abs(directions) @ np.abs(phi).T)
        f = np.where(np.abs(f) <= size, 0.0, f)
        held = np.flatnonzero(score.penalty > 0)
        value, slope = np.concatenate([r, origins[:, held]], axis=1), -f
        slope = np.concatenate([slope, directions[:, held]], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(slope != 0, -value / slope, np.inf)
        # Signs far out at the beginning of the line; each turns at its breakpoint.
        start = np.where(slope != 0, -np.sign(slope), np.sign(value))
        order = np.argsort(t, axis=1)
        t = np.take_along_axis(t, order, axis=1)

        stuck = (start[:, :n] == 0) & (slope[:, :n] == 0)
        rho = np.where(stuck, 0.0, score.tau - (start[:, :n] < 0))
        turn = np.where(
            slope[:, :n] != 0, np.sign(slope[:, :n]), 0.0
        )  # of τ - b, at the breakpoint
        turn = np.take_along_axis(
            np.concatenate([turn, np.zeros((len(r), len(held)))], 1), order, 1
        )
        pulled = self._running(score.pull, rho, turn, order)
        signs = self._signs(start[:, n:], slope[:, n:], order - n, held)
        kinks = score.at_kinks(signs.reshape(-1, d))
        u = self._running(score.pullback, rho, turn, order) if kinks else pulled
        ranks = self._ranks(pulled, u, signs, stuck)
        at = self._at_breakpoints(t, pulled, turn, order, signs, stuck)
        return _Pieces(t, ranks, at)

    def _running(self, matrix: Array, rho: Array, turn: Array, order: IntArray) -> Array:
        """Return the product of a matrix (k, n) with τ - b in all pieces, (N, B + 1, k)."""
        padded = np.concatenate([matrix.T, np.zeros((order.shape[1] - rho.shape[1], len(matrix)))])
        out = np.empty((*rho.shape[:1], order.shape[1] + 1, len(matrix)))
        out[:, 0] = rho @ matrix.T
        out[:, 1:] = padded[order] * turn[:, :, None]
        return np.cumsum(out, axis=1, out=out)

    def _signs(self, start: Array, slope: Array, order: IntArray, held: IntArray) -> Array:
        """Return the signs of the coefficients in all pieces, (N, B + 1, d)."""
        lines, breaks = order.shape
        signs = np.ones((lines, breaks + 1, self.model.phi.shape[1]))
        for j, coefficient in enumerate(held):
            behind = np.cumsum(order == j, axis=1) > 0
            both = np.where(slope[:, j] != 0, np.sign(slope[:, j]), start[:, j])
            signs[:, 0, coefficient] = start[:, j]
            signs[:, 1:, coefficient] = np.where(behind, both[:, None], start[:, j, None])
        return signs

    def _ranks(self, pulled: Array, u: Array, signs: Array, stuck: BoolArray) -> IntArray:
        """Return the ranks in all pieces, (N, B + 1)."""
        score, fresh = self.model.score, self.model.fresh
        lines, pieces, k = pulled.shape
        flat = signs.reshape(lines * pieces, -1)
        z = score.of_sums(pulled.reshape(-1, k), u.reshape(lines * pieces, -1), flat)
        z = z.reshape(lines, pieces, k).copy()
        for line in np.flatnonzero(stuck.any(axis=1)):
            rows, kinks = stuck[line], (signs[line, 0] == 0) & (score.penalty > 0)
            A = np.concatenate([score.pull[:, rows], -score.weighting[:, kinks]], axis=1)
            fixed = np.where(kinks, 0.0, score.penalty * signs[line])
            base = pulled[line] - fixed @ score.weighting.T
            count, p = int(rows.sum()), score.penalty[kinks]
            lower, upper = (
                np.r_[np.full(count, score.tau - 1), -p],
                np.r_[np.full(count, score.tau), p],
            )
            A, lower, upper = (np.broadcast_to(x, (pieces, *x.shape)) for x in (A, lower, upper))
            z[line] = base + np.einsum("pkv,pv->pk", A, least_element(base, A, lower, upper))
        return fresh.ranks(z.reshape(-1, k), flat).reshape(lines, pieces)

    def _at_breakpoints(
        self,
        t: Array,
        pulled: Array,
        turn: Array,
        order: IntArray,
        signs: Array,
        stuck: BoolArray,
    ) -> IntArray:
        """Bound the ranks at breakpoints from below; those that nearly agree count as one.

        Where a coefficient passes through zero the bound is 1.
        """
        score, fresh, (lines, breaks) = self.model.score, self.model.fresh, t.shape
        size = np.where(np.isfinite(t), np.abs(t), 0.0)
        with np.errstate(invalid="ignore"):
            apart = t[:, 1:] - t[:, :-1] > SLIVER * np.maximum(size[:, 1:], size[:, :-1])
        first = np.concatenate([np.ones((lines, 1), dtype=np.bool_), apart], axis=1)
        group = np.cumsum(first.ravel()) - 1
        begin = np.flatnonzero(first.ravel())
        line, left = np.divmod(begin, breaks)
        right = np.append(begin[1:], lines * breaks) - line * breaks  # the piece behind the group

        columns = np.concatenate([score.pull.T, np.zeros((1, len(score.pull)))])
        free = columns[np.minimum(order, len(score.pull.T))] * turn[:, :, None] / 2
        free = free.reshape(lines * breaks, -1)
        pattern = signs[line, left]
        # Indicators that stay free all along, and subgradients where coefficients stay zero.
        extra = (stuck @ np.abs(score.pull).T / 2)[line]
        shift = ((score.tau - 0.5) * stuck @ score.pull.T)[line]
        z = (pulled[line, left] + pulled[line, right]) / 2 + shift
        if score.penalised:
            z = z - (pattern * score.penalty) @ score.weighting.T
            extra = extra + ((pattern == 0) * score.penalty) @ np.abs(score.weighting).T
        unit = z / np.maximum(np.linalg.norm(z, axis=1), TINY)[:, None]
        along = np.abs(np.einsum("bk,bk->b", free, unit[group]))
        support = np.add.reduceat(along, begin) + np.einsum("bk,bk->b", np.abs(unit), extra)
        spread = np.add.reduceat(np.abs(free, out=free), begin, axis=0) + extra
        floor = least_squares_below(z, spread, support)
        least = np.empty(len(begin), dtype=np.intp)
        for rows, table in fresh.by_pattern(pattern):
            least[rows] = table.least_ranks(floor[rows])
        turned = np.add.reduceat((order.ravel() >= len(score.pull.T)).astype(np.intp), begin) > 0
        least[turned] = 1
        return np.asarray(least[group].reshape(lines, breaks))

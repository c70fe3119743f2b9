"""Regions of regression quantiles on lines: exact, from breakpoint to breakpoint.

On a line the residuals, and the penalised coefficients, change sign once each. Between two such
breakpoints all statistics are constant, and the gradient changes by one row at a time. A breakpoint
itself has a free indicator, so that it can be a member although its neighbours are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import EPS
from unassuming._typing import Array, IntArray
from unassuming.geometry.lines import Lines, Spans, membership
from unassuming.geometry.signs.model import SignModel

BATCH_BYTES = 2**23
"""The size of the largest table of a batch: one gradient for each piece of each line."""


@final
@dataclass(frozen=True, eq=False)
class SignLines(Lines):
    """Exact intersections of a region of regression quantiles with lines."""

    model: SignModel
    ranks: Callable[[Array], IntArray]  # (N, d) -> (N,): for single points

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals, and the breakpoints outside them that are members."""
        n, d = self.model.phi.shape
        out: list[list[Array]] = [[] for _ in qs]
        step = rows_that_fit(BATCH_BYTES, (n + d) * 4 * (len(self.model.pull) + d))
        for some in slices(len(directions), step):
            o, u = origins[some], directions[some]
            t, ranks, least = self._pieces(o, u)
            far, still = np.full((len(o), 1), np.inf), np.zeros(len(o))
            edges = np.concatenate([-far, t, far], axis=1)
            for found, q in zip(out, qs, strict=True):
                most = self.model.m - q
                members = membership(self.ranks, o, u, most) if points else None
                line, piece = np.nonzero((ranks <= most) & (edges[:, :-1] < edges[:, 1:]))
                ends = np.stack([edges[line, piece], edges[line, piece + 1]], axis=1)
                row, at = np.nonzero(np.isfinite(t) & (least <= most))
                closed = Spans.joined(line, ends).closed(still, members, (row, t[row, at]))
                found += closed.split(len(o))
        return out

    def _pieces(self, origins: Array, directions: Array) -> tuple[Array, IntArray, IntArray]:
        """Return breakpoints (N, B), ranks between them (N, B + 1), and the least ranks at them."""
        model, (n, d) = self.model, self.model.phi.shape
        size = 4 * EPS * np.abs(model.phi).T
        r, f = model.y - origins @ model.phi.T, directions @ model.phi.T
        r[np.abs(r) <= np.abs(origins) @ size + 4 * EPS * np.abs(model.y)] = 0.0
        f[np.abs(f) <= np.abs(directions) @ size] = 0.0
        value = np.concatenate([r, origins[:, model.held]], axis=1)
        slope = np.concatenate([-f, directions[:, model.held]], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(slope != 0, -value / slope, np.inf)
        order = np.argsort(t, axis=1)
        t = np.take_along_axis(t, order, axis=1)
        # Signs at the beginning of the line; each turns at its breakpoint.
        start = np.where(slope != 0, -np.sign(slope), np.sign(value))
        turn = np.take_along_axis(np.sign(slope[:, :n]), np.minimum(order, n - 1), 1)
        turn = np.where(order < n, turn, 0.0)  # of τ - b
        rho = model.tau - (start[:, :n] < 0)
        z = self._running(model.pull, rho, turn, order)
        signs = np.ones((*z.shape[:2], d))
        for j, coefficient in enumerate(model.held):
            behind = np.cumsum(order == n + j, axis=1) > 0
            turned = np.where(slope[:, j + n] != 0, -start[:, n + j], start[:, n + j])
            signs[:, 0, coefficient] = start[:, n + j]
            signs[:, 1:, coefficient] = np.where(behind, turned[:, None], start[:, n + j, None])
        flat = signs.reshape(-1, d)
        zero = (flat[:, model.held] == 0).any()
        u = self._running(model.L, rho, turn, order) if zero else np.zeros((*z.shape[:2], d))
        z = model.of_sums(z.reshape(-1, z.shape[2]), u.reshape(-1, d), flat).reshape(z.shape)
        ranks = self._ranks(signs, (z * z).sum(axis=2), 0.0)
        # At a breakpoint signs may be zero, and z_0 is the shortest between its neighbours; where
        # more is free at once, any rank is possible.
        at, step = np.sign(signs[:, :-1] + signs[:, 1:]), np.diff(z, axis=1)
        square = np.maximum((step * step).sum(axis=2), np.finfo(float).tiny)
        share = np.clip(-(z[:, :-1] * step).sum(axis=2) / square, 0, 1)
        shortest = z[:, :-1] + share[..., None] * step
        least = self._ranks(at, (shortest * shortest).sum(axis=2), 1e-9)
        with np.errstate(invalid="ignore"):  # inf - inf
            near = np.diff(t, axis=1) <= 1e-9 * np.abs(t[:, 1:])
        least[:, 1:][near] = least[:, :-1][near] = 0
        stays = (start[:, :n] == 0).any(axis=1)
        least[stays | (start[:, n:] == 0).any(axis=1)] = 0
        for line in np.flatnonzero(stays):
            ends = t[line, np.isfinite(t[line])]
            far = 1 + np.abs(ends).max(initial=0.0)
            ends = np.concatenate([[-far], ends, [far]])
            middle = (ends[1:] + ends[:-1]) / 2
            points = origins[line] + middle[:, None] * directions[line]
            ranks[line, : len(middle)] = self.ranks(points)
        return t, ranks, least

    def _ranks(self, signs: Array, Z0: Array, slack: float) -> IntArray:
        """Return the ranks of Z_0 (N, P), or of a little less, for signs (N, P, d)."""
        ranks, Z0 = np.empty(Z0.size, dtype=np.intp), Z0.ravel()
        for some, table in self.model.tables(signs.reshape(len(ranks), -1)):
            ranks[some] = table.ranks((1 - slack) * Z0[some] - 4 * (slack > 0) * table.tolerance)
        return ranks.reshape(signs.shape[:2])

    def _running(self, matrix: Array, rho: Array, turn: Array, order: IntArray) -> Array:
        """Return the product of a matrix (k, n) with τ - b in all pieces, (N, B + 1, k)."""
        out = np.empty((len(rho), order.shape[1] + 1, len(matrix)))
        out[:, 0] = rho @ matrix.T
        columns = matrix.T[np.minimum(order, matrix.shape[1] - 1)]
        np.multiply(columns, turn[..., None], out=out[:, 1:])
        return np.cumsum(out, axis=1, out=out)

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
from unassuming.geometry.lines import SLIVER, Lines, Spans, membership
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
        for some in slices(
            len(directions), rows_that_fit(BATCH_BYTES, (n + d) * 4 * (len(self.model.pull) + d))
        ):
            o, u = origins[some], directions[some]
            t, ranks, least = self._pieces(o, u)
            far = np.full((len(o), 1), np.inf)
            edges = np.concatenate([-far, t, far], axis=1)
            for found, q in zip(out, qs, strict=True):
                most = self.model.m - q
                members = membership(self.ranks, o, u, most)
                line, piece = np.nonzero((ranks <= most) & (edges[:, :-1] < edges[:, 1:]))
                spans = Spans.joined(
                    line, np.stack([edges[line, piece], edges[line, piece + 1]], axis=1)
                )
                row, at = np.nonzero(least <= most)
                closed = spans.closed(
                    np.zeros(len(o)), members if points else None, (row, t[row, at])
                )
                found += closed.split(len(o))
        return out

    def _pieces(self, origins: Array, directions: Array) -> tuple[Array, IntArray, IntArray]:
        """Return the breakpoints t (N, B), the ranks between them (N, B + 1), and about at them."""
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
        turn = np.take_along_axis(
            np.where(slope[:, :n] != 0, np.sign(slope[:, :n]), 0.0), np.minimum(order, n - 1), 1
        )
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
        ranks = np.empty(len(flat), dtype=np.intp)
        least = np.ones(t.shape, dtype=np.intp)
        # At a breakpoint the indicator is free: Z_0 is the least on the segment of its gradients.
        column = model.pull.T[np.minimum(order, n - 1)] * turn[..., None]
        square = np.maximum((column**2).sum(axis=-1), np.finfo(float).tiny)
        share = np.clip(-(z[:, :-1] * column).sum(axis=-1) / square, 0, 1)
        shortest = ((z[:, :-1] + share[..., None] * column) ** 2).sum(axis=-1)
        padded = np.concatenate([shortest, shortest[:, -1:]], axis=1).ravel()
        at = np.empty(len(flat), dtype=np.intp)
        for some, table in model.tables(flat):
            ranks[some] = table.ranks((z.reshape(len(flat), -1)[some] ** 2).sum(axis=1))
            at[some] = table.ranks(padded[some])
        ranks, least = ranks.reshape(signs.shape[:2]), at.reshape(signs.shape[:2])[:, :-1].copy()
        size = np.where(np.isfinite(t), np.abs(t), 0.0)
        with np.errstate(invalid="ignore"):
            same = np.diff(t, axis=1) <= SLIVER * np.maximum(size[:, 1:], size[:, :-1])
        least[:, 1:][same | (order[:, 1:] >= n)] = 1
        least[:, :-1][same | (order[:, :-1] >= n)] = 1
        stuck = (start[:, :n] == 0).any(
            axis=1
        )  # a residual that stays zero: free indicators all along
        least[stuck | (signs == 0).any(axis=(1, 2))] = 1
        least[~np.isfinite(t)] = model.m
        for line in np.flatnonzero(stuck):
            ends = t[line, np.isfinite(t[line])]
            far = 1 + np.abs(ends).max(initial=0.0)
            ends = np.concatenate([[-far], ends, [far]])
            middle = (ends[1:] + ends[:-1]) / 2
            ranks[line, : len(middle)] = self.ranks(
                origins[line] + middle[:, None] * directions[line]
            )
        return t, ranks, least

    def _running(self, matrix: Array, rho: Array, turn: Array, order: IntArray) -> Array:
        """Return the product of a matrix (k, n) with τ - b in all pieces, (N, B + 1, k)."""
        out = np.empty((len(rho), order.shape[1] + 1, len(matrix)))
        out[:, 0] = rho @ matrix.T
        np.multiply(
            matrix.T[np.minimum(order, matrix.shape[1] - 1)], turn[..., None], out=out[:, 1:]
        )
        return np.cumsum(out, axis=1, out=out)

"""Piecewise quadratic regions on lines: exact intervals, single points included.

Lines on which all sets share the same pieces are followed together, all others one by one. Where a
coefficient crosses a kink, or a residual a jump of the loss, the statistics jump, and the rank
itself decides on these points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.grid_lines import GridLines
from unassuming.geometry.lines import Lines, membership
from unassuming.geometry.piecewise.model import Model
from unassuming.geometry.piecewise.pieces import (
    BATCH_BYTES,
    Pieces,
    own_pieces,
    shared_pieces,
)


@final
@dataclass(frozen=True, eq=False)
class PiecewiseLines(Lines):
    """Exact intersections of a piecewise quadratic region with lines."""

    model: Model
    ranks: Callable[[Array], IntArray]  # (N, d) -> (N,): for single points

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals; on lines on which a residual stays at a jump, those of a grid."""
        m = len(self.model.wins) + 1
        out: list[list[Array]] = [[np.empty((0, 2))] * len(directions) for _ in qs]
        stuck = np.flatnonzero(self._stuck(origins, directions))
        # Where Z_0 is a minimum over free derivatives all along, only membership is known.
        grid = GridLines(self.ranks, m).intervals(origins[stuck], directions[stuck], qs)
        for found, some in zip(out, grid, strict=True):
            for line, ends in zip(stuck, some, strict=True):
                found[line] = ends
        shift = self._nearest(origins, directions)
        for lines, pieces in self._batches(origins, directions, shift, stuck, points):
            o, d = origins[lines], directions[lines]
            place = partial(pieces.crossed.set_on_kinks, self.model.penalty)
            for spans, q in zip(out, qs, strict=True):
                members = membership(self.ranks, o, d, m - q, place) if points else None
                closed = pieces.events.spans(q).closed(shift[lines], members, pieces.likely(q))
                for line, ends in zip(lines, closed.split(len(lines)), strict=True):
                    spans[line] = ends
        return out

    def _batches(
        self, origins: Array, directions: Array, shift: Array, stuck: IntArray, points: bool
    ) -> Iterator[tuple[IntArray, Pieces]]:
        """Yield batches of lines whose sets share their pieces; then all others, one by one."""
        model = self.model
        single = model.penalty.held(origins, directions)[0].any(axis=1)
        single |= len(model.loss.knots) > 0
        common, pieces = np.flatnonzero(~single), model.penalty.kinks.size + 1
        step = rows_that_fit(BATCH_BYTES, len(model.wins) * max(len(model.y), pieces))
        for batch in slices(len(common), step):
            lines = common[batch]
            parts = origins[lines], directions[lines], shift[lines], points
            yield lines, shared_pieces(model, *parts)
        for line in np.setdiff1d(np.flatnonzero(single), stuck):
            alone = origins[line], directions[line], float(shift[line])
            yield np.array([line]), own_pieces(model, *alone)

    def _stuck(self, origins: Array, directions: Array) -> BoolArray:
        """On which lines a residual stays at a jump, or a coefficient at a kink of both parts."""
        model = self.model
        knots = model.loss.knots[model.loss.jumps != 0]
        held = model.penalty.held(origins, directions)[0].any(axis=1) & (len(model.loss.knots) > 0)
        r, size = model.residuals(origins, directions), 8 * EPS * np.abs(model.phi).T
        still = np.abs(r[1]) <= np.abs(directions) @ size
        error = np.abs(origins) @ size + 8 * EPS * np.abs(model.y)
        at = (np.abs(r[0][..., None] - knots) <= error[..., None]).any(axis=-1)
        return np.asarray((still & at).any(axis=1) | held)

    def _nearest(self, origins: Array, directions: Array) -> Array:
        """Return the t to expand about: 0, unless the residuals are far smaller elsewhere."""
        # A quadratic in t loses digits if it is expanded about a point that is too far away.
        r = self.model.residuals(origins, directions)
        square, cross = (r[1] * r[1]).sum(axis=1), (r[0] * r[1]).sum(axis=1)
        t = -cross / np.where(square > 0, square, 1.0)
        return np.where(-t * cross > 0.99 * (r[0] * r[0]).sum(axis=1), t, 0.0)

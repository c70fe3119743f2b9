"""Piecewise quadratic regions along lines: exact intervals, one-point intervals included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._along_lines import Lines
from unassuming.geometry._spans import Spans
from unassuming.geometry.piecewise._breakpoints import on_kinks
from unassuming.geometry.piecewise._kinked_pieces import Tracks
from unassuming.geometry.piecewise._model import LineModel
from unassuming.geometry.piecewise._pieces import Pieces

BATCH_BYTES = 2**20
"""The size of one table of a batch of lines: near that of a cache."""


@final
@dataclass(frozen=True, eq=False)
class PiecewiseLines(Lines):
    """The region along many lines, at any levels.

    Attributes
    ----------
    model : LineModel
    ranks : callable
        The careful rank of coefficient vectors, (N, d) -> (N,): it decides on single points.
    """

    model: LineModel
    ranks: Callable[[Array], IntArray]

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals, lines with common pieces in batches."""
        out: list[list[Array]] = [[np.empty((0, 2))] * len(directions) for _ in qs]
        # A power of two: scaling rounds nothing.
        scale = np.ldexp(1.0, -np.frexp(np.abs(directions).max(axis=1, initial=0.0))[1])
        directions = directions * scale[:, None]
        shift = self._nearest(origins, directions)
        for lines, found in self._batches(origins, directions, shift):
            for number, q in enumerate(qs):
                spans = found.stretches(q)
                proper = spans.proper()
                touching, spans = spans.take(~proper), spans.take(proper)
                if points:
                    line, t = found.likely(q, spans)
                    zero = np.arange(len(lines))
                    line = np.concatenate([line, touching.line, zero])
                    again = touching.ends[:, 0] + shift[lines][touching.line]
                    t = np.concatenate([t, again, np.zeros(len(lines))])
                    spans = spans.moved(shift[lines])
                    line, t = _distinct(line, t, spans)
                    a = on_kinks(
                        self.model.steps, found.crossed, line, t, origins[lines], directions[lines]
                    )
                    member = self._members(a, q)
                    spans = spans.with_points(line[member], t[member])
                else:
                    spans = spans.moved(shift[lines])
                for j, ends in zip(lines, spans.split(len(lines)), strict=True):
                    out[number][j] = ends * scale[j]
        return out

    def _members(self, a: Array, q: int) -> BoolArray:
        if len(a) == 0:
            return np.zeros(0, dtype=np.bool_)
        return self.ranks(a) <= self.model.perturbations.m - q

    def _nearest(self, origins: Array, directions: Array) -> Array:
        """Return the t to expand about: 0, unless the residuals are far smaller elsewhere.

        Quadratics in t lose the digits by which their origin is too far away.
        """
        r0, r1 = self.model.residuals(origins, directions)
        square = (r1 * r1).sum(axis=1)
        t = -(r0 * r1).sum(axis=1) / np.where(square > 0, square, 1.0)
        near = ((r0 + t[:, None] * r1) ** 2).sum(axis=1)
        return np.where((square > 0) & (near < 0.01 * (r0 * r0).sum(axis=1)), t, 0.0)

    def _batches(
        self, origins: Array, directions: Array, shift: Array
    ) -> Iterator[tuple[IntArray, Pieces | Tracks]]:
        """Yield batches of lines with common pieces; then, one by one, all others."""
        model = self.model
        bent = len(model.kinks.thresholds) > 0
        single = np.asarray(model.faces(origins, directions).any(axis=1) | bent)
        common = np.flatnonzero(~single)
        n, m = len(model.y), model.perturbations.m
        pieces = model.jumps.values.size + 1
        step = max(1, BATCH_BYTES // (8 * m * max(n, pieces)))
        for start in range(0, len(common), step):
            lines = common[start : start + step]
            yield lines, Pieces.along(model, origins[lines], directions[lines], shift[lines])
        for line in np.flatnonzero(single):
            found = Tracks.along(model, origins[line], directions[line], float(shift[line]))
            yield np.array([line]), found


def _distinct(line: IntArray, t: Array, spans: Spans) -> tuple[IntArray, Array]:
    """Return the points that the intervals do not cover, each once."""
    outside = ~spans.cover(line, t)
    points = np.unique(np.stack([line[outside], t[outside]], axis=1), axis=0)
    return points[:, 0].astype(np.intp), points[:, 1]

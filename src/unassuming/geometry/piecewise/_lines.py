"""Piecewise quadratic regions along lines: exact intervals, single points included.

Lines on which all sets share the same pieces are followed together, all others one by one. Where a
coefficient crosses a kink the statistics jump, so the careful rank decides on these points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry._grid_lines import GridLines
from unassuming.geometry._lines import Lines
from unassuming.geometry.piecewise._breakpoints import Breakpoints
from unassuming.geometry.piecewise._kinked_pieces import KinkedPieces
from unassuming.geometry.piecewise._model import LineModel
from unassuming.geometry.piecewise._pieces import Pieces

BATCH_BYTES = 2**20
"""The size of one table of a batch of lines: near that of a cache."""


@final
@dataclass(frozen=True, eq=False)
class PiecewiseLines(Lines):
    """Exact intersections of a piecewise quadratic region with lines."""

    model: LineModel
    ranks: Callable[[Array], IntArray]  # (N, d) -> (N,): the careful rank, for single points

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the intervals."""
        held = self._held(origins, directions)
        if not held.any():
            return self._followed(origins, directions, qs, points=points)
        # Where Z_0 is a minimum over free derivatives all along, only membership is known.
        grid = GridLines(self.ranks, self.model.perturbations.m)
        some = grid.intervals(origins[held], directions[held], qs)
        rest = self._followed(origins[~held], directions[~held], qs, points=points)
        return [
            [(few if on else many).pop(0) for on in held]
            for few, many in zip(some, rest, strict=True)
        ]

    def _followed(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool
    ) -> list[list[Array]]:
        """Return the intervals of lines whose pieces are known."""
        out: list[list[Array]] = [[np.empty((0, 2))] * len(directions) for _ in qs]
        # A power of two: scaling rounds nothing.
        scale = np.ldexp(1.0, -np.frexp(np.abs(directions).max(axis=1, initial=0.0))[1])
        directions = directions * scale[:, None]
        shift = self._nearest(origins, directions)
        for lines, found in self._batches(origins, directions, shift):
            o, d = origins[lines], directions[lines]
            for number, q in enumerate(qs):
                members = partial(self._members, found.crossed, o, d, q) if points else None
                stretches, likely = found.stretches(q), partial(found.likely, q)
                spans = stretches.closed(shift[lines], members, likely)
                for j, ends in zip(lines, spans.split(len(lines)), strict=True):
                    out[number][j] = ends * scale[j]
        return out

    def _members(
        self, crossed: Breakpoints, o: Array, d: Array, q: int, line: IntArray, t: Array
    ) -> BoolArray:
        a = o[line] + t[:, None] * d[line]
        crossed.set_on_kinks(a, self.model.steps, line, t)
        return self.ranks(a) <= self.model.perturbations.m - q

    def _held(self, origins: Array, directions: Array) -> BoolArray:
        """On which lines an unperturbed residual stays where the derivative of the loss jumps."""
        kinks, model = self.model.kinks, self.model
        if not kinks.jumps.size:
            return np.zeros(len(directions), dtype=np.bool_)
        r0, r1 = model.residuals(origins, directions)
        size = 8 * EPS * (1 + np.sqrt(model.phi.shape[1])) * np.abs(model.phi).T
        still = np.abs(r1) <= np.abs(directions) @ size
        error = np.abs(origins) @ size + 8 * EPS * np.abs(model.y)
        at = (np.abs(r0[..., None] - kinks.thresholds) <= error[..., None]).any(axis=-1)
        return np.asarray((still & at).any(axis=1))

    def _nearest(self, origins: Array, directions: Array) -> Array:
        """Return the t to expand about: 0, unless the residuals are far smaller elsewhere.

        A quadratic in t loses digits if it is expanded about a point that is too far away.
        """
        r0, r1 = self.model.residuals(origins, directions)
        square = (r1 * r1).sum(axis=1)
        t = -(r0 * r1).sum(axis=1) / np.where(square > 0, square, 1.0)
        near = ((r0 + t[:, None] * r1) ** 2).sum(axis=1)
        return np.where((square > 0) & (near < 0.01 * (r0 * r0).sum(axis=1)), t, 0.0)

    def _batches(
        self, origins: Array, directions: Array, shift: Array
    ) -> Iterator[tuple[IntArray, Pieces | KinkedPieces]]:
        """Yield batches of lines whose sets share their pieces; then all others, one by one."""
        model = self.model
        bent = len(model.kinks.thresholds) > 0
        single = np.asarray(model.faces(origins, directions).any(axis=1) | bent)
        common, pieces = np.flatnonzero(~single), model.jumps.values.size + 1
        step = rows_that_fit(BATCH_BYTES, model.perturbations.m * max(len(model.y), pieces))
        for batch in slices(len(common), step):
            lines = common[batch]
            yield lines, Pieces.along(model, origins[lines], directions[lines], shift[lines])
        for line in np.flatnonzero(single):
            found = KinkedPieces.along(model, origins[line], directions[line], float(shift[line]))
            yield np.array([line]), found

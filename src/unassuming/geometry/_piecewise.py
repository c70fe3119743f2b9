"""Piecewise quadratic regions along lines: exact intervals, one-point intervals included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.geometry._breakpoints import on_kinks
from unassuming.geometry._faces import Faces
from unassuming.geometry._gradients import LineModel
from unassuming.geometry._pieces import Pieces
from unassuming.geometry._sweep import covers, merge

BATCH_BYTES = 2**22
"""The size of one table of a batch of lines: near that of a cache."""


@dataclass(frozen=True, eq=False)
class PiecewiseLines:
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
        """Return the closed intervals of t on origins + t directions, for each q and each line.

        Each is an array (k, 2), sorted and disjoint, of the t that lie in at least q of the sets
        {Z_0 ≼ Z_i}. Stretches are the closures of what holds on both sides of every breakpoint;
        a breakpoint (or t = 0) outside them is a point [t, t] if it is a member. Without
        ``points`` these are left out.

        Parameters
        ----------
        origins, directions : arrays of shape (N, d)
        qs : sequence of int
        """
        out: list[list[Array]] = [[np.empty((0, 2))] * len(directions) for _ in qs]
        # A power of two: scaling rounds nothing.
        scale = np.ldexp(1.0, -np.frexp(np.abs(directions).max(axis=1, initial=0.0))[1])
        directions = directions * scale[:, None]
        shift = self._nearest(origins, directions)
        for lines, found in self._batches(origins, directions, shift):
            for number, q in enumerate(qs):
                spans = found.stretches(q)
                proper = [span for span, _ in spans]
                asked = found.likely(q, proper) if points else [np.empty(0)] * len(lines)
                for j, line in enumerate(lines):
                    absolute = proper[j] + shift[line]
                    if points:
                        zero = np.zeros(int(not covers(absolute, np.zeros(1))[0]))
                        t = np.unique(np.concatenate([asked[j], spans[j][1] + shift[line], zero]))
                        t = t[~covers(absolute, t)]
                        a = [
                            on_kinks(
                                self.model.steps, found.crossed, j, x, origins[line],
                                directions[line],
                            )
                            for x in t
                        ]  # fmt: skip
                        absolute = self._with_members(absolute, t, a, q)
                    out[number][line] = absolute * scale[line]
        return out

    def _with_members(self, intervals: Array, t: Array, a: list[Array], q: int) -> Array:
        if len(t) == 0:
            return intervals
        member = self.ranks(np.array(a)) <= self.model.perturbations.m - q
        both = np.concatenate([intervals, np.repeat(t[member, None], 2, axis=1)])
        joined, alone = merge(both)
        both = np.concatenate([joined, np.repeat(alone[:, None], 2, axis=1)])
        return both[np.argsort(both[:, 0])]

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
    ) -> Iterator[tuple[IntArray, Pieces | Faces]]:
        """Yield batches of lines with common pieces; then, one by one, all others."""
        model = self.model
        single = model.faces(origins, directions).any(axis=1)
        if len(model.kinks.thresholds):
            single[:] = True
        common = np.flatnonzero(~single)
        n, m = len(model.y), model.perturbations.m
        pieces = model.jumps.values.size + 1
        step = max(1, BATCH_BYTES // (8 * m * max(n, pieces)))
        for start in range(0, len(common), step):
            lines = common[start : start + step]
            yield lines, Pieces.along(model, origins[lines], directions[lines], shift[lines])
        for line in np.flatnonzero(single):
            found = Faces.along(model, origins[line], directions[line], float(shift[line]))
            yield np.array([line]), found

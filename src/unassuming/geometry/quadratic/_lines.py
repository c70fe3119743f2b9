"""Quadratic regions along lines: each set is an interval of t (docs/theory.md 4.1).

Z_i - Z_0 is a quadratic in t along a line. Its roots, computed without cancellation, are the ends
of the set, and the region is where at least q intervals overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.quadratic._forms import FormMaker


@final
@dataclass(frozen=True, eq=False)
class LineQuadratics:
    """n (Z_i - Z_0) = c - 2bt - At² along N lines, arrays of shape (N, m - 1)."""

    A: Array
    b: Array
    c: Array
    noise: Array  # the rounding error of A: a line with A up to it is free
    empty: BoolArray

    @property
    def free(self) -> BoolArray:
        """Lines that never leave the set (if they meet it at all)."""
        return self.noise >= self.A


def along_lines(
    maker: FormMaker, start: Array, step: Array, error: Array, start_error: Array | None = None
) -> LineQuadratics:
    """Restrict the sets to lines of fitted values f̂ + start + t step, each (N, n).

    ``error`` and ``start_error`` (N,) bound the rounding errors of ``step`` and ``start``.
    """
    start_error = error if start_error is None else start_error
    shape, unit = (len(step), maker.perturbations.m - 1), 8 * EPS * sum(maker.q.shape)
    A, b, c, noise = np.empty((4, *shape))
    complement = maker.complement(len(step))
    for lines, which in complement.blocks(*shape):
        at, perturbations = (lines, which), maker.perturbations.take(which)
        slope, seen, zero = maker.slope[which], maker.seen[which], maker.tied[which]
        starts = [start[lines]] if start[lines].any() else []
        vectors = np.stack([perturbations.apply(x) - x[:, None, :] for x in (step[lines], *starts)])
        products = complement.products(vectors)
        A[at] = products[0, 0]
        b[at] = np.where(zero, 0.0, -_dot(vectors[0], slope))
        c[at] = np.where(zero, 0.0, _dot(seen, seen) + maker.margin[which])
        if starts:
            base, here = vectors[1], products[1, 1]
            b[at] += products[0, 1]
            c[at] = c[at] + np.where(zero, 0.0, 2 * _dot(base, slope)) - here
            # A tied set consists of its free directions: a start among them, up to rounding, is in.
            away = np.linalg.norm(base, axis=-1)
            off = unit * away + 2 * start_error[lines, None]
            within = zero & (here <= off * (2 * away + off))
            b[at], c[at] = np.where(within, 0.0, b[at]), np.where(within, 0.0, c[at])
        size = np.linalg.norm(vectors[0], axis=-1)
        off = unit * size + 2 * error[lines, None]
        noise[at] = off * (2 * size + off)
    return LineQuadratics(A, b, c, noise, np.broadcast_to(maker.without_points, shape))


def _dot(x: Array, y: Array) -> Array:
    return np.asarray((x * y).sum(axis=-1))


def exits(lines: LineQuadratics, inside: BoolArray | None = None) -> Array:
    """Return the largest t >= 0 in each set on rays from the estimate, shape (N, m - 1).

    Infinity on free rays, minus infinity for sets without a point. ``inside`` as in `intervals`.
    """
    A = np.where(lines.free, 1.0, lines.A)
    b, c = lines.b, np.maximum(lines.c, 0.0)
    root = np.sqrt(b**2 + A * c)
    with np.errstate(divide="ignore", invalid="ignore"):
        towards = np.where(c > 0, c / (b + root), 0.0)  # b >= 0: no cancellation
    t = np.where(b >= 0, towards, (root - b) / A)
    out = lines.empty if inside is None else lines.empty | (lines.free & ~inside)
    return np.where(out, -np.inf, np.where(lines.free, np.inf, t))


def intervals(lines: LineQuadratics, inside: BoolArray | None = None) -> tuple[Array, Array]:
    """Return the ends of each set on each line, (N, m - 1) twice; an empty one has low > high.

    On a free line Z_i - Z_0 is constant, and zero if the two tie identically there. So the line
    lies in the set as a whole or not at all, and the tie order may decide it (4). ``inside``
    (N, m - 1), or an array that broadcasts to it, says which; without it, the sign of c does.
    """
    A = np.where(lines.free, 1.0, lines.A)
    disc = lines.b**2 + A * lines.c
    hit = disc >= 0
    root = np.sqrt(np.where(hit, disc, 0.0))
    # The two roots of At² + 2bt - c, without cancellation.
    far = -(lines.b + np.where(lines.b >= 0, root, -root))
    with np.errstate(divide="ignore", invalid="ignore"):
        one, two = far / A, np.where(far != 0, -lines.c / far, 0.0)
    low, high = np.minimum(one, two), np.maximum(one, two)
    inside = lines.c >= 0 if inside is None else inside
    low = np.where(lines.free, np.where(inside, -np.inf, np.inf), low)
    high = np.where(lines.free, np.where(inside, np.inf, -np.inf), high)
    out = lines.empty | (~hit & ~lines.free)
    return np.where(out, np.inf, low), np.where(out, -np.inf, high)


def covered(low: Array, high: Array, q: int) -> Array:
    """Return the closed intervals of t that lie in at least q of the intervals, shape (k, 2)."""
    proper = low <= high
    low, high = low[proper], high[proper]
    ends, change = np.concatenate([low, high]), np.repeat([1, -1], len(low))
    order: IntArray = np.lexsort((-change, ends))  # at equal ends, openings first: closed sets
    ends, depth = ends[order], np.cumsum(change[order])
    enough = depth >= q
    before = np.concatenate([[False], enough[:-1]])
    starts, stops = ends[enough & ~before], ends[~enough & before]
    return np.stack([starts, stops], axis=1)

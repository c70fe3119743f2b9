"""A region on lines: the closed intervals of t at which origin + t direction is a member.

Along a line each set {Z_0 ≼ Z_i} is entered and left at the roots of Z_i - Z_0 and where that
jumps. These events, in order, count the sets; stretches with at least q of them are the region.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from unassuming._numerics import EPS
from unassuming._typing import Array, BoolArray, IntArray

SLIVER = 1e-10
"""Relative length below which an interval, or a gap between two, is rounding: a quadratic that is
zero at the end of its piece has its root a little inside or outside."""


class Lines(ABC):
    """The intersections of a region with lines, at any levels."""

    exact: ClassVar[bool] = True
    """Whether the intervals are exact rather than found on a grid."""

    @abstractmethod
    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the closed intervals (k, 2) of t on origins + t directions, by q and line."""
        # Sorted and disjoint closures of open intervals of members. A point between them (or t = 0)
        # that is a member is added as [t, t], unless ``points`` is False.

    def first_exits(self, origins: Array, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return for each q the end of the interval of t >= 0 that contains zero, (N,); or zero."""
        every = self.intervals(origins, directions, qs, points=False)
        return [np.array([_end(spans) for spans in lines]) for lines in every]


def _end(spans: Array) -> float:
    here = (spans[:, 0] <= 0) & (spans[:, 1] >= 0)
    return float(spans[here, 1][0]) if here.any() else 0.0


def membership(
    ranks: Callable[[Array], IntArray],
    origins: Array,
    directions: Array,
    most: int,
    place: Callable[[Array, IntArray, Array], None] | None = None,
) -> Callable[[IntArray, Array], BoolArray]:
    """Return which points t of lines have ranks up to ``most``; ``place`` corrects coefficients."""

    def members(line: IntArray, t: Array) -> BoolArray:
        a = origins[line] + t[:, None] * directions[line]
        if place is not None:
            place(a, line, t)
        a, back = np.unique(a, axis=0, return_inverse=True)  # lines may have a common origin
        return np.asarray(ranks(a) <= most)[back.ravel()]

    return members


class Events(NamedTuple):
    """Where the number of sets that hold a point of a line changes; a line begins with a count."""

    line: IntArray
    t: Array
    change: IntArray

    @classmethod
    def joined(cls, parts: Sequence[Events]) -> Events:
        """Return the events of all parts."""
        line, t, change = (np.concatenate(part) for part in zip(*parts, strict=True))
        return cls(line, t, change)

    def spans(self, q: int) -> Spans:
        """Return the stretches between events in which at least q sets hold a line."""
        # A stretch of length zero is a point at which closed sets only touch.
        order = np.lexsort((-self.change, self.t, self.line))  # at equal t sets open first
        line, t, change = self.line[order], self.t[order], self.change[order]
        count = np.cumsum(change)
        first = np.flatnonzero(np.diff(line, prepend=-1))
        base = np.repeat(count[first] - change[first], np.diff(np.append(first, len(line))))
        keep = (count - base >= q)[:-1] & (line[:-1] == line[1:])
        return Spans.joined(line[:-1][keep], np.stack([t[:-1][keep], t[1:][keep]], axis=1))


def quadratic_events(
    line: IntArray, lo: Array, hi: Array, A: Array, B: Array, C: Array, wins: BoolArray
) -> Events:
    """Return the events of sets whose At² + Bt + C are given in pieces [lo, hi] of lines."""
    # All are (N, P, S) for N lines, P pieces and S sets, or broadcast to that; ``wins`` (S,)
    # decides where A = B = C = 0.
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        begin, end = (A * lo + B) * lo + C > 0, (A * hi + B) * hi + C > 0
        vertex = -B / (2 * A)
        open_ = (begin != end) | ((vertex >= lo) & (vertex <= hi)) | (C == 0)
    open_ |= np.isinf(lo) | np.isinf(hi)
    A, lo, hi = (np.broadcast_to(part, C.shape) for part in (A, lo, hi))
    at = np.nonzero(open_ & (lo < hi))
    states, *roots = _roots(lo[at], hi[at], A[at], B[at], C[at], wins[at[2]])
    begin[at], end[at] = states[0], states[2]
    proper = lo < hi
    if not proper.all():  # a piece without length inherits the state before it
        kept = np.where(proper, np.arange(C.shape[1])[:, None], 0)
        end = np.take_along_axis(end, np.maximum.accumulate(kept, axis=1), axis=1)
        begin[:, 1:] = np.where(proper[:, 1:], begin[:, 1:], end[:, :-1])
    changes = [(at[0], t, before) for t, before in zip(roots, states, strict=False)]
    return piece_events(line, lo, hi, begin, end, changes)


def piece_events(
    line: IntArray,
    lo: Array,
    hi: Array,
    begin: BoolArray,
    end: BoolArray,
    roots: Sequence[tuple[IntArray, Array, BoolArray]],
) -> Events:
    """Return the events of sets that hold (or not) the begin and the end of pieces (N, P, S)."""
    # ``roots`` are those within pieces: the line, t (infinite for none) and whether the set holds
    # what is before.
    count = begin[:, 0].sum(axis=-1)
    found = [Events(line, lo[:, 0, 0], count), Events(line, hi[:, -1, 0], 0 * count)]
    jump = np.nonzero(begin[:, 1:] != end[:, :-1])
    every = [(jump[0], lo[:, 1:][jump], end[:, :-1][jump]), *roots]
    for row, t, before in every:
        real = t < np.inf  # at minus infinity a first piece without length ends
        found.append(Events(line[row[real]], t[real], np.where(before[real], -1, 1)))
    return Events.joined(found)


def _roots(
    lo: Array, hi: Array, A: Array, B: Array, C: Array, wins: BoolArray
) -> tuple[list[BoolArray], Array, Array]:
    """Return where quadratics are positive around their roots in (lo, hi), and these, or inf."""
    with np.errstate(divide="ignore", invalid="ignore"):
        s = -(B + np.copysign(np.sqrt(B * B - 4 * A * C), B)) / 2  # NaN without roots
        one = np.where(A != 0, s / A, np.inf)
        two = np.where(s != 0, C / s, one)  # without cancellation
        roots = [np.fmin(one, two), np.fmax(one, two)]
        inside = [(t > lo) & (t < hi) for t in roots]
        behind = (roots[0] <= lo) ^ (roots[1] <= lo)
    # The sign at minus infinity changes at every root, so parity gives all other signs.
    state = np.where(A != 0, A > 0, np.where(B != 0, B < 0, np.where(C != 0, C > 0, wins))) ^ behind
    states = [state, state ^ inside[0], state ^ inside[0] ^ inside[1]]
    first, last = (np.where(here, t, np.inf) for here, t in zip(inside, roots, strict=True))
    return states, first, last


class Spans(NamedTuple):
    """Closed intervals on several lines: sorted and disjoint on each, in the order of the lines."""

    line: IntArray  # (k,)
    ends: Array  # (k, 2)

    @classmethod
    def joined(cls, line: IntArray, ends: Array, slack: float = SLIVER) -> Spans:
        """Sort intervals that overlap at most in their ends, and join those that touch."""
        order = np.lexsort((ends[:, 1], ends[:, 0], line))
        line, (lo, hi) = line[order], ends[order].T
        apart = (line[1:] != line[:-1]) | (lo[1:] > hi[:-1] + slack * _size(lo[1:], hi[:-1]))
        edge = np.ones(min(len(line), 1), dtype=np.bool_)
        first, last = np.concatenate([edge, apart]), np.concatenate([apart, edge])
        return cls(line[first], np.stack([lo[first], hi[last]], axis=1))

    def closed(
        self,
        shift: Array,
        members: Callable[[IntArray, Array], BoolArray] | None,
        likely: tuple[IntArray, Array] | None = None,
    ) -> Spans:
        """Move every line by its shift, and keep an interval without length only if a member."""
        # Without ``members`` none is kept. With it, t = 0 and other ``likely`` points are asked for
        # as well, and members outside the intervals are added as [t, t].
        longer = self.ends[:, 1] > self.ends[:, 0] + SLIVER * _size(*self.ends.T)
        spans = Spans(self.line[longer], self.ends[longer] + shift[self.line[longer]][:, None])
        if members is None:
            return spans
        touching = self.line[~longer]
        points = [(touching, self.ends[~longer, 0] + shift[touching])]
        points += [(np.arange(len(shift)), np.zeros(len(shift))), *([likely] if likely else [])]
        line, t = (np.concatenate(part) for part in zip(*points, strict=True))
        outside = np.isfinite(t) & ~spans.cover(line, t)
        line, t = np.unique(np.stack([line[outside], t[outside]]), axis=1)
        line = line.astype(np.intp)
        member = members(line, t) if len(line) else np.zeros(0, dtype=np.bool_)
        line = np.concatenate([spans.line, line[member]])
        ends = np.concatenate([spans.ends, np.stack([t[member]] * 2, axis=1)])
        return Spans.joined(line, ends, slack=8 * EPS)

    def cover(self, line: IntArray, t: Array) -> BoolArray:
        """Whether the points t of these lines lie in one of the intervals."""
        ends, count = self.ends, len(self.line)
        every = np.concatenate([self.line, line, self.line])
        kind = np.repeat([0, 1, 2], [count, len(line), count])  # at equal t: begin, point, end
        order = np.lexsort((kind, np.concatenate([ends[:, 0], t, ends[:, 1]]), every))
        open_, point = np.cumsum(1 - kind[order]), kind[order] == 1
        found = np.empty(len(line), dtype=np.bool_)
        found[order[point] - count] = open_[point] > 0
        return found

    def split(self, lines: int) -> list[Array]:
        """Return the intervals of each line."""
        return np.split(self.ends, np.searchsorted(self.line, np.arange(1, lines)))


def _size(x: Array, y: Array) -> Array:
    size = np.maximum(np.abs(x), np.abs(y))
    return np.where(np.isfinite(size), size, 0.0)

"""Outer bounds of a label region by branch and bound over boxes (docs/theory.md 8.2).

Over a box of candidates all fresh labels are known but those whose U lies between the bounds of
(1 + f)/2, and Z_i - Z_0 is affine given the labels. So the number of sets that can hold a point of
the box is bounded, and a box that too few can hold is thrown away. What is left covers the region.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import svd

from unassuming._progress import counting
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.labels._admissible import Admissible
from unassuming.geometry.labels._lines import LabelModel

LARGEST_RANK = 4
"""Coordinates up to which boxes are of use: their number grows like a power of it."""
NODES = 20_000
"""Boxes that are examined for one level before the search stops."""
GAP = 0.02
"""The search ends when each bound is that close to a member, relative to the band's width."""

_PAD = 4e-12  # more than the rounding of fitted values, and than that of the edge of [-1, 1]
_WIDE = 64  # boxes that a round splits at least, if there are as many
_FIRST_LOOK, _LOOKS = 64, 1.4  # boxes after which members are looked for, first and then
_BATCH = 2**22  # labels that are looked at together


@dataclass(frozen=True, eq=False)
class Support:
    """Bounds of N functionals over a region.

    Attributes
    ----------
    lower, upper : arrays of shape (N,)
        Outer bounds; lower > upper, both infinite, if the region is empty.
    settled : boolean array of shape (N,)
        Whether members come as close to both as was asked for.
    witnesses : array of shape (2, N, d), or None
        Members near the lower and the upper bounds; None if no member was found.
    """

    lower: Array
    upper: Array
    settled: BoolArray
    witnesses: Array | None

    @classmethod
    def empty(cls, count: int) -> Support:
        """No member at all."""
        none = np.full(count, np.inf)
        return cls(none, -none, np.ones(count, dtype=np.bool_), None)


class _Members:
    """The best members found so far for functionals g (N, d)."""

    def __init__(self, g: Array) -> None:
        self.g = g
        self.values = np.full(len(g), -np.inf)
        self.points = np.full(g.shape, np.nan)

    def add(self, a: Array) -> None:
        """Take note of members a (M, d)."""
        if not len(a):
            return
        values = a @ self.g.T
        best = np.argmax(values, axis=0)
        value = values[best, np.arange(len(self.g))]
        better = value > self.values
        self.values[better], self.points[better] = value[better], a[best[better]]

    def witnesses(self) -> Array | None:
        """Return the members, those of the first and of the second half of the functionals."""
        if np.isneginf(self.values).any():
            return None
        return self.points.reshape(2, -1, self.g.shape[1])


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of coordinates x with a = back x, in which z_0 = z - diag(s) x as far as it moves.

    Attributes
    ----------
    model : LabelModel
    f : array of shape (n, r)
        Fitted values are f x.
    back : array of shape (d, r)
    pull : array of shape (k, n)
        That of the model, rotated: row j belongs to x_j, the others do not move.
    s : array of shape (r,)
    corner : array of shape (r,)
        |x| <= corner wherever |f x| <= 1.
    """

    model: LabelModel
    f: Array
    back: Array
    pull: Array
    s: Array
    corner: Array

    @classmethod
    def of(cls, model: LabelModel, admissible: Admissible) -> Boxes | None:
        """Choose the coordinates, or return None if boxes are of no use."""
        if admissible.back.shape[1] > LARGEST_RANK or len(model.pull) < admissible.back.shape[1]:
            return None
        if not model.follows_values(admissible.null):
            return None
        moves = (model.pull @ model.phi + model.push) @ admissible.back
        u, s, vt = svd(moves)
        unit = np.where(s > 1e-8 * s[0], s, s[0])
        axes = vt.T / unit
        back = admissible.back @ axes
        corner = admissible.bounds(np.linalg.pinv(back))
        return cls(model, model.phi @ back, back, u.T @ model.pull, s / unit, corner)

    def support(
        self,
        g: Array,
        q: int,
        nearby: Callable[[Array], Array],
        nodes: int = NODES,
        gap: float = GAP,
        within: Array | None = None,
    ) -> Support:
        """Bound gᵀa over the region, g (N, d), and return members that come near the bounds.

        ``nearby`` returns members near given coefficients, (N, d) -> (M, d). A bound is settled if
        a member comes as close to it as the gap; the search stops when all are, or before it has
        examined more than ``nodes`` boxes. If no box is left, the region is empty. Of the region
        only what lies in the ball ‖within x‖ <= 1 counts, if there is one.
        """
        ball = np.zeros((0, len(self.s))) if within is None else within
        with counting(nodes, "boxes at most") as say:
            return self._support(g, q, nearby, nodes, gap, ball, say)

    def _support(
        self,
        g: Array,
        q: int,
        nearby: Callable[[Array], Array],
        nodes: int,
        gap: float,
        ball: Array,
        say: Callable[[int], None],
    ) -> Support:
        signed = np.concatenate([-g, g])
        both = signed @ self.back
        size = np.abs(both)
        centre, half = np.zeros((1, len(self.s))), self.corner[None, :]
        values = half @ size.T
        known, done = _Members(signed), np.zeros(len(both), dtype=np.bool_)
        examined, look = 0, float(_FIRST_LOOK)
        while True:
            best = values.max(axis=0)
            if examined >= look:
                look = _LOOKS * examined
                top = np.unique(np.argmax(values[:, ~done], axis=0))
                known.add(nearby(centre[top] @ self.back.T))
            width = np.tile(best[: len(g)] + best[len(g) :], 2)
            done = best - known.values <= gap * width
            split = self._chosen(values[:, ~done])
            if done.all():
                break
            if examined + 2 * len(split) > nodes:
                top = np.unique(np.argmax(values[:, ~done], axis=0))
                known.add(nearby(centre[top] @ self.back.T))
                break
            examined += 2 * len(split)
            say(examined)
            new_centre, new_half = _halves(centre[split], half[split])
            meets = _meets(ball, new_centre, new_half)
            new_centre, new_half = new_centre[meets], new_half[meets]
            keep = self.possible(new_centre, new_half) >= q
            new_centre, new_half = new_centre[keep], new_half[keep]
            rest = np.ones(len(centre), dtype=np.bool_)
            rest[split] = False
            centre = np.concatenate([centre[rest], new_centre])
            half = np.concatenate([half[rest], new_half])
            values = np.concatenate([values[rest], new_centre @ both.T + new_half @ size.T])
            if not len(centre):
                return Support.empty(len(g))
        upper = best + 1e-11 * (size @ self.corner)
        both_done = done[: len(g)] & done[len(g) :]
        return Support(-upper[: len(g)], upper[len(g) :], both_done, known.witnesses())

    def possible(self, centre: Array, half: Array) -> IntArray:
        """Bound the number of sets that hold a point of each box, boxes of shape (B, r)."""
        sets, n = self.model.uniforms.shape
        count = np.empty(len(centre), dtype=np.intp)
        step = max(1, _BATCH // (sets * n))
        for start in range(0, len(centre), step):
            some = slice(start, start + step)
            count[some] = self.holding(centre[some], half[some]).sum(axis=1)
        return count

    def holding(self, centre: Array, half: Array) -> BoolArray:
        """Return which sets may hold a point of each box, (B, m - 1): none that does is missing."""
        model, k = self.model, len(self.pull)
        middle, reach = centre @ self.f.T, half @ np.abs(self.f).T + _PAD
        low, high = middle - reach, middle + reach
        inside = ((low <= 1) & (high >= -1)).all(axis=1)
        every = np.zeros((len(centre), model.m - 1), dtype=np.bool_)
        centre, half, low, high = centre[inside], half[inside], low[inside], high[inside]
        sure = model.uniforms < (1 + low[:, None, :]) / 2
        may = model.uniforms < (1 + high[:, None, :]) / 2
        by_sure, by_may = (part.astype(np.float64) @ self._weights for part in (sure, may))
        # p = ΨL(y⁽ⁱ⁾ - y) is middle ± reach, entry by entry, whatever the uncertain labels are.
        least = by_sure[..., :k] + by_may[..., k:] - self._base
        most = by_may[..., :k] + by_sure[..., k:] - self._base
        z, spread = np.tile(self.pull @ model.y, (len(centre), 1)), np.zeros((len(centre), k))
        z[:, : len(self.s)] -= self.s * centre
        spread[:, : len(self.s)] = self.s * half
        z, spread = 2 * z[:, None, :], 2 * spread[:, None, :]
        # p(p + 2z) is convex in p and affine in z: it is largest at a corner.
        gap = np.maximum(
            least * (least + z) + np.abs(least) * spread, most * (most + z) + np.abs(most) * spread
        ).sum(axis=-1)
        size = np.maximum(np.abs(least), np.abs(most))
        error = 1e-12 * size + model.rounding
        tolerance = (error * (2 * size + np.abs(z) + spread)).sum(axis=-1)
        # Where p is zero whatever happens, the tie order decides: the labels are those observed, or
        # exchanged between equal inputs.
        tied = (size <= model.rounding).all(axis=-1)
        holds = np.where(tied, model.tie_wins, gap >= -tolerance)
        # The entries of p are not free of each other: with one uncertain label this is exact.
        box, which = np.nonzero(holds)
        p = (least[box, which] + most[box, which]) / 2
        w = (most[box, which] - least[box, which]) / 2
        z, spread = z[box, 0], spread[box, 0]
        turned = np.abs((2 * p + z) @ self.pull)
        turned *= sure[box, which] != may[box, which]
        together = (p * (p + z) + w * w + (np.abs(p) + w) * spread).sum(axis=1)
        together += turned.sum(axis=1)
        holds[box, which] = together >= -tolerance[box, which]
        every[inside] = holds
        return every

    @cached_property
    def _base(self) -> Array:
        """What is taken off sums of labels that count 2 for +1 and 0 for -1, to leave p."""
        return np.asarray(self.pull @ (1 + self.model.y))

    @cached_property
    def _weights(self) -> Array:
        """Columns that add up labels: the positive and the negative part of 2ΨL."""
        return 2 * np.concatenate([np.maximum(self.pull, 0.0), np.minimum(self.pull, 0.0)]).T

    def _chosen(self, values: Array) -> IntArray:
        """Return the boxes that stretch farthest for any functional, values (boxes, N)."""
        if not values.shape[1]:
            return np.empty(0, dtype=np.intp)
        few = min(len(values), max(1, _WIDE // values.shape[1]))
        farthest = np.argpartition(-values, few - 1, axis=0)[:few]
        return np.unique(farthest)


def _meets(ball: Array, centre: Array, half: Array) -> BoolArray:
    """Which boxes may hold a point with ‖ball x‖ <= 1."""
    least = np.maximum(np.abs(centre @ ball.T) - half @ np.abs(ball).T, 0.0)
    return np.asarray((least**2).sum(axis=1) <= 1 + 1e-9)


def _halves(centre: Array, half: Array) -> tuple[Array, Array]:
    """Cut each box in two across its longest edge; twice as many are returned."""
    rows, longest = np.arange(len(half)), np.argmax(half, axis=1)
    halves, step = half.copy(), np.zeros_like(half)
    halves[rows, longest] /= 2
    step[rows, longest] = halves[rows, longest]
    return np.concatenate([centre - step, centre + step]), np.concatenate([halves, halves])

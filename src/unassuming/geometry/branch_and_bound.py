"""Outer bounds of a region by branch and bound over boxes of coefficients.

A box is discarded if it certainly holds no member. The remaining boxes cover the region, so that
their largest values are outer bounds wherever the search stops; members found on the way show how
tight the bounds are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._progress import counting
from unassuming._typing import Array, BoolArray, IntArray

LARGEST_RANK = 4
"""Boxes are used up to this many coordinates: their number grows exponentially with it."""
NODES = 20_000
"""The search for one level stops after so many boxes."""
GAP = 0.02
"""The search ends when each bound is that close to a member, relative to the band's width."""

_WIDE = 64  # a round splits at least so many boxes, if there are as many
_FIRST_LOOK, _LOOKS = 64, 1.4  # members are looked for after so many boxes, then ever more rarely


@final
@dataclass(frozen=True, eq=False)
class Support:
    """Bounds of N functionals over a region."""

    lower: Array  # (N,): outer bounds; lower > upper, both infinite, if the region is empty
    upper: Array
    settled: BoolArray  # (N,): whether members come close to both bounds
    witnesses: Array | None  # (2, N, d): members near the bounds; None if none was found


class BoxSpace(ABC):
    """Boxes that cover a region, given by their centres and halves of their edges, (B, D) each."""

    @abstractmethod
    def first(self) -> tuple[Array, Array]:
        """Return boxes that hold the whole region."""

    @abstractmethod
    def most(self, centre: Array, half: Array, g: Array) -> Array:
        """Return upper bounds of gᵀa, g (N, d), over boxes (B, D): shape (B, N)."""

    @abstractmethod
    def points(self, centre: Array) -> Array:
        """Return the coefficients at the centres of boxes, (B, D) -> (B, d)."""

    @abstractmethod
    def margin(self, g: Array) -> Array:
        """Return more than the rounding errors of the bounds of g (N, d), (N,)."""


def branch_and_bound(
    space: BoxSpace,
    keeps: Callable[[Array, Array], BoolArray],
    g: Array,
    nearby: Callable[[Array], Array],
    nodes: int = NODES,
    gap: float = GAP,
    endless: BoolArray | None = None,
) -> Support:
    """Bound gᵀa over the region, g (N, d), and return members that come near the bounds.

    ``keeps`` says which boxes may hold a member; none that does may be missed. ``nearby`` returns
    members near given coefficients, (N, d) -> (M, d). A bound is settled if a member comes as close
    to it as the gap. The search stops when all bounds are settled, or before it has examined more
    than ``nodes`` boxes. If no box is left, the region is empty. ``endless`` (2, N) marks values
    that are known to have no bound, below and above.
    """
    N, signed = len(g), np.concatenate([-g, g])
    known = np.zeros(2 * N, dtype=np.bool_) if endless is None else endless.ravel()
    centre, half = space.first()
    values, margin = space.most(centre, half, signed), space.margin(signed)
    attained, witnesses = np.full(2 * N, -np.inf), np.full(signed.shape, np.nan)
    examined, look, last = 0, float(_FIRST_LOOK), False
    with counting(nodes, "boxes at most") as say:
        while True:
            best = np.where(known, np.inf, values.max(axis=0))
            done = known | _close(best, attained, gap, margin)
            if done.all():
                break
            split = _chosen(values[:, ~done])
            last = examined + 2 * len(split) > nodes
            if last or examined >= look:
                look = _LOOKS * examined
                a = nearby(space.points(centre[np.unique(np.argmax(values[:, ~done], axis=0))]))
                found = np.concatenate([a @ signed.T, attained[None]])
                better = np.flatnonzero((farthest := np.argmax(found, axis=0)) < len(a))
                attained, witnesses[better] = found.max(axis=0), a[farthest[better]]
                if last:
                    done = known | _close(best, attained, gap, margin)
                    break
                continue
            examined += 2 * len(split)
            say(examined)
            boxes = halves(centre[split], half[split])
            keep = keeps(*boxes)
            centre, half, values = (
                np.concatenate([np.delete(old, split, axis=0), new[keep]])
                for old, new in zip(
                    (centre, half, values), (*boxes, space.most(*boxes, signed)), strict=True
                )
            )
            if not len(centre):
                none = np.full(N, np.inf)
                return Support(none, -none, np.ones(N, dtype=np.bool_), None)
    upper = best + margin
    members = None if np.isneginf(attained).any() else witnesses.reshape(2, *g.shape)
    return Support(-upper[:N], upper[N:], done[:N] & done[N:], members)


def _close(best: Array, attained: Array, gap: float, margin: Array) -> BoolArray:
    """Which bounds, those below and then those above, are close to a member.

    A region may be a single point, which bounds approach up to rounding.
    """
    other, reached = (np.concatenate(np.split(part, 2)[::-1]) for part in (best, attained))
    with np.errstate(invalid="ignore"):
        # Without a bound on the other side, compare with the range of the members.
        size = np.where(np.isfinite(best + other), best + other, best + reached)
        near = best - attained <= np.fmax(gap * size, margin)
    return np.asarray(np.isfinite(best) & near)


def _chosen(values: Array) -> IntArray:
    """Return the boxes that extend farthest for any functional, values (boxes, N)."""
    few = min(len(values), max(1, _WIDE // values.shape[1]))
    return np.unique(np.argpartition(-values, few - 1, axis=0)[:few])


def halves(centre: Array, half: Array) -> tuple[Array, Array]:
    """Cut each box in two across its longest edge."""
    rows, longest = np.arange(len(half)), np.argmax(half, axis=1)
    halves, step = half.copy(), np.zeros_like(half)
    halves[rows, longest] /= 2
    step[rows, longest] = halves[rows, longest]
    return np.concatenate([centre - step, centre + step]), np.concatenate([halves, halves])

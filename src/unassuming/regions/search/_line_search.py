"""Members of a region that is known along lines: samples, rays without end, attained bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry import Lines
from unassuming.objectives import NormBall
from unassuming.regions._explain import Cause, Fact
from unassuming.regions.search._endless_rays import Endless, most_seen
from unassuming.regions.search._hill_climbing import climb
from unassuming.regions.search._hit_and_run import Members, hit_and_run, walk
from unassuming.regions.search._proposals import Proposals

_EXACT_SEARCH, _GRID_SEARCH = (48, 16, 12), (16, 4, 8)
"""Of a search for inner bounds: members at which it may start, steps that lead to them, rounds.

A line on a grid costs some hundred times as much as an exact one."""


@final
@dataclass(frozen=True, eq=False)
class Attained:
    """Members near the ends of functionals, and rays without end.

    Attributes
    ----------
    witnesses : array of shape (2, N, d), or None
        Members near the lower and the upper ends; None if they were not searched for.
    rays : Endless
    facts : tuple of Fact
    """

    witnesses: Array | None
    rays: Endless
    facts: tuple[Fact, ...] = ()

    def endless(self, g: Array) -> BoolArray:
        """Which functionals g (N, d) members exceed without limit, below and above, (2, N)."""
        return np.stack([self.rays.along(-g) >= 0, self.rays.along(g) >= 0])


@final
@dataclass(frozen=True, eq=False)
class LineSearch:
    """Searches along lines, for regions that need not be star convex, nor connected.

    Attributes
    ----------
    lines : Lines
        The region along lines.
    ranks : callable
        Ranks of coefficient vectors, (N, d) -> (N,).
    m : int
    start : array of shape (d,)
        Where a search begins; a member, if one is known.
    proposals : callable
        From a ball, or None, to the directions in which to walk.
    probes : callable
        From a ball, or None, to directions (N, d) along which regions often never end.
    phi : array of shape (n, d), or None
        Φ, if it is known.
    seed : int
    """

    lines: Lines
    ranks: Callable[[Array], IntArray]
    m: int
    start: Array
    proposals: Callable[[NormBall | None], Proposals]
    probes: Callable[[NormBall | None], Array]
    phi: Array | None
    seed: int

    def accepts(self, a: Array, q: int) -> BoolArray:
        """Which coefficients (N, d) are members at level 1 - q/m."""
        return np.asarray(self.ranks(a) <= self.m - q)

    def reach(self, origin: Array, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return for each q the end of the interval of t >= 0 that contains the origin, (N,)."""
        rank = int(self.ranks(origin[None, :])[0])
        start = np.broadcast_to(origin, directions.shape)
        every = self.lines.intervals(start, directions, qs, points=False)
        return [
            np.array([_end(spans) if rank <= self.m - q else -np.inf for spans in lines])
            for q, lines in zip(qs, every, strict=True)
        ]

    def members(
        self, q: int, ball: NormBall | None, refuse: Callable[[], Exception] | None = None
    ) -> Members:
        """Return the region on lines, within the ball if there is one.

        ``refuse`` makes the exception that a line without end raises.
        """

        def members(origins: Array, directions: Array) -> list[Array]:
            spans = self.lines.intervals(origins, directions, [q])[0]
            if ball is not None:
                spans = ball.confine(spans, origins, directions)
            if refuse is not None and any(np.isinf(span).any() for span in spans):
                raise refuse()
            return spans

        return members

    def sample(
        self,
        size: int,
        q: int,
        ball: NormBall | None,
        random_state: Any,
        thinning: int | None,
        refuse: Callable[[], Exception],
    ) -> Array:
        """Return members by hit-and-run, with excursions to the faces of the penalty."""
        members = self.members(q, ball, refuse)
        # A walk could take very long to notice that the region is a cylinder: try first.
        probes = self.probes(ball)
        members(np.broadcast_to(self.start, probes.shape), probes)
        course = self.proposals(ball)
        return hit_and_run(
            self.start,
            course.directions,
            members,
            lambda a: self.accepts(a, q),
            size,
            random_state,
            len(self.start) if thinning is None else thinning,
            lambda rng, points: course.excursions(rng, points, members),
        )

    def examine(
        self, g: Array, q: int, ball: NormBall | None, lower: Array, upper: Array, *, inner: bool
    ) -> Attained:
        """Look for rays without end where bounds are infinite, and for members if asked to."""
        rays = Endless.none(len(self.start))
        infinite = np.isposinf(upper).any() or np.isneginf(lower).any()
        if infinite and not np.isneginf(upper).any():
            rays = self._endless(q, ball, g)
        if inner and self.accepts(self.start[None, :], q)[0]:
            return self._attained(g, q, ball, rays)
        return Attained(None, rays)

    def _endless(self, q: int, ball: NormBall | None, g: Array) -> Endless:
        """Return rays from the start that never leave the region, where lines are exact.

        Of the probes those on which functionals g (N, d) change most are tried.
        """
        probes = self.probes(ball) if self.lines.exact else np.empty((0, 1))
        if not len(probes):
            return Endless.none(len(self.start))
        if self.phi is not None:
            probes = probes[most_seen(probes, g, self.phi)]
        origins = np.broadcast_to(self.start, probes.shape)
        spans = self.lines.intervals(origins, probes, [q])[0]
        return Endless.on(origins, probes, spans, lambda a: self.accepts(a, q))

    def _attained(self, g: Array, q: int, ball: NormBall | None, endless: Endless) -> Attained:
        """Search for members near the lower and the upper ends of functionals g (N, d).

        Functionals that grow along a ray known before are not searched for: their member is where
        it begins.
        """
        rng = np.random.default_rng(self.seed)
        both = np.concatenate([-g, g])
        known = endless.along(both)
        found = np.empty_like(both)
        found[known >= 0] = endless.origins[known[known >= 0]]
        open_ = np.flatnonzero(known < 0)
        facts: tuple[Fact, ...] = ()
        if len(open_):
            members = self.members(q, ball)
            course = self.proposals(ball)
            starts, steps, rounds = _EXACT_SEARCH if self.lines.exact else _GRID_SEARCH
            chains = np.tile(self.start, (starts, 1))
            walk(chains, course.directions, _cut(members), rng, steps)
            pool = np.concatenate([self.start[None, :], chains[self.accepts(chains, q)]])
            found[open_], met = climb(
                both[open_],
                pool,
                members,
                lambda a: self.accepts(a, q),
                course.towards,
                rng,
                rounds,
            )
            lines = met[:, ~np.isnan(met[0, :, 0])]
            if lines.size and self.lines.exact:
                spans = members(lines[0], lines[1])
                more = Endless.on(lines[0], lines[1], spans, lambda a: self.accepts(a, q))
                new = more.along(both)
                found[new >= 0] = more.origins[new[new >= 0]]
                endless = endless.and_also(more)
            elif lines.size:
                facts = (Cause.GRID_ENDS(),)
        if len(endless.directions):
            facts = (Cause.ENDLESS_MEMBERS(),)
        return Attained(found.reshape(2, len(g), -1), endless, facts)


def _end(spans: Array) -> float:
    """Return the end of the interval that contains zero; zero if there is none."""
    here = (spans[:, 0] <= 0) & (spans[:, 1] >= 0)
    return float(spans[here, 1][0]) if here.any() else 0.0


def _cut(members: Members) -> Members:
    """Cut what has no end at ten times the distance of the farthest end, or of one."""

    def cut(origins: Array, directions: Array) -> list[Array]:
        found = members(origins, directions)
        far = [10 * np.abs(span[np.isfinite(span)]).max(initial=1.0) for span in found]
        return [np.clip(span, -end, end) for span, end in zip(found, far, strict=True)]

    return cut

"""Searches in a region along lines: samples, rays without end, attained bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from unassuming._progress import counting
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry import Lines
from unassuming.objectives import NormBall
from unassuming.regions._explain import Cause, Fact
from unassuming.regions.search._allowance import Allowance
from unassuming.regions.search._endless_rays import Endless, most_seen
from unassuming.regions.search._hill_climbing import climb
from unassuming.regions.search._hit_and_run import Members, hit_and_run, walk
from unassuming.regions.search._proposals import Proposals
from unassuming.regions.search._window import Window

_EXACT_SEARCH, _GRID_SEARCH = (48, 16, 12), (16, 4, 8)
"""Starting points, steps that lead to them, and rounds of a search for inner bounds.

A line on a grid costs about a hundred times as much as an exact one."""

_EFFORT = 2**28
"""The residuals that a search on a grid may transform, some ten seconds of work."""
_FEWEST = 32
"""Lines that it follows in any case."""


@final
@dataclass(frozen=True, eq=False)
class Attained:
    """Members near the lower and the upper ends of functionals, (2, N, d), and rays without end.

    ``witnesses`` is None if they were not searched for.
    """

    witnesses: Array | None
    rays: Endless
    facts: tuple[Fact, ...] = ()

    def endless(self, g: Array) -> BoolArray:
        """Whether a ray takes the functionals g (N, d) to -∞ and to +∞, (2, N)."""
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
    start : array of shape (d,)
        Where a search begins; a member, if one is known.
    proposals, probes : callables
        From a ball, or None, to the directions in which to walk, and to directions (N, d) along
        which regions often never end.
    phi : array of shape (n, d), or None
        Φ, if there is a design.
    n, spread : int and float
        Number of rows, and the range of the outputs.
    """

    lines: Lines
    ranks: Callable[[Array], IntArray]
    m: int
    start: Array
    proposals: Callable[[NormBall | None], Proposals]
    probes: Callable[[NormBall | None], Array]
    phi: Array | None
    seed: int
    n: int
    spread: float

    def accepts(self, a: Array, q: int) -> BoolArray:
        """Which coefficients (N, d) are members at level 1 - q/m."""
        return np.asarray(self.ranks(a) <= self.m - q)

    def reach(self, origin: Array, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return for each q the end of the interval of t >= 0 that contains the origin, (N,)."""
        rank = int(self.ranks(origin[None, :])[0])
        start = np.broadcast_to(origin, directions.shape)
        ends = self.lines.first_exits(start, directions, qs)
        return [
            t if rank <= self.m - q else np.full(len(t), -np.inf)
            for q, t in zip(qs, ends, strict=True)
        ]

    def members(
        self,
        q: int,
        ball: NormBall | None,
        refuse: Callable[[], Exception] | None = None,
        lines: Lines | None = None,
    ) -> Members:
        """Return the region on lines, within the ball if there is one.

        With ``refuse``, a line without end raises the exception that it makes. With ``lines``, the
        intersections are theirs.
        """
        where = self.lines if lines is None else lines

        def members(origins: Array, directions: Array) -> list[Array]:
            spans = where.intervals(origins, directions, [q])[0]
            if ball is not None:
                spans = ball.confine(spans, origins, directions)
            if refuse is not None and any(np.isinf(span).any() for span in spans):
                raise refuse()
            return spans

        return members

    def near(self, a: Array, axes: Array, q: int, ball: NormBall | None) -> Array:
        """Return members near a (N, d): on lines to the start, and along axes (k, d)."""
        ways = np.concatenate([self.start - a, *(np.broadcast_to(x, a.shape) for x in axes)])
        origins = np.tile(a, (1 + len(axes), 1))
        t = np.array([_closest(spans) for spans in self.members(q, ball)(origins, ways)])
        points = (origins + t[:, None] * ways)[np.isfinite(t)]
        if ball is not None:
            points = points[ball.contains(points)]
        return np.asarray(points[self.accepts(points, q)])

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
        # A walk could take very long to notice that the region is a cylinder, so probe it first.
        probes = self.probes(ball)
        members(np.broadcast_to(self.start, probes.shape), probes)
        course = self.proposals(ball)
        return hit_and_run(
            self.start,
            course.directions,
            members,
            partial(self.accepts, q=q),
            size,
            random_state,
            len(self.start) if thinning is None else thinning,
            partial(course.excursions, members=members),
        )

    def examine(
        self, g: Array, q: int, ball: NormBall | None, lower: Array, upper: Array, *, inner: bool
    ) -> Attained:
        """Search for rays where bounds are infinite, and for members near the ends if asked to."""
        rays = Endless.none(len(self.start))
        infinite = np.isposinf(upper).any() or np.isneginf(lower).any()
        empty = np.isneginf(upper).any()
        if infinite and not empty and self.lines.exact:
            rays = self._endless(q, ball, g)
        if inner and self.accepts(self.start[None, :], q)[0]:
            return self._attained(g, q, ball, rays)
        return Attained(None, rays)

    def _endless(self, q: int, ball: NormBall | None, g: Array) -> Endless:
        """Return rays on lines through the start: the probes that change g (N, d) most."""
        probes = self.probes(ball)
        if not len(probes):
            return Endless.none(len(self.start))
        if self.phi is not None:
            probes = probes[most_seen(probes, g, self.phi)]
        origins = np.broadcast_to(self.start, probes.shape)
        spans = self.lines.intervals(origins, probes, [q])[0]
        return Endless.on(origins, probes, spans, partial(self.accepts, q=q))

    def _attained(self, g: Array, q: int, ball: NormBall | None, rays: Endless) -> Attained:
        """Search for members near the lower and the upper ends of functionals g (N, d).

        A functional that grows along a known ray takes the origin of the ray instead.
        """
        both = np.concatenate([-g, g])
        found, searched = np.empty_like(both), rays.along(both) < 0
        _put_origins(found, both, rays)
        facts: tuple[Fact, ...] = ()
        if searched.any():
            found[searched], met, facts = self._climb(both[searched], q, ball)
            origins, directions = met[:, ~np.isnan(met[0, :, 0])]
            if len(origins) and self.lines.exact:
                spans = self.members(q, ball)(origins, directions)
                more = Endless.on(origins, directions, spans, partial(self.accepts, q=q))
                _put_origins(found, both, more)
                rays = rays.and_also(more)
        if len(rays.directions):
            facts = (*facts, Cause.ENDLESS_MEMBERS())
        return Attained(found.reshape(2, len(g), -1), rays, facts)

    def _climb(
        self, g: Array, q: int, ball: NormBall | None
    ) -> tuple[Array, Array, tuple[Fact, ...]]:
        """Climb from members that a random walk finds."""
        rough = self.lines.rough
        if self.lines.exact:
            return *self._climbed(g, q, ball, self.members(q, ball), _EXACT_SEARCH), ()
        cost = rough.candidates * self.n * (self.m - 1)
        most = max(_EFFORT // cost, _FEWEST)
        with counting(most, "lines at most") as done:
            phi = np.eye(len(self.start)) if self.phi is None else self.phi
            window = Window(self.members(q, ball, lines=rough), self.start, phi, self.spread)
            members = Allowance(window, most, done)
            starts, steps, rounds = _GRID_SEARCH
            starts = min(starts, max(most // (2 * steps), 1))  # half of it is left to climb
            found = self._climbed(g, q, ball, members, (starts, steps, rounds))
        facts = [Cause.SEARCH_STOPPED(lines=members.used)] if members.exceeded else []
        facts += [Cause.GRID_ENDS(size=window.size)] if window.reached else []
        return *found, tuple(facts)

    def _climbed(
        self,
        g: Array,
        q: int,
        ball: NormBall | None,
        members: Members,
        effort: tuple[int, int, int],
    ) -> tuple[Array, Array]:
        rng, course = np.random.default_rng(self.seed), self.proposals(ball)
        accept = partial(self.accepts, q=q)
        starts, steps, rounds = effort
        chains = np.tile(self.start, (starts, 1))
        walk(chains, course.directions, _cut(members), rng, steps)
        pool = np.concatenate([self.start[None, :], chains[accept(chains)]])
        return climb(g, pool, members, accept, course.towards, rng, rounds)


def _put_origins(found: Array, g: Array, rays: Endless) -> None:
    """Overwrite the members of functionals that grow along a ray by its origin."""
    known = rays.along(g)
    found[known >= 0] = rays.origins[known[known >= 0]]


def _closest(spans: Array) -> float:
    """Return the point of the intervals closest to zero, a little inside; NaN if there is none."""
    if not len(spans):
        return np.nan
    inside = 1e-9 * np.where(np.isfinite(spans).all(axis=1), spans[:, 1] - spans[:, 0], 0.0)
    t = np.clip(0.0, spans[:, 0] + inside, spans[:, 1] - inside)
    return float(t[np.argmin(np.abs(t))])


def _cut(members: Members) -> Members:
    """Cut infinite intervals at ten times the farthest finite end, or at ten."""

    def cut(origins: Array, directions: Array) -> list[Array]:
        found = members(origins, directions)
        far = [10 * np.abs(span[np.isfinite(span)]).max(initial=1.0) for span in found]
        return [np.clip(span, -end, end) for span, end in zip(found, far, strict=True)]

    return cut

"""The protocol of a shape: a region along lines, its bounds, and whether it is bounded.

Membership is decided by ranks, whatever the shape. The shape adds geometry: where lines cross the
region, how far rays from the estimate stay in it, bounds of linear functionals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._numerics import SEEN
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.choose import lines_of
from unassuming.geometry.lines import Lines
from unassuming.membership import Engine
from unassuming.objectives.norm_ball import NormBall
from unassuming.ranking.levels import Level
from unassuming.regions.explain import (
    HIGHER_LEVEL,
    LARGER_BOUND,
    NORM_BOUND,
    Cause,
    Explanation,
    Remedy,
    Status,
    status_of,
)
from unassuming.regions.results import Boundedness, Ellipsoid
from unassuming.regions.search.climb import EXACT, ON_A_GRID, climb
from unassuming.regions.search.walk import Members, confined, hit_and_run


@final
@dataclass(frozen=True, eq=False)
class Question:
    """Linear functionals gᵀa, g (N, d), to be bounded over a region.

    With a norm bound, ``similarity`` holds k(z, z) if they are values at inputs z, and ``function``
    says whether they are values of the function or of its representation by the kernel.
    """

    g: Array
    norm_bound: float | None = None
    similarity: Array | None = None
    function: bool = False


@final
@dataclass(frozen=True, eq=False)
class OuterBounds:
    """Bounds of N functionals at one level; lower > upper if the region has no member.

    ``witnesses`` (2, N, d) are members near the bounds, if a search for these has met some.
    """

    lower: Array
    upper: Array
    status: Status
    explanation: Explanation
    witnesses: Array | None = None


class Shape(ABC):
    """What is known of a region beyond membership."""

    name: ClassVar[str]
    why: ClassVar[str]
    star_convex: ClassVar[bool] = False

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def exact(self) -> bool:
        """Whether intervals on lines are exact rather than found on a grid."""
        return True

    @cached_property
    def estimate(self) -> Array:
        """The minimiser, (d,)."""
        return self.engine.objective.estimate()

    @property
    def start(self) -> Array:
        """Where searches for members begin, (d,): the estimate, unless that is impossible."""
        return self.estimate

    @abstractmethod
    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the closed intervals of t with origin + t direction in the region.

        For each q and each line (N, d) an array (k, 2), sorted and disjoint, ±inf allowed; single
        members only with ``points``.
        """

    @abstractmethod
    def reach(self, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return for each q how far rays (N, d) from the estimate stay in the region, (N,).

        Minus infinity if the estimate is not a member.
        """

    def sample(
        self,
        size: int,
        level: Level,
        rng: np.random.Generator,
        norm_bound: float | None = None,
        thinning: int | None = None,
    ) -> Array:
        """Return members of the region, (size, d), by hit-and-run from the estimate."""
        if not self.accepts(self.start[None], level)[0]:
            raise NotAvailable(
                f"sampling starts at the estimate, which is outside the region of level "
                f"{float(level):.12g}. Ask for a higher level."
            )
        members: Members = partial(self._members, level.q)
        if norm_bound is not None:
            ball, ones = self._ball(norm_bound), np.ones((1, self.engine.objective.n))
            moved = self.engine.noise.apply(self.engine.drawn, ones, 0 * ones)
            if not ball.nu.all() and (moved == 1).all():
                raise NotAvailable(
                    "sampling needs a bounded region, and neither the data nor a norm bound limit "
                    f"the intercept: no transformation of {self.engine.noise!r} sees a shift."
                )
            members = confined(members, ball, norm_bound)
        steps = (1 + self.star_convex) * len(self.axes) if thinning is None else thinning
        accept = partial(self.accepts, level=level)
        return hit_and_run(self.start, self.axes, members, accept, size, rng, steps)

    def witnesses(self, g: Array, level: Level, norm_bound: float | None = None) -> Array | None:
        """Return members (2, N, d) near the ends of functionals g (N, d).

        None if the start of the search is not a member.
        """
        if not self.accepts(self.start[None], level)[0]:
            return None
        members: Members = partial(self._members, level.q)
        if norm_bound is not None:
            members = confined(members, self._ball(norm_bound), norm_bound)
        accept, rng = partial(self.accepts, level=level), np.random.default_rng(0)
        effort = EXACT if self.exact else ON_A_GRID
        return climb(g, self.start, self.axes, members, accept, rng, effort)

    def ranks(self, a: Array) -> IntArray:
        """Return the ranks of many coefficients (N, d)."""
        return self.engine.rank(a)

    def outer(
        self,
        lower: Array,
        upper: Array,
        level: Level,
        bound: float | None,
        endless: Callable[[], tuple[Status, Explanation]],
        witnesses: Array | None = None,
    ) -> OuterBounds:
        """Return bounds and what kind of answer they are; ``endless`` explains infinite ones."""
        status, why = status_of(lower, upper, Status.UNDETERMINED), Explanation()
        if status is Status.EMPTY and bound is not None:
            why = Explanation((Cause.BALL_TOO_SMALL(bound=bound),), (LARGER_BOUND,))
        elif status is Status.EMPTY:
            why = self.no_member(level)
        elif status is not Status.CERTIFIED:
            status, why = endless()
        return OuterBounds(lower, upper, status, why, witnesses)

    def no_member(self, level: Level) -> Explanation:
        """Return why a region has no member at all."""
        return Explanation((Cause.TOO_FEW_SETS(q=level.q),), (HIGHER_LEVEL,))

    def accepts(self, a: Array, level: Level) -> BoolArray:
        """Which coefficients (N, d) are members."""
        return np.asarray(self.engine.rank(a) <= level.largest_rank)

    @cached_property
    def axes(self) -> Array:
        """Directions (k, d) in units of the fitted values, as far as these see the coefficients."""
        design = self.engine.objective.design
        if design is None:
            return np.diag(np.where(self.estimate != 0, np.abs(self.estimate), 1.0))
        return design.factor(np.ones(len(design.matrix)), design.penalty(0.0)).back.T

    def _members(self, q: int, origins: Array, directions: Array) -> list[Array]:
        return self.intervals(origins, directions, [q], points=False)[0]

    def _ball(self, bound: float) -> NormBall:
        """Return the coordinates of the norm, if the estimate is inside the ball."""
        if (design := self.engine.objective.design) is None:
            raise self.not_available("a norm bound")
        ball = design.ball()
        norm = ball.norm(self.estimate)
        if norm > bound:
            raise NotAvailable(
                f"the search starts at the estimate, whose norm {norm:.6g} is above the norm bound "
                f"{bound:.6g}: pass a larger norm_bound."
            )
        return ball

    @abstractmethod
    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Bound linear functionals over the region at each level."""

    def bounded(self, level: Level) -> Boundedness:
        """Return whether the region is bounded, with a certificate."""
        raise self.not_available("bounded")

    def largest_bounded_rank(self) -> int:
        """Return the largest rank up to which regions are certainly bounded."""
        raise self.not_available("max_bounded_level")

    def ellipsoid(self, level: Level) -> Ellipsoid:
        """Return an outer ellipsoid."""
        raise self.not_available("ellipsoid")

    def norm_lower_bound(self, level: Level) -> float:
        """Return a lower bound of the norm of every member."""
        raise self.not_available("norm_lower_bound")

    def lines_of_print(self) -> list[tuple[str, str]]:
        """Return what print(region) says of the shape: headings and sentences."""
        return []

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"

    def not_available(self, operation: str) -> NotAvailable:
        """Return the refusal of an operation that needs another shape."""
        return NotAvailable(
            f"{operation} needs a quadratic objective with weighting='hessian', that of "
            "LinearRegression, Ridge, KernelRidge, GaussianProcessRegressor or ua.LSSVC, given "
            f"{self.engine.objective}. Ranks, tests, membership and crossings are available."
        )

    def _where_inside(self, found: Sequence[Array], qs: Sequence[int]) -> list[Array]:
        """Return the ends of rays, minus infinity at levels whose region lacks the estimate."""
        rank = int(self.engine.rank(self.estimate[None])[0])
        inside = [rank <= self.engine.m - q for q in qs]
        return [
            t if here else np.full(len(t), -np.inf) for here, t in zip(inside, found, strict=True)
        ]


class LineShape(Shape):
    """A region that is known by its lines."""

    @cached_property
    def lines(self) -> Lines:
        """The region along lines; on a grid, in units of the fitted values."""
        return lines_of(self.engine)

    @property
    def exact(self) -> bool:
        """Whether intervals on lines are exact rather than found on a grid."""
        return self.lines.exact

    def lines_of_print(self) -> list[tuple[str, str]]:
        """Say where crossings are not exact."""
        return [] if self.exact else [("crossings", "approximate: their ends are found on a grid")]

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the closed intervals of t with origin + t direction in the region."""
        return self.lines.intervals(origins, directions, qs, points=points)

    def reach(self, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return for each q the end of the interval of t >= 0 that contains the estimate."""
        origins = np.broadcast_to(self.estimate, directions.shape)
        return self._where_inside(self.lines.first_exits(origins, directions, qs), qs)

    def near(
        self,
        members: Members,
        axes: Array,
        level: Level,
        ball: tuple[Array, float] | None,
        a: Array,
    ) -> Array:
        """Return members near a (N, d): on lines to the start, and along axes (k, d).

        A ball is given by its root R and its bound: ``‖Ra‖ <= bound``.
        """
        ways = np.concatenate([self.start - a, *(np.broadcast_to(x, a.shape) for x in axes)])
        origins = np.tile(a, (1 + len(axes), 1))
        t = np.array([_closest(spans) for spans in members(origins, ways)])
        points = (origins + t[:, None] * ways)[np.isfinite(t)]
        if ball is not None:
            points = points[np.linalg.norm(points @ ball[0].T, axis=1) <= ball[1]]
        return np.asarray(points[self.accepts(points, level)])


def _closest(spans: Array) -> float:
    """Return the point of the intervals closest to zero, a little inside; NaN if there is none."""
    if not len(spans):
        return np.nan
    inside = 1e-9 * np.where(np.isfinite(spans).all(axis=1), spans[:, 1] - spans[:, 0], 0.0)
    t = np.clip(0.0, spans[:, 0] + inside, spans[:, 1] - inside)
    return float(t[np.argmin(np.abs(t))])


def held(bound: float | None) -> tuple[Remedy, ...]:
    """Return the remedy of a norm bound, if none is assumed."""
    return (NORM_BOUND,) if bound is None else ()


def of_the_ball(ball: NormBall, t: Array, rest: Array, bound: float | None) -> Array:
    """Return the largest values of functionals within the ball alone, (N,)."""
    free = np.linalg.norm(t * (ball.nu == 0), axis=1) > SEEN * np.linalg.norm(t, axis=1)
    nu = np.where(ball.nu > 0, ball.nu, np.inf)
    size = np.sqrt((t * t / nu).sum(axis=1) + rest)
    return np.asarray(np.where(free | (bound is None), np.inf, (bound or 0.0) * size))

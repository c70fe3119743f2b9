"""Regions of ε-SVR, LASSO, Huber and any other objective, along lines (docs/theory.md 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy.linalg import null_space

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry import (
    BracketedLines,
    LineModel,
    Lines,
    PiecewiseLines,
    Relaxation,
    order_statistic,
    relaxed_bounds,
)
from unassuming.objectives import DesignedObjective, KernelDesign, LeastNormScore
from unassuming.ranking import Level, as_double, as_levels
from unassuming.regions._candidates import Candidates
from unassuming.regions._charts import BallChart
from unassuming.regions._climb import climb
from unassuming.regions._describe import Description
from unassuming.regions._directions import as_vector, as_vectors
from unassuming.regions._functionals import FunctionalRegion, check_norm_bound
from unassuming.regions._results import Levels, Status
from unassuming.regions._sampling import Members, hit_and_run, walk
from unassuming.regions._walk import Ball, Walk

T = TypeVar("T")

_EXACT_SEARCH, _BRACKETED_SEARCH = (48, 16, 12), (16, 4, 8)
"""Of a search for inner bounds: members at which it may start, steps that lead to them, rounds.

A line on a grid costs some hundred times as much as an exact one."""


class PiecewiseRegion(FunctionalRegion):
    """A region known by its intersections with lines; it need not be star convex, nor connected.

    For ε-SVR, LASSO, kernel Huber and quadratic objectives with any weighting, under signs,
    permutations or rotations, the statistics are piecewise quadratic along a line and its
    intersection with the region is exact. Of any other objective only membership is known, and the
    intersection is found on a grid: `exact_crossings` tells which.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import Lasso
    >>> X, y, coefficients = ua.datasets.linear(n=40, d=2, random_state=0)
    >>> region = ua.confidence_region(Lasso(0.1), X, y, random_state=0)
    >>> region.exact_crossings
    True
    >>> region.reach([0.0, 1.0, 0.0], level=0.9) > 0
    True
    >>> members = region.sample(5, level=0.9, random_state=0)
    >>> bool(region.contains(members, level=0.9).all())
    True
    """

    @property
    def exact_crossings(self) -> bool:
        """Whether crossings and reach are exact rather than found on a grid."""
        return self._lines.exact

    def crossings(self, direction: Any, level: Any = 0.9, origin: Any = None) -> Any:
        """Return the closed intervals of t with origin + t · direction in the region, (k, 2).

        Sorted and disjoint; ±inf allowed; single points as [t, t], since statistics jump where a
        coefficient is zero: a sparse candidate can be a member while all its neighbours are not.
        An interval is closed: it also holds the limits of its members.

        If `exact_crossings` is False the ends are bracketed by bisection between the points of a
        grid. They are true ends, but what happens between two points of the grid may be missed, and
        a member at the far end of the grid, 10⁶ times the size of the origin away, counts as
        unbounded.

        Parameters
        ----------
        direction : array of shape (d,)
            t multiplies it as it is.
        level : float or sequence of floats
            A sequence gives a dictionary.
        origin : array of shape (d,), optional
            The estimate by default.

        Examples
        --------
        >>> import numpy as np
        >>> import unassuming as ua
        >>> from sklearn.linear_model import Lasso
        >>> X, y, coefficients = ua.datasets.linear(n=30, d=5, random_state=0)
        >>> region = ua.confidence_region(Lasso(alpha=0.8), X, y, random_state=0)
        >>> slope = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        >>> [[low, high]] = region.crossings(slope)
        >>> bool(low < 0 < high)
        True
        >>> bool(np.isclose(region.estimate[2] + high, 0))  # it ends where this slope is zero
        True
        >>> region.contains(region.estimate + 0.999 * high * slope)
        True
        >>> region.contains(region.estimate + 1.001 * high * slope)
        False
        """
        line = as_vector(direction, "direction", self.objective.d)
        start = self.estimate if origin is None else origin
        start = as_vector(start, "origin", self.objective.d)
        return self._follow(level, lambda qs: self._lines.intervals(start, line, qs), _first)

    def reach(self, directions: Any, level: Any = 0.9) -> Any:
        """Return the end of the interval of t >= 0 that contains the estimate.

        The largest t such that all of estimate + [0, t] · direction belongs to the region. There
        may be members beyond: see `crossings`. Zero if the estimate is alone on that line, minus
        infinity if it is not a member itself.

        Parameters
        ----------
        directions : array of shape (d,) or (N, d)
            t multiplies them as they are.
        level : float, sequence of floats, or None
            None gives all levels: shape (N, m - 1), column q - 1 for level 1 - q/m.
        """
        rows, single = as_vectors(directions, "directions", self.objective.d)
        start = np.broadcast_to(self.estimate, rows.shape)
        rank = self.rank(self.estimate)

        def at(qs: Sequence[int]) -> list[Array]:
            every = self._lines.intervals(start, rows, qs, points=False)
            return [
                np.array([_end(spans) if rank <= self.m - q else -np.inf for spans in lines])
                for q, lines in zip(qs, every, strict=True)
            ]

        if level is None:
            ends = np.stack(at(range(1, self.m)), axis=1)
            return ends[0] if single else ends
        return self._follow(level, at, lambda ends: float(ends[0]) if single else ends)

    def sample(
        self,
        size: int,
        level: float = 0.9,
        random_state: Any = None,
        norm_bound: float | None = None,
        thinning: int | None = None,
    ) -> Array:
        """Return members of the region, by hit-and-run on its crossings, shape (size, d).

        All chains start at the estimate. Each step draws a line through the current point: in three
        of four steps any direction, in the fourth one that keeps the coefficients which are zero,
        or at a side of the box, as they are. It then moves to a uniform point of the region on that
        line. ``thinning`` steps (default d) lie between two samples of a chain. Every sample has
        been accepted by `contains`. The law of the samples is that of these walks: parts of the
        region that no line joins to the rest may be missed. Refused if a line without end is met
        among a number that are tried first, or on the way.

        Parameters
        ----------
        size : int
        level : float
        random_state : int, Generator, RandomState or None
        norm_bound : float, optional
            Sample within the ball of that norm. Needed where the region is unbounded.
        thinning : int, optional
        """
        used = self.level(level)
        if not self.contains(self._start, level):
            raise self._no_member(used)
        if norm_bound is not None:
            check_norm_bound(norm_bound)
            self._require_inside(norm_bound)
        members = self._members(used, norm_bound, bounded=True)
        # A walk could take for ever to notice that the region is a cylinder: ask first.
        probes = self._probes(norm_bound)
        members(np.broadcast_to(self._start, probes.shape), probes)
        return hit_and_run(
            self._start,
            self._walk(norm_bound).directions,
            members,
            lambda a: self.contains(a, level),
            size,
            random_state,
            self.objective.d if thinning is None else thinning,
        )

    # Bounds

    def _bounds(
        self, g: Array, ball: BallChart | None, norm_bound: float | None, *, inner: bool
    ) -> Callable[[Level], dict[str, Any]]:
        up, down = self._outer(g, ball, norm_bound)
        hidden = ball is not None and bool(ball.hidden.any())

        def at(used: Level) -> dict[str, Any]:
            upper, lower = order_statistic(up, used.q), -order_statistic(down, used.q)
            status, reason = _status(upper, lower, norm_bound, hidden=hidden)
            a = None
            if inner and self.contains(self._start, float(used)):
                a = self._attained(g, norm_bound, used)
            return self._fields(used, g, lower, upper, status, reason, a)

        return at

    def _outer(
        self, g: Array, ball: BallChart | None, norm_bound: float | None
    ) -> tuple[Array, Array]:
        """Return upper bounds of gᵀa and of -gᵀa over each set and the ball, (N, m - 1)."""
        d, bound, model = self.objective.d, norm_bound or 0.0, None
        if isinstance(self._lines, PiecewiseLines):
            model = self._lines.model
        if ball is not None:
            F, back, N = ball.F, ball.back, np.diagonal(ball.N)
            functionals, beyond, hidden = ball.functionals, ball.beyond, ball.hidden
        else:
            # Without a ball: the coefficients themselves. Nothing is known for kernels.
            if model is None or isinstance(self._design("a bound"), KernelDesign):
                nothing = np.full((len(g), self.m - 1), np.inf)
                return nothing, nothing
            F, back, N = model.phi, np.eye(d), np.zeros(d)
            functionals, beyond, hidden = g, np.zeros(len(g)), np.zeros(len(g), dtype=np.bool_)
        relaxation = None if model is None else Relaxation.of(model, F, back, N, bound)
        up, down = relaxed_bounds(relaxation, N, functionals, beyond, bound, self.m - 1)
        up[hidden] = down[hidden] = np.inf
        return up, down

    def _attained(self, g: Array, norm_bound: float | None, used: Level) -> Array:
        """Return members near the lower and the upper ends of functionals, (2, N, d)."""
        rng = np.random.default_rng(self.seed)
        members = self._members(used, norm_bound, bounded=False)

        def accept(a: Array) -> BoolArray:
            return np.asarray(self._ranks_of(a) <= self.m - used.q)

        course = self._walk(norm_bound)
        starts, steps, rounds = _EXACT_SEARCH if self.exact_crossings else _BRACKETED_SEARCH
        chains = np.tile(self._start, (starts, 1))
        walk(chains, course.directions, _cut(members), rng, steps)
        pool = np.concatenate([self._start[None, :], chains[accept(chains)]])
        both = np.concatenate([-g, g])
        found = climb(both, pool, members, accept, course.towards, rng, rounds)
        return found.reshape(2, len(g), -1)

    # Inside

    def _members(self, used: Level, norm_bound: float | None, *, bounded: bool) -> Members:
        """Return the region on lines, within the ball if there is one."""

        def members(origins: Array, directions: Array) -> list[Array]:
            spans = self._lines.intervals(origins, directions, [used.q])[0]
            spans = self._confined(spans, origins, directions, norm_bound)
            if bounded and any(np.isinf(span).any() for span in spans):
                raise NotAvailable(
                    f"sampling needs a bounded region, and that of level {float(used):.12g} has no "
                    f"end on some lines. {_remedy(norm_bound)}"
                )
            return spans

        return members

    @property
    def _start(self) -> Array:
        """Where a search for members begins; a member, if one is known."""
        return self.estimate

    def _walk(self, norm_bound: float | None) -> Walk:
        ball = None
        if norm_bound is not None:
            ball = Ball.of(self._design("a norm bound").penalty_matrix(), norm_bound)
        if isinstance(self._lines, PiecewiseLines):
            return Walk.in_model(self._lines.model, self.estimate, ball)
        return Walk.in_coefficients(self.estimate, self.objective.kinks(), ball)

    def _probes(self, norm_bound: float | None) -> Array:
        """Directions along which regions often have no end, (N, d).

        Single coefficients, and coefficients that move single fitted values, or none. A norm
        bound leaves an intercept.
        """
        own = np.eye(self.objective.d)
        if not isinstance(self.objective, DesignedObjective):
            return own
        if norm_bound is not None:
            return own[: int(self.objective.design.intercept)]
        values = self.objective.coefficients(np.eye(self.objective.n))
        return np.concatenate([own, values, null_space(self.objective.design.matrix).T])

    def _follow(
        self, level: Any, at: Callable[[Sequence[int]], list[T]], result: Callable[[T], Any]
    ) -> Any:
        """Return the answer at one level or a dictionary, like `_at_levels`; all asked at once."""
        levels = as_levels(level)
        found = [result(part) for part in at([self.level(p).q for p in levels])]
        if not np.ndim(level):
            return found[0]
        return Levels(zip(map(as_double, levels), found, strict=True))

    @cached_property
    def _lines(self) -> Lines:
        """What follows the region along lines: batches of them, plain arrays in and out."""
        o, engine = self.objective, self._engine
        kinks = o.kinks()
        if (
            kinks is None
            or not isinstance(o, DesignedObjective)
            or not isinstance(engine.score, LeastNormScore)
            or not self.noise.orthogonal
        ):
            return BracketedLines(self._ranks_of, self.m)
        model = LineModel(
            phi=o.design.matrix,
            y=o.y,
            score=engine.score,
            kinks=kinks,
            perturbations=self.perturbations,
            tie_wins=self.tie_order[0] < self.tie_order[1:],
        )
        return PiecewiseLines(model, self._ranks_of)

    def _ranks_of(self, a: Array) -> IntArray:
        return self._engine.ranks(Candidates(a, None, single=False))

    @cached_property
    def _description(self) -> Description:
        words = self._describe()
        if self.exact_crossings:
            return words
        return words.with_line(
            "crossings", "approximate, by bisection between the points of a grid"
        )


def _remedy(norm_bound: float | None) -> str:
    if norm_bound is not None:
        return "The norm bound does not bound an intercept. What helps: a lower level."
    return (
        "What helps: a lower level; sample(..., norm_bound=B), which takes the sample within a "
        "ball; fewer features than rows."
    )


def _first(lines: list[Array]) -> Array:
    return lines[0]


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


def _status(
    upper: Array, lower: Array, norm_bound: float | None, *, hidden: bool
) -> tuple[Status, str]:
    """Say what kind of answer the bounds are, and why some are infinite."""
    if np.isneginf(upper).any():
        why = "Too few of the sets that make it up hold any point."
        if norm_bound is not None:
            why = f"No member has a norm of {norm_bound:g} or less: the bound is too small."
        return Status.EMPTY, why
    if np.isfinite(upper).all() and np.isfinite(lower).all():
        return Status.CERTIFIED, ""
    if norm_bound is None:
        ways = "a norm bound: band(X, norm_bound=B)"
    elif hidden:
        ways = (
            "functionals that the norm bounds, such as values of the function, band(X): "
            "coefficients can change where rounding hides it, without changing the norm"
        )
    else:
        ways = "a model without an unpenalised intercept, which the norm does not bound"
    return (
        Status.NO_OUTER_BOUND,
        f"What helps: {ways}; inner=True for values that members attain.",
    )

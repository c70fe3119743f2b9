"""Regions of ε-SVR, LASSO, Huber and any other objective, along lines (docs/theory.md 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy.linalg import null_space

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry import BracketedLines, Lines, order_statistic
from unassuming.geometry.piecewise import (
    LineModel,
    PiecewiseLines,
    ball_alone,
    open_directions,
    outer_bounds,
)
from unassuming.geometry.quadratic import BallChart
from unassuming.inputs import as_directions, as_vector, split_pipeline
from unassuming.membership import Candidates
from unassuming.objectives import Design, DesignedObjective, KernelDesign, LeastNormScore
from unassuming.ranking import Level, as_double, as_levels
from unassuming.regions._advice import Adviser, Asked, what_helps
from unassuming.regions._describe import Description
from unassuming.regions._functionals import FunctionalRegion, check_norm_bound
from unassuming.regions._results import Levels, Status
from unassuming.regions.search._endless_rays import Endless, direction_in_words, most_seen
from unassuming.regions.search._hill_climbing import climb
from unassuming.regions.search._hit_and_run import Members, check_sampling, hit_and_run, walk
from unassuming.regions.search._proposals import Ball, Walk

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
        direction : array of shape (d,) or (N, d), or name
            t multiplies it as it is. A name out of ``region.names`` stands for that coefficient.
            Several lines at once, which is faster than one by one, give a list.
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
        lines, single = as_directions(direction, self.names, "direction")
        start = self.estimate if origin is None else origin
        start = np.broadcast_to(as_vector(start, "origin", self.objective.d), lines.shape)
        return self._follow(
            level,
            lambda qs: self._lines.intervals(start, lines, qs),
            lambda spans: spans[0] if single else spans,
        )

    def reach(self, directions: Any, level: Any = 0.9) -> Any:
        """Return the end of the interval of t >= 0 that contains the estimate.

        The largest t such that all of estimate + [0, t] · direction belongs to the region. There
        may be members beyond: see `crossings`. Zero if the estimate is alone on that line, minus
        infinity if it is not a member itself.

        Parameters
        ----------
        directions : array of shape (d,) or (N, d), name or list of names
            t multiplies them as they are. A name out of ``region.names`` stands for that
            coefficient.
        level : float, sequence of floats, or None
            A sequence gives a dictionary. None gives all levels: shape (N, m - 1), column q - 1 for
            level 1 - q/m.

        Returns
        -------
        float for one direction, array of shape (N,) for several

        Examples
        --------
        >>> import numpy as np
        >>> import unassuming as ua
        >>> from sklearn.linear_model import Lasso
        >>> X, y, coefficients = ua.datasets.linear(n=40, d=2, random_state=0)
        >>> region = ua.confidence_region(Lasso(0.1), X, y, random_state=0)
        >>> t = region.reach("x0", level=0.9)
        >>> slope = np.array([0.0, 1.0, 0.0])
        >>> t == region.reach(slope, level=0.9)
        True
        >>> region.contains(region.estimate + 0.999 * t * slope)
        True
        >>> region.contains(region.estimate + 1.001 * t * slope)
        False
        """
        rows, single = as_directions(directions, self.names)
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
        line. ``thinning`` steps lie between two samples of a chain. From one in four of these
        points an excursion sets out as well, while the chain stays: along a line to where a
        coefficient becomes zero, or comes to a side of the box, then along that face. Where it ends
        is a sample too, so that sparse members are among them. Every sample has been accepted by
        `contains`.

        No law is claimed for the samples but that of these walks: they are members, spread over
        what lines reach. Parts of the region that no line joins to the rest may be missed. Refused
        if a line without end is met among a number that are tried first, or on the way.

        Parameters
        ----------
        size : int
            Number of samples, from 16 chains.
        level : float
            Of the region sampled from.
        random_state : int, Generator, RandomState or None
            Source of the walks.
        norm_bound : float, optional
            Sample within the ball of that norm (see `interval`). Needed where the region is
            unbounded.
        thinning : int, optional
            Steps between two samples of a chain; d by default.

        Returns
        -------
        array of shape (size, d)

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import Lasso
        >>> X, y, coefficients = ua.datasets.linear(n=40, d=2, random_state=0)
        >>> region = ua.confidence_region(Lasso(0.1), X, y, random_state=0)
        >>> members = region.sample(20, level=0.9, random_state=0)
        >>> members.shape, bool(region.contains(members, level=0.9).all())
        ((20, 3), True)
        """
        check_sampling(size, thinning, random_state)
        check_norm_bound(norm_bound)
        used = self.level(level)
        if not self.contains(self._start, level):
            raise self._no_member(used)
        if norm_bound is not None:
            self._require_inside(norm_bound)
        members = self._members(used, norm_bound, bounded=True)
        # A walk could take for ever to notice that the region is a cylinder: ask first.
        probes = self._probes(norm_bound)
        members(np.broadcast_to(self._start, probes.shape), probes)
        course = self._walk(norm_bound)
        return hit_and_run(
            self._start,
            course.directions,
            members,
            lambda a: self.contains(a, level),
            size,
            random_state,
            self.objective.d if thinning is None else thinning,
            lambda rng, points: course.excursions(rng, points, members),
        )

    # Bounds

    def _bounds(
        self, g: Array, ball: BallChart | None, norm_bound: float | None, *, inner: bool
    ) -> Callable[[Level], dict[str, Any]]:
        up, down = outer_bounds(self._model, self._known_design, g, ball, norm_bound, self.m - 1)

        def at(used: Level) -> dict[str, Any]:
            upper, lower = order_statistic(up, used.q), -order_statistic(down, used.q)
            endless, a, note = Endless.none(self.objective.d), None, ""
            infinite = np.isposinf(upper).any() or np.isneginf(lower).any()
            if infinite and not np.isneginf(upper).any():
                endless = self._endless(used, norm_bound, g)
            if inner and self.contains(self._start, float(used)):
                a, more, note = self._attained(g, norm_bound, used, endless)
                endless = endless.and_also(more)
            status, reason = self._status(g, upper, lower, used, ball, norm_bound, endless)
            fields = self._fields(used, g, lower, upper, status, f"{reason} {note}".strip(), a)
            if a is not None and len(endless.directions):
                fields["inner_upper"][endless.along(g) >= 0] = np.inf
                fields["inner_lower"][endless.along(-g) >= 0] = -np.inf
            known = (endless.along(g) >= 0) & (endless.along(-g) >= 0)
            return fields | {"sets": (up, down), "endless": bool(known.all())}

        return at

    def _status(
        self,
        g: Array,
        upper: Array,
        lower: Array,
        used: Level,
        ball: BallChart | None,
        norm_bound: float | None,
        endless: Endless,
    ) -> tuple[Status, str]:
        """Say what kind of answer the bounds are, and why some are infinite."""
        if np.isneginf(upper).any():
            why = "Too few of the sets that make it up hold any point."
            if norm_bound is not None:
                why = f"No member has a norm of {norm_bound:g} or less: the bound is too small."
            return Status.EMPTY, why
        if np.isfinite(upper).all() and np.isfinite(lower).all():
            if ball is not None and norm_bound is not None:
                alone = ball_alone(ball, norm_bound)
                if (upper >= alone).all() and (lower <= -alone).all():
                    return Status.CERTIFIED, (
                        "The bounds follow from the norm bound alone: the data add nothing."
                    )
            return Status.CERTIFIED, ""
        rays = np.where(np.isposinf(upper), endless.along(g), -1)
        rays = np.concatenate([rays, np.where(np.isneginf(lower), endless.along(-g), -1)])
        if (rays >= 0).any():
            v = endless.directions[rays[rays >= 0][0]]
            where = direction_in_words(v, self.objective)
            fact = (
                f"The region of level {float(used):.12g} is unbounded: there are members that may "
                f"move for ever along {where}."
            )
            return Status.UNBOUNDED, fact + self._shift_in_words()
        if ball is not None and ball.hidden.any():
            return Status.NO_OUTER_BOUND, (
                "Coefficients can change where rounding hides it, without changing the norm; "
                "values of the function, band(X), do not see that."
            )
        if self._model is None:
            return Status.NO_OUTER_BOUND, f"Of {self.objective} only membership is known."
        return Status.NO_OUTER_BOUND, self._shift_in_words().strip()

    def _shift_in_words(self) -> str:
        if not (self._intercept and self._adviser.shift_unseen):
            return ""
        return (
            " Every transformation leaves a constant shift of the noise as it is, so that the data "
            "say nothing about the intercept."
        )

    def _ways(self, asked: Asked, status: Status) -> str:
        if status not in (Status.NO_OUTER_BOUND, Status.UNBOUNDED):
            return ""
        return what_helps(self._adviser.ways(asked))

    @cached_property
    def _adviser(self) -> Adviser:
        size = None
        if self._known_design is not None:
            size = 2 * self._norm_of_estimate() or 1.0
        return Adviser(
            objective=self.objective,
            weighting=self.weighting,
            model=self._model,
            m=self.m,
            size=size,
            ball=lambda g: self._ball(g, None, function=False),
            last=split_pipeline(self.estimator)[1],
        )

    def _attained(
        self, g: Array, norm_bound: float | None, used: Level, endless: Endless
    ) -> tuple[Array, Endless, str]:
        """Return members near the lower and the upper ends of functionals, (2, N, d).

        Also rays without end that the search met, and what there is to say of it. Functionals that
        grow along a ray known before are not searched for: their member is where it begins.
        """
        rng = np.random.default_rng(self.seed)
        both = np.concatenate([-g, g])
        known = endless.along(both)
        found = np.empty_like(both)
        found[known >= 0] = endless.origins[known[known >= 0]]
        open_ = np.flatnonzero(known < 0)
        more, note = Endless.none(self.objective.d), ""
        if len(open_):
            members = self._members(used, norm_bound, bounded=False)

            def accept(a: Array) -> BoolArray:
                return np.asarray(self._ranks_of(a) <= self.m - used.q)

            course = self._walk(norm_bound)
            starts, steps, rounds = _EXACT_SEARCH if self.exact_crossings else _BRACKETED_SEARCH
            chains = np.tile(self._start, (starts, 1))
            walk(chains, course.directions, _cut(members), rng, steps)
            pool = np.concatenate([self._start[None, :], chains[accept(chains)]])
            found[open_], met = climb(
                both[open_], pool, members, accept, course.towards, rng, rounds
            )
            lines = met[:, ~np.isnan(met[0, :, 0])]
            if lines.size and self.exact_crossings:
                more = Endless.on(lines[0], lines[1], members(lines[0], lines[1]), accept)
                new = more.along(both)
                found[new >= 0] = more.origins[new[new >= 0]]
            elif lines.size:
                note = (
                    "Members were found along some lines as far as the grid goes: the search for "
                    "members stops there, and the ends of the region may be farther off."
                )
        if len(endless.directions) or len(more.directions):
            note = (
                "An infinite inner bound is no single member: members along a line without end "
                "exceed every number, and the witness is where it begins."
            )
        return found.reshape(2, len(g), -1), more, note

    # Inside

    def _members(self, used: Level, norm_bound: float | None, *, bounded: bool) -> Members:
        """Return the region on lines, within the ball if there is one."""

        def members(origins: Array, directions: Array) -> list[Array]:
            spans = self._lines.intervals(origins, directions, [used.q])[0]
            spans = self._confined(spans, origins, directions, norm_bound)
            if bounded and any(np.isinf(span).any() for span in spans):
                raise self._unbounded_sample(used, norm_bound)
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

    def _unbounded_sample(self, used: Level, norm_bound: float | None) -> NotAvailable:
        asked = Asked("sample", np.eye(self.objective.d), used.q, norm_bound, inner=True)
        held = "" if norm_bound is None else " The norm bound does not bound an intercept."
        return NotAvailable(
            f"sampling needs a bounded region, and that of level {float(used):.12g} has no end on "
            f"some lines.{held} {what_helps(self._adviser.ways(asked))}"
        )

    def _endless(self, used: Level, norm_bound: float | None, g: Array) -> Endless:
        """Return rays from the estimate that never leave the region, where lines are exact.

        Of the probes those that functionals g (N, d) see best are tried.
        """
        probes = self._probes(norm_bound) if self.exact_crossings else np.empty((0, 1))
        if not len(probes):
            return Endless.none(self.objective.d)
        if self._known_design is not None:
            probes = probes[most_seen(probes, g, self._known_design.matrix)]
        origins = np.broadcast_to(self._start, probes.shape)
        spans = self._lines.intervals(origins, probes, [used.q])[0]
        return Endless.on(
            origins, probes, spans, lambda a: np.asarray(self._ranks_of(a) <= used.largest_rank)
        )

    def _probes(self, norm_bound: float | None) -> Array:
        """Directions along which regions often have no end, (N, d).

        Single coefficients; for kernels, coefficients that move single fitted values; those that
        move none; and what most of the sets leave open. A norm bound leaves an intercept.
        """
        own = np.eye(self.objective.d)
        design = self._known_design
        if design is None:
            return own
        if norm_bound is not None:
            return own[: int(design.intercept)]
        some = [own]
        if self._model is not None:
            some += [v[None, :] for v in open_directions(self._model)]
        if isinstance(design, KernelDesign):
            some.append(design.coefficients(np.eye(self.objective.n)))
        return np.concatenate([*some, null_space(design.matrix).T])

    def _follow(
        self, level: Any, at: Callable[[Sequence[int]], list[T]], result: Callable[[T], Any]
    ) -> Any:
        """Return the answer at one level or a dictionary, like `_at_levels`; all asked at once."""
        levels = as_levels(level)
        found = [result(part) for part in at([self.level(p).q for p in levels])]
        if not np.ndim(level):
            return found[0]
        return Levels(zip(map(as_double, levels), found, strict=True))

    @property
    def _model(self) -> LineModel | None:
        return self._lines.model if isinstance(self._lines, PiecewiseLines) else None

    @property
    def _known_design(self) -> Design | None:
        return self.objective.design if isinstance(self.objective, DesignedObjective) else None

    @property
    def _intercept(self) -> bool:
        return self._known_design is not None and self._known_design.intercept

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
        if not self.exact_crossings:
            words = words.with_line(
                "crossings", "approximate, by bisection between the points of a grid"
            )
        return words.with_line("bounded", self._bounded_in_words())

    def _bounded_in_words(self) -> str:
        return (
            "not examined here: crossings(direction) tells how far a line goes, and interval() "
            "whether finite bounds are certified"
        )


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

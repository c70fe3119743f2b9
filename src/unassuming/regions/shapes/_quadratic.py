"""The shape of least squares, ridge, kernel ridge and LS-SVC regions (docs/theory.md 4).

The region of level 1 - q/m holds the points that lie in at least q of the m - 1 sets {Z_0 <= Z_i},
each an ellipsoid or a cylinder around the estimate. So lines and bounds have closed forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.geometry import order_statistic
from unassuming.geometry.quadratic import (
    FreeDirections,
    counting_decides,
    widest_spread,
)
from unassuming.membership import RankEngine
from unassuming.noise import Perturbations
from unassuming.objectives import BallCoordinates, NormBall, Quadratic
from unassuming.ranking import Level
from unassuming.regions._ellipsoid import Ellipsoid
from unassuming.regions._explain import (
    Cause,
    Explanation,
    Fact,
    Language,
    Remedy,
    Status,
    status_of,
)
from unassuming.regions._problem import IN_MEMORY, Problem
from unassuming.regions._question import Call, Question
from unassuming.regions._remedies import (
    EXCHANGEABLE,
    SPHERICAL,
    SYMMETRIC_EXCHANGEABLE,
    of_bad_scales,
    of_hidden_functionals,
    of_quadratic_region,
)
from unassuming.regions._results import Boundedness
from unassuming.regions._sizes import gram
from unassuming.regions.search._star_search import StarSearch
from unassuming.regions.shapes._decided_lines import ends_of_rays, parts_of_lines
from unassuming.regions.shapes._far_out import held_far_out
from unassuming.regions.shapes._quadratic_sets import QuadraticSets
from unassuming.regions.shapes._repeated import Repeated
from unassuming.regions.shapes._shape import OuterBounds, Shape, ball_facts, no_member

_NEED_ROWS = (EXCHANGEABLE, SYMMETRIC_EXCHANGEABLE, SPHERICAL)
"""Remedies that a stream refuses, and a region in memory does not."""


@final
class QuadraticShape(Shape):
    """Points that lie in at least q of m - 1 ellipsoids or cylinders around the estimate."""

    name: ClassVar[str] = "quadratic"
    star_convex: ClassVar[bool] = True

    def __init__(self, problem: Problem, engine: RankEngine, why: str) -> None:
        assert isinstance(problem.objective, Quadratic)
        self.problem, self.engine, self.why = problem, engine, why
        self.objective: Quadratic = problem.objective
        self.repeated = Repeated(problem.objective, rows=problem.rows is not None)

    @property
    def exact(self) -> bool:
        """True: lines have closed forms."""
        return True

    @property
    def estimate(self) -> Array:
        """The centre of all sets."""
        return self.problem.estimate

    @property
    def perturbations(self) -> Perturbations:
        """The transformations, one for each set."""
        return self.engine.perturbations

    @cached_property
    def sets(self) -> QuadraticSets:
        """The m - 1 sets."""
        return QuadraticSets(self.objective, self.estimate, self.engine)

    # Lines, docs/theory.md 4.1

    def reach(self, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return where rays first leave at least q of the intervals."""
        sums = self.perturbations.rounded is not None
        found = ends_of_rays(*self.sets.rays(directions), qs, self.objective, sums=sums)
        holding = np.count_nonzero(self.sets.hold_estimate)
        return [np.where(q <= holding, end, -np.inf) for q, end in zip(qs, found, strict=True)]

    def intervals(self, origins: Array, directions: Array, qs: Sequence[int]) -> list[list[Array]]:
        """Return the points of lines that lie in at least q of the intervals."""
        sums = self.perturbations.rounded is not None
        sets = self.sets.intervals(origins, directions)
        return parts_of_lines(*sets, qs, self.objective, sums=sums)

    # Bounds, docs/theory.md 4.2 to 4.4

    def ellipsoid(self, level: Level) -> Ellipsoid:
        """Return {a : (a - â)ᵀH(a - â) <= γ} with the q-th largest γ_i."""
        matrix = gram(self.objective)  # refuses squares that do not fit
        each = self.sets.radii[None, :]
        gamma = order_statistic(each, level.q)
        status, explanation = self._explained(each, each, level, None)
        return Ellipsoid(
            center=self.estimate,
            matrix=matrix,
            squared_radius=float(gamma[0]),
            level=float(level),
            status=status,
            reason=explanation.text(),
            root_inverse=self.objective.back,
            explanation=explanation,
        )

    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Return the q-th largest of the bounds over the sets; the sets are made once."""
        asked, o, estimate = question, self.objective, self.estimate
        if o.primal is not None and question.features is not None:
            asked, o, estimate = question.on_features(), o.primal, o.primal_estimate
        ball = asked.ball_coordinates(o.design, self.sets.root, estimate)
        decided = None
        if ball is None:
            up, down, decided, hidden = self.sets.supports(o, estimate, asked.g, asked.at)
        else:
            up, down = self.sets.supports_in_ball(o, estimate, asked, ball)
            hidden = bool(ball.hidden.any())
        found = []
        for level in levels:
            upper, lower = order_statistic(up, level.q), -order_statistic(down, level.q)
            call = question.call if hidden else None
            status, explanation = self._explained(up, down, level, ball, call, decided)
            witnesses = None
            if question.inner and status is not Status.EMPTY:
                own = question.ball_coordinates(
                    self.objective.design, self.sets.root, self.estimate
                )
                held = None if own is None else own.over(self.sets.unit)
                witnesses = self._search.witnesses(question.g, held, level)
            if status is not Status.EMPTY:
                explanation = explanation.with_more(*self.repeated.seen(question.g))
            found.append(OuterBounds(lower, upper, status, explanation, witnesses))
        return found

    def _explained(
        self,
        up: Array,
        down: Array,
        level: Level,
        ball: BallCoordinates | None,
        call: Call | None = None,
        decided: BoolArray | None = None,
    ) -> tuple[Status, Explanation]:
        """Return what kind of answer the bounds over each set (N, m - 1) give, and why.

        ``call`` is what was asked, if some functionals are hidden; ``decided`` says of which sets
        it is known whether they are bounded.
        """
        upper, lower = order_statistic(up, level.q), -order_statistic(down, level.q)
        status = status_of(lower, upper, Status.UNDETERMINED)
        if status in (Status.EMPTY, Status.CERTIFIED):
            return status, Explanation(ball_facts(status, lower, upper, level, ball))
        design = self.objective.design
        if call is not None:
            why = Cause.HIDDEN_KERNEL() if design.dual else Cause.HIDDEN_FEATURES()
            remedies = of_hidden_functionals(design, call, held=ball is not None)
            return status, Explanation((why,), tuple(remedies))
        if decided is not None and not decided.all():
            finite = np.where(decided, up, -np.inf), np.where(decided, down, -np.inf)
            if all((order_statistic(part, level.q) < np.inf).all() for part in finite):
                return Status.NOT_CERTIFIED, self._too_few_digits(int((~decided).sum()))
        verdict, fact, _ = self._verdict(level)
        infinite = max(int(np.isposinf(part).sum(axis=1).max()) for part in (up, down))
        if fact.cause is Cause.EVERY_SET_BOUNDED and not design.dual:  # rounding alone is left
            return Status.NOT_CERTIFIED, self._too_few_digits(infinite)
        best = (level.m - 1 - infinite) / level.m  # more than that many sets have a finite bound
        found = self._remedies(best, fact, held=ball is not None)
        status = Status.UNBOUNDED if verdict == "unbounded" else Status.NOT_CERTIFIED
        why = Cause.REGION_IS(level=float(level), verdict=verdict, why=fact)
        if verdict == "undetermined":
            why = Cause.NOT_KNOWN_WHETHER(level=float(level), why=fact)
        return status, Explanation((why,), found)

    def norm_lower_bound(self, level: Level) -> float:
        """Return the q-th smallest of the least norms: a member lies in q of the sets."""
        return float(np.partition(self.sets.least_norms, level.q - 1)[level.q - 1])

    # Boundedness, docs/theory.md 4.4

    @property
    def free(self) -> FreeDirections:
        """The free directions of the sets."""
        return self.sets.free

    def largest_bounded_rank(self) -> int:
        """Return m minus the smallest q at which the region is certainly bounded."""
        return max(0, self.perturbations.m - self.free.smallest_bounded_q)

    def bounded(self, level: Level) -> Boundedness:
        """Return the verdict by counting cylinders and shared free directions."""
        verdict, fact, direction = self._verdict(level)
        if verdict == "bounded":
            unseen = self.free.unseen
            more = (Cause.UNSEEN(unseen=unseen),) if unseen else ()
            explanation = Explanation((fact, *more), None, self.repeated.every() if unseen else ())
        else:
            best = (level.m - self.free.smallest_bounded_q) / level.m
            copies = self.repeated.every() if direction is None else self.repeated.along(direction)
            explanation = Explanation((fact,), self._remedies(best, fact), copies)
        return Boundedness(float(level), verdict, explanation.text(), direction, explanation)

    def _remedies(self, best: float, fact: Fact, *, held: bool = False) -> tuple[Remedy, ...]:
        o, noise = self.objective, self.problem.noise
        if fact.cause is Cause.SUMS_TOO_SHORT:
            return (IN_MEMORY,)
        found = of_quadratic_region(o, self.free, noise, best, self.perturbations.m, held=held)
        if self.problem.rows is not None:
            return tuple(found)
        return tuple(
            replace(
                one,
                python=f"in memory, {one.python}",
                command_line=f"--no-stream {one.command_line}",
            )
            if one in _NEED_ROWS
            else one
            for one in found
        )

    def _verdict(self, level: Level) -> tuple[str, Fact, Array | None]:
        """Return the verdict at one level, the fact behind it, and a direction without end."""
        q, sets, free = level.q, level.m - 1, self.free
        if q >= free.smallest_bounded_q:
            most = free.smallest_bounded_q - 1
            if not most:
                return "bounded", Cause.EVERY_SET_BOUNDED(q=q), None
            why = Cause.SETS_SHARE if free.exact else Cause.SETS_UNBOUNDED
            return "bounded", why(q=q, most=most), None
        design, direction = self.objective.design, free.direction
        exact = self.perturbations.rounded is not None  # a stream knows it without rounding
        if direction is not None and not exact and q <= free.shared and q > self._members_far_out:
            direction = None
        named = direction is not None or (design.dual and design.spans_everything)
        if named and q <= free.shared and (exact or direction is None or q <= self._never_ends):
            fact = Cause.NEVER_END(shared=free.shared, sets=sets, along=free, q=q)
            return "unbounded", fact, direction
        if q <= free.shared and free.direction is not None:
            return "undetermined", Cause.END_IN_SIGHT(along=free), None
        fact = Cause.NO_DIRECTION(cylinders=free.cylinders, sets=sets, q=q)
        if free.cylinders - free.undecided < q:
            fact = self._too_few_digits(free.undecided).facts[0]
        return "undetermined", fact, None

    def _too_few_digits(self, undecided: int) -> Explanation:
        """Say which numbers leave some sets without bounds, or undecided."""
        spread, sets = widest_spread(self.objective), self.perturbations.m - 1
        if self.perturbations.rounded is not None:
            sums = Cause.SUMS_TOO_SHORT(undecided=undecided, sets=sets)
            return Explanation((sums,), (IN_MEMORY,))
        if self.sets.lost:
            return Explanation((Cause.NEARLY_DEPENDENT(undecided=undecided, sets=sets),), None)
        rotated, numbers = self.objective.basis is not None, spread._asdict()
        if rotated:
            numbers["row"] = f"{spread.row} of the rotated data"
        why = Cause.TOO_FEW_DIGITS(undecided=undecided, sets=sets, **numbers)
        return Explanation((why,), tuple(of_bad_scales(spread, rotated=rotated)))

    @cached_property
    def _never_ends(self) -> int:
        """How many sets never end along the free direction, in both senses.

        Fitted values of a kernel of full rank may move in a direction that its coefficients do not
        show in double precision.
        """
        direction = self.free.direction
        assert direction is not None
        endless = self.sets.endless(np.stack([direction, -direction]))
        return int(endless.sum(axis=1).min())

    @cached_property
    def _members_far_out(self) -> int:
        """How many sets hold the farthest points along the free direction that can be ranked."""
        direction = self.free.direction
        assert direction is not None
        return held_far_out(self.sets, direction)

    def lines_of_print(self, language: Language) -> list[tuple[str, str]]:
        """Return up to which level the region is bounded, if counting signs decides it."""
        words, more = self._bounded_in_words()
        return [("bounded", words + more if language is Language.PYTHON else words)]

    def _bounded_in_words(self) -> tuple[str, str]:
        """Return what is known, and which call of Python says more."""
        counting = counting_decides(self.objective, self.perturbations.noise)
        if not counting and "free" not in vars(self.sets):  # nobody has asked yet
            return "not examined yet", ": region.bounded(level) decides"
        try:
            rank, m = self.largest_bounded_rank(), self.perturbations.m
        except NotAvailable:
            return "not known: only membership and tests are available here", ""
        if rank >= m - 1:
            return "at every level, in fitted values at the inputs", ""
        if rank <= 0:
            return "not certified at any level", ": region.bounded(level) says why and what to do"
        return f"up to level {rank / m:.4g}", "; region.bounded(level) says more"

    # Members

    def start(self) -> Array:
        """Return the estimate, about which the region is star convex."""
        return self.estimate

    @cached_property
    def _search(self) -> StarSearch:
        return StarSearch(
            self.objective,
            self.sets.maker,
            self.sets.lines,
            self.engine,
            self.estimate,
            self.problem.seed,
        )

    def sample(
        self, size: int, level: Level, ball: NormBall | None, random_state: Any, thinning: Any
    ) -> Array:
        """Return members by hit-and-run from the estimate."""
        self._require_end(level, ball)
        return self._search.sample(size, level, ball, random_state, thinning)

    def _require_end(self, level: Level, ball: NormBall | None) -> None:
        """Refuse to sample a region without end, or without a member."""
        if ball is None and not (verdict := self.bounded(level)):
            raise NotAvailable(
                f"sampling needs a bounded region. {verdict} With norm_bound=B the sample is taken "
                "within the ball."
            )
        if not self._search.accepts(self.estimate[None, :], level)[0]:
            raise no_member(level)
        if ball is None:
            return
        self.require_inside(ball)
        intercept = np.eye(1, self.objective.d)
        if (
            self.objective.design.intercept
            and not (verdict := self.bounded(level))
            and self.reach(intercept, [level.q])[0][0] == np.inf
        ):
            raise NotAvailable(
                f"sampling needs a bounded region. {verdict} The norm bound does not bound the "
                "intercept."
            )

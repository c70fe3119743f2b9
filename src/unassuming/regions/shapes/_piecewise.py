"""The shape of ε-SVR, LASSO, Huber and other regions, known along lines (docs/theory.md 7.1).

Where the objective declares its kinks and the noise acts by orthogonal maps, the statistics are
piecewise quadratic along a line, and its intersection with the region is exact. Otherwise only
membership can be tested, and the intersection is found on a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from unassuming._rounding import TINY, length
from unassuming._typing import Array
from unassuming.geometry import GridLines, Lines, order_statistic
from unassuming.geometry.piecewise import (
    LineModel,
    PiecewiseLines,
    open_directions,
    outer_bounds,
)
from unassuming.membership import RankEngine
from unassuming.objectives import BallCoordinates, NormBall
from unassuming.ranking import Level
from unassuming.regions._describe import direction_in_words
from unassuming.regions._explain import (
    Cause,
    Explanation,
    Fact,
    Status,
    status_of,
)
from unassuming.regions._problem import Problem
from unassuming.regions._question import Question
from unassuming.regions._sizes import require_moderate
from unassuming.regions.search._endless_rays import Endless
from unassuming.regions.search._proposals import Proposals
from unassuming.regions.shapes._line_shape import LineShape
from unassuming.regions.shapes._shape import OuterBounds, ball_facts


def line_model(problem: Problem, engine: RankEngine) -> LineModel | None:
    """Return what is needed to follow statistics along lines exactly, if that is possible."""
    o, kinks = problem.objective, problem.objective.kinks()
    score, orthogonal = engine.score.along_lines, engine.perturbations.noise.orthogonal
    if kinks is None or o.design is None or score is None or not orthogonal:
        return None
    return LineModel(
        phi=o.design.matrix,
        y=o.y,
        score=score,
        kinks=kinks,
        perturbations=engine.perturbations,
        tie_wins=engine.tie_order[0] < engine.tie_order[1:],
    )


@final
class PiecewiseShape(LineShape):
    """A region whose statistics are piecewise quadratic along lines, or known by membership."""

    name: ClassVar[str] = "piecewise"

    @cached_property
    def model(self) -> LineModel | None:
        """The statistics along lines; None if only membership can be tested."""
        return line_model(self.problem, self.engine)

    @property
    def exact(self) -> bool:
        """Whether the statistics are piecewise quadratic along lines."""
        return self.model is not None

    @cached_property
    def lines(self) -> Lines:
        """The region along lines."""
        self._require_moderate()
        if self.model is None:
            return GridLines(self.engine.ranks_of, self.engine.perturbations.m, self._typical)
        return PiecewiseLines(self.model, self.engine.ranks_of)

    def _require_moderate(self) -> None:
        o = self.problem.objective
        if self.model is not None and o.design is not None and not o.design.dual:
            need = f"everything about {o} but membership needs"
            require_moderate(need, o.design.matrix, o.y, o.names)

    def start(self) -> Array:
        """Return the estimate."""
        return self.problem.estimate

    def proposals(self, ball: NormBall | None) -> Proposals:
        """Return directions in units of the gradient, or of the coefficients."""
        estimate = self.problem.estimate
        if self.model is not None:
            return Proposals.in_model(self.model, estimate, ball)
        o = self.problem.objective
        return Proposals.in_coefficients(estimate, o.kinks(), ball, o.regressors)

    @cached_property
    def _typical(self) -> Callable[[Array], Array] | None:
        """About how far members are on lines, if regressors say so: a residual in fitted values."""
        o = self.problem.objective
        if o.regressors is None:
            return None
        phi, r = o.regressors, o.residuals(self.problem.estimate[None, :])[0]
        unit = float(length(r)) / np.sqrt(o.n) or float(length(o.y)) or 1.0
        return lambda d: unit / np.maximum(length(d @ phi.T), TINY)

    def probes(self, ball: NormBall | None) -> Array:
        """Return single coefficients, directions that most sets leave open, those of the design.

        With a norm bound only an intercept is left.
        """
        own, design = np.eye(self.problem.objective.d), self.problem.objective.design
        if design is None:
            return own
        if ball is not None:
            return own[: int(design.intercept)]
        some = [] if self.model is None else [v[None, :] for v in open_directions(self.model)]
        return np.concatenate([own, *some, design.probe_directions()])

    # Bounds

    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Return bounds by relaxation (docs/theory.md 7.2), or those of the ball alone."""
        self._require_moderate()
        o, g = self.problem.objective, question.g
        ball = question.ball_coordinates(o.design, np.ones(o.n), self.problem.estimate)
        up, down = outer_bounds(self.model, o, g, ball, self.engine.perturbations.m - 1)
        found = []
        for level in levels:
            q = level.q
            upper, lower = order_statistic(up, q), -order_statistic(down, q)
            members = self.search.examine(g, q, question.ball, lower, upper, inner=question.inner)
            status, facts = self._facts(g, lower, upper, level, ball, members.rays)
            endless, remedies = members.endless(g), None
            if status in (Status.NO_OUTER_BOUND, Status.UNBOUNDED):
                known = question.inner or bool(endless.all())
                own = self.adviser.remedies(question, q, (up, down), inner=known)
                cells = () if ball is None else self.adviser.cells(question, q)
                remedies = (*cells, *own)
            elif any(fact.cause is Cause.BALL_ALONE for fact in facts):
                remedies = self.adviser.cells(question, q) or None
            explanation = Explanation((*facts, *members.facts), remedies)
            found.append(OuterBounds(lower, upper, status, explanation, members.witnesses, endless))
        return found

    def _facts(
        self,
        g: Array,
        lower: Array,
        upper: Array,
        level: Level,
        ball: BallCoordinates | None,
        rays: Endless,
    ) -> tuple[Status, tuple[Fact, ...]]:
        """Return what kind of answer the bounds are, and why some are infinite."""
        status = status_of(lower, upper, Status.NO_OUTER_BOUND)
        if status is not Status.NO_OUTER_BOUND:
            return status, ball_facts(status, lower, upper, level, ball)
        shift = (Cause.SHIFT_UNSEEN(),) if self._shift_unseen else ()
        above = np.where(np.isposinf(upper), rays.along(g), -1)
        below = np.where(np.isneginf(lower), rays.along(-g), -1)
        known = np.concatenate([above, below])
        if (known >= 0).any():
            v = rays.directions[known[known >= 0][0]]
            along = direction_in_words(v, self.problem.objective)
            return Status.UNBOUNDED, (
                Cause.MOVES_FOR_EVER(level=float(level), along=along),
                *shift,
            )
        if ball is not None and ball.hidden.any():
            return status, (Cause.HIDDEN_IN_BALL(),)
        if self.model is None:
            return status, (Cause.MEMBERSHIP_ONLY(objective=self.problem.objective),)
        design = self.problem.objective.design
        if ball is None and design is not None and design.dual and design.intercept:
            return status, (*shift, Cause.NORM_AND_INTERCEPT())
        return status, shift

    @property
    def _shift_unseen(self) -> bool:
        design = self.problem.objective.design
        return design is not None and design.intercept and self.adviser.shift_unseen

"""The shape of regression quantiles: a union of polyhedra (docs/theory.md 13).

Lines are exact. Outer bounds come from branch and bound, for few coefficients; with more only a
norm bound gives some.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import ClassVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._rounding import exceeds
from unassuming._typing import Array, BoolArray
from unassuming.geometry import Lines
from unassuming.geometry.signs import (
    LARGEST_RANK,
    NODES,
    SignBoxes,
    SignLines,
    SignModel,
    Support,
    branch_and_bound,
)
from unassuming.objectives import BallCoordinates, NormBall, QuantileObjective
from unassuming.ranking import Level
from unassuming.regions._describe import direction_in_words
from unassuming.regions._explain import (
    Cause,
    Explanation,
    Fact,
    Remedy,
    Status,
    status_of,
)
from unassuming.regions._question import Question
from unassuming.regions._remedies import (
    ATTAINED,
    CROSSINGS,
    FEWER_FEATURES,
    NO_PENALTY,
    of_quantiles,
)
from unassuming.regions._remedies import level as lower_level
from unassuming.regions._results import Boundedness
from unassuming.regions.search._endless_rays import Endless
from unassuming.regions.search._line_search import Attained
from unassuming.regions.search._proposals import Proposals
from unassuming.regions.shapes._boxes import how_found, nested, of_the_ball, without_boxes
from unassuming.regions.shapes._line_shape import LineShape
from unassuming.regions.shapes._shape import OuterBounds, ball_facts

_LOOK, _FOLLOWED = NODES // 10, 32
"""A look at infinity takes so many boxes, and follows lines through some of those left."""


@final
class QuantileShape(LineShape):
    """A region of regression quantiles."""

    name: ClassVar[str] = "quantiles"

    @property
    def exact(self) -> bool:
        """True: the breakpoints of a line are known."""
        return True

    @cached_property
    def signs(self) -> SignModel:
        """The statistics as functions of signs."""
        o, fresh = self.problem.objective, self.engine.fresh_signs
        assert fresh is not None
        assert o.design is not None
        return SignModel(o.design.matrix, o.y, fresh, o.residual_error)

    @cached_property
    def boxes(self) -> SignBoxes | None:
        """Boxes of coefficients; None if there are too many coefficients."""
        return SignBoxes.of(self.signs, self.problem.estimate)

    @cached_property
    def lines(self) -> Lines:
        """The region along lines."""
        return SignLines(self.signs, self.engine.ranks_of)

    def start(self) -> Array:
        """Return the estimate."""
        return self.problem.estimate

    @cached_property
    def _axes(self) -> Array:
        """Directions (k, d) in which fitted values move by orthogonal vectors of typical size."""
        if self.boxes is not None:
            return self.boxes.back.T
        _, s, vt = np.linalg.svd(self.signs.phi, full_matrices=False)
        r = np.abs(self.signs.y - self.signs.phi @ self.start())
        return np.asarray(vt * (float(np.median(r)) or 1.0) / np.maximum(s, 1e-6 * s[0])[:, None])

    def proposals(self, ball: NormBall | None) -> Proposals:
        """Return directions in units of the fitted values."""
        penalised = self.signs.score.penalised
        kinks = self.problem.objective.kinks() if penalised else None
        return Proposals((self._axes.T,), kinks, ball)

    def probes(self, ball: NormBall | None) -> Array:
        """Return single coefficients and the axes; with a norm bound only an intercept is left."""
        own, design = np.eye(self.problem.objective.d), self.problem.design("sample")
        if ball is not None:
            return own[: int(design.intercept)]
        return np.concatenate([own, self._axes])

    # Bounds

    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Return bounds by branch and bound, or those of the ball alone."""
        ball, by_level = of_the_ball(self, question, levels)
        found = []
        for level, (lower, upper) in zip(levels, by_level, strict=True):
            if self.boxes is None:
                explain = partial(self._infinite, question, level)
                bounds = lower, upper
                found.append(without_boxes(self, question, ball, bounds, level, explain))
            else:
                found.append(self._certified(self.boxes, question, ball, lower, upper, level))
        return found

    def _certified(
        self,
        boxes: SignBoxes,
        question: Question,
        ball: BallCoordinates | None,
        lower: Array,
        upper: Array,
        level: Level,
    ) -> OuterBounds:
        """Combine branch and bound with the ball."""
        g, q = question.g, level.q
        members = self.search.examine(g, q, question.ball, lower, upper, inner=False)
        if question.ball is None:
            members = replace(members, rays=members.rays.and_also(self._far_rays(boxes, q)))
        hidden = _hidden(boxes, g)
        endless = members.endless(g) | hidden
        found = branch_and_bound(
            boxes,
            partial(_keeps, boxes, question.ball, q),
            g,
            partial(self.search.near, axes=boxes.back.T, q=q, ball=question.ball),
            endless=endless,
        )
        lower = np.maximum(
            lower, np.where(hidden & (found.lower <= found.upper), -np.inf, found.lower)
        )
        upper = np.minimum(
            upper, np.where(hidden & (found.lower <= found.upper), np.inf, found.upper)
        )
        lower, upper = nested(lower, upper)
        witnesses = found.witnesses if question.inner else None
        if question.inner and witnesses is None:
            searched = self.search.examine(g, q, question.ball, lower, upper, inner=True)
            members = replace(searched, rays=members.rays.and_also(searched.rays))
            witnesses = members.witnesses
        status, explanation = self._explained(question, found, ball, (lower, upper), members, level)
        return OuterBounds(lower, upper, status, explanation, witnesses, members.endless(g))

    def _explained(
        self,
        question: Question,
        found: Support,
        ball: BallCoordinates | None,
        bounds: tuple[Array, Array],
        members: Attained,
        level: Level,
    ) -> tuple[Status, Explanation]:
        """Return what kind of answer the bounds are, why, and what to do about infinite ones."""
        status = status_of(*bounds, Status.NO_OUTER_BOUND)
        if status is Status.EMPTY:
            return status, Explanation(ball_facts(status, *bounds, level, ball))
        if status is Status.CERTIFIED:
            return status, Explanation(
                (how_found(found), *ball_facts(status, *bounds, level, ball))
            )
        infinite = np.stack([np.isneginf(bounds[0]), np.isposinf(bounds[1])])
        if (members.endless(question.g) & infinite).any():
            along = direction_in_words(_ray(members.rays, question.g), self.problem.objective)
            ways = ((NO_PENALTY,) * self._penalised + self._lower_level(level)) + (
                ATTAINED if not question.inner else CROSSINGS,
            )
            fact = Cause.MOVES_FOR_EVER(level=float(level), along=along)
            return Status.UNBOUNDED, Explanation((fact, *members.facts), ways)
        assert self.boxes is not None
        if _hidden(self.boxes, question.g).any():
            return Status.UNDETERMINED, Explanation((Cause.HIDDEN_FEATURES(),), (FEWER_FEATURES,))
        ways = of_quantiles(inner=question.inner, penalised=self._penalised)
        return status, Explanation((Cause.NOT_SETTLED(nodes=NODES),), ways)

    @property
    def _penalised(self) -> bool:
        o = self.problem.objective
        return isinstance(o, QuantileObjective) and bool(np.any(o.penalty))

    def _lower_level(self, level: Level) -> tuple[Remedy, ...]:
        """Return the highest level below this one whose region is known to be bounded, if any."""
        assert self.boxes is not None
        m = self.engine.perturbations.m
        for q in np.unique(np.linspace(level.q + 1, m - 1, 12, dtype=np.intp)):
            if not len(self.boxes.far(int(q), _LOOK)[0]):
                return (lower_level(1 - q / m, m),)
        return ()

    def _infinite(
        self, question: Question, level: Level, members: Attained
    ) -> tuple[Status, Explanation]:
        """Explain infinite bounds of too many coefficients."""
        facts: tuple[Fact, ...] = (Cause.NO_BOXES(most=LARGEST_RANK),)
        remedies = of_quantiles(inner=question.inner, penalised=False)
        if not members.endless(question.g).any():
            return Status.NO_OUTER_BOUND, Explanation(facts, remedies)
        words = direction_in_words(_ray(members.rays, question.g), self.problem.objective)
        facts = (Cause.MOVES_FOR_EVER(level=float(level), along=words), *facts)
        return Status.UNBOUNDED, Explanation(facts, remedies)

    def bounded(self, level: Level) -> Boundedness:
        """Return whether the region is bounded, by boxes at infinity and lines without end."""
        o = self.problem.objective
        every = np.eye(o.d)
        none = np.full(o.d, np.inf)
        rays = self.search.examine(every, level.q, None, -none, none, inner=False).rays
        verdict, fact, direction = "undetermined", Cause.NO_BOXES(most=LARGEST_RANK), None
        if self.boxes is not None and not len(rays.directions):
            rays = self._far_rays(self.boxes, level.q)
        if len(rays.directions):
            direction = rays.directions[0]
            along = direction_in_words(direction, o)
            verdict, fact = "unbounded", Cause.MOVES_FOR_EVER(level=float(level), along=along)
        elif self.boxes is not None and not _hidden(self.boxes, every).any():
            fact = Cause.BOXES_LEFT(nodes=NODES)
            if not len(self.boxes.far(level.q, NODES)[0]):
                verdict, fact = "bounded", Cause.NO_END_LEFT()
        explanation = Explanation((fact,))
        return Boundedness(float(level), verdict, explanation.text(), direction, explanation)

    def _far_rays(self, boxes: SignBoxes, q: int) -> Endless:
        """Return rays without end through boxes at infinity that may hold members."""
        centre, half = boxes.far(q, _LOOK)
        if not len(centre):
            return Endless.none(self.problem.objective.d)
        some = np.unique(np.linspace(0, len(centre) - 1, _FOLLOWED, dtype=np.intp))
        origins, directions = boxes.outward(centre[some], half[some])
        spans = self.lines.intervals(origins, directions, [q])[0]
        return Endless.on(origins, directions, spans, partial(self.search.accepts, q=q))

    def not_available(self, operation: str) -> NotAvailable:
        """Return the refusal of an operation that needs another shape."""
        return NotAvailable(
            f"{operation} is not known for regression quantiles: use bounded(level), interval, "
            "band, crossings, reach or sample."
        )


def _hidden(boxes: SignBoxes, g: Array) -> BoolArray:
    """Which functionals (N, d) the fitted values do not determine."""
    return exceeds((g @ boxes.null) @ boxes.null.T, g)


def _keeps(
    boxes: SignBoxes, ball: NormBall | None, q: int, centre: Array, half: Array
) -> BoolArray:
    """Which boxes may hold a member, in the ball if there is one."""
    keep = np.ones(len(centre), dtype=np.bool_)
    if ball is not None and not boxes.null.size:
        keep = boxes.meets(ball.root, ball.bound, centre, half)
    keep[keep] = boxes.keeps(centre[keep], half[keep], q)
    return keep


def _ray(rays: Endless, g: Array) -> Array:
    """Return a ray along which some functional grows or falls without end."""
    along = np.concatenate([rays.along(g), rays.along(-g)])
    return np.asarray(rays.directions[along[along >= 0][0]])

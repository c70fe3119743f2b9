"""The shape of label regions: regression functions E[y|x] of labels ±1 (docs/theory.md 8).

Bounds are those of the linear part. Where it is E[y|x] itself they come from branch and bound over
boxes of a few coefficients, else from |f| <= 1 at the inputs alone. Of log-odds only those of a
norm bound are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import ClassVar, cast, final

import numpy as np

from unassuming._numerics import Factor
from unassuming._typing import Array
from unassuming.geometry.branch_and_bound import NODES, Support
from unassuming.geometry.labels.boxes import Admissible, LabelBoxes
from unassuming.geometry.labels.lines import LabelModel
from unassuming.objectives import DesignedObjective, Penalty
from unassuming.ranking.levels import Level
from unassuming.regions.explain import INDEPENDENT, OTHER_MODELS, Cause, Explanation, Status
from unassuming.regions.results import Boundedness
from unassuming.regions.search.walk import Members, confined
from unassuming.regions.shapes.shape import LineShape, OuterBounds, Question, held, of_the_ball

_GAP, _BOXES = 5e-3, 2 * NODES
"""How close members come to a bound, relative to the width, before the search ends; its limit."""

_INSIDE, _SHRUNK = 1 - 1e-6, np.array([1.0, 0.99, 0.95, 0.9, 0.8])
"""Values beyond this are at the edge, from which a start is moved by these factors."""


@final
class LabelShape(LineShape):
    """A region of regression functions of labels."""

    name: ClassVar[str] = "labels"
    why: ClassVar[str] = "fresh labels are drawn from each candidate"

    @cached_property
    def _model(self) -> LabelModel | None:
        """What boxes are made of; None where f is not linear in the coefficients."""
        model = LabelModel.of(self.engine)
        return None if model is None or model.curved else model

    @property
    def _objective(self) -> DesignedObjective:
        return cast(DesignedObjective, self.engine.objective)

    @cached_property
    def _factor(self) -> Factor:
        o = self._objective
        free = Penalty(0 * o.penalty.P, 0 * o.penalty.l1)
        return o.design.factor(np.ones(o.n), free)

    @cached_property
    def _admissible(self) -> Admissible:
        return Admissible(self._objective.design.matrix, self._factor)

    @cached_property
    def start(self) -> Array:
        """The estimate, or a member beside the admissible coefficients closest to it.

        Where values are -1 or 1, few lines lead into the region.
        """
        o, start = self.engine.objective, self.estimate
        f = o.fitted(start[None])
        if self._model is None or np.abs(f).max() < _INSIDE:
            return start
        if not self.engine.noise.admits(o.y - f, f)[0]:
            start = self._admissible.nearest(start, self._model)
        some = _SHRUNK[:, None] * start
        return np.asarray(some[np.argmin(self.engine.rank(some))])

    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Return bounds of the linear part."""
        g, B, ball = question.g, question.norm_bound, self._objective.design.ball()
        limit, beyond = np.full(len(g), np.inf), np.zeros(len(g))
        if B is not None:
            t, rest = ball.functionals(g, question.similarity, function=question.function)
            limit, beyond = of_the_ball(ball, t, rest, B), B * np.sqrt(rest)
        found = []
        for level in levels:
            inner = self._within_one(g, level, B)
            lower = np.maximum(inner.lower - beyond, -limit)
            upper = np.minimum(inner.upper + beyond, limit)
            endless = partial(self._endless, B)
            found.append(self.outer(lower, upper, level, B, endless, inner.witnesses))
        return found

    def _within_one(self, g: Array, level: Level, bound: float | None) -> Support:
        """Return bounds of gᵀa over the region, where f is linear."""
        none, open_ = np.full(len(g), np.inf), np.zeros(len(g), dtype=np.bool_)
        if self._model is None:
            return Support(-none, none, open_, None)
        limit, boxes = self._admissible.bounds(g), LabelBoxes.of(self._model, self._admissible)
        if boxes is None:
            return Support(-limit, limit, open_, None)
        within, inside_ball, members = None, None, partial(self._members, level.q)
        inside: Members = members
        if bound is not None and not self._factor.null.size:
            ball = self._objective.design.ball()
            root = np.sqrt(ball.nu)[:, None] * ball.forward
            within = np.asarray(np.linalg.qr(root @ boxes.back / bound, mode="r"))
            inside_ball = root, bound
            inside = confined(members, ball, bound)
        nearby = partial(self.near, inside, self._factor.back.T, level, inside_ball)
        found = boxes.support(g, level.q, nearby, _BOXES, _GAP, within=within)
        if (found.lower > found.upper).any():
            return found
        free = np.isinf(limit)  # fitted values do not determine these
        lower = np.where(free, -np.inf, np.maximum(found.lower, -limit))
        upper = np.where(free, np.inf, np.minimum(found.upper, limit))
        return replace(found, lower=lower, upper=upper)

    def no_member(self, level: Level) -> Explanation:
        """Return why a region has no member at all."""
        return Explanation((Cause.NO_LABEL_MODEL(),), (OTHER_MODELS,))

    def _endless(self, bound: float | None) -> tuple[Status, Explanation]:
        """Return what kind of answer infinite bounds are, and why."""
        if self._model is not None:
            why = Explanation((Cause.HIDDEN(),), (INDEPENDENT, *held(bound)))
            return Status.UNDETERMINED, why
        cause = Cause.NO_BOUND(objective=self.engine.objective)
        return Status.NO_OUTER_BOUND, Explanation((cause,), held(bound))

    def bounded(self, level: Level) -> Boundedness:
        """Return whether the region is bounded in its coefficients, where f is linear in them."""
        if self._model is None:
            raise self.not_available("bounded")
        null, verdict = self._factor.null, "bounded"
        explanation, direction = Explanation((Cause.VALUES_DETERMINE(),)), None
        if null.size:
            blind = np.abs(self._model.push @ null).max(initial=0.0) == 0 or (
                self._objective.design.dual
            )
            member = bool(self.accepts(self.start[None], level)[0])
            verdict = "unbounded" if blind and member else "undetermined"
            direction = null[:, 0] if verdict == "unbounded" else None
            explanation = Explanation((Cause.HIDDEN(),), (INDEPENDENT,))
        return Boundedness(float(level), verdict, explanation.text(), direction, explanation)

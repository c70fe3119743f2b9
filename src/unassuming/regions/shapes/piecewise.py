"""The shape of SVR, LASSO, Huber and users' own objectives (docs/theory.md 5 and 6).

Lines are exact where the gradient is piecewise linear. Outer bounds come from one quadratic
inequality a set, with a norm bound or without.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, final

import numpy as np

from unassuming._typing import Array
from unassuming.geometry.piecewise.model import Model
from unassuming.geometry.piecewise.relaxation import Relaxation
from unassuming.geometry.quadratic import outward, qth_largest
from unassuming.ranking.levels import Level
from unassuming.regions.explain import (
    HIGHER_LEVEL,
    INDEPENDENT,
    LARGER_BOUND,
    NORM_BOUND,
    Cause,
    Explanation,
    Remedy,
    Status,
    status_of,
)
from unassuming.regions.shapes.shape import (
    LineShape,
    OuterBounds,
    Question,
    of_the_ball,
)


@final
class PiecewiseShape(LineShape):
    """Any region whose candidates determine their statistics, by lines and inequalities."""

    name: ClassVar[str] = "piecewise"
    why: ClassVar[str] = "candidates determine their statistics, along lines piece by piece"

    @cached_property
    def _model(self) -> Model | None:
        return Model.of(self.engine)

    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Return the q-th largest of the bounds over the sets; the sets are made once."""
        up, down = self._supports(question)
        found = []
        for level in levels:
            lower, upper = outward(-qth_largest(down, level.q), qth_largest(up, level.q))
            why = self._explained(lower, upper, level, question.norm_bound)
            found.append(OuterBounds(lower, upper, *why))
        return found

    def _supports(self, question: Question) -> tuple[Array, Array]:
        """Return the largest values of functionals and of their negatives, (N, m - 1) each."""
        design, B, sets = self.engine.objective.design, question.norm_bound, self.engine.m - 1
        if design is None or (design.dual and B is None):
            none = np.full((len(question.g), sets), np.inf)
            return none, none
        ball = design.ball()
        t, rest = ball.functionals(question.g, question.similarity, function=question.function)
        if self._model is not None:
            return Relaxation(self._model, ball, B or 0.0).supports(t, rest)
        alone = np.repeat(of_the_ball(ball, t, rest, B)[:, None], sets, axis=1)
        return alone, alone

    def _explained(
        self, lower: Array, upper: Array, level: Level, bound: float | None
    ) -> tuple[Status, Explanation]:
        """Return what kind of answer the bounds are, and why."""
        status = status_of(lower, upper, Status.NO_OUTER_BOUND)
        if status is Status.EMPTY and bound is not None:
            return status, Explanation((Cause.BALL_TOO_SMALL(bound=bound),), (LARGER_BOUND,))
        if status is Status.EMPTY:
            return status, Explanation((Cause.TOO_FEW_SETS(q=level.q),), (HIGHER_LEVEL,))
        if status is Status.CERTIFIED:
            return status, Explanation()
        o = self.engine.objective
        remedies: tuple[Remedy, ...] = () if bound is not None else (NORM_BOUND,)
        if o.design is None or self._model is None:
            known = remedies if o.design is not None else ()
            return status, Explanation((Cause.MEMBERSHIP_ONLY(objective=o),), known)
        if o.design.dual and bound is None:
            return status, Explanation((Cause.HIDDEN(),), (INDEPENDENT, *remedies))
        return status, Explanation((Cause.NO_BOUND(objective=o),), remedies)

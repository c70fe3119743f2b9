"""The shape of SVR, LASSO, Huber and users' own objectives (docs/theory.md 5 and 6).

Lines are exact where the gradient is piecewise linear. Outer bounds come from one quadratic
inequality a set, with a norm bound or without.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import ClassVar, final

import numpy as np

from unassuming._typing import Array
from unassuming.geometry.piecewise.model import Model
from unassuming.geometry.piecewise.relaxation import Relaxation
from unassuming.geometry.quadratic import outward, qth_largest
from unassuming.ranking.levels import Level
from unassuming.regions.explain import INDEPENDENT, Cause, Explanation, Status
from unassuming.regions.shapes.shape import LineShape, OuterBounds, Question, held, of_the_ball


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
            ends = outward(-qth_largest(down, level.q), qth_largest(up, level.q))
            endless = partial(self._endless, question.norm_bound)
            found.append(self.outer(*ends, level, question.norm_bound, endless))
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

    def _endless(self, bound: float | None) -> tuple[Status, Explanation]:
        """Return what kind of answer infinite bounds are, and why."""
        o, remedies = self.engine.objective, held(bound)
        cause = Cause.NO_BOUND(objective=o)
        if o.design is None or self._model is None:
            cause = Cause.MEMBERSHIP_ONLY(objective=o)
            remedies = () if o.design is None else remedies
        elif o.design.dual and bound is None:
            cause, remedies = Cause.HIDDEN(), (INDEPENDENT, *remedies)
        return Status.NO_OUTER_BOUND, Explanation((cause,), remedies)

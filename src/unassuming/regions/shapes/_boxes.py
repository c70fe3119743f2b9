"""What the shapes of labels and of quantiles share: both bound functionals by branch and bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unassuming._typing import Array
from unassuming.geometry import order_statistic
from unassuming.geometry.labels import GAP, NODES, Support
from unassuming.geometry.piecewise import outer_bounds
from unassuming.objectives import BallCoordinates
from unassuming.ranking import Level
from unassuming.regions._explain import Cause, Explanation, Fact, Status, status_of
from unassuming.regions._question import Question
from unassuming.regions.search._line_search import Attained
from unassuming.regions.shapes._line_shape import LineShape
from unassuming.regions.shapes._shape import OuterBounds, ball_facts


def of_the_ball(
    shape: LineShape, question: Question, levels: Sequence[Level]
) -> tuple[BallCoordinates | None, list[tuple[Array, Array]]]:
    """Return the ball, and the lower and upper bounds at each level that it gives by itself."""
    o, g = shape.problem.objective, question.g
    ball = question.ball_coordinates(o.design, np.ones(o.n), shape.problem.estimate)
    up, down = outer_bounds(None, o, g, ball, shape.engine.perturbations.m - 1)
    bounds = [(-order_statistic(down, level.q), order_statistic(up, level.q)) for level in levels]
    return ball, bounds


def without_boxes(
    shape: LineShape,
    question: Question,
    ball: BallCoordinates | None,
    bounds: tuple[Array, Array],
    level: Level,
    infinite: Callable[[Attained], tuple[Status, Explanation]],
) -> OuterBounds:
    """Return the bounds of the ball, with members near their ends if asked for.

    ``infinite`` explains bounds that are infinite.
    """
    members = shape.search.examine(
        question.g, level.q, question.ball, *bounds, inner=question.inner
    )
    status = status_of(*bounds, Status.NO_OUTER_BOUND)
    why = Explanation(ball_facts(status, *bounds, level, ball))
    if status is Status.NO_OUTER_BOUND:
        status, why = infinite(members)
    why = Explanation((*why.facts, *members.facts), why.remedies)
    return OuterBounds(*bounds, status, why, members.witnesses, members.endless(question.g))


def nested(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return the bounds; inf and -inf for all of them if some are the wrong way round."""
    if (lower > upper).any():
        return np.full(len(lower), np.inf), np.full(len(upper), -np.inf)
    return lower, upper


def how_found(found: Support) -> Fact:
    """Say that members attain the bounds up to a gap, or that the search stopped before."""
    stopped = ~found.settled
    if not stopped.any():
        return Cause.ATTAINED(gap=GAP)
    return Cause.STOPPED(nodes=NODES, open=int(stopped.sum()), all=len(stopped), gap=GAP)

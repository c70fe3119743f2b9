"""What the shapes of labels and of quantiles share: both bound functionals by branch and bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unassuming._typing import Array
from unassuming.geometry import order_statistic
from unassuming.geometry.labels import GAP, NODES, Support
from unassuming.geometry.piecewise import outer_bounds
from unassuming.objectives import BallCoordinates
from unassuming.ranking import Level
from unassuming.regions._explain import Cause, Fact
from unassuming.regions._question import Question
from unassuming.regions.shapes._line_shape import LineShape


def of_the_ball(
    shape: LineShape, question: Question, levels: Sequence[Level]
) -> tuple[BallCoordinates | None, list[tuple[Array, Array]]]:
    """Return the ball, and the lower and upper bounds at each level that it gives by itself."""
    o, g = shape.problem.objective, question.g
    ball = question.ball_coordinates(o.design, np.ones(o.n), shape.problem.estimate)
    up, down = outer_bounds(None, o, g, ball, shape.engine.perturbations.m - 1)
    bounds = [(-order_statistic(down, level.q), order_statistic(up, level.q)) for level in levels]
    return ball, bounds


def how_found(found: Support) -> Fact:
    """Return whether the bounds are attained but for a gap, or the search stopped before."""
    stopped = ~found.settled
    if not stopped.any():
        return Cause.ATTAINED(gap=GAP)
    return Cause.STOPPED(nodes=NODES, open=int(stopped.sum()), all=len(stopped), gap=GAP)

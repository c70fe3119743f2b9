"""Bounds of linear functionals over every set of a quadratic region, with or without a ball."""

from __future__ import annotations

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.geometry.quadratic import FormMaker, SetsAndBall, coordinates, supports
from unassuming.objectives import BallCoordinates, Quadratic
from unassuming.regions._question import Question

_ROUNDING = 8 * EPS


def over_sets(
    maker: FormMaker, o: Quadratic, estimate: Array, g: Array
) -> tuple[Array, Array, bool]:
    """Return max gᵀa and max -gᵀa over every set, (N, m - 1), and whether some g are hidden."""
    where = coordinates(o, g)
    up, down = supports(maker, where)
    middle, rounding = g @ estimate, _ROUNDING * (np.abs(g) @ np.abs(estimate))
    up, down = up + (rounding + middle)[:, None], down + (rounding - middle)[:, None]
    return up, down, bool(where.hidden.any())


def over_sets_and_ball(
    maker: FormMaker, o: Quadratic, estimate: Array, asked: Question, ball: BallCoordinates
) -> tuple[Array, Array]:
    """Return these maxima over the sets and a ball.

    In a large ball rounding costs more than the ball brings: then the sets alone decide.
    """
    both = SetsAndBall(maker.perturbations, o.complement, np.sqrt(o.w) * o.y, ball)
    up, down = both.supports(maker.without_points)
    alone = np.full(len(up), not asked.function)
    if asked.at is not None:
        alone |= asked.at >= 0
    if alone.any() and (not o.design.full_rank or both.loose(up, down)):
        more = over_sets(maker, o, estimate, asked.g[alone])
        for bound, other in zip((up, down), more[:2], strict=True):
            bound[alone] = np.minimum(bound[alone], other)
    return up, down

"""Quadratic regions: the sets {Z_0 <= Z_i} are ellipsoids or cylinders (docs/theory.md 4)."""

from unassuming.geometry.quadratic._coordinates import (
    BallChart,
    ball_chart,
    chart_for,
    chart_matrix,
    whitened_chart,
    whitened_matrix,
)
from unassuming.geometry.quadratic._forms import FormMaker, Forms
from unassuming.geometry.quadratic._lines import (
    LineQuadratics,
    along_lines,
    covered,
    exits,
    intervals,
)
from unassuming.geometry.quadratic._norm_ball import SetsAndBall
from unassuming.geometry.quadratic._outer_radius import farthest
from unassuming.geometry.quadratic._sets import FREE, SEEN, Sets
from unassuming.geometry.quadratic._supports import ball_supports, supports

__all__ = [
    "FREE",
    "SEEN",
    "BallChart",
    "FormMaker",
    "Forms",
    "LineQuadratics",
    "Sets",
    "SetsAndBall",
    "along_lines",
    "ball_chart",
    "ball_supports",
    "chart_for",
    "chart_matrix",
    "covered",
    "exits",
    "farthest",
    "intervals",
    "supports",
    "whitened_chart",
    "whitened_matrix",
]

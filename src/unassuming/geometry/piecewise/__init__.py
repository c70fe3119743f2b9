"""Piecewise quadratic regions: exact along lines, relaxed elsewhere (docs/theory.md 5 to 7)."""

from unassuming.geometry.piecewise._lines import PiecewiseLines
from unassuming.geometry.piecewise._model import LineModel
from unassuming.geometry.piecewise._outer_bounds import (
    LARGEST_TRIAL,
    ball_alone,
    highest_level,
    open_directions,
    outer_bounds,
)

__all__ = [
    "LARGEST_TRIAL",
    "LineModel",
    "PiecewiseLines",
    "ball_alone",
    "highest_level",
    "open_directions",
    "outer_bounds",
]

"""Piecewise quadratic regions: exact on lines, relaxed elsewhere (docs/theory.md 5 to 7)."""

from unassuming.geometry.piecewise._lines import PiecewiseLines
from unassuming.geometry.piecewise._model import LineModel
from unassuming.geometry.piecewise._outer_bounds import (
    LARGEST_TRIAL,
    ball_alone,
    highest_level,
    open_directions,
    outer_bounds,
)
from unassuming.geometry.piecewise._relaxation import Relaxation, relaxed_bounds

__all__ = [
    "LARGEST_TRIAL",
    "LineModel",
    "PiecewiseLines",
    "Relaxation",
    "ball_alone",
    "highest_level",
    "open_directions",
    "outer_bounds",
    "relaxed_bounds",
]

"""Piecewise quadratic regions, such as those of LASSO, ε-SVR and Huber (docs/theory.md 5 to 7).

Along a line the statistics are quadratic between kinks, so the intersection with the region is
exact. Outer bounds relax each set to a quadratic inequality, and need not be attained.
"""

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

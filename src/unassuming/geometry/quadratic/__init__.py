"""Quadratic regions, those of least squares and (kernel) ridge regression (docs/theory.md 4).

Every set {Z_0 <= Z_i} is an ellipsoid or an ellipsoidal cylinder, so its extent, its intersection
with a line and its farthest point are computed exactly.
"""

from unassuming.geometry.quadratic._at_estimate import (
    Spread,
    accurate_residual,
    equal_residuals,
    orders_of_magnitude,
    residual_and_error,
    unit_of_residuals,
    widest_spread,
)
from unassuming.geometry.quadratic._careful import CarefulSets
from unassuming.geometry.quadratic._coordinates import coordinates, whitened, whitened_matrix
from unassuming.geometry.quadratic._cylinders import free_in_sums
from unassuming.geometry.quadratic._dense_forms import dense_forms
from unassuming.geometry.quadratic._exact_sets import ExactSets
from unassuming.geometry.quadratic._forms import AccurateResidual, FormMaker, Forms
from unassuming.geometry.quadratic._free_directions import (
    FreeDirections,
    counting_decides,
    free_directions,
)
from unassuming.geometry.quadratic._least_norms import least_norms
from unassuming.geometry.quadratic._lines import (
    LineQuadratics,
    OriginErrors,
    along_lines,
    covered,
    exits,
    first_ends,
    intervals,
    undecided_ends,
)
from unassuming.geometry.quadratic._moved_columns import commute
from unassuming.geometry.quadratic._multipliers import Multipliers
from unassuming.geometry.quadratic._outer_radius import farthest, outer_radii
from unassuming.geometry.quadratic._rows_and_ball import RowsAndBall
from unassuming.geometry.quadratic._sets import FREE, SURE, Sets
from unassuming.geometry.quadratic._sets_and_ball import SetsAndBall
from unassuming.geometry.quadratic._supports import supports
from unassuming.geometry.quadratic._table_lines import table_lines

__all__ = [
    "FREE",
    "SURE",
    "AccurateResidual",
    "CarefulSets",
    "ExactSets",
    "FormMaker",
    "Forms",
    "FreeDirections",
    "LineQuadratics",
    "Multipliers",
    "OriginErrors",
    "RowsAndBall",
    "Sets",
    "SetsAndBall",
    "Spread",
    "accurate_residual",
    "along_lines",
    "commute",
    "coordinates",
    "counting_decides",
    "covered",
    "dense_forms",
    "equal_residuals",
    "exits",
    "farthest",
    "first_ends",
    "free_directions",
    "free_in_sums",
    "intervals",
    "least_norms",
    "orders_of_magnitude",
    "outer_radii",
    "residual_and_error",
    "supports",
    "table_lines",
    "undecided_ends",
    "unit_of_residuals",
    "whitened",
    "whitened_matrix",
    "widest_spread",
]

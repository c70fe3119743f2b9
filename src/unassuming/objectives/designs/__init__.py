"""Fitted values as a linear map Φ a of the coefficients: features, kernels, norms, whitening."""

from unassuming.objectives.designs._complement import Complement
from unassuming.objectives.designs._design import Design
from unassuming.objectives.designs._errors import (
    computed_kernel,
    entry_errors,
    least_penalty,
    projector_error,
    row_errors,
    unresolved_share,
    weight_errors,
)
from unassuming.objectives.designs._features import FeatureDesign
from unassuming.objectives.designs._kernel import KernelDesign, least_eigenvalue
from unassuming.objectives.designs._norm_ball import BallCoordinates, NormBall, times_unit
from unassuming.objectives.designs._remainders import exact_columns
from unassuming.objectives.designs._rotation import ROTATED, in_basis
from unassuming.objectives.designs._row_space import RowSpace, row_space
from unassuming.objectives.designs._whitening import FeatureWhitening, Whitening

__all__ = [
    "ROTATED",
    "BallCoordinates",
    "Complement",
    "Design",
    "FeatureDesign",
    "FeatureWhitening",
    "KernelDesign",
    "NormBall",
    "RowSpace",
    "Whitening",
    "computed_kernel",
    "entry_errors",
    "exact_columns",
    "in_basis",
    "least_eigenvalue",
    "least_penalty",
    "projector_error",
    "row_errors",
    "row_space",
    "times_unit",
    "unresolved_share",
    "weight_errors",
]

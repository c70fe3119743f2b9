"""What a model minimises, and the registry from scikit-learn estimators to it."""

from unassuming.objectives._base import Objective, rounding_of_difference

# Shared within the library, not public.
from unassuming.objectives._check import check_objective as check_objective
from unassuming.objectives._designed import DesignedObjective
from unassuming.objectives._fitted import fitted_coefficients, fitted_values
from unassuming.objectives._from_classifier import (
    from_logistic_regression,
    from_ridge_classifier,
)
from unassuming.objectives._from_kernel import (
    from_kernel_huber,
    from_kernel_lasso,
    from_kernel_ridge,
    from_lssvc,
    from_svr,
)
from unassuming.objectives._from_linear import (
    from_elastic_net,
    from_huber_regressor,
    from_lasso,
    from_linear_regression,
    from_linear_svr,
    from_ridge,
)
from unassuming.objectives._from_process import from_gaussian_process
from unassuming.objectives._huber import HuberObjective, KernelHuberObjective
from unassuming.objectives._images import Images as Images
from unassuming.objectives._images import Moves as Moves
from unassuming.objectives._kinks import Kinks
from unassuming.objectives._logistic import LogisticObjective
from unassuming.objectives._quadratic import Quadratic
from unassuming.objectives._registry import Factory as Factory
from unassuming.objectives._registry import factory_for, register_objective, registered_classes
from unassuming.objectives._score import LeastNormScore, Score
from unassuming.objectives.designs import ROTATED as ROTATED
from unassuming.objectives.designs import BallCoordinates as BallCoordinates
from unassuming.objectives.designs import Complement as Complement
from unassuming.objectives.designs import Design, FeatureDesign, KernelDesign
from unassuming.objectives.designs import FeatureWhitening as FeatureWhitening
from unassuming.objectives.designs import NormBall as NormBall
from unassuming.objectives.designs import RowSpace as RowSpace
from unassuming.objectives.designs import computed_kernel as computed_kernel
from unassuming.objectives.designs import entry_errors as entry_errors
from unassuming.objectives.designs import exact_columns as exact_columns
from unassuming.objectives.designs import in_basis as in_basis
from unassuming.objectives.designs import least_eigenvalue as least_eigenvalue
from unassuming.objectives.designs import least_penalty as least_penalty
from unassuming.objectives.designs import projector_error as projector_error
from unassuming.objectives.designs import row_errors as row_errors
from unassuming.objectives.designs import row_space as row_space
from unassuming.objectives.designs import times_unit as times_unit
from unassuming.objectives.designs import unresolved_share as unresolved_share
from unassuming.objectives.designs import weight_errors as weight_errors
from unassuming.objectives.instruments import InstrumentObjective, from_instrumental_regression
from unassuming.objectives.kinked import JumpScore, LassoObjective, LinearSVRObjective, SVRObjective
from unassuming.objectives.kinked import least_element as least_element
from unassuming.objectives.quantiles import FreshSigns as FreshSigns
from unassuming.objectives.quantiles import QuantileObjective, SignScore, from_quantile_regressor
from unassuming.objectives.systems import ArxObjective, SimulatedScore, from_arx
from unassuming.objectives.systems import amplification as amplification
from unassuming.objectives.systems import steps_until_overflow as steps_until_overflow

__all__ = [
    "ArxObjective",
    "Design",
    "DesignedObjective",
    "FeatureDesign",
    "HuberObjective",
    "InstrumentObjective",
    "JumpScore",
    "KernelDesign",
    "KernelHuberObjective",
    "Kinks",
    "LassoObjective",
    "LeastNormScore",
    "LinearSVRObjective",
    "LogisticObjective",
    "Objective",
    "Quadratic",
    "QuantileObjective",
    "SVRObjective",
    "Score",
    "SignScore",
    "SimulatedScore",
    "factory_for",
    "fitted_coefficients",
    "fitted_values",
    "from_arx",
    "from_elastic_net",
    "from_gaussian_process",
    "from_huber_regressor",
    "from_instrumental_regression",
    "from_kernel_huber",
    "from_kernel_lasso",
    "from_kernel_ridge",
    "from_lasso",
    "from_linear_regression",
    "from_linear_svr",
    "from_logistic_regression",
    "from_lssvc",
    "from_quantile_regressor",
    "from_ridge",
    "from_ridge_classifier",
    "from_svr",
    "register_objective",
    "registered_classes",
    "rounding_of_difference",
]

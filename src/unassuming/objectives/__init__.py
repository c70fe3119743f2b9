"""What a model minimises, taken apart along its own plus signs: design, loss, penalty."""

from unassuming.objectives.base import Design, Objective
from unassuming.objectives.designed import DesignedObjective
from unassuming.objectives.factories import (
    from_arx,
    from_elastic_net,
    from_gaussian_process,
    from_huber_regressor,
    from_instrumental_regression,
    from_kernel_huber,
    from_kernel_lasso,
    from_kernel_ridge,
    from_lasso,
    from_linear_regression,
    from_linear_svr,
    from_logistic_regression,
    from_lssvc,
    from_quantile_regressor,
    from_ridge,
    from_ridge_classifier,
    from_svr,
)
from unassuming.objectives.features import FeatureDesign
from unassuming.objectives.fitted import fitted_coefficients, fitted_values
from unassuming.objectives.instruments import InstrumentObjective
from unassuming.objectives.kernel import KernelDesign
from unassuming.objectives.penalties import Kinks

# Shared within the library, not public.
from unassuming.objectives.penalties import Penalty as Penalty
from unassuming.objectives.registry import check_objective as check_objective
from unassuming.objectives.registry import factory_for, register_objective, registered_classes
from unassuming.objectives.score import Score
from unassuming.objectives.score import State as State
from unassuming.objectives.systems import ArxObjective

__all__ = [
    "ArxObjective",
    "Design",
    "DesignedObjective",
    "FeatureDesign",
    "InstrumentObjective",
    "KernelDesign",
    "Kinks",
    "Objective",
    "Score",
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
]

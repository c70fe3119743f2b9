"""Regression quantiles: the pinball loss, whose gradient depends on signs of residuals alone."""

from unassuming.objectives.quantiles._fresh import FreshSigns
from unassuming.objectives.quantiles._objective import QuantileObjective, from_quantile_regressor
from unassuming.objectives.quantiles._score import SignScore

__all__ = [
    "FreshSigns",
    "QuantileObjective",
    "SignScore",
    "from_quantile_regressor",
]

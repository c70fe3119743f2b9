"""Solvers for plain arrays, whose results satisfy the optimality conditions up to rounding."""

from unassuming.models.solvers._huber import concomitant_huber
from unassuming.models.solvers._huber_scale import huber_scale
from unassuming.models.solvers._kernel_huber import kernel_huber
from unassuming.models.solvers._kernel_ridge import kernel_ridge
from unassuming.models.solvers._l1 import l1_least_squares, l1_subdifferential
from unassuming.models.solvers._linear_svr import linear_svr
from unassuming.models.solvers._logistic import logistic
from unassuming.models.solvers._quantile import quantile_regression
from unassuming.models.solvers._svr import epsilon_svr
from unassuming.models.solvers._two_stage import exogenous_basis, two_stage_least_squares

__all__ = [
    "concomitant_huber",
    "epsilon_svr",
    "exogenous_basis",
    "huber_scale",
    "kernel_huber",
    "kernel_ridge",
    "l1_least_squares",
    "l1_subdifferential",
    "linear_svr",
    "logistic",
    "quantile_regression",
    "two_stage_least_squares",
]

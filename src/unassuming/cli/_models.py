"""The models by the names of the command line, with the options that each of them has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVR

from unassuming._errors import complaint
from unassuming.models import LSSVC, KernelHuber, KernelLasso


class Model(StrEnum):
    """What ``--model`` takes."""

    SPLINE = "spline"
    KRR = "krr"
    RIDGE = "ridge"
    OLS = "ols"
    SVR = "svr"
    KLASSO = "klasso"
    HUBER = "huber"
    LS_SVC = "ls-svc"
    LOGISTIC = "logistic"


@dataclass(frozen=True)
class Recipe:
    """How to build a model from options.

    Attributes
    ----------
    make : callable
        From options by name to an estimator.
    defaults : dict
        The options that the model has.
    kernel : bool
        Whether the inputs are standardised, and gamma is a number that follows from them.
    classify : bool
    """

    make: Callable[..., Any]
    defaults: dict[str, Any]
    kernel: bool = False
    classify: bool = False


RECIPES: dict[Model, Recipe] = {
    Model.SPLINE: Recipe(
        # All splines of a feature add up to one: beside an intercept one of them is left out.
        lambda alpha, knots: make_pipeline(
            SplineTransformer(knots, include_bias=False), Ridge(alpha)
        ),
        {"alpha": 0.1},
    ),
    Model.KRR: Recipe(KernelRidge, {"kernel": "rbf", "gamma": None, "alpha": 1.0}, kernel=True),
    Model.RIDGE: Recipe(Ridge, {"alpha": 1.0}),
    Model.OLS: Recipe(LinearRegression, {}),
    Model.SVR: Recipe(SVR, {"kernel": "rbf", "gamma": None, "C": 1.0, "epsilon": 0.1}, kernel=True),
    Model.KLASSO: Recipe(KernelLasso, {"kernel": "rbf", "gamma": None, "alpha": 1.0}, kernel=True),
    Model.HUBER: Recipe(
        lambda epsilon, **rest: KernelHuber(delta=epsilon, **rest),
        {"kernel": "rbf", "gamma": None, "alpha": 1.0, "epsilon": 1.0},
        kernel=True,
    ),
    Model.LS_SVC: Recipe(
        LSSVC, {"kernel": "linear", "gamma": None, "C": 1.0}, kernel=True, classify=True
    ),
    Model.LOGISTIC: Recipe(LogisticRegression, {"C": 1.0}, classify=True),
}


def build(model: Model, shape: tuple[int, int], options: dict[str, Any]) -> Any:
    """Return the estimator for inputs of that shape, rows and features.

    Kernels see standardised inputs, and gamma is 1 / (number of features) unless given. Splines
    have up to 8 knots for each feature, fewer if there were less than 4 rows for each spline, where
    bounds are seldom finite. All of this follows from the inputs alone, as the guarantee requires.
    """
    rows, features = shape
    recipe = RECIPES[model]
    for name in options:
        if name not in recipe.defaults:
            known = ", ".join(f"--{known}" for known in recipe.defaults) or "none"
            raise ValueError(
                f"--{name} is no option of {model}: expected {known}, given --{name}. Leave it out."
            )
    chosen = recipe.defaults | options
    if model is Model.SPLINE:
        chosen["knots"] = min(max(rows // (4 * features) - 2, 2), 8)
    if not recipe.kernel:
        return recipe.make(**chosen)
    gamma = chosen.pop("gamma")
    linear = chosen["kernel"] == "linear"
    if gamma is not None and (linear or not 0 < gamma < float("inf")):
        raise ValueError(
            complaint(
                "--gamma",
                "has no meaning for the linear kernel" if linear else "is out of range",
                "another --kernel, such as rbf" if linear else "one finite number > 0",
                gamma,
                "Leave it out.",
            )
        )
    if linear:
        return recipe.make(**chosen)
    return make_pipeline(StandardScaler(), recipe.make(gamma=gamma or 1 / features, **chosen))

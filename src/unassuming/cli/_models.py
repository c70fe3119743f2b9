"""The models of the command line by name, each with its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVR

from unassuming.models import LSSVC, KernelHuber, KernelLasso


class Model(StrEnum):
    """The values of ``--model``."""

    SPLINE = "spline"
    KRR = "krr"
    RIDGE = "ridge"
    OLS = "ols"
    QUANTILE = "quantile"
    SVR = "svr"
    KLASSO = "klasso"
    HUBER = "huber"
    LS_SVC = "ls-svc"
    LOGISTIC = "logistic"


@dataclass(frozen=True)
class Recipe:
    """How to build an estimator: ``make(**options)``, with all options in ``defaults``.

    With ``kernel``, inputs are standardised and the default of gamma depends on their number.
    """

    make: Callable[..., Any]
    defaults: dict[str, Any]
    kernel: bool = False
    classify: bool = False


RECIPES: dict[Model, Recipe] = {
    Model.SPLINE: Recipe(
        # All splines of a feature add up to one: one is left out because of the intercept.
        lambda alpha, knots: make_pipeline(
            SplineTransformer(knots, include_bias=False), Ridge(alpha)
        ),
        {"alpha": 0.1},
    ),
    Model.KRR: Recipe(KernelRidge, {"kernel": "rbf", "gamma": None, "alpha": 1.0}, kernel=True),
    Model.RIDGE: Recipe(Ridge, {"alpha": 1.0}),
    Model.OLS: Recipe(LinearRegression, {}),
    Model.QUANTILE: Recipe(QuantileRegressor, {"quantile": 0.5, "alpha": 0.0}),
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
    """Return the estimator for inputs of that shape, (rows, features).

    Kernels act on standardised inputs; gamma is 1 / (number of features) unless given. Splines have
    up to 8 knots for each feature, and fewer where there would be fewer than 4 rows for each spline
    (bounds are then seldom finite). All this depends on the inputs only, as the guarantee requires.
    """
    rows, features = shape
    recipe = RECIPES[model]
    for name in options:
        if name not in recipe.defaults:
            known = ", ".join(f"--{known}" for known in recipe.defaults) or "none"
            raise ValueError(
                f"--{name} is not an option of {model}: expected {known}, given --{name}. Leave it "
                "out."
            )
    chosen = recipe.defaults | options
    if model is Model.SPLINE:
        chosen["knots"] = min(max(rows // (4 * features) - 2, 2), 8)
    if not recipe.kernel:
        return recipe.make(**chosen)
    gamma = chosen.pop("gamma")
    if chosen["kernel"] == "linear":
        if gamma is not None:
            raise ValueError(
                "--gamma has no meaning for the linear kernel: expected another --kernel, such as "
                f"rbf, given {gamma}. Leave it out."
            )
        return recipe.make(**chosen)
    if gamma is not None and not 0 < gamma < float("inf"):
        raise ValueError(
            f"--gamma is out of range: expected a finite number > 0, given {gamma}. Leave it out."
        )
    return make_pipeline(StandardScaler(), recipe.make(gamma=gamma or 1 / features, **chosen))

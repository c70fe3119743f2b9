"""The models of the command line by name, with their options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Model(StrEnum):
    """The values of ``--model``."""

    SPLINE = "spline"
    KRR = "krr"
    RIDGE = "ridge"
    OLS = "ols"
    QUANTILE = "quantile"
    IV = "iv"
    SVR = "svr"
    KLASSO = "klasso"
    HUBER = "huber"
    LS_SVC = "ls-svc"
    LOGISTIC = "logistic"


class Kernel(StrEnum):
    """The values of ``--kernel``."""

    RBF = "rbf"
    LAPLACIAN = "laplacian"
    POLY = "poly"
    LINEAR = "linear"
    COSINE = "cosine"
    SIGMOID = "sigmoid"


class Assumption(StrEnum):
    """The values of ``--noise``: the names of the noise classes."""

    SYMMETRIC = "symmetric"
    EXCHANGEABLE = "exchangeable"
    SYMMETRIC_EXCHANGEABLE = "symmetric-exchangeable"
    SPHERICAL = "spherical"
    LABELS = "labels"
    QUANTILE = "quantile"


@dataclass(frozen=True)
class Recipe:
    """What a model takes: its options with their defaults.

    With ``kernel``, inputs are standardised and the default of gamma depends on their number. A
    model whose residuals are not plain noise has its own ``noise``: the only one, without
    ``others``.
    """

    defaults: dict[str, Any]
    kernel: bool = False
    classify: bool = False
    noise: Assumption | None = None
    others: bool = False

    @property
    def one_by_one(self) -> bool:
        """Whether single coefficients have intervals of their own."""
        return not (self.kernel or self.noise is not None)


RECIPES: dict[Model, Recipe] = {
    Model.SPLINE: Recipe({"alpha": 0.0}),
    Model.KRR: Recipe({"kernel": "rbf", "gamma": None, "alpha": 1.0}, kernel=True),
    Model.RIDGE: Recipe({"alpha": 1.0}),
    Model.OLS: Recipe({}),
    Model.QUANTILE: Recipe({"quantile": 0.5, "alpha": 0.0}, noise=Assumption.QUANTILE),
    Model.IV: Recipe({"endogenous": None, "instruments": None}),
    Model.SVR: Recipe({"kernel": "rbf", "gamma": None, "C": 1.0, "epsilon": 0.1}, kernel=True),
    Model.KLASSO: Recipe({"kernel": "rbf", "gamma": None, "alpha": 1.0}, kernel=True),
    Model.HUBER: Recipe(
        {"kernel": "rbf", "gamma": None, "alpha": 1.0, "epsilon": 1.0}, kernel=True
    ),
    Model.LS_SVC: Recipe(
        {"kernel": "linear", "gamma": None, "C": 1.0},
        kernel=True,
        classify=True,
        noise=Assumption.LABELS,
        others=True,  # the published region, without a guarantee
    ),
    Model.LOGISTIC: Recipe({"C": 1.0}, classify=True, noise=Assumption.LABELS),
}

"""The models of the command line by name, each with its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from unassuming._words import shown
from unassuming.cli.tables import Kind, Term, encoder
from unassuming.inputs import split_pipeline
from unassuming.models import LSSVC, InstrumentalRegression, KernelHuber, KernelLasso


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


@dataclass(frozen=True)
class Recipe:
    """How to build an estimator: ``make(**options)``, with all options in ``defaults``.

    With ``kernel``, inputs are standardised and the default of gamma depends on their number.
    """

    make: Callable[..., Any]
    defaults: dict[str, Any]
    kernel: bool = False
    classify: bool = False

    @property
    def one_by_one(self) -> bool:
        """Whether single coefficients have intervals of their own."""
        return not (self.kernel or self.classify or "quantile" in self.defaults)


RECIPES: dict[Model, Recipe] = {
    # Without a penalty the estimate is a member of every region, in whatever units columns are.
    Model.SPLINE: Recipe(
        lambda alpha: Ridge(alpha) if alpha else LinearRegression(), {"alpha": 0.0}
    ),
    Model.KRR: Recipe(KernelRidge, {"kernel": "rbf", "gamma": None, "alpha": 1.0}, kernel=True),
    Model.RIDGE: Recipe(Ridge, {"alpha": 1.0}),
    Model.OLS: Recipe(LinearRegression, {}),
    Model.QUANTILE: Recipe(QuantileRegressor, {"quantile": 0.5, "alpha": 0.0}),
    Model.IV: Recipe(InstrumentalRegression, {"endogenous": None, "instruments": None}),
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


def build(model: Model, terms: Sequence[Term], options: dict[str, Any]) -> Any:
    """Return the estimator for columns that enter as these terms.

    Kernels act on standardised inputs; gamma is 1 / (number of features) unless given. All this
    depends on the inputs only, as the guarantee requires.
    """
    recipe = RECIPES[model]
    for name in options:
        if name not in recipe.defaults:
            known = ", ".join(f"--{known}" for known in recipe.defaults) or "none"
            raise ValueError(
                f"--{name} is not an option of {model}: expected {known}, given --{name}. Leave it "
                "out."
            )
    chosen = recipe.defaults | options
    coded = encoder(terms)
    steps = [] if coded is None else [coded]
    if not recipe.kernel:
        return _after(steps, recipe.make(**chosen))
    gamma = chosen.pop("gamma")
    if chosen["kernel"] == "linear":
        if gamma is not None:
            raise ValueError(
                "--gamma has no meaning for the linear kernel: expected another --kernel, such as "
                f"rbf, given {gamma}. Leave it out."
            )
        return _after(steps, recipe.make(**chosen))
    if gamma is not None and not 0 < gamma < float("inf"):
        raise ValueError(
            f"--gamma is out of range: expected a finite number > 0, given {gamma}. Leave it out."
        )
    features = sum(term.size for term in terms)
    return _after(
        [*steps, StandardScaler()], recipe.make(gamma=gamma or 1 / max(features, 1), **chosen)
    )


def _after(steps: list[Any], model: Any) -> Any:
    return make_pipeline(*steps, model) if steps else model


def in_short(model: Model, estimator: Any, terms: Sequence[Term]) -> str:
    """Name the model without the details of its transformers, which `in_words` gives."""
    last = shown(split_pipeline(estimator)[1])
    kinds = {term.kind for term in terms}
    on = [
        words
        for kind, words in ((Kind.SPLINE, "splines"), (Kind.INDICATORS, "indicators"))
        if kind in kinds
    ]
    if RECIPES[model].kernel and isinstance(estimator, Pipeline):
        on.append("standardised inputs")
    return last + (f" with {' and '.join(on)}" if on else "")

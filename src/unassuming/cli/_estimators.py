"""From a model of the command line to an estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from unassuming._words import joined, shown
from unassuming.cli.options import RECIPES, Model
from unassuming.cli.tables import Kind, Term, encoder
from unassuming.inputs import split_pipeline
from unassuming.models import LSSVC, InstrumentalRegression, KernelHuber, KernelLasso

_MAKERS: dict[Model, Callable[..., Any]] = {
    # Without a penalty the estimate is a member of every region, in whatever units columns are.
    Model.SPLINE: lambda alpha: Ridge(alpha) if alpha else LinearRegression(),
    Model.KRR: KernelRidge,
    Model.RIDGE: Ridge,
    Model.OLS: LinearRegression,
    Model.QUANTILE: QuantileRegressor,
    Model.IV: InstrumentalRegression,
    Model.SVR: SVR,
    Model.KLASSO: KernelLasso,
    Model.HUBER: lambda epsilon, **rest: KernelHuber(delta=epsilon, **rest),
    Model.LS_SVC: LSSVC,
    Model.LOGISTIC: LogisticRegression,
}


def build(model: Model, terms: Sequence[Term], options: dict[str, Any]) -> Any:
    """Return the estimator for columns that enter as these terms.

    Kernels act on standardised inputs; gamma is 1 / (number of features) unless given. All this
    depends on the inputs only, as the guarantee requires.
    """
    recipe, make = RECIPES[model], _MAKERS[model]
    chosen = recipe.defaults | options
    coded = encoder(terms)
    steps = [] if coded is None else [coded]
    if not recipe.kernel:
        return _after(steps, make(**chosen))
    kernel, gamma = str(chosen.pop("kernel")), chosen.pop("gamma")
    if kernel == "linear":
        return _after(steps, make(kernel=kernel, **chosen))
    gamma = gamma or 1 / max(sum(term.size for term in terms), 1)
    return _after([*steps, StandardScaler()], make(kernel=kernel, gamma=gamma, **chosen))


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
    return last + (f" with {joined(on)}" if on else "")

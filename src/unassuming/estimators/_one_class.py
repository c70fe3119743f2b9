"""Classifiers that predict from labels of one class, which their own ``fit`` refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline

from unassuming._errors import NotAvailable
from unassuming._typing import BoolArray
from unassuming.models import LSSVC
from unassuming.regions import Region

_KNOWN = (RidgeClassifier, LogisticRegression, LSSVC)


def two_classes(model: Any, y: Any, rows: BoolArray, classes: Any) -> Any:
    """Return labels to which a model can be fitted: both classes occur in rows that count.

    If y shows only one, the first row gets the other. The fit is then that of other data, until
    `use_estimate` replaces its coefficients. A model of another class is fitted to y as it is.
    """
    second = y == classes[1]
    if not isinstance(model, _KNOWN) or len(np.unique(second[rows])) == 2:
        return y
    first = int(np.argmax(rows))
    return classes[np.where(np.arange(len(y)) == first, ~second, second).astype(np.intp)]


def use_estimate(fitted: Any, region: Region | NotAvailable) -> None:
    """Replace the coefficients of a fitted model by the estimate of the region, its minimiser."""
    model = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    if isinstance(region, NotAvailable):
        raise region
    try:
        a = region.estimate
    except NotAvailable as error:
        raise ValueError(
            f"y has one class only, for which {type(model).__name__} has no fit: expected rows of "
            "both classes, or fit_intercept=False, given equal labels. Use RidgeClassifier or "
            "ua.LSSVC; ua.confidence_region tests candidates without a fit."
        ) from error
    objective, data = region.objective, region.problem.data("predictions need")
    design = region.problem.design("predictions")
    bias = float(a[0]) if design.intercept else 0.0
    if isinstance(model, LSSVC):
        # The optimality condition a = 2C w ⊙ (y - f); rows of weight zero have no part in f.
        weight = np.ones(region.n) if data.weight is None else data.weight
        model.dual_coef_ = np.zeros(len(data.rows))
        model.dual_coef_[data.rows] = 2 * model.C * weight * objective.residuals(a[None, :])[0]
        model.intercept_ = bias
    else:
        model.coef_ = a[int(design.intercept) :].reshape(model.coef_.shape)
        model.intercept_ = np.full_like(model.intercept_, bias)

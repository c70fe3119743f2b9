"""Fit a model as scikit-learn does, and build its region from the same features."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.inputs import (
    as_inputs,
    check_weight,
    fit_transform_without_y,
    is_series_model,
    seed_unset,
    split_pipeline,
    streams,
)
from unassuming.regions import Region, confidence_region


def one_output(y: Any, name: str) -> Array:
    """Return y as a vector of at least two entries."""
    if y is None:  # scikit-learn's checks look for this sentence
        raise ValueError(f"{name} requires y to be passed, but the target y is None.")
    outputs: Array = column_or_1d(y, warn=True)
    if len(outputs) == 1:
        raise ValueError(
            "the data are too few: expected at least 2 rows, given 1 sample. A region needs "
            "residuals to compare."
        )
    return outputs


def fit_without_y(estimator: Any, X: Any, y: Array, sample_weight: Any, seed: int) -> Any:
    """Fit as `Pipeline.fit` does, but without passing y to the transformers.

    Random features get the same seeds as those of the region, and so are the same features.
    """
    transformers, model = split_pipeline(estimator)
    if is_series_model(model):
        raise TypeError(
            f"{type(model).__name__} does not predict from X alone: expected a model whose "
            f"predictions do not need earlier outputs, given {model!r}. Use "
            "ua.confidence_region(model, u, y) and model.predict(u, y)."
        )
    model, features = clone(model), X
    seed_unset(model, np.random.default_rng(seed))
    if transformers is not None:
        seed_unset(transformers, streams(seed)[2])
        features = fit_transform_without_y(transformers, X, y)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    model.fit(features, y, **weights)
    if not isinstance(estimator, Pipeline):
        return model
    before = [] if transformers is None else transformers.steps
    return Pipeline([*before, (estimator.steps[-1][0], model)])


def region_or_reason(
    estimator: Any, X: Any, y: Array, sample_weight: Any, **options: Any
) -> Region | NotAvailable:
    """Build the region, or return the reason why these weights do not allow one."""
    try:
        return confidence_region(estimator, X, y, sample_weight=sample_weight, **options)
    except ValueError as error:
        if sample_weight is None:
            raise
        # If equal weights are refused as well, the reason is another one.
        rows = check_weight(sample_weight, len(y))[0].astype(np.float64)
        confidence_region(estimator, X, y, sample_weight=rows, **options)
        return NotAvailable(str(error))


def check_same_features(fitted: Pipeline, region: Region, X: Any) -> None:
    """Refuse transformers that give the model and the region different features.

    Both are fitted with the same seeds, but a transformer without random_state cannot be seeded.
    """
    ours = as_inputs(fitted[:-1].transform(deepcopy(X)))
    theirs = region.problem.transform(deepcopy(X))
    if ours.shape == theirs.shape and np.allclose(
        ours, theirs, rtol=1e-6, atol=1e-6 * np.abs(theirs).max(initial=0.0)
    ):
        return
    steps = ", ".join(type(step).__name__ for _, step in fitted.steps[:-1])
    raise ValueError(
        "a transformer gives other features when it is fitted again: expected the same features "
        f"for predictions and for the region, given {steps}. Give it a parameter random_state, and "
        "draw from that."
    )

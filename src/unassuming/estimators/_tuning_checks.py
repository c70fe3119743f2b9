"""Checks before a search begins, which may take hours."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from unassuming._typing import Array
from unassuming.inputs import (
    SupervisedTransformer,
    check_data,
    check_options,
    fit_transform_without_y,
    is_label_model,
    is_series_model,
    refuse_classes,
    split_pipeline,
)
from unassuming.noise import Noise, as_noise, restricted
from unassuming.objectives import factory_for
from unassuming.regions import confidence_region


def check_search(search: Any) -> None:
    name = search.__name__ if isinstance(search, type) else type(search).__name__
    if not isinstance(search, BaseEstimator) or not name.endswith("SearchCV"):
        raise TypeError(
            "search is not a search over hyper-parameters: expected an instance of GridSearchCV, "
            f"RandomizedSearchCV or a class like these, given {name}. Wrap the model in "
            "GridSearchCV, or use ua.confidence_region if nothing is tuned."
        )


def check_before(
    search: Any, X: Any, y: Any, options: dict[str, Any]
) -> tuple[Any, Noise, Array, Any]:
    """Check the options and the data; return model, noise, weights of all rows, and classes.

    The model is None if the search itself chooses it; the classes are None for regression.
    """
    known = inspect.signature(confidence_region).parameters
    allowed = [name for name in known if name not in ("estimator", "X", "y", "random_state")]
    unknown = [name for name in options if name not in allowed]
    if unknown:
        name = unknown[0]
        later = "A level is chosen later: region.band(X, level=...)."
        raise TypeError(
            f"{name!r} is not an option of a region: expected one of {', '.join(allowed)}, given "
            f"{name}={options[name]!r}. {later if name == 'level' else 'Correct the name.'}"
        )
    model: Any = None
    if not _chooses_steps(search):
        _, model = split_pipeline(search.estimator)
        factory_for(model)
        if is_series_model(model):
            raise TypeError(
                f"{type(model).__name__} cannot be tuned on some rows and tested on others, since "
                "each row depends on earlier ones: expected another model, "
                f"given {model!r}. Choose its orders on an earlier part of the series, and pass "
                "the rest to ua.confidence_region."
            )
    about_rows = ("sample_weight", "classes")
    chosen = {name: value for name, value in options.items() if name not in about_rows}
    noise = check_options(model, **chosen)
    classify = is_label_model(model) or (model is None and is_label_model(search))
    if model is None and classify and options.get("noise") is None:
        noise = as_noise("labels")
    classes = options.get("classes")
    if not classify:
        refuse_classes(classes, search.estimator if model is None else model)
    weights = options.get("sample_weight")
    data = check_data(X, y, weights, classify=classify, classes=classes, noise=noise)
    weight = np.zeros(len(data.rows))
    weight[data.rows] = 1.0 if data.weight is None else data.weight
    return model, noise, weight, data.classes


def _chooses_steps(search: Any) -> bool:
    """Whether the search replaces steps of a pipeline, perhaps the model."""
    estimator = search.estimator
    if not isinstance(estimator, Pipeline):
        return False
    grids = [value for name, value in search.get_params(deep=False).items() if "param" in name]
    named: set[str] = set()
    for grid in grids:
        for entry in grid if isinstance(grid, (list, tuple)) else [grid]:
            named |= set(entry) if isinstance(entry, Mapping) else set()
    return bool(_step_names(estimator) & named)


def _step_names(pipeline: Pipeline, before: str = "") -> set[str]:
    """Return the names of the steps in parameters, including those of inner pipelines."""
    found = {before + name for name, _ in pipeline.steps}
    for name, step in pipeline.steps:
        if isinstance(step, Pipeline):
            found |= _step_names(step, f"{before}{name}__")
    return found


def check_parts(noise: Noise, weight: Array, tuning: int, m: Any) -> None:
    """Refuse parts that are too small for the search or for the region."""
    count = int((weight > 0).sum())
    for part, given in (("search", tuning), ("region", count)):
        if given < 2:
            raise ValueError(
                f"tune_size leaves the {part} too few rows: expected at least 2 of positive "
                f"weight, given {given}. Pass another share, or more data."
            )
    if isinstance(m, str):
        noise = noise if (weight > 0).all() else restricted(noise, weight > 0)
        noise.group(count, modulo_sign=False)  # raises if the group is too large


def check_transformers(search: Any, X: Any, y: Any) -> None:
    """Refuse transformers that need y; the search itself reports any other error."""
    transformers, _ = split_pipeline(search.estimator)
    if transformers is None:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_transform_without_y(transformers, deepcopy(X), y)
    except SupervisedTransformer:
        raise
    except Exception:  # perhaps because of hyper-parameters that are still to be chosen
        return

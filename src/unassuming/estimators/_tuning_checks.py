"""What can be known to be wrong before a search begins, which may take hours."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from unassuming._errors import complaint
from unassuming._typing import Array
from unassuming.inputs import (
    SupervisedTransformer,
    check_data,
    check_options,
    fit_transform_without_y,
    is_label_model,
    split_pipeline,
)
from unassuming.noise import Noise, as_noise, restricted
from unassuming.objectives import factory_for
from unassuming.regions import confidence_region


def check_search(search: Any) -> None:
    name = type(search).__name__
    if isinstance(search, BaseEstimator) and name.endswith("SearchCV"):
        return
    raise TypeError(
        complaint(
            "search",
            "is no search over hyper-parameters",
            "an instance of GridSearchCV, RandomizedSearchCV or a class like these",
            search.__name__ if isinstance(search, type) else name,
            "Wrap the model in GridSearchCV, or use ua.confidence_region if nothing is tuned.",
        )
    )


def check_before(search: Any, X: Any, y: Any, options: dict[str, Any]) -> tuple[Any, Noise, Array]:
    """Check all that can be known before the search; return model, noise and all weights.

    The model is None where the search itself chooses it.
    """
    known = inspect.signature(confidence_region).parameters
    allowed = [name for name in known if name not in ("estimator", "X", "y", "random_state")]
    unknown = [name for name in options if name not in allowed]
    if unknown:
        raise TypeError(
            complaint(
                repr(unknown[0]),
                "is no option of a region",
                f"one of {', '.join(allowed)}",
                f"{unknown[0]}={options[unknown[0]]!r}",
                "A level is chosen later: region.band(X, level=...)."
                if unknown[0] == "level"
                else "Correct the name.",
            )
        )
    model: Any = None
    if not _chooses_steps(search):
        _, model = split_pipeline(search.estimator)
        factory_for(model)
    chosen = {name: value for name, value in options.items() if name != "sample_weight"}
    noise = check_options(model, **chosen)
    classify = is_label_model(model) or (model is None and is_label_model(search))
    if model is None and classify and options.get("noise") is None:
        noise = as_noise("labels")
    data = check_data(X, y, options.get("sample_weight"), classify=classify)
    weight = np.zeros(len(data.rows))
    weight[data.rows] = 1.0 if data.weight is None else data.weight
    return model, noise, weight


def _chooses_steps(search: Any) -> bool:
    """Whether the search replaces steps of a pipeline by others, the model perhaps."""
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
    """Return the names by which parameters call the steps, those of inner pipelines too."""
    found = {before + name for name, _ in pipeline.steps}
    for name, step in pipeline.steps:
        if isinstance(step, Pipeline):
            found |= _step_names(step, f"{before}{name}__")
    return found


def check_parts(noise: Noise, weight: Array, tuning: int, m: Any) -> None:
    """Refuse parts that are too small to tune on, or to build a region of."""
    count = int((weight > 0).sum())
    for part, least, given in (("search", 2, tuning), ("region", 2, count)):
        if given < least:
            raise ValueError(
                f"tune_size leaves the {part} too few rows: expected at least {least} of positive "
                f"weight, given {given}. Pass another share, or more data."
            )
    if isinstance(m, str):
        noise = noise if (weight > 0).all() else restricted(noise, weight > 0)
        noise.group(count, modulo_sign=False)  # too large a group is refused


def check_transformers(search: Any, X: Any, y: Any) -> None:
    """Refuse transformers that ask for y; any other trouble is left to the search."""
    transformers, _ = split_pipeline(search.estimator)
    if transformers is None:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_transform_without_y(transformers, deepcopy(X), y)
    except TypeError as error:
        if isinstance(error, SupervisedTransformer):
            raise
    except Exception:  # hyper-parameters to be chosen, perhaps
        return

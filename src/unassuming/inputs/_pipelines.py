"""The parts of a pipeline: transformers, fitted without y, and the model at its end."""

from __future__ import annotations

import warnings
from typing import Any, final

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from unassuming.inputs._tables import check_columns, check_width, column_count


@final
class SupervisedTransformer(TypeError):
    """A transformer of the pipeline needs y."""


def split_pipeline(estimator: Any) -> tuple[Pipeline | None, Any]:
    """Return the unfitted transformers (or None) and the final estimator."""
    if isinstance(estimator, type):
        raise TypeError(
            "estimator is a class: expected an instance such as Ridge(alpha=1.0), given "
            f"{estimator.__name__}. Write {estimator.__name__}() with its hyper-parameters."
        )
    if not isinstance(estimator, Pipeline):
        return None, estimator
    inner, model = split_pipeline(estimator[-1])
    steps = clone(estimator[:-1]).steps if len(estimator) > 1 else []
    if inner is not None:
        steps = [*steps, ("inner", inner)]
    return (Pipeline(steps) if steps else None), model


def seed_unset(estimator: BaseEstimator, rng: np.random.Generator) -> None:
    """Seed every part of a cloned estimator that draws at random and has no seed yet.

    Splitters such as KFold(shuffle=True) are not estimators: their seed is an attribute.
    """
    for name, value in sorted(estimator.get_params().items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            estimator.set_params(**{name: int(rng.integers(2**31 - 1))})
        elif not hasattr(value, "get_params"):
            attributes = getattr(value, "__dict__", {})
            if attributes.get("random_state", 0) is None:
                value.random_state = int(rng.integers(2**31 - 1))


def frozen_steps(estimator: Any) -> list[str]:
    """Return the names of the steps that were fitted before, at any depth of a pipeline."""
    steps = estimator.get_params() if isinstance(estimator, Pipeline) else {}
    return [name for name, step in steps.items() if isinstance(step, FrozenEstimator)]


def fit_transform_without_y(transformers: Pipeline, X: Any, y: Any) -> Any:
    """Fit the transformers on X alone and return the features.

    A transformer that fails without y but works with it is supervised, and refused. Signatures and
    tags cannot decide this: SelectKBest declares y optional.
    """
    features = X
    for name, step in _working(transformers):
        if not isinstance(step, FrozenEstimator):  # fitted before; the region says so
            try:
                step.fit(features)
            except Exception as error:
                raise _diagnosis(name, step, features, y) from error
        features = _passed(name, step, features, _OTHER_DATA)
    return features


def transformed(transformers: Pipeline, X: Any, names: list[Any] | None, width: int | None) -> Any:
    """Return the features of new inputs, from fitted transformers.

    ``names`` and ``width`` are those of the columns of the data: inputs with other columns are
    refused as such if a transformer does not take them.
    """
    features = X
    for name, step in _working(transformers):
        try:
            features = _passed(name, step, features, _OTHER_INPUTS)
        except ValueError:
            check_columns(X, names, "X")
            if width is not None and column_count(X) is not None:
                check_width(X, width)
            raise
    return features


_OTHER_DATA = "Change its parameters, or the columns that it takes."
_OTHER_INPUTS = "Pass inputs like those of the data, or a transformer that takes others."


def _working(transformers: Pipeline) -> list[tuple[str, Any]]:
    """Return the steps that do something."""
    return [
        (name, step)
        for name, step in transformers.steps
        if step is not None and not (isinstance(step, str) and step == "passthrough")
    ]


def _passed(name: str, step: Any, X: Any, remedy: str) -> Any:
    """Return what a fitted transformer makes of some inputs."""
    try:
        return step.transform(X)
    except (ValueError, TypeError) as error:
        raise _refusal(name, error, remedy) from error


def _refusal(name: str, error: Exception, remedy: str) -> ValueError:
    """Return the error of a transformer, with its name and what to do."""
    said = " ".join(str(error).split()).rstrip(".")
    return ValueError(f"the transformer {name!r} fails: {said}. {remedy}")


def _diagnosis(name: str, step: BaseEstimator, X: Any, y: Any) -> Exception:
    """Return the error of a transformer that could not be fitted without y, by trying it with y."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clone(step).fit(X, y)
    except (ValueError, TypeError) as error:  # y makes no difference
        return _refusal(name, error, _OTHER_DATA)
    except Exception as error:
        return error
    return SupervisedTransformer(
        f"the transformer {name!r} needs y to be fitted, which voids the guarantee: expected "
        f"transformers that are fitted to the inputs alone, given {type(step).__name__}. Remove "
        "it, or fit it on other rows and pass FrozenEstimator(it)."
    )

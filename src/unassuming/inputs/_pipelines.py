"""The parts of a pipeline: transformers, fitted without y, and the model at its end."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from unassuming._typing import Array
from unassuming.inputs._faults import fault, too_large
from unassuming.inputs._tables import as_inputs, check_columns, check_width, column_count


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
    done: list[tuple[str, Any]] = []
    for name, step in _working(transformers):
        if not isinstance(step, FrozenEstimator):  # fitted before; the region says so
            try:
                step.fit(features)
            except Warning:  # where warnings are errors
                raise
            except Exception as error:
                raise _diagnosis(name, step, features, y, _Chain(X, tuple(done))) from error
        features = _passed(name, step, features, _Chain(X, tuple(done)), _OTHER_DATA)
        done.append((name, step))
    return features


def as_features(transformers: Pipeline | None, X: Any, features: Any) -> Array:
    """Return the features of inputs X as a finite matrix; name the entry of X that prevents it."""
    steps = () if transformers is None else tuple(_working(transformers))
    if not steps:
        return as_inputs(features)
    try:
        return as_inputs(features)
    except ValueError as error:
        own = fault(X, lambda Z: as_inputs(_after(steps, Z)))
        if own is None:
            own = too_large(X, lambda Z: as_inputs(clone(transformers).fit_transform(Z)))
        if own is not None:
            raise own from None
        raise ValueError(f"after the step {steps[-1][0]!r}, {error}") from None


def transformed(transformers: Pipeline, X: Any, names: list[Any] | None, width: int | None) -> Any:
    """Return the features of new inputs, from fitted transformers.

    ``names`` and ``width`` are those of the columns of the data: inputs with other columns are
    refused as such if a transformer does not take them.
    """
    features = X
    done: list[tuple[str, Any]] = []
    for name, step in _working(transformers):
        try:
            features = _passed(name, step, features, _Chain(X, tuple(done)), _OTHER_INPUTS)
        except ValueError:
            check_columns(X, names, "X")
            if width is not None and column_count(X) is not None:
                check_width(X, width)
            raise
        done.append((name, step))
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


@final
@dataclass(frozen=True, eq=False)
class _Chain:
    """The user's table, and the steps that it has passed."""

    X: Any
    steps: tuple[tuple[str, Any], ...]

    def fault(self, step: Any, features: Any, *, fit: bool) -> str | None:
        """Return which entries, of the table or of the features after a step, stop the next step.

        ``fit`` says that it could not even be fitted.
        """

        def works(Z: Any) -> object:
            return (clone(step).fit(Z) if fit else step).transform(Z)

        if (own := fault(self.X, lambda Z: works(_after(self.steps, Z)))) is not None:
            return str(own)
        if not self.steps or (made := fault(features, works)) is None:
            return None
        return f"after the step {self.steps[-1][0]!r}, {made}"


def _after(steps: tuple[tuple[str, Any], ...], X: Any) -> Any:
    """Return the features of a table after some fitted steps."""
    for _, step in steps:
        X = step.transform(X)
    return X


def _passed(name: str, step: Any, X: Any, chain: _Chain, remedy: str) -> Any:
    """Return what a fitted transformer makes of some inputs."""
    try:
        return step.transform(X)
    except (ValueError, TypeError) as error:
        raise _refusal(name, chain.fault(step, X, fit=False) or error, remedy) from error


def _refusal(name: str, said: Exception | str, remedy: str) -> ValueError:
    """Return the error of a transformer, with its name and what to do."""
    if isinstance(said, str):  # it has its own remedy
        return ValueError(f"the transformer {name!r} fails: {said}")
    text = " ".join(str(said).split()).rstrip(".")
    return ValueError(f"the transformer {name!r} fails: {text}. {remedy}")


def _diagnosis(name: str, step: BaseEstimator, X: Any, y: Any, chain: _Chain) -> Exception:
    """Return the error of a transformer that could not be fitted without y, by trying it with y."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clone(step).fit(X, y)
    except (ValueError, TypeError) as error:  # y makes no difference
        return _refusal(name, chain.fault(step, X, fit=True) or error, _OTHER_DATA)
    except Exception as error:
        return error
    return SupervisedTransformer(
        f"the transformer {name!r} needs y to be fitted, which voids the guarantee: expected "
        f"transformers that are fitted to the inputs alone, given {type(step).__name__}. Remove "
        "it, or fit it on other rows and pass FrozenEstimator(it)."
    )

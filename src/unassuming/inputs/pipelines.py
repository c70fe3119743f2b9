"""The parts of a pipeline: transformers, fitted without y, and the model at its end.

Slopes of a function need the derivatives of its transformers: a direction in the inputs becomes a
direction in the features, step by step. Each step has a closed form; one without is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.inputs.tables import as_inputs, check_columns, check_width, column_count
from unassuming.kernels import kernel_slope


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
    """Seed every part of a cloned estimator that draws at random and has no seed yet."""
    for name, value in sorted(estimator.get_params().items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            estimator.set_params(**{name: int(rng.integers(2**31 - 1))})
        elif not hasattr(value, "get_params") and getattr(value, "random_state", 0) is None:
            value.random_state = int(rng.integers(2**31 - 1))  # a splitter: KFold(shuffle=True)


def frozen_steps(estimator: Any) -> list[str]:
    """Return the names of the steps that were fitted before, at any depth of a pipeline."""
    steps = estimator.get_params() if isinstance(estimator, Pipeline) else {}
    return [name for name, step in steps.items() if isinstance(step, FrozenEstimator)]


def fit_transform_without_y(transformers: Pipeline, X: Any, y: Any) -> Any:
    """Fit the transformers on X alone and return the features."""
    # A transformer that fails without y but works with it is supervised, and refused. Signatures
    # and tags cannot decide this: SelectKBest declares y optional.
    for name, step in _working(transformers):
        if not isinstance(step, FrozenEstimator):  # fitted before; the region says so
            try:
                step.fit(X)
            except Warning:  # where warnings are errors
                raise
            except Exception as error:
                raise _diagnosis(name, step, X, y) from error
        X = _passed(name, step, X)
    return X


def as_features(transformers: Pipeline | None, X: Any, features: Any) -> Array:
    """Return what the transformers, if there are any, made of X as a finite matrix."""
    if transformers is None:
        return as_inputs(X)
    try:
        return as_inputs(features)
    except ValueError as error:
        raise ValueError(f"after the step {transformers.steps[-1][0]!r}, {error}") from None


def transformed(transformers: Pipeline, X: Any, names: list[Any] | None, width: int | None) -> Any:
    """Return the features of new inputs, whose columns should have these names and number."""
    features = X
    for name, step in _working(transformers):
        try:
            features = _passed(name, step, features)
        except ValueError:
            check_columns(X, names, "X")
            if width is not None and column_count(X) is not None:
                check_width(X, width)
            raise
    return features


def _working(transformers: Pipeline | None) -> list[tuple[str, Any]]:
    """Return the steps that do something."""
    steps = [] if transformers is None else transformers.steps
    return [(name, step) for name, step in steps if step not in (None, "passthrough")]


def _passed(name: str, step: Any, X: Any) -> Any:
    """Return what a fitted transformer makes of some inputs."""
    try:
        return step.transform(X)
    except (ValueError, TypeError) as error:
        raise _refusal(name, error) from error


def _refusal(name: str, error: Exception) -> ValueError:
    """Return the error of a transformer, in its first line, with its name and what to do."""
    said = str(error).strip().split("\n")[0].rstrip(".: ")
    remedy = "Change its parameters, or pass columns and values that it takes."
    return ValueError(f"the transformer {name!r} fails: {said}. {remedy}")


def _diagnosis(name: str, step: BaseEstimator, X: Any, y: Any) -> Exception:
    """Return the error of a transformer that could not be fitted without y, by trying it with y."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clone(step).fit(X, y)
    except (ValueError, TypeError) as error:  # y makes no difference
        return _refusal(name, error)
    except Exception as error:
        return error
    return TypeError(
        f"the transformer {name!r} needs y to be fitted, which voids the guarantee: expected "
        f"transformers that are fitted to the inputs alone, given {type(step).__name__}. Remove "
        "it, or fit it on other rows and pass FrozenEstimator(it)."
    )


# --- derivatives of transformers ---


def tangents(transformers: Pipeline | None, X: Any, column: int) -> tuple[Array, Array]:
    """Return the inputs of the model, (N, d), and their derivatives along one column of X."""
    Z = as_inputs(X)
    if column >= Z.shape[1]:
        raise ValueError(
            f"column does not fit X: expected a number below {Z.shape[1]}, given {column}. Count "
            "the columns from 0."
        )
    along = np.zeros_like(Z)
    along[:, column] = 1.0
    return _through(transformers, Z, along)


def _through(transformers: Pipeline | None, Z: Array, along: Array) -> tuple[Array, Array]:
    """Return features and their derivatives, by the chain rule."""
    for _, step in _working(transformers):
        fitted = step.estimator if isinstance(step, FrozenEstimator) else step
        if isinstance(fitted, Pipeline):
            Z, along = _through(fitted, Z, along)
            continue
        derivative = _DERIVATIVES.get(type(fitted))
        found = None if derivative is None else derivative(fitted, Z, along)
        if found is None:
            known = ", ".join(kind.__name__ for kind in _DERIVATIVES)
            raise NotAvailable(
                f"slopes need transformers with a known derivative, and {fitted!r} has none: use "
                f"{known} with smooth options, or ua.functionals.difference for two near inputs."
            )
        Z, along = as_inputs(_plain(fitted, Z)), found
    return Z, along


def _plain(step: Any, Z: Array) -> Any:
    """Transform an array with a step that may have been fitted to a table with names."""
    names = getattr(step, "feature_names_in_", None)
    if names is not None:
        import pandas as pd

        return step.transform(pd.DataFrame(Z, columns=names))
    return step.transform(Z)


def _scale(step: Any, _: Array, along: Array) -> Array:
    return along if step.scale_ is None else np.asarray(along / step.scale_)


def _range(step: MinMaxScaler, _: Array, along: Array) -> Array | None:
    return None if step.clip else np.asarray(along * step.scale_)


def _powers(step: PolynomialFeatures, Z: Array, along: Array) -> Array:
    powers = step.powers_
    total = np.zeros((len(Z), len(powers)))
    for c in range(Z.shape[1]):
        less = powers.copy()
        less[:, c] = np.maximum(less[:, c] - 1, 0)
        total += along[:, [c]] * powers[:, c] * (Z[:, None] ** less).prod(axis=2)
    return total


def _splines(step: SplineTransformer, Z: Array, along: Array) -> Array | None:
    """Return derivatives of the basis; at the ends of its range those from inside."""
    if step.degree < 2:
        return None  # no slope at the knots
    parts = []
    for c, spline in enumerate(step.bsplines_):
        low, high = spline.t[spline.k], spline.t[-spline.k - 1]
        x = Z[:, c]
        outside = (x < low) | (x > high)
        if step.extrapolation == "periodic":
            x = low + (x - low) % (high - low)
        elif step.extrapolation != "continue":
            x = np.clip(x, low, high)
        found = spline(x, nu=1) * along[:, [c]]
        if step.extrapolation == "constant":
            found[outside] = 0.0
        parts.append(found if step.include_bias else found[:, :-1])
    return np.column_stack(parts)


def _nystroem(step: Nystroem, Z: Array, along: Array) -> Array | None:
    gamma = 1 / Z.shape[1] if step.gamma is None else step.gamma
    degree = 3 if step.degree is None else step.degree
    coef0 = 1 if step.coef0 is None else step.coef0
    slope = None if step.kernel_params else kernel_slope(step.kernel, gamma, degree, coef0)
    if slope is None:
        return None
    rows = [slope(z, step.components_, u)[1] for z, u in zip(Z, along, strict=True)]
    return np.asarray(np.stack(rows) @ step.normalization_.T)


_DERIVATIVES: dict[type, Callable[[Any, Array, Array], Array | None]] = {
    StandardScaler: _scale,
    RobustScaler: _scale,
    MaxAbsScaler: _scale,
    MinMaxScaler: _range,
    PolynomialFeatures: _powers,
    SplineTransformer: _splines,
    Nystroem: _nystroem,
}

"""Derivatives of the transformers of a pipeline, by the chain rule.

A direction in the inputs becomes a direction in the features, step by step. Each step has a closed
form. A step without one is refused, since differences of two values are not exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
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
from unassuming.inputs._tables import as_inputs
from unassuming.kernels import kernel_slope

_KNOWN = (
    "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PolynomialFeatures, "
    "SplineTransformer of degree 2 or more, and Nystroem with a kernel that has one"
)


def tangents(transformers: Pipeline | None, X: Any, column: int) -> tuple[Array, Array]:
    """Return the inputs of the model, (N, d), and their derivatives along one column of X.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> squares = make_pipeline(PolynomialFeatures(2)).fit([[0.0]])
    >>> features, slopes = tangents(squares, [[3.0]], 0)
    >>> features, slopes
    (array([[1., 3., 9.]]), array([[0., 1., 6.]]))
    """
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
    for _, step in [] if transformers is None else transformers.steps:
        if step is None or (isinstance(step, str) and step == "passthrough"):
            continue
        fitted = step.estimator if isinstance(step, FrozenEstimator) else step
        if isinstance(fitted, Pipeline):
            Z, along = _through(fitted, Z, along)
            continue
        derivative = _DERIVATIVES.get(type(fitted))
        found = None if derivative is None else derivative(fitted, Z, along)
        if found is None:
            raise NotAvailable(
                f"slopes need transformers with a known derivative, and {fitted!r} has none: use "
                f"{_KNOWN}, or ua.functionals.difference for two inputs near each other."
            )
        Z, along = _dense(_plain(fitted, Z)), found
    return Z, along


def _plain(step: Any, Z: Array) -> Any:
    """Transform an array with a step that may have been fitted to a table with names."""
    names = getattr(step, "feature_names_in_", None)
    if names is None:
        return step.transform(Z)
    import pandas as pd

    return step.transform(pd.DataFrame(Z, columns=names))


def _dense(features: Any) -> Array:
    return as_inputs(features.toarray() if hasattr(features, "toarray") else features)


def _divided(step: Any, Z: Array, along: Array) -> Array:
    del Z
    return along if step.scale_ is None else np.asarray(along / step.scale_)


def _range(step: MinMaxScaler, Z: Array, along: Array) -> Array | None:
    del Z
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
    degree, coef0 = (
        usual if one is None else one for one, usual in ((step.degree, 3), (step.coef0, 1))
    )
    slope = None if step.kernel_params else kernel_slope(step.kernel, gamma, degree, coef0)
    if slope is None:
        return None
    rows = [slope(z, step.components_, u)[1] for z, u in zip(Z, along, strict=True)]
    return np.asarray(np.stack(rows) @ step.normalization_.T)


_DERIVATIVES: dict[type, Callable[[Any, Array, Array], Array | None]] = {
    StandardScaler: _divided,
    RobustScaler: _divided,
    MaxAbsScaler: _divided,
    MinMaxScaler: _range,
    PolynomialFeatures: _powers,
    SplineTransformer: _splines,
    Nystroem: _nystroem,
}

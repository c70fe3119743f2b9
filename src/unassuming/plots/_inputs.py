"""Inputs, outputs and levels of a region as numbers to draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.ranking import as_double
from unassuming.regions import Region

_GRID = 200


def features(X: Any, count: int) -> Array:
    """Return the columns of X, (N, count); refuse another number of columns."""
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != count:
        raise ValueError(
            f"X cannot be drawn in this picture: expected a table with {count} "
            f"feature{'s' * (count > 1)}, given shape {values.shape}. band and family draw one "
            "feature, classification two; coefficients any number."
        )
    return values


def names(X: Any, count: int) -> list[str]:
    """Return the names of the columns, or x and x1, x2."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        return [str(name) for name in columns]
    return ["x"] if count == 1 else [f"x{j + 1}" for j in range(count)]


def like(X: Any, values: Array) -> Any:
    """Return new inputs in the form of X: a data frame with the same columns, or an array."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return values
    return type(X)({name: values[:, j] for j, name in enumerate(columns)})


def grid(region: Region) -> Any:
    """Return 200 equidistant inputs over the range of the only feature."""
    x = features(region.inputs, 1)
    return like(region.inputs, np.linspace(x.min(), x.max(), _GRID)[:, None])


def horizontal(region: Region, X: Any) -> tuple[Any, Array, IntArray]:
    """Return the inputs (a grid if X is None), their only feature (N,), and its order."""
    inputs = grid(region) if X is None else X
    x = features(inputs, 1)[:, 0]
    return inputs, x, np.argsort(x, kind="stable")


def observed(region: Region, count: int) -> tuple[Array, Array]:
    """Return the features and outputs of the rows with positive weight."""
    data = region.problem.data("a picture of the data needs")
    return features(data.X, count)[data.rows], region.objective.y


def values(region: Region, coefficients: Array, X: Any) -> Array:
    """Return the functions with these coefficients (M, d) at the inputs, (M, N)."""
    objective = region.objective
    if objective.design is None:
        raise TypeError(
            "the region cannot be drawn over inputs: expected a model with features or a kernel, "
            f"given {objective}. Draw its coefficients."
        )
    return objective.response(coefficients @ objective.design.rows(region.problem.transform(X)).T)


def used(region: Region, levels: Sequence[float]) -> list[float]:
    """Return the levels in increasing order, after checking that the region has them."""
    return sorted({as_double(level) for level in levels if region.level(level)})


def caveats(region: Region) -> list[str]:
    """Return the warning that every picture of this region must show, if any."""
    if not region.caveat:
        return []
    return ["Published region of LS-SVC: it carries no coverage guarantee."]


def classes(region: Region) -> Any:
    """Return the two labels of a classifier, or None for a regression."""
    return region.problem.classes


def output_name(region: Region) -> str:
    """Return the label of the vertical axis."""
    return "y" if classes(region) is None else "E[y|x]"

"""Inputs that vary one column at a time, in the form of the table that the user passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.regions import Region
from unassuming.report._columns import as_numbers

_ALONE, _AMONG_OTHERS = 120, 60
"""Inputs for each column."""


def centre(inputs: Mapping[str, Any]) -> int:
    """Return the row that is nearest to the medians of the numeric columns."""
    distance = 0.0
    for column in inputs.values():
        x = as_numbers(column)
        if x is not None and np.isfinite(x).all() and x.max() > x.min():
            distance = distance + np.abs(x - np.median(x)) / (x.max() - x.min())
    return int(np.argmin(distance))


def grid_of(x: Array, count: int) -> Array:
    """Return equidistant values over the range of a column."""
    return np.linspace(x.min(), x.max(), count)


def grid_inputs(
    region: Region, chosen: Mapping[str, Array], columns: int
) -> tuple[Any, list[slice]]:
    """Return the inputs of all panels, one below the other, and their places."""
    X = region.inputs
    shape = np.shape(X)
    if not chosen or len(shape) != 2 or hasattr(X, "toarray"):
        return None, []
    size = _ALONE if columns == 1 else _AMONG_OTHERS
    data = region.problem.data("a report needs")
    names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(shape[1])])]
    kept = np.flatnonzero(data.rows)
    table = {name: _column(X, j)[kept] for j, name in enumerate(names)}
    row = int(kept[centre(table)])
    repeated = _repeated(X, row, size * len(chosen))
    places = []
    for k, (name, x) in enumerate(chosen.items()):
        place = slice(k * size, (k + 1) * size)
        repeated = _with_values(repeated, names.index(name), place, grid_of(x, size))
        places.append(place)
    return repeated, places


def _column(X: Any, j: int) -> Any:
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, j])
    return np.asarray(X[:, j] if hasattr(X, "columns") else np.asarray(X)[:, j])


def _repeated(X: Any, row: int, times: int) -> Any:
    """Return a row of a table so many times, in the form of the table."""
    if hasattr(X, "iloc"):
        return X.iloc[[row] * times].reset_index(drop=True)
    if hasattr(X, "columns"):
        return X[[row] * times]
    return np.asarray(X)[[row] * times].copy()


def _with_values(X: Any, j: int, place: slice, values: Array) -> Any:
    """Return the table with other values in a part of one column."""
    if not hasattr(X, "columns"):
        X = X if X.dtype.kind in "fO" else X.astype(np.float64)
        X[place, j] = values
        return X
    column = np.array(_column(X, j), dtype=np.float64)
    column[place] = values
    if hasattr(X, "iloc"):
        X = X.copy()
        X.isetitem(j, column)
        return X
    return X.with_columns(type(X[:, j])(X.columns[j], column))

"""Tables of inputs: arrays, sparse matrices and DataFrames of pandas or polars."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.inputs._arrays import as_finite


def as_inputs(X: Any) -> Array:
    """Return the (transformed) inputs as a finite matrix."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    if is_frame(X):
        check_distinct(X)
        # Column by column: taken together, dates would pass for numbers.
        columns = [
            as_finite(column_at(X, j).to_numpy(), f"column {name!r} of X")
            for j, name in enumerate(X.columns)
        ]
        matrix = np.column_stack(columns) if columns else np.empty((len(X), 0))
    else:
        matrix = as_finite(X, "X")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            "X is not a table: expected two dimensions, at least one row and at least one feature, "
            f"given shape {matrix.shape}. Pass one row as X.reshape(1, -1) or X.iloc[[0]], and one "
            "feature as X.reshape(-1, 1) or X[['name']]."
        )
    return matrix


def is_frame(X: Any) -> bool:
    """Whether this is a DataFrame, of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "to_numpy") and getattr(X, "ndim", 2) == 2


def column_at(X: Any, j: int) -> Any:
    """Return a column of a DataFrame by its position."""
    return X.iloc[:, j] if hasattr(X, "iloc") else X.to_series(j)


def column_names(X: Any) -> list[Any] | None:
    """Return the names of the columns; None if there are none."""
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


def check_distinct(X: Any) -> None:
    """Refuse a DataFrame with two columns of the same name."""
    names = list(X.columns) if is_frame(X) else []
    twice = next((name for j, name in enumerate(names) if name in names[:j]), None)
    if twice is not None:
        raise ValueError(
            "X has columns of the same name: expected a different name for each column, given "
            f"{twice!r} {names.count(twice)} times. Rename them."
        )


def check_columns(X: Any, names: list[Any] | None, what: str) -> None:
    """Refuse a table whose columns differ from those of the data in name or order.

    If either has no names, columns are identified by their position.
    """
    given = column_names(X)
    if names is None or given is None or given == names:
        return
    problem, remedy = "has its columns in another order", f"Pass X[{names!r}]."
    if set(given) != set(names):
        problem = "has different columns from the data"
    if not set(names) <= set(given):
        remedy = "Rename the columns, or pass those of the data."
    raise ValueError(f"{what} {problem}: expected {listed(names)}, given {listed(given)}. {remedy}")


def check_width(X: Any, width: int) -> None:
    """Refuse inputs whose number of columns differs from that of the data."""
    if (given := column_count(X)) != width:
        raise ValueError(
            f"X has the wrong number of features: expected {width}, as in the data, given "
            f"{given}. Pass the same columns."
        )


def column_count(X: Any) -> int | None:
    """Return the number of columns of a table; None for anything else."""
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return int(shape[1]) if len(shape) == 2 else None


def check_like(X: Any, data: Any) -> None:
    """Refuse inputs whose columns differ from those of the data in name, order or number."""
    check_columns(X, column_names(data), "X")
    check_width(as_inputs(X), np.shape(data)[1])


def listed(names: list[Any]) -> str:
    """Return at most eight names in brackets."""
    shown = [repr(name) for name in names]
    return f"[{', '.join(shown if len(shown) <= 8 else [*shown[:7], '...'])}]"


def row_count(X: Any) -> int:
    """Return the number of rows of a table."""
    if not hasattr(X, "shape") and hasattr(X, "__array__"):
        X = np.asarray(X)
    try:
        return int(X.shape[0] if hasattr(X, "shape") else len(X))
    except (TypeError, IndexError) as error:
        raise ValueError(
            "X is not a table: expected an array or DataFrame with one row for each observation, "
            f"given {X!r}. Pass the inputs."
        ) from error


def rows_between(X: Any, start: int | None, stop: int | None) -> Any:
    """Return some rows of a table or column, by their numbers."""
    return getattr(X, "iloc", X)[start:stop]  # slices of pandas can mean labels

"""Tables of inputs: arrays, sparse matrices and DataFrames of pandas or polars.

A table is checked once and becomes a matrix of finite numbers. Errors name the first entry that is
not a finite number, or the columns that are not those of the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._errors import complaint
from unassuming._labels import is_missing
from unassuming._typing import Array
from unassuming._words import spoken

MISSING, NOT_NUMERIC = "has missing or infinite values", "is not numeric"
_IMPUTE = "Drop or impute these entries."


def as_finite(array: Any, name: str, remedy: str | None = None) -> Array:
    """Return an array of finite float64; without a remedy the errors suggest those for data."""
    if getattr(getattr(array, "dtype", None), "kind", "f") in "cMm":
        given = f"values of type {array.dtype}"
        convert = "Convert them to numbers, e.g. dates to days since the first one."
        raise unfit(name, NOT_NUMERIC, given, (), remedy or convert)
    try:
        values = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _unreadable(array, name, remedy) from error
    if not np.isfinite(values).all():
        first = tuple(np.argwhere(~np.isfinite(values))[0])
        value = values[first] if first else array
        raise unfit(name, MISSING, value, first, remedy or _IMPUTE)
    return values


def as_numbers(values: Any, name: str, count: int, of: str) -> Array:
    """Return one finite number for each of something; a single number is repeated."""
    found = as_finite(values, name)
    if found.ndim == 0:
        return np.full(count, float(found))
    if found.shape != (count,):
        expected, given = f"{count} numbers, one for each {of}", f"shape {found.shape}"
        remedy = f"Pass one for each {of}, or a single number for all."
        raise ValueError(complaint(name, "has the wrong length", expected, given, remedy))
    return found


def unfit(
    name: str, problem: str, value: Any, where: Any, remedy: str, expected: str = "finite numbers"
) -> ValueError:
    """Return the error about an entry of an array and its position."""
    position = ", ".join(str(int(i)) for i in where)
    given = f"{value} at position {position}" if position else f"{value}"
    return ValueError(complaint(name, problem, expected, given, remedy))


def _unreadable(array: Any, name: str, remedy: str | None) -> ValueError:
    """Return the error about an array that could not be read as numbers."""
    try:
        entries = np.asarray(array)
    except ValueError:
        lengths, wrong = sorted(map(np.size, array)), "has rows of different lengths"
        given = f"lengths from {lengths[0]} to {lengths[-1]}"
        remedy = "Pass a rectangular table."
        return ValueError(complaint(name, wrong, "the same for all", given, remedy))
    for where, entry in np.ndenumerate(entries):
        if is_missing(entry):
            return unfit(name, MISSING, entry, where, remedy or _IMPUTE)
        try:
            float(entry)
        except (TypeError, ValueError):
            break
    return unfit(name, NOT_NUMERIC, spoken(entry), where, remedy or "Encode or drop the text.")


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


def column_count(X: Any) -> int | None:
    """Return the number of columns of a table; None for anything else."""
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    return int(shape[1]) if len(shape) == 2 else None


def row_count(X: Any) -> int:
    """Return the number of rows of a table."""
    if not hasattr(X, "shape") and hasattr(X, "__array__"):
        X = np.asarray(X)
    try:
        return int(X.shape[0] if hasattr(X, "shape") else len(X))
    except (TypeError, IndexError) as error:
        expected = "an array or DataFrame"
        said = complaint("X", "is not a table", expected, repr(X), "Pass the inputs.")
        raise ValueError(said) from error


def rows_between(X: Any, start: int | None, stop: int | None) -> Any:
    """Return some rows of a table or column, by their numbers."""
    return getattr(X, "iloc", X)[start:stop]  # slices of pandas can mean labels


def check_distinct(X: Any) -> None:
    """Refuse a DataFrame with two columns of the same name."""
    names = list(X.columns) if is_frame(X) else []
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        wrong, given = "has columns of the same name", f"{twice!r} {names.count(twice)} times"
        raise ValueError(complaint("X", wrong, "a different name for each", given, "Rename them."))


def check_columns(X: Any, names: list[Any] | None, what: str) -> None:
    """Refuse a table whose columns differ from those of the data in name or order."""
    given = column_names(X)
    if names is None or given is None or given == names:  # without names the position counts
        return
    same = set(given) == set(names)
    problem = "has its columns in another order" if same else "has different columns from the data"
    some = set(names) <= set(given)
    remedy = f"Pass X[{names!r}]." if some else "Rename the columns, or pass those of the data."
    raise ValueError(complaint(what, problem, listed(names), listed(given), remedy))


def check_width(X: Any, width: int) -> None:
    """Refuse inputs whose number of columns differs from that of the data."""
    if (given := column_count(X)) != width:
        wrong, expected = "has the wrong number of features", f"{width}, as in the data"
        raise ValueError(complaint("X", wrong, expected, given, "Pass the same columns."))


def check_like(X: Any, data: Any) -> None:
    """Refuse inputs whose columns differ from those of the data in name, order or number."""
    check_columns(X, column_names(data), "X")
    check_width(as_inputs(X), np.shape(data)[1])


def listed(names: list[Any]) -> str:
    """Return at most eight names in brackets."""
    shown = [repr(name) for name in names]
    return f"[{', '.join(shown if len(shown) <= 8 else [*shown[:7], '...'])}]"

"""Whose entries make a pipeline fail: those of the user's own table, or those that a step makes.

A column with text or missing values is not wrong by itself, since a step may encode or impute it.
So it is tried: if the pipeline works with other entries in this column, it is the cause.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.inputs._arrays import as_finite
from unassuming.inputs._tables import as_inputs, column_at, column_count, is_frame

_LARGEST = 1e150
"""The squares of larger numbers, summed over some rows, overflow."""


def fault(X: Any, works: Callable[[Any], object]) -> ValueError | None:
    """Return the error that names the column whose text or missing values make X fail.

    Parameters
    ----------
    X : array or DataFrame
    works : callable
        Raises if a table fails.

    Examples
    --------
    >>> print(fault(np.array([[1.0, np.nan]]), as_inputs))
    X has missing or infinite values: expected finite numbers, given nan at position 0, 1. Drop ...
    >>> fault(np.array([[1.0, np.nan]]), lambda Z: 1 / 0)
    """
    try:
        table = X if is_frame(X) or hasattr(X, "toarray") else np.asarray(X)
    except ValueError:  # rows of different lengths
        return None
    if hasattr(X, "toarray") or column_count(table) is None:
        return None
    bad = [j for j in range(table.shape[1]) if _error(_column(table, j), "") is not None]
    for j in bad:
        if _succeeds(works, _replaced(table, [j])):
            return _error(_replaced(table, set(bad) - {j}))
    if len(bad) > 1 and _succeeds(works, _replaced(table, bad)):
        for j in bad:
            alone = _replaced(table, set(bad) - {j})
            if not _succeeds(works, alone):
                return _error(alone)
    return None


def too_large(X: Any, works: Callable[[Any], object]) -> ValueError | None:
    """Return the error about a number so large that a pipeline makes something infinite of it.

    Examples
    --------
    >>> print(too_large(np.array([[1.0], [1e200]]), lambda Z: as_finite(np.square(Z), "")))
    X has a number whose square overflows: expected at most 1e+150, given 1e+200 in row 1 of ...
    """
    if hasattr(X, "toarray"):
        return None
    table: Any = X if is_frame(X) else np.asarray(X)
    for j in range(table.shape[1]):
        column = _numbers(_column(table, j))
        large = np.flatnonzero(np.abs(column) > _LARGEST)
        if len(large) and _succeeds(works, _replaced(table, [j], _moderate)):
            name = repr(table.columns[j]) if is_frame(table) else str(j)
            return ValueError(
                f"X has a number whose square overflows: expected at most {_LARGEST:g}, given "
                f"{column[large[0]]:g} in row {large[0]} of column {name} (counted from zero). If "
                "it stands for a missing value, drop its row or impute it; otherwise divide the "
                "column by a power of ten."
            )
    return None


def _column(table: Any, j: int) -> Any:
    return column_at(table, j).to_numpy() if is_frame(table) else table[:, j]


def _error(table: Any, name: str | None = None) -> ValueError | None:
    """Return what is wrong with a table, or with a column of this name."""
    try:
        _ = as_inputs(table) if name is None else as_finite(table, name)
    except ValueError as error:
        return error
    return None


def _succeeds(works: Callable[[Any], object], table: Any) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            works(table)
        except Exception:
            return False
    return True


def _replaced(
    table: Any, columns: Iterable[int], numbers: Callable[[Any], Array] | None = None
) -> Any:
    """Return the table with ones in place of what is not a finite number in some columns."""
    numbers = _numbers if numbers is None else numbers
    if not is_frame(table):
        copy = np.array(table, dtype=table.dtype if table.dtype.kind == "f" else object)
        for j in columns:
            copy[:, j] = numbers(table[:, j])
        return copy
    copy = table.copy() if hasattr(table, "iloc") else table.clone()
    for j in columns:
        column = column_at(table, j)
        values = numbers(column.to_numpy())
        if hasattr(table, "iloc"):
            copy.isetitem(j, values)
        else:
            copy = copy.with_columns(type(column)(column.name, values))
    return copy


def _numbers(column: Any) -> Array:
    values = np.ones(len(column))
    for i, entry in enumerate(column):
        try:
            number = float(entry)
        except (TypeError, ValueError):
            continue
        if np.isfinite(number):
            values[i] = number
    return values


def _moderate(column: Any) -> Array:
    values = _numbers(column)
    return np.where(np.abs(values) > _LARGEST, 1.0, values)

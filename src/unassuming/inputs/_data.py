"""Validation at the edge: what comes in as X, y and weights goes on as clean arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array, BoolArray

_SHOWN = 8  # names of columns that a sentence lists


@dataclass(frozen=True, eq=False)
class Data:
    """Inputs as the user passed them, and clean arrays of the rows that count.

    Attributes
    ----------
    X : object
        As passed.
    rows : boolean array, one entry for each row as passed
        Which rows have a weight other than zero.
    y, weight : arrays of shape (n,)
        Outputs (±1 for labels) and weights of those rows; weight is None if none were given.
    classes : array of shape (2,), or None
        The two labels; the second is +1.
    """

    X: Any
    rows: BoolArray
    y: Array
    weight: Array | None
    classes: Array | None


def check_data(X: Any, y: Any, sample_weight: Any, *, classify: bool) -> Data:
    """Check outputs and weights; the inputs are checked once the transformers have seen them."""
    check_distinct(X)
    length = row_count(X)
    target = as_outputs(y, length)
    rows, weight = check_weight(sample_weight, length)
    target = target[rows]
    if len(target) < 2:
        raise ValueError(
            "the data are too few: expected at least 2 rows of positive weight, given "
            f"{len(target)}. Pass at least two rows."
        )
    classes = None
    if classify:
        classes, target = _as_labels(target)
    values = as_finite(target, "y")
    return Data(X, rows, values, weight, classes)


def as_outputs(y: Any, length: int) -> Any:
    """Return outputs as a vector with one entry for each of so many rows."""
    target = np.asarray(y)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim != 1:
        several = target.ndim > 1
        raise ValueError(
            complaint(
                "y",
                "has several outputs" if several else "is a single number",
                "a vector of one number for each row",
                f"shape {target.shape}",
                "Build one region for each column." if several else "Pass all outputs.",
            )
        )
    if len(target) != length:
        raise ValueError(
            f"y and X differ in length: expected {length} outputs, one for each row of X, given "
            f"{len(target)}. Pass the rows of the same data set."
        )
    return target


def as_finite(array: Any, name: str, remedy: str | None = None) -> Array:
    """Return an array of finite float64, or raise; the remedy is that of data by default."""
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    if array is None or (kind and kind in "cMm"):
        given = "None" if array is None else f"values of type {array.dtype}"
        dates = remedy or "Convert them to numbers, e.g. dates to days since the first one."
        raise _not_numeric(name, given, dates)
    encode = remedy or "Encode or drop the text."
    try:
        values = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _unreadable(array, name, encode) from error
    bad = ~np.isfinite(values)
    if bad.any():
        where = np.argwhere(bad)[0]
        raise _missing(name, values[bad][0], where, remedy or "Drop or impute these entries.")
    return values


def _missing(
    name: str, value: object, where: Any, remedy: str, expected: str = "finite numbers"
) -> ValueError:
    position = ", ".join(str(int(i)) for i in where)
    given = f"{value} at position {position}" if position else f"{value}"
    return ValueError(
        f"{name} has missing or infinite values: expected {expected}, given {given}. {remedy}"
    )


def _not_numeric(name: str, given: str, remedy: str) -> ValueError:
    return ValueError(f"{name} is not numeric: expected finite numbers, given {given}. {remedy}")


def _unreadable(array: Any, name: str, remedy: str) -> ValueError:
    """Say why an array could not be read as numbers."""
    try:
        entries = np.asarray(array)
    except ValueError:
        lengths = sorted({np.size(row) for row in array})
        return ValueError(
            f"{name} has rows that differ: expected rows of the same length, given rows of length "
            f"{' and '.join(map(str, lengths[:2]))}. Pass a rectangular table."
        )
    for where, entry in np.ndenumerate(entries):
        if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
            return _missing(name, entry, where, "Drop or impute these entries.")
    text = next((e for e in entries.flat if _is_text(e)), array)
    text = repr(str(text) if isinstance(text, str) else text)
    return _not_numeric(name, text, remedy)


def _not_finite(label: Any) -> bool:
    return isinstance(label, float) and not np.isfinite(label)


def _is_text(entry: Any) -> bool:
    try:
        float(entry)
    except (TypeError, ValueError):
        return True
    return False


def as_inputs(X: Any) -> Array:
    """Return the (transformed) inputs as a finite matrix."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    matrix = _of_columns(X) if is_frame(X) else as_finite(X, "X")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            complaint(
                "X",
                "is no table",
                "two dimensions, at least one row and at least one feature",
                f"shape {matrix.shape}",
                _as_table(X) if matrix.ndim == 1 else "Pass a table with rows and columns.",
            )
        )
    return matrix


def is_frame(X: Any) -> bool:
    """Whether this is a DataFrame, of pandas or polars."""
    return hasattr(X, "columns") and hasattr(X, "to_numpy") and getattr(X, "ndim", 2) == 2


def column_at(X: Any, j: int) -> Any:
    """Return a column of a DataFrame by its position."""
    return X.iloc[:, j] if hasattr(X, "iloc") else X.to_series(j)


def _of_columns(X: Any) -> Array:
    """Return a DataFrame as a matrix; dates would pass for numbers if taken together."""
    check_distinct(X)
    columns = [
        as_finite(column_at(X, j).to_numpy(), f"column {name!r} of X")
        for j, name in enumerate(X.columns)
    ]
    return np.column_stack(columns) if columns else np.empty((len(X), 0))


def check_distinct(X: Any) -> None:
    """Refuse a DataFrame with two columns of one name: they could not be told apart."""
    names = list(X.columns) if is_frame(X) else []
    twice = next((name for j, name in enumerate(names) if name in names[:j]), None)
    if twice is not None:
        raise ValueError(
            "X has columns of the same name: expected a name of its own for each column, given "
            f"{twice!r} {names.count(twice)} times. Rename them."
        )


def _as_table(vector: Any) -> str:
    """Say how a single row or a single feature becomes a table."""
    if hasattr(vector, "iloc"):
        return "Pass one row of a DataFrame as X.iloc[[0]], and one column as X[['name']]."
    return "Pass one row as X.reshape(1, -1), and one feature as X.reshape(-1, 1)."


def column_names(X: Any) -> list[Any] | None:
    """Return the names of the columns of a DataFrame, of pandas or polars; None without any."""
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)


def check_columns(X: Any, names: list[Any] | None, what: str) -> None:
    """Refuse a DataFrame whose columns are not those of the data, by name and order.

    Without names on either side, columns are known by their position alone.
    """
    given = column_names(X)
    if names is None or given is None or given == names:
        return
    wanted = f"[{', '.join(map(repr, names))}]"
    there = set(names) <= set(given)
    raise ValueError(
        complaint(
            what,
            "has other columns than the data"
            if set(given) != set(names)
            else "has its columns in another order",
            _listed(names),
            _listed(given),
            f"Pass X[{wanted}]." if there else "Rename the columns, or pass those of the data.",
        )
    )


def _listed(names: list[Any]) -> str:
    shown = names if len(names) <= _SHOWN else [*names[: _SHOWN - 1], ...]
    return f"[{', '.join('...' if name is ... else repr(name) for name in shown)}]"


def row_count(X: Any) -> int:
    """Return the number of rows of a table."""
    if not hasattr(X, "shape") and hasattr(X, "__array__"):
        X = np.asarray(X)
    try:
        length = X.shape[0] if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError) as error:
        raise ValueError(
            "X is no table: expected an array or DataFrame with one row for each observation, "
            f"given {X!r}. Pass the inputs."
        ) from error
    return int(length)


def rows_between(X: Any, start: int | None, stop: int | None) -> Any:
    """Return some rows of a table or column, by their numbers."""
    return getattr(X, "iloc", X)[start:stop]  # slices of pandas can mean labels


def as_weights(sample_weight: Any, length: int) -> Array:
    """Return one finite weight for each row; one number stands for all."""
    weight = as_finite(sample_weight, "sample_weight")
    if weight.ndim == 0:
        return np.full(length, float(weight))
    if weight.shape != (length,):
        raise ValueError(
            f"sample_weight has the wrong length: expected {length} weights, one for each row, "
            f"given shape {weight.shape}. Pass one weight for each row of X."
        )
    return weight


def check_weight(sample_weight: Any, length: int) -> tuple[BoolArray, Array | None]:
    """Return which rows have a weight other than zero, and their weights if any were given."""
    everything = np.ones(length, dtype=np.bool_)
    if sample_weight is None:
        return everything, None
    weight = as_weights(sample_weight, length)
    remedy = "Drop a row by giving it weight zero."
    if (weight < 0).any():
        j = int(np.argmax(weight < 0))
        raise ValueError(
            f"sample_weight has a negative entry: expected weights >= 0, given {weight[j]} at row "
            f"{j} (counted from 0). {remedy}"
        )
    rows = weight > 0
    if not rows.any():
        raise ValueError(
            "sample_weight is zero everywhere: expected at least two positive weights, given "
            f"{length} zeros. Leave it out for equal weights."
        )
    return rows, weight[rows]


def require_labels(target: Any) -> None:
    """Refuse labels among which some are missing."""
    for j, label in enumerate(target.tolist()):
        # pandas' own missing value compares with nothing, not even with itself.
        if label is None or type(label).__name__ == "NAType" or _not_finite(label):
            raise _missing("y", label, [j], "Drop these rows.", "a label in every row")


def _as_labels(target: Any) -> tuple[Array, Array]:
    require_labels(target)
    classes = np.unique(target)
    if len(classes) != 2:
        shown = ", ".join(map(repr, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        raise ValueError(
            complaint(
                "y",
                "does not hold two classes",
                "exactly two different labels",
                f"{len(classes)}: {shown}",
                "Include rows of both classes."
                if len(classes) < 2
                else "Use a regressor for numbers, or one region for each pair of classes.",
            )
        )
    return classes, np.where(target == classes[1], 1.0, -1.0)

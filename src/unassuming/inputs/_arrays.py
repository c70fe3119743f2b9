"""Arrays of finite numbers, and errors that name the first entry which is not one."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._labels import is_missing
from unassuming._typing import Array

_IMPUTE = "Drop or impute these entries."


def as_finite(array: Any, name: str, remedy: str | None = None) -> Array:
    """Return an array of finite float64; without a remedy the errors suggest those for data."""
    kind = getattr(getattr(array, "dtype", None), "kind", None)
    if array is None or kind in ("c", "M", "m"):
        given = "None" if array is None else f"values of type {array.dtype}"
        convert = "Convert them to numbers, e.g. dates to days since the first one."
        raise _not_numeric(name, given, remedy or convert)
    try:
        values = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _unreadable(array, name, remedy or "Encode or drop the text.") from error
    finite = np.isfinite(values)
    if not finite.all():
        first = np.argwhere(~finite)[0]
        raise missing(name, values[tuple(first)], first, remedy or _IMPUTE)
    return values


def missing(
    name: str, value: object, where: Any, remedy: str, expected: str = "finite numbers"
) -> ValueError:
    """Return the error about a missing or infinite value."""
    position = ", ".join(str(int(i)) for i in where)
    given = f"{value} at position {position}" if position else f"{value}"
    return ValueError(
        f"{name} has missing or infinite values: expected {expected}, given {given}. {remedy}"
    )


def _not_numeric(name: str, given: str, remedy: str) -> ValueError:
    return ValueError(f"{name} is not numeric: expected finite numbers, given {given}. {remedy}")


def _unreadable(array: Any, name: str, remedy: str) -> ValueError:
    """Return the error about an array that could not be read as numbers."""
    try:
        entries = np.asarray(array)
    except ValueError:
        lengths = sorted({np.size(row) for row in array})
        return ValueError(
            f"{name} has rows of different lengths: expected the same length for all, given rows "
            f"of length {' and '.join(map(str, lengths[:2]))}. Pass a rectangular table."
        )
    for where, entry in np.ndenumerate(entries):
        if is_missing(entry):
            return missing(name, entry, where, _IMPUTE)
    found = ((where, entry) for where, entry in np.ndenumerate(entries) if _is_text(entry))
    where, text = next(found, ((), array))
    given = repr(str(text) if isinstance(text, str) else text)
    if len(where) == 2:  # a table without names
        given += f" at position {where[0]}, {where[1]}"
    return _not_numeric(name, given, remedy)


def _is_text(entry: Any) -> bool:
    try:
        float(entry)
    except (TypeError, ValueError):
        return True
    return False

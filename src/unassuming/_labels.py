"""Labels of groups of rows: whole numbers, text, booleans, dates or categories, none missing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unassuming._typing import BoolArray, IntArray

Labels = NDArray[Any]

_KINDS = "biufmMUSO"
_DIGITS = 53  # of a double, in bits


def is_missing(entry: Any) -> bool:
    """Whether an entry is None, or the missing value of pandas, which does not equal itself."""
    return entry is None or type(entry).__name__ in ("NAType", "NaTType")


def row_index(values: Any) -> Any:
    """Return the index of a table or column of pandas; None for anything without one."""
    index = getattr(values, "index", None)
    return index if type(index).__module__.split(".")[0] == "pandas" else None


def as_labels(values: Any, name: str) -> Labels:
    """Return one label for each row, (n,), in types that a file holds.

    Floats that are whole become integers; dates with a time zone and other objects become text.

    Examples
    --------
    >>> as_labels([2.0, 1.0, 2.0], "clusters")
    array([2, 1, 2])
    """
    labels = np.asarray(values)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or labels.dtype.kind not in _KINDS:
        raise ValueError(
            f"{name} must be one label for each row (whole numbers, text, dates or categories), "
            f"given an array of shape {labels.shape} and type {labels.dtype}. Pass e.g. "
            f"{name}=[0, 0, 1, 1]."
        )
    _refuse_missing(labels, name)
    if labels.dtype.kind == "f":
        _refuse_fractions(labels, np.ones(len(labels), dtype=np.bool_), name)
        return labels.astype(np.int64)
    return _plain(labels, name) if labels.dtype.kind == "O" else labels


def numbered(labels: Labels) -> tuple[IntArray, int]:
    """Number labels by first appearance, so that a number does not depend on later rows.

    Examples
    --------
    >>> numbered(np.array(["b", "a", "b"]))
    (array([0, 1, 0]), 2)
    """
    number: dict[object, int] = {}
    numbers = [number.setdefault(label, len(number)) for label in labels.tolist()]
    return np.array(numbers, dtype=np.intp), len(number)


def _refuse_missing(labels: Labels, name: str) -> None:
    if labels.dtype.kind in "mM":
        missing = np.isnat(labels)
    elif labels.dtype.kind == "f":
        missing = ~np.isfinite(labels)
    elif labels.dtype.kind == "O":
        missing = np.array([_is_no_label(label) for label in labels], dtype=np.bool_)
    else:
        return
    if missing.any():
        j = int(np.argmax(missing))
        raise ValueError(
            f"{name} has a missing label: expected a label for each row, given {labels[j]} at row "
            f"{j} (counted from zero). Give the row a label, or drop it."
        )


def _is_no_label(entry: Any) -> bool:
    return is_missing(entry) or (_is_float(entry) and not np.isfinite(entry))


def _is_float(entry: Any) -> bool:
    return isinstance(entry, (float, np.floating))


def _refuse_fractions(labels: Labels, rows: BoolArray, name: str) -> None:
    """Refuse floats, in these rows, that are not whole or may have been rounded."""
    numbers = labels[rows].astype(np.float64)
    digits = np.finfo(labels.dtype).nmant + 1 if labels.dtype.kind == "f" else _DIGITS
    most = 2.0 ** min(digits, _DIGITS)
    for wrong, what, expected, remedy in (
        (
            numbers != np.floor(numbers),
            "a fraction",
            "whole numbers, text, dates or categories",
            "Cut the numbers into groups first, e.g. with pandas.cut.",
        ),
        (
            np.abs(numbers) > most,
            "a number that floats round",
            f"floats up to {most:g}",
            "Read the column as integers or as text.",
        ),
    ):
        if wrong.any():
            j = int(np.flatnonzero(rows)[np.argmax(wrong)])
            raise ValueError(
                f"{name} has {what}: expected {expected}, given {labels[j]:g} at row {j} (counted "
                f"from zero). {remedy}"
            )


def _plain(labels: Labels, name: str) -> Labels:
    """Return objects as whole numbers, booleans and text; equal ones stay equal."""
    floats = np.array([_is_float(label) for label in labels], dtype=np.bool_)
    _refuse_fractions(labels, floats, name)
    try:
        plain = {label: _as_plain(label) for label in reversed(labels.tolist())}
    except TypeError as error:  # not hashable
        raise ValueError(
            f"{name} must be one label for each row (whole numbers, text, dates or categories), "
            f"given objects that cannot be compared ({error}). Pass text."
        ) from error
    if len(set(plain.values())) < len(plain):
        raise ValueError(
            f"{name} has different labels with the same text: expected labels that can be told "
            f"apart, given {len(plain)} labels and {len(set(plain.values()))} texts. Number them."
        )
    found = np.empty(len(labels), dtype=object)
    found[:] = [plain[label] for label in labels.tolist()]
    return found


def _as_plain(label: Any) -> int | str:
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, (int, str)):
        return label
    if isinstance(label, float):
        return int(label)
    return str(label.isoformat() if hasattr(label, "isoformat") else label)

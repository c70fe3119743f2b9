"""Columns of X that repeat earlier outputs: they depend on the noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.inputs._tables import column_at, is_frame

LONGEST = 60
"""The largest shift that is looked for."""

_HEAD = 8
"""So many entries are compared first."""

_CHANCE = 1e-6
"""Columns that agree by chance with at least this probability are passed over."""


def lagged_outputs(X: Any, y: Any) -> tuple[str, int] | None:
    """Return a column of X that equals y shifted by some rows, and the shift; None if none does.

    The comparison is exact. Columns of few values, which may agree by chance, and equally spaced
    ones, such as a time index, are passed over.
    """
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1 or y.dtype.kind not in "iuf":
        return None
    for name, column in _numeric(X, len(y)):
        shift = _shift(column, y)
        if shift and _surprising(column[shift:], len(y)):
            return name, shift
    return None


def _numeric(X: Any, n: int) -> Any:
    """Yield the numeric columns with their names; of a large array only those that may agree."""
    if is_frame(X):
        for j, name in enumerate(X.columns):
            values = column_at(X, j).to_numpy()
            if values.dtype.kind in "iuf" and len(values) == n:
                yield f"column {name!r} of X", values
        return
    table: Any = X.tocsc() if hasattr(X, "tocsc") else np.asarray(X)
    if table.ndim != 2 or table.shape[0] != n or table.dtype.kind not in "iuf":
        return
    for j in range(table.shape[1]):
        column = table[:, [j]].toarray()[:, 0] if hasattr(table, "toarray") else table[:, j]
        yield f"column {j} of X", column


def _shift(column: Array, y: Array) -> int:
    """Return by how many rows y has been shifted to give the column; 0 if it has not."""
    n = len(y)
    head = y[: min(_HEAD, n - 1)]
    for k in np.flatnonzero(column[1 : min(LONGEST, n // 2) + 1] == y[0]) + 1:
        some = head[: n - k]
        if np.array_equal(column[k : k + len(some)], some) and np.array_equal(
            column[k:], y[: n - k]
        ):
            return int(k)
    return 0


def _surprising(column: Array, n: int) -> bool:
    """Whether unrelated numbers with these values would hardly agree in all rows."""
    if len(np.unique(np.diff(column))) < 3:
        return False
    _, counts = np.unique(column, return_counts=True)
    agree = float(((counts / len(column)) ** 2).sum())
    return bool(np.log(agree) * len(column) + np.log(LONGEST * n) < np.log(_CHANCE))

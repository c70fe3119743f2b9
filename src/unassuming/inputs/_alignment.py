"""Columns of pandas whose rows are named: the names have to be those of X, in the same order.

Rows are taken by position. A column from another table, or in another order, would give an answer
about rows that do not belong together, and nothing in the numbers would show it.
"""

from __future__ import annotations

from typing import Any

from unassuming._labels import row_index
from unassuming._words import spoken
from unassuming.inputs._tables import row_count, rows_between
from unassuming.noise import BlockSymmetric, Noise


def check_alignment(**columns: Any) -> None:
    """Refuse columns whose index is not that of the first one that has an index.

    What has no index is taken by position, and another length is for others to refuse.

    Examples
    --------
    >>> import pandas as pd
    >>> y = pd.Series([1.0, 2.0])
    >>> check_alignment(X=pd.DataFrame({"a": [3, 4]}), y=y, sample_weight=[1, 1])
    >>> check_alignment(X=pd.DataFrame({"a": [3, 4]}), y=y[::-1])
    Traceback (most recent call last):
        ...
    ValueError: y has its rows in another order than X: expected the index of X, given 1 in ...
    """
    indexed = {name: row_index(column) for name, column in columns.items()}
    known = [(name, index) for name, index in indexed.items() if index is not None]
    for name, index in known[1:]:
        reference, expected = known[0]
        if len(index) == len(expected) and not index.equals(expected):
            _refuse(name, index, reference, expected)


def group_column(noise: Any) -> Any:
    """Return the labels of groups of rows, if the noise has them as a column of pandas."""
    return noise.column if isinstance(noise, BlockSymmetric) else None


def check_chunk(first_row: int, X: Any, y: Any, sample_weight: Any, noise: Noise) -> None:
    """Refuse columns of some of the rows whose index is not that of X.

    The noise has the labels of all rows. If they are numbered from 0, as are those of the chunk,
    the numbers say nothing: each chunk counts its own rows.
    """
    labels = group_column(noise)
    if labels is not None:
        indexes = map(row_index, (X, y, sample_weight, labels))
        if all(index is None or _counts(index) for index in indexes):
            labels = None
        else:
            labels = rows_between(labels, first_row, first_row + row_count(X))
    check_alignment(X=X, y=y, sample_weight=sample_weight, blocks=labels)


def renumbered(column: Any, first_row: int, X: Any) -> Any:
    """Return a column of some rows without its index, if both that and the index of X count rows.

    That of X begins at 0, as in tables read from several files, and that of the column at the
    number of the first row.
    """
    own, index = row_index(column), row_index(X)
    if own is None or index is None or not _counts(index):
        return column
    return column.to_numpy() if _counts(own, first_row) else column


def _counts(index: Any, first: int = 0) -> bool:
    """Whether an index counts rows from the first one, as the default does from 0."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (first, 1)


def _refuse(name: str, index: Any, reference: str, expected: Any) -> None:
    """Name the first row that differs, and say how to align; nothing if no entry differs."""
    rows = enumerate(zip(index, expected, strict=True))
    differs = ((j, *both) for j, both in rows if not _same(*both))
    j, given, wanted = next(differs, (None, None, None))
    if j is None:  # equal names in indexes of different types
        return
    wrong = f"another index than {reference}: expected the same row names in the same order"
    remedy = "Give both the same index"
    if index.is_unique and expected.is_unique and expected.isin(index).all():
        wrong = f"its rows in another order than {reference}: expected the index of {reference}"
        remedy = f"Align them with {name} = {name}.loc[{reference}.index]"
    raise ValueError(
        f"{name} has {wrong}, given {spoken(given)} in place of {spoken(wanted)} at row {j} "
        f"(counted from zero). {remedy}, or pass {name}.to_numpy() if the rows correspond by "
        "position."
    )


def _same(a: Any, b: Any) -> bool:
    return bool(a == b) or bool(a != a and b != b)

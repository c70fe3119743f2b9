"""The roles of columns in a model with instruments: endogenous, instruments and controls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unassuming.inputs._tables import listed


@final
@dataclass(frozen=True)
class Roles:
    """The numbers of the columns in each role; all other columns are controls.

    Attributes
    ----------
    endogenous, instruments, controls : tuples of int

    Examples
    --------
    >>> from unassuming.inputs import column_roles
    >>> column_roles("price", ["tax", "cost"], ["tax", "age", "price", "cost"], 4)
    Roles(endogenous=(2,), instruments=(0, 3), controls=(1,))
    """

    endogenous: tuple[int, ...]
    instruments: tuple[int, ...]
    controls: tuple[int, ...]


def column_roles(
    endogenous: Any, instruments: Any, names: Sequence[Any] | None, width: int
) -> Roles:
    """Return the columns in each role, given by numbers or names, or raise.

    Parameters
    ----------
    endogenous, instruments : int, str, or sequence of them
    names : sequence, or None
        The names of the columns, if they have any.
    width : int
        Number of columns.
    """
    x = _numbers("endogenous", endogenous, names, width)
    w = _numbers("instruments", instruments, names, width)
    both = [column for column in w if column in x]
    if both:
        raise ValueError(
            "a column is both endogenous and an instrument: expected instruments that do not "
            f"depend on the noise, given {_called(both[0], names)} in both roles. Name it in one "
            "of them, or in neither if it is a control."
        )
    if len(w) < len(x):
        raise ValueError(
            "there are fewer instruments than endogenous columns, so the coefficients are not "
            f"identified: expected at least {len(x)}, given {len(w)} (n_features = {width}). Add "
            "instruments, or treat columns that do not depend on the noise as controls."
        )
    controls = tuple(column for column in range(width) if column not in x and column not in w)
    return Roles(x, w, controls)


def _numbers(role: str, columns: Any, names: Sequence[Any] | None, width: int) -> tuple[int, ...]:
    """Return the numbers of the columns of one role."""
    several = isinstance(columns, Iterable) and not isinstance(columns, str)
    given = list(columns) if several else [columns]
    if not given or columns is None:
        remedy = (
            "Use LinearRegression if no column depends on the noise."
            if role == "endogenous"
            else "Name the columns that move the endogenous ones and do not depend on the noise."
        )
        raise ValueError(
            f"{role} is empty: expected the number or the name of at least one column of X, given "
            f"{columns!r}. {remedy}"
        )
    found = [_number(role, column, names, width) for column in given]
    for j, column in enumerate(found):
        if column in found[:j]:
            raise ValueError(
                f"{role} has a column twice: expected different columns, given "
                f"{_called(column, names)} more than once. Name it once."
            )
    return tuple(found)


def _number(role: str, column: Any, names: Sequence[Any] | None, width: int) -> int:
    """Return the number of one column."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"{role} is a name, and the columns of X have none: expected a number from 0 to "
                f"{width - 1}, given {column!r}. Pass a DataFrame, or the number of the column."
            )
        if column not in names:
            raise ValueError(
                f"{role} is not a column of X: expected one of {listed(list(names))}, given "
                f"{column!r}. Correct the name."
            )
        return list(names).index(column)
    integer = isinstance(column, (int, np.integer)) and not isinstance(column, (bool, np.bool_))
    if not integer or not 0 <= column < width:
        raise ValueError(
            f"{role} is not a column of X: expected a name or a number from 0 to {width - 1} "
            f"(n_features = {width}), given {column!r}. Pass columns of X."
        )
    return int(column)


def _called(column: int, names: Sequence[Any] | None) -> str:
    """Return what a column is called in a sentence."""
    return f"column {column}" if names is None else repr(names[column])

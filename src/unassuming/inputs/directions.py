"""What is asked of a table of coefficients: directions, functionals, hypotheses, roles of columns.

Coefficients and columns go by number or by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array
from unassuming.inputs.options import is_whole
from unassuming.inputs.tables import as_finite, as_numbers, check_columns, column_names, listed


def as_points(points: Any, name: str, d: int, remedy: str = "") -> tuple[Array, bool]:
    """Return coefficient vectors or functionals as rows, and whether a single one was passed."""
    remedy = remedy or "Pass finite numbers in the order of region.names."
    v = as_finite(points, name, remedy)
    if v.ndim not in (1, 2) or v.shape[-1] != d or not len(v):
        expected, given = f"rows of {d} numbers, one for each coefficient", f"shape {v.shape}"
        raise ValueError(complaint(name, "has the wrong shape", expected, given, remedy))
    return np.atleast_2d(v), v.ndim == 1


def as_vector(vector: Any, name: str, d: int) -> Array:
    """Return a vector of d numbers, or a number repeated, as a row, (1, d)."""
    return as_numbers(vector, name, d, "coefficient")[None]


def as_directions(given: Any, names: list[str], what: str = "directions") -> tuple[Array, bool]:
    """Return directions, or those of named coefficients, as rows, and whether one was passed."""
    chosen = _as_names(given)
    if chosen is not None:
        return _coefficients(chosen, names, what), isinstance(given, str)
    v, single = as_points(given, what, len(names))
    require_nonzero(v, what)
    return v, single


def as_functionals(functionals: Any, names: list[str]) -> tuple[Array, tuple[str, ...]]:
    """Return functionals or named coefficients (None for all) as rows, (N, d), and their names."""
    d = len(names)
    if functionals is None:
        return np.eye(d), tuple(names)
    chosen = _as_names(functionals)
    if chosen is not None:
        return _coefficients(chosen, names, "functionals"), tuple(chosen)
    if all(isinstance(label, str) for label in column_names(functionals) or ()):
        check_columns(functionals, names, "functionals")
    remedy = f"Pass rows such as np.eye({d}), in the order of region.names, or those names."
    g, _ = as_points(functionals, "functionals", d, remedy)
    return g, tuple(f"g{j}" for j in range(len(g)))


def require_nonzero(g: Array, what: str = "functionals") -> None:
    """Refuse a functional or direction that is zero."""
    zero = np.flatnonzero(~g.any(axis=1))
    if len(zero):
        wrong, expected = f"contains a zero {what.removesuffix('s')}", "a number other than 0 a row"
        given = f"zeros in row {zero[0]} (counted from zero)"
        raise ValueError(complaint(what, wrong, expected, given, "Leave it out."))


def as_hypothesis(value: Any, count: int) -> Array:
    """Return the hypothetical values of some functionals, one each."""
    return as_numbers(value, "value", count, "functional")


def _as_names(functionals: Any) -> list[str] | None:
    """Return names of coefficients; None if something else was passed."""
    if isinstance(functionals, str):
        return [functionals]
    flat = isinstance(functionals, Iterable) and not isinstance(functionals, Mapping)
    entries = list(functionals) if flat and getattr(functionals, "ndim", 1) == 1 else []
    named = entries and all(isinstance(entry, str) for entry in entries)
    return [str(entry) for entry in entries] if named else None


def _coefficients(chosen: list[str], names: list[str], what: str) -> Array:
    """Return the rows of the identity matrix that belong to these names."""
    for name in chosen:
        count = names.count(name)
        if count != 1:
            problem = "contains an ambiguous name" if count else "contains an unknown name"
            raise ValueError(
                f"{what} {problem}: expected names from region.names, {listed(names)}, given "
                f"{name!r}. Pass names that one coefficient has, or rows of numbers."
            )
    return np.eye(len(names))[[names.index(name) for name in chosen]]


# --- roles of columns in a model with instruments ---


@final
@dataclass(frozen=True)
class Roles:
    """The numbers of the columns in each role; all other columns are controls."""

    endogenous: tuple[int, ...]
    instruments: tuple[int, ...]
    controls: tuple[int, ...]


def column_roles(
    endogenous: Any, instruments: Any, names: Sequence[Any] | None, width: int
) -> Roles:
    """Return the columns in each role, given by numbers or by names, if the columns have any."""
    x = _columns("endogenous", endogenous, names, width)
    w = _columns("instruments", instruments, names, width)
    for column in (*x, *w):
        if (*x, *w).count(column) > 1:
            called = f"column {column}" if names is None else repr(names[column])
            raise ValueError(
                "a column has two roles: expected endogenous columns and instruments that all "
                f"differ, given {called} twice. Name it once, or not at all if it is a control."
            )
    if len(w) < len(x):
        raise ValueError(
            "there are fewer instruments than endogenous columns, so the coefficients are not "
            f"identified: expected at least {len(x)}, given {len(w)} (n_features = {width}). Add "
            "instruments, or treat columns that do not depend on the noise as controls."
        )
    controls = tuple(column for column in range(width) if column not in x and column not in w)
    return Roles(x, w, controls)


def _columns(role: str, columns: Any, names: Sequence[Any] | None, width: int) -> tuple[int, ...]:
    """Return the numbers of the columns of one role."""
    several = isinstance(columns, Iterable) and not isinstance(columns, str)
    given = list(columns) if several else [columns]
    if not given or columns is None:
        raise ValueError(
            f"{role} is empty: expected the number or the name of at least one column of X, given "
            f"{columns!r}. Name one, or use LinearRegression if no column depends on the noise."
        )
    known = [] if names is None else list(names)
    found = []
    for column in given:
        if isinstance(column, str) and column in known:
            found.append(known.index(column))
        elif is_whole(column) and 0 <= column < width:
            found.append(int(column))
        else:
            some = f"one of {listed(known)}, or " if known else ""
            raise ValueError(
                f"{role} is not a column of X: expected {some}a number from 0 to {width - 1} "
                f"(n_features = {width}), given {column!r}. Pass columns of X."
            )
    return tuple(found)

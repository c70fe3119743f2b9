"""Directions, origins of lines and functionals, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array
from unassuming.inputs._data import as_finite, check_columns, column_names

_ORDER = "Pass finite numbers in the order of region.names."


def _as_vectors(vectors: Any, name: str, d: int) -> tuple[Array, bool]:
    """Return directions of d numbers as rows, and whether there was but one."""
    v = _as_rows(vectors, name, d, "rows of", _ORDER)
    idle = ~v.any(axis=-1)
    if idle.any():
        raise ValueError(
            f"{name} has a direction that leads nowhere: expected a number other than 0 in every "
            f"direction, given {d} zeros. Pass directions along which some coefficient changes."
        )
    return np.atleast_2d(v), v.ndim == 1


def as_directions(
    directions: Any, names: list[str], what: str = "directions"
) -> tuple[Array, bool]:
    """Return directions as rows; a name stands for that coefficient, alone."""
    chosen = _as_names(directions)
    if chosen is None:
        return _as_vectors(directions, what, len(names))
    rows = np.eye(len(names))[[_place(name, names, what) for name in chosen]]
    return rows, isinstance(directions, str)


def as_vector(vector: Any, name: str, d: int) -> Array:
    """Return a single vector of d numbers as a row, (1, d)."""
    v = np.atleast_2d(_as_rows(vector, name, d, "one vector of", _ORDER))
    if len(v) != 1:
        raise ValueError(
            f"{name} is not a single one: expected one vector of {d} numbers, given shape "
            f"{np.shape(vector)}. Ask for one line at a time."
        )
    return v


def as_points(points: Any, name: str, d: int) -> tuple[Array, bool]:
    """Return coefficient vectors or linear functionals as rows, and whether there was but one."""
    v = _as_rows(points, name, d, "rows of", _ORDER)
    return np.atleast_2d(v), v.ndim == 1


def as_functionals(functionals: Any, names: list[str]) -> tuple[Array, tuple[str, ...]]:
    """Return linear functionals as rows, (N, d), and what they are called.

    None stands for every coefficient, and the name of a coefficient for that coefficient.
    """
    d = len(names)
    if functionals is None:
        return np.eye(d), tuple(names)
    chosen = _as_names(functionals)
    if chosen is not None:
        return np.eye(d)[[_place(name, names, "functionals") for name in chosen]], tuple(chosen)
    if all(isinstance(label, str) for label in column_names(functionals) or ()):
        check_columns(functionals, names, "functionals")
    remedy = (
        f"Pass rows such as those of np.eye({d}), in the order of region.names, or those names."
    )
    g = np.atleast_2d(_as_rows(functionals, "functionals", d, "rows of", remedy))
    return g, tuple(f"g{j}" for j in range(len(g)))


def _as_rows(vectors: Any, name: str, d: int, shape: str, remedy: str) -> Array:
    """Return an array of shape (d,) or (N, d), N >= 1."""
    v = as_finite(vectors, name, remedy)
    if v.ndim not in (1, 2) or v.shape[-1] != d or not len(v):
        raise ValueError(
            f"{name} has the wrong shape: expected {shape} {d} numbers, one for each coefficient, "
            f"given shape {v.shape}. {remedy}"
        )
    return v


def _as_names(functionals: Any) -> list[str] | None:
    """Return names of coefficients, if that is what was passed."""
    if isinstance(functionals, str):
        return [functionals]
    table = isinstance(functionals, Mapping) or getattr(functionals, "ndim", 1) != 1
    if isinstance(functionals, Iterable) and not table:
        entries = list(functionals)
        if entries and all(isinstance(entry, str) for entry in entries):
            return [str(entry) for entry in entries]
    return None


def _place(name: str, names: list[str], what: str) -> int:
    """Return the position of a coefficient."""
    count = names.count(name)
    if count != 1:
        shown = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
        raise ValueError(
            complaint(
                what,
                "names several coefficients at once" if count else "names no coefficient",
                f"names out of region.names, [{shown}]",
                repr(name),
                f"Pass rows such as those of np.eye({len(names)})."
                if count
                else "Pass one of them, several, or rows of numbers.",
            )
        )
    return names.index(name)

"""Directions, origins of lines and linear functionals, by numbers or by names of coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.inputs._arrays import as_finite
from unassuming.inputs._tables import check_columns, column_names, listed


def as_points(points: Any, name: str, d: int) -> tuple[Array, bool]:
    """Return coefficient vectors or functionals as rows, and whether a single one was passed."""
    return _as_rows(points, name, d, "Pass finite numbers in the order of region.names.")


def as_vector(vector: Any, name: str, d: int) -> Array:
    """Return a single vector of d numbers as a row, (1, d)."""
    v, _ = as_points(vector, name, d)
    if len(v) != 1:
        raise ValueError(
            f"{name} is not a single vector: expected one vector of {d} numbers, given shape "
            f"{np.shape(vector)}. Ask for one line at a time."
        )
    return v


def as_directions(
    directions: Any, names: list[str], what: str = "directions"
) -> tuple[Array, bool]:
    """Return directions as rows, and whether a single one was passed.

    The name of a coefficient stands for the direction in which it alone changes.
    """
    chosen = _as_names(directions)
    if chosen is not None:
        return _coefficients(chosen, names, what), isinstance(directions, str)
    v, single = as_points(directions, what, len(names))
    if not v.any(axis=1).all():
        raise ValueError(
            f"{what} contains a zero direction: expected a number other than 0 in every direction, "
            f"given {len(names)} zeros. Pass directions along which some coefficient changes."
        )
    return v, single


def as_functionals(functionals: Any, names: list[str]) -> tuple[Array, tuple[str, ...]]:
    """Return linear functionals as rows, (N, d), and their names.

    None stands for every coefficient, and the name of a coefficient for that coefficient.
    """
    d = len(names)
    if functionals is None:
        return np.eye(d), tuple(names)
    chosen = _as_names(functionals)
    if chosen is not None:
        return _coefficients(chosen, names, "functionals"), tuple(chosen)
    if all(isinstance(label, str) for label in column_names(functionals) or ()):
        check_columns(functionals, names, "functionals")
    remedy = f"Pass rows such as np.eye({d}), in the order of region.names, or those names."
    g, _ = _as_rows(functionals, "functionals", d, remedy)
    return g, tuple(f"g{j}" for j in range(len(g)))


def _as_rows(vectors: Any, name: str, d: int, remedy: str) -> tuple[Array, bool]:
    """Return an array of shape (N, d), N >= 1, and whether a single vector was passed."""
    v = as_finite(vectors, name, remedy)
    if v.ndim not in (1, 2) or v.shape[-1] != d or not len(v):
        raise ValueError(
            f"{name} has the wrong shape: expected rows of {d} numbers, one for each coefficient, "
            f"given shape {v.shape}. {remedy}"
        )
    return np.atleast_2d(v), v.ndim == 1


def _as_names(functionals: Any) -> list[str] | None:
    """Return names of coefficients; None if something else was passed."""
    if isinstance(functionals, str):
        return [functionals]
    table = isinstance(functionals, Mapping) or getattr(functionals, "ndim", 1) != 1
    if isinstance(functionals, Iterable) and not table:
        entries = list(functionals)
        if entries and all(isinstance(entry, str) for entry in entries):
            return [str(entry) for entry in entries]
    return None


def _coefficients(chosen: list[str], names: list[str], what: str) -> Array:
    """Return the rows of the identity matrix that belong to these names."""
    for name in chosen:
        count = names.count(name)
        if count != 1:
            problem = "contains an unknown name"
            remedy = "Pass one of these names, several, or rows of numbers."
            if count:
                problem = "contains an ambiguous name"
                remedy = f"{count} coefficients have it: pass rows such as np.eye({len(names)})."
            raise ValueError(
                f"{what} {problem}: expected names from region.names, {listed(names)}, given "
                f"{name!r}. {remedy}"
            )
    return np.eye(len(names))[[names.index(name) for name in chosen]]

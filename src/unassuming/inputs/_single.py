"""Options of intervals and tests of one number at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unassuming._labels import as_labels, numbered
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.inputs._arrays import as_finite

METHODS = ("auto", "cells", "pairs", "halves", "palmrt", "t")
_WEIGHTS = ("design", "residuals")
_NUMBERS = (*range(2, 17), 32)
_ESTIMATORS = ("mean", "median")


@final
@dataclass(frozen=True, eq=False)
class SingleOptions:
    """How numbers are treated one at a time, fixed before y is seen.

    Attributes
    ----------
    cells : int, integer array of shape (n,), or None
        The number of cells, or the cell of each row from 0.
    method : str
        One of `METHODS`.
    weights : {"design", "residuals"}
    estimator : {"mean", "median"}
    """

    cells: int | IntArray | None = None
    method: str = "auto"
    weights: str = "design"
    estimator: str = "mean"

    @property
    def robust(self) -> bool:
        """Whether least absolute deviations replace least squares."""
        return self.estimator == "median"

    @property
    def cells_key(self) -> object:
        """What distinguishes these cells from others, for a dictionary."""
        return self.cells.tobytes() if isinstance(self.cells, np.ndarray) else self.cells


def check_single(
    cells: Any, method: Any, weights: Any, estimator: Any, rows: BoolArray | int
) -> SingleOptions:
    """Check the options of intervals and tests of one number at a time.

    ``rows`` says which of the rows that were passed have a positive weight; for a stream it is the
    number of rows.
    """
    if callable(weights):
        raise ValueError(
            "cell_weights is a function: expected 'design' or 'residuals', given a callable. "
            "Weights that depend on the signs of residuals would void the coverage; choose one of "
            "the two."
        )
    _one_of("cell_weights", weights, _WEIGHTS)
    _one_of("cell_estimate", estimator, _ESTIMATORS)
    _one_of("method", method, METHODS)
    if cells is None or (np.ndim(cells) == 0 and not isinstance(cells, str)):
        return SingleOptions(_as_number(cells, int(np.sum(rows))), method, weights, estimator)
    if isinstance(rows, int):
        raise ValueError(
            "cells cannot be labels for a stream, which has dealt its rows to cells already: "
            f"expected a number of cells, given labels of shape {np.shape(cells)}. Leave it out "
            "for the default."
        )
    return SingleOptions(_as_labels(cells, rows), method, weights, estimator)


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(
            f"{name} is unknown: expected {', '.join(map(repr, allowed[:-1]))} or "
            f"{allowed[-1]!r}, given {value!r}. Leave it out for the default, {allowed[0]!r}."
        )


def _as_number(cells: Any, n: int) -> int | None:
    if cells is None:
        return None
    integer = isinstance(cells, (int, np.integer)) and not isinstance(cells, (bool, np.bool_))
    if not integer or cells not in _NUMBERS:
        raise ValueError(
            "cells is not a number of cells: expected an integer from 2 to 16, or 32, or one label "
            f"for each row, given {cells!r}. Leave it out for the default."
        )
    if cells > n:
        raise ValueError(
            f"there are more cells than rows: expected at most {n} cells, one for each row, given "
            f"{cells}. Leave it out for the default."
        )
    return int(cells)


def _as_labels(cells: Any, rows: BoolArray) -> IntArray:
    labels = as_labels(cells, "cells")
    if labels.shape != rows.shape:
        raise ValueError(
            f"cells has the wrong length: expected one label for each of the {len(rows)} rows, "
            f"given shape {labels.shape}. Pass the labels of the same rows as X."
        )
    numbers, count = numbered(labels[rows])
    if count > max(_NUMBERS):
        raise ValueError(
            f"cells has too many labels: expected at most {max(_NUMBERS)} different ones, given "
            f"{count}. Put rows together, or leave it out for the default."
        )
    if count < 2:
        raise ValueError(
            f"cells has one label only: expected at least two different labels, given "
            f"{labels[rows].tolist()[0]!r} for every row. Leave it out for the default."
        )
    return numbers


def check_simultaneous(simultaneous: object) -> bool:
    """Refuse anything but True and False."""
    if not isinstance(simultaneous, (bool, np.bool_)):
        raise ValueError(
            f"simultaneous is not a boolean: expected True or False, given {simultaneous!r}. Pass "
            "simultaneous=False for intervals one at a time."
        )
    return bool(simultaneous)


def require_nonzero(g: Array) -> None:
    """Refuse a functional that is zero."""
    zero = np.flatnonzero(~g.any(axis=1))
    if len(zero):
        raise ValueError(
            f"functionals contains a zero functional: expected a number other than 0 in every row, "
            f"given {g.shape[1]} zeros in row {zero[0]} (counted from zero). Its value is 0 "
            "whatever the coefficients are; leave it out."
        )


def as_hypothesis(value: Any, count: int) -> Array:
    """Return the hypothetical values of some functionals, one each."""
    values = as_finite(value, "value", "Pass the hypothetical value of each functional.")
    if values.ndim == 0:
        return np.full(count, float(values))
    if values.shape != (count,):
        raise ValueError(
            f"value has the wrong length: expected {count}, one for each functional, given shape "
            f"{values.shape}. Pass one number, or one for each functional."
        )
    return values

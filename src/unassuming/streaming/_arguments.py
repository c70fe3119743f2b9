"""The arguments of a stream, checked where they come in."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.inputs import as_weights
from unassuming.noise import Noise, RowNoise, SignFlips, as_noise, sign_units_between
from unassuming.objectives import Quadratic, factory_for, from_linear_regression, from_ridge
from unassuming.ranking import check_m

DEFAULT_CELLS = 32
"""Cells that the command line and dask collect: enough for all coefficients at once at 95 %."""

MOST_CELLS = 256


def as_row_noise(noise: str | Noise | None) -> RowNoise:
    """Return an assumption whose transformations can be drawn for any range of rows."""
    chosen = as_noise("symmetric" if noise is None else noise)
    if not isinstance(chosen, RowNoise) or _draws_otherwise(chosen):
        raise ValueError(
            "noise cannot be drawn row by row: expected 'symmetric', "
            "ua.noise.BlockSymmetric(blocks) or ua.noise.ExchangeableWithin(block_rows), given "
            f"{chosen!r}. Choose one of these, or build the region in memory."
        )
    return chosen


def _draws_otherwise(noise: RowNoise) -> bool:
    """Whether a user's class overrides methods that the sums do not call."""
    ours = next(cls for cls in type(noise).__mro__ if cls.__module__.startswith("unassuming."))
    names = ["draw", "admits"] if ours is RowNoise else ["draw", "admits", "apply"]
    return any(getattr(type(noise), name) is not getattr(ours, name) for name in names)


def as_count(m: Any) -> int:
    """Return the number of statistics."""
    if isinstance(m, str):
        raise ValueError(
            "m must be known before the first row: expected an integer of at least 2, given "
            f"{m!r}. Pass e.g. m=100."
        )
    return check_m(m)


def as_cells(cells: Any, noise: RowNoise) -> int:
    """Return the number of cells to collect; 0 stands for none."""
    if cells is None:
        return 0
    integer = isinstance(cells, (int, np.integer)) and not isinstance(cells, bool)
    if not integer or cells < 2 or cells > MOST_CELLS:
        raise ValueError(
            f"cells is not a number of cells: expected an integer from 2 to {MOST_CELLS}, given "
            f"{cells!r}. Pass e.g. cells={DEFAULT_CELLS}; rows are dealt to cells by "
            "their numbers."
        )
    if not has_cells(noise):
        raise ValueError(
            "cells need noise whose signs may change, by row number: expected noise='symmetric' or "
            f"ua.noise.BlockSymmetric(blocks) with cells, given {noise!r}. Leave out cells, or "
            "build the region in memory for intervals of one number at a time."
        )
    return int(cells)


def has_cells(noise: RowNoise) -> bool:
    """Whether cells are exact for the noise, and known for any range of rows."""
    return sign_units_between(noise, 0, 0) is not None


def penalty_of(model: Any) -> tuple[float, bool]:
    """Return nλ, and whether the model has an intercept; refuse a model that needs all rows."""
    factory = factory_for(model)
    if factory not in (from_linear_regression, from_ridge):
        raise TypeError(
            "estimator needs all rows at once: expected LinearRegression, Ridge, or a Pipeline "
            f"ending in one of them, given {type(model).__name__}. Instead of a kernel, use Ridge "
            "on features such as those of Nystroem."
        )
    objective = factory(model, np.ones((2, 1)), np.zeros(2), None)  # n = 2
    assert isinstance(objective, Quadratic)
    return 2 * objective.lam, objective.design.intercept


def as_row_number(first_row: Any) -> int:
    """Return the number of a row, counted from 0."""
    integer = isinstance(first_row, (int, np.integer)) and not isinstance(first_row, bool)
    if not integer or first_row < 0:
        raise ValueError(
            f"first_row is not a row number: expected an integer >= 0, given {first_row!r}. Count "
            "the rows of the whole data set from 0."
        )
    return int(first_row)


def as_positive_weights(sample_weight: Any, rows: int, noise: RowNoise) -> Array:
    """Return one positive weight for each row, if the transformations allow weights."""
    if not isinstance(noise, SignFlips):
        raise ValueError(
            f"sample_weight does not go with {noise!r}, which mixes rows: expected no weights, or "
            "noise='symmetric', given weights. Leave one of them out."
        )
    weight = as_weights(sample_weight, rows)
    if not (weight > 0).all():
        raise ValueError(
            f"sample_weight is not positive: expected weights > 0, given {weight.min()}. Drop rows "
            "of weight zero before you number the rows."
        )
    return weight


def check_weighted(Z: Array, weight: Array) -> None:
    """Refuse weights that turn numbers of rows Z into zeros: zeros show which signs matter."""
    lost = (Z != 0) & (Z * np.sqrt(weight)[:, None] == 0)
    if lost.any():
        row, column = np.argwhere(lost)[0]
        raise ValueError(
            "sample_weight is too small for double precision: expected roots whose products with "
            f"the data are not zero, given a weight of {weight[row]:.3g} beside a number of "
            f"{Z[row, column]:.3g}. Rescale the column, y or the weights."
        )

"""Data whose numbers, or quotients or squares of them, are beyond double precision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._rounding import TINY, column_sizes
from unassuming._typing import Array, BoolArray
from unassuming.membership import ExactGaps
from unassuming.noise import Noise
from unassuming.objectives import Design, Quadratic, least_penalty

_LARGEST = 1e290
"""Larger numbers cannot be divided into halves of their digits."""
_LARGEST_SQUARED = 1e150
_MODERATE = 1e140
_APART = 1e-20
"""Numbers below this share of the largest one have no digits in common with it."""
_FEW = 0.1
"""The share of rows that may stand for missing values."""


def require_representable(objective: Quadratic, noise: Noise) -> None:
    """Refuse outputs, inputs and coefficients that double precision does not hold."""
    y, design = float(np.abs(objective.y).max(initial=0.0)), objective.design
    _require_below(_LARGEST, "y", objective.y, "the digits of its numbers")
    if 0 < objective.lam < 1 / _LARGEST:
        raise ValueError(
            "the penalty is too small for double precision: expected alpha / n = 0, or at least "
            f"{1 / _LARGEST:g}, given {objective.lam:.3g}. Multiply the features by a power of ten."
        )
    if design.dual:
        exact = noise.exact_arithmetic and ExactGaps.affordable(objective)
        if not exact:
            _require_visible(design, objective.lam)
        return
    for name, column in zip(design.names, design.matrix.T, strict=True):
        _require_below(_LARGEST, name, column, "the digits of its numbers")
        size = float(np.abs(column).max(initial=0.0))
        with np.errstate(over="ignore", under="ignore"):
            quotient = float(np.divide(y, size)) if y and size else 1.0
        if not 1 / _LARGEST <= quotient <= _LARGEST:
            raise ValueError(
                f"the coefficient of {name} is beyond double precision: expected y and {name} "
                f"whose quotient is between {1 / _LARGEST:g} and {_LARGEST:g}, given numbers up to "
                f"{y:.3g} and {size:.3g}. "
                + _way_out(column, "Multiply one of them by a power of ten.")
            )


def _require_visible(design: Design, lam: float) -> None:
    """Refuse a penalty that is lost in the rounding of a kernel matrix, if ranks are not exact."""
    alpha, least = design.n * lam, least_penalty(design)
    if 0 < alpha < least:
        raise ValueError(
            "the penalty is lost in the rounding of the kernel matrix: expected alpha = 1 / (2C) "
            f"of at least {least:.2g}, given {alpha:.3g}. Use a smaller C."
        )


def require_moderate(need: str, Phi: Array, y: Array, names: Sequence[str]) -> None:
    """Refuse numbers whose squares, or the sums of them, are not finite or lose their digits."""
    sizes = np.append(column_sizes(Phi), np.abs(y).max())
    wrong = np.flatnonzero((sizes > _MODERATE) | ((sizes > 0) & (sizes < 1 / _MODERATE)))
    for k in wrong[:1]:
        name, size = [*names, "y"][k], sizes[k]
        column = y if k == len(sizes) - 1 else Phi[:, k]
        raise NotAvailable(
            f"{need} numbers whose squares fit into double precision: the largest of {name} is "
            f"{size:.3g}, expected between {1 / _MODERATE:g} and {_MODERATE:g}. "
            + _way_out(column, f"Multiply {name} by a power of ten.")
        )


def squared(values: Array, unit: float) -> Array:
    """Return squares in a unit as plain numbers; refuse what a double does not hold."""
    with np.errstate(over="ignore", under="ignore"):
        found = values * unit * unit
    known, remedy = np.isfinite(values) & (values != 0), "Multiply y by a power of ten."
    _require_squares("residuals", known, found, unit, remedy)
    return np.where(np.isfinite(values), found, values)


def require_radii(values: Array, design: Design) -> Array:
    """Return squared radii; refuse those that are not infinite, but beyond double precision."""
    if np.isnan(values).any():
        raise NotAvailable(
            "the squared radius of the ellipsoid does not fit into double precision: expected at "
            "most about 1e+300, given more. region.interval() bounds each coefficient. "
            + _way_out_of(design, "Divide y by a power of ten.")
        )
    return values


def gram(objective: Quadratic) -> Array:
    """Return the matrix H of an objective; refuse squares that a double does not hold."""
    columns = objective.forward
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        found = columns.T @ columns
    sizes = np.abs(columns).max(axis=0, initial=0.0)
    largest = float(sizes.max(initial=0.0))
    remedy = _way_out_of(objective.design, "Multiply them by a power of ten.")
    _require_squares("features", sizes > 0, np.diagonal(found), largest, remedy)
    return np.asarray(found)


def _require_squares(what: str, known: BoolArray, squares: Array, size: float, remedy: str) -> None:
    fits = (np.abs(squares) >= TINY) & np.isfinite(squares)
    if not fits[known].all():
        raise NotAvailable(
            f"squares of the {what} do not fit into double precision: expected {what} between "
            f"{1 / _LARGEST_SQUARED:g} and {_LARGEST_SQUARED:g}, given about {size:.3g}. " + remedy
        )


def _require_below(limit: float, name: str, values: Array, what: str) -> None:
    size = float(np.abs(values).max(initial=0.0))
    if size > limit:
        raise ValueError(
            f"{name} is too large: expected at most {limit:g}, beyond which double precision loses "
            f"{what}, given {size:.3g}. " + _way_out(values, f"Divide {name} by a power of ten.")
        )


def _way_out_of(design: Design, otherwise: str) -> str:
    """Return the remedy for features that are too large."""
    columns = () if design.dual else design.matrix.T
    found = (_way_out(column, otherwise) for column in columns)
    return next((remedy for remedy in found if remedy != otherwise), otherwise)


def _way_out(values: Array, otherwise: str) -> str:
    """Return the remedy for numbers of the rows that are too large.

    Another unit does not help if a few numbers exceed the others by far more than digits span.
    """
    sizes = np.abs(values).reshape(len(values), -1).max(axis=1, initial=0.0)
    apart = sizes > _APART * sizes.max(initial=0.0)
    rest = float(sizes[~apart].max(initial=0.0))
    rows = np.flatnonzero(apart)
    if not rest or len(rows) > _FEW * len(sizes):
        return otherwise
    named = ", ".join(map(str, rows[:3].tolist())) + ", ..." * (len(rows) > 3)
    return (
        f"All other numbers are at most {rest:.3g}: if the one in row {named} (counted from zero) "
        "stands for a missing value, mark it as missing or drop the row."
        if len(rows) == 1
        else f"All other numbers are at most {rest:.3g}: if those in rows {named} (counted from "
        "zero) stand for missing values, mark them as missing or drop the rows."
    )

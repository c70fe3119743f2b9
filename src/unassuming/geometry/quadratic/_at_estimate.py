"""The residual of an estimate with twice the digits, and what its rounding leaves in doubt."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unassuming._products import accurate_product
from unassuming._rounding import EPS, gamma, powers_of_two
from unassuming._typing import Array
from unassuming.geometry.quadratic._forms import AccurateResidual
from unassuming.objectives import Quadratic


def unit_of_residuals(o: Quadratic, estimate: Array) -> float:
    """Return a power of two near the largest weighted residual, in which to compute the sets."""
    r = np.sqrt(o.w) * o.residuals(estimate[None, :])[0]
    return float(powers_of_two(np.abs(r).max(initial=0.0)))


def accurate_residual(
    o: Quadratic, estimate: Array, unit: float, vanishes: Callable[[int], bool]
) -> AccurateResidual | None:
    """Return the residual of an estimate of features, divided by ``unit``; None for kernels.

    ``vanishes`` says of which transformations Z_i - Z_0 is constant.
    """
    white = o.whitening
    if o.design.dual:
        return None
    terms, a = np.column_stack([o.y, o.design.matrix]), np.append(1.0, -estimate)
    r = np.sqrt(o.w) * accurate_product(terms, a[:, None])[:, 0] / unit
    push, a = np.sqrt(o.n) * white.push, estimate / unit
    gradient = white.q.T @ r - push @ a
    size = white.sizes.T @ np.abs(r) + np.abs(push) @ np.abs(a)
    # Of the sums, of q, and of the residual, which was rounded and divided.
    error = (gamma(o.n + o.d + 2) + 4 * EPS) * size
    lost = np.zeros(len(r))
    if o.design.errors is not None:
        lost = np.sqrt(o.w) * (o.design.errors @ np.abs(a)) * (1 + 8 * EPS)
        error = error + np.abs(white.q).T @ lost
    # The minimum itself: the coefficients of the estimate are rounded, its residual need not be.
    least = r - white.q @ gradient
    share = gamma(len(gradient) + 2) + EPS
    off = np.abs(white.q) @ error + 4 * EPS * np.abs(r) + share * (white.sizes @ np.abs(gradient))
    off += lost
    least = np.where(np.abs(least) <= off, 0.0, least)
    return AccurateResidual(r, gradient, error, least, off, vanishes, lost)


def residual_and_error(
    o: Quadratic, estimate: Array, unit: float, known: AccurateResidual | None
) -> tuple[Array, Array]:
    """Return the weighted residual of an estimate, divided by ``unit``, and bounds of its errors.

    As in the comparison of ranks, a residual that may be rounding of the data alone is zero. The
    others have the digits that are ``known``.
    """
    r, root = o.residuals(estimate[None, :]), np.sqrt(o.w)
    error = o.residual_error(estimate[None, :], r)
    found = root * r / unit
    if known is not None:
        found = np.where(np.isfinite(known.values), known.values, found)
    return np.where(np.abs(r) <= error, 0.0, found)[0], root * error[0] / unit


def equal_residuals(o: Quadratic) -> Array | None:
    """Return numbers of the rows of a kernel, equal if their residuals are equal beyond doubt.

    The number of a residual that is zero beyond doubt is zero. One of rounding size need not be
    zero: with a small penalty all residuals are small. None for features.
    """
    if not o.design.dual:
        return None
    constant = o.design.intercept and bool((o.y == o.y[0]).all())
    if constant or not o.y.any() or (o.lam == 0 and o.design.strict):
        return np.zeros(o.n)
    rows = np.column_stack([o.design.distinct[1], o.y, o.w])
    which = np.unique(rows, axis=0, return_inverse=True)[1]
    return np.asarray(which.reshape(-1) + 1.0)


class Spread(NamedTuple):
    """A column whose numbers differ in size, or the weights of the rows."""

    column: str
    orders: int  # of magnitude
    row: int  # of the largest number
    weights: bool


def widest_spread(o: Quadratic) -> Spread:
    """Return the column whose numbers differ most in size, or the weights if they differ more.

    Rows are scaled by the roots of their weights.
    """
    size = np.abs(o.design.matrix)
    orders, weighting = orders_of_magnitude(size), float(orders_of_magnitude(o.w))
    j = int(np.argmax(orders))
    if weighting / 2 > orders[j]:
        return Spread("the weight of the rows", round(weighting), int(np.argmax(o.w)), True)
    return Spread(o.names[j], round(float(orders[j])), int(np.argmax(size[:, j])), False)


def orders_of_magnitude(sizes: Array) -> Array:
    """Return by how many orders of magnitude numbers (n, ...) differ that are not zero.

    Examples
    --------
    >>> orders_of_magnitude(np.array([[1e-150, 0.0], [0.0, 0.0], [1e200, 0.0]])).round(9)
    array([350.,   0.])
    """
    some = sizes > 0
    least, largest = np.where(some, sizes, np.inf).min(axis=0), sizes.max(axis=0)
    known = largest > 0
    return np.log10(np.where(known, largest, 1.0)) - np.log10(np.where(known, least, 1.0))

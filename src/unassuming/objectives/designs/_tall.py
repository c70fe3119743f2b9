"""Least squares with many rows and columns that are independent beyond doubt, in two passes.

The normal equations are solved in shifted and scaled columns, then refined once from the residuals.
Rows are processed in batches that fit into a cache. If the columns are nearly dependent, or if the
terms of the fitted values are much larger than the residuals, the careful factor takes over.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, column_units
from unassuming._typing import Array

_LARGE = 2**13
"""Numbers in a design from which the passes save time."""

_PER_COLUMN = 50
_INDEPENDENT = 1e-6
_FINE = 2e-13
_BATCH = 2**20
_SAMPLE = 2**12
_MIDDLE = 2**8  # rows whose medians are the shifts


def solved_quickly(Phi: Array, y: Array, root: Array, penalty: Array) -> Array | None:
    """Return the minimiser of ‖root (y - Φa)‖² + ‖penalty a‖²; None if it takes more care.

    Parameters
    ----------
    Phi : array of shape (n, d)
    y, root : arrays of shape (n,)
    penalty : array of shape (d,)

    Examples
    --------
    >>> solved_quickly(np.eye(3), np.ones(3), np.ones(3), np.zeros(3)) is None  # few rows
    True
    """
    n, d = Phi.shape
    if n * d < _LARGE or n < _PER_COLUMN * d:
        return None
    constant = Phi[0, 0] == 1 and bool((Phi[:, 0] == 1).all()) and penalty[0] == 0
    shift = np.zeros(d)
    if constant:
        shift[1:] = np.median(Phi[:: max(1, n // _MIDDLE), 1:], axis=0)
    unit = column_units(Phi[:: max(1, n // _SAMPLE)] - shift)
    gram, moment = np.diag(np.square(penalty / unit)), np.zeros(d)
    for some, rows in _moved(Phi, root, shift, unit):
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite takes more care
            gram += rows.T @ rows
        moment += rows.T @ (root[some] * y[some])
    size = np.sqrt(np.diagonal(gram))
    if not (np.isfinite(gram).all() and size.all()):
        return None
    if np.linalg.eigvalsh(gram / np.outer(size, size))[0] < _INDEPENDENT:
        return None
    factor = cho_factor(gram, check_finite=False)
    a = _original(cho_solve(factor, moment), shift, unit)
    moment, terms, rest = -np.square(penalty) * a / unit, 0.0, 0.0
    for some, rows in _moved(Phi, root, shift, unit):
        r = root[some] * (y[some] - Phi[some] @ a)
        moment += rows.T @ r
        rest += float(r @ r)
        sizes = root[some] * (np.abs(Phi[some]) @ np.abs(a))
        terms += float(sizes @ sizes)
    if not d * EPS**2 * terms <= _FINE**2 * rest:
        return None
    return a + _original(cho_solve(factor, moment), shift, unit)


def _moved(Phi: Array, root: Array, shift: Array, unit: Array) -> Iterator[tuple[slice, Array]]:
    """Yield batches of the weighted rows in shifted and scaled columns."""
    for some in slices(len(Phi), rows_that_fit(_BATCH, Phi.shape[1])):
        rows = Phi[some] - shift
        rows /= unit
        rows *= root[some, None]
        yield some, rows


def _original(b: Array, shift: Array, unit: Array) -> Array:
    """Return coefficients of the columns themselves: the constant takes up the shifts."""
    a = np.asarray(b / unit)
    a[0] -= shift @ a
    return a

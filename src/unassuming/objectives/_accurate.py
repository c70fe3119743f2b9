"""Residuals in twice the working precision, for candidates whose terms cancel."""

from __future__ import annotations

import numpy as np

from unassuming._products import exact_product, exact_sum
from unassuming._rounding import EPS
from unassuming._typing import Array

_SMALLEST = 2.0**-1074


def accurate_residuals(y: Array, phi: Array, a: Array) -> tuple[Array, Array]:
    """Return y - Φa for a (N, d) and bounds on the errors, (N, n) each.

    Every product and every sum keeps its own rounding error, so that the result is as good as with
    twice the digits, rounded once (Ogita, Rump and Oishi, 2005).

    Examples
    --------
    >>> r, error = accurate_residuals(np.ones(1), np.array([[1e17, -1e17]]), np.ones((1, 2)))
    >>> r, bool(error[0, 0] < 1e-11)
    (array([[1.]]), True)
    """
    total = np.broadcast_to(y, (len(a), len(y))).copy()
    low, size = np.zeros_like(total), np.abs(total)
    for column, c in zip(phi.T, -a.T, strict=True):
        product, lost = exact_product(c[:, None], column)
        total, left = exact_sum(total, product)
        low += lost + left
        size += np.abs(product)
    r = total + low
    terms = phi.shape[1] + 1
    lost_below = 8 * terms * _SMALLEST  # products that underflow
    return r, 2 * EPS * np.abs(r) + (4 * EPS * terms) ** 2 * size + lost_below

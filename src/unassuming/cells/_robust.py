"""Robust estimates in the cells (docs/theory.md 9.2).

Exactness needs an estimate that is equivariant in all columns of the cell and odd, also where its
solver has a choice. For any map T of the residuals r_b of least squares in the cell,
β_b + (T(r_b) - T(-r_b))/2 has both properties: r_b does not depend on the coefficients, and it
changes its sign with the noise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog

from unassuming._rounding import column_units
from unassuming._typing import Array, IntArray
from unassuming.cells._estimates import Estimates, estimates
from unassuming.cells._factors import factors_of_rows

Fit = Callable[[Array, Array], Array]
"""From a design (n_b, d) and targets (n_b,) to coefficients (d,)."""


def least_absolute_deviations(Phi: Array, y: Array) -> Array:
    """Return coefficients that minimise Σ |y - Φθ|.

    Examples
    --------
    >>> least_absolute_deviations(np.ones((5, 1)), np.array([0.0, 1.0, 2.0, 3.0, 100.0]))
    array([2.])
    """
    n, d = Phi.shape
    scale = column_units(Phi)
    size = float(np.abs(y).max(initial=0.0)) or 1.0
    identity = np.eye(n)
    found = linprog(
        np.concatenate([np.zeros(d), np.ones(2 * n)]),
        A_eq=np.hstack([Phi / scale, identity, -identity]),
        b_eq=y / size,
        bounds=[(None, None)] * d + [(0, None)] * (2 * n),
        method="highs-ds",
    )
    return np.asarray(found.x[:d] * size / scale) if found.success else np.zeros(d)


def robust_coefficients(Phi: Array, y: Array, fit: Fit = least_absolute_deviations) -> Array:
    """Return coefficients that are equivariant and odd, whatever ``fit`` does.

    Parameters
    ----------
    Phi : array of shape (n_b, d)
    y : array of shape (n_b,)
    fit : callable
        From a design and targets to coefficients.

    Examples
    --------
    >>> robust_coefficients(np.ones((5, 1)), np.array([0.0, 1.0, 2.0, 3.0, 100.0])).round(6)
    array([2.])
    """
    scale = column_units(Phi)
    plain = np.linalg.lstsq(Phi / scale, y, rcond=None)[0] / scale
    residuals = y - Phi @ plain
    return np.asarray(plain + (fit(Phi, residuals) - fit(Phi, -residuals)) / 2)


def robust_estimates(
    Phi: Array,
    y: Array,
    labels: IntArray,
    K: int,
    functionals: Array,
    fit: Fit = least_absolute_deviations,
) -> Estimates:
    """Return robust estimates of N functionals in each cell, with the weights of least squares.

    Parameters
    ----------
    Phi, y, labels, K
        As for `factors_of_rows`.
    functionals : array of shape (N, d)
    fit : callable
        From a design and targets to coefficients.

    Examples
    --------
    >>> y = np.array([0.0, 1.0, 2.0, 3.0, 100.0])
    >>> cell = np.zeros(5, dtype=int)
    >>> robust_estimates(np.ones((5, 1)), y, cell, 1, np.ones((1, 1))).beta.round(6)
    array([[2.]])
    """
    found = estimates(factors_of_rows(Phi, y, labels, K), functionals)
    members = [labels == b for b in range(K)]
    theta = [robust_coefficients(Phi[rows], y[rows], fit) for rows in members]
    beta = np.where(found.v > 0, functionals @ np.transpose(theta), 0.0)
    return Estimates(beta, found.v, found.error, found.rest, found.freedom)

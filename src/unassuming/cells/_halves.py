"""Halves: where cells identify too little, and for robust estimates (docs/theory.md 11.4).

A random sign vector splits the rows in two. The estimates of τ from the two halves have opposite
errors exactly if τ lies between them. A half that does not identify τ does not restrict it.
"""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells._estimates import estimates
from unassuming.cells._factors import factor_of_rows
from unassuming.cells._robust import Fit, robust_coefficients


def random_halves(units: int, size: int, seed: int = 0) -> BoolArray:
    """Return which units change their sign, for ``size`` random sign vectors, shape (size, units).

    Examples
    --------
    >>> random_halves(4, 10).shape
    (10, 4)
    """
    return np.asarray(np.random.default_rng([seed, 114]).integers(0, 2, size=(size, units)) == 1)


def half_spans(
    Phi: Array,
    y: Array,
    functionals: Array,
    flipped: BoolArray,
    clusters: IntArray | None = None,
    fit: Fit | None = None,
) -> tuple[Array, Array]:
    """Return the intervals between the estimates of two halves, lo and hi of shape (N, m - 1).

    Parameters
    ----------
    Phi : array of shape (n, d)
    y : array of shape (n,)
    functionals : array of shape (N, d)
    flipped : boolean array of shape (m - 1, U)
        Which units (rows, or clusters) change their sign.
    clusters : integer array of shape (n,), optional
        The cluster of each row, from 0.
    fit : callable, optional
        A robust fit in place of least squares, as for `robust_coefficients`.

    Examples
    --------
    >>> flipped = np.array([[True, True, False, False], [True, True, True, True]])
    >>> y = np.array([1.0, 2.0, 5.0, 6.0])
    >>> lo, hi = half_spans(np.ones((4, 1)), y, np.ones((1, 1)), flipped)
    >>> lo.round(6), hi.round(6)
    (array([[ 1.5, -inf]]), array([[5.5,  inf]]))
    """
    N = len(functionals)
    lo, hi = np.full((N, len(flipped)), -np.inf), np.full((N, len(flipped)), np.inf)
    for i, units in enumerate(flipped):
        rows = units if clusters is None else units[clusters]
        parts = [(Phi[half], y[half]) for half in (rows, ~rows)]
        found = estimates([factor_of_rows(*part) for part in parts], functionals)
        beta = found.beta
        if fit is not None and all(len(target) for _, target in parts):
            theta = [robust_coefficients(*part, fit) for part in parts]
            beta = functionals @ np.transpose(theta)
        known = (found.v > 0).all(axis=1)
        lo[known, i] = (beta - found.error)[known].min(axis=1)
        hi[known, i] = (beta + found.error)[known].max(axis=1)
    return lo, hi

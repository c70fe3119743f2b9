"""Spherical noise: the ordinary t interval is exact (docs/theory.md 9.4)."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtr, stdtrit

from unassuming._typing import Array
from unassuming.cells._estimates import estimates
from unassuming.cells._factors import factor_of_rows


def t_intervals(Phi: Array, y: Array, functionals: Array, level: float) -> tuple[Array, Array]:
    """Return estimates (N,) and half-widths (N,) of the t intervals.

    The half-width is infinite where the design does not identify the number, and without degrees
    of freedom.

    Parameters
    ----------
    Phi : array of shape (n, d)
    y : array of shape (n,)
    functionals : array of shape (N, d)
    level : float

    Examples
    --------
    >>> center, half = t_intervals(np.ones((4, 1)), np.arange(4.0), np.ones((1, 1)), 0.9)
    >>> center.round(6), half.round(3)
    (array([1.5]), array([1.519]))
    """
    estimate, error, freedom = _standard_errors(Phi, y, functionals)
    if freedom < 1:
        return estimate, np.full(len(estimate), np.inf)
    return estimate, np.asarray(float(stdtrit(freedom, 0.5 + level / 2)) * error)


def t_pvalues(Phi: Array, y: Array, functionals: Array, tau: Array) -> Array:
    """Return two-sided p-values of the hypotheses that the numbers are ``tau`` (N,).

    Examples
    --------
    >>> t_pvalues(np.ones((4, 1)), np.arange(4.0), np.ones((1, 1)), np.zeros(1)).round(3)
    array([0.103])
    """
    estimate, error, freedom = _standard_errors(Phi, y, functionals)
    if freedom < 1:
        return np.ones(len(estimate))
    distance = np.abs(estimate - tau)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(np.isinf(error), 0.0, np.where(distance == 0, 0.0, distance / error))
    return np.asarray(2 * stdtr(freedom, -t))


def _standard_errors(Phi: Array, y: Array, functionals: Array) -> tuple[Array, Array, float]:
    found = estimates([factor_of_rows(Phi, y)], functionals)
    known, freedom = found.v[:, 0] > 0, float(found.freedom[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        error = found.rest[0] / np.sqrt(freedom * found.v[:, 0])
    estimate = np.where(known, found.beta[:, 0], np.nan)
    return estimate, np.where(known, error, np.inf), freedom

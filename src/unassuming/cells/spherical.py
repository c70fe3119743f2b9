"""Spherical noise: the ordinary t interval and the F test are exact (docs/theory.md 11.4)."""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from unassuming._typing import Array


def t_intervals(
    size: Array, rest: float, freedom: int, level: float, distance: Array
) -> tuple[Array, Array]:
    """Return the half-widths (N,) of t intervals and two-sided p-values.

    Parameters
    ----------
    size : array of shape (N,)
        Standard errors for noise of size 1.
    rest : float
        The norm of the residuals.
    freedom : int
    level : float
    distance : array of shape (N,)
        From the estimates to the hypothetical values.

    Examples
    --------
    >>> half, p = t_intervals(np.array([0.5]), 5.0**0.5, 3, 0.9, np.array([1.5]))
    >>> half.round(3), p.round(3)
    (array([1.519]), array([0.103]))
    """
    if freedom < 1:
        return np.full(len(size), np.inf), np.ones(len(size))
    error = size * rest / np.sqrt(freedom)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(distance == 0, 0.0, np.abs(distance) / error)
    return stdtrit(freedom, 0.5 + level / 2) * error, np.asarray(2 * stdtr(freedom, -t))


def f_test(distance: float, k: int, rest: float, freedom: int) -> tuple[float, float]:
    """Return F and its p-value, from the squared distance of k estimates in their own metric.

    Examples
    --------
    >>> f_test(9.0, 1, 5.0**0.5, 3)[0].__round__(3)
    5.4
    """
    if freedom < 1:
        return 0.0, 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        F = float(np.nan_to_num(np.float64(distance) / k / (rest**2 / freedom)))
    return F, float(fdtrc(k, freedom, F))

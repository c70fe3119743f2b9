"""Spherical noise: the ordinary t interval and the F test are exact (docs/theory.md 11.4)."""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from unassuming._typing import Array


def t_intervals(rest: float, freedom: int, level: float, distance: Array) -> tuple[float, Array]:
    """Return the half-width for noise of this size, and two-sided p-values of distances (N,)."""
    if freedom < 1:
        return np.inf, np.ones(len(distance))
    error = rest / np.sqrt(freedom)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(distance == 0, 0.0, np.abs(distance) / error)
    return float(stdtrit(freedom, 0.5 + level / 2)) * error, np.asarray(2 * stdtr(freedom, -t))


def f_test(distance: float, k: int, rest: float, freedom: int) -> tuple[float, float]:
    """Return F and its p-value, from the squared distance of k estimates in their own metric."""
    if freedom < 1:
        return 0.0, 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        F = float(np.nan_to_num(np.float64(distance) / k / (rest**2 / freedom)))
    return F, float(fdtrc(k, freedom, F))

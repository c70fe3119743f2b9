"""Sets with certified coverage, from a tournament (docs/theory.md 9.4).

Each of m - 1 random transformations gives a closed interval. The true number lies outside the i-th
interval if and only if the untransformed noise beats the i-th transformed noise in a game that is
symmetric between the two. In a tournament of m exchangeable players at most 2q - 1 lose fewer than
q games, so the numbers in at least q intervals have coverage of at least 1 - (2q - 1)/m.
"""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array


def certified_q(level: float, m: int) -> int:
    """Return q = floor((αm + 1)/2), the largest with (2q - 1)/m <= α = 1 - level.

    Examples
    --------
    >>> certified_q(0.95, 1000), certified_q(0.95, 10)
    (25, 0)
    """
    return int(np.floor(((1 - level) * m * (1 + 1e-12) + 1) / 2 + 1e-9))


def certified_interval(lo: Array, hi: Array, level: float) -> tuple[float, float]:
    """Return the hull of the numbers that lie in at least q of the intervals.

    Parameters
    ----------
    lo, hi : arrays of shape (m - 1,)
        Ends of the intervals, infinite where there is no restriction.
    level : float
        The level that is wanted.

    Returns
    -------
    lower, upper : float
        Infinite if q = 0; NaN if no number lies in q intervals.

    Examples
    --------
    >>> lo, hi = np.array([0.0, 1.0, 2.0, -1.0]), np.array([4.0, 3.0, 5.0, 0.5])
    >>> certified_interval(lo, hi, level=0.4)
    (0.0, 4.0)
    """
    q = certified_q(level, len(lo) + 1)
    if q == 0:
        return -np.inf, np.inf
    ends = np.sort(hi)
    upper = ends[_containing(ends, lo, hi) >= q]
    starts = np.sort(lo)
    lower = starts[_containing(starts, lo, hi) >= q]
    return (float(lower[0]), float(upper[-1])) if len(upper) else (np.nan, np.nan)


def certified_pvalue(lo: Array, hi: Array, tau: float) -> float:
    """Return min(1, (2 · #{intervals that contain τ} + 1)/m).

    Examples
    --------
    >>> lo, hi = np.array([0.0, 1.0, 2.0, -1.0]), np.array([4.0, 3.0, 5.0, 0.5])
    >>> certified_pvalue(lo, hi, 9.0), certified_pvalue(lo, hi, 3.5)
    (0.2, 1.0)
    """
    count = int(_containing(np.array([tau]), np.sort(lo), np.sort(hi))[0])
    return min(1.0, (2 * count + 1) / (len(lo) + 1))


def _containing(tau: Array, lo: Array, hi: Array) -> Array:
    """Return how many intervals contain each τ: those that have begun and have not ended before."""
    begun = np.searchsorted(np.sort(lo), tau, side="right")
    return np.asarray(begun - np.searchsorted(np.sort(hi), tau, side="left"))

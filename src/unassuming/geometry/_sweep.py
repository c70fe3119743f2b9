"""Where enough of many piecewise quadratics are positive: signs, a sweep, closed intervals."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray

_EPS = float(np.finfo(np.float64).eps)
SAME = 8 * _EPS
"""Relative distance within which two computed ends or breakpoints are one."""


def sign_changes(
    A: Array, B: Array, C: Array, lo: Array, hi: Array, tie: BoolArray
) -> tuple[BoolArray, Array]:
    """Return whether At² + Bt + C is positive just after lo, and where in (lo, hi) it changes.

    The second is of shape (..., 2) and in order, NaN for roots that do not exist or lie outside; a double root
    counts twice. A quadratic that is zero throughout is decided by ``tie``.
    """
    largest = np.maximum(np.maximum(np.abs(A), np.abs(B)), np.abs(C))
    shrink = np.ldexp(1.0, -np.frexp(largest)[1])  # a power of two: no square overflows
    A, B, C = A * shrink, B * shrink, C * shrink
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(B * B - 4 * A * C)  # NaN without roots
        far = -(B + np.where(B >= 0, root, -root)) / 2
        one = np.where(A != 0, far / A, -C / B)
        two = np.where(A != 0, np.where(far != 0, C / far, 0.0), np.nan)  # without cancellation
        one = np.where(np.isfinite(one), one, np.nan)
        roots = np.sort(np.stack([one, two], axis=-1), axis=-1)  # NaN comes last
    # The sign at minus infinity changes at every root: parity tells all other signs.
    start = np.where(A != 0, A > 0, np.where(B != 0, B < 0, np.where(C != 0, C > 0, tie)))
    with np.errstate(invalid="ignore"):
        before = (roots <= lo[..., None]).sum(axis=-1)
        inside = (roots > lo[..., None]) & (roots < hi[..., None])
    roots = np.sort(np.where(inside, roots, np.nan), axis=-1)
    return start ^ (before % 2 == 1), roots


def sweep(group: IntArray, t: Array, change: IntArray, q: int) -> tuple[IntArray, Array]:
    """Return the stretches between events where the running count of a group is at least q.

    The first event of each group carries the count that it starts with, the last one closes it.
    Returns the groups and the stretches (k, 2), in order. A stretch of length zero is a point at
    which closed sets only touch.
    """
    order = np.lexsort((-change, t, group))  # at equal t openings first: closed sets
    group, t, change = group[order], t[order], change[order]
    count = np.cumsum(change)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    base = np.zeros(int(group.max(initial=-1)) + 1, dtype=count.dtype)
    base[group[first]] = count[first] - change[first]
    enough = (count - base[group])[:-1] >= q
    keep = np.flatnonzero(enough & (group[:-1] == group[1:]))
    return group[keep], np.stack([t[keep], t[keep + 1]], axis=1)


def merge(stretches: Array) -> tuple[Array, Array]:
    """Join stretches (k, 2) that touch; return proper intervals, and the points left over.

    A stretch no longer than rounding is a point: whether it belongs must be asked.
    """
    if len(stretches) == 0:
        return np.empty((0, 2)), np.empty(0)
    lo, hi = stretches[np.argsort(stretches[:, 0], kind="stable")].T
    furthest = np.maximum.accumulate(hi)
    apart = np.flatnonzero(lo[1:] > furthest[:-1] + _slack(lo[1:], furthest[:-1])) + 1
    merged = np.stack([lo[np.r_[0, apart]], furthest[np.r_[apart - 1, len(hi) - 1]]], axis=1)
    proper = merged[:, 1] > merged[:, 0] + _slack(merged[:, 0], merged[:, 1])
    return merged[proper], merged[~proper, 0]


def _slack(x: Array, y: Array) -> Array:
    size = np.maximum(np.abs(x), np.abs(y))
    return np.where(np.isfinite(size), SAME * size, 0.0)


def covers(intervals: Array, t: Array) -> BoolArray:
    """Whether each t lies in one of the sorted, disjoint, closed intervals."""
    if len(intervals) == 0:
        return np.zeros(len(t), dtype=np.bool_)
    before = np.searchsorted(intervals[:, 0], t, side="right") - 1
    return np.asarray((before >= 0) & (t <= intervals[before, 1]))

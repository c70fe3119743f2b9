"""Where at least q of many quadratic inequalities hold: a finite union of closed intervals.

Every coefficient comes with a bound of its rounding error. The intervals are outer ones: they hold
every t that satisfies q of the inequalities for some coefficients within these errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray

_OUT = 16 * EPS
"""Relative distance by which roots are moved outward."""


@final
@dataclass(frozen=True, eq=False)
class Quadratics:
    """The inequalities at² + bt + c <= 0, with bounds of the errors of a, b and c, each (S,)."""

    a: Array
    b: Array
    c: Array
    a_error: Array
    b_error: Array
    c_error: Array

    def settled(self) -> Quadratics:
        """Set a to zero where it may be rounding alone, and then b.

        They decide how the inequality ends far out, where their errors would grow without limit.
        """
        flat = np.abs(self.a) <= self.a_error
        level = flat & (np.abs(self.b) <= self.b_error)
        return Quadratics(
            np.where(flat, 0.0, self.a),
            np.where(level, 0.0, self.b),
            self.c,
            np.where(flat, 0.0, self.a_error),
            np.where(level, 0.0, self.b_error),
            self.c_error,
        )


def at_least(inequalities: Quadratics, q: int) -> Array:
    """Return the closed intervals (r, 2) of t that satisfy at least q of the inequalities.

    Sorted and disjoint; the ends may be infinite.

    Parameters
    ----------
    inequalities : Quadratics
    q : int
        At least 1.

    Examples
    --------
    t² <= 1 and t² >= 1 hold both at two points, and one of them holds everywhere:

    >>> a, c, zero = np.array([1.0, -1.0]), np.array([-1.0, 1.0]), np.zeros(2)
    >>> both = Quadratics(a, zero, c, zero, zero, zero)
    >>> at_least(both, 2).round(6)
    array([[-1., -1.],
           [ 1.,  1.]])
    >>> at_least(both, 1)
    array([[-inf,  inf]])
    """
    one = inequalities.settled()
    a, c = one.a - one.a_error, one.c - one.c_error
    zero = c <= 0  # whether t = 0 satisfies the inequality
    near_up, far_up = _half_line(a, one.b - one.b_error, c)
    near_down, far_down = _half_line(a, -one.b - one.b_error, c)
    spans = np.concatenate(
        [
            np.stack([-near_down[zero], near_up[zero]], axis=1),
            far_up[~np.isnan(far_up[:, 0])],
            -far_down[~np.isnan(far_down[:, 0]), ::-1],
        ]
    )
    return _covered(spans, q)


def _half_line(A: Array, B: Array, C: Array) -> tuple[Array, Array]:
    """Return where At² + Bt + C <= 0 for t >= 0: up to where from 0, and beyond a gap.

    The first is the end (S,) of the interval that begins at 0, which exists if C <= 0. The second
    (S, 2) is an interval beyond a gap, or NaN. The roots are moved outward.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        square, product = B * B, 4 * A * C
        slack = 4 * EPS * (square + np.abs(product))
        # Outward: a wider interval between the roots, or a narrower gap.
        root = np.sqrt(square - product + np.sign(A) * slack)  # NaN without roots
        far = -(B + np.where(B >= 0, root, -root)) / 2
        one, two = far / A, np.where(far != 0, C / far, 0.0)
        low, high = np.minimum(one, two), np.maximum(one, two)
        straight = -C / B
    none = np.isnan(low)
    flat = A == 0
    # From 0: C <= 0.
    near = np.where(A > 0, high * (1 + _OUT), np.where(~none & (B > 0), low * (1 + _OUT), np.inf))
    near = np.where(flat, np.where(B > 0, straight * (1 + _OUT), np.inf), near)
    # Beyond a gap: between two positive roots, or after the larger one.
    after = (A < 0) & ~none & ((C > 0) | (B > 0))
    between = (A > 0) & (C > 0) & (B < 0) & ~none
    ray = flat & (C > 0) & (B < 0)
    start = np.where(after, high, np.where(between, low, straight)) * (1 - _OUT)
    stop = np.where(between, high * (1 + _OUT), np.inf)
    found: BoolArray = after | between | ray
    return near, np.where(found[:, None], np.stack([start, stop], axis=1), np.nan)


def _covered(spans: Array, q: int) -> Array:
    """Return the stretches that at least q of the closed intervals (S, 2) cover."""
    ends = spans.T.ravel()
    change = np.repeat([1, -1], len(spans))
    order = np.lexsort((-change, ends))  # at equal ends openings first: closed intervals
    count = np.cumsum(change[order])
    enough = count >= q
    before = np.concatenate([[False], enough[:-1]])
    starts, stops = np.flatnonzero(enough & ~before), np.flatnonzero(~enough & before)
    return np.stack([ends[order][starts], ends[order][stops]], axis=1)

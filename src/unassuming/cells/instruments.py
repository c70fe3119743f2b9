"""Instruments: the coefficient of a column that depends on the noise (docs/theory.md 14).

In cell b of y = xβ + Zγ + e let W̃_b be the residuals of the instruments W_b on Z_b, and u_b, v_b
the W̃_bᵀy_b, W̃_bᵀx_b, whitened. Then u_b - v_bβ* changes its sign with the noise of the cell, and
the Z_s(β) = ‖Σ_b s_b (u_b - v_bβ)‖² are exchangeable at β*. If s flips the cells in F, and F' are
the others, Z_0 <= Z_s if and only if ⟨u_F - v_Fβ, u_F' - v_F'β⟩ <= 0, a quadratic inequality.
"""

from __future__ import annotations

import numpy as np

from unassuming._numerics import EPS
from unassuming._typing import Array
from unassuming.cells.codes import words

_OUTWARD = 1e-9  # by this share of their distance from the centre ends move outward, and more


def instrument_estimate(u: Array, v: Array) -> float:
    """Return the minimiser of Z_0 for u_b and v_b (B, k); NaN if the instruments do not move x."""
    total = v.sum(axis=0)
    square = float(total @ total)
    return float(total @ u.sum(axis=0)) / square if square > 0 else np.nan


def instrument_set(u: Array, v: Array, q: int) -> Array:
    """Return the closed intervals (r, 2) of β that satisfy q >= 1 inequalities, u, v (B, k)."""
    # Sorted and disjoint; ends may be infinite, single points are [β, β]. Ties count in favour of
    # β.
    size_u, size_v = (float(np.abs(part).max(initial=0.0)) or 1.0 for part in (u, v))
    u, v = u / size_u, v / size_v
    length = float(np.square(v).sum())
    centre = float((v * u).sum()) / length if length > 0 else 0.0
    u = u - v * centre
    spans = solved(*_quadratics(u, v))
    far = np.abs(spans) + 1e-3 * float(np.linalg.norm(u)) / (np.sqrt(length) or 1.0)
    spans = spans + _OUTWARD * far * [-1.0, 1.0]
    return (covered(spans, q) + centre) * (size_u / size_v)


def _quadratics(u: Array, v: Array) -> tuple[Array, Array, Array, Array]:
    """Return a, b, c of at² + bt + c = ⟨u_F - v_Ft, u_F' - v_F't⟩, each (S,), and √(b² - 4ac)."""
    # What may be rounding is zero in a and b, which decide how the inequality ends far out. The
    # root is NaN where there is none. It is rounded so that the sets become longer.
    F = (1 - words(len(u))[1:]) / 2
    (u1, v1), (u2, v2) = ((part @ u, part @ v) for part in (F, 1 - F))

    def product(x: Array, y: Array) -> Array:
        return np.asarray((x * y).sum(axis=1))

    unit = 16 * len(u) * EPS
    far, near = np.abs(v).sum(), np.abs(u).sum()
    a, c, one, two = product(v1, v2), product(u1, u2), product(u1, v2), product(v1, u2)
    a = np.where(np.abs(a) > unit * far**2, a, 0.0)
    b = np.where((a == 0) & (np.abs(one + two) <= unit * far * near), 0.0, -(one + two))
    # b² - 4ac = (one - two)² + 4 (one two - ac), where the second vanishes for one instrument.
    outward = np.where(a < 0, -1.0, 1.0)
    d = np.maximum(np.abs(one - two) + outward * unit * (np.abs(one) + np.abs(two)), 0.0)
    if u.shape[1] == 1:
        return a, b, c, d
    square = b * b - 4 * a * c + outward * unit * (b * b + 4 * np.abs(a * c))
    return a, b, c, np.sqrt(np.where(square >= 0, square, np.nan))


def solved(a: Array, b: Array, c: Array, root: Array) -> Array:
    """Return the intervals (r, 2) of t where each at² + bt + c <= 0 holds, given √(b² - 4ac)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        far = -(b + np.where(b >= 0, root, -root)) / 2
        one, two = far / a, np.where(far != 0, c / far, -b / (2 * a))
        low, high = np.minimum(one, two), np.maximum(one, two)
        end = -c / b
    inf, none = np.full(len(a), np.inf), np.isnan(root)
    between, rays = (a > 0) & ~none, (a < 0) & ~none
    up, down = (a == 0) & (b < 0), (a == 0) & (b > 0)
    line = ((a < 0) & none) | ((a == 0) & (b == 0) & (c <= 0))
    kinds = (
        (between, low, high),
        (rays, -inf, low),
        (rays, high, inf),
        (up, end, inf),
        (down, -inf, end),
        (line, -inf, inf),
    )
    return np.concatenate([np.stack([x[which], y[which]], axis=1) for which, x, y in kinds])


def covered(spans: Array, q: int) -> Array:
    """Return the stretches (r, 2) that at least q of the closed intervals (S, 2) cover."""
    ends, change = spans.T.ravel(), np.repeat([1, -1], len(spans))
    order = np.lexsort((-change, ends))  # at equal ends openings first: closed intervals
    enough = np.cumsum(change[order]) >= q
    before = np.concatenate([[False], enough[:-1]])
    starts, stops = np.flatnonzero(enough & ~before), np.flatnonzero(~enough & before)
    return np.stack([ends[order][starts], ends[order][stops]], axis=1)

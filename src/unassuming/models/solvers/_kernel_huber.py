"""Kernel regression with Huber's loss, solved exactly."""

from __future__ import annotations

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.models.solvers._linear import solve_positive
from unassuming.models.solvers._svr import epsilon_svr

_ROUNDS = 20  # of guessing; most problems take fewer than ten


def kernel_huber(
    K: Array, y: Array, alpha: float, delta: float, weights: Array | None = None
) -> Array:
    r"""Minimise :math:`\sum_j w_j h_\delta(y_j - (Ka)_j) + \tfrac{\alpha}{2} a^T K a`.

    Here :math:`h_\delta(r) = r^2/2` for :math:`|r| \le \delta` and
    :math:`\delta|r| - \delta^2/2` beyond. K is positive semidefinite, possibly singular, α > 0 and
    w ≥ 0; an infinite δ > 0 gives kernel ridge regression. Returns the one minimiser with
    :math:`\alpha a = w \odot \mathrm{clip}(y - Ka, \pm\delta)`; coefficients at a bound are exactly
    :math:`\pm w_j\delta/\alpha`.

    Notes
    -----
    This minimiser solves a strictly convex quadratic programme in a box,

    .. math:: \min \tfrac12 a^T (K + \alpha W^{-1}) a - y^T a, \qquad |a_j| \le w_j\delta/\alpha.

    The method guesses which coordinates are free, solves for these, and corrects all wrong guesses
    at once. This settles most problems in a few rounds but may cycle. Then the active-set method
    for support vector regression finishes: the programme is its special case without tube and
    intercept.

    Examples
    --------
    >>> kernel_huber(np.eye(2), np.array([1.0, 8.0]), alpha=1.0, delta=2.0)
    array([0.5, 2. ])
    """
    if weights is None:
        weights = np.ones_like(y)
    used = weights > 0.0
    a = np.zeros_like(y)
    w = weights[used]
    a[used] = _box(K[np.ix_(used, used)], y[used], alpha / w, w * delta / alpha)
    return a


def _box(K: Array, y: Array, ridge: Array, bound: Array) -> Array:
    """Minimise ½aᵀ(K + diag(ridge))a − yᵀa over |a| ≤ bound."""
    M = K + np.diag(ridge)
    side = np.zeros(y.size)  # 0 where the coefficient is free, ±1 where it is at ± its bound
    for _ in range(_ROUNDS):
        free = side == 0.0
        a = np.zeros_like(y)
        a[~free] = side[~free] * bound[~free]
        a[free] = solve_positive(M[np.ix_(free, free)], y[free] - M[np.ix_(free, ~free)] @ a[~free])
        slack = y - M @ a
        rounding = 4.0 * EPS * (np.abs(y) + np.abs(M) @ np.abs(a))
        outside = free & (np.abs(a) > bound)
        inward = ~free & (side * slack < -rounding)
        if not (outside | inward).any():
            return a
        side = np.where(outside, np.sign(a), np.where(inward, 0.0, side))
    a = np.clip(a, -bound, bound)
    return epsilon_svr(M, y, bound, 0.0, fit_intercept=False, start=a)[1]

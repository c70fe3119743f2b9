"""ε-insensitive regression in the primal, polished to the exact minimum."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.models.solvers._linear import solve_positive
from unassuming.models.solvers._svr import epsilon_svr

_ROUNDS = 100  # of Newton's method; most problems take fewer than ten


def linear_svr(
    design: Array, y: Array, C: float, epsilon: float, ridge: Array, *, squared: bool
) -> Array:
    r"""Minimise :math:`\tfrac12 \sum_j p_j a_j^2 + C \sum_i \max(|y_i - (Da)_i| - ε, 0)`.

    With ``squared`` the terms of the second sum are squared; all p_j > 0. The minimum is unique.

    Notes
    -----
    In units of √p_j the dual is that of support vector regression without an intercept and with
    a linear kernel, which an active-set method solves: a = Dᵀα/p with |α_i| ≤ C. Rows with
    0 < |α_i| < C lie on a side of the tube, and these equations are solved once more for the
    coefficients. Squares are minimised by Newton's method, which ends with the right set of rows.

    Examples
    --------
    >>> linear_svr(np.ones((3, 1)), np.array([1.0, 2.0, 9.0]), 10.0, 0.0, np.ones(1), squared=False)
    array([2.])
    """
    if squared:
        return _newton(design, y, 2 * C, epsilon, ridge)
    scaled = design / np.sqrt(ridge)
    alpha = epsilon_svr(scaled @ scaled.T, y, C, epsilon, fit_intercept=False)[1]
    free = (alpha != 0) if epsilon > 0 else np.ones(len(y), dtype=np.bool_)
    free &= np.abs(alpha) < C
    a = scaled.T @ alpha
    if free.any():
        # The least change that puts these rows on the sides of their tubes.
        target = y[free] - epsilon * np.sign(alpha[free])
        for _ in range(2):
            a = a + np.linalg.lstsq(scaled[free], target - scaled[free] @ a, rcond=None)[0]
    return np.asarray(a / np.sqrt(ridge))


def _newton(design: Array, y: Array, c: float, epsilon: float, ridge: Array) -> Array:
    """Minimise ½ Σ p a² + (c/2) Σ max(|r| - ε, 0)²; every step solves for the rows outside."""

    def value(a: Array) -> float:
        r = np.abs(y - design @ a)
        return float(ridge @ a**2 + c * (np.maximum(r - epsilon, 0) ** 2).sum()) / 2

    a, side = np.zeros(design.shape[1]), np.full(len(y), np.nan)
    for _ in range(_ROUNDS):
        r = y - design @ a
        now = np.sign(r) * (np.abs(r) > epsilon)
        if np.array_equal(now, side):
            break
        side, rows = now, now != 0
        root = np.sqrt(c) * design[rows]
        slope = root.T @ (np.sqrt(c) * (y - epsilon * side - design @ a)[rows]) - ridge * a
        step, length = solve_positive(root.T @ root + np.diag(ridge), slope), 1.0
        current, gain = value(a), 1e-4 * float(slope @ step)
        while length > 1e-12 and value(a + length * step) > current - length * gain:
            length /= 2
        if length <= 1e-12:
            break
        a = a + length * step
        if length < 1:
            side = np.full(len(y), np.nan)
    return a

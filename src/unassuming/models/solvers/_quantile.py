"""Regression quantiles by linear programming, polished to a vertex."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq
from scipy.optimize import linprog

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray

_ACTIVE = 1e-8
"""Residuals and coefficients that are this small, in units of y, may be zero at the vertex."""
_FAR, _ROUNDS = 1e3, 6
"""Residuals larger than so many times their median are outliers, which are moved nearer."""


def quantile_regression(design: Array, y: Array, tau: float, penalty: Array) -> Array:
    r"""Minimise :math:`\sum_j \rho_\tau(y_j - (Da)_j) + \sum_k p_k |a_k|`.

    Here ρ is the pinball loss, τ r for r >= 0 and (τ - 1) r for r < 0. The dual programme has one
    bounded variable for each row, and one constraint for each coefficient, whose multipliers are
    the coefficients. The simplex method ends at a vertex: as many residuals and coefficients are
    zero there as there are coefficients. The equations of the vertex are solved once more, so that
    these are zero up to rounding.

    Examples
    --------
    >>> quantile_regression(np.ones((3, 1)), np.array([1.0, 2.0, 9.0]), 0.5, np.zeros(1))
    array([2.])
    """
    unit = np.abs(design).max(axis=0, initial=0.0)
    unit[unit == 0] = 1.0
    phi, held = design / unit, penalty / unit
    fit, far = np.zeros(len(y)), np.inf
    for _ in range(_ROUNDS):
        # A residual may be replaced by a smaller one of the same sign: outliers cost no digits.
        near = fit + np.clip(y - fit, -far, far)
        size = float(np.abs(near).max(initial=0.0)) or 1.0
        a = _vertex(phi, near / size, tau, held) * size if y.any() else np.zeros(len(unit))
        fit = phi @ a
        r = np.abs(y - fit)
        before, far = far, _FAR * float(np.median(r))
        if far == 0 or r.max(initial=0.0) <= far or far >= before / 2:
            break
    zero = (np.abs(a) <= _ACTIVE * np.abs(a).max(initial=0.0)) & (held > 0)
    return np.asarray(_polished(phi, y, a, r <= _ACTIVE * size, zero) / unit)


def _vertex(phi: Array, y: Array, tau: float, penalty: Array) -> Array:
    """Return a solution of the linear programme, in units of order one."""
    free = penalty == 0
    fixed, bounded = phi[:, free].T, phi[:, ~free].T
    both = np.concatenate([bounded, -bounded])
    found = linprog(
        -y,
        A_ub=both if len(both) else None,
        b_ub=np.tile(penalty[~free], 2) if len(both) else None,
        A_eq=fixed if len(fixed) else None,
        b_eq=np.zeros(len(fixed)) if len(fixed) else None,
        bounds=(tau - 1, tau),
        method="highs-ds",
    )
    if found.status != 0:
        raise ArithmeticError(
            "the regression quantile was not found: the linear programme ended with "
            f"{found.message!r}. Standardise the features, or drop columns that depend on others."
        )
    a = np.zeros(phi.shape[1])
    if len(fixed):
        a[free] = -found.eqlin.marginals
    if len(both):
        up, down = np.split(-found.ineqlin.marginals, 2)
        a[~free] = up - down
    return a


def _polished(phi: Array, y: Array, a: Array, rows: BoolArray, zero: BoolArray) -> Array:
    """Solve the equations of the vertex, r = 0 on some rows and a = 0 on some coefficients.

    Where they have no common solution some residuals are merely small, and nothing is changed.
    """
    out = np.where(zero, 0.0, a)
    if not rows.any() or zero.all():
        return out
    part = phi[rows][:, ~zero]
    r = y[rows] - part @ out[~zero]
    step = lstsq(part, r)[0]
    moved = out.copy()
    moved[~zero] += step
    left = np.abs(y - phi @ moved)[rows]
    error = 8 * EPS * (np.abs(y) + np.abs(phi) @ np.abs(moved))[rows]
    return moved if (left <= np.maximum(error, np.abs(r))).all() else out

"""Robust estimates in the cells (docs/theory.md 11.2).

Exactness needs an estimate that is equivariant in all columns of the cell and odd, also where its
solver has a choice. For any map T of the residuals r_b of least squares in the cell,
β_b + (T(r_b) - T(-r_b))/2 has both properties: r_b does not depend on the coefficients, and it
changes its sign with the noise.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from unassuming._typing import Array, IntArray


def least_absolute_deviations(Q: Array, y: Array) -> Array:
    """Return coefficients that minimise Σ |y - Qθ|."""
    n, r = Q.shape
    size = float(np.abs(y).max(initial=0.0)) or 1.0
    scale = np.abs(Q).max(axis=0, initial=0.0)
    scale[scale == 0] = 1.0
    found = linprog(
        np.concatenate([np.zeros(r), np.ones(2 * n)]),
        A_eq=np.hstack([Q / scale, np.eye(n), -np.eye(n)]),
        b_eq=y / size,
        bounds=[(None, None)] * r + [(0, None)] * (2 * n),
        method="highs-ds",
    )
    return np.asarray(found.x[:r] * size / scale) if found.success else np.zeros(r)


def robust_coefficients(Q: Array, y: Array) -> Array:
    """Return coefficients that are equivariant and odd, whatever the solver chooses."""
    plain = np.linalg.lstsq(Q, y, rcond=None)[0]
    r = y - Q @ plain
    up, down = least_absolute_deviations(Q, r), least_absolute_deviations(Q, -r)
    return np.asarray(plain + (up - down) / 2)


def robust_estimates(Q: Array, e: Array, labels: IntArray, K: int, U: Array) -> Array:
    """Return robust estimates (c, K) of numbers U (c, r) in the cells that labels (n,) describe."""
    theta = [robust_coefficients(Q[labels == b], e[labels == b]) for b in range(K)]
    return np.asarray(U @ np.transpose(theta))

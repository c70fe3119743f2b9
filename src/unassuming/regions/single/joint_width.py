"""The half-width of the joint region's band, predicted before y is seen (docs/theory.md 12).

Without a norm bound the joint region is about as wide as the F ellipsoid. With one, the sets of
signs and kernel ridge have a simple form. With D = I - S, residuals r̂ = Dy of the estimate and r of
a candidate, and J the rows that change sign, E_i = {r_JᵀD_JJ r_J <= r_Jᵀr̂_J}. Its largest value
f(z) with ‖f‖ <= B has a dual in one variable. A few sets and simulated data are enough for a
prediction.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.special import fdtri

from unassuming._typing import Array
from unassuming.cells.functions.errors import Assumed
from unassuming.cells.functions.kriging import System, Wanted
from unassuming.cells.functions.predict import MadeUp
from unassuming.geometry.quadratic import Multipliers

_SETS, _FEWER, _MOST_ROWS, _KEY = 19, 9, 600, 118
"""Sets that are simulated, and fewer of them with more rows."""


def joint_of_features(information: Array, n: int, d: int, level: float) -> Array:
    """Return the predicted half-widths for n rows, d features and noise of scale 1, (N,).

    ``information`` (N,) is what all rows say about each functional, 1 / cᵀ(ΦᵀΦ)⁺c.
    """
    return np.asarray(np.sqrt(d * float(fdtri(d, n - d, level)) / information))


def joint_of_kernel(
    system: System, wanted: Wanted, assumed: Assumed, alpha: float, level: float
) -> Array:
    """Return the predicted half-widths of the band of N values (N,), for rows without free features.

    ``alpha`` is the penalty of kernel ridge regression.
    """
    n, root = system.n, np.sqrt(system.weight)
    F = root[:, None] * system.features
    k = wanted.features @ F.T
    values, u = eigh(F @ F.T)
    floor = 1e-12 * float(values[-1])
    smoother = np.maximum(values, 0.0) + max(alpha, floor)
    D = (u * (alpha / smoother)) @ u.T
    square = np.square(wanted.norm)
    rng = np.random.default_rng([_KEY, n])
    sets = _SETS if n <= _MOST_ROWS else _FEWER
    ends = []
    for f in root * MadeUp.of(system, wanted, assumed, sets).at_rows:
        y = f + assumed.noise_scale * rng.standard_normal(n)
        fitted = k @ (u @ ((u.T @ y) / smoother))
        J = np.flatnonzero(rng.random(n) < 0.5)
        own, v = eigh(F[J] @ F[J].T)
        size = np.sqrt(np.maximum(own, floor))
        L, g, rest = v * size, k[:, J] @ v / size, D[J] @ y
        omega, w = eigh(L.T @ D[np.ix_(J, J)] @ L)
        gamma = float(y[J] @ (D[np.ix_(J, J)] @ y[J] - rest))
        beta = w.T @ (L.T @ (D[np.ix_(J, J)] @ y[J] - rest / 2))
        beyond = np.maximum(square - np.square(g).sum(axis=1), 0.0)
        ball = Multipliers(np.maximum(omega, 0.0), beta, -gamma, assumed.norm_bound)
        up, down = ball.supports(g @ w, beyond)
        ends.append([up - fitted, down + fitted])
    q = max(1, int(np.floor((1 - level) * (sets + 1) + 1e-9)))
    return np.asarray(np.maximum(np.sort(ends, axis=0)[-q].mean(axis=0), 0.0))

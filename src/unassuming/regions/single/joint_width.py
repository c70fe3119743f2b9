"""The half-width of the joint region's band, predicted before y is seen (docs/theory.md 12).

Without a norm bound the joint region is about as wide as the F ellipsoid. With one, the sets of
signs and kernel ridge have a simple form. With D = I - S, residuals r̂ = Dy of the estimate and r of
a candidate, and J the rows that change sign, E_i = {r_JᵀD_JJ r_J <= r_Jᵀr̂_J}. Its largest value
f(z) with ‖f‖ <= B has a dual in one variable. A prediction takes some sets and made-up outputs,
fewer of them with more rows, where the widths differ less.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.special import fdtri

from unassuming._typing import Array, IntArray
from unassuming.cells.functions.errors import Assumed
from unassuming.cells.functions.kriging import System, Wanted
from unassuming.cells.functions.predict import MadeUp
from unassuming.geometry.quadratic.ball import BallSet, Dual

_KEY = 118


def joint_of_features(information: Array, n: int, d: int, level: float) -> Array:
    """Return the predicted half-widths for n rows, d features and noise of scale 1, (N,).

    ``information`` (N,) is what all rows say about each functional, 1 / cᵀ(ΦᵀΦ)⁺c.
    """
    return np.asarray(np.sqrt(d * float(fdtri(d, n - d, level)) / information))


def joint_of_kernel(
    system: System,
    wanted: Wanted,
    assumed: Assumed,
    alpha: float,
    level: float,
    units: IntArray | None = None,
) -> Array:
    """Return the predicted half-widths of the band at N inputs (N,), without free features.

    ``alpha`` is the penalty of kernel ridge regression; the rows of a unit (n,) change their signs
    together.
    """
    n, root = system.n, np.sqrt(system.weight)
    each = np.arange(n) if units is None else units
    F = root[:, None] * system.features
    k = wanted.features @ F.T
    values, u = eigh(F @ F.T)
    floor = 1e-12 * float(values[-1])
    smoother = np.maximum(values, 0.0) + max(alpha, floor)
    D = (u * (alpha / smoother)) @ u.T
    square = np.square(wanted.norm)
    rng = np.random.default_rng([_KEY, n])
    sets, runs = (119, 6) if n <= 100 else (39, 6) if n <= 400 else (19, 3)
    f = MadeUp.of(system, wanted, assumed, runs).at_rows
    y = root * f + assumed.noise_scale * rng.standard_normal(f.shape)
    fitted = y @ (u / smoother) @ (k @ u).T
    ends = np.empty((sets, runs, 2, len(wanted)))
    for i in range(sets):
        J = np.flatnonzero((rng.random(n) < 0.5)[each])
        if not len(J):  # the whole ball
            ends[i] = assumed.norm_bound * wanted.norm
            continue
        own, v = eigh(F[J] @ F[J].T)
        size = np.sqrt(np.maximum(own, floor))
        L, g, D_J = v * size, k[:, J] @ v / size, D[np.ix_(J, J)]
        omega, w = eigh(L.T @ D_J @ L)
        beyond = np.maximum(square - np.square(g).sum(axis=1), 0.0)
        for run, one in enumerate(y):
            rest = D[J] @ one
            beta = w.T @ (L.T @ (D_J @ one[J] - rest / 2))
            gamma = float(one[J] @ (D_J @ one[J] - rest))
            one_set = BallSet(np.maximum(omega, 0.0), np.ones(len(omega)), beta, gamma, w)
            ball = Dual.of([one_set])
            up, down = ball.supports((g @ w)[None], beyond[None], assumed.norm_bound)
            ends[i, run] = np.stack([up[0] - fitted[run], down[0] + fitted[run]])
    q = max(1, int((1 - level) * (sets + 1) + 1e-9))
    return np.asarray(np.maximum(np.sort(ends, axis=0)[-q].mean(axis=(0, 1)), 0.0))

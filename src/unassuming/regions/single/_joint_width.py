"""The half-width of the joint region's band, predicted before y is seen.

Without a norm bound the joint region is about as wide as the F ellipsoid. With one, the sets of
signs and kernel ridge have a simple form. With D = I - S, residuals r̂ = Dy of the estimate and r of
a candidate, and J the rows that change sign, E_i = {r_JᵀD_JJ r_J <= r_Jᵀr̂_J}. Its largest value
f(z) with ‖f‖ <= B has a dual in one variable. A few sets and simulated data are enough for a
prediction (docs/theory.md 9.8).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh
from scipy.special import fdtri

from unassuming._rounding import powers_of_two
from unassuming._typing import Array
from unassuming.cells.functions import Assumed, MadeUp, System, Wanted
from unassuming.geometry.quadratic import Multipliers

_SETS = 19
_FEWER = 9
_MOST_ROWS = 600
"""With more rows fewer sets are used."""


def joint_of_features(information: Array, n: int, d: int, level: float) -> Array:
    """Return the predicted half-widths for n rows, d features and noise of scale 1, (N,).

    ``information`` (N,) is what all rows say about each functional, 1 / cᵀ(ΦᵀΦ)⁺c.
    """
    return np.asarray(np.sqrt(d * float(fdtri(d, n - d, level)) / information))


def joint_of_kernel(
    system: System, wanted: Wanted, assumed: Assumed, penalty: float, level: float
) -> Array:
    """Return the predicted half-widths of the band at N inputs, (N,).

    Parameters
    ----------
    system, wanted
        The rows, without free features, and the values.
    assumed : Assumed
        The norm bound and the working noise scale.
    penalty : float
        alpha of kernel ridge regression.
    level : float

    Examples
    --------
    >>> from unassuming.cells.functions import Assumed, System, Wanted
    >>> x, z = np.linspace(0, 1, 40), np.array([0.5])
    >>> kernel = lambda s, t: np.exp(-np.square(s[:, None] - t))
    >>> system = System(np.zeros((40, 0)), np.ones(40), kernel(x, x))
    >>> wanted = Wanted(np.zeros((1, 0)), np.ones(1), kernel(z, x))
    >>> wide = joint_of_kernel(system, wanted, Assumed(5.0, noise_scale=0.1), 0.1, 0.9)
    >>> bool(0.03 < wide[0] < 0.5)
    True
    """
    unit = float(powers_of_two(np.array(max(assumed.norm_bound, assumed.noise_scale))))
    assumed = replace(
        assumed,
        norm_bound=assumed.norm_bound / unit,
        noise_scale=assumed.noise_scale / unit,
    )
    n, B, root = system.n, assumed.norm_bound, np.sqrt(system.weight)
    K, k = _kernel_values(system, wanted)
    K, k = root[:, None] * K * root, k * root
    values, u = eigh(K, driver="evd")
    floor = 1e-12 * float(values[-1])
    values = np.maximum(values, 0.0)
    smoother = values + max(penalty, floor)
    D = (u * (penalty / smoother)) @ u.T
    rng = np.random.default_rng([118, n])
    sets = _SETS if n <= _MOST_ROWS else _FEWER
    ends = []
    for f in root * MadeUp.of(system, wanted, assumed, sets).at_rows:
        y = f + assumed.noise_scale * rng.standard_normal(n)
        fitted = k @ (u @ ((u.T @ y) / smoother))
        J = np.flatnonzero(rng.random(n) < 0.5)
        D_J, rest, y_J = D[np.ix_(J, J)], D[J] @ y, y[J]
        own, v = eigh(K[np.ix_(J, J)], driver="evd")
        size = np.sqrt(np.maximum(own, floor))
        L, g = v * size, k[:, J] @ v / size
        p2 = np.maximum(wanted.norms - np.square(g).sum(axis=1), 0.0)
        omega, w = eigh(L.T @ D_J @ L, driver="evd")
        beta = w.T @ (L.T @ (D_J @ y_J - rest / 2))
        gamma = float(y_J @ (D_J @ y_J - rest))
        up, down = Multipliers(np.maximum(omega, 0.0), beta, -gamma, B).supports(g @ w, p2)
        ends.append([up - fitted, down + fitted])
    q = max(1, int(np.floor((1 - level) * (sets + 1) + 1e-9)))
    return np.asarray(unit * np.maximum(np.sort(ends, axis=0)[-q].mean(axis=0), 0.0))


def _kernel_values(system: System, wanted: Wanted) -> tuple[Array, Array]:
    """Return the kernel at the rows (n, n), and between functionals and rows (N, n)."""
    if system.features is not None:
        assert wanted.features is not None
        return system.features @ system.features.T, wanted.features @ system.features.T
    assert system.gram is not None
    assert wanted.at_rows is not None
    return system.gram, wanted.at_rows

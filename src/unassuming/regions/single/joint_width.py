"""The half-width of the joint region's band, predicted before y is seen (docs/theory.md 12).

With D = I - S, residuals r̂ = Dy of the estimate and r of a candidate, and J the rows that change
sign, the sets of signs and kernel ridge are E_i = {r_JᵀD_JJ r_J <= r_Jᵀr̂_J}. The largest value f(z)
in E_i with ‖f‖ <= B has a dual in one variable, of which every value gives a bound. Signs are those
of the group that a region has, and outputs are made up.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from unassuming._typing import Array, IntArray
from unassuming.cells.codes import hadamard_words
from unassuming.cells.functions.errors import Assumed
from unassuming.cells.functions.kriging import System, Wanted
from unassuming.cells.functions.predict import MadeUp
from unassuming.noise import powers

_ORDER = 128
_THETA = np.append(0.0, np.geomspace(1e-3, 1e6, 46))


def joint_of_kernel(
    system: System,
    wanted: Wanted,
    assumed: Assumed,
    alpha: float,
    level: float,
    units: IntArray | None = None,
) -> Array:
    """Return the predicted half-widths of the band at N inputs (N,), without free features."""
    # `alpha` is the penalty of kernel ridge regression; the rows of a unit (n,) change their
    # signs together.
    n, root = system.n, np.sqrt(system.weight)
    F = root[:, None] * system.features
    k = wanted.features @ F.T
    values, u = eigh(F @ F.T)
    floor = 1e-12 * float(values[-1])
    smoother = np.maximum(values, 0.0) + max(alpha, floor)
    D = (u * (alpha / smoother)) @ u.T
    square = np.square(wanted.norm)
    every, runs = (1, 6) if n <= 100 else (2, 6) if n <= 400 else (4, 3)
    y = root * MadeUp.of(system, wanted, assumed, runs).outputs(system, assumed)
    fitted = y @ (u / smoother) @ (k @ u).T
    numbers = np.arange(n) if units is None else units
    words = hadamard_words(_ORDER)[1::every, powers(_ORDER, int(numbers.max()) + 1)[numbers]]
    ends = np.empty((len(words), runs, 2, len(wanted)))
    for i, word in enumerate(words):
        J = np.flatnonzero(word < 0)
        own, v = eigh(F[J] @ F[J].T)
        size = np.sqrt(np.maximum(own, floor))
        L, g, D_J = v * size, k[:, J] @ v / size, D[np.ix_(J, J)]
        omega, w = eigh(L.T @ D_J @ L)
        beyond = np.maximum(square - np.square(g).sum(axis=1), 0.0)
        for run, one in enumerate(y):
            rest = D[J] @ one
            beta = w.T @ (L.T @ (D_J @ one[J] - rest / 2))
            gamma = float(one[J] @ (D_J @ one[J] - rest))
            found = _supports(omega, beta, gamma, assumed.norm_bound, g @ w, beyond)
            ends[i, run] = found + np.stack([-fitted[run], fitted[run]])
    q = max(1, int((1 - level) * (len(words) + 1) + 1e-9))
    return np.asarray(np.maximum(np.sort(ends, axis=0)[-q].mean(axis=(0, 1)), 0.0))


def _supports(
    omega: Array, beta: Array, gamma: float, bound: float, g: Array, beyond: Array
) -> Array:
    """Return the largest values of ∓f at N inputs in one set and the ball, (2, N)."""
    theta = _THETA[:, None] / (float(omega.max(initial=0.0)) or 1.0)
    W = 1 / (1 + theta * np.maximum(omega, 0.0))
    linear = theta * (W * beta) @ g.T
    inside = bound**2 - theta[:, 0] * gamma + theta[:, 0] ** 2 * (W @ np.square(beta))
    root = np.sqrt(np.maximum(inside, 0.0)[:, None] * (W @ np.square(g).T + beyond))
    return np.asarray(np.stack([root - linear, root + linear]).min(axis=1))

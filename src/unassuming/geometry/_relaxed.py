"""Linear functionals over a quadratic inequality and a ball: honest, not always tight (7).

The inequality xᵀA x - 2bᵀx <= c may be indefinite. With a multiplier θ >= 0 that makes N + θA
positive definite, it and the ball xᵀN x + s² <= B² imply

    xᵀN x + s² + θ (xᵀA x - 2bᵀx - c) <= B²,

an ellipsoid. Its support function bounds gᵀx + p s for every such θ, so the least value that was
tried is a bound. Unlike for convex sets (`SetsAndBall`) it need not be attained.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from unassuming._typing import Array

_SHARES = np.sort(np.concatenate([1 - np.geomspace(1e-5, 1.0, 20), np.geomspace(1e-9, 0.5, 16)]))
_OPEN = np.geomspace(1e-6, 1e6, 25)
_ROUNDING = 1e-12


def relaxed_supports(
    A: Array, b: Array, c: Array, N: Array, g: Array, p: Array, bound: float
) -> tuple[Array, Array]:
    """Return upper bounds of max gᵀx + p s and of max -gᵀx + p s, (N, s) each.

    The ball alone is not considered.

    Parameters
    ----------
    A, b, c : arrays of shape (s, k, k), (s, k) and (s,)
    N : array of shape (k,)
        The diagonal of the norm: ones, and zeros for what the ball does not see.
    g, p : arrays of shape (N, k) and (N,)
    bound : float
        B.
    """
    up, down = np.empty((2, len(g), len(c)))
    for i in range(len(c)):
        up[:, i], down[:, i] = _one(A[i], b[i], float(c[i]), N, g, p, bound)
    return up, down


def _one(
    A: Array, b: Array, c: float, N: Array, g: Array, p: Array, bound: float
) -> tuple[Array, Array]:
    nothing_known = np.full(len(g), np.inf)
    size_of_A = float(np.linalg.norm(A, 2)) if A.any() else 0.0
    start = _definite(A, N, size_of_A)
    if start is None:
        return nothing_known, nothing_known
    # What rounding could have made of A must not count for the bound.
    A = A - _ROUNDING * size_of_A * np.eye(len(A))
    alpha, turn = eigh(A, np.diag(N) + start * A)  # turnᵀ(N + θ_0 A)turn = I
    h, own = g @ turn, b @ turn
    theta = _multipliers(alpha, start)
    over = 1 / (1 + (theta[:, None] - start) * alpha)
    linear = theta[:, None] * own
    shift = (linear**2 * over).sum(axis=1)
    size = bound**2 + theta * c + shift
    if (size < -1e-9 * (bound**2 + np.abs(theta * c) + shift)).any():
        nothing = np.full(len(g), -np.inf)  # the two do not meet
        return nothing, nothing
    centre = (linear * over) @ h.T  # (θ, N)
    spread = np.sqrt(np.maximum(size, 0.0)[:, None] * (over @ (h**2).T + p**2))
    return (spread + centre).min(axis=0), (spread - centre).min(axis=0)


def _definite(A: Array, N: Array, size: float) -> float | None:
    """Return a multiplier θ with N + θA safely positive definite, if one is found."""
    if size == 0:
        return None
    if N.all():
        return 0.0
    trials = _OPEN / size
    least = np.linalg.eigvalsh(np.diag(N) + trials[:, None, None] * A)[:, 0]
    best = int(np.argmax(least / (1 + trials * size)))
    return float(trials[best]) if least[best] > 1e-9 * (1 + trials[best] * size) else None


def _multipliers(alpha: Array, start: float) -> Array:
    """Return multipliers θ >= 0 with 1 + (θ - θ_0) α > 0 for all α."""
    below, above = alpha.min(), alpha.max()
    largest = start + 1 / -below if below < 0 else np.inf
    least = max(0.0, start - 1 / above) if above > 0 else 0.0
    if np.isinf(largest):
        return np.concatenate([[start], start + _OPEN / max(above, 1e-300)])
    inside = least + (largest - least) * _SHARES[(_SHARES > 0) & (_SHARES < 1)]
    return np.asarray(np.append(inside, start))

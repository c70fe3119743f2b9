"""Ranks by the published formulas, one candidate and one transformation at a time.

The formulas are implemented with reasonable care: quantities that do not depend on the candidate
are computed beforehand, and quantities that do not depend on the transformation are computed
outside its loop.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Gradient = Callable[[Array], Array]  # of the residuals, at one candidate, weighted by Ψ
Model = Callable[[Array], tuple[Array, Gradient]]  # from a candidate to fitted values and gradient


def kernel_ridge(K: Array, lam: float) -> Model:
    """Ψ (Kr/n - λKa), with Ψ = H^{-1/2} and H = K²/n + λK."""
    n = len(K)
    values, vectors = np.linalg.eigh(K @ K / n + lam * K)
    psi = (vectors / np.sqrt(values)) @ vectors.T
    pull, push = psi @ K / n, lam * psi @ K

    def at(a: Array) -> tuple[Array, Gradient]:
        penalty = push @ a
        return K @ a, lambda r: pull @ r - penalty

    return at


def kernel_lasso(K: Array, lam: float) -> Model:
    """-Kr + λ sign(a), with Ψ = I."""

    def at(a: Array) -> tuple[Array, Gradient]:
        penalty = lam * np.sign(a)
        return K @ a, lambda r: penalty - K @ r

    return at


def kernel_huber(K: Array, lam: float, delta: float) -> Model:
    """Ψ (K clip(r, ±δ)/n - λKa), with Ψ = H^{-1/2} and H = K²/n + λK."""
    linear = kernel_ridge(K, lam)

    def at(a: Array) -> tuple[Array, Gradient]:
        fitted, gradient = linear(a)
        return fitted, lambda r: gradient(np.clip(r, -delta, delta))

    return at


def svr(K: Array, epsilon: float, *, identity: bool = False) -> Model:
    """Ψ (r - ε sign(a)), with Ψ = K^{1/2} or I and coefficients [b, a]."""
    values, vectors = np.linalg.eigh(K)
    psi = np.eye(len(K)) if identity else (vectors * np.sqrt(np.abs(values))) @ vectors.T

    def at(a: Array) -> tuple[Array, Gradient]:
        penalty = epsilon * np.sign(a[1:])
        return a[0] + K @ a[1:], lambda r: psi @ (r - penalty)

    return at


def rank(a: Array, y: Array, model: Model, signs: Array, tie_order: Array) -> int:
    """1 + #{i : Z_i ≺ Z_0} for one candidate."""
    fitted, gradient = model(a)
    r = y - fitted
    z = gradient(r)
    z_0 = z @ z
    before = 0
    for i, s in enumerate(signs, start=1):
        z = gradient(s * r)
        z_i = z @ z
        if z_i < z_0 or (z_i == z_0 and tie_order[i] < tie_order[0]):
            before += 1
    return 1 + before

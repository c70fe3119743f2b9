"""The outer ellipsoid: how far each set reaches from the estimate (docs/theory.md 4.2)."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.geometry.quadratic.sets import QuadraticSets, Spectra

_HALVINGS = 100


def radii(sets: QuadraticSets) -> Array:
    """Return γ_i = max ‖v‖² over each set, in whitened coordinates, (S,)."""
    found = np.empty(sets.form.count)
    for which, spectra in sets.spectra():
        found[which] = farthest(spectra)
    return sets.settled(found, sets.still, -np.inf)


def farthest(spectra: Spectra) -> Array:
    """Return the largest ‖y‖² with Σ w (y - c)² <= ρ, for many sets at once.

    With the multiplier μ >= 1/min w, y = c μw/(μw - 1), and Σ w c²/(μw - 1)² = ρ decreases in μ. In
    the hard case, c = 0 at the smallest w, the sum stays below ρ, and y moves there as far as it
    may.
    """
    endless = spectra.free.any(axis=1)
    w = np.where(spectra.free, 1.0, spectra.w)
    c, rho = spectra.centre, np.maximum(spectra.radius, 0.0)
    least = w.min(axis=1, keepdims=True)
    x = w / least  # μw - 1 = x - 1 + x s with s = μ min w - 1 > 0
    weight = w * c * c
    total = weight.sum(axis=1, keepdims=True)
    high = np.sqrt(total / np.maximum(rho, 1e-300)[:, None]) + 1e-140
    low = 1e-10 * np.minimum(high, 1e-6)
    low, high = np.log(low), np.log(high)
    for _ in range(_HALVINGS):
        s = (low + high) / 2
        reach = (weight / (x - 1 + x * np.exp(s)) ** 2).sum(axis=1, keepdims=True)
        beyond = reach > rho[:, None]
        low, high = np.where(beyond, s, low), np.where(beyond, high, s)
    beside = x - 1 + x * np.exp(high)
    y = c * (1 + beside) / beside
    used = (weight / beside**2).sum(axis=1)
    rest = np.maximum(rho - used, 0.0) / least[:, 0]  # along the smallest w
    return np.where(endless, np.inf, (y * y).sum(axis=1) + rest)

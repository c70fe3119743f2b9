"""The point of each set farthest from the estimate: a secular equation (docs/theory.md 4.2)."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.geometry._sets import Sets

_HALVINGS = 100


def farthest(sets: Sets) -> Array:
    """Return γ = max ‖x‖² over each set, shape (s,): infinity for cylinders.

    For every multiplier μ > 1/min w the dual function

        μρ + Σ c_k² μw_k / (μw_k - 1),        c_k = b_k / w_k,

    bounds ‖x‖² from above, and its least value is attained (one constraint: no duality gap). The
    minimiser is the root of Σ w_k c_k² / (μw_k - 1)² = ρ, or the end point μ = 1/min w in the hard
    case, where the equation has no root. It is found by bisection in s = μ min w - 1, from above,
    so that what is returned is a bound at every stop.
    """
    w = np.where(sets.bounded[:, None], sets.w, 1.0)
    w = np.where(w > 0, w, 1.0)
    rho = np.maximum(sets.radius, 0.0)
    least = w.min(axis=1)
    ratio = w / least[:, None]  # >= 1
    centre2 = (sets.b / w) ** 2
    weight = w * centre2
    low = np.zeros(len(w))
    # Σ weight / (s ratio)² <= Σ weight / s²: the root is at most this.
    high = np.sqrt(weight.sum(axis=1) / np.where(rho > 0, rho, 1.0))
    for _ in range(_HALVINGS):
        s = 0.5 * (low + high)
        slope = _sum(weight, ratio * s[:, None] + (ratio - 1), power=2)
        low, high = np.where(slope > rho, s, low), np.where(slope > rho, high, s)
    mu = (1 + high) / least
    gap = ratio * high[:, None] + (ratio - 1)  # μw - 1
    gamma = mu * rho + _sum(centre2 * (gap + 1), gap, power=1)
    gamma = np.where(rho > 0, gamma, centre2.sum(axis=1))  # a single point
    return np.where(sets.empty, -np.inf, np.where(sets.bounded, gamma, np.inf))


def _sum(numerator: Array, denominator: Array, power: int) -> Array:
    """Sum the quotients, a zero numerator counting as zero: the hard case."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = np.where(numerator > 0, numerator / denominator**power, 0.0)
    return np.asarray(quotient.sum(axis=-1))

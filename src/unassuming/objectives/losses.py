"""Losses: the derivative ρ as a function of the residuals, and where it is not smooth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from unassuming._typing import Array
from unassuming.noise.labels import RARE


@final
@dataclass(frozen=True)
class Loss:
    """A sum over the rows whose derivative in the fitted values is -ρ(r)."""

    rho: Callable[[Array], Array]  # of residuals (..., n)
    knots: tuple[float, ...] = ()  # where ρ changes its slope or jumps, increasing
    slopes: tuple[float, ...] = (1.0,)  # of ρ between them
    jumps: tuple[float, ...] = ()  # of ρ at the knots, where it may be anything between; or none
    polynomial: bool = True  # ρ is affine between knots
    odd: bool = True  # ρ(-r) = -ρ(r), row by row
    labels: bool = False  # y is ±1, and the linear part is log-odds
    quantile: float | None = None  # that a loss estimates whose ρ depends on signs of r alone
    curvature: float = 1.0  # H = curvature · ΦᵀWΦ + P takes the place of the Hessian
    scale: Callable[[Array], Array] | None = None  # σ (..., 1), if ρ is a function of r/σ

    def rounding(self, r: Array, e: Array) -> Array:
        """Return the rounding of ρ(r), given that e (N,) of the residuals r (N, n)."""
        return e if self.scale is None else np.asarray(2 * e / self.scale(r)[..., 0])

    def mean(self, g: Array) -> Array:
        """Return the fitted value where the linear part is g; it increases in g."""
        return np.tanh(g / 2) if self.labels else g

    def linear(self, f: Array) -> Array:
        """Return the linear part; log-odds beyond what a label allows are cut off there."""
        return np.asarray(2 * np.arctanh(np.clip(f, RARE - 1, 1 - RARE))) if self.labels else f


SQUARES = Loss(np.positive)
"""r² / 2."""

LOGISTIC = Loss(
    partial(np.multiply, 0.5), slopes=(0.5,), polynomial=False, labels=True, curvature=0.25
)
"""log(1 + exp(-y g)), y = ±1, with the mean f = tanh(g/2) and (1 - f²)/4 <= 1/4 (theory 8)."""


def huber(delta: float) -> Loss:
    """Return ``r²/2`` within ±δ, linear beyond (docs/theory.md 7)."""
    return Loss(partial(np.clip, a_min=-delta, a_max=delta), (-delta, delta), (0.0, 1.0, 0.0))


def insensitive(epsilon: float) -> Loss:
    """Return ``|r|`` beyond ε, whose derivative jumps at ±ε (LinearSVR)."""
    knots = (-epsilon, epsilon) if epsilon else (0.0,)
    jumps, slopes = (2.0 / len(knots),) * len(knots), (0.0,) * (len(knots) + 1)
    return Loss(partial(_outside, epsilon=epsilon), knots, slopes, jumps)


def _outside(r: Array, epsilon: float) -> Array:
    size = np.abs(r)
    return np.asarray(np.sign(r) * ((size > epsilon) + (size == epsilon) / 2))


def squared_insensitive(epsilon: float) -> Loss:
    """Return half the square of what ``|r|`` exceeds ε by."""
    return Loss(partial(_excess, epsilon=epsilon), (-epsilon, epsilon), (1.0, 0.0, 1.0))


def _excess(r: Array, epsilon: float) -> Array:
    return np.asarray(r - np.clip(r, -epsilon, epsilon))


def pinball(tau: float) -> Loss:
    """Return r (τ - 1{r < 0}), whose minimum is a regression quantile (docs/theory.md 13)."""
    rho = partial(_above, tau=tau)
    return Loss(rho, (0.0,), (0.0, 0.0), (1.0,), odd=False, quantile=tau)


def _above(r: Array, tau: float) -> Array:
    return np.asarray(tau - (r < 0))


def scaled_huber(epsilon: float) -> Loss:
    """Return HuberRegressor's loss of r/σ, with Σ min(r²/σ², ε²) = n (docs/theory.md 7)."""
    rho, scale = (partial(one, epsilon=epsilon) for one in (_scaled_and_cut, _scale))
    return Loss(rho, polynomial=False, odd=False, scale=scale)


def _scaled_and_cut(r: Array, epsilon: float) -> Array:
    return np.clip(r / _scale(r, epsilon), -epsilon, epsilon)


def _scale(r: Array, epsilon: float) -> Array:
    """Return σ (..., 1): with k residuals inside, σ² = (their squares) / (n - ε²(n - k))."""
    square, n = np.sort(r**2, axis=-1), r.shape[-1]
    share = n - epsilon**2 * np.arange(n - 1, -1, -1)
    beyond = np.concatenate([square[..., 1:], np.full((*r.shape[:-1], 1), np.inf)], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.cumsum(square, axis=-1) / share
    edge = epsilon**2 * variance
    fits = (share > 0) & (variance > 0) & (square <= edge) & (beyond >= edge)
    if not fits.any(axis=-1).all():
        raise ValueError(
            "the candidate passes through too many points for HuberRegressor's scale to exist: "
            f"expected nonzero residuals in a share of more than {epsilon ** (-2):.3g} of the rows "
            "(1/epsilon²), given a candidate with a share of "
            f"{float((r != 0).mean(axis=-1).min()):.3g}. Raise epsilon, or use ua.KernelHuber with "
            "its fixed threshold."
        )
    first = np.argmax(fits, axis=-1)[..., None]
    return np.asarray(np.sqrt(np.take_along_axis(variance, first, axis=-1)))

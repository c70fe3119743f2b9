"""Losses: the derivative ρ as a function of the residuals, and where it is not smooth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from unassuming._typing import Array
from unassuming.noise.labels import RARE


class Loss(ABC):
    """A sum over the rows whose derivative in the fitted values is -ρ(r), elementwise.

    Attributes
    ----------
    knots : tuple of float
        Residuals at which ρ changes its slope or jumps, increasing.
    slopes : tuple of float
        The slopes of ρ between them.
    jumps : tuple of float
        By how much ρ jumps at the knots: residuals there may have any value in between. Empty if ρ
        is continuous.
    polynomial : bool
        Whether ρ is affine between knots, so that along lines Z_i - Z_0 has pieces of degree 2.
    odd : bool
        Whether ρ(-r) = -ρ(r), elementwise.
    labels : bool
        Whether the outputs have to be labels ±1.
    quantile : float or None
        The quantile that the loss estimates; ρ then depends on signs of residuals alone.
    curvature : float
        H = curvature · ΦᵀWΦ + P takes the place of the Hessian.
    """

    knots: tuple[float, ...] = ()
    slopes: tuple[float, ...] = (1.0,)
    jumps: tuple[float, ...] = ()
    polynomial: ClassVar[bool] = True
    odd: ClassVar[bool] = True
    labels: ClassVar[bool] = False
    curvature: ClassVar[float] = 1.0

    @property
    def quantile(self) -> float | None:
        """τ of a quantile."""
        return None

    @abstractmethod
    def rho(self, r: Array) -> Array:
        """Return ρ of residuals (..., n)."""

    def rounding(self, r: Array, e: Array) -> Array:
        """Return the rounding of ρ(r), given that e (N,) of the residuals r (N, n)."""
        return e

    def mean(self, g: Array) -> Array:
        """Return the fitted value where the linear part is g; it increases in g."""
        return g

    def linear(self, f: Array) -> Array:
        """Return the linear part of fitted values f."""
        return f


@final
class Squares(Loss):
    """r² / 2."""

    def rho(self, r: Array) -> Array:
        """Return r."""
        return r


@final
@dataclass(frozen=True)
class Huber(Loss):
    """``r²/2`` within ±δ, linear beyond (docs/theory.md 7)."""

    delta: float
    slopes = (0.0, 1.0, 0.0)

    @property
    def knots(self) -> tuple[float, ...]:  # type: ignore[override]
        """±δ."""
        return (-self.delta, self.delta)

    def rho(self, r: Array) -> Array:
        """Return clip(r, ±δ)."""
        return np.clip(r, -self.delta, self.delta)


@final
@dataclass(frozen=True)
class ScaledHuber(Loss):
    """scikit-learn's HuberRegressor: Huber's loss of r/σ, with a scale that r determines.

    σ² is the root of Σ min(r_j²/σ², ε²) = n, for every residual vector (docs/theory.md 7).
    """

    epsilon: float
    polynomial = False
    odd = False

    def rho(self, r: Array) -> Array:
        """Return clip(r/σ, ±ε)."""
        return np.clip(r / self.scale(r), -self.epsilon, self.epsilon)

    def rounding(self, r: Array, e: Array) -> Array:
        """Return the error of r/σ, that of σ included."""
        return np.asarray(2 * e / self.scale(r)[..., 0])

    def scale(self, r: Array) -> Array:
        """Return σ (..., 1): with k residuals inside, σ² = (their squares) / (n - ε²(n - k))."""
        square, n = np.sort(r**2, axis=-1), r.shape[-1]
        share = n - self.epsilon**2 * np.arange(n - 1, -1, -1)
        beyond = np.concatenate([square[..., 1:], np.full((*r.shape[:-1], 1), np.inf)], axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.cumsum(square, axis=-1) / share
        edge = self.epsilon**2 * variance
        fits = (share > 0) & (variance > 0) & (square <= edge) & (beyond >= edge)
        if not fits.any(axis=-1).all():
            raise ValueError(
                "the candidate passes through too many points for HuberRegressor's scale to "
                "exist: expected nonzero residuals in a share of more than "
                f"{self.epsilon ** (-2):.3g} of the rows (1/epsilon²), given a candidate with a "
                f"share of {float((r != 0).mean(axis=-1).min()):.3g}. Raise epsilon, or use "
                "ua.KernelHuber with its fixed threshold."
            )
        first = np.argmax(fits, axis=-1)[..., None]
        return np.asarray(np.sqrt(np.take_along_axis(variance, first, axis=-1)))


@final
@dataclass(frozen=True)
class Insensitive(Loss):
    """``|r|`` beyond ε, whose derivative jumps at ±ε (LinearSVR)."""

    epsilon: float

    @property
    def knots(self) -> tuple[float, ...]:  # type: ignore[override]
        """±ε, or 0."""
        return (-self.epsilon, self.epsilon) if self.epsilon else (0.0,)

    @property
    def slopes(self) -> tuple[float, ...]:  # type: ignore[override]
        """Zero everywhere."""
        return (0.0,) * (len(self.knots) + 1)

    @property
    def jumps(self) -> tuple[float, ...]:  # type: ignore[override]
        """2 in all."""
        return (2.0 / len(self.knots),) * len(self.knots)

    def rho(self, r: Array) -> Array:
        """Return sign(r) outside the tube, 0 inside and half of it at its sides."""
        size = np.abs(r)
        return np.asarray(np.sign(r) * ((size > self.epsilon) + (size == self.epsilon) / 2))


@final
@dataclass(frozen=True)
class SquaredInsensitive(Loss):
    """The square of what ``|r|`` exceeds ε by, halved."""

    epsilon: float
    slopes = (1.0, 0.0, 1.0)

    @property
    def knots(self) -> tuple[float, ...]:  # type: ignore[override]
        """±ε."""
        return (-self.epsilon, self.epsilon)

    def rho(self, r: Array) -> Array:
        """Return the distance from the tube, with its sign."""
        return np.asarray(r - np.clip(r, -self.epsilon, self.epsilon))


@final
@dataclass(frozen=True)
class Pinball(Loss):
    """r (τ - 1{r < 0}), whose minimum is a regression quantile (docs/theory.md 13)."""

    tau: float
    knots = (0.0,)
    slopes = (0.0, 0.0)
    jumps = (1.0,)
    odd = False

    @property
    def quantile(self) -> float:
        """τ."""
        return self.tau

    def rho(self, r: Array) -> Array:
        """Return τ - 1{r < 0}."""
        return np.asarray(self.tau - (r < 0))


@final
class Logistic(Loss):
    """log(1 + exp(-y g)) of labels ±1, whose mean is f = tanh(g/2) (docs/theory.md 8).

    The second derivative (1 - f²)/4 is at most 1/4, which takes its place in H.
    """

    slopes = (0.5,)
    polynomial = False
    labels = True
    curvature = 0.25

    def rho(self, r: Array) -> Array:
        """Return half the residual y - f."""
        return r / 2

    def mean(self, g: Array) -> Array:
        """Return tanh(g/2)."""
        return np.tanh(g / 2)

    def linear(self, f: Array) -> Array:
        """Return log-odds 2 artanh f; those beyond what a label allows are cut off there."""
        return np.asarray(2 * np.arctanh(np.clip(f, RARE - 1, 1 - RARE)))

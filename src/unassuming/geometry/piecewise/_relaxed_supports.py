"""Linear functionals over a quadratic inequality and a ball: honest, not always tight (7.2).

The inequality xᵀA x - 2bᵀx <= c may be indefinite. With a multiplier θ > 0 that makes N + θA
positive definite, it and the ball xᵀN x + s² <= B² imply

    xᵀN x + s² + θ (xᵀA x - 2bᵀx - c) <= B²,

an ellipsoid. Its support function bounds gᵀx + p s for every such θ, so the least value that was
tried is a bound. It is quasi-convex in θ. Unlike for convex sets (`SetsAndBall`) the least bound
over all θ need not be attained.

N is a diagonal of ones and zeros. Where it is zero A has to be positive definite, and eliminating
those coordinates leaves I + θS with the Schur complement S of A: one eigendecomposition makes all
θ diagonal. With N = 0 and B = 0 there is no ball, and the set itself has to be an ellipsoid.

Rounding: 1 + θσ is small near the last θ, and what is divided by it carries the error of its terms
that many times. Each value is enlarged by what that can amount to, so that it bounds by itself: the
least of many would otherwise be the one with the luckiest error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry._minimise import least_value

_LOG_GRID = np.linspace(-30.0, 60.0, 61)
_STEPS = 20
_NUMBERS = 2**17  # of a working array


def relaxed_supports(
    A: Array, b: Array, c: Array, N: Array, g: Array, p: Array, bound: float
) -> tuple[Array, Array]:
    """Return upper bounds of max gᵀx + p s and of max -gᵀx + p s, (N, s) each.

    The ball alone is not considered. Minus infinity if the two surely do not meet.

    Parameters
    ----------
    A, b, c : arrays of shape (s, k, k), (s, k) and (s,)
        Taken as exact: rounding errors of their own are for the caller to allow for.
    N : array of shape (k,)
        The diagonal of the norm: ones, and zeros for what the ball does not see.
    g, p : arrays of shape (N, k) and (N,)
    bound : float
        B.
    """
    up, down = np.empty((2, len(g), len(c)))
    step = max(1, _NUMBERS // max(1, g.size))
    for start in range(0, len(c), step):
        which = slice(start, start + step)
        some = _Combined.build(A[which], b[which], c[which], N, g, p, bound)
        up[:, which], down[:, which] = some.least(1.0).T, some.least(-1.0).T
    return up, down


@dataclass(frozen=True, eq=False)
class _Combined:
    """The combined ellipsoids of s sets and N functionals, diagonal for every θ.

    In coordinates in which N + θA = diag(1 + θσ), and θA_zz apart for what the ball does not see.
    """

    sigma: Array  # (s, k)
    b: Array  # (s, k)
    h: Array  # (s, N, k): the functionals
    c: Array  # (s,)
    p: Array  # (N,)
    b_apart: Array  # (s,): b_zᵀA_zz⁻¹b_z, z what the ball does not see
    mixed: Array  # (s, N): b_zᵀA_zz⁻¹g_z
    h_apart: Array  # (s, N): g_zᵀA_zz⁻¹g_z
    condition: Array  # (s,): that of A_zz
    z: int
    useless: BoolArray  # (s,): no θ makes the sum definite
    bound: float

    @classmethod
    def build(
        cls, A: Array, b: Array, c: Array, N: Array, g: Array, p: Array, bound: float
    ) -> _Combined:
        seen, z = np.flatnonzero(N), np.flatnonzero(N == 0)
        white, condition, useless = _inverse_root(A[:, z][:, :, z])  # W with A_zz⁻¹ = WWᵀ
        useless = np.asarray(useless | ~A.any(axis=(1, 2)))
        across = np.swapaxes(white, 1, 2) @ A[:, z][:, :, seen]
        b_z = (b[:, None, z] @ white)[:, 0, :]
        g_z = g[:, z] @ white  # (s, N, z)
        A_seen, taken = A[:, seen][:, :, seen], np.swapaxes(across, 1, 2) @ across
        S = A_seen - taken
        S = np.where(useless[:, None, None], 0.0, (S + np.swapaxes(S, 1, 2)) / 2)
        sigma, turn = np.linalg.eigh(S)
        terms = np.linalg.norm(A_seen, axis=(1, 2)) + condition * np.linalg.norm(taken, axis=(1, 2))
        return cls(
            sigma=_lowered(sigma, np.where(useless, 0.0, terms)),
            b=((b[:, None, seen] - b_z[:, None, :] @ across) @ turn)[:, 0, :],
            h=(g[:, seen] - g_z @ across) @ turn,
            c=c,
            p=p,
            b_apart=(b_z**2).sum(axis=1),
            mixed=(g_z @ b_z[:, :, None])[:, :, 0],
            h_apart=(g_z**2).sum(axis=2),
            condition=condition,
            z=len(z),
            useless=useless,
            bound=bound,
        )

    def least(self, sign: float) -> Array:
        """Return the least bound of ±gᵀx + p s over θ, (s, N): a grid, then golden sections."""
        least = least_value(
            lambda t: self._value(self._theta(t), sign), np.zeros((1, 1)), _LOG_GRID, _STEPS
        )
        # A set that does not meet the ball meets it for no functional.
        least = np.where(np.isneginf(least).any(axis=1, keepdims=True), -np.inf, least)
        return np.where(self.useless[:, None], np.inf, least)

    def _theta(self, t: Array) -> Array:
        """Return the multipliers of t, from 0 to the end of those with 1 + θσ > 0, (s, ·)."""
        least = self.sigma.min(axis=1, initial=np.inf)
        with np.errstate(divide="ignore"):
            end = np.where(least < 0, -1 / least, np.inf)
        size = np.abs(self.sigma).max(axis=1, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        square = self.bound**2
        own = np.abs(self.c) + (self.b**2).sum(axis=1) / size
        unit = np.clip(square / np.where(own > 0, own, 1.0), 1e-12 / size, 1e12 / size)
        unit = np.minimum(unit, end)[:, None]
        grown = unit * np.exp(t)
        return np.asarray(grown / (1 + grown / end[:, None]) * (1 - 1e-12))

    def _value(self, theta: Array, sign: float) -> Array:
        """Return the support of the combined ellipsoid, (s, N), for θ (s, N) or (s, 1)."""
        over = 1 / (1 + theta[..., None] * self.sigma[:, None, :])
        scaled = self.b[:, None, :] * over
        shift = theta**2 * (scaled * self.b[:, None, :]).sum(axis=-1)
        shift = shift + theta * self.b_apart[:, None]
        size = self.bound**2 + theta * self.c[:, None] + shift
        if theta.shape[1] == 1:  # one θ for all functionals: matrix products
            centre = (self.h @ scaled[:, 0, :, None])[..., 0]
            spread = (self.h**2 @ over[:, 0, :, None])[..., 0]
        else:
            centre = np.einsum("snk,snk->sn", self.h, scaled)
            spread = np.einsum("snk,snk,snk->sn", self.h, self.h, over)
        centre = theta * centre + self.mixed
        spread = spread + self.p**2 + self.h_apart / theta
        terms = self.bound**2 + np.abs(theta * self.c[:, None]) + shift
        unit = self._rounding(theta, over)
        radius = np.sqrt((np.maximum(size, 0.0) + unit * terms) * spread * (1 + unit))
        # The centre is the product of two vectors whose lengths have the squares spread and shift.
        value = sign * centre + radius + unit * np.sqrt(spread * shift)
        # A size below zero, beyond rounding, certifies that the two do not meet.
        return np.where(size < -(1e-9 + unit) * terms, -np.inf, value)

    def _rounding(self, theta: Array, over: Array) -> Array:
        """Bound the relative errors of sums with 1/(1 + θσ), (s, ·): of size, spread and centre."""
        k = self.sigma.shape[1] + self.z
        largest = 1 + theta * np.abs(self.sigma).max(axis=1, initial=0.0)[:, None]
        worst = largest * over.max(axis=-1, initial=0.0) + self.condition[:, None]
        return np.asarray(8 * EPS * (4 + k) * (1 + worst))


def _inverse_root(A: Array) -> tuple[Array, Array, BoolArray]:
    """Return W with A⁻¹ = WWᵀ, its condition, and where A is not positive definite.

    Of shapes (s, z, z), (s,) and (s,).
    """
    diagonal = np.diagonal(A, axis1=1, axis2=2)
    flat = diagonal <= 0
    unit = 1 / np.sqrt(np.where(flat, 1.0, diagonal))  # coordinates of comparable size
    values, turn = np.linalg.eigh(unit[:, :, None] * A * unit[:, None, :])
    values = _lowered(values, np.abs(values).max(axis=1, initial=0.0))
    bad = np.asarray(flat.any(axis=1) | (values <= 0).any(axis=1))
    values = np.where(bad[:, None], 1.0, values)
    condition = values.max(axis=1, initial=0.0) / values.min(axis=1, initial=np.inf)
    return np.asarray(unit[:, :, None] * turn / np.sqrt(values)[:, None, :]), condition, bad


def _lowered(values: Array, size: Array) -> Array:
    """Lower eigenvalues (s, k) by their rounding errors: that loosens a bound, never breaks it.

    ``size`` (s,) is that of what the matrix was computed from.
    """
    return np.asarray(values - 8 * EPS * values.shape[1] * size[:, None])

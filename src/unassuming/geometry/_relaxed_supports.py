"""Linear functionals over a quadratic inequality and a ball: valid bounds, not always tight (7.2).

The inequality xᵀA x - 2bᵀx <= c may be indefinite. With a multiplier θ > 0 that makes N + θA
positive definite, it and the ball xᵀN x + s² <= B² imply

    xᵀN x + s² + θ (xᵀA x - 2bᵀx - c) <= B²,

an ellipsoid. Its support function bounds gᵀx + p s for every such θ, and it is quasi-convex in θ.
If both are convex, the least bound over all θ is the maximum. Otherwise it need not be attained.

N is a diagonal of ones and zeros. Where it is zero A has to be positive definite, and eliminating
those coordinates leaves I + θS with the Schur complement S of A: one eigendecomposition makes all
θ diagonal. A coordinate of this kind that the inequality does not contain at all is unbounded, and
drops out for functionals that do not contain it either. With N = 0 and B = 0 there is no ball, and
the set itself has to be an ellipsoid.

Rounding: near the last θ, 1 + θσ is small, and dividing by it magnifies the rounding errors of the
numerator. Each value is enlarged by a bound of this error, so that it is a valid bound by itself.
Otherwise the least of many values would be the one with the most favourable error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry._duality import centre_and_spread, least_value, scaled_eigh
from unassuming.objectives import BallCoordinates

_LOG_GRID = np.linspace(-30.0, 60.0, 31)
_STEPS = 22
_BATCH_BYTES = 2**18


def relaxed_supports(A: Array, b: Array, c: Array, ball: BallCoordinates) -> tuple[Array, Array]:
    """Return upper bounds of max gᵀx + p s and of max -gᵀx + p s, (N, s) each.

    A (s, k, k), b (s, k) and c (s,) are taken as exact: the caller allows for their rounding. The
    bound of the ball alone is not considered. Minus infinity if the two surely do not meet.
    """
    up, down = np.empty((2, len(ball.functionals), len(c)))
    for which in slices(len(c), rows_that_fit(_BATCH_BYTES, ball.functionals.size)):
        some = _Combined.build(A[which], b[which], c[which], ball)
        up[:, which], down[:, which] = some.least()
    return up, down


@final
@dataclass(frozen=True, eq=False)
class _Combined:
    """The combined ellipsoids of s sets and N functionals, for every θ.

    N + θA = diag(1 + θσ), and θA_zz in the coordinates z that the ball does not bound.
    """

    ball: BallCoordinates
    sigma: Array  # (s, k)
    b: Array  # (s, k)
    h: Array  # (s, N, k): the functionals
    c: Array  # (s,)
    b_apart: Array  # (s,): b_zᵀA_zz⁻¹b_z
    mixed: Array  # (s, N): b_zᵀA_zz⁻¹g_z
    h_apart: Array  # (s, N): g_zᵀA_zz⁻¹g_z
    condition: Array  # (s,): that of A_zz
    useless: BoolArray  # (s,): no θ makes the sum definite
    open: BoolArray  # (s, N): the functional contains a coordinate that nothing bounds

    @classmethod
    def build(cls, A: Array, b: Array, c: Array, ball: BallCoordinates) -> _Combined:
        g, diagonal = ball.functionals, np.diagonal(ball.N)
        seen, z = np.flatnonzero(diagonal), np.flatnonzero(diagonal == 0)
        absent = ~A[:, z].any(axis=2) & (b[:, z] == 0)  # (s, z)
        inner = A[:, z][:, :, z]
        inner[:, np.arange(len(z)), np.arange(len(z))] += absent
        white, condition, useless = _inverse_root(inner)  # W with A_zz⁻¹ = WWᵀ
        white = np.where(absent[:, :, None], 0.0, white)
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
            ball=ball,
            sigma=_lowered(sigma, np.where(useless, 0.0, terms)),
            b=((b[:, None, seen] - b_z[:, None, :] @ across) @ turn)[:, 0, :],
            h=(g[:, seen] - g_z @ across) @ turn,
            c=c,
            b_apart=(b_z**2).sum(axis=1),
            mixed=(g_z @ b_z[:, :, None])[:, :, 0],
            h_apart=(g_z**2).sum(axis=2),
            condition=condition,
            useless=useless,
            open=(absent[:, None, :] & (g[:, z] != 0)).any(axis=2),
        )

    def least(self) -> Array:
        """Return the least bounds of gᵀx + p s and -gᵀx + p s over θ, (2, N, s)."""
        least = least_value(
            lambda t: self._value(self._theta(t)), np.zeros((1, 1)), _LOG_GRID, _STEPS
        )
        # That a set does not meet the ball holds for all functionals.
        least = np.where(np.isneginf(least).any(axis=1, keepdims=True), -np.inf, least)
        open_ended = np.tile(self.open, 2) & (least > -np.inf)
        least = np.where(self.useless[:, None] | open_ended, np.inf, least)
        return np.moveaxis(least.reshape(len(least), 2, -1), 0, 2)

    def _theta(self, t: Array) -> Array:
        """Map t to the multipliers with 1 + θσ > 0, (s, ·), increasingly."""
        least = self.sigma.min(axis=1, initial=np.inf)
        with np.errstate(divide="ignore"):
            end = np.where(least < 0, -1 / least, np.inf)
        size = np.abs(self.sigma).max(axis=1, initial=0.0)
        size = np.where(size > 0, size, 1.0)
        own = np.abs(self.c) + (self.b**2).sum(axis=1) / size
        unit = self.ball.bound**2 / np.where(own > 0, own, 1.0)
        unit = np.minimum(np.clip(unit, 1e-12 / size, 1e12 / size), end)[:, None]
        grown = unit * np.exp(t)
        return np.asarray(grown / (1 + grown / end[:, None]) * (1 - 1e-12))

    def _value(self, theta: Array) -> Array:
        """Return the supports of the combined ellipsoid, first of gᵀx + p s, then of -gᵀx + p s.

        They are of shape (s, 2N), for θ (s, 2N) or (s, 1).
        """
        square = self.ball.bound**2
        over = 1 / (1 + theta[..., None] * self.sigma[:, None, :])
        scaled = self.b[:, None, :] * over
        shift = theta**2 * (scaled * self.b[:, None, :]).sum(axis=-1)
        shift = shift + theta * self.b_apart[:, None]
        size = square + theta * self.c[:, None] + shift
        common = theta.shape[1] == 1
        h, own, mixed, apart = self._once if common else self._twice
        centre, spread = centre_and_spread(h, scaled, over)
        centre = theta * centre + mixed
        spread = spread + own + apart / theta
        terms = square + np.abs(theta * self.c[:, None]) + shift
        unit = self._rounding(theta, over)
        radius = np.sqrt((np.maximum(size, 0.0) + unit * terms) * spread * (1 + unit))
        # The centre is the product of two vectors whose lengths have the squares spread and shift.
        radius = radius + unit * np.sqrt(spread * shift)
        value = radius + centre
        if common:
            value = np.concatenate([value, radius - centre], axis=1)
        value = np.where(np.isnan(value), np.inf, value)  # an overflow leaves no bound
        # A size below zero, beyond rounding, certifies that the two do not meet.
        return np.where(size < -(1e-9 + unit) * terms, -np.inf, value)

    @property
    def _once(self) -> tuple[Array, Array, Array, Array]:
        """The functionals, the squares of p, and their parts in the coordinates z."""
        return self.h, self.ball.beyond**2, self.mixed, self.h_apart

    @cached_property
    def _twice(self) -> tuple[Array, Array, Array, Array]:
        """The same for the functionals and their negatives."""
        h, own, mixed, apart = self._once
        both = np.concatenate([h, -h], axis=1), np.tile(own, 2)
        return *both, np.concatenate([mixed, -mixed], axis=1), np.tile(apart, 2)

    def _rounding(self, theta: Array, over: Array) -> Array:
        """Bound the relative errors of sums with 1/(1 + θσ), (s, ·): of size, spread and centre.

        1 + θσ cancels for σ < 0. The other errors are those of b and h, relative to their lengths,
        while they enter through vectors that are scaled by the roots of 1/(1 + θσ).
        """
        largest = 1 + theta * np.abs(self.sigma).max(axis=1, initial=0.0)[:, None]
        most = over.max(axis=-1, initial=0.0)
        worst = most + np.sqrt(largest * most) + self.condition[:, None]
        return np.asarray(8 * EPS * (4 + len(self.ball.N)) * (1 + worst))


def _inverse_root(A: Array) -> tuple[Array, Array, BoolArray]:
    """Return W (s, z, z) with A⁻¹ = WWᵀ, its condition, and where A is not positive definite."""
    unit, values, turn = scaled_eigh(A)
    values = _lowered(values, np.abs(values).max(axis=1, initial=0.0))
    flat = np.diagonal(A, axis1=1, axis2=2) <= 0
    bad = np.asarray((flat | (values <= 0)).any(axis=1))
    values = np.where(bad[:, None], 1.0, values)
    condition = values.max(axis=1, initial=0.0) / values.min(axis=1, initial=np.inf)
    return np.asarray(unit[:, :, None] * turn / np.sqrt(values)[:, None, :]), condition, bad


def _lowered(values: Array, size: Array) -> Array:
    """Lower eigenvalues by their errors, given the size of the terms: that only loosens a bound."""
    return np.asarray(values - 8 * EPS * values.shape[1] * size[:, None])

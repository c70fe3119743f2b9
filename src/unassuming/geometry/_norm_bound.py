"""Linear functionals over a set and a ball at once: a certified bound (docs/theory.md 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from unassuming._typing import Array
from unassuming.geometry._sets import FREE, SEEN

_GRID = np.exp(np.linspace(np.log(1e-12), np.log(1e12), 33))
_GOLDEN = (np.sqrt(5) - 1) / 2
_STEPS = 32
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class SetAndBall:
    """E = {xᵀA x - 2bᵀx <= c} and the ball {(x + x̂)ᵀN(x + x̂) + s² <= B²}, jointly diagonal.

    The extra coordinate s is a direction that E does not see at all. With a multiplier θ >= 0 the
    two constraints imply

        (x + x̂)ᵀN(x + x̂) + s² + θ (xᵀA x - 2bᵀx - c) <= B²,

    an ellipsoid whose support function is closed form. So every θ gives a valid upper bound of
    gᵀx + p s, and the least of them is the exact maximum (two convex constraints: no duality gap).
    """

    alpha: Array  # A = diag(alpha), N = diag(nu) in the joint coordinates
    nu: Array
    b: Array
    origin: Array  # N x̂
    c: float
    origin_norm: float  # x̂ᵀN x̂
    to_joint: Array  # (k, r): g -> gᵀ to_joint
    null: Array  # (k, *): directions that neither constraint sees

    @classmethod
    def build(cls, A: Array, b: Array, c: float, N: Array, x_hat: Array) -> SetAndBall:
        """Diagonalise A and N together, on the complement of their common null space."""
        share = max(float(np.trace(A)), _TINY) / max(float(np.trace(N)), _TINY)
        t, turn = eigh(A + share * N)
        keep = t > FREE * t[-1]
        root = turn[:, keep] / np.sqrt(t[keep])
        nu, inner = eigh(root.T @ (share * N) @ root)
        nu = np.clip(nu, 0.0, 1.0)
        joint = root @ inner
        return cls(
            alpha=1.0 - nu,
            nu=nu / share,
            b=joint.T @ b,
            origin=joint.T @ (N @ x_hat),
            c=c,
            origin_norm=float(x_hat @ N @ x_hat),
            to_joint=joint,
            null=turn[:, ~keep],
        )

    def supports(self, g: Array, p: Array, bound: float) -> Array:
        """Return an upper bound of max gᵀx + p s, shape (N,), for g (N, k) and p (N,)."""
        seen = np.abs(g @ self.null).max(axis=1, initial=0.0) > SEEN * np.linalg.norm(g, axis=1)
        h = g @ self.to_joint
        scale = float(self.nu.max()) / max(float(self.alpha.max(initial=0.0)), _TINY)
        grid = _GRID * scale
        values = np.stack([self._value(np.full(len(h), theta), h, p, bound) for theta in grid])
        best, least = values.argmin(axis=0), values.min(axis=0)
        # The bound is quasi-convex in θ: golden section between the neighbours of the best.
        low = np.log(grid[np.maximum(best - 1, 0)])
        high = np.log(grid[np.minimum(best + 1, len(grid) - 1)])
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = (self._value(np.exp(t), h, p, bound) for t in (left, right))
        for _ in range(_STEPS):
            go_left = at_left < at_right
            low, high = np.where(go_left, low, left), np.where(go_left, right, high)
            fresh = np.where(go_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
            at_fresh = self._value(np.exp(fresh), h, p, bound)
            least = np.minimum(least, at_fresh)
            left, right = np.where(go_left, fresh, right), np.where(go_left, left, fresh)
            at_left, at_right = (
                np.where(go_left, at_fresh, at_right),
                np.where(go_left, at_left, at_fresh),
            )
        return np.where(seen, np.inf, least)

    def _value(self, theta: Array, h: Array, p: Array, bound: float) -> Array:
        """Return the support function of the combined ellipsoid, one θ for each functional."""
        t = theta[:, None]
        M = self.nu + t * self.alpha
        linear = t * self.b - self.origin  # the ellipsoid is xᵀMx - 2 linearᵀx <= rhs
        rhs = bound**2 - self.origin_norm + theta * self.c
        centre = (h * linear / M).sum(axis=1)
        size = rhs + (linear**2 / M).sum(axis=1)
        spread = (h**2 / M).sum(axis=1) + p**2
        # A size below zero, beyond rounding, certifies that the two sets do not meet.
        terms = bound**2 + self.origin_norm + np.abs(theta * self.c) + (linear**2 / M).sum(axis=1)
        value = centre + np.sqrt(spread * np.maximum(size, 0.0))
        return np.where(size < -1e-9 * terms, -np.inf, value)

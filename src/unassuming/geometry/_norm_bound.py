"""Linear functionals over a set and a ball at once: a certified bound (docs/theory.md 4.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    unit: Array  # (k,): the scale of each coordinate

    @classmethod
    def build(cls, A: Array, b: Array, c: float, N: Array, x_hat: Array) -> SetAndBall:
        """Diagonalise A and N together, on the complement of their common null space."""
        share = max(float(np.trace(A)), _TINY) / max(float(np.trace(N)), _TINY)
        T = A + share * N
        diagonal = np.sqrt(np.maximum(np.diag(T), 0.0))
        unit = 1.0 / np.where(diagonal > 0, diagonal, 1.0)  # coordinates of comparable size
        t, turn = eigh(unit[:, None] * T * unit)
        keep = t > FREE * t[-1]
        root = unit[:, None] * turn[:, keep] / np.sqrt(t[keep])
        nu, inner = eigh(root.T @ (share * N) @ root)
        nu = np.clip(nu, 0.0, 1.0)
        joint = root @ inner
        # What rounding cannot tell from zero is zero: that loosens a constraint, never tightens it.
        return cls(
            alpha=np.where(nu > 1 - FREE, 0.0, 1 - nu),
            nu=np.where(nu < FREE, 0.0, nu) / share,
            b=joint.T @ b,
            origin=joint.T @ (N @ x_hat),
            c=c,
            origin_norm=float(x_hat @ N @ x_hat),
            to_joint=joint,
            null=unit[:, None] * turn[:, ~keep],
            unit=unit,
        )

    def supports(self, g: Array, p: Array, bound: float) -> Array:
        """Return an upper bound of max gᵀx + p s, shape (N,), for g (N, k) and p (N,)."""
        size = np.linalg.norm(g * self.unit, axis=1)
        seen = np.linalg.norm(g @ self.null, axis=1) > SEEN * size
        h, part = g @ self.to_joint, self._loosened(bound)
        grid = _GRID * part.balance(bound)
        values = np.stack([part._value(np.full(len(h), theta), h, p, bound) for theta in grid])
        best, least = values.argmin(axis=0), values.min(axis=0)
        # The bound is quasi-convex in θ: golden section between the neighbours of the best.
        low = np.log(grid[np.maximum(best - 1, 0)])
        high = np.log(grid[np.minimum(best + 1, len(grid) - 1)])
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = (part._value(np.exp(t), h, p, bound) for t in (left, right))
        for _ in range(_STEPS):
            go_left = at_left < at_right
            low, high = np.where(go_left, low, left), np.where(go_left, right, high)
            fresh = np.where(go_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
            at_fresh = part._value(np.exp(fresh), h, p, bound)
            least = np.minimum(least, at_fresh)
            left, right = np.where(go_left, fresh, right), np.where(go_left, left, fresh)
            at_left, at_right = (
                np.where(go_left, at_fresh, at_right),
                np.where(go_left, at_left, at_fresh),
            )
        # The ends θ = 0 and θ = ∞: the ball alone, and the set alone.
        least = np.minimum(least, part._value(np.zeros(len(h)), h, p, bound))
        least = np.minimum(least, part._set_alone(h, p))
        return np.where(seen, np.inf, least)

    def _loosened(self, bound: float) -> SetAndBall:
        """Make up for the linear term where the quadratic one was dropped: |x| <= B/√ν there."""
        flat = (self.alpha == 0) & (self.nu > 0)
        farthest = bound / np.sqrt(np.where(flat, self.nu, 1.0))
        farthest = farthest + np.abs(self.origin) / np.where(flat, self.nu, 1.0)
        slack = 2 * float((np.abs(self.b) * farthest)[flat].sum())
        return replace(self, c=self.c + slack, b=np.where(flat, 0.0, self.b))

    def balance(self, bound: float) -> float:
        """Return the multiplier at which the set and the ball weigh the same."""
        safe = np.where(self.alpha > 0, self.alpha, 1.0)
        own = self.c + float(np.where(self.alpha > 0, self.b**2 / safe, 0.0).sum())
        return bound**2 / max(own, _TINY * max(bound**2, 1.0) * 1e20)

    def _set_alone(self, h: Array, p: Array) -> Array:
        """Return the support function of the set without the ball."""
        safe = np.where(self.alpha > 0, self.alpha, 1.0)
        inside = np.where(self.alpha > 0, h, 0.0)
        centre = (inside * self.b / safe).sum(axis=1)
        rho = max(self.c + float(np.where(self.alpha > 0, self.b**2 / safe, 0.0).sum()), 0.0)
        value = centre + np.sqrt(rho * (inside**2 / safe).sum(axis=1))
        open_ended = (np.abs(np.where(self.alpha > 0, 0.0, h)) > 0).any(axis=1) | (p > 0)
        return np.where(open_ended, np.inf, value)

    def _value(self, theta: Array, h: Array, p: Array, bound: float) -> Array:
        """Return the support function of the combined ellipsoid, one θ for each functional."""
        t = theta[:, None]
        M = self.nu + t * self.alpha
        bare = M <= 0  # a direction that this combination does not end
        M = np.where(bare, 1.0, M)
        linear = np.where(bare, 0.0, t * self.b - self.origin)  # xᵀMx - 2 linearᵀx <= rhs
        inside = np.where(bare, 0.0, h)
        rhs = bound**2 - self.origin_norm + theta * self.c
        centre = (inside * linear / M).sum(axis=1)
        shift = (linear**2 / M).sum(axis=1)
        size = rhs + shift
        spread = (inside**2 / M).sum(axis=1) + p**2
        # A size below zero, beyond rounding, certifies that the two sets do not meet.
        terms = bound**2 + self.origin_norm + np.abs(theta * self.c) + shift
        value = centre + np.sqrt(spread * np.maximum(size, 0.0))
        value = np.where(np.where(bare, np.abs(h), 0.0).any(axis=1), np.inf, value)
        return np.where(size < -1e-9 * terms, -np.inf, value)

"""Linear functionals over many sets and one ball: certified bounds (docs/theory.md 4.4).

Both constraints are convex, so there is no duality gap: the least bound by `geometry._duality` is
the exact maximum. A set and the ball are made diagonal together, and then all θ cost little.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import SEEN
from unassuming._typing import Array
from unassuming.geometry._duality import centre_and_spread, least_value, scaled_eigh
from unassuming.geometry.quadratic._sets import FREE
from unassuming.objectives import BallCoordinates

_GRID = np.linspace(np.log(1e-12), np.log(1e12), 33)
_STEPS = 24
_BATCH_BYTES = 2**18  # of a working array: near the size of a cache


@final
@dataclass(frozen=True, eq=False)
class SetsAndBall:
    """E_i = {xᵀA x - 2bᵀx <= c} and the ball {(x + x̂)ᵀN(x + x̂) + s² <= B²}, jointly diagonal.

    E_i is unbounded in the extra coordinate s. With a multiplier θ >= 0 the two constraints imply

        (x + x̂)ᵀN(x + x̂) + s² + θ (xᵀA x - 2bᵀx - c) <= B²,

    an ellipsoid whose support function bounds gᵀx + p s in closed form. Every array has one
    row for each of the s sets. Each set has its own k joint coordinates, with zero columns of
    `to_joint` for those that neither constraint bounds.
    """

    alpha: Array  # (s, k): A = diag(alpha), N = diag(nu) in the joint coordinates
    nu: Array  # (s, k)
    b: Array  # (s, k)
    origin: Array  # (s, k): N x̂
    c: Array  # (s,)
    origin_norm: Array  # (s,): x̂ᵀN x̂
    to_joint: Array  # (s, k, k): g -> gᵀ to_joint
    null: Array  # (s, k, k): directions that neither constraint bounds, else zero columns
    unit: Array  # (s, k): the scale of each coordinate
    bound: float

    @classmethod
    def build(cls, A: Array, b: Array, c: Array, ball: BallCoordinates) -> SetsAndBall:
        """Diagonalise every A (s, k, k) together with N, outside their common null space."""
        N, x_hat, bound = ball.N, ball.origin, ball.bound
        scale = (ball.F**2).sum(axis=0)  # rounding errors of the diagonal of A are relative to it
        # If A is nothing but rounding, the set is the whole space.
        small = np.abs(A) <= FREE * np.sqrt(np.outer(scale, scale))
        nothing = np.asarray(small.reshape(len(A), -1).all(axis=1))
        # A coordinate whose diagonal entry is nothing but rounding is unbounded.
        flat = np.diagonal(A, axis1=1, axis2=2) <= FREE**2 * scale
        gone = nothing[:, None, None] | flat[:, :, None] | flat[:, None, :]
        A, b = np.where(gone, 0.0, A), np.where(flat | nothing[:, None], 0.0, b)
        c = np.where(nothing, np.abs(c), c)
        share = _share(A, b, c, N, bound, scale)[:, None, None]
        unit, t, turn = scaled_eigh(A + share * N)
        keep = (t > FREE * t[:, -1:])[:, None, :]
        root = np.where(keep, turn / np.sqrt(np.where(keep, t[:, None, :], 1.0)), 0.0)
        root = unit[:, :, None] * root
        # Coordinates that neither bounds get the eigenvalue -1 here, apart from all others.
        inner_N = np.swapaxes(root, 1, 2) @ (share * N) @ root
        rows, columns = np.nonzero(~keep[:, 0, :])
        inner_N[rows, columns, columns] = -1.0
        nu, inner = np.linalg.eigh(inner_N)
        nu = np.clip(nu, 0.0, 1.0)
        joint = root @ inner
        # Numbers that may be rounding alone become zero: that loosens a constraint, never tightens.
        alpha = 1 - nu
        alpha = np.where(alpha <= FREE * np.maximum(1.0, scale @ joint**2), 0.0, alpha)
        squares = np.einsum("k,skl->sl", np.diagonal(N), joint**2)
        nu = np.where(nu <= FREE * np.maximum(1.0, share[:, 0] * squares), 0.0, nu) / share[:, 0]
        flat, linear = alpha == 0, np.einsum("skl,sk->sl", joint, b)
        origin = np.einsum("skl,k->sl", joint, N @ x_hat)
        # Where alpha was dropped the linear term goes too: there |x| <= B/√ν + |x̂|.
        safe = np.where(nu > 0, nu, 1.0)
        farthest = bound / np.sqrt(safe) + np.abs(origin) / safe
        slack = 2 * np.where(flat & (nu > 0), np.abs(linear) * farthest, 0.0).sum(axis=1)
        b, null = np.where(flat, 0.0, linear), unit[:, :, None] * np.where(keep, 0.0, turn)
        norm = np.full(len(c), float(x_hat @ N @ x_hat))
        return cls(alpha, nu, b, origin, c + slack, norm, joint, null, unit, bound)

    def supports(self, g: Array, p: Array) -> Array:
        """Return upper bounds of max gᵀx + p s, shape (N, s), for g (N, k) and p (N,)."""
        parts = slices(len(self.c), rows_that_fit(_BATCH_BYTES, g.size))
        return np.concatenate([self._take(some)._supports(g, p) for some in parts], axis=0).T

    def _take(self, some: slice) -> SetsAndBall:
        names = [field.name for field in fields(self) if field.name != "bound"]
        return SetsAndBall(**{name: getattr(self, name)[some] for name in names}, bound=self.bound)

    def _supports(self, g: Array, p: Array) -> Array:
        """Return these bounds as (s, N): the least value of the dual over θ."""
        size = np.linalg.norm(g * self.unit[:, None, :], axis=-1)
        unbounded = np.linalg.norm(g @ self.null, axis=-1) > SEEN * size
        h = g @ self.to_joint  # (s, N, k)
        centre = self._balance[:, None]
        least = least_value(lambda t: self._value(t, h, p), centre, _GRID, _STEPS)
        return np.where(unbounded, np.inf, np.minimum(least, self._ends(h, p)))

    @property
    def _rho(self) -> Array:
        """The size of each set, c + bᵀA⁺b."""
        own = self.b**2 / np.where(self.alpha > 0, self.alpha, 1.0)
        return np.asarray(self.c + own.sum(axis=1))

    @property
    def _balance(self) -> Array:
        """The logarithm of the multiplier at which a set and the ball weigh the same, (s,)."""
        square = self.bound**2
        return np.log(square / np.maximum(self._rho, 1e-280 * max(square, 1.0)))

    def _ends(self, h: Array, p: Array) -> Array:
        """Return the support functions of the ball alone (θ = 0) and of the set alone (θ = ∞)."""
        ball = self._value(np.full(h.shape[:2], -np.inf), h, p)
        alpha = np.where(self.alpha > 0, self.alpha, 1.0)[:, None, :]
        bare = (self.alpha == 0)[:, None, :]
        inside = np.where(bare, 0.0, h)
        centre = (inside * self.b[:, None, :] / alpha).sum(axis=-1)
        rho = np.maximum(self._rho, 0.0)[:, None]
        value = centre + np.sqrt(rho * (inside**2 / alpha).sum(axis=-1))
        open_ended = (bare & (h != 0)).any(axis=-1) | (p > 0)
        return np.minimum(ball, np.where(open_ended, np.inf, value))

    def _value(self, log_theta: Array, h: Array, p: Array) -> Array:
        """Return the support of the combined ellipsoid, (s, N), for θ (s, N) or (s, 1)."""
        theta = np.exp(log_theta)
        t = theta[..., None]
        M = self.nu[:, None, :] + t * self.alpha[:, None, :]
        bare = M <= 0  # a direction that this combination does not bound
        over = np.where(bare, 0.0, 1.0 / np.where(bare, 1.0, M))
        linear = t * self.b[:, None, :] - self.origin[:, None, :]  # xᵀMx - 2 linearᵀx <= rhs
        weighted = linear * over
        shift = (linear * weighted).sum(axis=-1)
        outer = self.bound**2 - self.origin_norm[:, None]
        size = outer + theta * self.c[:, None] + shift
        centre, spread = centre_and_spread(h, weighted, over)
        # A size below zero, beyond rounding, certifies that the two sets do not meet.
        terms = self.bound**2 + self.origin_norm[:, None] + np.abs(theta * self.c[:, None]) + shift
        value = centre + np.sqrt((spread + p**2) * np.maximum(size, 0.0))
        if bare.any():
            value = np.where((bare & (h != 0)).any(axis=-1), np.inf, value)
        # An overflow leaves no bound.
        value = np.where(np.isnan(value), np.inf, value)
        return np.where(size < -1e-9 * terms, -np.inf, value)


def _share(A: Array, b: Array, c: Array, N: Array, bound: float, scale: Array) -> Array:
    """Return the weight of N beside each A under which rounding costs least, shape (s,).

    Entries of A and N that are dropped should not matter at the best multiplier, which is near
    B²/ρ. But the weight stays within 1e8 of that which makes both of equal size, so that neither
    constraint is lost in the directions that only it bounds.
    """
    diagonal = np.diagonal(A, axis1=1, axis2=2)
    seen = diagonal > 0
    own = b**2 / np.where(seen, diagonal, 1.0)
    rho = c + np.where(seen, own, 0.0).max(axis=1, initial=0.0)
    size, size_N = float(scale.sum()), float(np.trace(N))
    equal = (size if size > 0 else 1.0) / (size_N if size_N > 0 else 1.0)
    return np.asarray(np.clip(rho / bound**2, 1e-8 * equal, 1e8 * equal))

"""Linear functionals over many sets and one ball: certified bounds (docs/theory.md 4.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from unassuming._rounding import SEEN
from unassuming._typing import Array
from unassuming.geometry._minimise import least_value
from unassuming.geometry.quadratic._sets import FREE
from unassuming.objectives import BallCoordinates

_GRID = np.linspace(np.log(1e-12), np.log(1e12), 33)
_STEPS = 24
_NUMBERS = 2**15  # of a working array: near the size of a cache


@dataclass(frozen=True, eq=False)
class SetsAndBall:
    """E_i = {xᵀA x - 2bᵀx <= c} and the ball {(x + x̂)ᵀN(x + x̂) + s² <= B²}, jointly diagonal.

    The extra coordinate s is a direction that E_i does not see at all. With a multiplier θ >= 0 the
    two constraints imply

        (x + x̂)ᵀN(x + x̂) + s² + θ (xᵀA x - 2bᵀx - c) <= B²,

    an ellipsoid whose support function is closed form. So every θ gives a valid upper bound of
    gᵀx + p s, and the least of them is the exact maximum (two convex constraints: no duality gap).

    Every array has one row for each of the s sets; k joint coordinates belong to a set, with zero
    columns of `to_joint` for those that neither constraint sees.
    """

    alpha: Array  # (s, k): A = diag(alpha), N = diag(nu) in the joint coordinates
    nu: Array  # (s, k)
    b: Array  # (s, k)
    origin: Array  # (s, k): N x̂
    c: Array  # (s,)
    origin_norm: Array  # (s,): x̂ᵀN x̂
    to_joint: Array  # (s, k, k): g -> gᵀ to_joint
    null: Array  # (s, k, k): directions that neither constraint sees, else zero columns
    unit: Array  # (s, k): the scale of each coordinate
    bound: float

    @classmethod
    def build(cls, A: Array, b: Array, c: Array, ball: BallCoordinates) -> SetsAndBall:
        """Diagonalise every A (s, k, k) together with N, outside their common null space."""
        N, x_hat, bound = ball.N, ball.origin, ball.bound
        scale = (ball.F**2).sum(axis=0)  # rounding errors of the diagonal of A are relative to it
        # A set of which rounding leaves nothing is the whole space.
        small = np.abs(A) <= FREE * np.sqrt(np.outer(scale, scale))
        nothing = np.asarray(small.reshape(len(A), -1).all(axis=1))
        # So is a coordinate along which it leaves nothing, not even beside another one.
        flat = np.diagonal(A, axis1=1, axis2=2) <= FREE**2 * scale
        gone = nothing[:, None, None] | flat[:, :, None] | flat[:, None, :]
        A, b = np.where(gone, 0.0, A), np.where(flat, 0.0, b)
        b, c = np.where(nothing[:, None], 0.0, b), np.where(nothing, np.abs(c), c)
        share = _share(A, b, c, N, bound, scale)[:, None, None]
        T = A + share * N
        diagonal = np.sqrt(np.maximum(np.diagonal(T, axis1=1, axis2=2), 0.0))
        unit = 1.0 / np.where(diagonal > 0, diagonal, 1.0)  # coordinates of comparable size
        t, turn = np.linalg.eigh(unit[:, :, None] * T * unit[:, None, :])
        keep = (t > FREE * t[:, -1:])[:, None, :]
        root = np.where(keep, turn / np.sqrt(np.where(keep, t[:, None, :], 1.0)), 0.0)
        root = unit[:, :, None] * root
        # Coordinates that neither sees get the value -1 here, apart from all others.
        outside = np.where(keep, 0.0, turn)
        inner_N = np.swapaxes(root, 1, 2) @ (share * N) @ root
        lost = ~keep[:, 0, :]
        rows, columns = np.nonzero(lost)
        inner_N[rows, columns, columns] = -1.0
        nu, inner = np.linalg.eigh(inner_N)
        nu = np.clip(nu, 0.0, 1.0)
        joint = root @ inner
        # What rounding cannot tell from zero is zero: that loosens a constraint, never tightens it.
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
        return cls(
            alpha=alpha,
            nu=nu,
            b=np.where(flat, 0.0, linear),
            origin=origin,
            c=c + slack,
            origin_norm=np.full(len(c), float(x_hat @ N @ x_hat)),
            to_joint=joint,
            null=unit[:, :, None] * outside,
            unit=unit,
            bound=bound,
        )

    def supports(self, g: Array, p: Array) -> Array:
        """Return upper bounds of max gᵀx + p s, shape (N, s), for g (N, k) and p (N,)."""
        return np.concatenate([part._supports(g, p) for part in self._parts(g.size)], axis=0).T

    def _parts(self, numbers: int) -> Iterator[SetsAndBall]:
        """Split the sets into parts that fit a cache."""
        step = max(1, _NUMBERS // max(1, numbers))
        names = [field.name for field in fields(self) if field.name != "bound"]
        for start in range(0, len(self.c), step):
            part = {name: getattr(self, name)[start : start + step] for name in names}
            yield SetsAndBall(**part, bound=self.bound)

    def _supports(self, g: Array, p: Array) -> Array:
        """Return the same as (s, N): the least value of the dual over θ."""
        size = np.linalg.norm(g * self.unit[:, None, :], axis=-1)
        seen = np.linalg.norm(g @ self.null, axis=-1) > SEEN * size
        h = g @ self.to_joint  # (s, N, k)
        centre = self._balance[:, None]
        # Every multiplier gives a bound, and the bound is quasi-convex in θ.
        least = least_value(lambda t: self._value(t, h, p), centre, _GRID, _STEPS)
        least = np.minimum(least, self._ends(h, p))
        return np.where(seen, np.inf, least)

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
        bare = M <= 0  # a direction that this combination does not end
        over = 1.0 / np.where(bare, 1.0, M)
        over = np.where(bare, 0.0, over)
        linear = t * self.b[:, None, :] - self.origin[:, None, :]  # xᵀMx - 2 linearᵀx <= rhs
        weighted = linear * over
        shift = (linear * weighted).sum(axis=-1)
        outer = self.bound**2 - self.origin_norm[:, None]
        size = outer + theta * self.c[:, None] + shift
        if log_theta.shape[1] == 1:  # one θ for all functionals: matrix products
            centre = (h @ weighted[:, 0, :, None])[..., 0]
            spread = (h**2 @ over[:, 0, :, None])[..., 0] + p**2
        else:
            centre = np.einsum("snk,snk->sn", h, weighted)
            spread = np.einsum("snk,snk,snk->sn", h, h, over) + p**2
        # A size below zero, beyond rounding, certifies that the two sets do not meet.
        terms = self.bound**2 + self.origin_norm[:, None] + np.abs(theta * self.c[:, None]) + shift
        value = centre + np.sqrt(spread * np.maximum(size, 0.0))
        if bare.any():
            value = np.where((bare & (h != 0)).any(axis=-1), np.inf, value)
        # Where numbers overflow nothing is known.
        value = np.where(np.isnan(value), np.inf, value)
        return np.where(size < -1e-9 * terms, -np.inf, value)


def _share(A: Array, b: Array, c: Array, N: Array, bound: float, scale: Array) -> Array:
    """Return the weight of N beside each A under which rounding costs least, shape (s,).

    What is dropped beside the other constraint should not matter at the best multiplier, which is
    near B²/ρ. But the weight stays within 1e8 of that which makes both of equal size, so that each
    constraint is seen in the directions that only it ends.
    """
    diagonal = np.diagonal(A, axis1=1, axis2=2)
    seen = diagonal > 0
    own = b**2 / np.where(seen, diagonal, 1.0)
    rho = c + np.where(seen, own, 0.0).max(axis=1, initial=0.0)
    size, size_N = float(scale.sum()), float(np.trace(N))
    equal = (size if size > 0 else 1.0) / (size_N if size_N > 0 else 1.0)
    return np.asarray(np.clip(rho / bound**2, 1e-8 * equal, 1e8 * equal))

"""Outer bounds of a piecewise quadratic region: each set relaxed to a quadratic inequality.

With u_i = L G_i r and a penalty with subgradients Pa + s, |s_j| <= σ_j, let v_i = u_i - Pa,
weighted. The statistics are Z_i = ‖v_i - Ψs_i‖². For Ψ = I the subgradient of least norm is the
best in each component, so that Z_i <= ‖v_i - s_0‖², and Z_0 <= Z_i implies for every η > 0

    ‖v_0‖² - ‖v_i‖² - η ‖v_i - v_0‖² <= ‖σ‖²/η.

For any other Ψ the triangle inequality gives, with τ >= ‖Ψs‖ for all such s,

    ‖v_0‖² - (1 + η) ‖v_i‖² <= (1 + 1/η) 4τ².

Without kinks the difference of the statistics is a quadratic itself, and η = 0. The functional is
bounded over all points that satisfy the inequality and lie in the ball of a norm bound.

Eigenvalues of a nearly singular kernel are lost in rounding, so v is known to within some ε only.
For every κ > 0, (1 - κ)‖ṽ‖² - ε²/κ <= ‖v‖² <= (1 + κ)‖ṽ‖² + (1 + 1/κ)ε².
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import CUT, EPS, SEEN
from unassuming._typing import Array
from unassuming.geometry.piecewise.model import Model
from unassuming.geometry.quadratic.ball import BallSet, Dual
from unassuming.objectives.norm_ball import NormBall

_ETAS = (0.01, 0.03, 0.1, 0.3, 1.0)
_BATCH_BYTES = 2**20
_NO_BALL = 1e-150  # beside any set it is nothing


@final
@dataclass(frozen=True, eq=False)
class Relaxation:
    """A model, the coordinates x of a ball with fitted values Rx, and its bound; 0 for no ball."""

    model: Model
    ball: NormBall
    bound: float

    def supports(self, t: Array, rest: Array) -> tuple[Array, Array]:
        """Return the largest values of functionals, and of their negatives, (N, m - 1) each.

        The functionals are those of `NormBall.functionals`. Where a set does not meet the ball they
        are minus infinity.
        """
        k, sets = len(self.nu), len(self.model.wins)
        alone = BallSet(np.zeros(k), self.nu, np.zeros(k), 0.0, np.eye(k))
        found = np.repeat(self._over([alone], t, rest), sets, axis=2)
        if self._known:
            for eta in _ETAS if self.spread.any() else (0.0,):
                every = [self._set(*parts) for parts in zip(*self.inequalities(eta), strict=True)]
                for some in slices(sets, rows_that_fit(_BATCH_BYTES, t.size)):
                    values = self._over(
                        [alone if one is None else one for one in every[some]], t, rest
                    )
                    found[..., some] = np.minimum(found[..., some], values)
        return found[0], found[1]

    def _over(self, sets: list[BallSet], t: Array, rest: Array) -> Array:
        """Return the supports over some sets and the ball, (2, N, sets)."""
        dual, g = Dual.of(sets), np.stack([t @ one.turn for one in sets])
        free = np.linalg.norm(g * ((dual.nu <= 0) & (dual.omega <= 0)), axis=-1)
        p = np.broadcast_to(rest, g.shape[:2])
        values = np.array(dual.supports(g, p, self.bound or _NO_BALL))
        unseen = free > SEEN * np.linalg.norm(t, axis=1)
        return np.asarray(np.where(unseen, np.inf, values).swapaxes(1, 2))

    @property
    def nu(self) -> Array:
        """The norm is Σ ν x²; it bounds nothing without a ball."""
        return self.ball.nu * (self.bound > 0)

    @property
    def _known(self) -> bool:
        """Whether there are inequalities: no knots, and no coefficient reaches the side of a box.

        Subgradients are unbounded there.
        """
        model, sides = self.model, self.model.penalty
        reach = np.full(len(self.ball.back), np.inf)
        every = self.ball.back.shape[0] == self.ball.back.shape[1]  # none without fitted values
        if self.bound > 0 and every and self._blur < 0.1:
            reach = 1.1 * self.bound * np.linalg.norm(self.ball.back, axis=1)
        boxed = np.isinf(sides.lo) | np.isinf(sides.hi)
        reached = boxed & (np.abs(sides.kinks) <= sides.own(reach)[:, None])
        return not (len(model.loss.knots) or reached.any())

    @property
    def spread(self) -> Array:
        """The largest constant subgradients σ, (k,)."""
        return np.asarray(np.abs(self.model.penalty.between).max(axis=1))

    @cached_property
    def _blur(self) -> float:
        """κ: the relative error of fitted values Rx within the ball of a kernel; 0 for features."""
        length = np.linalg.norm(self.ball.back[:, self.ball.nu > 0], axis=0)
        if not (self.ball.nu[self.ball.nu > 0] == 1).all() or self.bound == 0:
            return 0.0
        condition = length.max() / length.min() if self.ball.complete else EPS**-0.5
        return float(len(self.ball.R) * EPS * condition)

    def inequalities(self, eta: float) -> tuple[Array, Array, Array]:
        """Return A (m - 1, k, k), b (m - 1, k) and c (m - 1,) of xᵀAx - 2bᵀx <= c for all sets."""
        model, R, kappa = self.model, self.ball.R, self._blur
        pull = model.loss.slopes[0] * model.pull
        y, x = (
            pull @ model.y,
            pull @ R + model.weigh(model.P.T).T @ self.ball.back,
        )  # v_0 = y - x(·)
        moved = model.moved(np.vstack([model.y, R.T])) - np.vstack([model.y, R.T])[:, None]
        d = np.moveaxis(moved @ pull.T, 0, -1)  # (m - 1, K, 1 + k)
        dy, dx = d[..., 0], -d[..., 1:]  # v_i - v_0 = dy + dx(·)
        zeta = eta if model.weighting is not None and self.spread.any() else 0.0
        rest = eta - zeta
        # ‖v_0‖² - ‖v_i‖² from the difference alone, then the other terms.
        cross = np.swapaxes(dx, 1, 2) @ x
        A = cross + np.swapaxes(cross, 1, 2)
        b = np.swapaxes(dx, 1, 2) @ y - dy @ x
        c = 2 * dy @ y + self._slack(eta) + self._blurred(2 + zeta + 4 * rest)
        for share, vx, vy in (
            (1 + rest + kappa * rest, -dx, dy),
            (kappa, x[None], y[None]),
            (zeta + kappa * (1 + zeta), x - dx, y + dy),
        ):
            A = A - share * (np.swapaxes(vx, 1, 2) @ vx)
            b = b - share * (vy[:, None] @ vx)[:, 0]
            c = c + share * (vy**2).sum(axis=1)
        return A, b, c

    def _blurred(self, share: float) -> float:
        """Return (1 + 1/κ) ε² times a share, where ε bounds the error of v within the ball."""
        if self._blur == 0:
            return 0.0
        size = self.model.norm * np.linalg.norm(self.ball.R[:, self.ball.nu > 0], 2)
        size += np.linalg.norm(self.model.weigh(self.model.P.T).T @ self.ball.back)
        return float(share * (1 + 1 / self._blur) * (self._blur * size * self.bound) ** 2)

    def _slack(self, eta: float) -> float:
        """Return the right-hand side: ‖σ‖²/η, or (1 + 1/η) 4τ²."""
        if not self.spread.any():
            return 0.0
        psi = self.model.weighting
        if psi is None:
            return float((self.spread**2).sum()) / eta
        size = np.abs(psi) @ self.spread
        inner = float(self.spread @ np.abs(psi.T @ psi) @ self.spread)
        longest = float(np.linalg.norm(psi, 2) ** 2 * (self.spread @ self.spread))
        return 4 * (1 + 1 / eta) * min(float(size @ size), inner, longest)

    def _set(self, A: Array, b: Array, c: float) -> BallSet | None:
        """Return a set in coordinates that make A and the norm diagonal; None if it says nothing.

        Coordinates z that the norm does not bound are eliminated, where A has to be positive
        definite; one that A and b do not contain is unbounded, and changes no other.
        """
        z, seen = np.flatnonzero(self.nu == 0), np.flatnonzero(self.nu > 0)
        size = max(float(np.abs(A).max()), 1e-300)
        absent = (np.abs(A[z]) <= CUT * size).all(axis=1)
        inner = A[np.ix_(z, z)] + np.diag(np.where(absent, size, 0.0))
        lam, V = np.linalg.eigh(inner)
        if len(z) and lam[0] <= CUT * lam[-1]:
            return None
        turn = np.eye(len(A))
        turn[np.ix_(z, seen)] = -np.linalg.solve(inner, A[np.ix_(z, seen)]) if len(z) else 0.0
        turn[np.ix_(z, z)] = V
        turn[:, seen] /= np.sqrt(self.nu[seen])
        turned = turn.T @ A @ turn
        omega, U = np.linalg.eigh(turned[np.ix_(seen, seen)])
        turn[:, seen] = turn[:, seen] @ U
        every = np.zeros(len(A))
        every[seen] = omega - EPS * len(A) * np.abs(omega).max(initial=0.0)
        every[z] = np.where(np.abs(np.diagonal(turned)[z]) <= CUT * size, 0.0, lam)
        return BallSet(every, np.where(self.nu > 0, 1.0, 0.0), turn.T @ b, -float(c), turn)

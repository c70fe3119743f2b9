"""Outer bounds of a piecewise quadratic region: each set relaxed to a quadratic inequality.

With u_i = L G_i r and a penalty with subgradients Pa + s, |s_j| <= σ_j, let v_i = u_i - Pa,
weighted. The statistics are Z_i = ‖v_i - Ψs_i‖². For Ψ = I the subgradient of least norm is the
best in each component, so that Z_i <= ‖v_i - s_0‖², and Z_0 <= Z_i implies for every η > 0

    ‖v_0‖² - ‖v_i‖² - η ‖v_i - v_0‖² <= ‖σ‖²/η.

For any other Ψ the triangle inequality gives, with τ >= ‖Ψs‖ for all such s,

    ‖v_0‖² - (1 + η) ‖v_i‖² <= (1 + 1/η) 4τ².

Without kinks the difference of the statistics is a quadratic itself, and η = 0. The functional is
bounded over all points that satisfy the inequality and lie in the ball of a norm bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import CUT, EPS
from unassuming._typing import Array
from unassuming.geometry.piecewise.model import Model
from unassuming.geometry.quadratic.ball import BallSet, over
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
        """Return the largest values of functionals, and of their negatives, (N, m - 1) each."""
        # The functionals are those of `NormBall.functionals`. Where a set does not meet the ball
        # they are minus infinity.
        sets, B = len(self.model.wins), self.bound or _NO_BALL
        found = np.repeat(over([self._alone], t, rest, B), sets, axis=2)
        if self._known:
            for eta in _ETAS if self.spread.any() else (0.0,):
                every = [self._set(*parts) for parts in zip(*self.inequalities(eta), strict=True)]
                for some in slices(sets, rows_that_fit(_BATCH_BYTES, t.size)):
                    values = over(every[some], t, rest, B)
                    found[..., some] = np.minimum(found[..., some], values)
        return found[0], found[1]

    @property
    def _alone(self) -> BallSet:
        """The ball without a set."""
        return BallSet(0 * self.nu, self.nu, 0 * self.nu, 0.0, np.eye(len(self.nu)))

    @property
    def nu(self) -> Array:
        """The norm is Σ ν x²; it bounds nothing without a ball."""
        return self.ball.nu * (self.bound > 0)

    @property
    def _known(self) -> bool:
        """Whether there are inequalities: no knots, and no coefficient at the side of a box."""
        # Subgradients are unbounded there.
        model, sides = self.model, self.model.penalty
        reach = np.full(len(self.ball.back), np.inf)
        every = self.ball.back.shape[0] == self.ball.back.shape[1]  # none without fitted values
        if self.bound > 0 and every:
            reach = 1.1 * self.bound * np.linalg.norm(self.ball.back, axis=1)
        boxed = np.isinf(sides.lo) | np.isinf(sides.hi)
        reached = boxed & (np.abs(sides.kinks) <= sides.own(reach)[:, None])
        return not (len(model.loss.knots) or reached.any())

    @property
    def spread(self) -> Array:
        """The largest constant subgradients σ, (k,)."""
        return np.asarray(np.abs(self.model.penalty.between).max(axis=1))

    def inequalities(self, eta: float) -> tuple[Array, Array, Array]:
        """Return A (m - 1, k, k), b (m - 1, k) and c (m - 1,) of xᵀAx - 2bᵀx <= c for all sets."""
        model, R = self.model, self.ball.R
        pull = model.loss.slopes[0] * model.pull
        # v_0 = y - x(·)
        y, x = pull @ model.y, pull @ R + model.weigh(model.P.T).T @ self.ball.back
        rows = np.vstack([model.y, R.T])
        d = np.moveaxis((model.moved(rows) - rows[:, None]) @ pull.T, 0, -1)  # (m - 1, K, 1 + k)
        dy, dx = d[..., 0], -d[..., 1:]  # v_i - v_0 = dy + dx(·)
        zeta = eta if model.weighting is not None and self.spread.any() else 0.0
        rest = eta - zeta
        # ‖v_0‖² - ‖v_i‖² from the difference alone, then the other terms.
        cross = np.swapaxes(dx, 1, 2) @ x
        A = cross + np.swapaxes(cross, 1, 2)
        b = np.swapaxes(dx, 1, 2) @ y - dy @ x
        c = 2 * dy @ y + self._slack(eta)
        for share, vx, vy in ((1 + rest, -dx, dy), (zeta, x - dx, y + dy)):
            A = A - share * (np.swapaxes(vx, 1, 2) @ vx)
            b = b - share * (vy[:, None] @ vx)[:, 0]
            c = c + share * (vy**2).sum(axis=1)
        return A, b, c

    def _slack(self, eta: float) -> float:
        """Return the right-hand side: ‖σ‖²/η, or (1 + 1/η) 4τ²."""
        if not self.spread.any():
            return 0.0
        psi = self.model.weighting
        if psi is None:
            return float((self.spread**2).sum()) / eta
        inner = float(self.spread @ np.abs(psi.T @ psi) @ self.spread)
        longest = float(np.linalg.norm(psi, 2) ** 2 * (self.spread @ self.spread))
        return 4 * (1 + 1 / eta) * min(inner, longest)

    def _set(self, A: Array, b: Array, c: float) -> BallSet:
        """Return a set in coordinates that make A and the norm diagonal; or the ball alone."""
        # Coordinates z that the norm does not bound are eliminated, where A has to be positive
        # definite; one that A and b do not contain is unbounded, and changes no other.
        z, seen = np.flatnonzero(self.nu == 0), np.flatnonzero(self.nu > 0)
        size = max(float(np.abs(A).max()), 1e-300)
        absent = (np.abs(A[z]) <= CUT * size).all(axis=1)
        inner = A[np.ix_(z, z)] + np.diag(np.where(absent, size, 0.0))
        lam, V = np.linalg.eigh(inner)
        if len(z) and lam[0] <= CUT * lam[-1]:
            return self._alone
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

"""A set E_i and a ball ‖f‖ <= B: one dual in θ, in two coordinate systems (theory 4.4 and 12).

In coordinates x with ‖f‖² = Σ νx² + rest, in which E_i is Σ ωx² - 2βᵀx + γ <= 0, for every θ >= 0
with ν + θω >= 0, W = 1/(ν + θω),

    max gᵀx + √rest · p  <=  θ Σ gβW + √((B² - θγ + θ² Σ β²W)(Σ g²W + p²)),

with equality at the best θ; a negative first factor means that there is no such f. Any θ gives an
honest bound, so that a search that stops early stays on the safe side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh

from unassuming._numerics import CUT, SEEN
from unassuming._second.geometry.quadratic.forms import Form
from unassuming._second.geometry.quadratic.sets import QuadraticSets, outward, qth_largest
from unassuming._second.objectives import DesignedObjective
from unassuming._second.objectives.norm_ball import NormBall
from unassuming._typing import Array

_GRID = np.linspace(-30.0, 40.0, 141)
_HALVINGS = 24
"""log θ: first a grid, then halvings of the two cells beside the best point."""


@final
@dataclass(frozen=True, eq=False)
class BallSet:
    """One set: ω, ν, β (k,) and γ, with a map T (K, k) from functionals t to g = Tᵀt.

    What T does not map is bounded by the norm alone: its squares are added to p².
    """

    omega: Array
    nu: Array
    beta: Array
    gamma: float
    turn: Array

    def supports(self, t: Array, rest: Array, B: float) -> tuple[Array, Array]:
        """Return the least bounds of gᵀx + p and of -gᵀx - p over θ, (N,) each."""
        g = t @ self.turn
        p = rest + self._beyond(t, g)
        endless = np.linalg.norm(g * ((self.nu <= 0) & (self.omega <= 0)), axis=1)
        unseen = endless > SEEN * np.linalg.norm(t, axis=1)
        ball = self._ball(g, p, B)
        both = []
        for side in (1.0, -1.0):
            found = np.minimum(ball, self._least(side * g, p, B))
            both.append(np.where(unseen, np.inf, found))
        return both[0], both[1]

    def _beyond(self, t: Array, g: Array) -> Array:
        """The part of t that no coordinate of this set has: it changes no row that moves."""
        if self.turn.shape[0] == self.turn.shape[1]:
            return np.zeros(len(t))
        return np.asarray(np.maximum((t * t).sum(axis=1) - (g * g).sum(axis=1), 0.0))

    def _ball(self, g: Array, p: Array, B: float) -> Array:
        """The bound of the norm alone, θ = 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            square = np.where(g == 0, 0.0, g * g / self.nu)
        return np.asarray(B * np.sqrt(square.sum(axis=1) + p))

    def _least(self, g: Array, p: Array, B: float) -> Array:
        """Minimise over θ: a grid for all functionals, then halvings for each."""
        W, theta = self._weights(_GRID), self._theta(_GRID)  # (T, k)
        room = B * B - theta * self.gamma + theta**2 * (W @ self.beta**2)
        if (room < 0).any():
            return np.full(len(g), -np.inf)
        values = theta * ((g * self.beta) @ W.T) + np.sqrt(room * ((g * g) @ W.T + p[:, None]))
        best = np.argmin(values, axis=1)
        low, high = (_GRID[np.clip(best + k, 0, len(_GRID) - 1)] for k in (-1, 1))
        found = values[np.arange(len(g)), best]
        for _ in range(_HALVINGS):
            s = (low + high) / 2
            value, slope = self._at(s, g, p, B)
            found = np.minimum(found, value)
            low, high = np.where(slope < 0, s, low), np.where(slope < 0, high, s)
        return found

    def _theta(self, s: Array) -> Array:
        """θ = exp(s), bent to stay below where ν + θω vanishes, if the set is not convex."""
        falls = self.omega < 0
        end = (self.nu[falls] / -self.omega[falls]).min(initial=np.inf)
        grown = np.exp(s)
        return np.asarray(grown / (1 + grown / end) * (1 - 1e-6))

    def _weights(self, s: Array) -> Array:
        both = self.nu + self._theta(s)[:, None] * self.omega
        return np.where(both > 0, 1 / np.where(both > 0, both, 1.0), 0.0)

    def _at(self, s: Array, g: Array, p: Array, B: float) -> tuple[Array, Array]:
        """Return the bound at θ = exp(s), s (N,), and its derivative in s."""
        theta, W = self._theta(s), self._weights(s)
        V = theta[:, None] * self.omega * W * W  # -dW/ds
        square = self.beta**2
        cross, size = (g * self.beta * W).sum(axis=1), (g * g * W).sum(axis=1) + p
        room = B * B - theta * self.gamma + theta**2 * (W @ square)
        root = np.sqrt(np.maximum(room, 0.0) * size)
        d_room = theta * (2 * theta * (W @ square) - theta * (V @ square) - self.gamma)
        d_size = -(g * g * V).sum(axis=1)
        d_root = (d_room * size + room * d_size) / (2 * np.maximum(root, 1e-300))
        slope = theta * (cross - (g * self.beta * V).sum(axis=1)) + d_root
        return np.where(room < 0, -np.inf, theta * cross + root), slope

    def least_norm(self) -> float:
        """Return the least norm over the set: ‖f‖² is at least θγ - θ² Σ β²W for every θ."""
        low, high = _GRID[0], _GRID[-1]
        best = 0.0
        for _ in range(4):
            s = np.linspace(low, high, 200)
            theta = self._theta(s)
            values = theta * self.gamma - theta**2 * (self._weights(s) @ self.beta**2)
            k = int(np.argmax(values))
            best = max(best, float(values[k]))
            low, high = s[max(k - 1, 0)], s[min(k + 1, len(s) - 1)]
        return float(np.sqrt(best))


@final
@dataclass(frozen=True, eq=False)
class SetsAndBall:
    """All sets E_i of a quadratic objective, in coordinates of the norm."""

    sets: QuadraticSets
    ball: NormBall

    @classmethod
    def of(cls, sets: QuadraticSets) -> SetsAndBall:
        """Return the sets of an engine together with the coordinates of its norm."""
        assert sets.engine.objective.design is not None
        return cls(sets, NormBall.of(sets.engine.objective.design))

    def outer(self, t: Array, rest: Array, B: float, q: int) -> tuple[Array, Array]:
        """Return lower and upper bounds of functionals of f over the region, ‖f‖ <= B, (N,).

        The functionals are those of `NormBall.functionals`. Bounds are infinite of the wrong sign
        where no such f is in the region.
        """
        up, down = self.supports(t, rest, B)
        return outward(-qth_largest(down, q), qth_largest(up, q))

    def supports(self, t: Array, rest: Array, B: float) -> tuple[Array, Array]:
        """Return the largest values and the largest negative values, (N, S) each."""
        found = np.empty((2, len(t), self.sets.form.count))
        alone = BallSet(0 * self.ball.nu, self.ball.nu, 0 * self.ball.nu, 0.0, np.eye(len(t.T)))
        for i, one in enumerate(self._each()):
            known = alone if self.sets.still[i] else one
            found[:, :, i] = known.supports(t, rest, B)
        found[:, :, self.sets.still & self.sets.engine.order.first] = -np.inf
        return found[0], found[1]

    def least_norms(self) -> Array:
        """Return the least norm over each set, (S,): zero where it is the whole space."""
        still, first = self.sets.still, self.sets.engine.order.first
        found = np.array([one.least_norm() for one in self._each()])
        return np.where(still, np.where(first, np.inf, 0.0), found)

    def _each(self) -> Iterator[BallSet]:
        o = self.sets.engine.objective
        kernel = (self.ball.nu == 1).all()
        if self.sets.engine.noise.rowwise and kernel and isinstance(o, DesignedObjective):
            return self._of_signs(o)
        return self._of_forms()

    def _of_signs(self, o: DesignedObjective) -> Iterator[BallSet]:
        """At half the size: rows J that change sign, r_JᵀD r_J <= r_Jᵀr̂_J, r_J = W^½(y - Rx)_J."""
        form, root = self.sets.form, self.sets.form.root
        R, y = root[:, None] * self.ball.R, root * o.y
        for signs in np.asarray(form.drawn):
            J = np.flatnonzero(signs < 0)
            turn, L = np.linalg.qr(R[J].T)
            D = np.eye(len(J)) - form.Q[J] @ form.Q[J].T
            omega, V = eigh(L @ D @ L.T)
            beta = V.T @ (L @ (D @ y[J] - form.r[J] / 2))
            gamma = float(y[J] @ (D @ y[J] - form.r[J]))
            yield BallSet(np.maximum(omega, 0.0), np.ones(len(omega)), beta, gamma, turn @ V)

    def _of_forms(self) -> Iterator[BallSet]:
        """In all coordinates: N and A_i made diagonal together."""
        form, nu = self.sets.form, self.ball.nu
        own = Form(
            form.root[:, None] * self.ball.R,
            form.Q,
            form.r,
            form.root,
            form.noise,
            form.drawn,
            form.count,
        )
        x = self.ball.forward @ self.sets.engine.objective.estimate()
        for start in range(0, form.count, own.step):
            forms = own.at(slice(start, start + own.step))
            for A, b, c in zip(forms.A, forms.b, forms.c, strict=True):
                beta, gamma = A @ x - b, float(x @ A @ x - 2 * b @ x - c)
                # In coordinates in which A + κN is the identity, both are diagonal.
                share = np.trace(A) / max(float(nu.sum()), 1e-300)
                share = share if share > 0 else 1.0
                lam, U = eigh(A + share * np.diag(nu))
                keep = lam > CUT * lam[-1]
                half = U[:, keep] / np.sqrt(lam[keep])
                part, V = eigh(half.T @ (share * nu[:, None] * half))
                turn, part = half @ V, np.clip(part, 0.0, 1.0)
                part = np.where(part <= CUT, 0.0, part)
                lost = U[:, ~keep]
                omega = np.where(1 - part <= CUT, 0.0, 1 - part)
                turn = np.hstack([turn, lost])
                zero = np.zeros(lost.shape[1])
                yield BallSet(
                    np.append(omega, zero),
                    np.append(part / share, zero),
                    turn.T @ beta,
                    gamma,
                    turn,
                )

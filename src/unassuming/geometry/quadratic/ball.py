"""A set E_i and a ball ‖f‖ <= B: one dual in θ, in two coordinate systems (theory 4.4 and 12).

In coordinates x with ‖f‖² = Σ νx² + rest, in which E_i is Σ ωx² - 2βᵀx + γ <= 0, for every θ >= 0
with ν + θω >= 0, W = 1/(ν + θω),

    max gᵀx + √rest · p  <=  θ Σ gβW + √((B² - θγ + θ² Σ β²W)(Σ g²W + p²)),

with equality at the best θ; a negative first factor means that there is no such f. Any θ gives an
honest bound, so that a search that stops early stays on the safe side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import eigh

from unassuming._numerics import CUT, SEEN
from unassuming._typing import Array, IntArray
from unassuming.geometry.quadratic.sets import QuadraticSets
from unassuming.objectives.norm_ball import NormBall

_GRID = np.linspace(-30.0, 40.0, 71)
_HALVINGS = 14
"""log θ: first a grid, then halvings of the two cells beside the best point."""

_NUMBERS = 2**20
"""Numbers in one batch of sets."""


class BallSet(NamedTuple):
    """One set: ω, ν, β (k,) and γ, with a map T (K, k) from functionals t to g = Tᵀt."""

    # What T does not map is bounded by the norm alone: its squares are added to p².

    omega: Array
    nu: Array
    beta: Array
    gamma: float
    turn: Array

    def functionals(self, t: Array) -> tuple[Array, Array]:
        """Return g (N, k), and the squares (N,) of the part that changes no row that moves."""
        g = t @ self.turn
        if self.turn.shape[0] == self.turn.shape[1]:
            return g, np.zeros(len(t))
        return g, np.maximum((t * t).sum(axis=1) - (g * g).sum(axis=1), 0.0)


class Dual(NamedTuple):
    """The dual of several sets at once: ω, ν, β (S, 1, k), γ (S, 1); further zeros fill k."""

    omega: Array
    nu: Array
    beta: Array
    gamma: Array

    @classmethod
    def of(cls, sets: list[BallSet]) -> Dual:
        """Stack sets of different sizes."""
        parts = zip(*((one.omega, one.nu, one.beta) for one in sets), strict=True)
        omega, nu, beta = (_stacked(part)[:, None] for part in parts)
        return cls(omega, nu, beta, np.array([[one.gamma] for one in sets]))

    def supports(self, g: Array, p: Array, B: float) -> tuple[Array, Array]:
        """Return the least bounds of gᵀx + p and of -gᵀx - p over θ, (S, N) each."""
        # The functionals are g (S, N, k) and p² (S, N).
        with np.errstate(divide="ignore", invalid="ignore"):  # the norm alone, θ = 0
            square = np.where(g == 0, 0.0, g * g / self.nu)
        ball = B * np.sqrt(square.sum(axis=-1) + p)
        W, theta = self._weights(_GRID), self._theta(_GRID)  # (S, T, k), (S, T)
        room = self._room(theta, W, B)
        cross = theta[:, None] * np.matmul(g * self.beta, W.transpose(0, 2, 1))
        root = np.matmul(g * g, W.transpose(0, 2, 1)) + p[..., None]
        root = np.sqrt(np.maximum(room, 0.0)[:, None] * root)
        empty = np.any(room < 0, axis=-1, keepdims=True)
        both = []
        for side in (1.0, -1.0):
            best = np.argmin(side * cross + root, axis=-1)
            found = self._refined(side * g, p, B, best)
            both.append(np.where(empty, -np.inf, np.minimum(ball, found)))
        return both[0], both[1]

    def _refined(self, g: Array, p: Array, B: float, best: IntArray) -> Array:
        """Halve the cells of the grid beside the best point, (S, N)."""
        low, high = (_GRID[np.clip(best + k, 0, len(_GRID) - 1)] for k in (-1, 1))
        found = np.full(best.shape, np.inf)
        linear, square = g * self.beta, g * g
        for _ in range(_HALVINGS):
            s = (low + high) / 2
            theta, W = self._theta(s), self._weights(s)  # (S, N), (S, N, k)
            V = theta[..., None] * self.omega * W * W  # -dW/ds
            room, size = self._room(theta, W, B), (square * W).sum(axis=-1) + p
            root = np.sqrt(np.maximum(room, 0.0) * size)
            cross = (linear * W).sum(axis=-1)
            twice = (self.beta**2 * (2 * W - V)).sum(axis=-1)
            d_room = theta * (theta * twice - self.gamma)
            d_root = d_room * size - room * (square * V).sum(axis=-1)
            slope = theta * (cross - (linear * V).sum(axis=-1))
            slope = slope + d_root / (2 * np.maximum(root, 1e-300))
            found = np.minimum(found, np.where(room < 0, -np.inf, theta * cross + root))
            low, high = np.where(slope < 0, s, low), np.where(slope < 0, high, s)
        return found

    def _theta(self, s: Array) -> Array:
        """Return θ = exp(s), bent where a set is not convex: ν + θω stays positive."""
        with np.errstate(divide="ignore", invalid="ignore"):
            end = np.where(self.omega < 0, self.nu / -self.omega, np.inf).min(axis=-1)
        grown = np.exp(s)
        return np.asarray((1 - 1e-6) * grown / (1 + grown / end))

    def _weights(self, s: Array) -> Array:
        """Return 1/(ν + θω) at s (T,) or (S, N), with k as the last axis."""
        both = self.nu + self._theta(s)[..., None] * self.omega
        return np.asarray(np.where(both > 0, 1 / np.where(both > 0, both, 1.0), 0.0))

    def _room(self, theta: Array, W: Array, B: float) -> Array:
        """Return B² - θγ + θ² Σ β²W, (S, T)."""
        square = (W * self.beta**2).sum(axis=-1)
        return np.asarray(B * B - theta * self.gamma + theta**2 * square)

    def least_norms(self) -> Array:
        """Return the least norm over each set: ‖f‖² is at least θγ - θ² Σ β²W for every θ."""
        s = np.broadcast_to(_GRID, (len(self.gamma), len(_GRID)))
        best = np.zeros(len(s))
        for _ in range(4):
            values = -self._room(self._theta(s), self._weights(s), 0.0)
            k = np.argmax(values, axis=1)[:, None]
            best = np.maximum(best, np.take_along_axis(values, k, axis=1)[:, 0])
            ends = [np.take_along_axis(s, np.clip(k + j, 0, len(_GRID) - 1), 1) for j in (-1, 1)]
            s = ends[0] + (ends[1] - ends[0]) * np.linspace(0, 1, len(_GRID))
        return np.sqrt(best)


def over(sets: list[BallSet], t: Array, rest: Array, B: float) -> Array:
    """Return the largest values of functionals and of their negatives over sets, (2, N, S)."""
    parts = [one.functionals(t) for one in sets]
    dual, g = Dual.of(sets), _stacked([g for g, _ in parts])
    values = np.array(dual.supports(g, rest + np.array([beyond for _, beyond in parts]), B))
    free = (dual.nu <= 0) & (dual.omega <= 0)
    endless = np.linalg.norm(g * free, axis=-1) > SEEN * np.linalg.norm(t, axis=1)
    return np.where(endless & (values > -np.inf), np.inf, values).swapaxes(1, 2)


def _stacked(parts: Sequence[Array]) -> Array:
    """Return arrays (..., k) of different k as one array, filled with zeros."""
    k = max(part.shape[-1] for part in parts)
    found = np.zeros((len(parts), *parts[0].shape[:-1], k))
    for one, part in zip(found, parts, strict=True):
        one[..., : part.shape[-1]] = part
    return found


@final
@dataclass(frozen=True, eq=False)
class SetsAndBall:
    """All sets E_i of a quadratic objective, in coordinates of the norm."""

    sets: QuadraticSets
    ball: NormBall

    @classmethod
    def of(cls, sets: QuadraticSets) -> SetsAndBall:
        """Return the sets of an engine together with the coordinates of its norm."""
        return cls(sets, sets.objective.design.ball())

    def supports(self, t: Array, rest: Array, B: float) -> tuple[Array, Array]:
        """Return the largest values and the largest negative values, (N, S) each."""
        count, first = self.sets.form.count, self.sets.engine.order.first
        found = np.empty((2, len(t), count))
        alone = BallSet(0 * self.ball.nu, self.ball.nu, 0 * self.ball.nu, 0.0, np.eye(len(t.T)))
        step = max(1, _NUMBERS // (max(1, len(t)) * max(t.shape[1], len(_GRID))))
        each = self._each()
        for start in range(0, count, step):
            still = self.sets.still[start : start + step]
            some = [alone if tied else one for tied, one in zip(still, each, strict=False)]
            found[:, :, start : start + step] = over(some, t, rest, B)
        found[:, :, self.sets.still & first] = -np.inf
        return found[0], found[1]

    def least_norms(self) -> Array:
        """Return the least norm over each set, (S,): zero where it is the whole space."""
        still, first = self.sets.still, self.sets.engine.order.first
        found = Dual.of(list(self._each())).least_norms()
        return np.where(still, np.where(first, np.inf, 0.0), found)

    def _each(self) -> Iterator[BallSet]:
        kernel = (self.ball.nu == 1).all()
        rows = self.sets.engine.noise.rowwise and kernel
        return self._of_signs() if rows else self._of_forms()

    def _of_signs(self) -> Iterator[BallSet]:
        """At half the size: rows J that change sign, r_JᵀD r_J <= r_Jᵀr̂_J, r_J = W^½(y - Rx)_J."""
        form, root = self.sets.form, self.sets.form.root
        R, y = root[:, None] * self.ball.R, root * self.sets.objective.y
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
        own = replace(form, C=form.root[:, None] * self.ball.R)
        x = self.ball.forward @ self.sets.engine.objective.estimate()
        for start in range(0, form.count, own.step):
            forms = own.at(slice(start, start + own.step))
            for A, b, c in zip(forms.A, forms.b, forms.c, strict=True):
                beta, gamma = A @ x - b, float(x @ A @ x - 2 * b @ x - c)
                # In coordinates in which A + κN is the identity, both are diagonal.
                share = np.trace(A) / max(float(nu.sum()), 1e-300) or 1.0
                lam, U = eigh(A + share * np.diag(nu))
                keep = lam > CUT * lam[-1]
                half = U[:, keep] / np.sqrt(lam[keep])
                part, V = eigh(half.T @ (share * nu[:, None] * half))
                turn, lost = np.hstack([half @ V, U[:, ~keep]]), np.zeros(np.sum(~keep))
                part = np.clip(part, 0.0, 1.0)
                omega = np.append(np.where(1 - part <= CUT, 0.0, 1 - part), lost)
                part = np.append(np.where(part <= CUT, 0.0, part) / share, lost)
                yield BallSet(omega, part, turn.T @ beta, gamma, turn)

"""The statistics of a piecewise quadratic model along a line (docs/theory.md 5 to 7).

With u = Lψ(r) - Pa the gradient of least norm is z = Ψ(u - clip(u, lo, hi)), the box [lo, hi] being
the subdifferential of the kinked penalty: constant between kinks of the penalty, a box at them. So
z is affine in t between kinks, and Z_i - Z_0 = ⟨p, p + 2z_0⟩ with p = z_i - z_0 is a quadratic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias, final

import numpy as np

from unassuming._numerics import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership import Engine
from unassuming.objectives import Kinks, losses, penalties
from unassuming.ranking import tied

Affine: TypeAlias = Sequence[Array | float] | Array
"""An affine function of t: its value at t = 0, and its slope."""


class Penalty(NamedTuple):
    """The kinked part of a separable penalty as a table: a component of the gradient a row."""

    coefficient: IntArray  # (k,): the coefficient behind each component
    kinks: Array  # (k, J): where it has kinks, increasing; NaN for none
    between: Array  # (k, J + 1): the subgradients beside them
    lo: Array  # (k, J): the boxes at them
    hi: Array

    @classmethod
    def of(cls, penalty: penalties.Penalty, kinks: Kinks, d: int, k: int) -> Penalty:
        """Tabulate the subgradients of k components at the kinks and between them."""
        if not kinks.values.size:
            none = np.zeros((k, 0))
            return cls(np.zeros(k, dtype=np.intp), none, np.zeros((k, 1)), none, none)
        values, cut = kinks.values, kinks.values.shape[1] + 1
        first, last = values[:, :1], values[:, -1:]
        beside = (
            first - 1 - np.abs(first),
            (values[:, 1:] + values[:, :-1]) / 2,
            last + 1 + np.abs(last),
        )
        at = np.concatenate([*beside, values], axis=1).T
        a = np.zeros((len(at), d))
        a[:, kinks.coefficient] = np.where(np.isnan(at), 0.0, at)
        lo, hi = (side.T for side in penalty.subgradients(a))
        return cls(kinks.coefficient, values, lo[:, :cut], lo[:, cut:], hi[:, cut:])

    def held(self, origins: Array, directions: Array) -> tuple[BoolArray, Array, Array]:
        """Which components stay at a kink with a box along lines (N, k), and their boxes."""
        a, still = origins[:, self.coefficient], directions[:, self.coefficient] == 0
        at = (a[..., None] == self.kinks) & (self.lo < self.hi)
        lo, hi = (np.where(at, side, 0.0).sum(axis=-1) for side in (self.lo, self.hi))
        return still & at.any(axis=-1), lo, hi

    def beside(self, a: Array) -> Array:
        """Return the subgradient just behind a[0] + t a[1], t = 0, for affine (2, N, k): (N, k)."""
        # Where a component is held at a kink it means nothing.
        own, way = a[0][..., None], a[1][..., None]
        piece = ((own > self.kinks) | ((own == self.kinks) & (way > 0))).sum(axis=-1)
        return np.take_along_axis(self.between, piece.T, axis=1).T

    def own(self, a: Array) -> Array:
        """Return the coefficients (..., k) behind the components, of a (..., d)."""
        return a[..., self.coefficient]


@final
@dataclass(frozen=True, eq=False)
class Loss:
    """ψ, the derivative of the loss: levels + slopes r, others between any two knots."""

    knots: Array  # (J,): increasing
    levels: Array  # (J + 1,)
    slopes: Array  # (J + 1,)

    @cached_property
    def jumps(self) -> Array:
        """The changes of ψ at the knots, (J,)."""
        return np.asarray(np.diff(self.levels) + np.diff(self.slopes) * self.knots)

    @classmethod
    def of(cls, loss: losses.Loss) -> Loss:
        """Return the pieces of a loss that is affine between its knots."""
        knots, slopes = np.array(loss.knots), np.array(loss.slopes)
        jumps = np.array(loss.jumps) if len(loss.jumps) else np.zeros(len(knots))
        first = knots[:1] - 1 if len(knots) else np.zeros(1)
        start = loss.rho(first) - slopes[0] * first
        return cls(knots, np.cumsum(np.append(start, jumps - np.diff(slopes) * knots)), slopes)

    def beside(self, r: Array) -> Array:
        """Return ψ(r[0] + t r[1]) just behind t = 0, affine in t: r and the answer are (2, ...)."""
        before = np.searchsorted(self.knots, r[0], side="left")
        piece = np.where(r[1] > 0, np.searchsorted(self.knots, r[0], side="right"), before)
        level = np.stack([self.levels[piece], np.zeros(piece.shape)])
        return np.asarray(self.slopes[piece] * r + level)


@final
@dataclass(frozen=True, eq=False)
class Model:
    """A model whose statistics are piecewise quadratic along lines, under linear G_i."""

    phi: Array  # (n, d): Φ
    y: Array  # (n,)
    L: Array  # (k, n)
    P: Array  # (k, d): the smooth part of the penalty
    weighting: Array | None  # (K, k): Ψ; None for the identity
    loss: Loss
    penalty: Penalty
    moved: Callable[[Array], Array]  # (N, n) -> (N, m - 1, n): G_i r
    wins: BoolArray  # (m - 1,): whether a tie between Z_0 and Z_i counts for the candidate

    @classmethod
    def of(cls, engine: Engine) -> Model | None:
        """Return the model of a region; None if its statistics have no such form."""
        o, kinks, score = engine.objective, engine.objective.kinks(), engine.score.along_lines
        if kinks is None or score is None or not engine.noise.orthogonal:
            return None
        if o.design is None or o.loss is None or o.penalty is None:
            return None
        L, P, Psi = score.A, score.push, None
        if kinks.values.size and score.Psi is not None:
            L, Psi = np.eye(o.n) if score.L is None else score.L, score.Psi
            P = o.penalty.P[o.d - len(L) :]
        return cls(
            phi=o.design.matrix,
            y=o.y,
            L=L,
            P=P,
            weighting=Psi,
            loss=Loss.of(o.loss),
            penalty=Penalty.of(o.penalty, kinks, o.d, len(L)),
            moved=engine.moved,
            wins=~engine.order.first,
        )

    @cached_property
    def pull(self) -> Array:
        """ΨL, (K, n)."""
        return self.weigh(self.L.T).T

    @cached_property
    def norm(self) -> float:
        """That of ΨL."""
        return float(np.linalg.norm(self.pull, 2))

    @cached_property
    def columns(self) -> Array:
        """Those of Ψ, (k, K), and below them those of ΨL, (n, K)."""
        return np.concatenate([self.weigh(np.eye(len(self.L))), self.pull.T])

    def weigh(self, g: Array) -> Array:
        """Return Ψg for g (..., k)."""
        return g if self.weighting is None else g @ self.weighting.T

    def residuals(self, origins: Array, directions: Array) -> Array:
        """Return y - Φ(origins + t directions), affine in t, (2, N, n)."""
        return np.stack([self.y - origins @ self.phi.T, -(directions @ self.phi.T)])

    def errors(
        self, r: Array, d: Sequence[Array], origins: Array, directions: Array
    ) -> tuple[Array, Array]:
        """Bound the rounding errors of p = ΨLd and of s = 2z_0 + p, (2, N, m - 1) each."""
        # Both are affine in t, as are the residuals r (2, N, n) and their changes d (N, n, m - 1).
        a, unit = np.stack([origins, directions]), 16 * EPS * (len(self.y) + len(self.pull))
        blur = np.abs(a) @ np.abs(self.phi).T + np.stack([np.abs(self.y), 0 * self.y])[:, None]
        entries = 4 * EPS * np.sqrt(len(self.y)) * blur.max(axis=-1)[..., None]
        steps = np.abs(a) @ np.abs(self.weigh(self.P.T)) + np.array([self.step, 0.0])[:, None, None]
        moved = np.sqrt([np.einsum("nki,nki->ni", x, x) for x in d])
        size = np.linalg.norm(r, axis=-1)[..., None]
        own = 16 * EPS * np.linalg.norm(steps, axis=-1)[..., None] + 4 * self.norm * entries
        p_error = self.norm * (unit * moved + 4 * entries * (moved > 0))
        return p_error, self.norm * unit * (2 * size + moved) + own

    @cached_property
    def step(self) -> float:
        """The length of the largest constant subgradients, weighted."""
        size = np.abs(self.penalty.between).max(axis=1)
        return float(np.linalg.norm(np.abs(self.columns[: len(size)].T) @ size))


def settle(ABC: Sequence[Array], p: Affine, s: Affine, p_error: Affine, s_error: Affine) -> None:
    """Set A, B and C of ⟨p, s⟩ = At² + Bt + C to zero, in place, where that may be rounding."""
    # Given the lengths of the affine p and s, and the errors of both: (2, ...) each.

    def error(j: int, k: int) -> Array:
        return np.asarray(p_error[j] * s[k] + p[j] * s_error[k])

    tolerances = error(1, 1), error(0, 1) + error(1, 0), error(0, 0)
    for value, tolerance in zip(ABC, tolerances, strict=True):
        value[tied(value, tolerance)] = 0.0

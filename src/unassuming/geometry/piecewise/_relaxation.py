"""Quadratic inequalities that hold on every set {Z_0 <= Z_i} of a piecewise model (theory 7.2).

With u_i = L G_i r, a penalty whose subgradients are Pa + s with |s_j| <= σ_j, and v_i = u_i - Pa,
the statistics are Z_i = ‖Ψ(v_i - s_i)‖². For Ψ = I the subgradient of least norm is the best in
each component, so that Z_i <= ‖v_i - s_0‖², and Z_0 <= Z_i implies for every η > 0

    ‖v_0‖² - ‖v_i‖² - η ‖v_i - v_0‖² <= ‖σ‖²/η.

For any other Ψ the triangle inequality gives, with τ >= ‖Ψs‖ for all such s,

    ‖Ψv_0‖² - (1 + η) ‖Ψv_i‖² <= (1 + 1/η) 4τ².

Without kinks (σ = 0) the difference of the statistics is a quadratic itself, and η = 0.

With ζ = η for other Ψ and ζ = 0 for Ψ = I both read

    ‖v_0‖² - (1 + ζ) ‖v_i‖² - (η - ζ) ‖v_i - v_0‖² <= slack,

v weighted. Eigenvalues of a nearly singular kernel are lost in rounding, so fitted values F x have
a small error, and v is known only to within some ε. For every κ > 0

    ‖v‖² >= (1 - κ) ‖ṽ‖² - ε²/κ,      ‖v‖² <= (1 + κ) ‖ṽ‖² + (1 + 1/κ) ε²

keep the inequality true for the computed ṽ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._progress import progress
from unassuming._rounding import EPS, powers_of_two
from unassuming._typing import Array
from unassuming.geometry._relaxed_supports import relaxed_supports
from unassuming.geometry.piecewise._model import LineModel
from unassuming.objectives import BallCoordinates, times_unit

_ETAS = (0.01, 0.03, 0.1, 0.3, 1.0)
_BATCH_BYTES = 2**26
_ROUNDING = 1e-12
_LARGEST_BALL = 1e100
"""A larger ball is measured in a larger unit, so that squares of its bound fit into a double."""
_UNDERFLOW = 1e-290
"""What numbers may lose in such a unit, with a margin: next to the square of the bound, nothing."""


@final
@dataclass(frozen=True, eq=False)
class Relaxation:
    """The inequalities xᵀA x - 2bᵀx <= c in the coordinates of a ball: fitted values F x.

    Without a ball its bound is zero, its norm bounds no coordinate, and F x has no error.
    """

    model: LineModel
    ball: BallCoordinates
    slope: Array  # (K, k): P a = slope x
    spread: Array  # (K,): σ
    blur: float  # κ: relative error of F x within the ball
    largest: float  # ‖F‖ in the coordinates that the ball bounds

    @classmethod
    def of(cls, model: LineModel, ball: BallCoordinates) -> Relaxation | None:
        """Return the relaxation of a model, or None if there is none.

        There is none for losses with kinks, and where a coefficient can reach the side of a box, at
        which subgradients are unbounded.
        """
        if len(model.kinks.thresholds):
            return None
        # In the coordinates of a kernel the columns of `back` are as long as 1/√Λ.
        (d, k), bounded = ball.back.shape, np.diagonal(ball.N) > 0
        length = np.linalg.norm(ball.back[:, bounded], axis=0)
        condition = EPS**-0.5
        if k == d:
            condition = length.max() / length.min() if len(length) else 1.0
        seen = ball.F[:, bounded]
        largest = float(np.linalg.norm(seen, 2)) if seen.size else 0.0
        blur = len(seen) * EPS * condition
        steps = model.steps
        if steps.values.shape[1] == 0:  # smooth: the subgradient is linear in a
            slope = model.score.subdifferential(np.ascontiguousarray(ball.back.T))[0].T
            return cls(model, ball, slope, np.zeros(len(slope)), blur, largest)
        # The ball bounds no coefficient along eigenvalues that rounding has changed or lost.
        reach = np.full(d, np.inf)
        if k == d and len(length) and condition * blur < 0.1:
            reach = 1.1 * ball.bound * np.linalg.norm(ball.back, axis=1)
        boxed = np.isinf(steps.lo) | np.isinf(steps.hi)
        if (boxed & (np.abs(steps.values) <= reach[steps.coefficient][:, None])).any():
            return None
        spread, slope = np.abs(steps.between).max(axis=1), np.zeros((len(steps.values), k))
        if model.kinks.ridge.size:
            slope = model.kinks.ridge[:, None] * ball.back[steps.coefficient]
        return cls(model, ball, slope, spread, blur, largest)

    @property
    def etas(self) -> tuple[float, ...]:
        """The values of η to try; the least bound counts."""
        return _ETAS if self.spread.any() else (0.0,)

    def inequalities(
        self, eta: float, unit: float = 1.0
    ) -> Iterator[tuple[slice, Array, Array, Array]]:
        """Yield A (s, k, k), b (s, k) and c (s,) for batches of sets, with x in this unit."""
        model, F = self.model, self.ball.F
        k, sets = F.shape[1], model.perturbations.m - 1
        y, x = self._gradient(model.y[None, :])[0], self._gradient(F.T)
        x = x + model.weigh(self.slope.T)  # v_0 = y - xᵀ(·), here and below
        zeta = eta if model.score.weighting is not None and self.spread.any() else 0.0
        kappa, rest = self.blur, eta - zeta
        blurred = self._blurred(unit) * (2 + zeta + 4 * rest)
        if unit > 1:
            blurred += _UNDERFLOW
        step = rows_that_fit(_BATCH_BYTES, k * (len(model.y) + 2 * len(y) + 4 * k))
        for which in slices(sets, step):
            some = model.perturbations.take(which)
            dy = self._gradient(some.apply(model.y) - model.y)  # (s, K)
            moved = some.apply(F.T) - F.T[:, None, :]
            dx = np.moveaxis(self._gradient(moved), 0, 1)  # (s, k, K): v_i - v_0 = dy - dxᵀ(·)
            # ‖v_0‖² - ‖v_i‖² from the difference alone, then the other terms.
            cross = dx @ x.T
            A = -(cross + np.swapaxes(cross, 1, 2)) - (1 + rest) * _squares(dx)
            b = -(dx @ y + dy @ x.T) - (1 + rest) * _products(dx, dy)
            c = 2 * (dy @ y) + (1 + rest) * (dy**2).sum(axis=1) + self._slack(eta)
            iy, ix = y + dy, x + dx  # of v_i
            for share, vx, vy in (
                (kappa, x[None], y[None]),
                (zeta + kappa * (1 + zeta), ix, iy),
                (kappa * rest, dx, dy),
            ):
                A = A - share * _squares(vx)
                b = b - share * _products(vx, vy)
                c = c + share * (vy**2).sum(axis=1)
            # Rounding errors of A, b and c are relative to the lengths of the factors.
            factor = _ROUNDING * (1 + eta)
            size = (x**2).sum(axis=1) + (dx**2).sum(axis=2)
            A[:, np.arange(k), np.arange(k)] -= factor * size
            c = c + factor * (y @ y + (dy**2).sum(axis=1))
            yield which, A, b / unit, c / unit / unit + blurred

    def _gradient(self, r: Array) -> Array:
        """Return ΨLρ(r) for r (..., n); without kinks ρ is a multiple of r."""
        return self.model.weigh(self.model.pull(r * self.model.kinks.slopes[0]))

    def _blurred(self, unit: float) -> float:
        """Return (1 + 1/κ) ε², where ε bounds the error of v within the ball, in this unit."""
        if self.largest == 0:
            return 0.0
        psi, L = self.model.score.weighting, self.model.score.pullback
        pulled = np.eye(len(self.ball.F)) if L is None else L * self.model.kinks.slopes[0]
        size = float(np.linalg.norm(pulled if psi is None else psi @ pulled, 2))
        own = 1.0 if psi is None else float(np.linalg.norm(psi, 2))
        size += own * float(np.linalg.norm(self.slope, 2)) / self.largest
        error = self.blur * size * self.largest * (self.ball.bound / unit)
        return (1 + 1 / self.blur) * error * error

    def _slack(self, eta: float) -> float:
        """Return the right-hand side: ‖σ‖²/η, or (1 + 1/η) 4τ²."""
        if not self.spread.any():
            return 0.0
        psi = self.model.score.weighting
        if psi is None:
            return float((self.spread**2).sum()) / eta
        size = np.abs(psi) @ self.spread
        most = min(  # τ²
            float(size @ size),
            float(self.spread @ np.abs(psi.T @ psi) @ self.spread),
            float(np.linalg.norm(psi, 2) ** 2 * (self.spread @ self.spread)),
        )
        return 4 * (1 + 1 / eta) * most


def _squares(v: Array) -> Array:
    """Return the matrices of ‖vᵀx‖², (s, k, K) -> (s, k, k)."""
    return np.asarray(v @ np.swapaxes(v, 1, 2))


def _products(v: Array, w: Array) -> Array:
    return np.asarray((v @ w[:, :, None])[:, :, 0])


def relaxed_bounds(
    relaxation: Relaxation | None, ball: BallCoordinates, sets: int
) -> tuple[Array, Array]:
    """Return upper bounds of the ball's functionals, and of their negatives, (N, sets) each.

    They hold over each set and the ball. Without a relaxation the ball alone decides.
    """
    ball, size_of_functionals = ball.in_units()
    g, p, bounded = ball.functionals, ball.beyond, np.diagonal(ball.N) > 0
    free = (g[:, ~bounded] != 0).any(axis=1)
    size = (1 + _ROUNDING) * ball.bound * np.sqrt((g[:, bounded] ** 2).sum(axis=1) + p**2)
    up = np.repeat(np.where(free, np.inf, size)[:, None], sets, axis=1)
    down = up.copy()
    if relaxation is not None:
        etas, unit = relaxation.etas, 1.0
        if ball.bound > _LARGEST_BALL:
            unit = float(powers_of_two(np.asarray(ball.bound / _LARGEST_BALL)))
        within = replace(ball, bound=ball.bound / unit)
        work = (
            (slice(0, done * sets + batch[0].stop), batch)
            for done, eta in enumerate(etas)
            for batch in relaxation.inequalities(eta, unit)
        )
        for _, (which, A, b, c) in progress(work, sets * len(etas), "sets"):
            for bound, found in zip((up, down), relaxed_supports(A, b, c, within), strict=True):
                bound[:, which] = np.minimum(bound[:, which], unit * found)
    up[ball.hidden] = down[ball.hidden] = np.inf
    return times_unit(up, size_of_functionals), times_unit(down, size_of_functionals)

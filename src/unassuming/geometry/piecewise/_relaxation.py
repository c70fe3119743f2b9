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

v weighted. Fitted values F x are known to within a small vector, since eigenvalues of a nearly
singular kernel are lost in rounding, so v is known to within some ε only. For every κ > 0

    ‖v‖² >= (1 - κ) ‖ṽ‖² - ε²/κ,      ‖v‖² <= (1 + κ) ‖ṽ‖² + (1 + 1/κ) ε²

keep the inequality true for what has been computed, ṽ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unassuming._progress import progress
from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.geometry.piecewise._model import LineModel
from unassuming.geometry.piecewise._relaxed_supports import relaxed_supports

_ETAS = (0.01, 0.03, 0.1, 0.3, 1.0)
_BATCH_BYTES = 2**26
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The inequalities xᵀA x - 2bᵀx <= c in coordinates with a = back x and fitted values F x.

    Attributes
    ----------
    model : LineModel
    F : array of shape (n, k)
    slope : array of shape (K, k)
        P a = slope x.
    spread : array of shape (K,)
        σ.
    blur : float
        κ: the relative size of what F x misses of the fitted values within the ball.
    largest : float
        ‖F‖ where the ball bounds x.
    bound : float
        B; zero if there is no ball, and F x misses nothing.
    """

    model: LineModel
    F: Array
    slope: Array
    spread: Array
    blur: float
    largest: float
    bound: float

    @classmethod
    def of(
        cls, model: LineModel, F: Array, back: Array, N: Array, bound: float
    ) -> Relaxation | None:
        """Return what is known of a model, within a ball if ``N`` has ones; None if nothing is.

        Where a coefficient can be at a side of a box, at which subgradients are unbounded, nothing
        is known; nor is there where the loss has kinks.
        """
        if len(model.kinks.thresholds):
            return None
        # In the coordinates of a kernel the columns of `back` are as long as 1/√Λ.
        d, k = back.shape
        length = np.linalg.norm(back[:, N > 0], axis=0)
        condition = EPS**-0.5
        if k == d:
            condition = length.max() / length.min() if len(length) else 1.0
        seen = F[:, N > 0]
        largest = float(np.linalg.norm(seen, 2)) if seen.size else 0.0
        blur = len(F) * EPS * condition
        steps = model.steps
        if steps.values.shape[1] == 0:  # smooth: the subgradient is linear in a
            slope = model.score.subdifferential(np.ascontiguousarray(back.T))[0].T
            return cls(model, F, slope, np.zeros(len(slope)), blur, largest, bound)
        # The ball bounds no coefficient along eigenvalues that rounding has changed or swallowed.
        reach = np.full(d, np.inf)
        if k == d and len(length) and condition * blur < 0.1:
            reach = 1.1 * bound * np.linalg.norm(back, axis=1)
        boxed = np.isinf(steps.lo) | np.isinf(steps.hi)
        if (boxed & (np.abs(steps.values) <= reach[steps.coefficient][:, None])).any():
            return None
        spread = np.abs(steps.between).max(axis=1)
        return cls(model, F, np.zeros((len(spread), k)), spread, blur, largest, bound)

    @property
    def etas(self) -> tuple[float, ...]:
        """The values of η worth trying; the least bound counts."""
        return _ETAS if self.spread.any() else (0.0,)

    def inequalities(self, eta: float) -> Iterator[tuple[slice, Array, Array, Array]]:
        """Yield A (s, k, k), b (s, k) and c (s,) for batches of sets."""
        model, k = self.model, self.F.shape[1]
        perturbations = model.perturbations
        y, x = self._gradient(model.y[None, :])[0], self._gradient(self.F.T)
        x = x + model.weigh(self.slope.T)  # v_0 = y - xᵀ(·), here and below
        zeta = eta if model.score.weighting is not None and self.spread.any() else 0.0
        kappa, rest = self.blur, eta - zeta
        slack = self._slack(eta) + self._blurred() * (2 + zeta + 4 * rest)
        step = max(1, _BATCH_BYTES // (8 * k * (len(model.y) + 2 * len(y) + 4 * k)))
        for start in range(0, perturbations.m - 1, step):
            which = slice(start, min(start + step, perturbations.m - 1))
            some = perturbations.take(which)
            dy = self._gradient(some.apply(model.y) - model.y)  # (s, K)
            moved = some.apply(self.F.T) - self.F.T[:, None, :]
            dx = np.moveaxis(self._gradient(moved), 0, 1)  # (s, k, K): v_i - v_0 = dy - dxᵀ(·)
            # ‖v_0‖² - ‖v_i‖² from the difference alone, then what is taken off.
            cross = dx @ x.T
            A = -(cross + np.swapaxes(cross, 1, 2)) - (1 + rest) * _squares(dx)
            b = -(dx @ y + dy @ x.T) - (1 + rest) * _products(dx, dy)
            c = 2 * (dy @ y) + (1 + rest) * (dy**2).sum(axis=1) + slack
            iy, ix = y + dy, x + dx  # of v_i
            for share, vx, vy in (
                (kappa, x[None], y[None]),
                (zeta + kappa * (1 + zeta), ix, iy),
                (kappa * rest, dx, dy),
            ):
                A = A - share * _squares(vx)
                b = b - share * _products(vx, vy)
                c = c + share * (vy**2).sum(axis=1)
            # Rounding errors of A, b and c are relative to the lengths of what is multiplied.
            factor = _ROUNDING * (1 + eta)
            size = (x**2).sum(axis=1) + (dx**2).sum(axis=2)
            A[:, np.arange(k), np.arange(k)] -= factor * size
            yield which, A, b, c + factor * (y @ y + (dy**2).sum(axis=1))

    def _gradient(self, r: Array) -> Array:
        """Return ΨLρ(r) for r (..., n); without kinks ρ is a multiple of r."""
        return self.model.weigh(self.model.pull(r * self.model.kinks.slopes[0]))

    def _blurred(self) -> float:
        """Return (1 + 1/κ) ε²: what v misses, relative to what it is within the ball."""
        if self.largest == 0:
            return 0.0
        psi, L = self.model.score.weighting, self.model.score.pullback
        pulled = np.eye(len(self.F)) if L is None else L * self.model.kinks.slopes[0]
        size = float(np.linalg.norm(pulled if psi is None else psi @ pulled, 2))
        own = 1.0 if psi is None else float(np.linalg.norm(psi, 2))
        size += own * float(np.linalg.norm(self.slope, 2)) / self.largest
        return (1 + 1 / self.blur) * (self.blur * size * self.largest * self.bound) ** 2

    def _slack(self, eta: float) -> float:
        if not self.spread.any():
            return 0.0
        psi = self.model.score.weighting
        if psi is None:
            return float((self.spread**2).sum()) / eta
        size = np.abs(psi) @ self.spread
        most = min(
            float(size @ size),
            float(self.spread @ np.abs(psi.T @ psi) @ self.spread),
            float(np.linalg.norm(psi, 2) ** 2 * (self.spread @ self.spread)),
        )
        return 4 * (1 + 1 / eta) * most  # τ²


def _squares(v: Array) -> Array:
    """Return the matrices of ‖vᵀx‖², (s, k, K) -> (s, k, k)."""
    return np.asarray(v @ np.swapaxes(v, 1, 2))


def _products(v: Array, w: Array) -> Array:
    return np.asarray((v @ w[:, :, None])[:, :, 0])


def relaxed_bounds(
    relaxation: Relaxation | None, N: Array, g: Array, p: Array, bound: float, sets: int
) -> tuple[Array, Array]:
    """Return upper bounds of gᵀx + p s and of -gᵀx + p s over each set and the ball, (N, sets).

    ``N`` (k,) is the diagonal of the norm; all zeros, and B = 0, if there is no ball. Without a
    relaxation the ball alone decides.
    """
    free = (g[:, N == 0] != 0).any(axis=1)
    size = (1 + _ROUNDING) * bound * np.sqrt((g[:, N > 0] ** 2).sum(axis=1) + p**2)
    ball = np.where(free, np.inf, size)
    up = np.repeat(ball[:, None], sets, axis=1)
    down = up.copy()
    if relaxation is None:
        return up, down
    found, etas = relaxation, relaxation.etas

    def work() -> Iterator[tuple[slice, tuple[slice, Array, Array, Array]]]:
        for done, eta in enumerate(etas):
            for which, A, b, c in found.inequalities(eta):
                yield slice(0, done * sets + which.stop), (which, A, b, c)

    for _, (which, A, b, c) in progress(work(), sets * len(etas), "sets"):
        above, below = relaxed_supports(A, b, c, N, g, p, bound)
        up[:, which] = np.minimum(up[:, which], above)
        down[:, which] = np.minimum(down[:, which], below)
    return up, down

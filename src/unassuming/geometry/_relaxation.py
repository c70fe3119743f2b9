"""Quadratic inequalities that hold on every set {Z_0 <= Z_i} of a piecewise model (theory 7).

With u_i = L G_i r, a penalty whose subgradients are Pa + s with |s_j| <= σ_j, and v_i = u_i - Pa,
the statistics are Z_i = ‖Ψ(v_i - s_i)‖². For Ψ = I the subgradient of least norm is the best in
each component, so that Z_i <= ‖v_i - s_0‖², and Z_0 <= Z_i implies for every η > 0

    ‖v_0‖² - ‖v_i‖² - η ‖v_i - v_0‖² <= ‖σ‖²/η.

For any other Ψ the triangle inequality gives, with τ >= ‖Ψs‖ for all such s,

    ‖Ψv_0‖² - (1 + η) ‖Ψv_i‖² <= (1 + 1/η) 4τ².

Without kinks (σ = 0) the difference of the statistics is a quadratic itself, and η = 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array
from unassuming.geometry._gradients import LineModel
from unassuming.geometry._relaxed import relaxed_supports

_ETAS = (0.01, 0.03, 0.1, 0.3, 1.0)
_BATCH_BYTES = 2**26


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
    """

    model: LineModel
    F: Array
    slope: Array
    spread: Array

    @classmethod
    def of(cls, model: LineModel, F: Array, back: Array, reach: Array) -> Relaxation | None:
        """Return what is known of a model; None if nothing is.

        ``reach`` (d,) bounds the coefficients. Where one of them can be at a side of a box, at
        which subgradients are unbounded, nothing is known; nor is there where the loss has kinks.
        """
        if len(model.kinks.thresholds):
            return None
        steps = model.steps
        if steps.values.shape[1] == 0:  # smooth: the subgradient is linear in a
            slope = model.score.subdifferential(np.ascontiguousarray(back.T))[0].T
            return cls(model, F, slope, np.zeros(len(slope)))
        boxed = np.isinf(steps.lo) | np.isinf(steps.hi)
        if (boxed & (np.abs(steps.values) <= reach[steps.coefficient][:, None])).any():
            return None
        spread = np.abs(steps.between).max(axis=1)
        return cls(model, F, np.zeros((len(spread), F.shape[1])), spread)

    @property
    def etas(self) -> tuple[float, ...]:
        """The values of η worth trying; the least bound counts."""
        return _ETAS if self.spread.any() else (0.0,)

    def inequalities(self, eta: float) -> Iterator[tuple[slice, Array, Array, Array]]:
        """Yield A (s, k, k), b (s, k) and c (s,) for batches of sets."""
        model, k = self.model, self.F.shape[1]
        perturbations = model.perturbations
        at_y, at_x = self._gradient(model.y[None, :])[0], self._gradient(self.F.T)  # Ψu of y and Fx
        at_x = at_x + model.weigh(self.slope.T)  # v_0 = at_y - at_xᵀx
        root = model.score.weighting is not None and self.spread.any()
        shrink, slack = (eta if root else 0.0), self._slack(eta)
        step = max(1, _BATCH_BYTES // (8 * k * (len(model.y) + len(at_y) + 3 * k)))
        for start in range(0, perturbations.m - 1, step):
            which = slice(start, min(start + step, perturbations.m - 1))
            some = perturbations.take(which)
            delta = self._gradient(some.apply(model.y) - model.y)  # (s, K)
            moved = some.apply(self.F.T) - self.F.T[:, None, :]
            D = np.moveaxis(self._gradient(moved), 0, 1)  # (s, k, K): v_i - v_0 = delta - Dᵀx
            cross = D @ at_x.T
            A = -shrink * (at_x @ at_x.T) - (1 + shrink) * (cross + np.swapaxes(cross, 1, 2))
            A = A - (1 + eta) * (D @ np.swapaxes(D, 1, 2))
            b = -shrink * (at_x @ at_y) - (1 + shrink) * (D @ at_y + delta @ at_x.T)
            b = b - (1 + eta) * np.einsum("skK,sK->sk", D, delta)
            own = -shrink * (at_y @ at_y) - 2 * (1 + shrink) * (delta @ at_y)
            own = own - (1 + eta) * (delta**2).sum(axis=1)
            yield which, A, b, slack - own

    def _gradient(self, r: Array) -> Array:
        """Return ΨLr for r (..., n)."""
        return self.model.weigh(self.model.pull(r))

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


def relaxed_bounds(
    relaxation: Relaxation | None, N: Array, g: Array, p: Array, bound: float, sets: int
) -> tuple[Array, Array]:
    """Return upper bounds of gᵀx + p s and of -gᵀx + p s over each set and the ball, (N, sets).

    ``N`` (k,) is the diagonal of the norm. Without a relaxation the ball alone decides.
    """
    free = (g[:, N == 0] != 0).any(axis=1)
    ball = np.where(free, np.inf, bound * np.sqrt((g[:, N > 0] ** 2).sum(axis=1) + p**2))
    up = np.repeat(ball[:, None], sets, axis=1)
    down = up.copy()
    if relaxation is None:
        return up, down
    for eta in relaxation.etas:
        for which, A, b, c in relaxation.inequalities(eta):
            above, below = relaxed_supports(A, b, c, N, g, p, bound)
            up[:, which] = np.minimum(up[:, which], above)
            down[:, which] = np.minimum(down[:, which], below)
    return up, down

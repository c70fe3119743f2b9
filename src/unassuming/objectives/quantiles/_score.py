"""The weighted gradient of a loss that depends on the signs of the residuals alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.objectives._score import Score
from unassuming.objectives.kinked import least_element, optimality_gap
from unassuming.ranking import Contrast

Subdifferential = Callable[[Array], tuple[Array, Array]]


@final
@dataclass(frozen=True, eq=False)
class SignScore(Score):
    """z = P (τ - b) - Ψ s with indicators b = 1{r < 0} and a subgradient s of the penalty.

    The subgradient has the least absolute value in each coordinate, s = clip(L (τ - b), lo, hi),
    as in section 6 of docs/theory.md. Where residuals are zero, b may be anything in [0, 1]: there
    z_0 is the shortest vector that such b (and such s, if some coefficients are zero too) give. So
    Z_0 vanishes at the minimum, and it is not more than that of any indicators 0 and 1.

    Attributes
    ----------
    tau : float
        τ.
    pull : array of shape (k, n)
        P = ΨL.
    pullback : array of shape (d, n)
        L.
    weighting : array of shape (k, d)
        Ψ.
    penalty : array of shape (d,)
        Weights of the absolute values of the coefficients.
    subdifferential : callable
        a (N, d) -> lo, hi, each (N, d).

    Examples
    --------
    >>> ones, zero = np.ones((1, 2)), np.zeros(1)
    >>> score = SignScore(0.5, ones, ones, np.eye(1), zero, lambda a: (0 * a, 0 * a))
    >>> r, fresh = np.array([[3.0, 1.0], [3.0, 0.0]]), np.array([[[1.0, -1.0]]] * 2)
    >>> score.contrast(np.zeros((2, 1)), r, fresh, exact=False).statistics()
    array([[1., 0.],
           [0., 0.]])
    """

    tau: float
    pull: Array
    pullback: Array
    weighting: Array
    penalty: Array
    subdifferential: Subdifferential

    def contrast(
        self, a: Array, r: Array, perturbed: Array, *, exact: bool, error: Array | float = 0.0
    ) -> Contrast:
        """Form z_i - z_0 from the indicators that differ.

        Residuals that may be zero are zero here, so that signs carry no rounding errors.
        """
        del exact, error
        fresh = perturbed < 0
        z0, rho, s, slack = self.least(a, r)
        # The difference of indicators is an integer, unless some are free.
        step: Array = (r < 0)[:, None, :] - fresh.astype(np.float64)
        free = np.asarray((r == 0).any(axis=1))
        step[free] = (self.tau - fresh[free]) - rho[free, None, :]
        d = step @ self.pull.T
        if self.penalised:
            lo, hi = self.subdifferential(a)
            moved = self._subgradient(
                np.where(fresh, self.tau - 1, self.tau), lo[:, None, :], hi[:, None, :]
            )
            d = d - (moved - s[:, None, :]) @ self.weighting.T
        errors = np.broadcast_to(self.rounding, z0.shape)
        return Contrast(z0, d, errors, 2 * errors[:, None, :], gap_error=slack[:, None])

    def least(self, a: Array, r: Array) -> tuple[Array, Array, Array, Array]:
        """Return z_0 (N, k), τ - b (N, n), s (N, d), and by how much Z_0 may exceed its minimum."""
        rho = np.where(r < 0, self.tau - 1, self.tau)
        lo, hi = self.subdifferential(a)
        s = self._subgradient(rho, lo, hi) if self.penalised else lo
        slack, zero = np.zeros(len(r)), r == 0
        for candidate in np.flatnonzero(zero.any(axis=1)):
            rows = zero[candidate]
            kinks = lo[candidate] < hi[candidate]
            A = np.concatenate([self.pull[:, rows], -self.weighting[:, kinks]], axis=1)[None]
            rho[candidate, rows] = s[candidate, kinks] = 0.0
            z = (self.pull @ rho[candidate] - self.weighting @ s[candidate])[None]
            count = int(rows.sum())
            lower = np.r_[np.full(count, self.tau - 1), lo[candidate, kinks]][None]
            upper = np.r_[np.full(count, self.tau), hi[candidate, kinks]][None]
            x = least_element(z, A, lower, upper)
            slack[candidate] = optimality_gap(z, A, x, lower, upper)[0]
            rho[candidate, rows], s[candidate, kinks] = x[0, :count], x[0, count:]
        return rho @ self.pull.T - s @ self.weighting.T, rho, s, slack

    def of_sums(self, pulled: Array, u: Array, signs: Array) -> Array:
        """Return z (N, k) from P (τ - b) and u = L (τ - b), given the signs of coefficients (N, d).

        No residual is zero. The signs are all that the penalty depends on. Without `at_kinks`, u is
        not needed.
        """
        if not self.penalised:
            return pulled
        if not self.at_kinks(signs):
            return np.asarray(pulled - (self.penalty * signs) @ self.weighting.T)
        return np.asarray(pulled - np.clip(u, *self.subdifferential(signs)) @ self.weighting.T)

    def _subgradient(self, rho: Array, lo: Array, hi: Array) -> Array:
        return np.asarray(np.clip(rho @ self.pullback.T, lo, hi))

    def at_kinks(self, signs: Array) -> bool:
        """Whether penalised coefficients of some candidates are zero, given the signs (N, d)."""
        return self.penalised and bool((signs[:, self.penalty > 0] == 0).any())

    @property
    def penalised(self) -> bool:
        """Whether there is a penalty."""
        return bool(self.penalty.any())

    @cached_property
    def rounding(self) -> Array:
        """A bound on the rounding error of every z, (k,)."""
        n, d = self.pullback.shape[1], len(self.penalty)
        size = np.abs(self.pull).sum(axis=1) + np.abs(self.weighting) @ self.penalty
        return np.asarray(8 * EPS * (n + d) * size)

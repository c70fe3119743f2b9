"""The weighted gradient of a loss whose derivative jumps at the sides of a tube."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._rounding import EPS, length
from unassuming._typing import Array, BoolArray
from unassuming.objectives._score import LeastNormScore, Score
from unassuming.objectives.kinked._least_element import least_element, optimality_gap
from unassuming.ranking import Contrast


@final
@dataclass(frozen=True, eq=False)
class JumpScore(Score):
    """z = P ρ(r) - Ψ s with ρ(r) = sign(r) for ``|r| > ε``, 0 for ``|r| < ε``, and s smooth.

    Where ``|r| = ε`` any ρ between the two values is a derivative: there z_0 is the shortest vector
    that they give, so that Z_0 vanishes at the minimum. The perturbed residuals have the middle
    value there. So Z_0 is not more than the statistic with the middle value throughout, whose rank
    is uniform: coverage is exact for noise without atoms, and at least the level for any other.

    Attributes
    ----------
    plain : LeastNormScore
        The score with the middle values: L, ρ, s and Ψ.
    epsilon : float
        ε.

    Examples
    --------
    >>> plain = LeastNormScore(np.ones((1, 2)), np.sign, lambda a: (0 * a, 0 * a), None)
    >>> r, flipped = np.array([[3.0, 1.0], [3.0, 0.0]]), np.array([[[1.0, -1.0]]] * 2)
    >>> JumpScore(plain, 0.0).contrast(np.zeros((2, 1)), r, flipped, exact=True).statistics()
    array([[4., 0.],
           [0., 0.]])
    """

    plain: LeastNormScore
    epsilon: float

    @property
    def along_lines(self) -> LeastNormScore:
        """The score between the points at which residuals meet the sides of the tube."""
        return self.plain

    def contrast(
        self, a: Array, r: Array, perturbed: Array, *, exact: bool, error: Array | float = 0.0
    ) -> Contrast:
        """Form z_i - z_0 from ρ(G_i r) - ρ(r) alone."""
        off = np.broadcast_to(error, r.shape)
        largest = off.max(axis=1, initial=0.0) if exact else self._turned(r, off)
        moved, doubt = self._middle(perturbed, largest[:, None, None])
        rho, free = self._middle(r, off)
        s = self.plain.subdifferential(a)[0]
        slack = np.zeros(len(r))
        for candidate in np.flatnonzero(free.any(axis=1)):
            own = s[candidate][None]
            slack[candidate] = self._settle(rho[candidate], free[candidate], r[candidate], own)
        z0 = rho @ self._pull.T - self._weigh(s)
        delta = moved - rho[:, None, :]
        unit, size = 8 * EPS * (r.shape[1] + s.shape[1]), np.abs(self._pull).T
        terms = np.abs(s) if self.plain.penalty_terms is None else self.plain.penalty_terms(a)
        e0 = unit * (np.abs(rho) @ size + self._weigh(terms, absolute=True))
        # A residual that rounding may carry over the side of the tube has an unknown ρ.
        unsure = np.zeros(1) if exact else doubt
        e = (unit * np.abs(delta) + unsure) @ size
        return Contrast(z0, delta @ self._pull.T, e0, e, gap_error=slack[:, None])

    def _middle(self, r: Array, error: Array) -> tuple[Array, BoolArray]:
        """Return ρ with the middle value at the sides of the tube, and where it has that."""
        side = np.abs(np.abs(r) - self.epsilon) <= error
        half = 0.5 if self.epsilon > 0 else 0.0
        return np.where(side, half * np.sign(r), np.sign(r) * (np.abs(r) > self.epsilon)), side

    def _settle(self, rho: Array, rows: BoolArray, r: Array, s: Array) -> float:
        """Choose the free entries of ρ, in place; return by how much Z_0 may exceed its minimum."""
        A = self._pull[:, rows][None]
        rho[rows] = 0.0
        z = (self._pull @ rho)[None] - self._weigh(s)
        ends = np.sign(r[rows]) if self.epsilon > 0 else np.ones(int(rows.sum()))
        lower = np.minimum(ends, 0.0 if self.epsilon > 0 else -1.0)[None]
        upper = np.maximum(ends, 0.0)[None]
        x = least_element(z, A, lower, upper)
        rho[rows] = x[0]
        return float(optimality_gap(z, A, x, lower, upper)[0])

    def _turned(self, r: Array, error: Array) -> Array:
        """Bound the errors of residuals that were rotated, (N,)."""
        return np.asarray(length(error) + 8 * EPS * r.shape[1] * length(r))

    def _weigh(self, s: Array, *, absolute: bool = False) -> Array:
        psi = self.plain.weighting
        if psi is None:
            return s
        return np.asarray(s @ (np.abs(psi) if absolute else psi).T)

    @cached_property
    def _pull(self) -> Array:
        """P = ΨL, (k, n)."""
        L, psi = self.plain.pullback, self.plain.weighting
        assert L is not None
        return L if psi is None else np.asarray(psi @ L)

"""Statistics of assignments as functions of the effect, and where they order which way.

With M the projection that removes strata and controls, and u_i = Mt_i/‖Mt_i‖ for assignment t_i,

    Z_i(τ) = |u_iᵀ(y - τ t_0)| = |α_i - τ β_i|,      |β_i| <= β_0 = ‖Mt_0‖.

It increases with the t statistic of t_i in least squares of y - τ t_0 on strata, controls and t_i,
and vanishes for t_0 at the least squares estimate α_0/β_0. So {Z_0 <= Z_i} is an interval around
the estimate, from (α_0 - α_i)/(β_0 - β_i) to (α_0 + α_i)/(β_0 + β_i).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import qr

from unassuming._rounding import EPS, powers_of_two, rank_cut
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.experiments._assignments import Design
from unassuming.experiments._experiment import Experiment
from unassuming.ranking import precedes

_INDEPENDENT = 1e-9
"""A vector of which less than this share is left by the projection lies in its null space."""


@final
@dataclass(frozen=True, eq=False)
class Projection:
    """M: least squares residuals on indicators of the strata and on the controls."""

    stratum: IntArray  # (n,)
    basis: Array  # (n, k): orthonormal, of the controls without strata

    @classmethod
    def of(cls, experiment: Experiment) -> Projection:
        """Remove strata from the controls, and dependent columns."""
        stratum = experiment.stratum[experiment.unit_of_row]
        bare = cls(stratum, np.empty((len(stratum), 0)))
        moved = bare.near_zero(experiment.controls.T)
        columns = bare(moved).T
        size = np.abs(moved).max(axis=1, initial=0.0)
        columns = columns[:, np.abs(columns).max(axis=0, initial=0.0) > 64 * EPS * size]
        if not columns.shape[1]:
            return bare
        columns = columns / powers_of_two(np.abs(columns).max(axis=0))
        q, r, _ = qr(columns, mode="economic", pivoting=True)
        diagonal = np.abs(np.diagonal(r))
        keep = diagonal > rank_cut(columns.shape) * diagonal[0]
        return cls(stratum, np.asarray(q[:, : int(keep.sum())]))

    def near_zero(self, v: Array) -> Array:
        """Subtract medians within strata, so that no digits are lost to a common shift."""
        out = np.array(v)
        for rows in self._parts:
            out[..., rows] -= np.median(v[..., rows], axis=-1, keepdims=True)
        return out

    @cached_property
    def _parts(self) -> list[IntArray]:
        return [np.flatnonzero(self.stratum == s) for s in np.unique(self.stratum)]

    def __call__(self, v: Array) -> Array:
        """Return M v for vectors (..., n)."""
        for _ in range(2):  # twice, for rounding
            v = np.array(v)
            for rows in self._parts:
                v[..., rows] -= v[..., rows].mean(axis=-1, keepdims=True)
            if self.basis.shape[1]:
                v -= (v @ self.basis) @ self.basis.T
        return v


@final
@dataclass(frozen=True, eq=False)
class EffectLines:
    """Z_i(τ) = |α_i - τ β_i| of m assignments, the one that was made first, and their errors.

    Attributes
    ----------
    alpha, beta : arrays of shape (m,)
    alpha_error, beta_error : float
        Bounds of the rounding errors of all of them.
    same : boolean array of shape (m - 1,)
        Which assignments equal the one that was made, or its mirror image.
    tie_order : integer array of shape (m,)
    """

    alpha: Array
    beta: Array
    alpha_error: float
    beta_error: float
    same: BoolArray
    tie_order: IntArray

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        design: Design,
        others: Iterable[BoolArray],
        tie_order: IntArray,
    ) -> EffectLines:
        """Compute α and β of the assignment that was made and of batches of others."""
        project = Projection.of(experiment)
        scale = float(powers_of_two(np.abs(experiment.y).max()))  # no square over- or underflows
        y, own = experiment.y / scale, experiment.rows(experiment.treated[None])[0]
        y = project.near_zero(y)
        residual, direction = project(y), project(own)
        beta0 = float(np.linalg.norm(direction))
        if beta0 <= _INDEPENDENT * float(np.linalg.norm(own - own.mean())):
            raise ValueError(
                "treatment is a linear combination of the controls and strata: expected controls "
                "that do not determine who was treated, given "
                f"{experiment.controls.shape[1]} of them. Drop the controls that do."
            )
        alpha, beta = [np.array([direction @ residual / beta0])], [np.array([beta0])]
        same = []
        for batch in others:
            rows = project(experiment.rows(batch))
            size = np.linalg.norm(rows, axis=1)
            # An assignment that the controls determine says nothing: its statistic is zero.
            unit = rows / np.where(size > _INDEPENDENT * beta0, size, np.inf)[:, None]
            alpha.append(unit @ residual)
            beta.append(unit @ direction)
            same.append(design.same(batch))
        steps = 8 * EPS * (len(y) + project.basis.shape[1] + 8)
        size = float(np.linalg.norm(experiment.y / scale))
        return cls(
            alpha=scale * np.concatenate(alpha),
            beta=np.concatenate(beta),
            # y has rounding errors of its own, which are relative to y.
            alpha_error=scale * (steps * float(np.linalg.norm(y)) + EPS * size),
            beta_error=steps * beta0,
            same=np.concatenate(same),
            tie_order=tie_order,
        )

    @property
    def m(self) -> int:
        """Number of statistics."""
        return len(self.alpha)

    @property
    def estimate(self) -> float:
        """Where Z_0 vanishes: the least squares estimate of the effect."""
        return float(self.alpha[0] / self.beta[0])

    def statistics(self, effects: Array) -> Array:
        """Return Z_0, ..., Z_{m-1} at effects (N,), shape (N, m)."""
        return np.abs(self.alpha - effects[:, None] * self.beta)

    def ranks(self, effects: Array) -> IntArray:
        """Return the ranks of Z_0 at effects (N,)."""
        x = self.alpha - effects[:, None] * self.beta
        error = 2 * (self.alpha_error + np.abs(effects)[:, None] * self.beta_error)
        less, more = np.abs(x[:, 1:]) - np.abs(x[:, :1]), np.where(self.same, np.inf, error)
        return np.asarray(1 + precedes(less, more, self.tie_order).sum(axis=1, dtype=np.intp))

    def ends(self) -> tuple[Array, Array]:
        """Return outer bounds of the intervals {Z_0 <= Z_i}, (m - 1,) each; empty: inf to -inf.

        An assignment that equals the one that was made ties everywhere, and the tie order decides.
        """
        low, high = np.full(self.m - 1, np.inf), np.full(self.m - 1, -np.inf)
        for sign in (-1.0, 1.0):
            root, error = self._root(sign)
            low, high = np.minimum(low, root - error), np.maximum(high, root + error)
        wins = self.tie_order[0] < self.tie_order[1:]
        low = np.where(self.same, np.where(wins, -np.inf, np.inf), low)
        high = np.where(self.same, np.where(wins, np.inf, -np.inf), high)
        return low, high

    def _root(self, sign: float) -> tuple[Array, Array]:
        """Return where α_0 ± α_i = τ (β_0 ± β_i), and a bound of the error, infinite if unknown."""
        top = self.alpha[0] + sign * self.alpha[1:]
        slope = self.beta[0] + sign * self.beta[1:]
        least = slope - 2 * self.beta_error
        known = least > 0
        root = np.where(known, top / np.where(known, slope, 1.0), self.estimate)
        error = 2 * (self.alpha_error + np.abs(root) * self.beta_error)
        # The division, and the addition of the error, round once more.
        error = error / np.where(known, least, 1.0) + 4 * EPS * np.abs(root)
        return root, np.where(known, error, np.inf)

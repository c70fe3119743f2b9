"""Ranks of many candidates under random signs, off the kinks (docs/theory.md 4.6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.noise import Perturbations
from unassuming.objectives import DesignedObjective, LeastNormScore
from unassuming.regions._lifted import LARGEST_TABLE

_EPS = float(np.finfo(np.float64).eps)
_TINY = 1e-290
"""Differences below it may be what underflow has left of something else."""


@dataclass(frozen=True, eq=False)
class FlippedGaps:
    """Z_i - Z_0 of LASSO and ε-SVR, for all i in one matrix product.

    Away from the kinks of the penalty z_i = B G_i r - Ψp with B = ΨL and p its one subgradient.
    With N the rows that G_i flips, M = BᵀB and w = BᵀΨp,

        (Z_i - Z_0) / 4 = Σ_{j in N} w_j r_j - Σ_{j in N, k not in N} M_jk r_j r_k :

    linear in the products r_j r_k (j < k) and w_j r_j.

    Attributes
    ----------
    objective : DesignedObjective
    score : LeastNormScore
    table : array of shape (m - 1, n (n + 1) / 2)
        -M_jk where G_i tells the rows j < k apart, then 1 where it flips a row.
    back : array of shape (n, k)
        BᵀΨ, from p to w.
    M_size, back_size : arrays of shapes (n, n) and (n, k)
        Bounds of M and `back` before cancellation: what rounding errors are relative to.
    identical : array of shape (m - 1,)
        Which G_i are the identity, so that Z_i = Z_0 for every candidate.
    """

    objective: DesignedObjective
    score: LeastNormScore
    table: Array
    back: Array
    M_size: Array
    back_size: Array
    identical: BoolArray

    @classmethod
    def build(
        cls, objective: DesignedObjective, score: LeastNormScore, perturbations: Perturbations
    ) -> FlippedGaps | None:
        """Build the table, or return None if it would be too large."""
        n = objective.n
        if n * (n + 1) // 2 * (perturbations.m - 1) > LARGEST_TABLE:
            return None
        flips = perturbations.apply(np.ones(n)) < 0
        B = np.eye(n) if score.pullback is None else score.pullback
        psi = np.eye(len(B)) if score.weighting is None else score.weighting
        B, B_size = psi @ B, np.abs(psi) @ np.abs(B)
        M, M_size = B.T @ B, B_size.T @ B_size
        j, k = np.triu_indices(n, 1)
        table = np.concatenate([-M[j, k] * (flips[:, j] != flips[:, k]), flips], axis=1)
        return cls(
            objective=objective,
            score=score,
            table=table,
            back=B.T @ psi,
            M_size=M_size,
            back_size=B_size.T @ np.abs(psi),
            identical=np.asarray(~flips.any(axis=1)),
        )

    def gaps(self, a: Array, r: Array) -> tuple[Array, BoolArray]:
        """Return (Z_i - Z_0) / 4, shape (N, m - 1), and which candidates have a sign in doubt."""
        lo, hi = self.score.subdifferential(a)
        p = np.where(lo < hi, 0.0, lo)
        w, r = self.back @ p.T, np.ascontiguousarray(r.T)
        features = np.empty((self.table.shape[1], len(a)))
        n, start = len(r), 0
        for j in range(n):
            np.multiply(r[j], r[j + 1 :], out=features[start : start + n - 1 - j])
            start += n - 1 - j
        np.multiply(w, r, out=features[start:])
        gaps = self.table @ features
        # The terms are off by their own rounding, and by that of the residuals.
        size, error = np.abs(r), self.objective.residual_error(a, r.T).T
        quadratic, linear = self.M_size @ size, self.back_size @ np.abs(p).T
        unit = 8 * _EPS * (len(features) + sum(self.back.shape))
        tolerance = unit * ((quadratic + linear) * size).sum(axis=0)
        tolerance += ((2 * quadratic + linear + self.M_size @ error) * error).sum(axis=0)
        sure = np.abs(gaps) > tolerance + _TINY  # False also where anything overflowed
        sure |= self.identical[:, None]
        gaps[self.identical] = 0.0
        return gaps.T, ~(sure.all(axis=0) & (lo == hi).all(axis=1))

"""The screen of objectives with least-norm gradients (docs/theory.md 4.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import EPS, length, powers_of_two
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership.screens._monomials import Floats, pairs_into, pairs_of
from unassuming.membership.screens._screen import FAR, LARGEST_TABLE, TableScreen, ties_before
from unassuming.noise import Perturbations
from unassuming.objectives import Design, LeastNormScore, Objective, entry_errors


@final
@dataclass(frozen=True, eq=False)
class ResidualScreen(TableScreen):
    """The gaps as functions of u = ρ(r) and the penalty's gradient p, where it has one.

    With M = LᵀΨᵀΨL, μ = ‖M‖ and c = LᵀΨᵀΨp/μ the gap is uᵀ(GᵀMG - M)u - 2μ((G - I)u)ᵀc: linear in
    the monomials u_j u_l and u_l c_j. Columns that are zero for every G are left out, so that signs
    need c_j u_j only, and with M = I no u_j u_l at all. In units of ‖u‖ t, t = max(‖u‖, ‖c‖), the
    monomials have a length of at most √2. Where the subdifferential is more than a point, the
    candidate is in doubt.
    """

    objective: Objective
    score: LeastNormScore
    back: Array  # (k, n): c = pᵀ back
    first: int  # pairs u_j u_l are needed for l >= j + first, n if for none
    rows: IntArray  # the pairs u_l c_j that are needed: l
    columns: IntArray  # and j
    reach: tuple[float, Array, float]  # errors of u, c are relative to these times 1, |a| and ‖p‖

    @classmethod
    def build(
        cls,
        objective: Objective,
        design: Design,
        score: LeastNormScore,
        perturbations: Perturbations,
        tie_order: IntArray,
    ) -> ResidualScreen | None:
        """Return the screen, or None if its table would be too large or is zero."""
        n, sets = perturbations.n, perturbations.m - 1
        if 3 * n * n // 2 * sets > LARGEST_TABLE:
            return None
        G = np.moveaxis(perturbations.apply(np.eye(n)), 0, 2)  # (m - 1, n, n)
        idle = (np.eye(n) == G).all(axis=(1, 2))
        G = G[~idle]
        L = np.eye(n) if score.pullback is None else score.pullback
        power = float(powers_of_two(np.abs(L).max()))  # no square over- or underflows
        L = L / power
        psi_L = L if score.weighting is None else score.weighting @ L
        back = psi_L if score.weighting is None else score.weighting.T @ psi_L
        M = psi_L.T @ psi_L
        mu, pull_size = float(np.linalg.norm(M)), float(np.linalg.norm(L))
        if mu == 0:
            return None
        turned = np.swapaxes(G, 1, 2) @ M @ G - M
        turned = (turned + np.swapaxes(turned, 1, 2)) / 2
        on_diagonal = np.diagonal(turned, axis1=1, axis2=2).any()
        first = int(not on_diagonal) if turned.any() else n
        moved = -2 * mu * (G - np.eye(n))
        columns, rows = np.nonzero(moved.any(axis=0))  # ((G - I)u)_j has u_l times [j, l]
        table = np.concatenate([pairs_of(turned, first), moved[:, columns, rows]], axis=1)
        # The careful comparison weighs with |Ψ| and |L|: its ties are no wider than this.
        weight = 1.0 if score.weighting is None else float(np.linalg.norm(score.weighting))
        size = mu if score.pullback is None else (weight * pull_size) ** 2
        unit = 8 * EPS * (table.shape[1] + sum(design.matrix.shape))
        tolerance = unit * (np.linalg.norm(table, axis=1) + 4 * FAR * size)
        of_a, entries = length(design.matrix.T), entry_errors(design)
        if entries is not None:
            of_a = of_a + length(entries.T) / (8 * EPS * sum(design.matrix.shape))
        penalty = max(float(np.linalg.norm(back)) / mu, 1 / pull_size) / power
        return cls(
            table=table / tolerance[:, None],
            ties=ties_before(idle, tie_order),
            objective=objective,
            score=score,
            back=back / mu / power,
            first=first,
            rows=rows,
            columns=columns,
            reach=(float(length(objective.y)), of_a, penalty),
        )

    def monomials(self, a: Array) -> tuple[Floats, BoolArray]:
        """Return u_j u_l and u_l c_j, in units of ‖u‖ t."""
        u = self.objective.residuals(a)
        if self.score.influence is not None:
            u = self.score.influence(u)
        p, hi = self.score.subdifferential(a)
        doubt = (p < hi).any(axis=1)
        u, c = u.T, (p @ self.back).T
        size = np.sqrt(np.einsum("jn,jn->n", u, u))
        t = np.maximum(size, np.sqrt(np.einsum("jn,jn->n", c, c)))
        x, y, z = u / size, u / t, c / t
        monomials = np.empty((self.table.shape[1], len(a)))
        start = pairs_into(monomials, x, y, self.first)
        np.multiply(x[self.rows], z[self.columns], out=monomials[start:])
        of_y, of_a, of_p = self.reach
        off = of_y + np.abs(a) @ of_a + of_p * np.linalg.norm(p, axis=1)
        return monomials, doubt | ~(off <= FAR * size)

"""Gaps of label regions from labels and fitted values alone (docs/theory.md 8).

With the smoother S = W^{1/2}Φ N⁺ΦᵀW^{1/2} of a quadratic objective, Ψ = H^{-1/2} and f = Φa

    n (Z_i - Z_0) = δᵀ W^{1/2}SW^{1/2} (y_i + y) - 2 δᵀWf,      δ = y_i - y.

The penalty is gone, and so are the fitted values of labels that stay as they are. Both may be known
to few digits, where their terms are long and cancel. If ΦᵀWδ = 0, as where labels are exchanged
between equal inputs, the two tie for every candidate; that is decided without rounding. So is what
double precision leaves in doubt, unless there are many rows or columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._exact import Exact
from unassuming._rounding import gamma, length
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._doubt import Doubt
from unassuming.membership._exact import ExactGaps
from unassuming.membership._states import State
from unassuming.membership._systems import System, system_of
from unassuming.objectives import (
    Images,
    LeastNormScore,
    Moves,
    Quadratic,
    RowSpace,
    Score,
    projector_error,
    row_space,
)


@final
@dataclass(frozen=True, eq=False)
class LabelGaps:
    """Z_i - Z_0 for labels, a quadratic objective and Ψ = H^{-1/2}.

    ``pull`` (k, n) is H^{-1/2}ΦᵀW/n, and ``defect`` bounds the error of S in double precision.
    """

    objective: Quadratic
    pull: Array
    defect: float

    @classmethod
    def of(cls, objective: Quadratic, score: Score) -> LabelGaps:
        """Read ``pull`` off a score."""
        o = objective
        assert isinstance(score, LeastNormScore)
        assert score.pullback is not None
        return cls(o, score.pullback, projector_error(o.design, o.w, o.lam, o.whitening))

    def errors(self, a: Array, images: Images) -> tuple[Array, Array]:
        """Bound the errors of Z_i - Z_0 that come from S, by products of two (N, m - 1) each."""
        return Doubt(self.objective, self.defect, None).gaps(a, images)

    def decided(
        self,
        before: BoolArray,
        open_: BoolArray,
        a: Array,
        images: Images,
        ties: BoolArray,
        *,
        functions: bool,
    ) -> tuple[BoolArray, BoolArray]:
        """Decide pairs that another comparison leaves ``open_``; return all, and what stays open.

        ``ties`` (m - 1,) are the decisions of the tie order. The fitted values of ``functions``
        need not be those of their coefficients (N, d).
        """
        rows, sets = np.nonzero(open_)
        change, before, open_ = self._change(images, rows, sets), before.copy(), open_.copy()
        known = np.zeros(len(rows), dtype=np.bool_)
        if not functions:
            gaps, error = self._gaps(images, rows, change)
            known = np.abs(gaps) > error
            before[rows, sets] = np.where(known, gaps < 0, before[rows, sets])
        same = ~known
        distinct, back = np.unique(change[same], axis=0, return_inverse=True)
        same[same] = self._rows.vanish(distinct / 2, self.objective.w)[back.reshape(-1)]
        before[rows[same], sets[same]] = ties[sets[same]]
        known |= same
        rest = np.flatnonzero(~known)
        if rest.size and not functions and self._system is not None:
            for row in np.unique(rows[rest]):
                some = rest[rows[rest] == row]
                signs, which = self._signs(self._system, a[row], change[some]), sets[some]
                before[row, which] = np.where(signs == 0, ties[which], signs < 0)
                known[some] = True
        open_[rows, sets] = ~known
        return before, open_

    @cached_property
    def _system(self) -> System | None:
        """The equations in exact numbers; None if they take too long, or data are rounded."""
        return system_of(self.objective) if ExactGaps.affordable(self.objective) else None

    def _signs(self, system: System, a: Array, change: Array) -> IntArray:
        """Return the signs of Z_i - Z_0 of a candidate (d,) for some δ (k, n), zero for ties."""
        k, n = change.shape
        whole, still = Exact.of(a), Moves(np.tile(np.arange(n), (k, 1)), np.ones((k, n)))
        moved = system.changes(Exact(change.T.astype(np.int64).astype(object), 0))
        # Labels are not rounded, so that only equal statistics tie.
        parts = whole, system.residuals(whole), np.arange(k), self._never, moved
        return np.array(State(system, still, *parts).signs, dtype=np.intp)

    @staticmethod
    def _never(which: IntArray) -> BoolArray:
        """Take no statistics to tie for all candidates: those that do were left out before."""
        return np.zeros(len(which), dtype=np.bool_)

    @cached_property
    def _rows(self) -> RowSpace:
        return row_space(self.objective.design)

    def _change(self, images: Images, rows: IntArray, sets: IntArray) -> Array:
        """Return δ for pairs of a candidate and a set: labels are ±1."""
        return np.asarray(2 * np.round((images.perturbed[rows, sets] - images.residuals[rows]) / 2))

    def _gaps(self, images: Images, rows: IntArray, change: Array) -> tuple[Array, Array]:
        """Return Z_i - Z_0 for pairs of a candidate and a set, and bounds of the errors."""
        o, pull = self.objective, self.pull
        r, w = images.residuals[rows], o.w / o.n
        both = change + 2 * o.y
        fits = w * change * (o.y - r)
        gaps = ((change @ pull.T) * (both @ pull.T)).sum(axis=1) - 2 * fits.sum(axis=1)
        size = np.abs(pull.T)
        terms = ((np.abs(change) @ size) * (np.abs(both) @ size)).sum(axis=1)
        error = gamma(2 * sum(pull.shape) + 4) * (terms + 2 * np.abs(fits).sum(axis=1))
        error += 2 * (w * np.abs(change) * images.error[rows]).sum(axis=1)
        root = np.sqrt(w)
        with np.errstate(invalid="ignore"):  # an infinite error decides nothing
            return gaps, error + self.defect * length(change * root) * length(both * root)

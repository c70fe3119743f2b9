"""Ends of sets on lines that double precision has lost: without rounding, or in doubt.

One number that exceeds all others hides what a line changes in the other rows: the coefficient of
t² is then less than its own rounding error, and the line seems to be free. Two such numbers in a
row hide its residual: the terms of the fitted value cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._rounding import length
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic import SURE, FormMaker, LineQuadratics, OriginErrors
from unassuming.membership import ExactGaps, LineGaps, RankEngine
from unassuming.objectives import Moves, Quadratic

_FINE = 1e-6
"""A relative error of ends up to which double precision is preferred to exact numbers."""
_OF_WIDTH = 1e-3
"""Errors relative to the length of an interval are smaller than those relative to its ends."""


@final
@dataclass(frozen=True, eq=False)
class LostLines:
    """The sets of features that the ranks do not confirm, because there are too many rows."""

    objective: Quadratic
    engine: RankEngine

    @classmethod
    def of(cls, objective: Quadratic, engine: RankEngine) -> LostLines | None:
        """Return the sets; None if ranks confirm them, or nothing does."""
        perturbations, design = engine.perturbations, objective.design
        plain = perturbations.noise.exact_arithmetic and perturbations.rounded is None
        if ExactGaps.affordable(objective) or design.dual or design.rounding or not plain:
            return None
        return cls(objective, engine)

    @cached_property
    def _moves(self) -> Moves:
        perturbations = self.engine.perturbations
        return Moves.of(perturbations.apply(np.arange(1.0, perturbations.n + 1)))

    @cached_property
    def _gaps(self) -> ExactGaps | None:
        return ExactGaps.build(self.objective, self._moves)

    def origin_errors(self, maker: FormMaker) -> OriginErrors:
        """Return how far the residuals and the gradient are from those that the forms assume.

        The residuals are known to the last digits, so their errors are measured, not bounded.
        """
        known = maker.accurate
        assert known is not None
        with np.errstate(all="ignore"):  # what overflows is not confirmed
            moved = self.engine.perturbations.apply(known.values) - known.values
            off = length(moved - maker.moved) + length(known.values - maker.residual)
            gradient = float(length(known.gradient_error))
            return OriginErrors(off / 4, gradient, self.objective.whitening.defect)

    def correct(
        self, maker: FormMaker, lines: LineQuadratics, a: Array, u: Array, low: Array, high: Array
    ) -> BoolArray:
        """Correct the ends of sets on lines a + t u (N, d), and return which are not known."""
        # Rows that exceed all others make forms vanish up to rounding: that alone is not a tie.
        tied = maker.certain_ties | ~maker.moved.any(axis=1)
        fine, rough = (self._uncertain(lines, low, high, tied, near) for near in (_FINE, SURE))
        doubt = np.zeros_like(fine)
        wins = self.engine.tie_order[1:] > self.engine.tie_order[0]
        for row in np.flatnonzero(fine.any(axis=1)):
            open_ = ~self._certainly_free(u[row])
            # If all that is uncertain takes too long, what would be in doubt may not.
            for uncertain in (fine[row], rough[row]):
                which = np.flatnonzero(uncertain & open_)
                if ExactGaps.affordable(self.objective, sets=len(which)) and self._gaps is not None:
                    low[row, which], high[row, which] = self._gaps.ends(
                        a[row], u[row], which, wins[which]
                    )
                    break
            else:
                doubt[row] = rough[row] & open_
        return doubt

    @staticmethod
    def _uncertain(
        lines: LineQuadratics, low: Array, high: Array, tied: BoolArray, near: float
    ) -> BoolArray:
        """Return which ends may be off by more than a relative error, (N, m - 1)."""
        gaps = quick_gaps(lines)
        found = lines.noise > near * lines.A
        if gaps is not None:
            found |= ~gaps.confirmed(low, high, near, near * _OF_WIDTH) & ~tied
        return np.asarray(found & ~(lines.empty & tied))

    def _certainly_free(self, u: Array) -> BoolArray:
        """Return which sets keep or reverse the change of fitted values, to the last digit."""
        change = self.objective.design.matrix @ u
        moved = self._moves.apply(change[None])[0]
        kept = (moved == change).all(axis=1)
        return np.asarray(kept | ((moved == -change).all(axis=1) & self.objective.sign_blind))


def quick_gaps(lines: LineQuadratics) -> LineGaps | None:
    """Return what the quadratics of lines confirm, if bounds of their errors are known."""
    if lines.errors is None:
        return None
    dc, db, dk = lines.errors
    values = np.stack([lines.c, -2 * lines.b, -lines.A])
    return LineGaps(values, np.stack([dc, 2 * db, dk]))

"""Ends of sets on lines that double precision has lost: without rounding, or in doubt.

One number that exceeds all others hides what a line changes in the other rows: the coefficient of
t² is then less than its own rounding error, and the line seems to be free.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic import SURE, LineQuadratics
from unassuming.membership import ExactGaps, LineGaps, RankEngine
from unassuming.objectives import Moves, Quadratic


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

    def ends(
        self, lines: LineQuadratics, a: Array, u: Array, low: Array, high: Array
    ) -> tuple[Array, Array, BoolArray]:
        """Correct the ends of sets on lines a + t u (N, d), and return which are not known."""
        low, high = low.copy(), high.copy()
        doubt = (lines.noise > SURE * lines.A) & ~lines.empty
        wins = self.engine.tie_order[1:] > self.engine.tie_order[0]
        for row in np.flatnonzero(doubt.any(axis=1)):
            doubt[row] &= ~self._certainly_free(u[row])
            which = np.flatnonzero(doubt[row])
            if ExactGaps.affordable(self.objective, sets=len(which)) and self._gaps is not None:
                low[row, which], high[row, which] = self._gaps.ends(
                    a[row], u[row], which, wins[which]
                )
                doubt[row] = False
        return low, high, doubt

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

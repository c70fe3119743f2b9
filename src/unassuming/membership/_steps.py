"""Steps along many lines, in exact numbers: what they change is linear in the step."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from unassuming._exact import Exact
from unassuming._typing import IntArray
from unassuming.membership._systems import FeatureSystem, System
from unassuming.objectives import Moves


@final
class Steps:
    """ΦᵀW (G_i - I) r for steps u of the coefficients, where r = -Φu.

    A table of ΦᵀW (G_i - I) Φ takes as long as one step for each coefficient. It is made when more
    steps than that have been asked for.
    """

    def __init__(self, system: System, moves: Moves) -> None:
        self.system, self.moves, self.asked = system, moves, 0

    def changes(self, u: Exact, which: IntArray) -> Exact | None:
        """Return what a step (d,) changes for some i - 1, (d, k); None if that is not known yet."""
        self.asked += 1
        if not isinstance(self.system, FeatureSystem) or self.asked <= self.system.d:
            return None
        table = self._table[:, which]
        return Exact(-np.dot(table.number, u.number), table.shift + u.shift)

    @cached_property
    def _table(self) -> Exact:
        """ΦᵀW (G_i - I) Φ, (d, m - 1, d)."""
        Phi, found = self.system.Phi, []
        for rows, signs in zip(self.moves.rows, self.moves.signs, strict=True):
            moved = Phi.number[rows] * signs.astype(np.int64).astype(object)[:, None]
            found.append(self.system.changes(Exact(moved - Phi.number, Phi.shift)))
        return Exact(np.stack([one.number for one in found], axis=1), found[0].shift)

"""Candidates in, ranks out: the only caller of `Score.gaps` (docs/theory.md 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from unassuming._second.noise import Noise
from unassuming._second.objectives.base import Objective, Weighting
from unassuming._second.objectives.score import Score, State
from unassuming._second.ranking import Order
from unassuming._typing import Array, BoolArray, IntArray

_NUMBERS = 2**21
"""Residuals in one batch."""


@final
@dataclass(frozen=True, eq=False)
class Engine:
    """Compares Z_i with Z_0 for candidates: coefficients (N, d), or the states of functions.

    ``weighting`` is that of the objective unless one is given. The noise is that of the rows of the
    objective, which may be rotated rows.
    """

    objective: Objective
    noise: Noise
    drawn: Any
    order: Order
    weighting: Weighting | None = None

    @property
    def m(self) -> int:
        """Number of statistics, that of the candidate included."""
        return len(self.order.pi)

    @cached_property
    def score(self) -> Score:
        """The statistics."""
        psi = self.objective.default_weighting if self.weighting is None else self.weighting
        return self.objective.score(psi)

    def state(self, candidates: Array | State) -> State:
        """Return residuals, fitted values and their rounding."""
        return candidates if isinstance(candidates, State) else self.objective.state(candidates)

    def gaps(self, candidates: Array | State, sets: IntArray | None = None) -> tuple[Array, Array]:
        """Return Z_i - Z_0 and its tolerance, (N, m - 1); for the sets (N,) of pairs, (N,) each."""
        at = self.state(candidates)
        if sets is not None:
            found = self._batched(at, 1, lambda part, which: self._pairs(part, sets[which]))
            return found[0][:, 0], found[1][:, 0]
        every = self._batched(at, self.m - 1, lambda part, _: self._moved(part))
        return every[0], every[1]

    def before(self, candidates: Array | State) -> BoolArray:
        """Whether Z_i ≺ Z_0, (N, m - 1)."""
        return self.order.before(*self.gaps(candidates))

    def rank(self, candidates: Array | State) -> IntArray:
        """Return ranks (N,), from 1 to m; m for candidates that cannot have produced the data."""
        at = self.state(candidates)
        ranks = 1 + self.before(at).sum(axis=-1, dtype=np.intp)
        return np.where(self.noise.admits(at.r, at.f), ranks, self.m)

    def statistics(self, candidates: Array | State) -> Array:
        """Return Z_0, ..., Z_{m-1}, (N, m)."""
        at = self.state(candidates)
        step = max(1, _NUMBERS // (at.r.shape[1] * self.m))
        parts = [at.take(slice(i, i + step)) for i in range(0, len(at), step)]
        found = [self.score.statistics(part, self._moved(part)) for part in parts]
        return np.concatenate(found) if found else np.empty((0, self.m))

    def _moved(self, at: State) -> Array:
        return np.asarray(self.noise.apply(self.drawn, at.r, at.f), dtype=np.float64)

    def _pairs(self, at: State, sets: IntArray) -> Array:
        return self.noise.paired(self.drawn, sets, at.r, at.f)[:, None]

    def _batched(self, at: State, size: int, moved: Any) -> Array:
        """Return gaps and tolerances, (2, N, size), in batches of candidates."""
        step = max(1, _NUMBERS // (at.r.shape[1] * size))
        if len(at) <= step:
            return np.asarray(self.score.gaps(at, moved(at, slice(None))))
        found = np.empty((2, len(at), size))
        for i in range(0, len(at), step):
            which = slice(i, i + step)
            part = at.take(which)
            found[:, which] = self.score.gaps(part, moved(part, which))
        return found

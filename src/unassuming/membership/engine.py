"""Candidates in, ranks out: the only caller of `Score.gaps` (docs/theory.md 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from unassuming._batches import slices
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.noise import Noise
from unassuming.objectives.base import Objective, Weighting, as_state
from unassuming.objectives.score import Groups, Score, State
from unassuming.ranking import Order

_NUMBERS = 2**18
"""Residuals in one batch of candidates, so that they stay in the cache."""

_FROM = 500
"""Rows from which on those with equal signs are collected."""

_LARGEST = 2**22
"""Residuals in one batch of transformations of a candidate."""


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
        return as_state(candidates, self.objective)

    def gaps(self, candidates: Array | State, sets: IntArray | None = None) -> tuple[Array, Array]:
        """Return Z_i - Z_0 and its tolerance, (N, m - 1); for the sets (N,) of pairs, (N,) each."""
        found = np.empty((2, len(candidates), self.m - 1 if sets is None else 1))
        for which, at in self._batches(candidates, found.shape[2]):
            if sets is None:
                found[:, which] = self._compared(at)
            else:
                moved = self.noise.paired(self.drawn, sets[which], at.r, at.f)
                found[:, which] = self.score.gaps(at, moved[:, None])
        gap, tolerance = found if sets is None else found[:, :, 0]
        return gap, tolerance

    def before(self, candidates: Array | State) -> BoolArray:
        """Whether Z_i ≺ Z_0, (N, m - 1)."""
        return self.order.before(*self.gaps(candidates))

    def rank(self, candidates: Array | State) -> IntArray:
        """Return ranks (N,), from 1 to m; m for candidates that cannot have produced the data."""
        found = np.empty(len(candidates), dtype=np.intp)
        for which, at in self._batches(candidates, self.m - 1):
            ranks = self.order.rank(*self._compared(at))
            found[which] = np.where(self.noise.admits(at.r, at.f), ranks, self.m)
        return found

    def statistics(self, candidates: Array | State) -> Array:
        """Return Z_0, ..., Z_{m-1}, (N, m)."""
        found = np.empty((len(candidates), self.m))
        for which, at in self._batches(candidates, self.m):
            parts = [self.score.statistics(at, moved) for moved in self._moved(at)]
            found[which] = np.hstack([parts[0], *(part[:, 1:] for part in parts[1:])])
        return found

    def _compared(self, at: State) -> list[Array]:
        """Return Z_i - Z_0 and its tolerance for all sets, (N, m - 1) each."""
        if self._groups is not None:
            found = self.score.gaps_of_groups(at, self._groups)
            if found is not None:
                return found
        parts = [self.score.gaps(at, moved) for moved in self._moved(at)]
        if len(parts) == 1:
            return parts[0]
        return [np.hstack(both) for both in zip(*parts, strict=True)]

    @cached_property
    def _groups(self) -> Groups | None:
        """Rows whose signs are the same in all sets, if there are many of them."""
        many = self.noise.rowwise and self.objective.n > _FROM
        return Groups.of(self.drawn) if many else None

    def moved(self, r: Array) -> Array:
        """Return G_i r of residuals (N, n), (N, m - 1, n), under noise that fits do not enter."""
        return np.asarray(self.noise.apply(self.drawn, r, r), dtype=np.float64)

    def _moved(self, at: State) -> Iterator[Array]:
        """Return the transformed residuals, of some sets at a time if there are many rows."""
        step = max(1, _LARGEST // at.r.size)
        for some in slices(self.m - 1, step):
            drawn = self.drawn if step >= self.m - 1 else self.noise.take(self.drawn, some)
            yield np.asarray(self.noise.apply(drawn, at.r, at.f), dtype=np.float64)

    def _batches(self, candidates: Array | State, size: int) -> Iterator[tuple[slice, State]]:
        """Return states in batches, so that memory does not grow with their number."""
        step = max(1, _NUMBERS // (self.objective.n * max(size, self.objective.d)))
        for which in slices(len(candidates), step):
            yield which, self.state(candidates[which])

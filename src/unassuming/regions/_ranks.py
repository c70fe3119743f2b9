"""Statistics and ranks of any number of candidates, in batches of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array, IntArray
from unassuming.noise import Perturbations
from unassuming.objectives import Objective, Quadratic, Score
from unassuming.ranking import Contrast, precedes, rank
from unassuming.regions._candidates import Candidates
from unassuming.regions._lifted import LiftedGaps

BATCH_BYTES = 2**24
"""The working memory of one batch: near the size of a cache, whatever the number of candidates."""

_FEW = 32  # up to here the table of the lifted product is not worth building


class RankEngine:
    """Ranks of candidates: the careful comparison, and a fast path that defers to it.

    The fast path (THEORY.md 4.6) serves coefficient vectors of a quadratic objective under linear
    transformations. A candidate with any comparison that rounding could decide goes to the careful
    comparison, so both give the same ranks.
    """

    def __init__(
        self,
        objective: Objective,
        score: Score,
        perturbations: Perturbations,
        tie_order: IntArray,
        *,
        whitened: bool,
    ) -> None:
        self.objective = objective
        self.score = score
        self.perturbations = perturbations
        self.tie_order = tie_order
        self.whitened = whitened

    def statistics(self, candidates: Candidates) -> Array:
        """Return Z_0, ..., Z_{m-1} for each candidate, shape (N, m)."""
        out = np.empty((len(candidates), self.perturbations.m))
        for batch in self._batches(len(candidates)):
            a, r = candidates.coefficients[batch], candidates.residuals[batch]
            out[batch] = self._contrast(a, r).statistics()
        return out

    def ranks(self, candidates: Candidates) -> IntArray:
        """Return the rank of each candidate, shape (N,)."""
        ranks = np.empty(len(candidates), dtype=np.intp)
        lifted = self._lifted if candidates.linear and len(candidates) > _FEW else None
        if lifted is None:
            careful = np.arange(len(candidates))
        else:
            doubts = []
            step = max(1, BATCH_BYTES // (8 * sum(lifted.table.shape)))
            for batch in _slices(len(candidates), step):
                gaps, doubt = lifted.gaps(
                    candidates.coefficients[batch], candidates.residuals[batch]
                )
                ranks[batch] = rank(precedes(gaps, 0.0, self.tie_order))
                doubts.append(batch.start + np.flatnonzero(doubt))
            careful = np.concatenate(doubts)
        for batch in self._batches(len(careful)):
            rows = careful[batch]
            contrast = self._contrast(candidates.coefficients[rows], candidates.residuals[rows])
            ranks[rows] = rank(precedes(*contrast.gaps(), self.tie_order))
        admitted = self.perturbations.noise.admits(self.objective.y - candidates.residuals)
        return np.where(admitted, ranks, self.perturbations.m)

    def _contrast(self, a: Array, r: Array) -> Contrast:
        perturbed = self.perturbations.apply(r, self.objective.y - r)
        exact = self.perturbations.noise.exact_arithmetic
        # Overflow is reported below, as one sentence.
        with np.errstate(over="ignore", invalid="ignore"):
            contrast = self.score.contrast(a, r, perturbed, exact=exact)
            gaps, _ = contrast.gaps()
        if not np.isfinite(gaps).all():
            raise ValueError(
                complaint(
                    "the candidate",
                    "is too large to be ranked in double precision",
                    "statistics below 1e308",
                    f"coefficients up to {np.abs(a).max():.3g}",
                    "Rescale the data or the candidate.",
                )
            )
        return contrast

    @cached_property
    def _lifted(self) -> LiftedGaps | None:
        if not (self.whitened and isinstance(self.objective, Quadratic)):
            return None
        if not self.perturbations.noise.orthogonal:
            return None
        return LiftedGaps.build(self.objective, self.perturbations, self.objective.estimate())

    def _batches(self, count: int) -> Iterator[slice]:
        n, d, m = self.perturbations.n, self.objective.d, self.perturbations.m
        return _slices(count, max(1, BATCH_BYTES // (8 * m * 4 * (n + d))))


def _slices(count: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, count)) for start in range(0, count, step))

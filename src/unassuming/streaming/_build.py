"""From the sums of a stream to a region."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from unassuming.membership import RankEngine
from unassuming.noise import Perturbations
from unassuming.objectives import Quadratic
from unassuming.regions import Problem, Region
from unassuming.streaming._compressed import compress, uncompressed

if TYPE_CHECKING:
    from unassuming.streaming._stream import StreamingRegion


def region_of(stream: StreamingRegion, ties: str) -> Region:
    """Return the region of all rows of a stream."""
    _check_rows(stream)
    objective, perturbations = _problem(stream)
    tie_order = stream._tie_order if ties == "random" else np.sort(stream._tie_order)
    problem = Problem(
        estimator=deepcopy(stream.estimator),
        n=stream.n,
        objective=objective,
        noise=stream.noise,
        weighting="hessian",
        ties=ties,
        enumerated=False,
        seed=stream.seed,
        transform=deepcopy(stream._features),
        rows=None,
    )
    score = objective.score("hessian")
    return Region(problem, RankEngine(objective, score, perturbations, tie_order, whitened=True))


def _check_rows(stream: StreamingRegion) -> None:
    """Refuse too few rows, and rows that are missing."""
    if stream.n < 2:
        raise ValueError(
            f"the data are too few: expected at least 2 rows, given {stream.n}. Pass more rows to "
            "partial_fit."
        )
    for first, stop in stream._ledger.gaps():
        raise ValueError(
            f"the data have a gap: expected all rows from 0 to {stream.next_row - 1}, given no "
            f"rows {first} to {stop - 1}. Pass these rows, or merge the shard that has them."
        )
    stream.noise.check_length(stream.n)


def _problem(stream: StreamingRegion) -> tuple[Quadratic, Perturbations]:
    """Return the objective and the transformations, in a few rows."""
    n, ledger, features = stream.n, stream._ledger, stream._features
    names = ["intercept"] * stream._intercept + features.names()
    few = ledger.waiting()
    if few is not None:
        drawn = stream.noise.draw_rows(stream._key, 0, n, stream.m - 1)
        objective = uncompressed(few, stream._alpha, intercept=stream._intercept, names=names)
        return objective, Perturbations(stream.noise, drawn, n, stream.m)
    sums = stream._sums()
    whole = ledger.total(sums)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = whole.basis if whole.plain else whole.basis.T @ whole.basis
        finite = np.isfinite(4 * squares).all() and np.isfinite(4 * whole.moved).all()
    if not finite:
        raise ValueError(
            "the data are too large for double precision: expected squares that add up to less "
            "than 1e300, given an overflow. Rescale the features or y."
        )
    whole = sums.turned(whole)
    return compress(
        whole.basis, whole.moved, n, stream._alpha, intercept=stream._intercept, names=names
    )

"""From the sums of a stream to a region."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from unassuming._modular import Remainders
from unassuming._typing import Array, BoolArray
from unassuming.cells.estimates import KeptCells, Sample
from unassuming.membership import RankEngine
from unassuming.noise import BlockSymmetric, Perturbations, rows_of_stream
from unassuming.objectives import Quadratic, Score
from unassuming.regions import Problem, Region, require_representable, warn_of_two_values
from unassuming.streaming._compressed import compress, uncompressed
from unassuming.streaming._exact_rank import null_spaces

if TYPE_CHECKING:
    from unassuming.streaming._stream import StreamingRegion

_FEW_BLOCKS = 64  # with more of them no transformation changes all signs


def region_of(stream: StreamingRegion, ties: str) -> Region:
    """Return the region of all rows of a stream."""
    _check_rows(stream)
    objective, perturbations, score, cells = _problem(stream)
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
        cells=cells,
    )
    warn_of_two_values(stream._ledger.outcomes, stream.n, stream.noise)
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


def _problem(
    stream: StreamingRegion,
) -> tuple[Quadratic, Perturbations, Score, KeptCells | None]:
    """Return the objective, the transformations and the statistics, in a few rows, and cells."""
    n, ledger, features = stream.n, stream._ledger, stream._features
    names = ["intercept"] * stream._intercept + features.names()
    few = ledger.waiting()
    if few is not None:
        drawn = rows_of_stream(stream.noise, stream._key, 0, n, stream.m)
        objective = uncompressed(*few, stream._alpha, intercept=stream._intercept, names=names)
        objective.design.computed = features.transformers is not None
        require_representable(objective, stream.noise)
        perturbations = Perturbations(stream.noise, drawn, n, stream.m)
        kept = _few_in_cells(stream, *few)
        return objective, perturbations, objective.score("hessian"), kept
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
        whole,
        _reversed(stream),
        n,
        stream._alpha,
        intercept=stream._intercept,
        names=names,
        cells=stream._cells,
        null=_null_vectors(stream),
    )


def _null_vectors(stream: StreamingRegion) -> tuple[Remainders, ...] | None:
    """Return the null vectors of the features in exact arithmetic, modulo primes.

    None if transformers have computed them: then dependence up to rounding counts as dependence.
    """
    if stream._features.transformers is not None:
        return None
    return null_spaces(stream._ledger.spaces)


def _few_in_cells(stream: StreamingRegion, rows: Array, weight: Array) -> KeptCells | None:
    """Return the cells of all rows, if the stream has cells."""
    cells = stream._cells
    if not cells.number:
        return None
    sample = Sample.of(rows[:, :-1], rows[:, -1], weight, intercept=bool(stream._intercept))
    labels = cells(0, len(rows))
    return KeptCells.of_rows(sample, labels, cells.number, blocks=not cells.by_rows)


def _reversed(stream: StreamingRegion) -> BoolArray:
    """Return which transformations change all signs: the statistics of many models tie there."""
    noise, found = stream.noise, np.zeros(stream.m - 1, dtype=np.bool_)
    if isinstance(noise, BlockSymmetric):
        _, rows = np.unique(noise.units(stream.n), return_index=True)
        if len(rows) <= _FEW_BLOCKS:
            found[:] = True
            for row in rows.tolist():
                found &= rows_of_stream(noise, stream._key, row, 1, stream.m)[:, 0] < 0
    return found

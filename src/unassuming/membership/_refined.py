"""The refined comparison in double precision, with bounds for every entry."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._limits import drowned, representable, undecided
from unassuming.objectives import Images, LeastNormScore, Objective, Score, entry_errors
from unassuming.ranking import precedes


class Order(NamedTuple):
    """The order of N candidates and their m - 1 perturbations."""

    before: BoolArray  # whether Z_i comes before Z_0
    tied: BoolArray  # whether the tie order has decided that


def refined_order(
    objective: Objective, score: Score, tie_order: IntArray, a: Array, images: Images
) -> Order:
    """Compare candidates with their perturbations, as narrowly as double precision allows."""
    gaps, tolerance = _gaps(a, score, images)
    before = precedes(gaps, tolerance, tie_order)
    doubt = (np.abs(gaps) <= tolerance) & (tolerance > 0)
    rows = np.asarray(doubt.any(axis=-1))
    if rows.any():
        some, fitted = images.take(rows), objective.y - images.residuals[rows]
        other = _gaps_by_values(score, some, fitted)
        if other is not None:
            gaps, tolerance = other
            sure = doubt[rows] & (np.abs(gaps) > tolerance)  # False for NaN
            before[rows] = np.where(sure, gaps < 0, before[rows])
            doubt[rows] &= ~sure
        elif isinstance(score, LeastNormScore) and some.literal.any():
            # A tie that only the cancelling terms of the penalty suggest is not credible.
            lone = replace(score, penalty_terms=None)
            gaps, tolerance = _gaps(a[rows], lone, some)
            if (doubt[rows] & (np.abs(gaps) > tolerance) & some.literal[:, None]).any():
                raise undecided(a[rows])
    return Order(before, doubt)


def require_settled(
    objective: Objective, score: Score, a: Array, images: Images, tied: BoolArray
) -> None:
    """Refuse candidates taken literally whose order errors of kernel values may change."""
    entries = None if objective.design is None else entry_errors(objective.design)
    if entries is None:
        return
    which = images.literal & drowned(images.residuals, np.abs(a) @ entries.T)
    if not which.any():
        return
    a, some, tied = a[which], images.take(which), tied[which]
    wide = replace(some, error=some.error + np.abs(a) @ entries.T)
    gaps, tolerance = _gaps(a, score, wide)
    open_ = ~tied & ~(np.abs(gaps) > tolerance)
    other = _gaps_by_values(score, wide, objective.y - some.residuals)
    if other is not None:
        open_ &= ~(np.abs(other[0]) > other[1])
    if open_.any():
        raise undecided(a)


def _gaps(a: Array, score: Score, images: Images) -> tuple[Array, Array]:
    """Return the gaps of the refined comparison, and bounds of their errors."""
    with np.errstate(over="ignore", invalid="ignore"):
        return representable(score.refined(a, images), a).normalised().gaps()


def _gaps_by_values(score: Score, images: Images, fitted: Array) -> tuple[Array, Array] | None:
    """Return the gaps from fitted values alone, and bounds of their errors; None if unavailable."""
    with np.errstate(over="ignore", invalid="ignore"):
        other = score.by_values(images, fitted)
    return None if other is None else other.normalised().gaps()

"""The methods: from estimates to intervals and p-values of single numbers (docs/theory.md 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.cells import (
    Method,
    certified_interval,
    certified_pvalue,
    certified_q,
    estimates,
    half_spans,
    intervals_and_ranks,
    least_absolute_deviations,
    palmrt_spans,
    random_halves,
    t_intervals,
    t_pvalues,
)
from unassuming.regions.single._divided import InCells
from unassuming.regions.single._evidence import Rows
from unassuming.regions.single._outcome import Outcome

_HALVES = 400
"""The number m of random halves or permutations of a certified interval."""

_ROBUST_HALVES = 200


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked about N numbers: the level, hypothetical values, ties and the seed."""

    g: Array
    level: float
    tau: Array
    ties: str
    seed: int

    def part(self, where: IntArray) -> Asked:
        """Return what is asked about some of the numbers."""
        return Asked(self.g[where], self.level, self.tau[where], self.ties, self.seed)


def by_cells(kinds: Sequence[Method], found: InCells, asked: Asked) -> Outcome:
    """Return exact intervals and ranks from estimates in cells (11.2)."""
    error = found.error
    got, tested = intervals_and_ranks(
        found.beta, found.weights, asked.level, asked.tau, error, asked.ties, asked.seed
    )
    return Outcome(
        got.estimate,
        got.lower,
        got.upper,
        tested.pvalue,
        tested.rank,
        tested.m,
        np.where(got.q > 0, got.level, 1.0),
        np.array(kinds, dtype=object),
        got.cells,
        found.kept,
    )


def by_halves(rows: Rows, asked: Asked, *, robust: bool) -> Outcome:
    """Return certified intervals from random halves of the rows (11.4)."""
    m = _ROBUST_HALVES if robust else _HALVES
    flipped = random_halves(rows.units, m - 1, asked.seed)
    fit = least_absolute_deviations if robust else None
    spans = half_spans(rows.Phi, rows.y, rows.coordinates(asked.g), flipped, rows.clusters, fit)
    lo, hi = _moved(*spans, rows.offset(asked.g))
    return _certified(Method.HALVES, lo, hi, _least_squares(rows, asked.g), asked)


def by_palmrt(rows: Rows, blocks: IntArray, asked: Asked) -> Outcome:
    """Return certified intervals from permutations within blocks (11.4)."""
    rng = np.random.default_rng([asked.seed, 115])
    order = np.argsort(blocks, kind="stable")
    moved = np.argsort(blocks[order] + rng.random((_HALVES - 1, len(rows.y))), axis=1)
    permutations = np.empty_like(moved)
    permutations[:, order] = order[moved]
    g = rows.coordinates(asked.g)
    spans = [palmrt_spans(rows.Phi, rows.y, c, permutations) for c in g]
    lo, hi = (np.array(ends).reshape(len(asked.g), -1) for ends in zip(*spans, strict=True))
    lo, hi = _moved(lo, hi, rows.offset(asked.g))
    return _certified(Method.PALMRT, lo, hi, _least_squares(rows, asked.g), asked)


def by_t(rows: Rows, asked: Asked) -> Outcome:
    """Return the ordinary t intervals, which are exact for spherical noise."""
    g, offset = rows.coordinates(asked.g), rows.offset(asked.g)
    estimate, half = t_intervals(rows.Phi, rows.y, g, asked.level)
    pvalue = t_pvalues(rows.Phi, rows.y, g, asked.tau - offset)
    estimate = estimate + offset
    N = len(asked.g)
    zero = np.zeros(N, dtype=np.intp)
    finite = np.isfinite(half)
    return Outcome(
        estimate,
        np.where(finite, estimate - half, -np.inf),
        np.where(finite, estimate + half, np.inf),
        pvalue,
        zero,
        zero,
        np.where(finite, asked.level, 1.0),
        np.full(N, Method.STUDENT, dtype=object),
        zero,
        np.ones(N),
    )


def _moved(lo: Array, hi: Array, offset: Array) -> tuple[Array, Array]:
    """Return intervals (N, m - 1) moved by offsets (N,), rounded outward.

    The offset is a rounded product, and so is each sum: half a unit of the last place each.
    """
    shift = offset[:, None]
    lost = np.where(shift == 0, 0.0, np.spacing(np.abs(shift)))
    low, high = lo + (shift - lost), hi + (shift + lost)
    return (
        np.where(shift == 0, low, np.nextafter(low, -np.inf)),
        np.where(shift == 0, high, np.nextafter(high, np.inf)),
    )


def _least_squares(rows: Rows, g: Array) -> Array:
    """Return the least-squares estimates of functionals from all rows; NaN if not identified."""
    found = estimates([rows.factor()], g)
    return np.where(found.v[:, 0] > 0, found.beta[:, 0], np.nan)


def _certified(method: Method, lo: Array, hi: Array, estimate: Array, asked: Asked) -> Outcome:
    """Return the numbers that lie in enough of the intervals (N, m - 1)."""
    N, m = len(lo), lo.shape[1] + 1
    ends = np.array([certified_interval(*pair, asked.level) for pair in zip(lo, hi, strict=True)])
    pvalue = np.array(
        [certified_pvalue(*three) for three in zip(lo, hi, asked.tau.tolist(), strict=True)]
    )
    # An empty set becomes one point, so that the design alone decides where ends are finite.
    ends = np.where(np.isnan(ends), estimate[:, None], ends)
    q = certified_q(asked.level, m)
    finite = np.isfinite(ends).all(axis=1)
    return Outcome(
        estimate,
        ends[:, 0],
        ends[:, 1],
        pvalue,
        np.rint(m - m * pvalue + 1).astype(np.intp),
        np.full(N, m, dtype=np.intp),
        np.where(finite, 1 - (2 * q - 1) / m, 1.0),
        np.full(N, method, dtype=object),
        np.zeros(N, dtype=np.intp),
        np.ones(N),
    )

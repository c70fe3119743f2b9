"""The theorem: intervals, ranks and p-values of one number at a time (docs/theory.md 9.2).

In cell b the estimate of the number τ is β_b = τ* + (a linear function of the noise of the cell).
Changing the sign of that noise changes the sign of β_b - τ*. So at τ = τ* the statistics
Z_s = |Σ_b s_b v_b (β_b - τ)| are exchangeable over the sign vectors s, and the rank of Z_0 (all
signs +) among them is uniform. If s flips the cells in F, then Z_0 <= Z_s if and only if τ lies
between the weighted means of the β_b over F and over the other cells. These spans [lo_s, hi_s] all
contain the weighted mean over all cells. So the τ that lie in at least q of them form the interval
[q-th smallest lo_s, q-th largest hi_s], and its coverage is 1 - q/m.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells._signs import flipped_cells, largest_q, number_of_statistics
from unassuming.ranking import draw_tie_order, rank

_BATCH = 2**25  # bytes of one array of spans
_LEAST = 2.0**-500  # of the largest weight of a number

Spans: TypeAlias = tuple[Array, Array, Array, Array]
"""Estimates (N,), and lo_s, hi_s and bounds on their rounding errors, each (N, m - 1)."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of N numbers, each at its own attained level 1 - q/m.

    Attributes
    ----------
    estimate : array of shape (N,)
        Σ v_b β_b / Σ v_b; NaN if no cell identifies the number.
    lower, upper : arrays of shape (N,)
        Ends of the closed interval; infinite where q = 0.
    q, m : integer arrays of shape (N,)
        The attained level is 1 - q/m.
    cells : integer array of shape (N,)
        Number of cells that identify the number.
    """

    estimate: Array
    lower: Array
    upper: Array
    q: IntArray
    m: IntArray
    cells: IntArray

    @property
    def level(self) -> Array:
        """1 - q/m of each number."""
        return np.asarray((self.m - self.q) / self.m)


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of N hypotheses: Z_0 is the rank-th smallest of m statistics."""

    rank: IntArray
    m: IntArray

    @property
    def pvalue(self) -> Array:
        """(m - rank + 1) / m."""
        return np.asarray((self.m - self.rank + 1) / self.m)


def spans(beta: Array, v: Array, error: Array, flipped: BoolArray) -> Spans:
    """Return the estimates (N,), lo_s and hi_s (N, m - 1), and bounds on their rounding errors.

    Parameters
    ----------
    beta, v, error : arrays of shape (N, K)
        Estimates in the cells, their weights, and bounds on the rounding errors of ``beta``.
    flipped : boolean array of shape (m - 1, K)
        The cells that each sign vector flips.
    """
    # Any weights that the design determines will do: none is so small that sums of them vanish.
    v = np.maximum(v / v.max(axis=1, keepdims=True), _LEAST)
    estimate = (v * beta).sum(axis=1) / v.sum(axis=1)
    delta = beta - estimate[:, None]
    size = np.abs(beta).max(axis=1, initial=0.0)
    error = error + 2 * EPS * (beta.shape[1] + 4) * size[:, None]
    terms = np.concatenate([v, v * delta, v * error])  # one product for all three sums
    parts = []
    for part in (flipped.T.astype(np.float64), (~flipped).T.astype(np.float64)):
        weight, deviation, rounding = np.split(terms @ part, 3)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation /= weight
            rounding /= weight
        parts.append((deviation, rounding))
    (mean_f, error_f), (mean_rest, error_rest) = parts
    lo = estimate[:, None] + np.minimum(np.minimum(mean_f, mean_rest), 0.0)
    hi = estimate[:, None] + np.maximum(np.maximum(mean_f, mean_rest), 0.0)
    slack = np.maximum(error_f, error_rest)
    whole = flipped.all(axis=1) | ~flipped.any(axis=1)  # ±identity: Z_s = Z_0 for every τ
    lo[:, whole], hi[:, whole], slack[:, whole] = -np.inf, np.inf, np.inf
    return estimate, lo, hi, slack


def intervals(
    beta: Array, v: Array, level: float, error: Array | None = None, seed: int = 0
) -> Intervals:
    """Return the interval of each of N numbers.

    Ties count in favour of τ: the coverage is 1 - q/m if the noise has no atoms and at least
    1 - q/m in any case.

    Parameters
    ----------
    beta : array of shape (N, K)
        Estimates in the cells.
    v : array of shape (N, K)
        Weights; 0 where the cell does not identify the number.
    level : float
        The attained level is the smallest 1 - q/m that is not below it.
    error : array of shape (N, K), optional
        Bounds on the rounding errors of ``beta``.
    seed : int
        Where the sign vectors of more than 16 cells come from.

    Examples
    --------
    >>> beta = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]])
    >>> found = intervals(beta, np.ones((1, 6)), level=0.95)
    >>> found.lower.round(6), found.upper.round(6), found.level
    (array([1.]), array([7.]), array([0.96875]))
    """
    blank = _blank_intervals(beta, v, level)
    for rows, between in _batches(beta, v, error, seed):
        _put_intervals(blank, rows, between, int(blank.q[rows[0]]))
    return blank


def ranks(
    beta: Array,
    v: Array,
    tau: Array,
    error: Array | None = None,
    ties: str = "conservative",
    seed: int = 0,
) -> Ranks:
    """Return the rank of Z_0 for the hypotheses that N numbers are equal to ``tau``.

    With ``ties="conservative"`` the number is in the interval of level 1 - q/m if and only if
    the p-value exceeds q/m. With ``ties="random"`` the rank is uniform for noise with atoms too.

    Parameters
    ----------
    beta, v, error, seed
        As for `intervals`; ``seed`` also determines the tie order.
    tau : array of shape (N,)
        The hypothetical values.
    ties : {"conservative", "random"}
        How equal statistics are counted.

    Examples
    --------
    >>> beta = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]])
    >>> ranks(beta, np.ones((1, 6)), np.array([0.0])).pvalue
    array([0.03125])
    """
    blank = _blank_ranks(v)
    for rows, between in _batches(beta, v, error, seed):
        _put_ranks(blank, rows, between, tau, ties, seed)
    return blank


def intervals_and_ranks(
    beta: Array,
    v: Array,
    level: float,
    tau: Array,
    error: Array | None = None,
    ties: str = "conservative",
    seed: int = 0,
) -> tuple[Intervals, Ranks]:
    """Return `intervals` and `ranks`, whose spans are the same and are computed once.

    Examples
    --------
    >>> beta = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]])
    >>> interval, rank = intervals_and_ranks(beta, np.ones((1, 6)), 0.95, np.array([0.0]))
    >>> interval.lower.round(6), rank.pvalue
    (array([1.]), array([0.03125]))
    """
    found, tested = _blank_intervals(beta, v, level), _blank_ranks(v)
    for rows, between in _batches(beta, v, error, seed):
        _put_ranks(tested, rows, between, tau, ties, seed)
        _put_intervals(found, rows, between, int(found.q[rows[0]]))
    return found, tested


def _blank_intervals(beta: Array, v: Array, level: float) -> Intervals:
    """Return infinite intervals with the number of cells of each, and its q and m."""
    N = len(beta)
    cells, m = _cells_and_m(v)
    q = np.array([largest_q(level, one) for one in m.tolist()], dtype=np.intp)
    return Intervals(np.full(N, np.nan), np.full(N, -np.inf), np.full(N, np.inf), q, m, cells)


def _blank_ranks(v: Array) -> Ranks:
    cells, m = _cells_and_m(v)
    return Ranks(np.ones(len(cells), dtype=np.intp), m)


def _cells_and_m(v: Array) -> tuple[IntArray, IntArray]:
    cells = np.asarray((v > 0).sum(axis=1), dtype=np.intp)
    return cells, np.array([number_of_statistics(K) for K in cells.tolist()], dtype=np.intp)


def _put_intervals(into: Intervals, rows: IntArray, between: Spans, q: int) -> None:
    """Fill in the q-th smallest lo_s and the q-th largest hi_s of some numbers."""
    estimate, lo, hi, slack = between
    into.estimate[rows] = estimate
    if q:
        into.lower[rows] = np.partition(lo - slack, q - 1, axis=1)[:, q - 1]
        at = lo.shape[1] - q
        into.upper[rows] = np.partition(hi + slack, at, axis=1)[:, at]


def _put_ranks(
    into: Ranks, rows: IntArray, between: Spans, tau: Array, ties: str, seed: int
) -> None:
    """Fill in the ranks of some numbers: one, and the spans that do not contain tau."""
    _, lo, hi, slack = between
    order = draw_tie_order(lo.shape[1] + 1, ties, np.random.default_rng([seed, 1]))
    t = tau[rows][:, None]
    outside = (t < lo - slack) | (t > hi + slack)
    inside = (t > lo + slack) & (t < hi - slack)
    tied_and_before = ~(outside | inside) & (order[1:] < order[0])
    into.rank[rows] = rank(outside | tied_and_before)


def _batches(
    beta: Array, v: Array, error: Array | None, seed: int
) -> Iterator[tuple[IntArray, Spans]]:
    """Yield numbers that share a number of cells, and the spans from those cells only."""
    error = np.zeros_like(v) if error is None else error
    identified = v > 0
    cells = identified.sum(axis=1)
    for K in np.unique(cells[cells > 0]).tolist():
        flipped = flipped_cells(K, seed)
        same = np.flatnonzero(cells == K)
        for part in slices(len(same), rows_that_fit(_BATCH, len(flipped))):
            rows = same[part]
            keep = np.argsort(~identified[rows], axis=1, kind="stable")[:, :K]
            b, w, e = (np.take_along_axis(a[rows], keep, axis=1) for a in (beta, v, error))
            yield rows, spans(b, w, e, flipped)

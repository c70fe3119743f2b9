"""The theorem: intervals and p-values of one number at a time (docs/theory.md 11.2).

In cell b the estimate of the number τ is β_b = τ* + (a linear function of the noise of the cell).
Changing the sign of that noise changes the sign of β_b - τ*. So at τ = τ* the statistics
Z_s = |Σ_b s_b v_b (β_b - τ)| are exchangeable over the words s, and the rank of Z_0 (all signs +)
among them is uniform. If s flips the cells in F, then Z_0 <= Z_s if and only if τ lies between the
weighted means of the β_b over F and over the other cells. These spans [lo_s, hi_s] all contain the
weighted mean over all cells. So the τ that lie in at least q of them form the interval
[q-th smallest lo_s, q-th largest hi_s], and its coverage is 1 - q/m.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, IntArray
from unassuming.cells.codes import largest_q, number_of_words, words

_BATCH = 2**25  # bytes of one array of spans
_OUTWARD = 1e-9  # by this share of their mean length spans are longer, so that equal numbers tie


@final
@dataclass(frozen=True, eq=False)
class Spans:
    """The closed spans [lo_s, hi_s] of N numbers, s not the identity; ``lo``, ``hi`` (N, m - 1)."""

    lo: Array
    hi: Array

    def interval(self, q: int) -> tuple[Array, Array]:
        """Return the q-th smallest lo_s and the q-th largest hi_s, (N,); infinite for q = 0."""
        if q == 0:
            return np.full(len(self.lo), -np.inf), np.full(len(self.lo), np.inf)
        lower = np.partition(self.lo, q - 1, axis=1)[:, q - 1]
        return lower, -np.partition(-self.hi, q - 1, axis=1)[:, q - 1]

    def holding(self, tau: Array) -> IntArray:
        """Return how many spans contain each of the numbers tau (N,)."""
        t = tau[:, None]
        return np.asarray(((self.lo <= t) & (t <= self.hi)).sum(axis=1), dtype=np.intp)


def outward(lo: Array, hi: Array, blur: Array | float = 0.0) -> Spans:
    """Return spans that are longer by one tolerance for each number, rounding ``blur`` included."""
    finite = np.isfinite(lo) & np.isfinite(hi)
    length = np.where(finite, hi, 0.0) - np.where(finite, lo, 0.0)
    tolerance = _OUTWARD * length.sum(axis=1) / np.maximum(finite.sum(axis=1), 1) + blur
    return Spans(lo - tolerance[:, None], hi + tolerance[:, None])


def spans(
    beta: Array,
    v: Array,
    blur: Array | float = 0.0,
    bias: tuple[Array | float, Array | float] = (0.0, 0.0),
) -> Spans:
    """Return the spans of N numbers from their estimates and positive weights (N, K).

    ``bias`` (N, m - 1) bounds the biases of the means over F and over the other cells, where F are
    the cells that ``words(K)[1:]`` flips (docs/theory.md 11.5).
    """
    s, total = words(beta.shape[1])[1:], v.sum(axis=1, keepdims=True)
    middle = (v * beta).sum(axis=1, keepdims=True) / total
    weight, moved = np.split(np.concatenate([v, v * (beta - middle)]) @ s.T, 2)
    mean_f, mean_rest = -moved / (total - weight), moved / (total + weight)
    lo = np.minimum(mean_f - bias[0], mean_rest - bias[1])
    hi = np.maximum(mean_f + bias[0], mean_rest + bias[1])
    return outward(middle + lo, middle + hi, blur)


@final
@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of N numbers, each at its own attained level 1 - q/m, and p-values.

    Attributes
    ----------
    estimate : array of shape (N,)
        Σ v_b β_b / Σ v_b; NaN if no cell identifies the number.
    lower, upper : arrays of shape (N,)
        Ends of the closed interval; infinite where q = 0.
    q, m, cells : integer arrays of shape (N,)
        The attained level is 1 - q/m, with so many cells that identify the number.
    count : integer array of shape (N,)
        How many words besides the identity have Z_s >= Z_0 at the hypothetical value.
    """

    estimate: Array
    lower: Array
    upper: Array
    q: IntArray
    m: IntArray
    cells: IntArray
    count: IntArray

    @property
    def level(self) -> Array:
        """1 - q/m of each number."""
        return np.asarray((self.m - self.q) / self.m)

    @property
    def pvalue(self) -> Array:
        """P-values of the hypothetical values: at most q/m if and only if outside the interval."""
        return np.asarray((1 + self.count) / self.m)


def intervals(
    beta: Array, v: Array, level: float, tau: Array | float = 0.0, blur: Array | float = 0.0
) -> Intervals:
    """Return the interval of each of N numbers, and the p-value of each hypothesis τ* = τ.

    Ties count in favour of τ: the coverage is 1 - q/m if the noise has no atoms and at least
    1 - q/m in any case.

    Parameters
    ----------
    beta, v : arrays of shape (N, K)
        Estimates in the cells and their weights, 0 for cells that are left out.
    level : float
        The attained level is the smallest 1 - q/m that is not below it.
    tau : array of shape (N,), or a float
        The hypothetical values.
    blur : array of shape (N,), or a float
        Bounds on the rounding errors of the estimates.

    Examples
    --------
    >>> beta = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]])
    >>> found = intervals(beta, np.ones((1, 6)), level=0.95)
    >>> found.lower.round(6), found.upper.round(6), found.level, found.pvalue
    (array([1.]), array([7.]), array([0.96875]), array([0.03125]))
    """
    N = len(beta)
    tau, blur = np.broadcast_to(tau, N), np.broadcast_to(blur, N)
    cells = np.asarray((v > 0).sum(axis=1), dtype=np.intp)
    m = np.array([number_of_words(K) for K in cells.tolist()], dtype=np.intp)
    q = np.array([largest_q(level, one) for one in m.tolist()], dtype=np.intp)
    estimate = np.full(N, np.nan)
    lower, upper, count = np.full(N, -np.inf), np.full(N, np.inf), m - 1
    for rows, K in _alike(cells):
        keep = np.argsort(v[rows] == 0, axis=1, kind="stable")[:, :K]
        b, w = np.take_along_axis(beta[rows], keep, 1), np.take_along_axis(v[rows], keep, 1)
        estimate[rows] = (w * b).sum(axis=1) / w.sum(axis=1)
        found = spans(b, w, blur[rows])
        lower[rows], upper[rows] = found.interval(int(q[rows[0]]))
        count[rows] = found.holding(tau[rows])
    return Intervals(estimate, lower, upper, q, m, cells, count)


def _alike(cells: IntArray) -> Iterator[tuple[IntArray, int]]:
    """Yield numbers that share a number of cells, as many as fit into memory."""
    for K in np.unique(cells[cells > 0]).tolist():
        same = np.flatnonzero(cells == K)
        for part in slices(len(same), rows_that_fit(_BATCH, number_of_words(K))):
            yield same[part], K

"""The theorem: intervals and p-values of one number at a time (docs/theory.md 11.2, 11.5).

In cell b the estimate of the number τ is β_b = τ* + (a linear function of the noise of the cell),
so at τ = τ* changing the sign of that noise changes the sign of β_b - τ*. The statistics
Z_s = |Σ_b s_b v_b (β_b - τ)| are then exchangeable over the words s. If s flips the cells in F,
Z_0 <= Z_s if and only if τ lies between the weighted means over F and over the other cells, which
are widened by their largest biases if there are any. The τ in at least q of these spans
[lo_s, hi_s] form [q-th smallest lo_s, q-th largest hi_s], and its coverage is 1 - q/m.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.codes import all_in_use, largest_q, number_of_words, words

_BATCH = 2**25  # bytes of one array of spans
_OUTWARD = 1e-9  # by this share of their mean length spans are longer, so that equal numbers tie

Biases = Callable[[IntArray, BoolArray, Array], Array]
"""δ_F (N, S) of some numbers, of whose cells (K,) some are in use, for parts F (S, k) of these."""


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


def parts_of(K: int) -> tuple[Array, Array]:
    """Return F and the other cells, 1 or 0, for each word but the identity: (m - 1, K) each."""
    flipped = (1 - words(K)[1:]) / 2
    return flipped, 1 - flipped


def spans(
    beta: Array, v: Array, blur: Array | float = 0.0, bias: tuple[Array | float, ...] = (0.0, 0.0)
) -> Spans:
    """Return the spans of N numbers from their estimates and positive weights (N, K)."""
    # `bias` (N, m - 1) bounds the biases of the means over F and over the other cells.
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
    """Closed intervals of N numbers, each at its own attained level 1 - q/m, and p-values."""

    # The estimates Σ v_b β_b / Σ v_b are NaN if no cell identifies the number, the ends infinite if
    # q = 0. `count` words besides the identity have Z_s >= Z_0 at the hypothetical value.

    estimate: Array
    lower: Array
    upper: Array
    q: IntArray
    m: IntArray
    cells: IntArray
    count: IntArray

    @property
    def level(self) -> Array:
        """1 - q/m of each number, and 1 where the interval is infinite."""
        return np.asarray((self.m - self.q) / self.m)

    @property
    def pvalue(self) -> Array:
        """P-values of the hypothetical values: at most q/m if and only if outside the interval."""
        return np.asarray((1 + self.count) / self.m)


def intervals(
    beta: Array,
    v: Array,
    level: float,
    tau: Array | float = 0.0,
    blur: Array | float = 0.0,
    biases: Biases | None = None,
) -> Intervals:
    """Return the interval of each of N numbers, and the p-value of each hypothesis τ* = τ."""
    # From estimates and weights (N, K), 0 for cells that do not identify the number. The attained
    # level is the smallest 1 - q/m that is not below `level`. Ties count in favour of τ: the
    # coverage is 1 - q/m if the noise has no atoms. `blur` bounds the rounding of β.
    N = len(beta)
    tau, blur = np.broadcast_to(tau, N), np.broadcast_to(blur, N)
    used = all_in_use(v)
    cells = np.asarray(used.sum(axis=1), dtype=np.intp)
    m = np.array([number_of_words(K) for K in cells.tolist()], dtype=np.intp)
    q = np.array([largest_q(level, one) for one in m.tolist()], dtype=np.intp)
    estimate = np.full(N, np.nan)
    lower, upper, count = np.full(N, -np.inf), np.full(N, np.inf), m - 1
    for rows, keep in alike(used):
        b, w = beta[rows][:, keep], v[rows][:, keep]
        bias: tuple[Array | float, ...] = (0.0, 0.0)
        if biases is not None and b.shape[1] > 1:
            bias = tuple(biases(rows, keep, part) for part in parts_of(b.shape[1]))
        estimate[rows] = (w * b).sum(axis=1) / w.sum(axis=1)
        found = spans(b, w, blur[rows], bias)
        lower[rows], upper[rows] = found.interval(int(q[rows[0]]))
        count[rows] = found.holding(tau[rows])
    return Intervals(estimate, lower, upper, q, m, cells, count)


def alike(used: BoolArray, most: int = 2**15) -> Iterator[tuple[IntArray, BoolArray]]:
    """Yield numbers (N, K) with the same cells in use, as many as fit into memory, and these."""
    patterns, which = np.unique(used, axis=0, return_inverse=True)
    for index, keep in enumerate(patterns):
        same, K = np.flatnonzero(which.reshape(-1) == index), int(keep.sum())
        step = rows_that_fit(_BATCH, 4 * min(most, number_of_words(K)))
        for part in slices(len(same) if K else 0, step):
            yield same[part], keep

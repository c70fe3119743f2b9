"""The theorem: intervals, p-values and bands from cells (docs/theory.md 11.2, 11.5, 11.8).

In cell b the estimate of the number τ is β_b = τ* + (a linear function of the noise of the cell),
so at τ = τ* changing the sign of that noise changes the sign of β_b - τ*. The statistics
Z_s = |Σ_b s_b v_b (β_b - τ)| are then exchangeable over the words s. If s flips the cells in F,
Z_0 <= Z_s if and only if τ lies between the weighted means over F and over the other cells, which
are widened by their largest biases if there are any. The τ in at least q of these spans
[lo_s, hi_s] form [q-th smallest lo_s, q-th largest hi_s], and its coverage is 1 - q/m.

The K rows of the Sylvester-Hadamard matrix have as many minus as plus signs, but for the identity,
so Σ_b s_b β_b(z) does not contain the true value. With σ(z)² = Σ_b 1/v_b(z) / K² the statistics
T_0 = max_z |mean_b β_b(z) - τ*(z)| / σ(z) and T_s = max_z |mean_b s_b β_b(z)| / σ(z) are
exchangeable: mean_b β_b(z) ± σ(z)·(q-th largest T_s) holds at all z with probability 1 - q/K.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np
from scipy.linalg import hadamard

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, BoolArray, IntArray

# All sign vectors for up to 16 cells; for 25 to 32 the Reed-Muller code RM(2, 5), a group of 2^16
# in which every seven cells see all combinations of signs; of 17 to 24 cells the best 16 are used.
ALL, LEAST_CODED, CODED = 16, 25, 32


@lru_cache(maxsize=32)
def words(K: int) -> Array:
    """Return one sign vector of each pair {s, -s}, the identity first, shape (m, K)."""
    if K <= ALL:
        generators = np.eye(K, dtype=np.intp)[1:]
    else:
        assert LEAST_CODED <= K <= CODED
        x = np.arange(CODED)[:, None] >> np.arange(5) & 1  # linear and quadratic forms over F_2
        generators = np.array([x[:K, i] * x[:K, j] for i in range(5) for j in range(i + 1)])
    s = np.ones((1, K))
    for generator in generators:
        s = np.concatenate([s, s * (1 - 2 * generator)])
    s.setflags(write=False)
    return s


def number_of_words(K: int) -> int:
    """Return m, the number of words of K cells."""
    return 1 << max(min(K, ALL) - 1, 0)


def largest_q(level: float, m: int) -> int:
    """Return q = floor((1 - level) m), the largest q with 1 - q/m >= level; 0 if m is too small."""
    return int((1 - level) * m + 1e-9 * m)


def fewest_cells(level: float) -> int:
    """Return the smallest number of cells with a finite interval of this level."""
    K = 2
    while largest_q(level, 1 << (K - 1)) == 0:
        K += 1
    return K


def in_use(v: Array) -> IntArray:
    """Return the cells (K,) that identify a number and have words, from their information v."""
    known = np.flatnonzero(v > 0)
    if ALL < len(known) < LEAST_CODED:
        known = np.sort(known[np.argsort(-v[known], kind="stable")[:ALL]])
    return known


def all_in_use(v: Array) -> BoolArray:
    """Return which cells are in use for each of N numbers, from v (N, K)."""
    used = np.zeros(v.shape, dtype=np.bool_)
    for row, one in zip(used, v, strict=True):
        row[in_use(one)] = True
    return used


@lru_cache(maxsize=16)
def hadamard_words(m: int) -> Array:
    """Return the rows of the Sylvester-Hadamard matrix of order m = 2^k, the identity first."""
    rows = np.asarray(hadamard(m), dtype=np.float64)
    rows.setflags(write=False)
    return rows


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


@final
@dataclass(frozen=True, eq=False)
class BalancedBand:
    """A band of N numbers that holds at all of them at once, with probability 1 - q/m, m = K."""

    # `estimate` (N,) is the mean over the cells; `half_width` (N,) is infinite where some cell does
    # not identify the number; `statistics` (K - 1,) are the T_s; `pvalue` (N,) are adjusted.

    estimate: Array
    half_width: Array
    statistics: Array
    pvalue: Array
    q: int
    m: int


def sigma(v: Array) -> Array:
    """Return σ(z) (N,) for noise of size one, from v (N, K); infinite if a cell says nothing."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt((1 / v).sum(axis=1)) / v.shape[1])


def balanced_band(
    beta: Array, scale: Array, level: float, tau: Array | float = 0.0, bias: Array | float = 0.0
) -> BalancedBand:
    """Return the band of N numbers from estimates (N, K) of K = 2^k cells, in units σ(z) (N,)."""
    # σ(z) is infinite where some cell does not identify the number. The attained level is the
    # smallest 1 - q/K that is not below `level`; p-values are those of the values `tau`. `bias`
    # (N, K) bounds the bias of the mean with each word of signs, the identity first (11.5).
    (N, K), rows = beta.shape, np.flatnonzero(np.isfinite(scale))
    q, T = largest_q(level, K), np.zeros(K - 1)
    bias = np.broadcast_to(bias, (N, K))
    estimate, half, pvalue = np.full(N, np.nan), np.full(N, np.inf), np.ones(N)
    estimate[rows] = beta[rows].mean(axis=1)
    for part in slices(len(rows), rows_that_fit(_BATCH, K)):
        some = rows[part]
        spread = beta[some] - estimate[some, None]  # the signs are balanced: nothing changes
        moved = np.abs(spread @ hadamard_words(K)[1:].T / K) + bias[some, 1:]
        T = np.maximum(T, (moved / scale[some, None]).max(axis=0))
    T = T * (1 + 1e-9)  # equal statistics tie
    distance = (np.abs(estimate - tau) - bias[:, 0])[rows] / scale[rows]
    pvalue[rows] = (1 + (distance[:, None] <= T).sum(axis=1)) / K
    if q:
        half[rows] = np.sort(T)[K - 1 - q] * scale[rows] + bias[rows, 0]
    return BalancedBand(estimate, half, T, pvalue, q, K)

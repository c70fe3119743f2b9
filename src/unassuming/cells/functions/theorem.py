"""The theorem with a bias: intervals, p-values and bands of values of a function (11.5, 11.8).

The estimate in cell b is u_b = τ* + bias_b + (a linear function of the noise of the cell). If s
flips the cells in F, then Z_0 <= Z_s for the noise parts if and only if their sums over F and over
the other cells have opposite signs or one of them vanishes. Then τ* lies in the hull of û_F ± δ_F
and of the same for the others, with δ_F the largest bias. The rest is as without a bias, and the
coverage is at least the level. A band of K = 2^k balanced cells allows for the bias likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.codes import hadamard_words, in_use, largest_q, number_of_words, words
from unassuming.cells.functions.errors import Assumed, Errors
from unassuming.cells.theorem import Intervals, spans

_BATCH = 2**25
_BIASES = 2.0
"""What the root mean square of the biases counts in σ(z): the largest of them matter."""


def cells_in_use(w: Array) -> BoolArray:
    """Return which cells serve each functional, from the weights (N, K)."""
    keep = np.zeros(w.shape, dtype=np.bool_)
    for row, one in zip(keep, w, strict=True):
        row[in_use(one)] = True
    return keep


def alike(errors: Errors, assumed: Assumed, size: int) -> Iterator[tuple[IntArray, Errors, Array]]:
    """Yield functionals with the same cells in use, their errors and their weights.

    ``size`` is the largest number of words that will be looked at.
    """
    w = errors.weights(assumed)
    patterns, which = np.unique(cells_in_use(w), axis=0, return_inverse=True)
    for index, keep in enumerate(patterns):
        same, K = np.flatnonzero(which.reshape(-1) == index), int(keep.sum())
        if K < 2:
            continue
        for part in slices(len(same), rows_that_fit(_BATCH, 4 * min(size, number_of_words(K)))):
            some = errors.part(same[part], keep)
            yield same[part], some, w[same[part]][:, keep]


def part_bias(w: Array, errors: Errors, assumed: Assumed, part: Array) -> Array:
    """Return δ_F, the largest bias of the weighted mean over each of S parts (S, K): (N, S)."""
    return errors.bias(assumed, w, part) / (w @ part.T)


def biased_intervals(
    u: Array, errors: Errors, assumed: Assumed, level: float, tau: Array | float = 0.0
) -> Intervals:
    """Return the intervals of N functionals from their estimates (N, K), and p-values of ``tau``.

    Where the lower end exceeds the upper one, no function within the norm bound agrees.
    """
    N, limit = len(u), assumed.limit(errors.norm)
    w, tau = errors.weights(assumed), np.broadcast_to(tau, N)
    used = cells_in_use(w)
    cells = np.asarray(used.sum(axis=1), dtype=np.intp)
    m = np.array([number_of_words(K) for K in cells.tolist()], dtype=np.intp)
    q = np.array([largest_q(level, one) for one in m.tolist()], dtype=np.intp)
    lower, upper, count = -limit, limit.copy(), m - 1
    for rows, some, v in alike(errors, assumed, 2**15):
        flipped = (1 - words(v.shape[1])[1:]) / 2
        bias = tuple(part_bias(v, some, assumed, part) for part in (flipped, 1 - flipped))
        found = spans(u[rows][used[rows]].reshape(v.shape), v, bias=(bias[0], bias[1]))
        low, high = found.interval(int(q[rows[0]]))
        lower[rows] = np.maximum(low, lower[rows])
        upper[rows] = np.minimum(high, upper[rows])
        count[rows] = np.where(np.abs(tau[rows]) <= limit[rows], found.holding(tau[rows]), 0)
    v = np.where(used, w, 0.0)
    estimate = np.divide(
        (v * u).sum(axis=1), v.sum(axis=1), out=np.full(N, np.nan), where=cells > 0
    )
    return Intervals(estimate, lower, upper, q, m, cells, count)


@final
@dataclass(frozen=True, eq=False)
class BandSizes:
    """What a band of N functionals is measured in, from the design alone.

    ``scale`` (N,) is σ(z), the size of the noise plus twice that of the biases; ``bias`` (N, K) has
    b_s(z), that of the identity first; ``limit`` (N,) is what the norm bound alone allows.
    """

    scale: Array
    bias: Array
    limit: Array

    @classmethod
    def of(cls, errors: Errors, assumed: Assumed) -> BandSizes:
        """Collect them from the errors in K = 2^k cells."""
        K = errors.H.shape[1]
        bias = errors.bias(assumed, np.full((len(errors.H), K), 1 / K), hadamard_words(K))
        scale = assumed.noise_scale * np.sqrt(errors.noise.sum(axis=1)) / K
        scale = scale + _BIASES * np.sqrt(np.square(bias[:, 1:]).mean(axis=1))
        return cls(np.where(scale > 0, scale, 1.0), bias, assumed.limit(errors.norm))

    @classmethod
    def joined(cls, parts: Sequence[BandSizes]) -> BandSizes:
        """Return those of several batches of functionals."""
        scale, bias, limit = zip(*((one.scale, one.bias, one.limit) for one in parts), strict=True)
        return cls(np.concatenate(scale), np.concatenate(bias), np.concatenate(limit))


@final
@dataclass(frozen=True, eq=False)
class FunctionBand:
    """The simultaneous band, cut at the limits, and R_s for every sign vector but the identity.

    If the ends contradict each other anywhere, no function within the norm bound agrees.
    """

    estimate: Array
    half_width: Array
    lower: Array
    upper: Array
    statistics: Array
    q: int
    m: int


def function_band(u: Array, sizes: BandSizes, level: float) -> FunctionBand:
    """Return the simultaneous band of N functionals from their estimates in K = 2^k cells (N, K).

    R_s = max_z (|mean_b s_b u_b(z)| + b_s(z)) / σ(z), and the band is mean_b u_b(z) ± (σ(z) times
    the q-th largest R_s + b_0(z)).
    """
    K = u.shape[1]
    centre = u.mean(axis=1)
    moved = np.abs((u - centre[:, None]) @ hadamard_words(K)[1:].T / K) + sizes.bias[:, 1:]
    R = (moved / sizes.scale[:, None]).max(axis=0)
    q, half = largest_q(level, K), np.full(len(u), np.inf)
    if q:
        half = sizes.scale * np.sort(R)[K - 1 - q] * (1 + 1e-9) + sizes.bias[:, 0]
    lower, upper = np.maximum(centre - half, -sizes.limit), np.minimum(centre + half, sizes.limit)
    return FunctionBand(centre, half, lower, upper, R, q, K)

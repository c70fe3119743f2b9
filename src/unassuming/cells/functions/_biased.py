"""The theorem with a bias: intervals and ranks of values of a function (docs/theory.md 9.8).

The estimate in cell b is u_b = τ* + bias_b + (a linear function of the noise of the cell), and the
weighted mean over a part F of the cells has a bias of at most δ_F. If s flips the cells in F, then
Z_0 <= Z_s for the noise parts if and only if their sums over F and over the other cells have
opposite signs or one of them vanishes. Then τ* lies in [lo_s, hi_s], the hull of û_F ± δ_F and of
the same for the other cells, cut at what the norm bound alone allows. So [q-th smallest lo_s, q-th
largest hi_s] covers τ* with probability at least 1 - q/m.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells._intervals import Intervals, Ranks
from unassuming.cells._signs import flipped_cells, largest_q, number_of_statistics
from unassuming.cells.functions._errors import Errors
from unassuming.cells.functions._system import Assumed

_BATCH = 2**25


def biased_spans(
    u: Array, w: Array, rounding: Array, errors: Errors, assumed: Assumed, flipped: BoolArray
) -> tuple[Array, Array]:
    """Return lo_s and hi_s, shape (N, m - 1), of functionals that all K cells identify.

    Parameters
    ----------
    u, w, rounding : arrays of shape (N, K)
        Estimates, weights, and bounds on the rounding errors of the estimates.
    errors, assumed
        Bound the biases.
    flipped : boolean array of shape (m - 1, K)
        The cells that each sign vector flips.
    """
    centre = (w * u).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
    own = rounding + 2 * EPS * (u.shape[1] + 4) * np.abs(u).max(axis=1, keepdims=True)
    lows, highs = [], []
    for part in (flipped, ~flipped):
        inside = part.astype(np.float64)
        delta = part_bias(w, errors, assumed, part, own)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (w * (u - centre)) @ inside.T / (w @ inside.T)
        lows.append(mean - delta)
        highs.append(mean + delta)
    lo, hi = centre + np.minimum(*lows), centre + np.maximum(*highs)
    whole = flipped.all(axis=1) | ~flipped.any(axis=1)  # ±identity: Z_s = Z_0
    lo[:, whole], hi[:, whole] = -np.inf, np.inf
    limit = assumed.limit(errors.norm)[:, None]
    return np.maximum(lo, -limit), np.minimum(hi, limit)


def part_bias(
    w: Array, errors: Errors, assumed: Assumed, part: BoolArray, own: Array | None = None
) -> Array:
    """Return δ_F, the largest bias of the weighted mean over each part F, shape (N, S).

    ``own`` (N, K) are further errors of the cells, which add up.
    """
    inside = part.astype(np.float64)
    delta = errors.bias(assumed, w, inside)
    if own is not None:
        delta = delta + (w * own) @ inside.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(delta / (w @ inside.T))


def biased_intervals(
    u: Array, rounding: Array, errors: Errors, assumed: Assumed, level: float, seed: int = 0
) -> Intervals:
    """Return the interval of each of N functionals; its coverage is at least 1 - q/m.

    Where the lower end exceeds the upper one, no function within the norm bound agrees.

    Parameters
    ----------
    u, rounding : arrays of shape (N, K)
        Estimates in the cells, and bounds on their rounding errors.
    errors, assumed
        Bound the biases, and give the weights.
    level : float
        The attained level is the smallest 1 - q/m that is not below it.
    seed : int
        Where the sign vectors of more than 16 cells come from.
    """
    upper = assumed.limit(errors.norm)
    lower = -upper
    w = errors.weights(assumed)
    cells, m, q = _levels(errors.identified, level)
    for rows, keep, part, flipped in _batches(errors, seed):
        if not (k := int(q[rows[0]])):
            continue
        lo, hi = biased_spans(
            u[rows][:, keep], w[rows][:, keep], rounding[rows][:, keep], part, assumed, flipped
        )
        lower[rows] = np.partition(lo, k - 1, axis=1)[:, k - 1]
        upper[rows] = -np.partition(-hi, k - 1, axis=1)[:, k - 1]
    with np.errstate(invalid="ignore"):
        estimate = np.where(w > 0, w * u, 0.0).sum(axis=1) / w.sum(axis=1)
    return Intervals(estimate, lower, upper, q, m, cells)


def biased_ranks(
    u: Array, rounding: Array, errors: Errors, assumed: Assumed, tau: Array, seed: int = 0
) -> Ranks:
    """Return ranks for the hypotheses that N functionals are equal to ``tau``.

    The p-value is (1 + the number of sign vectors whose interval contains τ) / m, and τ is in the
    interval of level 1 - q/m if and only if it exceeds q/m.
    """
    w = errors.weights(assumed)
    _, m, _ = _levels(errors.identified, 0.5)
    found = np.ones(len(u), dtype=np.intp)
    for rows, keep, part, flipped in _batches(errors, seed):
        lo, hi = biased_spans(
            u[rows][:, keep], w[rows][:, keep], rounding[rows][:, keep], part, assumed, flipped
        )
        t = tau[rows][:, None]
        found[rows] = 1 + ((t < lo) | (t > hi)).sum(axis=1)
    return Ranks(found, m)


def _levels(identified: BoolArray, level: float) -> tuple[IntArray, IntArray, IntArray]:
    """Return the number of cells, m and q of each functional."""
    cells = np.asarray(identified.sum(axis=1), dtype=np.intp)
    m = np.array([number_of_statistics(int(K)) for K in cells], dtype=np.intp)
    return cells, m, np.array([largest_q(level, int(one)) for one in m], dtype=np.intp)


def _batches(errors: Errors, seed: int) -> Iterator[tuple[IntArray, BoolArray, Errors, BoolArray]]:
    """Yield functionals that the same cells identify, these cells, and the sign vectors."""
    patterns, which = np.unique(errors.identified, axis=0, return_inverse=True)
    for index, keep in enumerate(patterns):
        K = int(keep.sum())
        if K < 2:
            continue
        flipped = flipped_cells(K, seed)
        same = np.flatnonzero(which.reshape(-1) == index)
        for part in slices(len(same), rows_that_fit(_BATCH, 4 * len(flipped))):
            rows = same[part]
            yield rows, keep, errors.part(rows).cells(keep), flipped

"""The half-width of intervals and bands of a function, predicted before y is seen.

Gaussian noise of the working scale and functions of norm B/2 are drawn, always the same. They give
the estimates in the cells, and the assumptions give the biases that are allowed. The number of
cells K and the smoothing μ are chosen by the mean half-width. A wrong noise scale costs some width
and never coverage (docs/theory.md 9.8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells._width import prediction_signs, width_factor
from unassuming.cells.functions._biased import part_bias
from unassuming.cells.functions._errors import Errors, errors
from unassuming.cells.functions._kriging import Kriging
from unassuming.cells.functions._made_up import MadeUp
from unassuming.cells.functions._system import Assumed, System, Wanted

SMOOTHING = (1.0, 1e-1, 1e-2, 1e-3)
"""Candidates for μ, in units of σ²/B²."""

_DRAWS = 24
_SIGNS = 127
_SEED = 118
_BATCH = 2**25
_LARGEST_RATIO = 1e100
"""A larger noise scale, compared with the norm bound, smooths everything away as well."""


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """The division and the smoothing of each of N functionals, and the predicted half-widths.

    Attributes
    ----------
    which : integer array of shape (N,)
        Index of the division.
    mu : array of shape (N,)
    half_width : array of shape (N,)
        Infinite if too few cells identify the functional.
    """

    which: IntArray
    mu: Array
    half_width: Array


def smoothings(system: System, wanted: Wanted, assumed: Assumed) -> list[float]:
    """Return the candidates for μ: shares of σ²/B², above the rounding errors of the kernel."""
    if not assumed.norm_bound:
        return [1.0]  # every feature is free: plain least squares
    size = max(float(system.norms.max(initial=0.0)), float(wanted.norms.max(initial=0.0)))
    least = 16 * system.n * EPS * size * float(system.weight.max())
    ratio = min(assumed.noise_scale / assumed.norm_bound, _LARGEST_RATIO) ** 2
    return sorted({max(share * ratio, least) for share in SMOOTHING})


def choose(
    system: System, wanted: Wanted, divisions: Sequence[Kriging], assumed: Assumed, level: float
) -> Choice:
    """Choose a division and a smoothing for each functional, by its predicted half-width.

    Parameters
    ----------
    system, wanted
        The rows and the functionals.
    divisions : sequence of Kriging
        Divisions of the rows into different numbers of cells.
    assumed : Assumed
        The norm bound, the model error and the working noise scale.
    level : float

    Returns
    -------
    Choice

    Examples
    --------
    >>> x, z = np.linspace(0, 1, 60), np.array([0.5])
    >>> kernel = lambda s, t: np.exp(-np.square(s[:, None] - t))
    >>> system = System(np.zeros((60, 0)), np.ones(60), kernel(x, x))
    >>> wanted = Wanted(np.zeros((1, 0)), np.ones(1), kernel(z, x))
    >>> divisions = [Kriging(system, np.arange(60) % K, K) for K in (4, 8)]
    >>> found = choose(system, wanted, divisions, Assumed(5.0, noise_scale=0.1), 0.9)
    >>> found.which, bool(0.01 < found.half_width[0] < 0.1)
    (array([1]), True)
    """
    N = len(wanted)
    which, mu, best = np.zeros(N, dtype=np.intp), np.zeros(N), np.full(N, np.inf)
    mu[:] = (shares := smoothings(system, wanted, assumed))[0]
    made_up = MadeUp.of(system, wanted, assumed, _DRAWS)

    def compare(index: int, candidate: float, where: IntArray) -> None:
        for part in slices(len(where), rows_that_fit(_BATCH, 4 * system.n)):
            rows = where[part]
            some = wanted.part(rows)
            a, known = divisions[index].weights(some, candidate)
            found = errors(system, some, divisions[index], a, known)
            shifts = made_up.part(rows).shifts(a, divisions[index])
            width = pointwise_half_width(found, assumed, level, shifts)
            better = rows[width < best[rows]]
            best[better] = width[width < best[rows]]
            which[better], mu[better] = index, candidate

    # The smoothing for one number of cells, then the number of cells, then the smoothing again.
    middle = len(divisions) // 2
    others = [index for index in range(len(divisions)) if index != middle]
    for candidate in shares:
        compare(middle, candidate, np.arange(N))
    smoothing = mu.copy()
    for index in others:
        for candidate in shares:
            compare(index, candidate, np.flatnonzero(smoothing == candidate))
    cells = which.copy()
    for index in others:
        for candidate in shares:
            compare(index, candidate, np.flatnonzero((cells == index) & (smoothing != candidate)))
    return Choice(which, mu, np.minimum(best, assumed.limit(wanted.norm)))


def pointwise_half_width(found: Errors, assumed: Assumed, level: float, shifts: Array) -> Array:
    """Return the mean half-width of the interval of each functional, (N,).

    Parameters
    ----------
    found : Errors
        The errors of the estimates in the cells.
    assumed : Assumed
    level : float
    shifts : array of shape (D, N, K)
        The biases that up to 24 made-up functions give to the estimates. Each meets one draw of the
        noise, and both meet it with the other sign.

    Notes
    -----
    For equal cells without a bias the mean is known from many draws. The few draws of the noise
    that are used here are scaled so that they give that mean.
    """
    width = np.full(len(found.H), np.inf)
    w = found.weights(assumed)
    patterns, inverse = np.unique(found.identified, axis=0, return_inverse=True)
    for index, keep in enumerate(patterns):
        K, D = int(keep.sum()), len(shifts)
        flipped, q = prediction_signs(K, level, _SIGNS, _SEED)
        if q == 0:
            continue
        draws = _correction(K, level, D) * _draws(K)[:D]
        same = np.flatnonzero(inverse.reshape(-1) == index)
        for part in slices(len(same), rows_that_fit(_BATCH, len(flipped) * (4 + K) + D * K)):
            rows = same[part]
            some = found.part(rows).cells(keep)
            u = assumed.noise_scale * np.sqrt(some.noise) * draws[:, None, :]
            u += shifts[:, rows][:, :, keep]
            width[rows] = _half_width(u, w[rows][:, keep], some, assumed, flipped, q)
    return width


def _half_width(
    u: Array, w: Array, found: Errors, assumed: Assumed, flipped: BoolArray, q: int
) -> Array:
    """Return the mean half-widths of the intervals for estimates u (D, N, K), shape (N,)."""
    inside = flipped.astype(np.float64).T
    whole, weight = w.sum(axis=1, keepdims=True), w @ inside
    own, other = (part_bias(w, found, assumed, part) for part in (flipped, ~flipped))
    ends = np.zeros(len(w))
    for one in u:  # one draw at a time stays in the cache
        sums = w * one
        mean = sums @ inside
        rest = (sums.sum(axis=1, keepdims=True) - mean) / (whole - weight)
        mean /= weight
        high = np.maximum(mean + own, rest + other)
        low = np.minimum(mean - own, rest - other)
        high.partition(high.shape[1] - q, axis=1)
        low.partition(q - 1, axis=1)
        ends += high[:, -q] - low[:, q - 1]
    return np.asarray(ends / (2 * len(u)))


@lru_cache(maxsize=32)
def _draws(K: int) -> Array:
    draws = np.random.default_rng([_SEED, K]).standard_normal((_DRAWS, K))
    draws.setflags(write=False)
    return draws


@lru_cache(maxsize=128)
def _correction(K: int, level: float, D: int) -> float:
    """Return the mean half-width of equal cells over the mean in the first D draws."""
    flipped, q = prediction_signs(K, level, _SIGNS, _SEED)
    one, none = np.ones((1, K)), np.zeros((1, K))
    known = np.ones((1, K), dtype=bool)
    plain = Errors(np.zeros((1, K, K)), one, none, none, none, known, np.full(1, np.inf))
    found = _half_width(_draws(K)[:D, None, :], one, plain, Assumed(0.0), flipped, q)
    return float(width_factor(K, level) / np.sqrt(K) / found[0])

"""The half-width of intervals and bands of a function, predicted before y is seen (11.5, 11.8, 12).

The data are functions of norm B/2 and Gaussian noise of the working scale, from a fixed key. The
number of cells and the smoothing μ are chosen by the mean half-width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import final

import numpy as np
from scipy.linalg import eigh, svd

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import CUT, EPS
from unassuming._typing import Array, IntArray
from unassuming.cells.balanced import balanced_labels
from unassuming.cells.codes import all_in_use, hadamard_words, largest_q
from unassuming.cells.division import width_factor
from unassuming.cells.functions import (
    Assumed,
    BandSizes,
    Errors,
    Kriging,
    System,
    Wanted,
    function_band,
)
from unassuming.cells.theorem import alike, parts_of
from unassuming.noise import powers

SMOOTHING = (1.0, 1e-1, 1e-2, 1e-3)  # candidates for μ, in units of σ²/B²
_FINER = (3.0, 1 / 3.0)  # what the best smoothing of a band is multiplied by, at last
_DRAWS, _BAND_DRAWS, _WORDS, _KEY = 24, 12, 127, 118
_LEADING = 16  # eigenvectors of the kernel matrix that are balanced over the cells
_MOST = 48  # functionals that the choice of a band looks at
_BATCH = 2**25
# Numbers of cells: one at a time, and of a simultaneous band.
NUMBERS, BALANCED = (5, 6, 7, 8, 10, 12, 16), (2, 4, 8, 16, 32, 64, 128)


def numbers_of_cells(level: float, units: int, *, simultaneous: bool = False) -> list[int]:
    """Return the numbers of cells that are compared; none if a band has too few rows or blocks."""
    if simultaneous:
        enough = [K for K in BALANCED if largest_q(level, K)][:3]
        return [K for K in enough if units >= K]
    enough = [K for K in NUMBERS if largest_q(level, 1 << (K - 1))] or [NUMBERS[-1]]
    return [K for K in enough[:6] if units >= K] or [min(units, enough[0])]


def leading(system: System) -> Array:
    """Return an orthonormal basis of the free features and the leading eigenvectors, (n, r)."""
    root = np.sqrt(system.weight)[:, None]
    U, s, _ = svd(root * system.features, full_matrices=False)
    trend = root * system.trend
    size = np.linalg.norm(trend, axis=0)
    trend = trend / np.where(size > 0, size, 1.0)
    some = min(_LEADING, int((s > CUT * s.max(initial=0.0)).sum()))
    both, d, _ = svd(np.column_stack([trend, U[:, :some]]), full_matrices=False)
    return np.asarray(both[:, d > CUT * d.max(initial=0.0)])


def interleaved(
    system: System, K: int, *, ordered: bool = False, units: IntArray | None = None
) -> IntArray:
    """Return the cell of each row (n,): each cell has to see the whole function."""
    # Rows that are `ordered` by a single input take turns. Otherwise the second moments of the
    # leading eigenvectors are balanced, with the rows of a unit together.
    if ordered and units is None:
        return np.arange(system.n, dtype=np.intp) % K
    return balanced_labels(leading(system), K, units)


@final
class MadeUp:
    """D functions of norm B/2: their values at the rows (D, n), and the functionals (D, N)."""

    def __init__(self, system: System, wanted: Wanted, assumed: Assumed, D: int) -> None:
        """Make Σ c_j k(x_j, ·) with random c, always the same, without free features."""
        rng = np.random.default_rng([_KEY, system.n])
        theta = assumed.norm_bound / 2 * unit_functions(system, rng, D)
        self.at_rows, self.wanted = theta @ system.features.T, theta @ wanted.features.T
        self.deviations = assumed.noise_scale / np.sqrt(system.weight)

    def outputs(self) -> Array:
        """Return values with noise of the working scale, always the same, at the rows (D, n)."""
        rng = np.random.default_rng([_KEY, self.at_rows.shape[1]])
        return self.at_rows + self.deviations * rng.standard_normal(self.at_rows.shape)

    def shifts(self, a: Array, kriging: Kriging, where: slice | IntArray) -> Array:
        """Return the biases of estimates of some functionals with weights a (N, n): (D, N, K)."""
        return kriging.sums(a, self.at_rows) - self.wanted[:, where, None]


def unit_functions(system: System, rng: np.random.Generator, D: int) -> Array:
    """Return random functions Σ c_j k(x_j, ·) of norm 1 in the coordinates of the rows, (D, r)."""
    theta = rng.standard_normal((D, system.n)) @ system.features
    size = np.linalg.norm(theta, axis=1, keepdims=True)
    return np.asarray(theta / np.where(size > 0, size, 1.0))


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """The division, the smoothing and the predicted half-width of each of N functionals."""

    # Half-widths are infinite, or those of the norm bound alone, if too few cells identify it.

    which: IntArray
    mu: Array
    half_width: Array


def smoothings(system: System, assumed: Assumed) -> list[float]:
    """Return the candidates for μ: shares of σ²/B², above the rounding errors of the kernel."""
    if not assumed.norm_bound:
        return [1.0]  # every feature is free: plain least squares
    least = 16 * system.n * EPS * system.longest**2 * float(system.weight.max())
    ratio = (assumed.noise_scale / assumed.norm_bound) ** 2
    return sorted({max(share * ratio, least) for share in SMOOTHING})


def choose(
    system: System, wanted: Wanted, divisions: Sequence[Kriging], assumed: Assumed, level: float
) -> Choice:
    """Choose a division and a smoothing for each functional, by its predicted half-width."""
    N, mus = len(wanted), smoothings(system, assumed)
    made_up = MadeUp(system, wanted, assumed, _DRAWS)
    best = Choice(np.zeros(N, dtype=np.intp), np.full(N, mus[0]), np.full(N, np.inf))
    for index, kriging in enumerate(divisions):
        (n, r), K = system.features.shape, kriging.K
        step = rows_that_fit(_BATCH, 4 * (2 * n + K * (r + K + _DRAWS)))
        for mu in mus:
            for part in slices(N, step):
                some = wanted.part(part)
                a, known = kriging.weights(some, mu)
                errors = Errors.of(some, kriging, a, known)
                shifts = made_up.shifts(a, kriging, part)
                width = pointwise_half_width(errors, assumed, level, shifts)
                better = np.arange(N)[part][width < best.half_width[part]]
                best.half_width[better] = width[better - part.start]
                best.which[better], best.mu[better] = index, mu
    return replace(best, half_width=np.minimum(best.half_width, assumed.limit(wanted.norm)))


def pointwise_half_width(errors: Errors, assumed: Assumed, level: float, shifts: Array) -> Array:
    """Return the mean half-width of the interval of each functional (N,)."""
    # `shifts` (D, N, K) are biases of D <= 24 functions; each meets one draw of the noise. For
    # equal cells without a bias the mean is known, and the draws are scaled so that they give it.
    width, D, w = np.full(len(errors.H), np.inf), len(shifts), errors.weights(assumed)
    for rows, keep in alike(all_in_use(w), _WORDS):
        K, own = int(keep.sum()), w[rows][:, keep]
        flipped, q = _prediction_words(K, level)
        if q and K > 1:
            some = errors.part(rows, keep)
            u = _correction(K, level, D) * _draws(K)[:D, None] * assumed.noise_scale
            u = u * np.sqrt(some.noise) + shifts[:, rows][:, :, keep]
            parts = (flipped, 1 - flipped)
            bias = [some.bias(assumed, own, part) / (own @ part.T) for part in parts]
            width[rows] = _mean_half_width(u, own, bias, flipped, q)
    return width


def _mean_half_width(u: Array, w: Array, bias: list[Array], flipped: Array, q: int) -> Array:
    """Return the mean half-widths for estimates (D, N, K) and biases of both parts (N, S): (N,)."""
    one, two = w @ flipped.T, w @ (1 - flipped.T)
    total = np.zeros(len(w))
    for draw in u:
        a, b = (w * draw) @ flipped.T / one, (w * draw) @ (1 - flipped.T) / two
        high = np.partition(-np.maximum(a + bias[0], b + bias[1]), q - 1, axis=1)[:, q - 1]
        total -= high + np.partition(np.minimum(a - bias[0], b - bias[1]), q - 1, axis=1)[:, q - 1]
    return np.asarray(total / (2 * len(u)))


@lru_cache(maxsize=64)
def _prediction_words(K: int, level: float) -> tuple[Array, int]:
    """Return the cells that at most 127 words flip, 1 or 0, and q; 0 if the level is too high."""
    flipped, _ = parts_of(K)
    if not largest_q(level, len(flipped) + 1):
        return flipped, 0
    if len(flipped) > _WORDS:
        part = np.random.default_rng(_KEY).choice(len(flipped), _WORDS, replace=False)
        flipped = flipped[np.sort(part)]
    return flipped, max(1, largest_q(level, len(flipped) + 1))


@lru_cache(maxsize=32)
def _draws(K: int) -> Array:
    return np.random.default_rng([_KEY, K]).standard_normal((_DRAWS, K))


@lru_cache(maxsize=128)
def _correction(K: int, level: float, D: int) -> float:
    """Return the mean half-width of equal cells over that in the first D draws."""
    flipped, q = _prediction_words(K, level)
    none = [np.zeros((1, len(flipped)))] * 2
    mean = _mean_half_width(_draws(K)[:D, None], np.ones((1, K)), none, flipped, q)
    return float(width_factor(K, level) / np.sqrt(K) / mean[0])


def looked_at(N: int) -> IntArray:
    """Return which of N functionals the choice of a band looks at."""
    return np.unique(np.linspace(0, N - 1, _MOST).astype(np.intp))


def choose_band(
    system: System, wanted: Wanted, divisions: Sequence[Kriging], assumed: Assumed, level: float
) -> Choice:
    """Choose one division and smoothing for all functionals, by their median half-width."""
    # Half-widths are those of the functionals that were looked at.
    some, mus = wanted.part(looked_at(len(wanted))), smoothings(system, assumed)
    N, y = len(some), MadeUp(system, some, assumed, _BAND_DRAWS).outputs()

    def at(index: int, mu: float) -> tuple[float, int, float, Array]:
        a, known = divisions[index].weights(some, mu)
        width = np.full(N, np.inf)
        if largest_q(level, divisions[index].K) and known.all():
            sizes = BandSizes.of(Errors.of(some, divisions[index], a, known), assumed)
            bands = [function_band(u, sizes, level) for u in divisions[index].sums(a, y)]
            width = np.mean([band.half_width for band in bands], axis=0)
        return float(np.median(width)), index, mu, width

    found = [at(index, mu) for index in range(len(divisions)) for mu in mus]
    best = min(found, key=lambda one: one[0])
    if len(mus) > 1 and np.isfinite(best[0]):
        for factor in _FINER:
            found.append(at(best[1], max(best[2] * factor, mus[0])))
            best = min(found, key=lambda one: one[0])
    _, index, mu, width = best
    if np.isfinite(width).all():
        width = np.minimum(width, assumed.limit(some.norm))
    return Choice(np.full(N, index, dtype=np.intp), np.full(N, mu), width)


_ORDER = 128
_THETA = np.append(0.0, np.geomspace(1e-3, 1e6, 46))


def joint_of_kernel(
    system: System,
    wanted: Wanted,
    assumed: Assumed,
    alpha: float,
    level: float,
    units: IntArray | None = None,
) -> Array:
    """Return the predicted half-widths of the band at N inputs (N,), without free features."""
    # `alpha` is the penalty of kernel ridge regression; the rows of a unit (n,) change their
    # signs together.
    n, root = system.n, np.sqrt(system.weight)
    F = root[:, None] * system.features
    k = wanted.features @ F.T
    values, u = eigh(F @ F.T)
    floor = 1e-12 * float(values[-1])
    smoother = np.maximum(values, 0.0) + max(alpha, floor)
    D = (u * (alpha / smoother)) @ u.T
    square = np.square(wanted.norm)
    every, runs = (1, 6) if n <= 100 else (2, 6) if n <= 400 else (4, 3)
    y = root * MadeUp(system, wanted, assumed, runs).outputs()
    fitted = y @ (u / smoother) @ (k @ u).T
    numbers = np.arange(n) if units is None else units
    words = hadamard_words(_ORDER)[1::every, powers(_ORDER, int(numbers.max()) + 1)[numbers]]
    ends = np.empty((len(words), runs, 2, len(wanted)))
    for i, word in enumerate(words):
        J = np.flatnonzero(word < 0)
        own, v = eigh(F[J] @ F[J].T)
        size = np.sqrt(np.maximum(own, floor))
        L, g, D_J = v * size, k[:, J] @ v / size, D[np.ix_(J, J)]
        omega, w = eigh(L.T @ D_J @ L)
        beyond = np.maximum(square - np.square(g).sum(axis=1), 0.0)
        for run, one in enumerate(y):
            rest = D[J] @ one
            beta = w.T @ (L.T @ (D_J @ one[J] - rest / 2))
            gamma = float(one[J] @ (D_J @ one[J] - rest))
            found = _supports(omega, beta, gamma, assumed.norm_bound, g @ w, beyond)
            ends[i, run] = found + np.stack([-fitted[run], fitted[run]])
    q = max(1, int((1 - level) * (len(words) + 1) + 1e-9))
    return np.asarray(np.maximum(np.sort(ends, axis=0)[-q].mean(axis=(0, 1)), 0.0))


def _supports(
    omega: Array, beta: Array, gamma: float, bound: float, g: Array, beyond: Array
) -> Array:
    """Return the largest values of ∓f at N inputs in one set and the ball, (2, N)."""
    theta = _THETA[:, None] / (float(omega.max(initial=0.0)) or 1.0)
    W = 1 / (1 + theta * np.maximum(omega, 0.0))
    linear = theta * (W * beta) @ g.T
    inside = bound**2 - theta[:, 0] * gamma + theta[:, 0] ** 2 * (W @ np.square(beta))
    root = np.sqrt(np.maximum(inside, 0.0)[:, None] * (W @ np.square(g).T + beyond))
    return np.asarray(np.stack([root - linear, root + linear]).min(axis=1))

"""Simultaneous bands from balanced cells, at an exact level (docs/theory.md 9.7).

K = 2^k cells, and the K rows of the Sylvester-Hadamard matrix as sign vectors: a group in which
every element but the identity has as many minus signs as plus signs. So the sum Σ_b s_b β_b(z) does
not contain the true value unless s is the identity. Let σ(z)² = Σ_b 1/v_b(z) / K². The statistics
T_0 = max_z |mean_b β_b(z) - τ*(z)| / σ(z) and T_s = max_z |mean_b s_b β_b(z)| / σ(z) are then
exchangeable, and the T_s can be computed. The band mean_b β_b(z) ± σ(z)·(q-th largest T_s) holds at
all z at once with probability 1 - q/K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, IntArray
from unassuming.cells._estimates import estimates
from unassuming.cells._kept import KeptCells
from unassuming.cells._old_division import Search, basis_of, settled, usually_kept
from unassuming.cells._signs import balanced_signs, largest_q
from unassuming.cells._width import identified

MOST_BALANCED = 256
_DRAWS = 2**14
_BATCH = 2**25


@dataclass(frozen=True, eq=False)
class BalancedBand:
    """A band of N numbers that holds at all of them at once, with probability 1 - q/K.

    Attributes
    ----------
    estimate : array of shape (N,)
        The mean of the estimates in the cells.
    half_width : array of shape (N,)
        Infinite where some cell does not identify the number, and where q = 0.
    statistics : array of shape (K - 1,)
        T_s for every sign vector but the identity.
    q, m : int
        The level is 1 - q/m; m = K.
    """

    estimate: Array
    half_width: Array
    statistics: Array
    q: int
    m: int


@dataclass(frozen=True, eq=False)
class BalancedDivision:
    """Cells for a simultaneous band.

    Attributes
    ----------
    labels : integer array of shape (n,)
        The cell of each row, from 0 to K - 1.
    K : int
        Number of cells, a power of two.
    predicted : array of shape (N,)
        Expected half-widths for Gaussian noise of variance one.
    """

    labels: IntArray
    K: int
    predicted: Array


def balanced_band(beta: Array, v: Array, level: float, error: Array | None = None) -> BalancedBand:
    """Return the simultaneous band of N numbers.

    Parameters
    ----------
    beta, v : arrays of shape (N, K)
        Estimates and information of K = 2^k cells; v is 0 where a cell does not identify a number.
    level : float
        The attained level is the smallest 1 - q/K that is not below it.
    error : array of shape (N, K), optional
        Bounds on the rounding errors of ``beta``.

    Examples
    --------
    >>> beta = np.array([[1.0, 2.0, 4.0, 3.0], [0.0, 1.0, 1.0, 2.0]])
    >>> band = balanced_band(beta, np.ones((2, 4)), level=0.75)
    >>> band.estimate, band.half_width.round(6), (band.q, band.m)
    (array([2.5, 1. ]), array([1., 1.]), (1, 4))
    """
    K = beta.shape[1]
    signs = balanced_signs(K)[1:]
    known = (v > 0).all(axis=1)
    error = np.zeros_like(beta) if error is None else error
    T = np.zeros(K - 1)
    blur = 0.0  # bound on the rounding errors of T
    rows = np.flatnonzero(known)
    for part in slices(len(rows), rows_that_fit(_BATCH, K)):
        b, sigma = beta[rows[part]], _sigma(v[rows[part]])
        spread = b - b.mean(axis=1, keepdims=True)  # the signs are balanced: nothing changes
        T = np.maximum(T, np.abs(spread @ signs.T / K / sigma[:, None]).max(axis=0))
        rounding = error[rows[part]].mean(axis=1) + K * EPS * np.abs(b).max(axis=1)
        blur = max(blur, float((rounding / sigma).max()))
    q = largest_q(level, K)
    half = np.full(len(beta), np.inf)
    if q:
        factor = float(np.sort(T)[K - 1 - q]) + 2 * blur
        half[known] = factor * _sigma(v[known])
    estimate = np.where(known, beta.mean(axis=1), np.nan)
    return BalancedBand(estimate, half, T, q, K)


def balanced_statistic(beta: Array, v: Array, truth: Array) -> float:
    """Return T_0 for hypothetical values (N,) of the numbers that all cells identify.

    Examples
    --------
    >>> balanced_statistic(np.array([[1.0, 2.0, 4.0, 3.0]]), np.ones((1, 4)), np.array([1.5]))
    2.0
    """
    known = (v > 0).all(axis=1)
    distance = np.abs(beta[known].mean(axis=1) - truth[known])
    return float((distance / _sigma(v[known])).max(initial=0.0))


def _sigma(v: Array) -> Array:
    return np.asarray(np.sqrt((1 / v).sum(axis=1)) / v.shape[1])


def balanced_division(
    Phi: Array,
    functionals: Array,
    level: float,
    *,
    seed: int = 0,
    clusters: IntArray | None = None,
    cells: int | None = None,
    made: dict[int, IntArray] | None = None,
) -> BalancedDivision | None:
    """Divide the rows for a band of N functionals; None if there are too few rows.

    The number of cells is chosen by predicted width.

    Parameters
    ----------
    Phi, functionals, level, seed, clusters
        As for `divide`.
    cells : int, optional
        The number of cells, a power of two.
    made : dict, optional
        Divisions of the same units with the same seed, by number of cells; new ones are added.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 400)
    >>> Phi = np.column_stack([np.ones(400), x, x**2])
    >>> division = balanced_division(Phi, Phi[::50], level=0.9)
    >>> division.K in (16, 32), balanced_division(Phi[:30], Phi[::50], level=0.9)
    (True, None)
    """
    basis = basis_of(Phi, functionals)
    search = Search(basis, clusters, level, seed, made)
    numbers = balanced_numbers(level) if cells is None else [cells]
    numbers = [K for K in numbers if min(search.count, search.n / max(search.rank, 1)) >= K]
    known = basis.known
    if not numbers or not known.any():
        return None
    factors = _factors(basis.functionals[known], numbers, level)
    widths = factors / np.sqrt(usually_kept(search.n, search.rank, numbers))
    for index in np.argsort(settled(widths), kind="stable"):
        K = numbers[index]
        found = search.shared(K)
        if identified(found.v[known]).all():
            labels = found.units if clusters is None else found.units[clusters]
            sigma = _sigma(found.v[known] / search.n * basis.whole[known, None])
            predicted = np.full(len(functionals), np.inf)
            predicted[known] = factors[index] * sigma
            return BalancedDivision(labels, K, predicted)
    return None


def balanced_number(
    kept: KeptCells, functionals: Array, level: float, cells: int | None = None
) -> tuple[int, Array] | None:
    """Return the number of cells of a stream for a band of N functionals, and expected half-widths.

    The half-widths (N,) are those for Gaussian noise of variance one. None if no number of cells
    allows the level and identifies all functionals that the rows identify.

    Parameters
    ----------
    kept : KeptCells
        The cells that the stream has collected.
    functionals, level, cells
        As for `balanced_division`.

    Examples
    --------
    >>> from unassuming.cells import KeptRows
    >>> x, labels = np.linspace(-1, 1, 800), np.arange(800) % 32
    >>> Phi = np.column_stack([np.ones(800), x])
    >>> kept = KeptRows(Phi, x, labels, 32, blocks=False)
    >>> balanced_number(kept, Phi[::50], level=0.9)[0], balanced_number(kept, Phi, level=0.99)
    (32, None)
    """
    whole = kept.whole()
    basis = basis_of(whole.T, whole.coordinates(functionals)[0])
    numbers = [K for K in balanced_numbers(level) if kept.number >= K]
    if cells is not None:
        numbers = [cells]
    known, best = basis.known, None
    if not known.any():
        return None
    factors = _factors(basis.functionals[known], numbers, level)
    for K, factor in zip(numbers, factors.tolist(), strict=True):
        v = estimates(kept.factors(K), functionals[known]).v
        largest = v.max(axis=1, keepdims=True)
        if not (largest > 0).all() or not identified(v / largest).all():
            continue
        predicted = np.full(len(functionals), np.inf)
        predicted[known] = factor * _sigma(v)
        if best is None or np.log(predicted[known]).mean() < np.log(best[1][known]).mean():
            best = K, predicted
    return best


def balanced_numbers(level: float, most: int = MOST_BALANCED) -> list[int]:
    """Return the powers of two, up to ``most``, that allow the level.

    Examples
    --------
    >>> balanced_numbers(0.9, 64)
    [16, 32, 64]
    """
    return [2**k for k in range(1, 20) if 2**k <= most and largest_q(level, 2**k)]


def _factors(h: Array, numbers: list[int], level: float) -> Array:
    """Return the expected q-th largest T_s for equal cells and Gaussian noise, for each K.

    The T_s are then independent, and each is distributed as max_z |h_zᵀg| with g standard normal.
    """
    rng = np.random.default_rng(118)
    T = np.zeros(_DRAWS)
    g = rng.standard_normal((h.shape[1], _DRAWS))
    for part in slices(len(h), rows_that_fit(_BATCH, _DRAWS)):
        T = np.maximum(T, np.abs(h[part] @ g).max(axis=0))
    factors = []
    for K in numbers:
        q = largest_q(level, K)
        groups = T[: _DRAWS - _DRAWS % (K - 1)].reshape(-1, K - 1)
        factors.append(np.sort(groups, axis=1)[:, K - 1 - q].mean() if q else np.inf)
    return np.array(factors)

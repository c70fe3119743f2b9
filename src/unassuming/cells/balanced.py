"""Simultaneous bands from balanced cells, at an exact level (docs/theory.md 11.8).

The K rows of the Sylvester-Hadamard matrix are sign vectors with as many minus as plus signs, but
for the identity. So Σ_b s_b β_b(z) does not contain the true value. With σ(z)² = Σ_b 1/v_b(z) / K²
the statistics T_0 = max_z |mean_b β_b(z) - τ*(z)| / σ(z) and T_s = max_z |mean_b s_b β_b(z)| / σ(z)
are exchangeable: mean_b β_b(z) ± σ(z)·(q-th largest T_s) holds at all z with probability 1 - q/K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, IntArray
from unassuming.cells.codes import hadamard_words, largest_q
from unassuming.cells.division import Leading, balance, deal
from unassuming.cells.estimates import Atoms, labels_of

NUMBERS = (2, 4, 8, 16, 32, 64, 128, 256)
_DRAWS, _KEY, _BATCH = 2**14, 118, 2**25


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


def balanced_places(atoms: Atoms, K: int, U: Array | None = None) -> IntArray:
    """Return the atoms (K, s) of cells with equal second moments; N stands for nobody."""
    # The products L_jᵀL_j of every cell come near to I/K: all of them, or those with the
    # orthonormal rows of U (k, r), if only these numbers matter.
    leading = Leading(atoms, [deal(atoms.order(), K)])
    r = atoms.L.shape[2]
    a, b = np.triu_indices(r)
    twice = np.where(a == b, 1.0, np.sqrt(2.0))  # each product off the diagonal counts twice

    def moments(G: Array) -> Array:
        """Return what is balanced, from products (..., r, r)."""
        if U is None:
            return np.asarray(G[..., a, b] * twice / np.sqrt(r))
        return np.asarray(G @ U.T / np.sqrt(len(U))).reshape(*G.shape[:-2], -1)

    f = moments(leading.L.swapaxes(1, 2) @ leading.L)
    S = moments(leading.rest) - moments(np.eye(r)) / K  # also where cells differ by an atom
    return leading.all(balance(leading.places, f[None], S[None])[0])


def balanced_labels(Q: Array, K: int, units: IntArray | None = None) -> IntArray:
    """Return the cell of each row (n,), from second moments of orthonormal columns Q (n, r)."""
    atoms = Atoms.of(Q, np.zeros(len(Q)), units)
    return labels_of(balanced_places(atoms, K), len(atoms), units)


def width_factors(U: Array, numbers: list[int], level: float) -> Array:
    """Return the expected q-th largest T_s of numbers U (N, r), for each number of equal cells."""
    # The T_s are then independent, and each is distributed as max_z |u_zᵀg| with g standard normal.
    g = np.random.default_rng(_KEY).standard_normal((U.shape[1], _DRAWS))
    T = np.zeros(_DRAWS)
    for part in slices(len(U), rows_that_fit(_BATCH, _DRAWS)):
        T = np.maximum(T, np.abs(U[part] @ g).max(axis=0))
    factors: list[float] = []
    for K in numbers:
        q, groups = largest_q(level, K), T[: _DRAWS - _DRAWS % (K - 1)].reshape(-1, K - 1)
        factors.append(float(np.sort(groups, axis=1)[:, K - 1 - q].mean()) if q else np.inf)
    return np.array(factors)


def narrowest(
    information: Callable[[int], Array], numbers: list[int], U: Array, level: float
) -> tuple[int, Array] | None:
    """Return the number of cells with the narrowest band expected, and its half-widths (N,)."""
    # `information` gives v (N, K) of the unit vectors U (N, r) for a number of cells, and noise
    # has the size one. None if no number of cells allows the level and identifies all the numbers.
    best = None
    for K, factor in zip(numbers, width_factors(U, numbers, level), strict=True):
        half = factor * sigma(information(K))
        narrower = best is None or np.log(half).mean() < np.log(best[1]).mean()
        if np.isfinite(half).all() and narrower:
            best = K, half
    return best

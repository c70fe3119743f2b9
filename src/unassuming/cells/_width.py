"""The width of an interval, predicted before y is seen (docs/theory.md 9.3, step 5)."""

from __future__ import annotations

from functools import lru_cache
from math import inf, sqrt

import numpy as np
from scipy.special import gammaln, stdtrit

from unassuming._typing import Array, BoolArray
from unassuming.cells._intervals import spans
from unassuming.cells._signs import flipped_cells, largest_q

DRAWS = 64
_MOST_SIGNS = 2047
"""Sign vectors that a prediction uses; a fixed random part if there are more."""

_IDENTIFIED = 1e-4
"""Least information of a cell, as a share of the largest and of n, that counts in predictions."""


def identified(v: Array) -> BoolArray:
    """Return which cells are expected to identify the number, from their information (..., K)."""
    largest = v.max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray((v > _IDENTIFIED * largest) & (v > _IDENTIFIED))


def predicted_width(v: Array, level: float) -> Array:
    """Return the mean width of the intervals over fixed Gaussian draws of the β_b.

    The spread S of the draws about their weighted mean, S² = Σ v_b (β_b - β)², is independent of
    the width divided by S, and chi-distributed. Its mean replaces its values in the draws.

    Parameters
    ----------
    v : array of shape (N, K)
        Information of each cell; the variance of β_b is 1/v_b.
    level : float
        The level that is wanted.

    Examples
    --------
    >>> predicted_width(np.ones((1, 8)), 0.9).round(1), predicted_width(np.ones((1, 4)), 0.9)
    (array([1.3]), array([inf]))
    """
    width = np.full(len(v), np.inf)
    for i, information in enumerate(v):
        used = information[identified(information)]
        flipped, q = prediction_signs(len(used), level)
        if q == 0:
            continue
        beta = _draws(len(used)) / np.sqrt(used)
        estimate, lo, hi, _ = spans(
            beta, np.broadcast_to(used, beta.shape), np.zeros_like(beta), flipped
        )
        lower = np.partition(lo, q - 1, axis=1)[:, q - 1]
        upper = np.partition(hi, len(flipped) - q, axis=1)[:, len(flipped) - q]
        spread = np.sqrt((used * np.square(beta - estimate[:, None])).sum(axis=1))
        k = len(used)
        mean_spread = np.sqrt(2) * np.exp(gammaln(k / 2) - gammaln((k - 1) / 2))
        width[i] = ((upper - lower) / spread).mean() * mean_spread
    return width


@lru_cache(maxsize=256)
def width_factor(K: int, level: float) -> float:
    """Return the predicted half-width times √Σ v_b for K cells with equal information.

    Examples
    --------
    >>> round(width_factor(8, 0.95), 1)
    2.4
    """
    return float(predicted_width(np.ones((1, K)), level)[0]) * sqrt(K) / 2 if K else inf


def approximate_width(v: Array, level: float) -> Array:
    """Return the predicted widths without a simulation, from those of equal cells.

    With unequal cells the t quantile has K_eff - 1 degrees of freedom in place of K - 1, where
    K_eff = (Σ v_b)² / Σ v_b².

    Parameters
    ----------
    v : array of shape (N, K)
    level : float

    Examples
    --------
    >>> v = np.array([[3.0, 2.0, 2.0, 1.0, 2.0, 2.0, 2.0, 1.0]])
    >>> (approximate_width(v, 0.9) / predicted_width(v, 0.9)).round(1)
    array([1.])
    """
    used = np.where(identified(v), v, 0.0)
    cells, total = np.count_nonzero(used, axis=1), used.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = np.maximum(np.square(total) / np.square(used).sum(axis=1) - 1, 0.1)
        unequal = stdtrit(freedom, 0.5 + level / 2) / stdtrit(cells - 1, 0.5 + level / 2)
        equal = np.array([width_factor(int(K), level) for K in cells])
        return np.where(np.isinf(equal), np.inf, 2 * equal / np.sqrt(total) * unequal)


@lru_cache(maxsize=32)
def _draws(K: int) -> Array:
    draws = np.random.default_rng([11, K]).standard_normal((DRAWS, K))
    draws.setflags(write=False)
    return draws


@lru_cache(maxsize=64)
def prediction_signs(
    K: int, level: float, most: int = _MOST_SIGNS, seed: int = 11
) -> tuple[BoolArray, int]:
    """Return the cells flipped by at most so many sign vectors of a prediction, and q.

    Examples
    --------
    >>> flipped, q = prediction_signs(8, 0.9, most=63)
    >>> flipped.shape, q
    ((63, 8), 6)
    """
    flipped = flipped_cells(K) if K > 1 else np.zeros((0, K), dtype=np.bool_)
    if largest_q(level, len(flipped) + 1) == 0:
        return flipped, 0
    if len(flipped) > most:
        part = np.random.default_rng(seed).choice(len(flipped), most, replace=False)
        flipped = flipped[np.sort(part)]
    return flipped, max(1, largest_q(level, len(flipped) + 1))

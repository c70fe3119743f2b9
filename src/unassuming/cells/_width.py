"""The width of an interval, predicted before y is seen (docs/theory.md 11.3, step 5)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import gammaln

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
    return np.asarray((v > _IDENTIFIED * v.max(axis=-1, keepdims=True)) & (v > _IDENTIFIED))


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
        flipped, q = _signs(len(used), level)
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
    return float(predicted_width(np.ones((1, K)), level)[0] * np.sqrt(K) / 2)


@lru_cache(maxsize=32)
def _draws(K: int) -> Array:
    draws = np.random.default_rng([11, K]).standard_normal((DRAWS, K))
    draws.setflags(write=False)
    return draws


def _signs(K: int, level: float) -> tuple[BoolArray, int]:
    """Return the cells flipped by the sign vectors of a prediction, and q."""
    flipped = flipped_cells(K)
    if largest_q(level, len(flipped) + 1) == 0:
        return flipped, 0
    if len(flipped) > _MOST_SIGNS:
        part = np.random.default_rng(11).choice(len(flipped), _MOST_SIGNS, replace=False)
        flipped = flipped[np.sort(part)]
    return flipped, max(1, largest_q(level, len(flipped) + 1))

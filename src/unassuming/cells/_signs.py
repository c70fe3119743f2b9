"""The sign vectors that multiply whole cells, and the level that their number allows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import hadamard

from unassuming._typing import Array, BoolArray
from unassuming.noise import all_signs
from unassuming.ranking import Level

MOST_ENUMERATED = 16
"""With this many cells or fewer all sign vectors are used, and nothing is random."""

DRAWN = 4000
"""The number m of statistics with more cells: the identity and DRAWN - 1 drawn sign vectors."""


def number_of_statistics(K: int) -> int:
    """Return m: half the number of sign vectors of K cells, or `DRAWN` if there are too many.

    Examples
    --------
    >>> number_of_statistics(6), number_of_statistics(20)
    (32, 4000)
    """
    return int(2 ** max(K - 1, 0)) if K <= MOST_ENUMERATED else DRAWN


@lru_cache(maxsize=256)
def largest_q(level: float, m: int) -> int:
    """Return q = floor((1 - level) m), the largest q with 1 - q/m >= level; 0 if m is too small.

    Examples
    --------
    >>> largest_q(0.95, 32), largest_q(0.95, 16)
    (1, 0)
    """
    return Level.at_least(level, m).q if level * m <= m - 1 + 1e-9 * m else 0


@lru_cache(maxsize=256)
def fewest_cells(level: float) -> int:
    """Return K_min, the smallest number of cells that allows the level: 2^(1 - K) <= 1 - level.

    Examples
    --------
    >>> [fewest_cells(level) for level in (0.9, 0.95, 0.99)]
    [5, 6, 8]
    """
    K = 2
    while largest_q(level, 2 ** (K - 1)) == 0:
        K += 1
    return K


def flipped_cells(K: int, seed: int = 0) -> BoolArray:
    """Return F for each sign vector but the identity, shape (m - 1, K): the cells that it flips.

    s and -s give the same statistic. Up to `MOST_ENUMERATED` cells one of each pair is
    enumerated. With more cells m - 1 vectors are drawn, and the identity may be among them.

    Parameters
    ----------
    K : int
        Number of cells.
    seed : int
        Where drawn sign vectors come from.

    Examples
    --------
    >>> flipped_cells(3).astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 1, 1]])
    """
    if K <= MOST_ENUMERATED:
        return _enumerated(K)
    rng = np.random.default_rng([seed, K, 113])  # not the numbers behind a division
    return np.asarray(rng.integers(0, 2, size=(DRAWN - 1, K), dtype=np.int8) == 1)


@lru_cache(maxsize=8)
def balanced_signs(K: int) -> Array:
    """Return the sign vectors of K = 2^k cells that are balanced, after the identity, (K, K).

    Examples
    --------
    >>> balanced_signs(4).astype(int)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1],
           [ 1, -1, -1,  1]])
    """
    signs = np.asarray(hadamard(K), dtype=np.float64)
    signs.setflags(write=False)
    return signs


@lru_cache(maxsize=MOST_ENUMERATED + 1)
def _enumerated(K: int) -> BoolArray:
    if K == 0:
        return np.zeros((0, 0), dtype=bool)
    flipped = np.asarray(all_signs(K, modulo_sign=True)[1:] < 0)
    flipped.setflags(write=False)
    return flipped

"""Sign vectors for whole cells: what changes its sign together (docs/theory.md 11.2 to 11.9)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import hadamard

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

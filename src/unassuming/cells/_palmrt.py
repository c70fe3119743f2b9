"""PALMRT: exchangeable noise with too few rows for pairs (docs/theory.md 9.4; Guan, 2023).

For a permutation P project x, Px and y on the complement of [Z, PZ]. The noise beats its permuted
copy in the game of τ if |xᵀ(y - xτ)|/‖x‖ > |(Px)ᵀ(y - xτ)|/‖Px‖. The numbers for which it does not
are an interval.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from unassuming._rounding import column_units, rank_cut
from unassuming._typing import Array, IntArray


def palmrt_spans(
    Phi: Array, y: Array, functional: Array, permutations: IntArray
) -> tuple[Array, Array]:
    """Return the interval of each permutation, lo and hi of shape (m - 1,).

    Parameters
    ----------
    Phi : array of shape (n, d)
    y : array of shape (n,)
    functional : array of shape (d,)
        The number cᵀθ.
    permutations : integer array of shape (m - 1, n)

    Examples
    --------
    >>> Phi = np.column_stack([np.ones(4), [0.0, 1.0, 2.0, 3.0]])
    >>> swap, stay = np.array([1, 0, 3, 2]), np.arange(4)
    >>> lo, hi = palmrt_spans(Phi, 2 * Phi[:, 1], np.array([0.0, 1.0]), np.array([swap, stay]))
    >>> lo.round(6), hi.round(6)
    (array([  2., -inf]), array([ 2., inf]))
    """
    d = Phi.shape[1]
    scale = column_units(Phi)
    c = functional / scale
    complement = qr(c[:, None], check_finite=False)[0][:, 1:]
    x, Z = (Phi / scale) @ (c / (c @ c)), (Phi / scale) @ complement
    lo, hi = np.full(len(permutations), -np.inf), np.full(len(permutations), np.inf)
    for i, order in enumerate(permutations):
        both = np.column_stack([x, x[order], y])
        start = np.linalg.norm(both[:, 0])
        if d > 1:
            Q, R, _ = qr(np.hstack([Z, Z[order]]), mode="economic", pivoting=True)
            size = np.abs(np.diagonal(R))
            Q = Q[:, : int(np.count_nonzero(size > rank_cut(R.shape) * len(x) * size.max()))]
            for _ in range(2):
                both = both - Q @ (Q.T @ both)
        a, moved, target = both.T
        length, other = np.linalg.norm(a), np.linalg.norm(moved)
        if min(length, other) <= 1e-9 * start:
            continue
        b0, b1 = length, moved @ a / other
        a0, a1 = a @ target / length, moved @ target / other
        if b0 - abs(b1) > 1e-12 * b0:  # |b1| = b0: the permutation keeps x, up to a sign
            ends = (a0 - a1) / (b0 - b1), (a0 + a1) / (b0 + b1)
            lo[i], hi[i] = min(ends), max(ends)
    return lo, hi

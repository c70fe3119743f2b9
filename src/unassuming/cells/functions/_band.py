"""Simultaneous bands of a function from balanced cells (docs/theory.md 9.7 and 9.8).

As in 9.7 the signs are balanced, so the true values cancel from mean_b s_b u_b(z) but for a bias of
at most b_s(z) = B‖mean_b s_b h_b(z)‖. Let R_s = max_z (|mean_b s_b u_b(z)| + b_s(z)) / σ(z). The
band mean_b u_b(z) ± (σ(z)·(q-th largest R_s) + b_0(z)) holds at all z at once with probability
at least 1 - q/K.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import hadamard

from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.cells._balanced import BalancedBand
from unassuming.cells._signs import largest_q
from unassuming.cells.functions._errors import Errors
from unassuming.cells.functions._predicted import band_scale
from unassuming.cells.functions._system import Assumed


def function_band(
    u: Array, rounding: Array, found: Errors, assumed: Assumed, level: float
) -> BalancedBand:
    """Return the simultaneous band of N functionals that all K = 2^k cells identify.

    Parameters
    ----------
    u, rounding : arrays of shape (N, K)
        Estimates in the cells, and bounds on their rounding errors.
    found, assumed
        Bound the biases.
    level : float
        The attained level is the smallest 1 - q/K that is not below it.
    """
    K = u.shape[1]
    signs = hadamard(K).astype(np.float64)[1:] / K
    scale, bias, offset = band_scale(found, assumed)
    centre = u.mean(axis=1)
    blur = rounding.mean(axis=1) + K * EPS * np.abs(u).max(axis=1)
    moved = np.abs((u - centre[:, None]) @ signs.T) + bias + blur[:, None]
    R = (moved / scale[:, None]).max(axis=0)
    q = largest_q(level, K)
    half = np.full(len(u), np.inf)
    if q:
        half = scale * float(np.sort(R)[K - 1 - q]) + offset + blur
    return BalancedBand(centre, half, R, q, K)

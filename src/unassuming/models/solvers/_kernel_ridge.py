"""Weighted kernel ridge regression with an unpenalised bias."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.models.solvers._linear import SumZero, solve_positive


def kernel_ridge(
    K: Array, y: Array, alpha: float, weights: Array | None = None, *, fit_intercept: bool = True
) -> tuple[float, Array]:
    r"""Minimise :math:`\sum_j w_j (y_j - b - (Ka)_j)^2 + \alpha\, a^T K a`.

    K is positive semidefinite, α > 0 and w ≥ 0. Returns the bias b, zero without an intercept, and
    the one minimiser a with :math:`\alpha a = w \odot (y - b - Ka)`. With a bias its coefficients
    sum to zero.

    Examples
    --------
    >>> kernel_ridge(np.eye(2), np.array([1.0, 5.0]), alpha=1.0)
    (3.0, array([-1.,  1.]))
    """
    if weights is None:
        weights = np.ones_like(y)
    used = weights > 0.0
    M = K.copy() if used.all() else K[np.ix_(used, used)]  # a copy is faster than a gather
    M[np.diag_indices_from(M)] += alpha / weights[used]
    a = np.zeros_like(y)
    if not fit_intercept:
        a[used] = solve_positive(M, y[used])
        return 0.0, a
    space = SumZero(M.shape[0])
    a[used] = space.vector(solve_positive(space.form(M), space.coordinates(y[used])))
    return float(np.mean(y[used] - M @ a[used])), a

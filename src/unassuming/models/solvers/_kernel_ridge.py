"""Weighted kernel ridge regression with an unpenalised bias."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array
from unassuming.models.solvers._linear import (
    coordinates_of_sum_zero,
    from_sum_zero,
    restrict_to_sum_zero,
    solve_positive,
    sum_zero_reflection,
)


def kernel_ridge(
    K: Array, y: Array, alpha: float, weights: Array | None = None, *, fit_intercept: bool = True
) -> tuple[float, Array]:
    r"""Minimise :math:`\sum_j w_j (y_j - b - (Ka)_j)^2 + \alpha\, a^T K a`.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semidefinite Gram matrix.
    y : ndarray of shape (n,)
        Targets.
    alpha : float
        The penalty, positive.
    weights : ndarray of shape (n,), optional
        The weights w ≥ 0, all one by default.
    fit_intercept : bool
        Whether there is a bias b; otherwise it is zero.

    Returns
    -------
    b : float
        The bias.
    a : ndarray of shape (n,)
        The one minimiser with :math:`\alpha a = w \odot (y - b - Ka)`. With a bias its
        coefficients sum to zero.

    Examples
    --------
    >>> import numpy as np
    >>> from unassuming.models.solvers import kernel_ridge
    >>> kernel_ridge(np.eye(2), np.array([1.0, 5.0]), alpha=1.0)
    (3.0, array([-1.,  1.]))
    """
    if weights is None:
        weights = np.ones_like(y)
    used = weights > 0.0
    M = K.copy() if used.all() else K[np.ix_(used, used)]  # gathering takes longer
    M[np.diag_indices_from(M)] += alpha / weights[used]
    a = np.zeros_like(y)
    if not fit_intercept:
        a[used] = solve_positive(M, y[used])
        return 0.0, a
    v = sum_zero_reflection(M.shape[0])
    reduced = solve_positive(restrict_to_sum_zero(v, M), coordinates_of_sum_zero(v, y[used]))
    a[used] = from_sum_zero(v, reduced)
    return float(np.mean(y[used] - M @ a[used])), a

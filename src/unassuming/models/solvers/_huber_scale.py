"""The scale of residuals in scikit-learn's Huber regression."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array


def huber_scale(residuals: Array, weights: Array, epsilon: float) -> Array:
    r"""Return the root σ of :math:`\sum_j w_j \min(r_j^2/\sigma^2, \varepsilon^2) = \sum_j w_j`.

    The residuals have shape (..., n), one problem per leading index, and the weights w ≥ 0 shape
    (n,). Where no root σ > 0 exists the result is nan: ε² times the share of the weight with
    nonzero residuals must exceed 1. The root depends on the absolute residuals only, so changes of
    sign do not alter a bit of it.

    Notes
    -----
    The left-hand side decreases in σ, and between two neighbouring breakpoints :math:`|r_j|/
    \varepsilon` it is :math:`S/\sigma^2 + \varepsilon^2 L`, with the sum S of :math:`w_j r_j^2`
    over the small residuals and the weight L of the large ones. Sorting finds the piece; the rest
    is one division and one square root.

    Examples
    --------
    >>> float(huber_scale(np.array([3.0, -3.0, 3.0, -3.0]), np.ones(4), 1.35))
    3.0
    >>> huber_scale(np.array([[1.0, -2.0, 100.0], [0.0, 0.0, 1.0]]), np.ones(3), 1.35)
    array([2.06..., nan])
    """
    size = np.abs(residuals)
    # Dividing by a power of two rounds nothing and keeps the squares from over- and underflow.
    exponent = np.frexp(size.max(axis=-1, keepdims=True, initial=0.0))[1]
    size = np.ldexp(size, -exponent)
    order = np.argsort(size, axis=-1, kind="stable")
    size, w = np.take_along_axis(size, order, axis=-1), weights[order]
    total = float(np.sum(weights))
    small = np.cumsum(w * size**2, axis=-1)  # S, if the small residuals end here
    large = np.zeros_like(small)  # L
    large[..., :-1] = np.cumsum(w[..., :0:-1], axis=-1)[..., ::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        left = epsilon**2 * (small / size**2 + large)  # at |r|/ε; nan where r = 0
        last = np.sum(~(left < total), axis=-1, keepdims=True) - 1
        S = np.take_along_axis(small, np.maximum(last, 0), axis=-1)
        L = np.take_along_axis(large, np.maximum(last, 0), axis=-1)
        sigma = np.sqrt(S / (total - epsilon**2 * L))
    share = np.sum(w * (size > 0.0), axis=-1, keepdims=True)
    solvable = (epsilon**2 * share > total) & (sigma > 0.0)
    scale: Array = np.ldexp(np.where(solvable, sigma, np.nan), exponent)[..., 0]
    return scale

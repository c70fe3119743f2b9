"""Rows like those at hand, in another number; some of them as inputs of a band."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._typing import IntArray


def spread(X: Any, n: int) -> IntArray:
    """Return the positions of n rows of X that are spread evenly over all of them.

    A single column of numbers is spread in its order, other rows at random. Where n exceeds the
    number of rows, rows are repeated.

    Examples
    --------
    >>> X = np.array([[0.0], [4.0], [1.0], [3.0], [2.0]])
    >>> X[spread(X, 3)].ravel(), X[spread(X, 8)].ravel()
    (array([0., 2., 4.]), array([0., 1., 1., 2., 2., 3., 3., 4.]))
    """
    total, columns = (*np.shape(X), 1)[:2]
    order = np.random.default_rng(118).permutation(total)
    if columns == 1 and not hasattr(X, "toarray"):
        values = np.asarray(X).reshape(-1)
        if values.dtype.kind in "iuf":
            order = np.argsort(values, kind="stable")
    if n == 1:
        return order[total // 2 : total // 2 + 1]
    return np.asarray(order[np.round(np.linspace(0, total - 1, n)).astype(np.intp)])

"""Bounds beside those that an assumption alone gives."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array


def no_narrower(lower: Array, upper: Array, limit: Array) -> bool:
    """Whether all bounds (N,) are those of a finite limit alone, ±limit, up to rounding.

    Examples
    --------
    >>> limit = np.array([2.0, 3.0])
    >>> no_narrower(-limit, limit, limit), no_narrower(-limit, limit - [0.1, 0.0], limit)
    (True, False)
    """
    least = (1 - 1e-9) * limit
    known = bool(len(limit)) and bool(np.isfinite(limit).all())
    return known and bool((upper >= least).all() and (lower <= -least).all())

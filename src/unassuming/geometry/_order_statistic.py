"""Order statistics: the q-th largest of m - 1 bounds, one for each set, bounds the region."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array


def order_statistic(values: Array, q: int | None = None) -> Array:
    """Return the q-th largest value along the last axis, or all of them, largest first, for None.

    Every point of the region at level 1 - q/m lies in at least q of the sets, so the q-th largest
    of their upper bounds is an upper bound over the region (docs/theory.md 4).
    """
    if q is None:
        return -np.sort(-values, axis=-1)
    return -np.partition(-values, q - 1, axis=-1)[..., q - 1]

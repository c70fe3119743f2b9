"""The q-th largest of the m - 1 sets: what holds of it holds of the region (docs/theory.md 4)."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array


def order_statistic(values: Array, q: int | None = None) -> Array:
    """Return the q-th largest along the last axis; all of them, largest first, for None.

    Every point of the region at level 1 - q/m lies in at least q of the sets, so what holds of the
    q-th largest value holds of the region (docs/theory.md 4).
    """
    if q is None:
        return -np.sort(-values, axis=-1)
    return -np.partition(-values, q - 1, axis=-1)[..., q - 1]

"""The data at a glance."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.report._content import Column

_BARS = 16
_COMMON = 3


def column(name: str, values: Any) -> Column:
    """Describe a column.

    Examples
    --------
    >>> column("x", [1.0, 2.0, 3.0]).quantiles
    (1.0, 1.5, 2.0, 2.5, 3.0)
    >>> column("city", ["a", "b", "a"]).common
    ('a', 'b')
    """
    values = np.asarray(values)
    numbers = as_numbers(values)
    if numbers is None:
        counted = Counter(map(str, values.tolist()))
        common = sorted(counted, key=lambda text: (-counted[text], text))[:_COMMON]
        return Column(name, len(counted), None, None, tuple(common))
    finite = numbers[np.isfinite(numbers)]
    distinct = len(np.unique(finite))
    if not finite.size:
        return Column(name, 0, None, None)
    low, high = finite.min(), finite.max()
    counts = np.zeros(1, dtype=np.intp)
    if np.isfinite(high - low) and high > low:
        place = ((finite - low) / (high - low) * _BARS).astype(np.intp)
        counts = np.bincount(np.minimum(place, _BARS - 1), minlength=_BARS)
    quantiles = np.quantile(finite, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return Column(name, distinct, tuple(quantiles), counts)


def as_numbers(values: Any) -> Array | None:
    """Return a column as numbers, or None."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 else None

"""Bounds at several levels by one method; those of a joint region are nested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np


def nested(
    question: Callable[..., dict[float, Any]], levels: Sequence[float], options: Mapping[str, Any]
) -> dict[float, Any]:
    """Ask at all levels, from the highest on, by the method that the highest one chooses.

    Parameters
    ----------
    question : callable
        A method of a region that takes ``level``, a sequence, and ``method``.
    levels : sequence of float
        From the highest on.
    options : mapping
        Further arguments.
    """
    found = question(level=list(levels[:1]), **options)
    if len(levels) == 1:
        return found
    if options.get("method") == "auto" and options.get("simultaneous", True):
        cells = found[levels[0]].method == "balanced cells"
        options = {**options, "method": "cells" if cells else "joint"}
    found |= question(level=list(levels[1:]), **options)
    for higher, lower in pairwise(levels):
        found[lower] = inside(found[lower], found[higher])
    return found


def inside(bounds: Any, higher: Any) -> Any:
    """Return bounds of a joint region that are within those of a higher level.

    The region of the higher level contains the other one, but a search may have ended sooner here.
    """
    if bounds.method != "joint region" or higher.method != "joint region":
        return bounds
    low, high = np.maximum(bounds.lower, higher.lower), np.minimum(bounds.upper, higher.upper)
    finite = np.isfinite(bounds.upper - bounds.lower) & (low <= high)
    if not (finite & ((low > bounds.lower) | (high < bounds.upper))).any():
        return bounds
    return replace(
        bounds,
        lower=np.where(finite, low, bounds.lower),
        upper=np.where(finite, high, bounds.upper),
    )

"""Bounds at several levels by one method, so that those of lower levels lie inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


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
    highest = question(level=list(levels[:1]), **options)
    if len(levels) == 1:
        return highest
    if options.get("method") == "auto" and options.get("simultaneous", True):
        cells = highest[levels[0]].method == "balanced cells"
        options = {**options, "method": "cells" if cells else "joint"}
    return highest | question(level=list(levels[1:]), **options)

"""Where lines leave a quadratic region; refused if that depends on digits that were lost.

In a stream, and of very many rows, the ends of some sets may not be known. The answer is then the
same whether these sets hold the whole line or none of it, or there is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic import covered, first_ends
from unassuming.membership import about_columns_in_doubt
from unassuming.objectives import Quadratic


def ends_of_rays(
    low: Array,
    high: Array,
    doubt: BoolArray,
    qs: Sequence[int],
    objective: Quadratic,
    *,
    sums: bool,
) -> list[Array]:
    """Return where rays from t = 0 first leave at least q of the intervals (N, m - 1), (N,) each.

    ``doubt`` (N, m - 1) says which intervals are not known, except that they hold t = 0; ``sums``
    says whether they come from sums over the rows. The ``objective`` shows what a refusal names.
    """
    if not doubt.any():
        return first_ends(low, high, qs)
    short = first_ends(np.where(doubt, 0.0, low), np.where(doubt, 0.0, high), qs)
    long = first_ends(np.where(doubt, -np.inf, low), np.where(doubt, np.inf, high), qs)
    _require(all(map(np.array_equal, short, long)), doubt, "", objective, sums=sums)
    return long


def parts_of_lines(
    low: Array,
    high: Array,
    doubt: BoolArray,
    qs: Sequence[int],
    objective: Quadratic,
    *,
    sums: bool,
) -> list[list[Array]]:
    """Return the points of lines that lie in at least q of the intervals (N, m - 1)."""

    def at(low: Array, high: Array) -> list[list[Array]]:
        return [[covered(*ends, q) for ends in zip(low, high, strict=True)] for q in qs]

    if not doubt.any():
        return at(low, high)
    few = at(np.where(doubt, np.inf, low), np.where(doubt, -np.inf, high))
    many = at(np.where(doubt, -np.inf, low), np.where(doubt, np.inf, high))
    pairs = zip(few, many, strict=True)
    same = all(all(map(np.array_equal, one, two)) for one, two in pairs)
    _require(same, doubt, "Begin the line near the estimate. ", objective, sums=sums)
    return many


def _require(
    same: bool, doubt: BoolArray, remedy: str, objective: Quadratic, *, sums: bool
) -> None:
    if same:
        return
    given = f"given {doubt.sum(axis=1).max()} of {doubt.shape[1]} that are not"
    if sums:
        raise ValueError(
            "the end of the region cannot be decided from sums over the rows: expected sets whose "
            f"ends are certain despite the rounding errors of the sums, {given}. Build the "
            "region in memory with ua.confidence_region(estimator, X, y)."
        )
    if sentence := about_columns_in_doubt("the end of the region", objective):
        raise ValueError(sentence)
    raise ValueError(
        "the end of the region cannot be decided in double precision: expected sets whose ends "
        f"are certain despite rounding, {given}. {remedy}If a number that exceeds all others "
        "stands for a missing value, mark it as missing or drop its row."
    )

"""Choices that rounding does not decide.

Many designs have rows that are alike: mirror images, repeated levels. Numbers that are equal in
exact arithmetic then differ by rounding, which depends on the processor. A division decides many
times by comparing numbers, and a single other decision leads to other cells. So equal up to
rounding counts as equal, and the first one wins.
"""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array

_DIGITS = 7
"""Decimal digits of a number, in a unit that is natural for it, that rounding leaves alone."""


def settled(values: Array) -> Array:
    """Return numbers of the order of one without the digits that rounding may change.

    Examples
    --------
    >>> np.argsort(settled(np.array([0.3, 0.1 + 0.2])), kind="stable")
    array([0, 1])
    """
    return np.asarray(np.round(values, _DIGITS))


def first_largest(values: Array, tolerance: float) -> int:
    """Return the flat index of the first number that equals the largest up to a tolerance.

    Examples
    --------
    >>> first_largest(np.array([1.0, 0.1 + 0.2 + 2.7, 3.0 + 1e-15]), 1e-9)
    1
    """
    return int((values >= values.max() - tolerance).argmax())

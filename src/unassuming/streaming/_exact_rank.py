"""The rank of the features of a stream in exact arithmetic, modulo primes, row by row.

Sums have errors, so they do not tell columns that depend on each other from columns that do so up
to rounding only. A basis of the rows modulo a prime does. Once it has as many rows as there are
columns, nothing more is to be done: for most data that takes a few rows.
"""

from __future__ import annotations

import numpy as np

from unassuming._batches import slices
from unassuming._modular import PRIMES, Remainders, echelon, few_rows, null_space, remainders
from unassuming._typing import Array

Spaces = tuple[Remainders, ...]
"""Reduced echelon forms (r, d) of the rows, one for each prime."""

_ROWS = 512
"""Rows that are looked at once."""


def extended(spaces: Spaces, Phi: Array) -> Spaces:
    """Return bases of the rows so far and of rows Phi (n, d) as well; () if there are none so far.

    Examples
    --------
    >>> one = extended((), np.array([[1.0, 2.0], [3.0, 6.0]]))
    >>> rank(one), rank(extended(one, np.array([[1.0, 2.0 + 2.0**-50]])))
    (1, 2)
    """
    d = Phi.shape[1]
    spaces = spaces or tuple(np.zeros((0, d), dtype=np.int64) for _ in PRIMES)
    if all(len(form) == d for form in spaces) or not np.isfinite(Phi).all():
        return spaces
    found = []
    for prime, form in zip(PRIMES, spaces, strict=True):
        for some in slices(len(Phi), _ROWS):
            if len(form) == d:
                break
            form = _reduced([form, few_rows(remainders(Phi[some], prime), prime)], prime)
        found.append(form)
    return tuple(found)


def joined(one: Spaces, two: Spaces) -> Spaces:
    """Return bases of the rows of both."""
    if not (one and two):
        return one or two
    pairs = zip(PRIMES, one, two, strict=True)
    return tuple(_reduced([first, second], prime) for prime, first, second in pairs)


def rank(spaces: Spaces) -> int:
    """Return the rank: that modulo a prime is never above it."""
    return max((len(form) for form in spaces), default=0)


def null_spaces(spaces: Spaces) -> tuple[Remainders, ...]:
    """Return bases (d, d - r) of the vectors that no row sees, one for each prime."""
    return tuple(null_space(form, prime) for form, prime in zip(spaces, PRIMES, strict=True))


def _reduced(parts: list[Remainders], prime: int) -> Remainders:
    return echelon(np.vstack(parts), prime)[0]

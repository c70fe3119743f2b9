"""The unit of rounding, what counts as zero beside it, and scaling that rounds nothing."""

from __future__ import annotations

import numpy as np

from unassuming._typing import Array, BoolArray

EPS = float(np.finfo(np.float64).eps)
"""The distance from 1 to the next double."""

TINY = float(np.finfo(np.float64).tiny)
"""The smallest double with all its digits."""

SEEN = 1e-9
"""A functional depends on a direction if its component there exceeds this share of its length."""


_SQUARED = (1e-140, 1e140)  # lengths whose squares are far from the limits of a double


def rank_cut(shape: tuple[int, ...]) -> float:
    """Return the relative size below which a singular value is nothing but rounding."""
    return max(shape) * EPS


def exceeds(rest: Array, g: Array) -> BoolArray:
    """Return which functionals g (..., d) leave a remainder that counts."""
    unit = powers_of_two(np.abs(g).max(axis=-1, keepdims=True, initial=0.0))
    size = np.linalg.norm(g / unit, axis=-1)
    return np.asarray(np.linalg.norm(rest / unit, axis=-1) > SEEN * size)


def powers_of_two(lengths: Array) -> Array:
    """Return powers of two near some lengths, one for those that are zero.

    Dividing by them rounds nothing.
    """
    return np.asarray(np.ldexp(1.0, np.frexp(lengths)[1]))


def settled(*arrays: Array) -> list[Array]:
    """Return arrays rounded to a common grid, 2⁻²⁰ of their largest finite entry.

    Numbers that are equal up to rounding become equal, and sums of some of them are exact. A choice
    between them is then the same on every processor.

    Examples
    --------
    >>> a, b, c = settled(np.array([0.1 + 0.2, 0.3, np.inf]))[0].tolist()
    >>> a == b < c
    True
    """
    largest = max((float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in arrays), default=0.0)
    unit = float(powers_of_two(np.array(largest))) * 2.0**-20
    return [np.rint(x / unit) * unit for x in arrays]


def graded(x: Array) -> Array:
    """Return integers in the order of positive x, equal where x differ by less than a millionth.

    Examples
    --------
    >>> a, b, c = graded(np.array([0.1 + 0.2, 0.3, np.inf])).tolist()
    >>> a == b < c
    True
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.rint(np.log(x) * 2.0**20))


def length(x: Array) -> Array:
    """Return the lengths of vectors (..., n), also where squares over- or underflow."""
    with np.errstate(over="ignore", under="ignore"):
        plain = np.asarray(np.linalg.norm(x, axis=-1))
    if ((plain > _SQUARED[0]) & (plain < _SQUARED[1])).all():
        return plain
    power = powers_of_two(np.abs(x).max(axis=-1, initial=0.0))
    return np.asarray(np.linalg.norm(x / power[..., None], axis=-1) * power)

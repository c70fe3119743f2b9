"""The unit of rounding, what counts as zero beside it, and scaling that rounds nothing."""

from __future__ import annotations

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, BoolArray

EPS = float(np.finfo(np.float64).eps)
"""The distance from 1 to the next double."""

UNIT = EPS / 2
"""The largest relative error of one rounded operation."""

TINY = float(np.finfo(np.float64).tiny)
"""The smallest double with all its digits."""

SEEN = 1e-9
"""A functional of a kernel depends on a direction if this share of its length lies there.

Functionals of features are decided without rounding (`Factor.blind`)."""


_BATCH = 2**18  # bytes of rows that are transposed at once
_SQUARED = (1e-140, 1e140)  # lengths whose squares are far from the limits of a double


def rank_cut(shape: tuple[int, ...]) -> float:
    """Return the relative size below which a singular value is nothing but rounding."""
    return max(shape) * EPS


def gamma(operations: float) -> float:
    """Return γ_k = ku / (1 - ku): the relative error that k rounded operations can add up to.

    A sum of k products is off by at most γ_k times the sum of their absolute values, in whatever
    order it is computed, fused or not (Higham, Accuracy and Stability, section 3.1).

    Examples
    --------
    >>> gamma(2) >= 2 * UNIT
    True
    """
    share = operations * UNIT
    return share / (1 - share) if share < 1 else np.inf


def of_products(terms: int) -> float:
    """Return a relative error of sums of so many products of rounded numbers.

    γ covers the sum and the rounding of both factors. For few terms the root is larger: decimals
    that are equal as they are meant then differ by less, and count as equal.
    """
    return max(4 * EPS * float(np.sqrt(terms)), gamma(terms + 4))


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


def column_ranges(rows: Array) -> tuple[Array, Array]:
    """Return the least and the largest number in each column (n, d); 0 without rows.

    Rows are transposed in batches, since NumPy reduces slowly along the columns of narrow arrays.

    Examples
    --------
    >>> column_ranges(np.array([[1.0, -3.0], [2.0, 1.0]]))
    (array([ 1., -3.]), array([2., 1.]))
    """
    low = high = np.zeros(rows.shape[1])
    for some in slices(len(rows), rows_that_fit(_BATCH, rows.shape[1])):
        part = np.ascontiguousarray(rows[some].T)
        least, largest = part.min(axis=1), part.max(axis=1)
        low = np.minimum(low, least) if some.start else least
        high = np.maximum(high, largest) if some.start else largest
    return low, high


def column_sizes(rows: Array) -> Array:
    """Return the largest absolute value in each column (n, d); 0 without rows."""
    low, high = column_ranges(rows)
    return np.maximum(-low, high)


def column_units(rows: Array) -> Array:
    """Return powers of two near the largest absolute values of the columns (n, d)."""
    return powers_of_two(column_sizes(rows))


def length(x: Array) -> Array:
    """Return the lengths of vectors (..., n), also where squares over- or underflow."""
    with np.errstate(over="ignore", under="ignore"):
        plain = np.asarray(np.linalg.norm(x, axis=-1))
    if ((plain > _SQUARED[0]) & (plain < _SQUARED[1])).all():
        return plain
    power = powers_of_two(np.abs(x).max(axis=-1, initial=0.0))
    return np.asarray(np.linalg.norm(x / power[..., None], axis=-1) * power)


def column_lengths(x: Array) -> Array:
    """Return the lengths of the columns (n, d).

    The array is transposed first: NumPy reduces slowly along the columns of narrow arrays.
    """
    return length(np.ascontiguousarray(x.T))

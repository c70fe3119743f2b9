"""Signs from a group: a rank that is uniform for one fixed choice of signs (docs/theory.md 17).

A row, or a block of rows, has a character g, a number from 1 to m - 1, and transformation i gives
it the sign (-1)^popcount(i & g). The m transformations are then a group under multiplication, so
that the rank of the true candidate is uniform without any draw. Which character a row has depends
on its number alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unassuming._typing import Array, IntArray
from unassuming.noise._base import Noise
from unassuming.noise._counter_draws import Key
from unassuming.noise._row_blocks import RowNoise
from unassuming.noise._signs import BlockSymmetric, SignFlips, Signs, Symmetric
from unassuming.noise._subsets import sign_units_between, sign_units_of

POLYNOMIALS = {
    4: 0b111,
    8: 0b1011,
    16: 0b10011,
    32: 0b100101,
    64: 0b1000011,
    128: 0b10000011,
    256: 0b100011101,
    512: 0b1000010001,
    1024: 0b10000001001,
    2048: 0b100000000101,
}
"""By the order m of a group, a primitive polynomial: its root generates the field of m elements."""

_TIED = 1e-9
"""Leverages that differ by less than this share of their mean count as equal."""


def is_group(noise: Noise, m: int) -> bool:
    """Whether m - 1 transformations and the identity are a group of signs.

    A subclass of `Symmetric` with its own ``draw`` or ``apply`` keeps its own transformations.
    """
    if not isinstance(noise, SignFlips) or m & (m - 1) or m < min(POLYNOMIALS):
        return False
    if m not in POLYNOMIALS:
        raise ValueError(
            f"m is too large for a group of signs: expected a power of two up to "
            f"{max(POLYNOMIALS)}, or another number, given {m}. Pass e.g. m={m - 1}, which draws "
            "signs at random."
        )
    ours = type(noise).draw_rows in (Symmetric.draw_rows, BlockSymmetric.draw_rows)
    return ours and (type(noise).draw, type(noise).apply) == (RowNoise.draw, SignFlips.apply)


def order_of(values: Array, key: int = 0, blocks: IntArray | None = None) -> IntArray:
    """Return the positions in descending order of values, rounded to 1e-9 of their mean size.

    Ties are broken by a pseudo-random permutation that the key fixes, never by the position: rows
    may be sorted by y. With blocks the positions of each block follow one another.
    """
    scale = float(np.abs(values).mean()) * _TIED
    # The shift keeps values such as 1/1024 off the boundaries of rounding.
    rounded = np.floor(values / scale + 0.271828) if scale > 0 else values
    keys = [hashed(np.arange(len(values)), key), -rounded]
    return np.asarray(np.lexsort(keys if blocks is None else [*keys, blocks]), dtype=np.intp)


def numbers_by_leverage(leverage: Array, key: int = 0) -> IntArray:
    """Number rows from 0 by leverage, descending."""
    number = np.empty(len(leverage), dtype=np.intp)
    number[order_of(leverage, key)] = np.arange(len(leverage))
    return number


def powers(m: int, count: int) -> IntArray:
    """Return 1, α, α², ... (count,) in GF(m), m = 4, 8, ..., 2,048: every m - 1 differ.

    Examples
    --------
    >>> powers(8, 9).tolist()
    [1, 2, 4, 3, 6, 7, 5, 1, 2]
    """
    cycle = [1]
    for _ in range(m - 2):
        double = cycle[-1] << 1
        cycle.append(double ^ POLYNOMIALS[m] if double >= m else double)
    return np.resize(np.array(cycle, dtype=np.intp), count)


def characters(number: IntArray, m: int) -> IntArray:
    """Return the characters of rows of these numbers: distinct ones first, then random ones."""
    later = 1 + (hashed(number) % np.uint64(m - 1)).astype(np.intp)
    return np.where(number < m - 1, powers(m, m - 1)[np.minimum(number, m - 2)], later)


def group_order(noise: Noise, n: int, m: int, *, modulo_sign: bool) -> int:
    """Return the number of different elements of the group for n rows, at most m."""
    units = sign_units_of(noise, n)
    assert units is not None
    first = np.arange(min(int(units.max()) + 1, m - 1))  # with m - 1 units all characters are used
    return len(_elements(characters(first, m), m, modulo_sign=modulo_sign))


def group_by_leverage(
    noise: Noise,
    leverage: Array | Callable[[], Array],
    m: int,
    *,
    modulo_sign: bool,
    key: int = 0,
) -> Signs:
    """Return the signs of n rows in each element of the group but the identity.

    Fewer than log2(m) rows or blocks have fewer than m different elements: these alone are
    returned, and of s and -s only one with ``modulo_sign``.
    """
    leverage = leverage() if callable(leverage) else leverage
    units = sign_units_of(noise, len(leverage))
    assert units is not None
    number = numbers_by_leverage(np.bincount(units, leverage).astype(np.float64), key)
    used, of_unit = np.unique(characters(number, m), return_inverse=True)
    signs = _elements(used, m, modulo_sign=modulo_sign)
    return np.ascontiguousarray(signs[1:, of_unit.reshape(-1)[units]])


def rows_of_stream(noise: RowNoise, key: Key, first: int, count: int, m: int) -> Any:
    """Return the transformations of rows first, ..., first + count - 1 by their numbers alone."""
    units = sign_units_between(noise, first, count) if is_group(noise, m) else None
    if units is None:
        return noise.draw_rows(key, first, count, m - 1)
    return _signs(characters(units, m), m)[1:]


def hashed(numbers: IntArray, key: int = 0) -> NDArray[np.uint64]:
    """Return pseudo-random 64-bit numbers, a function of the numbers and the key (splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.asarray(numbers).astype(np.uint64) + np.uint64(1)
        z = (z + np.uint64(key) * np.uint64(2**32)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _signs(g: IntArray, m: int) -> Signs:
    """Return (-1)^popcount(i & g) for i = 0, ..., m - 1, shape (m, len(g))."""
    odd = np.array([number.bit_count() & 1 for number in range(m)], dtype=np.int8)
    signs: Signs = (1 - 2 * odd)[np.arange(m)[:, None] & g]
    return signs


def _elements(used: IntArray, m: int, *, modulo_sign: bool) -> Signs:
    """Return the different elements of the group, the identity first, on these characters."""
    signs = _signs(used, m)
    if modulo_sign and len(used) > 1:
        signs = _first_of_equals(signs, signs[:, :1] * signs)
    return _first_of_equals(signs, signs)


def _first_of_equals(signs: Signs, form: Signs) -> Signs:
    """Return the signs without those whose form an earlier one has."""
    return signs[np.sort(np.unique(form, axis=0, return_index=True)[1])]

"""Noise that is symmetric about zero, row by row or block by block: signs.

Signs that are drawn are independent. The signs of a group (docs/theory.md 17) are not drawn: a row,
or a block, has a character g, a number from 1 to m - 1, and transformation i gives it the sign
(-1)^popcount(i & g). The m transformations are then closed under multiplication, so that the rank
of the true candidate is uniform for one fixed choice. Which character a row has depends on its
number alone.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unassuming._labels import as_labels, numbered, row_index
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.noise.base import Noise, check_order, draw_key, each_row, keyed_signs

Signs = NDArray[np.int8]

_COEFFICIENTS = (7, 11, 19, 37, 67, 131, 285, 529, 1033, 2053)
POLYNOMIALS = {2 ** (bits.bit_length() - 1): bits for bits in _COEFFICIENTS}
"""By the order m of a group, the bits of a primitive polynomial: its root generates the field."""

_TIED = 1e-9
"""Values that differ by less than this share of their mean size count as equal."""


class SignFlips(Noise):
    """Base class of the assumptions under which random signs multiply the residuals."""

    orthogonal = True

    @property
    def rowwise(self) -> bool:  # type: ignore[override]
        """True, unless a subclass has transformations of its own."""
        return type(self).apply is SignFlips.apply

    def apply(self, drawn: Signs, residuals: Array, fitted: Array | None) -> Array:
        """Flip the signs of residuals (..., n); returns (..., size, n)."""
        return np.asarray(residuals[..., None, :] * drawn)

    @abstractmethod
    def sign_units(self, n: int) -> IntArray:
        """Return the unit of each row that changes its sign as a whole."""

    def draw(self, n: int, size: int, rng: np.random.Generator) -> Signs:
        """Draw signs, shape (size, n), constant within each unit."""
        units = self.sign_units(n)
        return np.take(keyed_signs(draw_key(rng), int(units.max()) + 1, size), units, axis=1)

    def group(self, n: int, *, modulo_sign: bool) -> tuple[Signs, int]:
        """Enumerate all sign vectors of the units, or one of each pair."""
        units = self.sign_units(n)
        signs = np.take(all_signs(int(units.max()) + 1, modulo_sign=modulo_sign), units, axis=1)
        return signs[1:], len(signs)


class Symmetric(SignFlips):
    """Independent noise, each term symmetric about zero; the laws may all differ.

    No moments are needed: heavy tails and a different scale in every row are allowed. The
    transformations are signs, r_j -> s_j r_j. Signs that are drawn depend, for row j, on the seed
    and on j only.

    Examples
    --------
    >>> noise = ua.noise.Symmetric()
    >>> drawn = noise.draw(3, 2, np.random.default_rng(0))
    >>> abs(noise.apply(drawn, np.array([1.0, 2.0, 3.0]), None))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    assumption = (
        "the noise terms are independent, each symmetric about zero (their laws may all differ)"
    )
    separable = True
    sign_units = each_row


class BlockSymmetric(SignFlips):
    """Independent blocks of rows, the noise vector of each block symmetric about zero.

    For clustered or serially dependent noise: within a block the dependence is arbitrary. The
    transformations multiply each block by a sign.

    Parameters
    ----------
    blocks : array of shape (n,)
        The label of the block that each row belongs to: whole numbers, text, dates or categories.

    Attributes
    ----------
    blocks : array of shape (n,)
    column : object
        The labels as they were passed, if as a column of pandas, whose index names the rows.

    Examples
    --------
    >>> noise = ua.noise.BlockSymmetric(["a", "a", "b"])
    >>> flipped = noise.apply(noise.draw(3, 4, np.random.default_rng(0)), np.ones(3), None)
    >>> bool((flipped[:, 0] == flipped[:, 1]).all())
    True
    """

    assumption = (
        "the blocks of rows are independent and the noise vector of each is symmetric about zero"
    )

    def __init__(self, blocks: ArrayLike) -> None:
        self.column: Any = None if row_index(blocks) is None else blocks
        self._number(as_labels(blocks, "blocks"))

    def _number(self, labels: NDArray[Any]) -> None:
        # Numbered by first appearance: the signs of a block do not depend on the rows after it.
        self.blocks, (self._block_of_row, self._count) = labels, numbered(labels)

    def check_length(self, n: int) -> None:
        """Refuse another number of rows than there are labels."""
        if len(self.blocks) != n:
            raise ValueError(
                f"blocks must have one label for each of the {n} rows, given "
                f"{len(self.blocks)} labels. Pass an array as long as y."
            )

    def units(self, n: int) -> IntArray:
        """Return the block of each row: a block can be set aside as a whole."""
        self.check_length(n)
        return self._block_of_row

    sign_units = units

    def restrict(self, rows: BoolArray) -> Self:
        """Return the assumption with the labels of ``rows`` alone."""
        self.check_length(len(rows))
        part = copy(self)  # the constructor of a subclass may take other arguments
        part.column = None
        part._number(self.blocks[rows])
        return part

    def __repr__(self) -> str:
        return f"BlockSymmetric({self._count} blocks, {len(self.blocks)} rows)"


def all_signs(n: int, *, modulo_sign: bool) -> Signs:
    """Return all sign vectors of length n, the identity first; ``modulo_sign``: one of s and -s."""
    check_order(n - modulo_sign, [], f"signs of {n} rows or blocks")
    codes = np.arange(2 ** (n - modulo_sign))[:, None] >> np.arange(n)
    return np.asarray(1 - 2 * (codes & 1), dtype=np.int8)


def powers(m: int, count: int) -> IntArray:
    """Return 1, α, α², ... (count,) in the field of m elements: every m - 1 differ."""
    cycle = [1]
    for _ in range(m - 2):
        double = cycle[-1] << 1
        cycle.append(double ^ POLYNOMIALS[m] if double >= m else double)
    return np.resize(np.array(cycle, dtype=np.intp), count)


def characters(number: IntArray, m: int) -> IntArray:
    """Return the characters of rows of these numbers: distinct ones first, then random ones."""
    later = 1 + (hashed(number) % np.uint64(m - 1)).astype(np.intp)
    return np.where(number < m - 1, powers(m, m - 1)[np.minimum(number, m - 2)], later)


def signs_of(g: IntArray, m: int) -> Signs:
    """Return (-1)^popcount(i & g) for i = 0, ..., m - 1, shape (m, len(g))."""
    odd = np.array([number.bit_count() & 1 for number in range(m)], dtype=np.int8)
    signs: Signs = (1 - 2 * odd)[np.arange(m)[:, None] & g]
    return signs


def order_of(values: Array, key: int = 0) -> IntArray:
    """Return positions by value, descending; equal ones by a permutation that the key fixes."""
    # The position of a row never decides: rows may be sorted by y.
    scale = float(np.abs(values).mean()) * _TIED
    # The shift keeps values such as 1/1024 off the boundaries of rounding.
    rounded = np.floor(values / scale + 0.271828) if scale > 0 else values
    return np.lexsort([hashed(np.arange(len(values)), key), -rounded])


def group_by_leverage(
    units: IntArray, leverage: Array, m: int, *, modulo_sign: bool, key: int = 0
) -> Signs:
    """Return the signs of n rows in each element of the group but the identity."""
    # Fewer than log2(m) units of rows have fewer than m different elements: these alone are
    # returned, and of s and -s only one with modulo_sign.
    order = order_of(np.bincount(units, leverage).astype(np.float64), key)
    number = np.argsort(order)
    used, of_unit = np.unique(characters(number, m), return_inverse=True)
    signs = signs_of(used, m)
    if modulo_sign and len(used) > 1:
        signs = _first_of_equals(signs, signs[:, :1] * signs)
    signs = _first_of_equals(signs, signs)
    return np.ascontiguousarray(signs[1:, of_unit.reshape(-1)[units]])


def hashed(numbers: IntArray, key: int = 0) -> NDArray[np.uint64]:
    """Return pseudo-random 64-bit numbers, a function of the numbers and the key (splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.asarray(numbers).astype(np.uint64) + np.uint64(1)
        z = (z + np.uint64(key) * np.uint64(2**32)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _first_of_equals(signs: Signs, form: Signs) -> Signs:
    """Return the signs without those whose form an earlier one has."""
    return signs[np.sort(np.unique(form, axis=0, return_index=True)[1])]

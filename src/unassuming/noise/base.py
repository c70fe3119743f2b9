"""The abstract class behind every assumption on the noise, and numbers keyed by rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import factorial, lgamma, log, prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray, IntArray

LARGEST_GROUP = 4096
"""The order of the largest group that ``m="all"`` enumerates: all signs of 12 rows."""

Key = NDArray[np.uint64]
"""The 128-bit key of a counter-based generator."""


class Noise(ABC):
    """An assumption on the noise: a group of transformations that leave its law unchanged.

    The transformations are drawn uniformly from a compact group, without looking at the data
    (docs/theory.md 2 and 3). A subclass supplies ``draw``, ``apply`` and ``orthogonal``.

    Attributes
    ----------
    assumption : str
        The assumption in words, for reports.
    target : str
        What the true coefficients give at the inputs, for reports.
    orthogonal : bool
        True if every transformation is a linear orthogonal map of the residuals.
    rowwise : bool
        True if every transformation multiplies each row by ±1, so that weights commute with it.
    separable : bool
        True if any rows may be set aside: given the noise of those rows, transformations drawn for
        the remaining rows leave the law of their noise unchanged. The default, False, is always
        safe, but excludes tuning on a part of the rows.
    spherical : bool
        True if rotations leave the law of the noise unchanged, so that the t interval is exact.
    labels : bool
        True if ``draw`` returns uniform numbers, from which fresh labels ±1 of a candidate follow.

    Examples
    --------
    >>> class WholeSymmetric(ua.noise.Noise):
    ...     orthogonal = True
    ...
    ...     def draw(self, n, size, rng):
    ...         return rng.choice([-1.0, 1.0], size=(size, 1))
    ...
    ...     def apply(self, drawn, residuals, fitted):
    ...         return residuals[..., None, :] * drawn
    >>> noise = WholeSymmetric()
    >>> noise.apply(noise.draw(3, 2, np.random.default_rng(0)), np.ones(3), None).shape
    (2, 3)
    """

    assumption: str = "the law of the noise is unchanged by the transformations drawn"
    target: str = "the values of the regression function"
    rowwise: bool = False
    separable: bool = False
    spherical: bool = False
    labels: bool = False

    @abstractmethod
    def draw(self, n: int, size: int, rng: np.random.Generator) -> Any:
        """Draw ``size`` transformations of ``n`` rows, uniformly from the group, with ``rng``.

        Return an array whose first axis has length ``size``, or a tuple of such arrays.
        """

    @abstractmethod
    def apply(self, drawn: Any, residuals: Array, fitted: Array | None) -> Array:
        """Apply every drawn transformation to residuals (..., n); returns (..., size, n).

        ``fitted`` (..., n) are the values of the candidate, where the law depends on them.
        """

    @property
    @abstractmethod
    def orthogonal(self) -> bool:
        """Whether every transformation is a linear orthogonal map."""

    def check_length(self, n: int) -> None:  # noqa: B027
        """Raise if the assumption cannot be made on ``n`` rows."""

    def paired(self, drawn: Any, sets: IntArray, residuals: Array, fitted: Array) -> Array:
        """Apply to each row of residuals (N, n) the one of its number in sets (N,), out of drawn.

        ``fitted`` (N, n) are the values of the candidates.
        """
        moved = np.empty(residuals.shape)
        for i in np.unique(sets):
            rows, one = sets == i, self.take(drawn, slice(i, i + 1))
            moved[rows] = self.apply(one, residuals[rows], fitted[rows])[:, 0]
        return moved

    def rotated(self) -> tuple[Array, Noise] | None:
        """Return Q and what is assumed of Qᵀe, if the assumption is one about Qᵀe; else None."""
        return None

    def group(self, n: int, *, modulo_sign: bool) -> tuple[Any, int]:
        """Return all transformations of ``n`` rows but the identity, and their number with it.

        With ``modulo_sign``, one of each pair G and -G is kept.
        """
        raise ValueError(
            "noise has no finite group to enumerate: m='all' needs signs, block signs, "
            f"permutations or both, given {self!r}. Pass an integer m such as m=100."
        )

    def take(self, drawn: Any, which: slice) -> Any:
        """Return the slice ``which`` of the ``drawn`` transformations, to work in batches."""
        return tuple(part[which] for part in drawn) if isinstance(drawn, tuple) else drawn[which]

    def admits(self, residuals: Array, fitted: Array) -> BoolArray:
        """Whether candidates with these ``residuals`` and ``fitted`` (N, n) are possible.

        One that cannot have produced the data lies in no region. The true one must be admitted.
        """
        return np.ones(fitted.shape[:-1], dtype=np.bool_)

    def restrict(self, rows: BoolArray) -> Self:
        """Return the assumption on the noise of ``rows`` alone, a boolean mask."""
        if not self.separable:
            raise self.not_separable("restrict(rows)", "rows are left out")
        return self

    def units(self, n: int) -> IntArray:
        """Return for each of ``n`` rows the number of the unit that can be set aside as a whole."""
        if not self.separable:
            raise self.not_separable("units(n)", "rows are set aside")
        return np.arange(n)

    def sign_units(self, n: int) -> IntArray | None:
        """Return for each of ``n`` rows the number of the unit that may change its sign, or None.

        Intervals of single coefficients rest on this, or on `swap_blocks`.
        """
        return None

    def swap_blocks(self, n: int) -> IntArray | None:
        """Return for each of ``n`` rows the block within which rows may be swapped, or None."""
        return None

    def not_separable(self, method: str, when: str) -> NotAvailable:
        """Return the refusal of a class without a method that is needed when something happens."""
        return NotAvailable(
            f"noise does not say what it assumes when {when}: expected a class with separable = "
            f"True or with its own method {method}, given {self!r}. Define it if the assumption "
            "allows it, or pass the data and the noise of the remaining rows."
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def check_order(signs: int, moved: Sequence[int], what: str) -> None:
    """Raise if a group of order 2^signs times c!, for each c of ``moved``, is too large to list."""
    small = signs * log(2) + sum(lgamma(rows + 1) for rows in moved) < 40
    order = 2**signs * prod(map(factorial, moved)) if small else 0
    if not 2 <= order <= LARGEST_GROUP:
        raise ValueError(
            f"the group of {what} has the wrong size to enumerate: expected 2 to {LARGEST_GROUP} "
            f"elements, given {order or 'more'}. Choose an integer m, such as 100."
        )


def each_row(_: Noise, n: int) -> IntArray:
    """Return the row numbers: every row may change its sign."""
    return np.arange(n)


def one_block(_: Noise, n: int) -> IntArray:
    """Return one block: any two rows may be swapped."""
    return np.zeros(n, dtype=np.intp)


def draw_key(rng: np.random.Generator) -> Key:
    """Draw the key of numbers that belong to rows: the same for every n, batch and chunk."""
    return rng.integers(0, 2**64, size=2, dtype=np.uint64)


def keyed_words(key: Key, count: int, per_row: int) -> NDArray[np.uint64]:
    """Return ``per_row`` random words for each of the rows 0, ..., count - 1."""
    counters = -(-per_row // 4)  # a counter of Philox yields four words
    words = np.random.Philox(key=key).random_raw(4 * count * counters)
    return words.reshape(count, -1)[:, :per_row]


def keyed_signs(key: Key, count: int, size: int) -> NDArray[np.int8]:
    """Return random signs of rows, shape (size, count)."""
    words = keyed_words(key, count, -(-size // 64)).astype("<u8").view(np.uint8)
    bits = np.unpackbits(words.reshape(count, -1), axis=1, count=size, bitorder="little")
    return np.ascontiguousarray(1 - 2 * bits.view(np.int8).T)


def keyed_uniforms(key: Key, count: int, size: int) -> Array:
    """Return uniform numbers in [0, 1) of rows, shape (size, count)."""
    words = keyed_words(key, count, size)
    return np.ascontiguousarray((words >> np.uint64(11)).T * 2.0**-53)

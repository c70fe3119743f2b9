"""Noise that is symmetric about zero, row by row or block by block: random signs."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unassuming._labels import as_labels, numbered, row_index
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.noise._base import Noise, check_order, without_identity
from unassuming.noise._counter_draws import Key, keyed_signs
from unassuming.noise._row_blocks import RowNoise

Signs = NDArray[np.int8]


def all_signs(n: int, *, modulo_sign: bool) -> Signs:
    """Return all sign vectors of length n, the identity first; ``modulo_sign``: one of s and -s."""
    free = n - 1 if modulo_sign else n
    codes = np.arange(2**free)[:, None] >> np.arange(free)
    signs = np.ones((2**free, n), dtype=np.int8)
    signs[:, n - free :] = 1 - 2 * (codes & 1)
    return signs


class SignFlips(RowNoise):
    """Base class of the assumptions under which random signs multiply the residuals."""

    exact_arithmetic: ClassVar[bool] = True
    orthogonal: ClassVar[bool] = True

    def apply(self, drawn: Signs, residuals: Array, fitted: Array | None) -> Array:
        """Flip the signs of residuals (..., n); returns (..., size, n)."""
        del fitted
        return np.asarray(residuals[..., None, :] * drawn)


class Symmetric(SignFlips):
    """Independent noise, each term symmetric about zero; the laws may all differ.

    No moments are needed: heavy tails and a different scale in every row are allowed. The
    transformations are random signs, r_j -> s_j r_j. The signs of row j depend on the seed and
    on j only.

    Examples
    --------
    >>> noise = Symmetric()
    >>> drawn = noise.draw(3, 2, np.random.default_rng(0))
    >>> abs(noise.apply(drawn, np.array([1.0, 2.0, 3.0]), None))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    assumption: str = (
        "the noise terms are independent, each symmetric about zero (their laws may all differ)"
    )
    separable: ClassVar[bool] = True

    def draw_rows(self, key: Key, first: int, count: int, size: int) -> Signs:
        """Draw signs, shape (size, count)."""
        return keyed_signs(key, count, size, first)

    def sign_units(self, n: int) -> IntArray:
        """Return the row numbers: every row may change its sign."""
        return np.arange(n)

    def group(self, n: int, *, modulo_sign: bool) -> tuple[Signs, int]:
        """Enumerate all 2^n sign vectors, or one of each pair."""
        what = f"signs of {n} rows"
        check_order(n, [], what)
        return without_identity(self, all_signs(n, modulo_sign=modulo_sign), what)


class BlockSymmetric(SignFlips):
    """Independent blocks of rows, the noise vector of each block symmetric about zero.

    For clustered or serially dependent noise: within a block the dependence is arbitrary. The
    transformations multiply each block by a random sign.

    Parameters
    ----------
    blocks : array or column of shape (n,)
        The label of the block that each row belongs to: whole numbers, text, dates, booleans or
        categories.

    Examples
    --------
    >>> noise = BlockSymmetric(["a", "a", "b"])
    >>> flipped = noise.apply(noise.draw(3, 4, np.random.default_rng(0)), np.ones(3), None)
    >>> bool((flipped[:, 0] == flipped[:, 1]).all())
    True
    """

    assumption: str = (
        "the blocks of rows are independent and the noise vector of each is symmetric about zero"
    )

    _column: Any = None

    def __init__(self, blocks: ArrayLike) -> None:
        self._column = None if row_index(blocks) is None else blocks
        self._number(as_labels(blocks, "blocks"))

    def _number(self, labels: NDArray[Any]) -> None:
        self.blocks = labels
        # By first appearance: the signs of a block do not depend on the rows after it.
        self._block_of_row, self._count = numbered(labels)

    @property
    def column(self) -> Any:
        """The labels as they were passed, if as a column of pandas, whose index names the rows."""
        return self._column

    def check_length(self, n: int) -> None:
        """Raise unless there is one label for each row."""
        if len(self.blocks) != n:
            raise ValueError(
                f"blocks must have one label for each of the {n} rows, given "
                f"{len(self.blocks)} labels. Pass an array as long as y."
            )

    def check_rows(self, stop: int) -> None:
        """Raise if a row before ``stop`` has no label."""
        if stop > len(self.blocks):
            self.check_length(stop)

    def same_as(self, other: Noise) -> bool:
        """Whether the labels are the same."""
        return type(other) is type(self) and np.array_equal(self.blocks, other.blocks)

    def draw_rows(self, key: Key, first: int, count: int, size: int) -> Signs:
        """Draw signs, shape (size, count), constant within each block."""
        numbers, which = np.unique(self._block_of_row[first : first + count], return_inverse=True)
        runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
        drawn = [keyed_signs(key, len(run), size, int(run[0])) for run in runs if len(run)]
        signs: Signs = np.concatenate(drawn, axis=1)[:, which.reshape(-1)]
        return signs

    def group(self, n: int, *, modulo_sign: bool) -> tuple[Signs, int]:
        """Enumerate all sign vectors of the blocks, or one of each pair."""
        self.check_length(n)
        what = f"signs of {self._count} blocks"
        check_order(self._count, [], what)
        signs = all_signs(self._count, modulo_sign=modulo_sign)
        return without_identity(self, signs[:, self._block_of_row], what)

    def restrict(self, rows: BoolArray) -> Self:
        """Keep the labels of the given rows: a part of a symmetric block is symmetric."""
        self.check_length(len(rows))
        part = copy(self)  # the constructor of a subclass may take other arguments
        part._column = None
        part._number(self.blocks[rows])
        return part

    def units(self, n: int) -> IntArray:
        """Return the block of each row: rows of the same block may be dependent."""
        self.check_length(n)
        return self._block_of_row

    def sign_units(self, n: int) -> IntArray:
        """Return the block of each row: a block changes its sign as a whole."""
        return self.units(n)

    def __repr__(self) -> str:
        return f"BlockSymmetric({self._count} blocks, {len(self.blocks)} rows)"

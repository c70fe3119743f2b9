"""Noise that is symmetric about zero, row by row or block by block: random signs."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.noise._base import Noise, check_group
from unassuming.noise._counter_draws import Key, keyed_signs
from unassuming.noise._row_blocks import RowNoise

Signs = NDArray[np.int8]


def all_signs(n: int, *, modulo_sign: bool) -> Signs:
    """Return all sign vectors of length n, the identity first; one of each pair s, -s if asked."""
    free = n - 1 if modulo_sign else n
    codes = np.arange(2**free)[:, None] >> np.arange(free)
    signs = np.ones((2**free, n), dtype=np.int8)
    signs[:, n - free :] = 1 - 2 * (codes & 1)
    return signs


class SignFlips(RowNoise):
    """The shared half of the two assumptions below: signs are drawn, residuals are flipped."""

    exact_arithmetic: ClassVar[bool] = True

    def apply(self, drawn: Signs, residuals: Array, fitted: Array | None) -> Array:
        """Flip the signs of residuals (..., n); returns (..., size, n)."""
        del fitted
        return np.asarray(residuals[..., None, :] * drawn)

    @property
    def orthogonal(self) -> bool:
        """True: a diagonal matrix of signs."""
        return True


class Symmetric(SignFlips):
    """Independent noise, each term symmetric about zero; the laws may all differ.

    No moments are needed: heavy tails and a different scale in every row are fine. The
    transformations are random signs, r_j -> s_j r_j. The signs of row j depend on the seed and
    on j only.

    Examples
    --------
    >>> import numpy as np
    >>> noise = Symmetric()
    >>> drawn = noise.draw(3, 2, np.random.default_rng(0))
    >>> abs(noise.apply(drawn, np.array([1.0, 2.0, 3.0]), None))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    assumption: ClassVar[str] = (
        "the noise terms are independent, each symmetric about zero (their laws may all differ)"
    )
    separable: ClassVar[bool] = True

    def draw_rows(self, key: Key, first: int, count: int, size: int) -> Signs:
        """Draw signs, shape (size, count)."""
        return keyed_signs(key, count, size, first)

    def group(self, n: int, *, modulo_sign: bool) -> tuple[Signs, int]:
        """Enumerate all 2^n sign vectors, or one of each pair."""
        check_group(self, n, [], 2 ** (n - modulo_sign), f"signs of {n} rows")
        signs = all_signs(n, modulo_sign=modulo_sign)
        return signs[1:], len(signs)


class BlockSymmetric(SignFlips):
    """Independent blocks of rows, the noise vector of each block symmetric about zero.

    For clustered or serially dependent noise: within a block anything goes. The transformations
    give one random sign to each block.

    Parameters
    ----------
    blocks : array of shape (n,)
        The label of the block that each row belongs to.

    Examples
    --------
    >>> import numpy as np
    >>> noise = BlockSymmetric(["a", "a", "b"])
    >>> flipped = noise.apply(noise.draw(3, 4, np.random.default_rng(0)), np.ones(3), None)
    >>> bool((flipped[:, 0] == flipped[:, 1]).all())
    True
    """

    assumption: ClassVar[str] = (
        "the blocks of rows are independent and the noise vector of each is symmetric about zero"
    )

    def __init__(self, blocks: ArrayLike) -> None:
        labels = np.asarray(blocks)
        if labels.ndim != 1 or labels.dtype.kind not in "biuUSO":
            raise ValueError(
                "blocks must be one label (integer or string) for each row, given an array of "
                f"shape {labels.shape} and type {labels.dtype}. Pass e.g. blocks=[0, 0, 1, 1]."
            )
        missing = [label is None or label != label for label in labels.tolist()]
        if any(missing):
            raise ValueError(
                f"blocks has a missing label: expected a label for each row, given "
                f"{labels[missing][0]} at row {missing.index(True)}. Put the row into a block."
            )
        self._number(labels)

    def _number(self, labels: NDArray[Any]) -> None:
        self.blocks = labels
        # Numbered by first appearance: the signs of a block do not depend on what comes after it.
        number: dict[object, int] = {}
        for label in labels.tolist():
            number.setdefault(label, len(number))
        self._block_of_row = np.array([number[label] for label in labels.tolist()], dtype=np.intp)
        self._count = len(number)

    def check_length(self, n: int) -> None:
        """Refuse a number of rows other than that of the labels."""
        if len(self.blocks) != n:
            raise ValueError(
                f"blocks must have one label for each of the {n} rows, given "
                f"{len(self.blocks)} labels. Pass an array as long as y."
            )

    def check_rows(self, stop: int) -> None:
        """Refuse rows without a label."""
        if stop > len(self.blocks):
            self.check_length(stop)

    def same_as(self, other: Noise) -> bool:
        """Whether the labels are the same."""
        return type(other) is type(self) and np.array_equal(self.blocks, other.blocks)

    def draw(self, n: int, size: int, rng: np.random.Generator) -> Signs:
        """Draw signs, shape (size, n), constant within each block."""
        self.check_length(n)
        signs: Signs = super().draw(n, size, rng)
        return signs

    def draw_rows(self, key: Key, first: int, count: int, size: int) -> Signs:
        """Draw signs, shape (size, count): those of the blocks that these rows belong to."""
        numbers, which = np.unique(self._block_of_row[first : first + count], return_inverse=True)
        runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
        drawn = [keyed_signs(key, len(run), size, int(run[0])) for run in runs if len(run)]
        signs: Signs = np.concatenate(drawn, axis=1)[:, which.reshape(-1)]
        return signs

    def group(self, n: int, *, modulo_sign: bool) -> tuple[Signs, int]:
        """Enumerate all sign vectors of the blocks, or one of each pair."""
        self.check_length(n)
        blocks = self._count
        check_group(self, blocks, [], 2 ** (blocks - modulo_sign), f"signs of {blocks} blocks")
        signs = all_signs(self._count, modulo_sign=modulo_sign)[:, self._block_of_row]
        return signs[1:], len(signs)

    def restrict(self, rows: BoolArray) -> Self:
        """Keep the labels of the given rows; part of a symmetric block is symmetric."""
        self.check_length(len(rows))
        part = copy(self)  # a subclass may be built from something else than blocks
        part._number(self.blocks[rows])
        return part

    def units(self, n: int) -> IntArray:
        """Return the number of the block of each row: only blocks are independent."""
        self.check_length(n)
        return self._block_of_row

    def __repr__(self) -> str:
        return f"BlockSymmetric({self._count} blocks, {len(self.blocks)} rows)"

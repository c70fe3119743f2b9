"""Exchangeable noise, as a whole, within blocks, or also symmetric: random permutations."""

from __future__ import annotations

from itertools import permutations, product
from typing import ClassVar, Self

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.noise._base import Noise, check_order, without_identity
from unassuming.noise._counter_draws import Key, draw_key, keyed_signs, keyed_words
from unassuming.noise._row_blocks import RowNoise
from unassuming.noise._signs import Signs, all_signs


def all_permutations(n: int) -> IntArray:
    """Return all permutations of 0..n-1, the identity first."""
    return np.array(list(permutations(range(n))), dtype=np.intp)


def _random_permutations(n: int, size: int, rng: np.random.Generator) -> IntArray:
    return rng.permuted(np.tile(np.arange(n, dtype=np.intp), (size, 1)), axis=1)


class Permutations(Noise):
    """Base class of the assumptions under which residuals are permuted."""

    exact_arithmetic: ClassVar[bool] = True
    orthogonal: ClassVar[bool] = True

    def apply(self, drawn: IntArray, residuals: Array, fitted: Array | None) -> Array:
        """Permute residuals (..., n); returns (..., size, n)."""
        del fitted
        return residuals[..., drawn]


class Exchangeable(Permutations):
    """Noise whose joint law does not change when rows are permuted; iid noise is enough.

    The noise may be skewed and have any mean, which cannot be distinguished from an intercept:
    neither the intercept nor the predictions of a model with one are determined.

    Examples
    --------
    >>> noise = Exchangeable()
    >>> drawn = noise.draw(3, 2, np.random.default_rng(0))
    >>> np.sort(noise.apply(drawn, np.array([1.0, 2.0, 3.0]), None))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    assumption: str = "the noise terms are exchangeable (iid is enough; they may be skewed)"
    separable: ClassVar[bool] = True

    def draw(self, n: int, size: int, rng: np.random.Generator) -> IntArray:
        """Draw permutations, shape (size, n)."""
        return _random_permutations(n, size, rng)

    def group(self, n: int, *, modulo_sign: bool) -> tuple[IntArray, int]:
        """Enumerate all n! permutations; -I is not among them, so there are no pairs."""
        del modulo_sign
        what = f"permutations of {n} rows"
        check_order(0, [n], what)
        return without_identity(self, all_permutations(n), what)

    def swap_blocks(self, n: int) -> IntArray:
        """Return one block: any two rows may be swapped."""
        return np.zeros(n, dtype=np.intp)


class ExchangeableWithin(Permutations, RowNoise):
    """Noise that is exchangeable within blocks of consecutive rows; the blocks may all differ.

    Rows 0, ..., block_rows - 1 are the first block, and so on; the last block may be shorter. The
    joint law of the noise is unchanged when rows of the same block are permuted, so its mean and
    its spread may drift from block to block. As with `Exchangeable`, a constant added to all rows
    of a block cannot be distinguished from the mean of their noise.

    A transformation permutes the rows of each block into the order of random numbers that depend
    on the seed and the row number only. The permutation of a block thus does not depend on the
    number of blocks that follow: rows that arrive one by one give the same region as all at once.

    Parameters
    ----------
    block_rows : int
        Number of rows in a block, at least 2.

    Examples
    --------
    >>> noise = ExchangeableWithin(2)
    >>> drawn = noise.draw(5, 3, np.random.default_rng(0))
    >>> np.sort(noise.apply(drawn, np.arange(5.0), None)[:, :2])
    array([[0., 1.],
           [0., 1.],
           [0., 1.]])
    """

    assumption: str = (
        "the noise terms are exchangeable within each block of consecutive rows "
        "(iid is enough; the blocks may all differ)"
    )

    def __init__(self, block_rows: int) -> None:
        integer = isinstance(block_rows, (int, np.integer)) and not isinstance(block_rows, bool)
        if not integer or block_rows < 2:
            raise ValueError(
                "block_rows must be an integer of at least 2, the number of rows in a block, given "
                f"{block_rows!r}. Pass e.g. ua.noise.ExchangeableWithin(100)."
            )
        self._block_rows = int(block_rows)

    @property
    def block_rows(self) -> int:
        """Number of rows in a block."""
        return self._block_rows

    def draw_rows(self, key: Key, first: int, count: int, size: int) -> IntArray:
        """Draw permutations, shape (size, count), by sorting the random numbers of each block."""
        numbers = keyed_words(key, count, size, first).T  # (size, count)
        order = np.empty((size, count), dtype=np.intp)
        whole = count - count % self.block_rows
        for part in (slice(0, whole), slice(whole, count)):
            rows = min(self.block_rows, part.stop - part.start)
            if rows:
                blocks = numbers[:, part].reshape(size, -1, rows)
                starts = part.start + rows * np.arange(blocks.shape[1])[:, None]
                order[:, part] = (np.argsort(blocks, axis=2) + starts).reshape(size, -1)
        return order

    def group(self, n: int, *, modulo_sign: bool) -> tuple[IntArray, int]:
        """Enumerate the permutations within all blocks; -I is not among them."""
        del modulo_sign
        starts = range(0, n, self.block_rows)
        sizes = [min(self.block_rows, n - start) for start in starts]
        what = f"permutations of {n} rows within blocks of {self.block_rows}"
        check_order(0, sizes, what)
        blocks = [start + all_permutations(c) for start, c in zip(starts, sizes, strict=True)]
        every = np.array([np.concatenate(choice) for choice in product(*blocks)], dtype=np.intp)
        return without_identity(self, every, what)

    def restrict(self, rows: BoolArray) -> Self:
        """Refuse to leave out rows: the others would move to other blocks."""
        raise ValueError(
            "blocks of consecutive rows cannot lose rows: expected rows that all count, given "
            f"{int((~rows).sum())} of weight zero, or initial values of a time series, with "
            f"{self!r}. Drop whole blocks from the data, or choose another assumption."
        )

    def swap_blocks(self, n: int) -> IntArray:
        """Return the block of each row."""
        return np.arange(n) // self.block_rows

    def __repr__(self) -> str:
        return f"ExchangeableWithin({self.block_rows})"


class SymmetricExchangeable(Noise):
    """Noise that is exchangeable and symmetric, e.g. iid and symmetric about zero.

    A transformation is a random permutation followed by random signs (the hyperoctahedral group).

    Examples
    --------
    >>> noise = SymmetricExchangeable()
    >>> drawn = noise.draw(3, 2, np.random.default_rng(0))
    >>> np.sort(abs(noise.apply(drawn, np.array([1.0, 2.0, 3.0]), None)))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    assumption: str = (
        "the noise terms are exchangeable and symmetric about zero (iid and symmetric is enough)"
    )
    exact_arithmetic: ClassVar[bool] = True
    orthogonal: ClassVar[bool] = True
    separable: ClassVar[bool] = True

    def draw(self, n: int, size: int, rng: np.random.Generator) -> tuple[Signs, IntArray]:
        """Draw signs and permutations, each of shape (size, n)."""
        return keyed_signs(draw_key(rng), n, size), _random_permutations(n, size, rng)

    def apply(self, drawn: tuple[Signs, IntArray], residuals: Array, fitted: Array | None) -> Array:
        """Permute residuals (..., n), then flip their signs; returns (..., size, n)."""
        del fitted
        signs, order = drawn
        return np.asarray(residuals[..., order] * signs)

    def group(self, n: int, *, modulo_sign: bool) -> tuple[tuple[Signs, IntArray], int]:
        """Enumerate all 2^n n! signed permutations, or one of each pair."""
        what = f"signed permutations of {n} rows"
        check_order(n, [n], what)
        signs, orders = all_signs(n, modulo_sign=modulo_sign), all_permutations(n)
        pairs = np.repeat(signs, len(orders), axis=0), np.tile(orders, (len(signs), 1))
        return without_identity(self, pairs, what)

    def sign_units(self, n: int) -> IntArray:
        """Return the row numbers: every row may change its sign."""
        return np.arange(n)

    def swap_blocks(self, n: int) -> IntArray:
        """Return one block: any two rows may be swapped."""
        return np.zeros(n, dtype=np.intp)

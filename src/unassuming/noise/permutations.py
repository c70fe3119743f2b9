"""Exchangeable noise, as a whole, within blocks, or also symmetric: random permutations."""

from __future__ import annotations

from itertools import permutations, product
from numbers import Integral
from typing import Self

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.noise.base import (
    Noise,
    check_order,
    draw_key,
    each_row,
    keyed_signs,
    keyed_words,
    one_block,
)
from unassuming.noise.signs import Signs, all_signs


class Permutations(Noise):
    """Base class of the assumptions under which residuals are permuted."""

    orthogonal = True

    def apply(self, drawn: IntArray, residuals: Array, fitted: Array | None) -> Array:
        """Permute residuals (..., n); returns (..., size, n)."""
        return residuals[..., drawn]


class Exchangeable(Permutations):
    """Noise whose joint law does not change when rows are permuted; iid noise is enough.

    The noise may be skewed and have any mean, which cannot be distinguished from an intercept:
    neither the intercept nor the predictions of a model with one are determined.

    Examples
    --------
    >>> noise = ua.noise.Exchangeable()
    >>> drawn = noise.draw(3, 2, np.random.default_rng(0))
    >>> np.sort(noise.apply(drawn, np.array([1.0, 2.0, 3.0]), None))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    assumption = "the noise terms are exchangeable (iid is enough; they may be skewed)"
    separable = True
    swap_blocks = one_block

    def draw(self, n: int, size: int, rng: np.random.Generator) -> IntArray:
        """Draw permutations, shape (size, n)."""
        return rng.permuted(np.tile(np.arange(n, dtype=np.intp), (size, 1)), axis=1)

    def group(self, n: int, *, modulo_sign: bool) -> tuple[IntArray, int]:
        """Enumerate all n! permutations; -I is not among them, so there are no pairs."""
        every = _all_permutations([n], f"permutations of {n} rows")
        return every[1:], len(every)


class ExchangeableWithin(Permutations):
    """Noise that is exchangeable within blocks of consecutive rows; the blocks may all differ.

    Rows 0, ..., block_rows - 1 are the first block, and so on; the last may be shorter. The mean
    and the spread of the noise may drift from block to block. The permutation of a block depends on
    the seed and its row numbers only, so that rows that arrive one by one give the same region.

    Parameters
    ----------
    block_rows : int
        Number of rows in a block, at least 2.

    Examples
    --------
    >>> noise = ua.noise.ExchangeableWithin(2)
    >>> drawn = noise.draw(5, 2, np.random.default_rng(0))
    >>> np.sort(noise.apply(drawn, np.arange(5.0), None)[:, :2])
    array([[0., 1.],
           [0., 1.]])
    """

    assumption = (
        "the noise terms are exchangeable within each block of consecutive rows "
        "(iid is enough; the blocks may all differ)"
    )

    def __init__(self, block_rows: int) -> None:
        if not isinstance(block_rows, Integral) or block_rows < 2:
            raise ValueError(
                "block_rows must be an integer of at least 2, the number of rows in a block, given "
                f"{block_rows!r}. Pass e.g. ua.noise.ExchangeableWithin(100)."
            )
        self.block_rows: int = int(block_rows)

    def draw(self, n: int, size: int, rng: np.random.Generator) -> IntArray:
        """Draw permutations, shape (size, n)."""
        words = keyed_words(draw_key(rng), n, size).T
        return np.lexsort((words, np.broadcast_to(self.swap_blocks(n), words.shape)), axis=1)

    def group(self, n: int, *, modulo_sign: bool) -> tuple[IntArray, int]:
        """Enumerate the permutations within all blocks; -I is not among them."""
        sizes = [min(self.block_rows, n - start) for start in range(0, n, self.block_rows)]
        what = f"permutations of {n} rows within blocks of {self.block_rows}"
        every = _all_permutations(sizes, what)
        return every[1:], len(every)

    def restrict(self, rows: BoolArray) -> Self:
        """Refuse to leave out rows: the others would move to other blocks."""
        raise ValueError(
            "blocks of consecutive rows cannot lose rows: expected rows that all count, given "
            f"{int((~rows).sum())} of weight zero, or initial values of a time series, with "
            f"{self!r}. Drop whole blocks from the data, or choose another assumption."
        )

    def swap_blocks(self, n: int) -> IntArray:
        """Return the block of each row."""
        return np.asarray(np.arange(n) // self.block_rows)

    def __repr__(self) -> str:
        return f"ExchangeableWithin({self.block_rows})"


class SymmetricExchangeable(Noise):
    """Noise that is exchangeable and symmetric, e.g. iid and symmetric about zero.

    A transformation is a random permutation followed by random signs (the hyperoctahedral group).

    Examples
    --------
    >>> noise = ua.noise.SymmetricExchangeable()
    >>> drawn = noise.draw(3, 2, np.random.default_rng(0))
    >>> np.sort(abs(noise.apply(drawn, np.array([1.0, 2.0, 3.0]), None)))
    array([[1., 2., 3.],
           [1., 2., 3.]])
    """

    assumption = (
        "the noise terms are exchangeable and symmetric about zero (iid and symmetric is enough)"
    )
    orthogonal = True
    separable = True
    sign_units, swap_blocks = each_row, one_block

    def draw(self, n: int, size: int, rng: np.random.Generator) -> tuple[Signs, IntArray]:
        """Draw signs and permutations, each of shape (size, n)."""
        return keyed_signs(draw_key(rng), n, size), Exchangeable().draw(n, size, rng)

    def apply(self, drawn: tuple[Signs, IntArray], residuals: Array, fitted: Array | None) -> Array:
        """Permute residuals (..., n), then flip their signs; returns (..., size, n)."""
        signs, order = drawn
        return np.asarray(residuals[..., order] * signs)

    def group(self, n: int, *, modulo_sign: bool) -> tuple[tuple[Signs, IntArray], int]:
        """Enumerate all 2^n n! signed permutations, or one of each pair."""
        what = f"signed permutations of {n} rows"
        check_order(n, [n], what)
        signs, orders = all_signs(n, modulo_sign=modulo_sign), _all_permutations([n], what)
        pairs = np.repeat(signs, len(orders), axis=0), np.tile(orders, (len(signs), 1))
        return (pairs[0][1:], pairs[1][1:]), len(pairs[0])


def _all_permutations(sizes: list[int], what: str) -> IntArray:
    """Return all permutations within consecutive blocks of these sizes, the identity first."""
    check_order(0, sizes, what)
    starts = np.cumsum([0, *sizes[:-1]])
    blocks = [list(permutations(range(s, s + c))) for s, c in zip(starts, sizes, strict=True)]
    return np.array([sum(choice, ()) for choice in product(*blocks)], dtype=np.intp)

"""The sums that a region needs: ZᵀZ and Zᵀ(G_i - I)Z over rows z = (φ, y) (docs/theory.md 4.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np

from unassuming._typing import Array
from unassuming.noise._keyed import Key
from unassuming.noise._rows import RowNoise
from unassuming.noise._signs import SignFlips

LEAF_ROWS = 1024
"""Rows that are summed at once: products of their columns stay near the cache."""

_PRODUCTS = 128  # products of columns in one matrix product, about


class Sums(ABC):
    """How the rows of a leaf are summed, for all transformations at once."""

    def __init__(self, noise: RowNoise, key: Key, m: int, width: int) -> None:
        self.noise = noise
        self.key = key
        self.m = m
        self.width = width

    @abstractmethod
    def __call__(self, Z: Array, first: int) -> Array:
        """Return the sums over rows Z (count, k), the first of which has that number."""

    @abstractmethod
    def unpack(self, sums: Array) -> tuple[Array, Array]:
        """Return ZᵀZ, (k, k), and Zᵀ(G_i - I)Z, (m - 1, k, k)."""


@final
class SignSums(Sums):
    """Signs: Zᵀ(G - I)Z is -2 zzᵀ, summed over the rows that change sign.

    The sums over these rows, for all transformations, are one matrix product: the products z_a z_b,
    a <= b, times which rows change sign. Where no row does, the sum is exactly zero.
    """

    _kept: tuple[Array, Array, Array] | None = None

    def __call__(self, Z: Array, first: int) -> Array:
        """Return sums of products, (k (k + 1) / 2, m): over all rows, then over those that flip."""
        (count, k), m = Z.shape, self.m
        flips, columns, products = self._space(count)
        flips[:, 0] = 1.0
        signs = self.noise.draw_rows(self.key, first, count, m - 1)
        np.less(signs.T, 0, out=flips[:, 1:], casting="unsafe")
        columns[:] = Z.T
        sums = np.empty((k * (k + 1) // 2, m))
        start = filled = 0
        for a in range(k):
            np.multiply(columns[a], columns[a:], out=products[filled : filled + k - a])
            filled += k - a
            if filled >= _PRODUCTS or a == k - 1:
                np.matmul(products[:filled], flips, out=sums[start : start + filled])
                start, filled = start + filled, 0
        return sums

    def _space(self, count: int) -> tuple[Array, Array, Array]:
        """Return working space, the same for leaf after leaf: fresh memory costs time."""
        if self._kept is None or len(self._kept[0]) != count:
            k = self.width
            shapes = (count, self.m), (k, count), (_PRODUCTS + k, count)
            self._kept = np.empty(shapes[0]), np.empty(shapes[1]), np.empty(shapes[2])
        return self._kept

    def unpack(self, sums: Array) -> tuple[Array, Array]:
        """Mirror the triangle."""
        k = self.width
        rows, columns = np.triu_indices(k)
        full = np.empty((self.m, k, k))
        full[:, rows, columns] = full[:, columns, rows] = sums.T
        return full[0], -2.0 * full[1:]


@final
class MoveSums(Sums):
    """Any transformation that acts within blocks: move the rows and multiply."""

    def __call__(self, Z: Array, first: int) -> Array:
        """Return ZᵀZ and Zᵀ(G_i - I)Z, (m, k, k)."""
        (count, k), m = Z.shape, self.m
        drawn = self.noise.draw_rows(self.key, first, count, m - 1)
        sums = np.empty((m, k, k))
        np.matmul(Z.T, Z, out=sums[0])
        columns = np.ascontiguousarray(Z.T)
        for i in range(m - 1):
            one = self.noise.take(drawn, slice(i, i + 1))
            moved = self.noise.apply(one, columns, None)[:, 0, :]  # (k, count)
            moved -= columns
            np.matmul(columns, moved.T, out=sums[i + 1])
        return sums

    def unpack(self, sums: Array) -> tuple[Array, Array]:
        """Take them as they are."""
        return sums[0], sums[1:]


def sums_for(noise: RowNoise, key: Key, m: int, width: int) -> Sums:
    """Return the fastest way for that assumption."""
    kind = SignSums if isinstance(noise, SignFlips) else MoveSums
    return kind(noise, key, m, width)


def leaf_rows(noise: RowNoise) -> int:
    """Return the number of rows in a leaf: whole blocks, 1,024 rows or a little more."""
    return -(-LEAF_ROWS // noise.block_rows) * noise.block_rows

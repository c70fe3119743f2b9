"""Sums over rows: one Gram matrix for each character (docs/theory.md 4.5, 17).

A row, or a block of rows, has a character g, and transformation i gives it the sign H[i, g]. So all
that a region needs of many rows are the products of the columns x_1, ..., x_p, y and 1 over the
rows of each character: (m - 1)(p + 2)² numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.noise.signs import BlockSymmetric, SignFlips, characters

LEAF_ROWS = 2**15
"""Rows that are summed at once: about 260 of each of 127 characters."""

_SEEN = 128
"""Rows of a leaf that show where its columns are."""

_NEAR = 8.0
"""An origin is a multiple of 8 to 16 standard deviations, so that most leaves share it."""


@final
@dataclass(frozen=True, eq=False)
class Part:
    """The sums over some rows z = (x, y, 1), each times the root of its weight.

    Attributes
    ----------
    grams : array of shape (m - 1, p + 2, p + 2)
        By character, the products of the columns of z - ``origin``.
    origin : array of shape (p + 2,)
        The last entry is zero.
    rows : array of shape (m - 1,)
        Numbers of rows.
    """

    grams: Array
    origin: Array
    rows: IntArray

    def joined(self, other: Part) -> Part:
        """Return the sums over the rows of both, about the origin of the first."""
        return Part(self.grams + other._about(self.origin), self.origin, self.rows + other.rows)

    def _about(self, origin: Array) -> Array:
        """Return the products about another origin, where z is larger by δ."""
        delta = self.origin - origin
        if not delta.any():
            return self.grams
        first = self.grams[:, :, -1]
        last = first + delta * first[:, -1:]
        return self.grams + first[:, :, None] * delta + delta[:, None] * last[:, None, :]


@final
class Sums:
    """Sums rows of known numbers, which decide their characters.

    Parameters
    ----------
    noise : Symmetric or BlockSymmetric
    m : int
        The order of the group of signs.
    """

    def __init__(self, noise: SignFlips, m: int) -> None:
        self.m = m
        self.units: IntArray | None = None  # the number of the block of each row to come
        if type(noise) is BlockSymmetric:
            self.units = noise.sign_units(len(noise.blocks))

    def characters(self, numbers: IntArray) -> IntArray:
        """Return the characters 1, ..., m - 1 of rows: by their numbers, or by their blocks."""
        return characters(numbers if self.units is None else self.units[numbers], self.m)

    def __call__(self, rows: Array, numbers: IntArray) -> Part:
        """Return the sums over rows (x, y, w), w their weights, in the order of their numbers."""
        k, buckets = rows.shape[1], self.m - 1
        g = (self.characters(numbers) - 1).astype(np.uint16)
        order, counts = np.argsort(g, kind="stable"), np.bincount(g, minlength=buckets)
        origin, weighted = _origin(rows[:_SEEN]), not (rows[:, -1] == 1).all()
        shifted, ends = origin.any(), np.cumsum(counts).tolist()
        grams, room = np.empty((buckets, k, k)), np.empty((counts.max(), k))
        with np.errstate(over="ignore", invalid="ignore"):  # refused when a region is asked for
            for b, (start, stop) in enumerate(zip([0, *ends], ends, strict=False)):
                Z = room[: stop - start]  # stays in the cache
                np.take(rows, order[start:stop], axis=0, out=Z, mode="clip")
                if shifted:
                    Z -= origin
                if weighted:
                    Z[:, -1] = np.sqrt(Z[:, -1])
                    Z[:, :-1] *= Z[:, -1:]
                np.matmul(Z.T, Z, out=grams[b])
        return Part(grams, origin, counts)


def _origin(rows: Array) -> Array:
    """Return a point near rows (x, y, w): far fewer leaves than there are have another one."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        unit = np.exp2(np.ceil(np.log2(rows.std(axis=0)))) * _NEAR
        found = np.round(rows.mean(axis=0) / unit) * unit
    flat = (rows == rows[0]).all(axis=0)
    found = np.where(flat, rows[0], found)
    found[-1] = 0.0
    return np.where(np.isfinite(found), found, 0.0)

"""Residuals and their images under the transformations, with errors: what a score compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray


@final
@dataclass(frozen=True, eq=False)
class Moves:
    """Transformations G_i that only move entries and flip their signs, for i = 1..m-1.

    Examples
    --------
    >>> moves = Moves.of(np.array([[-2.0, 1.0]]))
    >>> moves.apply(np.array([[5.0, 7.0]]))
    array([[[-7.,  5.]]])
    >>> moves.back(moves.apply(np.array([[5.0, 7.0]])))
    array([[[5., 7.]]])
    """

    rows: IntArray  # (m - 1, n): the row that G_i moves to each place
    signs: Array  # (m - 1, n): and its sign

    @classmethod
    def of(cls, moved: Array) -> Moves:
        """Read them off the images (m - 1, n) of the vector 1, ..., n."""
        return cls(np.abs(moved).astype(np.intp) - 1, np.sign(moved))

    def take(self, which: IntArray) -> Moves:
        """Return some of them, by i - 1."""
        return Moves(self.rows[which], self.signs[which])

    def apply(self, vectors: Array) -> Array:
        """Return G_i x for vectors (N, n), shape (N, m - 1, n)."""
        return np.asarray(vectors[:, self.rows] * self.signs)

    def always_tied(self, *, sign_blind: bool) -> BoolArray:
        """Return which G_i tie for every candidate: I, and -I if the objective is blind to it."""
        return self._unchanged | self._reversed if sign_blind else self._unchanged

    @cached_property
    def _unchanged(self) -> BoolArray:
        return np.asarray((self._still & (self.signs > 0)).all(axis=1))

    @cached_property
    def _reversed(self) -> BoolArray:
        return np.asarray((self._still & (self.signs < 0)).all(axis=1))

    @property
    def _still(self) -> BoolArray:
        return np.asarray(self.rows == np.arange(self.rows.shape[1]))

    def back(self, vectors: Array) -> Array:
        """Return G_iᵀ x_i for vectors (N, m - 1, n), one for each transformation."""
        found = np.empty_like(vectors)
        index = np.broadcast_to(self.rows, vectors.shape)
        np.put_along_axis(found, index, vectors * self.signs, axis=-1)
        return found


@final
@dataclass(frozen=True, eq=False)
class Images:
    """Residuals of N candidates and their images under m - 1 transformations, with their errors.

    The errors include the rounding of the data and of the candidate themselves: decimals are not
    binary numbers, and residuals that are equal in decimals differ by it.
    """

    residuals: Array  # (N, n)
    error: Array  # (N, n)
    perturbed: Array  # (N, m - 1, n): equal to the residuals where they may be equal
    literal: BoolArray  # (N,): candidates taken as exact numbers, not as rounded decimals
    exact: bool  # whether the images have no rounding errors of their own
    carry: Callable[[Array], Array]  # from errors (N, n) of the residuals to those of their images
    moves: Moves | None  # the transformations themselves, if they only move and flip entries

    def take(self, which: BoolArray) -> Images:
        """Return some of the candidates."""
        return replace(
            self,
            residuals=self.residuals[which],
            error=self.error[which],
            perturbed=self.perturbed[which],
            literal=self.literal[which],
        )

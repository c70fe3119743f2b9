"""The statistics of fresh signs, which depend on the candidate through few signs only."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.objectives.quantiles._score import SignScore
from unassuming.ranking import FixedStatistics

_KEPT = 4096
"""Tables that are kept."""
_FEW = 4
"""Up to so many signs, their patterns are counted."""
_DIGITS = 32
"""One number distinguishes the patterns of this many signs."""


@final
@dataclass(frozen=True, eq=False)
class FreshSigns:
    """Tables of Z_1, ..., Z_{m-1}, one for each pattern of signs of the penalised coefficients.

    Without a penalty there is a single table: the critical value of a level is one number
    (docs/theory.md 13).

    Attributes
    ----------
    score : SignScore
    below : boolean array of shape (m - 1, n)
        The fresh indicators.
    tie_order : array of shape (m,)

    Examples
    --------
    >>> zero, ones = np.zeros(1), np.ones((1, 2))
    >>> score = ua.objectives.SignScore(0.5, ones, ones, np.eye(1), zero, lambda a: (0 * a, 0 * a))
    >>> fresh = FreshSigns(score, np.array([[True, True], [True, False]]), np.arange(3))
    >>> fresh.ranks(np.array([[0.0], [0.5]]), np.ones((2, 1)))
    array([1, 2])
    """

    score: SignScore
    below: BoolArray
    tie_order: IntArray
    _tables: dict[bytes, FixedStatistics] = field(default_factory=dict, init=False, repr=False)

    def ranks(self, z0: Array, signs: Array) -> IntArray:
        """Return the ranks of z_0 (N, k) at candidates with these signs of coefficients (N, d)."""
        ranks = np.empty(len(z0), dtype=np.intp)
        for rows, table in self.by_pattern(signs):
            ranks[rows] = table.ranks(z0[rows])
        return ranks

    def by_pattern(self, signs: Array) -> list[tuple[IntArray, FixedStatistics]]:
        """Return the candidates that share a pattern, signs (N, d), and the table of each."""
        if not self.score.penalised:
            return [(np.arange(len(signs)), self.table(signs[:1]))]
        held = signs[:, self.score.penalty > 0]
        if held.shape[1] <= _FEW:  # no need to sort them
            number = ((held + 1) @ 3.0 ** np.arange(held.shape[1])).astype(np.intp)
            present = np.flatnonzero(np.bincount(number))
            groups = [np.flatnonzero(number == code) for code in present]
            return [(rows, self.table(signs[rows[:1]])) for rows in groups]
        codes, axis = held @ 3.0 ** np.arange(held.shape[1]), None
        if held.shape[1] > _DIGITS:
            codes, axis = held, 0
        _, first, which = np.unique(codes, axis=axis, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        order = np.argsort(which, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(which, minlength=len(first)))[:-1])
        return [(rows, self.table(signs[j : j + 1])) for rows, j in zip(parts, first, strict=True)]

    def table(self, signs: Array) -> FixedStatistics:
        """Return the statistics at candidates with these signs of coefficients, (1, d)."""
        key = signs[0, self.score.penalty > 0].astype(np.int8).tobytes()
        found = self._tables.get(key)
        if found is None:
            z = self.score.of_sums(*self._sums, signs)
            found = FixedStatistics(z, self.score.rounding, self.tie_order)
            if len(self._tables) < _KEPT:
                self._tables[key] = found
        return found

    @cached_property
    def _sums(self) -> tuple[Array, Array]:
        rho = self.score.tau - self.below
        return rho @ self.score.pull.T, rho @ self.score.pullback.T

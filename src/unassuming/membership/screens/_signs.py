"""The screen of regression quantiles: one statistic for each candidate, and a search in a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, of_products
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership.screens._screen import Screen
from unassuming.objectives import Design, FreshSigns, Objective

_BATCH_BYTES = 2**19
_BATCHES = 16
_FEW_DIGITS = 2.0**-27
"""Candidates whose residuals have a larger relative error are left to the careful comparison."""


@final
@dataclass(frozen=True, eq=False)
class SignScreen(Screen):
    """Ranks from the signs of the residuals (docs/theory.md 13).

    The statistics of fresh signs do not depend on the residuals, so a candidate needs Z_0 alone. It
    is in doubt if a residual may be zero.
    """

    objective: Objective
    design: Design
    fresh: FreshSigns

    @property
    def batch(self) -> int:
        """How many candidates to take at a time."""
        return _BATCHES * self._together

    @property
    def _together(self) -> int:
        return rows_that_fit(_BATCH_BYTES, self.objective.n)

    def before(self, a: Array) -> tuple[IntArray, BoolArray]:
        """Return how many Z_i come before Z_0, and which candidates (N, d) are in doubt."""
        score, signs = self.fresh.score, np.sign(a)
        ways = (score.pull, score.pullback if score.at_kinks(signs) else score.pull[:0])
        sums = [np.empty((len(a), len(way))) for way in ways]
        smallest = np.empty(len(a))
        columns = np.concatenate([np.ones((1, len(a))), a.T])
        rooms = np.empty((2, self.objective.n * min(len(a), self._together)))
        for some in slices(len(a), self._together):
            # Memory that has been used before is at hand: fresh arrays take twice as long.
            shape = (self.objective.n, some.stop - some.start)
            r, rho = (room[: shape[0] * shape[1]].reshape(shape) for room in rooms)
            np.matmul(self._rows, columns[:, some], out=r)
            np.copysign(0.5, r, out=rho)  # τ - b, up to a constant
            smallest[some] = np.minimum.reduce(np.abs(r, out=r), axis=0)
            for way, total in zip(ways, sums, strict=True):
                total[some] = (way @ rho).T
        y, sizes = self._sizes
        error = self._unit * (y + np.abs(a) @ sizes)
        doubt = ~((smallest > error) & (error <= _FEW_DIGITS * y))
        pulled, u = (
            total + (score.tau - 0.5) * way.sum(axis=1)
            for way, total in zip(ways, sums, strict=True)
        )
        return self.fresh.ranks(score.of_sums(pulled, u, signs), signs) - 1, doubt

    @cached_property
    def _rows(self) -> Array:
        """The matrix (n, 1 + d) from [1, a] to residuals."""
        return np.column_stack([self.objective.y, -self.design.matrix])

    @cached_property
    def _sizes(self) -> tuple[float, Array]:
        """The largest entries of y and of the columns of Φ."""
        return float(np.abs(self.objective.y).max()), np.abs(self.design.matrix).max(axis=0)

    @cached_property
    def _unit(self) -> float:
        """More than the relative errors of the residuals that the objective declares, and of r."""
        return 16 * EPS + 2 * (of_products(self.objective.d + 1) + self.design.rounding)

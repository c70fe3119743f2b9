"""The screen of regression quantiles: one statistic for each candidate, and a search in a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit
from unassuming._rounding import EPS, of_products
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._screen import Screen
from unassuming.objectives import Design, FreshSigns, Objective

_BATCH_BYTES = 2**21
_FEW_DIGITS = 2.0**-27
"""Candidates whose residuals have a larger relative error are left to the careful comparison."""


@final
@dataclass(frozen=True, eq=False)
class SignScreen(Screen):
    """Ranks from the signs of the residuals (docs/theory.md 10).

    The statistics of fresh signs do not depend on the residuals, so a candidate needs Z_0 alone. It
    is in doubt if a residual may be zero.
    """

    objective: Objective
    design: Design
    fresh: FreshSigns

    @property
    def batch(self) -> int:
        """How many candidates to take at a time."""
        return rows_that_fit(_BATCH_BYTES, self.objective.n)

    def before(self, a: Array) -> tuple[IntArray, BoolArray]:
        """Return how many Z_i come before Z_0, and which candidates (N, d) are in doubt."""
        score, signs = self.fresh.score, np.sign(a)
        r = np.concatenate([np.ones((len(a), 1)), a], axis=1) @ self._rows
        rho = np.copysign(0.5, r)  # τ - b, up to a constant
        smallest = np.minimum.reduce(np.abs(r, out=r), axis=1)
        y, columns = self._sizes
        error = self._unit * (y + np.abs(a) @ columns)
        doubt = ~((smallest > error) & (error <= _FEW_DIGITS * y))
        pulled, u = (
            rho @ part.T + (score.tau - 0.5) * part.sum(axis=1)
            for part in (score.pull, score.pullback if score.at_kinks(signs) else score.pull[:0])
        )
        return self.fresh.ranks(score.of_sums(pulled, u, signs), signs) - 1, doubt

    @cached_property
    def _rows(self) -> Array:
        """The matrix (1 + d, n) from [1, a] to residuals."""
        return np.concatenate([self.objective.y[None, :], -self.design.matrix.T])

    @cached_property
    def _sizes(self) -> tuple[float, Array]:
        """The largest entries of y and of the columns of Φ."""
        return float(np.abs(self.objective.y).max()), np.abs(self.design.matrix).max(axis=0)

    @cached_property
    def _unit(self) -> float:
        """More than the relative errors of the residuals that the objective declares, and of r."""
        return 16 * EPS + 2 * (of_products(self.objective.d + 1) + self.design.rounding)

"""The statistics of a dynamical system: transformed noise runs through it (docs/theory.md 15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from unassuming._rounding import EPS, length
from unassuming._typing import Array
from unassuming.objectives._score import Score
from unassuming.objectives.systems._amplification import amplification
from unassuming.objectives.systems._cascade import regressor_chain
from unassuming.objectives.systems._projection import projected_lengths
from unassuming.objectives.systems._series import Series
from unassuming.ranking import Contrast


@final
@dataclass(frozen=True, eq=False)
class SimulatedScore(Score):
    """z_i = ‖(Φ_iᵀΦ_i)^{-1/2} Φ_iᵀ e_i‖ with transformed residuals e_i and their regressors Φ_i.

    The candidate itself produces the outputs that Φ_i contains, from the same inputs and initial
    values. A statistic that is not finite counts as the smallest.

    Attributes
    ----------
    series : Series

    Examples
    --------
    >>> from unassuming.inputs import Orders
    >>> series = Series(Orders(1, 0, 1, False), np.zeros(4), np.array([1.0, 2.0, 0.0, 1.0]))
    >>> r = np.array([[1.5, -1.0, 1.0]])  # at a = 0.5
    >>> SimulatedScore(series).contrast(np.array([[0.5]]), r, -r[:, None], exact=True).statistics()
    array([[0.05, 4.  ]])
    """

    slow: ClassVar[bool] = True

    series: Series

    def contrast(
        self, a: Array, r: Array, perturbed: Array, *, exact: bool, error: Array | float = 0.0
    ) -> Contrast:
        """Compare the lengths of projections, which are the roots of the statistics."""
        del exact
        z0, z0_error = self.observed(r, error)
        z, z_error = self.simulated(a, perturbed, error)
        moved = (perturbed != r[:, None, :]).any(axis=-1)
        return Contrast(
            z0[:, None],
            np.where(moved, z - z0[:, None], 0.0)[:, :, None],
            z0_error[:, None],
            np.where(moved, z_error + z0_error[:, None], 0.0)[:, :, None],
        )

    def observed(self, r: Array, error: Array | float) -> tuple[Array, Array]:
        """Return z_0 and a bound on its error, from residuals (N, n) and the observed Φ."""
        d = self.series.orders.count
        off = 8 * EPS * (r.shape[1] + d) / self.series.kept * length(r)
        return length(r @ self.series.basis), off + length(np.broadcast_to(error, r.shape))

    def simulated(self, a: Array, e: Array, error: Array | float) -> tuple[Array, Array]:
        """Return z_i for transformed residuals (N, K, n), and bounds on their errors, (N, K)."""
        own, other = self.series.split(a)
        N, K, n = e.shape
        inputs = np.ascontiguousarray(np.moveaxis(e, -1, 0)) / self.series.unit
        drive = (self.series.fixed / self.series.unit) @ other.T
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            initial = self.series.initial / self.series.unit
            chain = regressor_chain(own, inputs + drive[:, :, None], initial)
            columns = [column.reshape(n, -1) for column in chain]
            basis = self.series.fixed_basis
            z, kept = projected_lengths(columns, inputs.reshape(n, -1), basis)
            z, kept = z.reshape(N, K), kept.reshape(N, K)
            size = length(e)
            entered, rounded = amplification(own, n)
            off = 8 * EPS * (n + rounded)[:, None] * size
            off += (entered * length(np.broadcast_to(error, (N, n))))[:, None]
        finite = np.isfinite(z)
        bound = np.minimum(off / kept, 2 * size)  # both lengths are at most ‖e‖
        return np.where(finite, z * self.series.unit, 0.0), np.where(finite, bound, 0.0)

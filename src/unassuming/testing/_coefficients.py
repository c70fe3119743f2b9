"""Intervals of the coefficients by other methods, in their usual form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from unassuming._batches import rows_that_fit, slices
from unassuming._errors import NotAvailable
from unassuming._rounding import rank_cut
from unassuming._typing import Array, IntArray
from unassuming.noise import sign_units_of
from unassuming.regions import Region

_BATCH = 2**25  # bytes of one array of bootstrap residuals

Bounds = tuple[Array, Array, float]
"""Lower and upper bounds of the coefficients, and the level that they claim."""


def one_at_a_time(region: Region, level: float) -> Bounds:
    """Return the intervals of `Region.summary`, with the mean of the attained levels."""
    found = region.summary(level=level)
    return found.lower, found.upper, float(found.level.mean())


def projected(region: Region, level: float) -> Bounds | None:
    """Return the bounds of the joint region."""
    try:
        found = region.interval(level=level, simultaneous=True, method="joint")
    except NotAvailable:
        return None
    return found.lower, found.upper, level


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Least squares on the features of a region.

    Attributes
    ----------
    P : array of shape (d, n)
        The estimates are P y.
    Q : array of shape (n, d)
        Orthonormal columns: the fitted values are Q Qᵀ y.
    estimate, residuals : arrays of shapes (d,) and (n,)
    blocks : integer array of shape (n,), or None
        The cluster of each row; None if the rows are independent.
    """

    P: Array
    Q: Array
    estimate: Array
    residuals: Array
    blocks: IntArray | None

    @classmethod
    def of(cls, region: Region) -> LeastSquares | None:
        """Fit it; None if the rows do not determine the coefficients and a variance."""
        Phi = region.problem.design("intervals of the coefficients").matrix
        y, (n, d) = region.objective.y, Phi.shape
        U, s, Vt = np.linalg.svd(Phi, full_matrices=False)
        if n <= d or s[-1] <= s[0] * rank_cut(Phi.shape):
            return None
        P = (Vt.T / s) @ U.T
        blocks = sign_units_of(region.problem.row_noise, n)
        single = blocks is None or int(blocks.max()) + 1 == n
        fitted = U @ (U.T @ y)
        return cls(P, U, P @ y, y - fitted, None if single else blocks)

    def t(self, level: float) -> Bounds:
        """Return Student's t intervals."""
        d, n = self.P.shape
        variance = float(np.square(self.residuals).sum()) / (n - d)
        error = np.sqrt(variance) * np.linalg.norm(self.P, axis=1)
        return self._around(stdtrit(n - d, (1 + level) / 2), error, level)

    def robust(self, level: float) -> Bounds:
        """Return t intervals with HC3 standard errors, or CR1 for clusters."""
        d, n = self.P.shape
        freedom = n - d if self.blocks is None else int(self.blocks.max())
        error = self._robust_errors(self.residuals[None])[0]
        return self._around(stdtrit(freedom, (1 + level) / 2), error, level)

    def wild(self, level: float, draws: int, rng: np.random.Generator) -> Bounds:
        """Return studentised wild bootstrap intervals; one sign for each row or cluster.

        The signs multiply the residuals, divided by 1 - h for single rows.
        """
        n = len(self.residuals)
        units = np.arange(n) if self.blocks is None else self.blocks
        scaled = self.residuals / self._less_leverage()
        statistics = np.empty((draws, len(self.P)))
        for some in slices(draws, rows_that_fit(_BATCH, n)):
            size = some.stop - some.start
            signs = 2.0 * rng.integers(0, 2, size=(size, int(units.max()) + 1)) - 1
            noise = signs[:, units] * scaled
            rest = noise - (noise @ self.Q) @ self.Q.T
            with np.errstate(divide="ignore", invalid="ignore"):
                statistics[some] = np.abs(noise @ self.P.T) / self._robust_errors(rest)
        k = min(draws, int(np.ceil(level * (draws + 1)))) - 1
        critical = np.partition(np.nan_to_num(statistics, nan=np.inf), k, axis=0)[k]
        return self._around(critical, self._robust_errors(self.residuals[None])[0], level)

    def _less_leverage(self) -> Array:
        """Return 1 - h of each row, or ones for clusters."""
        if self.blocks is not None:
            return np.ones(len(self.residuals))
        return np.asarray(np.maximum(1 - np.square(self.Q).sum(axis=1), 1e-12))

    def _robust_errors(self, residuals: Array) -> Array:
        """Return standard errors of the coefficients from residuals (B, n), shape (B, d)."""
        if self.blocks is None:
            scaled = residuals / self._less_leverage()
            return np.asarray(np.sqrt(np.square(scaled) @ np.square(self.P).T))
        d, n = self.P.shape
        G = int(self.blocks.max()) + 1
        factor = G / (G - 1) * (n - 1) / (n - d)
        sums = np.zeros((len(residuals), d))
        for g in range(G):
            rows = self.blocks == g
            sums += np.square(residuals[:, rows] @ self.P[:, rows].T)
        return np.asarray(np.sqrt(factor * sums))

    def _around(self, critical: Array | float, error: Array, level: float) -> Bounds:
        half = critical * error
        return self.estimate - half, self.estimate + half, level

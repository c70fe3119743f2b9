"""Bands and intervals of other methods, in their usual form."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeAlias, final

import numpy as np
from scipy.special import ndtri, stdtrit
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import CUT
from unassuming._typing import Array, IntArray
from unassuming.noise import sign_units_of
from unassuming.regions import Region

_BATCH = 2**25  # bytes of one array of bootstrap residuals

Bounds: TypeAlias = tuple[Array, Array, float]
"""Lower and upper bounds of some numbers, and the level that they claim."""


def gaussian_process(X: Array, y: Array, seed: int) -> Any:
    """Fit a Gaussian process, a constant times RBF plus white noise, by maximum likelihood."""
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    fitted = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fitted.fit(X, y)


def process_bounds(fitted: Any, X: Array, level: float) -> tuple[Array, Array]:
    """Return pointwise bounds of the function, without the noise."""
    mean, deviation = fitted.predict(X, return_std=True)
    # The kernel's diagonal includes the noise of a new observation; the function has none.
    white = fitted.kernel_.k2.noise_level * fitted._y_train_std**2
    half = ndtri((1 + level) / 2) * np.sqrt(np.clip(deviation**2 - white, 0.0, None))
    return mean - half, mean + half


@final
@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Numbers A Qᵀ y, (k,), where Q Qᵀ y are the values that least squares fits.

    Q (n, r) has orthonormal columns; A (k, r) is Q for the fitted values themselves. ``blocks``
    (n,) are the clusters of the rows, None if the rows are independent.
    """

    A: Array
    Q: Array
    y: Array
    blocks: IntArray | None = None

    @classmethod
    def of(cls, region: Region, y: Array, target: str) -> Self | None:
        """Fit the features of a region, or its inputs; None without degrees of freedom."""
        if target == "coefficients":
            Phi = region.problem.design("intervals of the coefficients").matrix
        else:
            Phi, design = region.problem.transform(region.inputs), region.objective.design
            if design is not None and not design.dual:  # what the model itself is given
                Phi = design.rows(Phi)
            else:
                Phi = np.column_stack([np.ones(len(Phi)), Phi])
        Q, s, Vt = np.linalg.svd(Phi, full_matrices=False)
        keep = s > CUT * s[0]
        if len(y) <= keep.sum() or (target == "coefficients" and not keep.all()):
            return None
        blocks = sign_units_of(region.problem.row_noise, len(y))
        single = blocks is None or int(blocks.max()) + 1 == len(y)
        A = Vt.T / s if target == "coefficients" else Q[:, keep]
        return cls(A, Q[:, keep], y, None if single else blocks)

    @cached_property
    def residuals(self) -> Array:
        """The outputs less the fitted values."""
        return np.asarray(self.y - self.Q @ (self.Q.T @ self.y))

    @cached_property
    def less_leverage(self) -> Array:
        """1 - h of each row, or ones for clusters."""
        h = np.square(self.Q).sum(axis=1) * (self.blocks is None)
        return np.asarray(np.maximum(1 - h, 1e-12))

    def errors(self, residuals: Array) -> Array:
        """Return robust standard errors of the numbers from residuals (B, n), shape (B, k)."""
        P, (n, r) = self.A @ self.Q.T, self.Q.shape
        if self.blocks is None:
            return np.asarray(np.sqrt(np.square(residuals / self.less_leverage) @ np.square(P).T))
        G = int(self.blocks.max()) + 1
        parts = [np.flatnonzero(self.blocks == g) for g in range(G)]
        sums = sum(np.square(residuals[:, rows] @ P[:, rows].T) for rows in parts)
        return np.asarray(np.sqrt(G / (G - 1) * (n - 1) / (n - r) * sums))

    def t(self, level: float) -> Bounds:
        """Return Student's t intervals."""
        freedom = len(self.y) - self.Q.shape[1]
        deviation = np.linalg.norm(self.residuals) / np.sqrt(freedom)
        half = stdtrit(freedom, (1 + level) / 2) * deviation * np.linalg.norm(self.A, axis=1)
        return self._around(half, level)

    def robust(self, level: float) -> Bounds:
        """Return t intervals with HC3 standard errors, or CR1 for clusters."""
        n, r = self.Q.shape
        freedom = n - r if self.blocks is None else int(self.blocks.max())
        half = stdtrit(freedom, (1 + level) / 2) * self.errors(self.residuals[None])[0]
        return self._around(half, level)

    def wild(self, level: float, draws: int, rng: np.random.Generator) -> Bounds:
        """Return studentised wild bootstrap intervals; one sign for each row or cluster."""
        n, statistics = len(self.y), []
        units = np.arange(n) if self.blocks is None else self.blocks
        for some in slices(draws, rows_that_fit(_BATCH, n)):
            signs = 2.0 * rng.integers(0, 2, size=(some.stop - some.start, int(units.max()) + 1))
            noise = (signs - 1)[:, units] * self.residuals / self.less_leverage
            c = noise @ self.Q
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.abs(c @ self.A.T) / self.errors(noise - c @ self.Q.T)
            statistics.append(np.nan_to_num(ratio, nan=np.inf))
        k = min(draws, int(np.ceil(level * (draws + 1)))) - 1
        half = np.partition(np.concatenate(statistics), k, axis=0)[k]
        return self._around(half * self.errors(self.residuals[None])[0], level)

    def _around(self, half: Array, level: float) -> Bounds:
        estimate = self.A @ (self.Q.T @ self.y)
        return estimate - half, estimate + half, level

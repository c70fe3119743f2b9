"""Bands and intervals of other methods, in their usual form."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, final

import numpy as np
from scipy.special import ndtri, stdtrit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from unassuming._batches import rows_that_fit, slices
from unassuming._numerics import CUT
from unassuming._typing import Array, IntArray
from unassuming.inputs import seed_unset
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


def bootstrap(
    estimator: Any, X: Any, y: Array, level: float, resamples: int, rng: np.random.Generator
) -> Bounds:
    """Return pointwise percentile bounds of refits to resampled, centred residuals."""
    seed_unset(estimator, rng)  # the same random features in every refit

    def refitted(outputs: Array) -> Array:
        # Models may overwrite their inputs (copy=False): give them copies.
        return np.asarray(clone(estimator).fit(deepcopy(X), outputs).predict(deepcopy(X)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = refitted(y)
        r = y - fitted - (y - fitted).mean()
        refits = [refitted(fitted + rng.choice(r, len(y))) for _ in range(resamples)]
    lower, upper = np.quantile(refits, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return lower, upper, level


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
        design = region.objective.design
        if target == "coefficients":
            Phi = region.problem.design("intervals of the coefficients").matrix
        else:
            Phi = region.problem.transform(region.inputs)  # what the model itself is given
            if design is None or design.dual:
                Phi = np.column_stack([np.ones(len(Phi)), Phi])
            else:
                Phi = design.rows(Phi)
        Q, s, Vt = np.linalg.svd(Phi, full_matrices=False)
        keep = s > CUT * s[0]
        if len(y) <= keep.sum() or (target == "coefficients" and not keep.all()):
            return None
        blocks = sign_units_of(region.problem.row_noise, len(y))
        single = blocks is None or int(blocks.max()) + 1 == len(y)
        A = Vt.T / s if target == "coefficients" else Q[:, keep]
        return cls(A, Q[:, keep], y, None if single else blocks)

    def t(self, level: float) -> Bounds:
        """Return Student's t intervals."""
        freedom = len(self.y) - self.Q.shape[1]
        deviation = np.linalg.norm(self._residuals) / np.sqrt(freedom)
        return self._around(freedom, deviation * np.linalg.norm(self.A, axis=1), level)

    def robust(self, level: float) -> Bounds:
        """Return t intervals with HC3 standard errors, or CR1 for clusters."""
        n, r = self.Q.shape
        freedom = n - r if self.blocks is None else int(self.blocks.max())
        return self._around(freedom, self._robust_errors(self._residuals[None])[0], level)

    def wild(self, level: float, draws: int, rng: np.random.Generator) -> Bounds:
        """Return studentised wild bootstrap intervals; one sign for each row or cluster.

        The signs multiply the residuals, divided by 1 - h for single rows.
        """
        n = len(self.y)
        units = np.arange(n) if self.blocks is None else self.blocks
        scaled, statistics = self._residuals / self._less_leverage, []
        for some in slices(draws, rows_that_fit(_BATCH, n)):
            size = (some.stop - some.start, int(units.max()) + 1)
            noise = (2.0 * rng.integers(0, 2, size=size) - 1)[:, units] * scaled
            c = noise @ self.Q
            with np.errstate(divide="ignore", invalid="ignore"):
                errors = self._robust_errors(noise - c @ self.Q.T)
                statistics.append(np.nan_to_num(np.abs(c @ self.A.T) / errors, nan=np.inf))
        k = min(draws, int(np.ceil(level * (draws + 1)))) - 1
        half = np.partition(np.concatenate(statistics), k, axis=0)[k]
        half = half * self._robust_errors(self._residuals[None])[0]
        return self._estimate - half, self._estimate + half, level

    @property
    def _estimate(self) -> Array:
        return self.A @ (self.Q.T @ self.y)

    @property
    def _residuals(self) -> Array:
        return self.y - self.Q @ (self.Q.T @ self.y)

    @property
    def _less_leverage(self) -> Array:
        """Return 1 - h of each row, or ones for clusters."""
        h = np.square(self.Q).sum(axis=1) * (self.blocks is None)
        return np.asarray(np.maximum(1 - h, 1e-12))

    def _robust_errors(self, residuals: Array) -> Array:
        """Return standard errors of the numbers from residuals (B, n), shape (B, k)."""
        P, (n, r) = self.A @ self.Q.T, self.Q.shape
        if self.blocks is None:
            return np.asarray(np.sqrt(np.square(residuals / self._less_leverage) @ np.square(P).T))
        G = int(self.blocks.max()) + 1
        parts = [np.flatnonzero(self.blocks == g) for g in range(G)]
        sums = sum(np.square(residuals[:, rows] @ P[:, rows].T) for rows in parts)
        return np.asarray(np.sqrt(G / (G - 1) * (n - 1) / (n - r) * sums))

    def _around(self, freedom: int, error: Array, level: float) -> Bounds:
        half = stdtrit(freedom, (1 + level) / 2) * error
        return self._estimate - half, self._estimate + half, level

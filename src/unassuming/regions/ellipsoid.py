"""The outer ellipsoid of a region (docs/theory.md 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from unassuming._numerics import EPS, SEEN
from unassuming._typing import Array, BoolArray
from unassuming.inputs import as_points
from unassuming.regions.explain import Explanation, Status


@final
@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """An outer ellipsoid, {a : (a - center)ᵀ matrix (a - center) <= squared_radius}.

    Attributes
    ----------
    center : array of shape (d,)
        The estimate.
    matrix : array of shape (d, d)
        H = ΦᵀWΦ/n + λP.
    squared_radius : float
        The q-th largest of max ‖H^{1/2}(a - center)‖² over the sets; an outer bound, infinite if
        at least q of them are cylinders.
    level : float
    status : Status
    reason : str
    root_inverse : array of shape (d, k)
        a - center = root_inverse v with ‖v‖² <= squared_radius, in the k directions that change
        fitted values.
    explanation : Explanation
        The facts and remedies behind ``reason``, as values.

    Examples
    --------
    >>> ellipsoid = region.ellipsoid(level=0.9)
    >>> ellipsoid.axes().shape, ellipsoid.volume() > 0, len(ellipsoid.project([0.0, 1.0, 0.0]))
    ((3, 3), True, 2)
    >>> ellipsoid.contains(region.estimate)
    True
    """

    center: Array
    matrix: Array = field(repr=False)
    squared_radius: float
    level: float
    status: Status
    reason: str
    root_inverse: Array = field(repr=False)
    explanation: Explanation = field(default=Explanation(), repr=False)

    def contains(self, candidates: ArrayLike) -> Any:
        """Whether coefficient vectors lie inside, (d,) or (N, d).

        Parameters
        ----------
        candidates : array of shape (d,) or (N, d)
        """
        points, single = as_points(candidates, "the candidate", len(self.center))
        a = points - self.center
        value = np.einsum("nj,jk,nk->n", a, self.matrix, a)
        inside: BoolArray = np.asarray(value <= self.squared_radius * (1 + 1e-12))
        return bool(inside[0]) if single else inside

    def axes(self) -> Array:
        """Return the principal half-axes as rows, longest first; infinite ones for a cylinder."""
        values, vectors = np.linalg.eigh(self.matrix)
        tiny = len(values) * EPS * values[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            length = np.where(
                values > tiny, np.sqrt(max(self.squared_radius, 0.0) / np.abs(values)), np.inf
            )
            axes = vectors.T * length[:, None]
        return np.where(vectors.T == 0, 0.0, axes)

    def volume(self) -> float:
        """Return the volume in the space of coefficients."""
        d = len(self.center)
        if self.squared_radius < 0:
            return 0.0
        if not np.isfinite(self.squared_radius) or self.root_inverse.shape[1] < d:
            return float("inf")
        if self.squared_radius <= 0:
            return 0.0
        log_unit = 0.5 * d * np.log(np.pi) - gammaln(0.5 * d + 1)
        _, logdet = np.linalg.slogdet(self.matrix)
        return float(np.exp(log_unit + 0.5 * (d * np.log(self.squared_radius) - logdet)))

    def project(self, g: ArrayLike) -> tuple[Any, Any]:
        """Return the smallest and largest value of gᵀa over the ellipsoid, for g (d,) or (N, d).

        Parameters
        ----------
        g : array of shape (d,) or (N, d)
        """
        rows, single = as_points(g, "g", len(self.center))
        low, high = self._extremes(rows)
        return (float(low[0]), float(high[0])) if single else (low, high)

    def _extremes(self, g: Array) -> tuple[Array, Array]:
        if self.squared_radius < 0:
            return np.full(len(g), np.inf), np.full(len(g), -np.inf)
        # Row by row: a functional has one projection, asked alone or among others.
        middle = np.einsum("nd,d->n", g, self.center)
        turned = np.einsum("nd,dk->nk", g, self.root_inverse)
        rest = g - turned @ (self.root_inverse.T @ self.matrix)
        unit = np.sqrt(np.diag(self.matrix))
        unit = np.where(unit > 0, unit, unit.max())
        length = np.linalg.norm(turned, axis=1)
        half = np.sqrt(self.squared_radius) * np.where(length > 0, length, 1.0)
        half = np.where(length > 0, half, 0.0)
        hidden = np.abs(rest / unit).max(axis=1) > SEEN * np.abs(g / unit).max(axis=1)
        return (
            np.where(hidden, -np.inf, middle - half),
            np.where(hidden, np.inf, middle + half),
        )

    def __str__(self) -> str:
        text = (
            f"Ellipsoid at level {self.level:.12g}, squared radius {self.squared_radius:.6g}: "
            f"{self.status.value}."
        )
        return text + (f" {self.reason}" if self.reason else "")

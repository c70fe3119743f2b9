"""Two coefficients whatever the others are: an outer polygon of the projection of a region.

Every member lies in the half-plane u · a <= b, where b is the upper bound of the functional u. The
half-planes of several u, among them both axes, enclose the projection onto the two coefficients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.regions import Interval, Region

_NORMALS = 32
"""Half-planes of a region whose bounds are cheap; otherwise those of the axes alone."""

_AXES = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


@final
@dataclass(frozen=True, eq=False)
class Projection:
    """Half-planes around the projection.

    Attributes
    ----------
    normals : array of shape (K, 2)
        The first four are the half-axes: those of the first coefficient, then of the second.
    supports : dict of arrays of shape (K,)
        By level the upper bounds along the normals, infinite where no finite one holds; all -inf if
        the region is empty.
    """

    normals: Array
    supports: dict[float, Array]
    joint: bool = True
    """Whether the bounds are those of the joint region, which has a slice."""

    @property
    def bounded(self) -> list[float]:
        """The levels at which both coefficients have finite bounds."""
        return [level for level, b in self.supports.items() if np.isfinite(b[:4]).all()]

    def box(self, level: float) -> Array:
        """Return the intervals of the two coefficients, (2, 2)."""
        b = self.supports[level]
        return np.array([[-b[1], b[0]], [-b[3], b[2]]])

    def polygon(self, level: float, window: Array) -> Array:
        """Return the corners of the polygon within a window (2, 2), in order; (0, 2) if empty."""
        (left, right), (bottom, top) = window
        corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
        for normal, bound in zip(self.normals, self.supports[level], strict=True):
            if np.isnan(bound):  # the region has no member
                return np.empty((0, 2))
            if np.isfinite(bound):
                corners = _clipped(corners, normal, bound)
        return corners


def _clipped(corners: Array, normal: Array, bound: float) -> Array:
    """Return the part of a convex polygon with normal · a <= bound."""
    kept = []
    excess = corners @ normal - bound
    for k in range(len(corners)):
        before = k - 1
        if (excess[k] > 0) != (excess[before] > 0):
            share = excess[before] / (excess[before] - excess[k])
            kept.append(corners[before] + share * (corners[k] - corners[before]))
        if excess[k] <= 0:
            kept.append(corners[k])
    return np.array(kept).reshape(-1, 2)


def project(
    region: Region,
    pair: list[int],
    levels: list[float],
    method: str | None,
    intervals: Mapping[float, Interval] | None = None,
) -> Projection | None:
    """Return the half-planes of two coefficients; None if the model has no such bounds.

    The half-planes of the axes are the intervals of the coefficients, by default those of
    ``region.interval``. Bounds from cells hold at once for all coefficients, and have no others.
    """
    joint = method in (None, "joint")
    try:
        found = intervals
        if found is None:
            found = region.interval(level=levels, simultaneous=True, method=method or "joint")
        slanted = _slanted(region, pair, levels) if joint else None
    except NotAvailable:
        if joint:
            return None
        raise
    normals = _AXES
    supports = {p: _both(found[p].lower[pair], found[p].upper[pair]) for p in levels}
    if slanted is not None:
        normals = np.vstack([_AXES, slanted.normals])
        supports = {p: np.append(b, slanted.supports[p]) for p, b in supports.items()}
    return Projection(normals, supports, joint=joint)


def _both(lower: Array, upper: Array) -> Array:
    """Return the bounds along normals and their opposites, in turn."""
    return np.column_stack([upper, -lower]).ravel()


def _slanted(region: Region, pair: list[int], levels: list[float]) -> Projection | None:
    """Return half-planes beside those of the axes, for a region whose bounds are cheap."""
    normals = _even(region, pair)
    if not len(normals):
        return None
    functionals = np.zeros((len(normals), region.objective.d))
    functionals[:, pair] = normals
    found = region.interval(functionals, level=levels, simultaneous=True, method="joint")
    both = np.stack([normals, -normals], axis=1).reshape(-1, 2)
    return Projection(both, {p: _both(i.lower, i.upper) for p, i in found.items()})


def _even(region: Region, pair: list[int]) -> Array:
    """Return normals of a half-circle that are even for the spread of the least-squares fit."""
    if not region.shape.star_convex or region.objective.design is None:
        return np.empty((0, 2))
    phi = region.objective.design.matrix
    spread = np.linalg.pinv(phi.T @ phi)[np.ix_(pair, pair)]
    values, vectors = np.linalg.eigh(spread)
    if values[0] <= 1e-14 * values[-1]:
        return np.empty((0, 2))
    angles = np.linspace(0, np.pi, _NORMALS // 2, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return np.asarray(circle / np.sqrt(values) @ vectors.T)

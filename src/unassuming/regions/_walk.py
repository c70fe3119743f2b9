"""Directions in which to walk through a piecewise region, at random or towards a functional."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from unassuming._typing import Array
from unassuming.geometry import LineModel
from unassuming.objectives import Kinks

_SMALLEST = 1e-3
_ALONG_FACE = 0.25
_RANDOM_PARTS = (0.0, 0.5, 2.0, 8.0)


@dataclass(frozen=True, eq=False)
class Walk:
    """Directions in which the gradient changes at comparable rates.

    Attributes
    ----------
    axes : array of shape (d, k)
    kinks : Kinks or None
        Where coefficients are at a kink, the region can be larger along the face than off it.
    """

    axes: Array
    kinks: Kinks | None

    @classmethod
    def in_model(cls, model: LineModel) -> Walk:
        """Return axes along which ΨLΦ changes alike, the smallest singular values raised."""
        _, s, vt = svd(model.weigh(model.pull(model.phi.T)).T, full_matrices=False)
        return cls(vt.T / np.sqrt(s**2 + (_SMALLEST * s[0]) ** 2), model.kinks)

    def directions(self, rng: np.random.Generator, points: Array) -> Array:
        """Draw a direction for each point (N, d): any one, or one along the face it lies on."""
        full = rng.standard_normal((len(points), self.axes.shape[1])) @ self.axes.T
        along = self.along_face(points, full)
        use = (rng.random(len(points)) < _ALONG_FACE) & along.any(axis=1)
        return np.where(use[:, None], along, full)

    def along_face(self, points: Array, directions: Array) -> Array:
        """Keep the coefficients that are at a kink."""
        kept = np.zeros(points.shape, dtype=np.bool_)
        if self.kinks is not None and self.kinks.values.shape[1]:
            coefficient = self.kinks.coefficient
            at = points[:, coefficient, None] == self.kinks.values
            kept[:, coefficient] = at.any(axis=2)
        return np.where(kept, 0.0, directions)

    def towards(self, rng: np.random.Generator, points: Array, g: Array) -> list[Array]:
        """Return directions along the functionals g (N, d), with more and less randomness."""
        turned = g @ self.axes
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        noise = rng.standard_normal(turned.shape) * length / np.sqrt(turned.shape[1])
        tries = [(turned + part * noise) @ self.axes.T for part in _RANDOM_PARTS]
        return [*tries, self.along_face(points, tries[int(rng.integers(2))])]

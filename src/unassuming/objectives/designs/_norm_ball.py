"""The ball of a norm bound, ‖f‖ <= B, and coordinates in which its norm is a quadratic form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import eigh

from unassuming._rounding import TINY, powers_of_two
from unassuming._typing import Array, BoolArray, IntArray


@final
@dataclass(frozen=True, eq=False)
class NormBall:
    """{a : aᵀPa <= B²}, the assumption of a norm bound on the ideal coefficients.

    P (d, d) is the penalty matrix of the design, positive semidefinite.
    """

    P: Array
    bound: float

    def norm(self, a: Array) -> float:
        """Return the norm of coefficients (d,)."""
        unit = powers_of_two(np.abs(a).max(initial=0.0))  # squares neither over- nor underflow
        a = a / unit
        return float(np.sqrt(np.maximum(a @ self.P @ a, 0.0)) * unit)

    def contains(self, a: Array) -> BoolArray:
        """Which coefficients (N, d) lie in the ball."""
        unit = powers_of_two(np.abs(a).max(axis=1, initial=0.0))
        a = a / unit[:, None]
        with np.errstate(over="ignore", under="ignore"):
            limit = np.square(self.bound / unit)
        return np.asarray(np.einsum("ij,jk,ik->i", a, self.P, a) <= limit)

    @cached_property
    def root(self) -> Array:
        """P^{1/2} up to a rotation; negative rounding counts as zero."""
        values, vectors = eigh(self.P)
        return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)

    def confine(self, spans: list[Array], origins: Array, directions: Array) -> list[Array]:
        """Intersect intervals of t on lines origin + t direction with the ball."""
        return list(map(self._on_line, spans, origins, directions))

    def _on_line(self, spans: Array, a: Array, d: Array) -> Array:
        # Powers of two as units: squares neither over- nor underflow.
        one, other = (float(powers_of_two(np.abs(x).max(initial=0.0))) for x in (a, d))
        a, d = a / one, d / other
        aP = a @ self.P
        A, b, c = float(d @ self.P @ d), float(aP @ d), float(aP @ a)
        norm = float(np.sqrt(max(c, 0.0))) * one
        if A <= 0:  # the norm is constant: the whole line is in the ball, or nothing
            return spans if norm <= self.bound else spans[:0]
        whole = float(powers_of_two(np.asarray(max(norm, self.bound))))
        b, c = b * (one / whole), c * (one / whole) ** 2 - (self.bound / whole) ** 2
        root, unit = np.sqrt(max(b * b - A * c, 0.0)), whole / other
        clipped = np.clip(spans, (-b - root) / A * unit, (-b + root) / A * unit)
        return clipped[clipped[:, 0] < clipped[:, 1]]

    def farthest(self, g: Array) -> Array:
        """Return the points of the ball with the largest gᵀa, g (N, d), if the norm bounds it."""
        values = np.linalg.norm(self.root, axis=1)
        keep = values > 1e-6 * values.max()
        vectors = self.root[keep] / values[keep, None]
        turned = (g @ vectors.T) / values[keep]
        length = np.linalg.norm(turned, axis=1, keepdims=True)
        away = turned / np.where(length > 0, length, 1.0) / values[keep]
        return np.asarray(self.bound * away @ vectors)


@final
@dataclass(frozen=True, eq=False)
class BallCoordinates:
    """Coordinates x in which the ball is (x + origin)ᵀN(x + origin) + s² <= B².

    Attributes
    ----------
    F : array of shape (n, k)
        W^{1/2} Φ (a - â) = F x.
    N : array of shape (k, k)
        Diagonal, with zeros for coordinates that the norm does not bound and ones for the others.
    origin : array of shape (k,)
        The estimate.
    functionals : array of shape (N, k)
        The functionals gᵀ(a - â) as gᵀx.
    beyond : array of shape (N,)
        p: largest change of the functional per unit norm orthogonal to these coordinates.
    hidden : boolean array of shape (N,)
        Which functionals depend on directions that neither the data nor the norm bound.
    back : array of shape (d, k)
        a - â = back x.
    bound : float
        B.
    lost : float
        Largest change of the fitted values, in the units of F, per unit norm orthogonal to these
        coordinates.
    rounding : float
        The relative error of each number of the functionals, where the norm bounds the coordinate.
    """

    F: Array
    N: Array
    origin: Array
    functionals: Array
    beyond: Array
    hidden: BoolArray
    back: Array
    bound: float
    lost: float = 0.0
    rounding: float = 0.0

    def over(self, unit: float) -> BallCoordinates:
        """Return the ball in a unit of the outputs."""
        return replace(self, origin=self.origin / unit, bound=self.bound / unit)

    def in_units(self, at: IntArray | None = None) -> tuple[BallCoordinates, Array]:
        """Return functionals of about unit size, and their units (N, 1): powers of two.

        Squares of values far from all inputs would vanish, and those of large ones overflow. A
        functional that is the fitted value of a row ``at`` (N,) stays as it is.
        """
        size = np.abs(self.functionals).max(axis=1, initial=0.0)
        unit = powers_of_two(np.maximum(size, self.beyond))
        if at is not None:
            unit = np.where(at >= 0, 1.0, unit)
        found = replace(
            self, functionals=self.functionals / unit[:, None], beyond=self.beyond / unit
        )
        return found, unit[:, None]


def times_unit(bounds: Array, unit: Array) -> Array:
    """Multiply bounds (N, m - 1) by units (N, 1), upward where digits are lost to underflow."""
    found = np.asarray(bounds * unit)
    small = (np.abs(found) < TINY) & (bounds != 0)
    return np.where(small, np.nextafter(found, np.inf), found)

"""Ellipsoids as images of the unit ball, and how far they extend (docs/theory.md 4.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unassuming._typing import Array, BoolArray

_BLOCK = 2**16
"""Numbers in one block of turned functionals: half a megabyte, which stays in the cache."""
_WELL_CONDITIONED = 1e-6


@dataclass(frozen=True, eq=False)
class Ellipsoids:
    """A batch of s ellipsoids {centre + root u : ‖u‖ <= 1} in k coordinates, flat ones included.

    Attributes
    ----------
    centre : array of shape (s, k)
    root : array of shape (s, k, k)
    """

    centre: Array
    root: Array

    @classmethod
    def from_inverses(cls, inverse: Array, b: Array, c: Array) -> Ellipsoids:
        """Make {xᵀAx - 2bᵀx <= c} from A⁻¹, without eigenvectors."""
        centre = (inverse @ b[:, :, None])[:, :, 0]
        radius = np.maximum(c + (b * centre).sum(axis=1), 0.0)  # ρ
        root = np.asarray(np.linalg.cholesky(inverse), dtype=np.float64)
        root *= np.sqrt(radius)[:, None, None]
        return cls(centre, root)

    def extents(self, g: Array) -> tuple[Array, Array]:
        """Return the largest gᵀx and the largest -gᵀx over each, (N, k) -> (N, s) each."""
        s, k = self.centre.shape
        middle, half = g @ self.centre.T, np.empty((len(g), s))
        root = np.ascontiguousarray(np.swapaxes(self.root, 0, 1)).reshape(k, s * k)
        step = max(1, _BLOCK // max(1, s * k))
        for start in range(0, len(g), step):
            some = slice(start, start + step)
            turned = (g[some] @ root).reshape(len(g[some]), s, k)
            half[some] = np.einsum("nsk,nsk->ns", turned, turned)
        half = np.sqrt(half, out=half)
        return half + middle, half - middle


def inverses(A: Array) -> tuple[Array, BoolArray]:
    """Return A⁻¹, and where it shows that A is positive definite beyond doubt.

    No eigenvalue of A is below 1/‖A⁻¹‖. Elsewhere the inverse means nothing.
    """
    try:
        inverse = np.asarray(np.linalg.inv(A), dtype=np.float64)
    except np.linalg.LinAlgError:  # one of them is singular, and numpy does not say which
        return A, np.zeros(len(A), dtype=np.bool_)
    size = np.sqrt(np.einsum("skl,skl->s", inverse, inverse))
    return inverse, np.asarray(size <= 1 / _WELL_CONDITIONED)

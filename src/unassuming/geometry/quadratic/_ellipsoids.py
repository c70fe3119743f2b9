"""Ellipsoids as images of the unit ball, and how far they extend (docs/theory.md 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._typing import Array, BoolArray

_BLOCK_BYTES = 2**19
"""The size of one block of turned functionals: it stays in the cache."""
_WELL_CONDITIONED = 1e-6


@final
@dataclass(frozen=True, eq=False)
class Ellipsoids:
    """A batch of s ellipsoids {centre + root u : ‖u‖ <= 1} in k coordinates, flat ones included."""

    centre: Array  # (s, k)
    root: Array  # (s, k, k)

    @classmethod
    def from_whitening(cls, white: Array, b: Array, c: Array) -> Ellipsoids:
        """Make {xᵀAx - 2bᵀx <= c}; with x = whiteᵀu the form xᵀAx is ‖u‖²."""
        own = (white @ b[:, :, None])[:, :, 0]
        root = np.swapaxes(white, 1, 2)
        radius = np.maximum(c + (own**2).sum(axis=1), 0.0)  # ρ
        centre = (root @ own[:, :, None])[:, :, 0]
        return cls(centre, root * np.sqrt(radius)[:, None, None])

    def extents(self, g: Array) -> tuple[Array, Array]:
        """Return the largest gᵀx and the largest -gᵀx over each, (N, k) -> (N, s) each."""
        s, k = self.centre.shape
        middle, half = g @ self.centre.T, np.empty((len(g), s))
        root = np.ascontiguousarray(np.swapaxes(self.root, 0, 1)).reshape(k, s * k)
        for some in slices(len(g), rows_that_fit(_BLOCK_BYTES, s * k)):
            turned = (g[some] @ root).reshape(len(g[some]), s, k)
            half[some] = np.einsum("nsk,nsk->ns", turned, turned)
        half = np.sqrt(half, out=half)
        return half + middle, half - middle


def whitening(A: Array) -> tuple[Array, BoolArray]:
    """Return L⁻¹ with A = LLᵀ, and where it shows that A is positive definite beyond doubt.

    No eigenvalue of A is below 1/‖L⁻¹‖². Elsewhere the result is meaningless.
    """
    try:
        lower = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:  # one of them is not definite, and numpy does not say which
        return A, np.zeros(len(A), dtype=np.bool_)
    white = np.asarray(np.linalg.solve(lower, np.broadcast_to(np.eye(A.shape[-1]), A.shape)))
    size = np.einsum("skl,skl->s", white, white)
    return white, np.asarray(size <= 1 / _WELL_CONDITIONED)

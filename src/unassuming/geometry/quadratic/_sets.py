"""The sets E_i = {Z_0 <= Z_i} as ellipsoids or ellipsoidal cylinders (docs/theory.md 4).

Everything here is in coordinates x with fitted values f̂ + F x, in units of the square roots of the
weights. With the smoother S and E = G_i - I,

    n (Z_i - Z_0) = c + 2 bᵀx - xᵀA x,      A = FᵀEᵀ(I - S)E F,
    b = FᵀEᵀ((I - S)E r̂ + r̂),              c = (E r̂)ᵀS(E r̂),

so E_i = {xᵀA x - 2bᵀx <= c}. A is positive semidefinite for every orthogonal G_i; its null space
holds the free directions of the cylinder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import SEEN
from unassuming._typing import Array, BoolArray

FREE = 1e-11
"""Eigenvalues of A below this share of the scale of F count as zero: free directions.

A direction that is so nearly free is reported as free. This errs on the honest side: a bound may
be infinite where a finite one exists but cannot be computed, never the other way round."""

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


@final
@dataclass(frozen=True, eq=False)
class Sets:
    """A batch of s sets in k coordinates, each in its own eigenvectors."""

    w: Array  # (s, k): eigenvalues of A, zero in free directions
    basis: Array  # (s, k, k): eigenvectors, in columns
    b: Array  # (s, k): the linear term in these coordinates, zero in free directions
    c: Array  # (s,): the right-hand side
    empty: BoolArray  # (s,): sets without a point: at best Z_i = Z_0, and the candidate loses ties

    @classmethod
    def from_forms(cls, A: Array, b: Array, c: Array, empty: BoolArray, scale: float = 1.0) -> Sets:
        """Diagonalise {xᵀAx - 2bᵀx <= c}; the eigenvalues of A are of that scale or less."""
        # Coordinates that are zero in all A, such as single fitted values, need no eigenvectors.
        seen = np.diagonal(A, axis1=1, axis2=2).any(axis=0)
        w = np.zeros(A.shape[:2])
        basis = np.zeros(A.shape)
        basis[:, ~seen, np.flatnonzero(~seen)] = 1.0
        inner = np.ix_(np.arange(len(A)), seen, seen)
        w[:, seen], basis[inner] = np.linalg.eigh(A[inner])
        free = w <= FREE * min(1.0, scale)
        turned = (b[:, None, :] @ basis)[:, 0, :]
        return cls(np.where(free, 0.0, w), basis, np.where(free, 0.0, turned), c, empty)

    @property
    def free(self) -> BoolArray:
        """Which coordinates are free, shape (s, k)."""
        return np.asarray(self.w == 0)

    @property
    def bounded(self) -> BoolArray:
        """Which sets are bounded, shape (s,)."""
        return np.asarray(self.empty | ~self.free.any(axis=1))

    @property
    def radius(self) -> Array:
        """ρ: in eigen-coordinates E_i is Σ w_k (x_k - b_k/w_k)² <= ρ."""
        return np.asarray(self.c + (self.b**2 / np.where(self.free, 1.0, self.w)).sum(axis=1))

    def extents(self, g: Array) -> tuple[Array, Array]:
        """Return the largest gᵀx and the largest -gᵀx over each set, (N, k) -> (N, s) each."""
        w = np.where(self.free, np.inf, self.w)
        centre = (self.basis @ (self.b / w)[:, :, None])[:, :, 0]
        root = self.basis * np.sqrt(np.maximum(self.radius, 0.0)[:, None, None] / w[:, None, :])
        up, down = Ellipsoids(centre, root).extents(g)
        size = SEEN * np.linalg.norm(g, axis=1)
        for i in np.flatnonzero(self.free.any(axis=1)):
            seen = np.abs(g @ self.basis[i][:, self.free[i]]).max(axis=1) > size
            up[seen, i] = down[seen, i] = np.inf
        up[:, self.empty] = down[:, self.empty] = -np.inf
        return up, down

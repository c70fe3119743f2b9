"""Z_i - Z_0 as a quadratic form in the coordinates of a chart (docs/theory.md 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming.geometry._ellipsoids import Ellipsoids, whitening
from unassuming.geometry._moves import moves_of
from unassuming.geometry._sets import Sets
from unassuming.noise import Perturbations

_EPS = float(np.finfo(np.float64).eps)
BATCH_BYTES = 2**27
"""The working memory of one batch of sets; a single set may need more."""


@dataclass(frozen=True, eq=False)
class Forms:
    """n (Z_i - Z_0) = c + 2bᵀx - xᵀAx for a batch of transformations."""

    A: Array
    b: Array
    c: Array
    empty: BoolArray

    def sets(self) -> Sets:
        """Return the sets {Z_0 <= Z_i}, diagonalised."""
        return Sets.from_forms(self.A, self.b, self.c, self.empty)

    def extents(self, g: Array) -> tuple[Array, Array]:
        """Return the largest gᵀx and the largest -gᵀx over each set, (N, k) -> (N, s) each.

        Ellipsoids that are far from cylinders need no eigenvectors; the others do.
        """
        sure = (np.diagonal(self.A, axis1=1, axis2=2) > 0).all(axis=1) & ~self.empty
        white, definite = whitening(self.A[sure])
        white, sure[sure] = white[definite], definite
        up, down = np.empty((2, len(g), len(self.A)))
        round_ones = Ellipsoids.from_whitening(white, self.b[sure], self.c[sure])
        up[:, sure], down[:, sure] = round_ones.extents(g)
        rest = Forms(self.A[~sure], self.b[~sure], self.c[~sure], self.empty[~sure])
        up[:, ~sure], down[:, ~sure] = rest.sets().extents(g)
        return up, down


@dataclass(frozen=True, eq=False)
class FormMaker:
    """Everything but the chart: smoother, residuals of the estimate, transformations, ties.

    All in units of the square roots of the weights, with which the transformations commute.

    Attributes
    ----------
    q : array of shape (n, k)
        S = q qᵀ.
    residual : array of shape (n,)
        r̂.
    perturbations : Perturbations
    residual_error : float
        Length of the rounding error of r̂.
    tie_wins : boolean array of shape (m - 1,)
        Whether a tie between Z_0 and Z_i counts for the candidate.
    """

    q: Array
    residual: Array
    residual_error: float
    perturbations: Perturbations
    tie_wins: BoolArray

    def batches(self, F: Array) -> Iterator[tuple[slice, Forms]]:
        """Yield the forms in the chart f̂ + F x, F of shape (n, k), in batches of bounded memory."""
        (n, k), width = F.shape, self.q.shape[1]
        numbers = moves_of(self.perturbations.noise).numbers(n, k, width)
        step = max(1, BATCH_BYTES // (8 * numbers))
        for start in range(0, self.perturbations.m - 1, step):
            which = slice(start, min(start + step, self.perturbations.m - 1))
            yield which, self._forms(F, which)

    def _forms(self, F: Array, which: slice) -> Forms:
        perturbations, r, q = self.perturbations.take(which), self.residual, self.q
        Gr = perturbations.apply(r)
        Er = Gr - r
        qEr = Er @ q
        moved = moves_of(perturbations.noise)(perturbations, F)
        qEF = moved.seen_by(q)  # (s, k, ·)
        A = moved.gram()
        A -= qEF @ np.swapaxes(qEF, 1, 2)
        b = moved.against(Gr) - (qEF @ qEr[:, :, None])[:, :, 0]
        c = np.einsum("sk,sk->s", qEr, qEr)
        zero = self.vanishing(Er, qEr)
        c, b = np.where(zero, 0.0, c), np.where(zero[:, None], 0.0, b)
        return Forms(A, b, c, zero & ~self.tie_wins[which])

    @cached_property
    def without_points(self) -> BoolArray:
        """Which sets hold no point, shape (m - 1,)."""
        Er = self.perturbations.apply(self.residual) - self.residual
        return self.vanishing(Er, Er @ self.q) & ~self.tie_wins

    def vanishing(self, Er: Array, qEr: Array) -> BoolArray:
        """Where a_i = qᵀE r̂ is zero to rounding.

        There Z_i <= Z_0 everywhere, with equality on the free directions, and the tie order
        decides whether these belong to the set or nothing does (4, 4.1).
        """
        size = np.linalg.norm(Er, axis=1)
        if not self.perturbations.noise.exact_arithmetic:
            size = size + np.linalg.norm(self.residual)
        error = 8 * _EPS * sum(self.q.shape) * size + 2 * self.residual_error
        return np.asarray(np.linalg.norm(qEr, axis=1) <= error)

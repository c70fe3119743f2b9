"""Z_i - Z_0 as a quadratic form in the coordinates of a chart (docs/theory.md 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._ellipsoids import Ellipsoids, whitening
from unassuming.geometry.quadratic._moved_columns import moves_of
from unassuming.geometry.quadratic._residual_products import (
    ByFactor,
    ByTriangle,
    Complement,
    triangle_pays,
)
from unassuming.geometry.quadratic._sets import FREE, Sets
from unassuming.noise import Perturbations

BATCH_BYTES = 2**27
"""The working memory of one batch of sets; a single set may need more."""


@dataclass(frozen=True, eq=False)
class Forms:
    """n (Z_i - Z_0) = c + 2bᵀx - xᵀAx for a batch of transformations."""

    A: Array
    b: Array
    c: Array
    empty: BoolArray
    scale: float = 1.0  # of the columns of the chart, squared

    def sets(self) -> Sets:
        """Return the sets {Z_0 <= Z_i}, diagonalised."""
        return Sets.from_forms(self.A, self.b, self.c, self.empty, self.scale)

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
        rest = Forms(self.A[~sure], self.b[~sure], self.c[~sure], self.empty[~sure], self.scale)
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
        r̂, zero where rounding alone tells it from zero.
    residual_error : array of shape (n,)
        Bounds on its rounding errors.
    perturbations : Perturbations
    tie_wins : boolean array of shape (m - 1,)
        Whether a tie between Z_0 and Z_i counts for the candidate.
    """

    q: Array
    residual: Array
    residual_error: Array
    perturbations: Perturbations
    tie_wins: BoolArray

    def batches(self, F: Array) -> Iterator[tuple[slice, Forms]]:
        """Yield the forms in the chart f̂ + F x, F of shape (n, k), in batches of bounded memory."""
        (n, k), width = F.shape, self.q.shape[1]
        numbers = moves_of(self.perturbations.noise).numbers(n, k, width)
        step = max(1, BATCH_BYTES // (8 * max(1, numbers)))
        for start in range(0, self.perturbations.m - 1, step):
            which = slice(start, min(start + step, self.perturbations.m - 1))
            yield which, self._forms(F, which)

    def all_forms(self, F: Array) -> Forms:
        """Return the forms of all sets at once, (m - 1) k² numbers."""
        batches = [forms for _, forms in self.batches(F)]
        return Forms(
            A=np.concatenate([forms.A for forms in batches]),
            b=np.concatenate([forms.b for forms in batches]),
            c=np.concatenate([forms.c for forms in batches]),
            empty=np.concatenate([forms.empty for forms in batches]),
            scale=batches[0].scale,
        )

    def _forms(self, F: Array, which: slice) -> Forms:
        perturbations, q = self.perturbations.take(which), self.q
        Gr, qEr = self.residual + self.moved[which], self.seen[which]
        moved = moves_of(perturbations.noise)(perturbations, F)
        qEF = moved.seen_by(q)  # (s, k, ·)
        A = moved.gram()
        A -= qEF @ np.swapaxes(qEF, 1, 2)
        b = moved.against(Gr) - (qEF @ qEr[:, :, None])[:, :, 0]
        c = np.einsum("sk,sk->s", qEr, qEr) + self.margin[which]
        tied = self.tied[which]
        c, b = np.where(tied, 0.0, c), np.where(tied[:, None], 0.0, b)
        scale = float((F**2).sum(axis=0).max(initial=0.0))
        return Forms(A, b, c, tied & ~self.tie_wins[which], scale)

    def complement(self, lines: int) -> Complement:
        """Return the inner products that I - S gives, for all sets and that many lines."""
        n, k = self.q.shape
        pays = triangle_pays(n, k, self.perturbations.m - 1, lines)
        return self._triangle if pays else ByFactor(self.q)

    @cached_property
    def _triangle(self) -> ByTriangle:
        """I - S, n² numbers."""
        return ByTriangle(self.q)

    @cached_property
    def moved(self) -> Array:
        """E r̂ for every transformation, (m - 1, n); zero where rounding alone moves a residual."""
        r, error = self.residual, self.residual_error
        Er = self.perturbations.apply(r) - r
        if self.perturbations.noise.exact_arithmetic:
            near = np.abs(Er) <= np.abs(self.perturbations.apply(error)) + error
            Er = np.where(near, 0.0, Er)
        return np.asarray(Er)

    @cached_property
    def seen(self) -> Array:
        """qᵀE r̂ for every transformation, (m - 1, k)."""
        return np.asarray(self.moved @ self.q)

    @cached_property
    def margin(self) -> Array:
        """What rounding may have taken from c = ‖qᵀE r̂‖², where that is small, (m - 1,)."""
        length = np.linalg.norm(self.moved, axis=1)
        if not self.perturbations.noise.exact_arithmetic:
            length = length + np.linalg.norm(self.residual)
        error = 8 * EPS * sum(self.q.shape) * length + 2 * np.linalg.norm(self.residual_error)
        small = np.linalg.norm(self.seen, axis=1) <= error
        return np.asarray(np.where(small, error**2, 0.0))

    @cached_property
    def tied(self) -> BoolArray:
        """Where Z_i <= Z_0 everywhere, with equality on the free directions, (m - 1,).

        The tie order decides whether these belong to the set or nothing does (4, 4.1). So it is
        if G_i r̂ = r̂, and if Z_i and Z_0 are the same function.
        """
        tied = np.asarray(~self.moved.any(axis=1))
        for i in np.flatnonzero((self.margin > 0) & ~tied):
            one = self.perturbations.take(slice(i, i + 1))
            Eq = one.apply(self.q.T)[:, 0, :] - self.q.T  # (k, n)
            size = float((Eq**2).sum(axis=1).max(initial=0.0))
            A = Eq @ Eq.T - (Eq @ self.q) @ (Eq @ self.q).T
            tied[i] = np.abs(A).max(initial=0.0) <= FREE * size
        return tied

    @property
    def without_points(self) -> BoolArray:
        """Which sets hold no point, shape (m - 1,)."""
        return np.asarray(self.tied & ~self.tie_wins)

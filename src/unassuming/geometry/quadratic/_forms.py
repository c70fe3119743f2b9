"""Z_i - Z_0 as a quadratic form in coordinates of the fitted values (docs/theory.md 4).

The form of one transformation takes inner products of moved columns (`_moved_columns`), and sets
follow from forms (`_sets`). All forms together may not fit into memory, so they come in batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._moved_columns import inner_products, numbers_per_set
from unassuming.geometry.quadratic._residual_products import (
    ByFactor,
    ByTriangle,
    Complement,
    triangle_pays,
)
from unassuming.geometry.quadratic._sets import FREE, Ellipsoids, Sets, whitening
from unassuming.noise import Perturbations

BATCH_BYTES = 2**27
"""The working memory of one batch of sets; a single set may need more."""


@final
@dataclass(frozen=True, eq=False)
class Forms:
    """n (Z_i - Z_0) = c + 2bᵀx - xᵀAx for a batch of s transformations."""

    A: Array  # (s, k, k)
    b: Array  # (s, k)
    c: Array  # (s,)
    empty: BoolArray  # (s,): whether no point satisfies Z_0 ≼ Z_i
    scale: float = 1.0  # largest squared length of the columns of F

    def take(self, which: slice | BoolArray) -> Forms:
        """Return some of the forms."""
        return Forms(self.A[which], self.b[which], self.c[which], self.empty[which], self.scale)

    def sets(self) -> Sets:
        """Return the sets {Z_0 <= Z_i}, diagonalised."""
        return Sets.from_forms(self.A, self.b, self.c, self.empty, self.scale)

    def extents(self, g: Array) -> tuple[Array, Array]:
        """Return the largest gᵀx and the largest -gᵀx over each set, (N, k) -> (N, s) each."""
        # Only sets that are nearly cylinders need eigenvectors.
        sure = (np.diagonal(self.A, axis1=1, axis2=2) > 0).all(axis=1) & ~self.empty
        white, definite = whitening(self.A[sure])
        white, sure[sure] = white[definite], definite
        up, down = np.empty((2, len(g), len(self.A)))
        round_ones = Ellipsoids.from_whitening(white, self.b[sure], self.c[sure])
        up[:, sure], down[:, sure] = round_ones.extents(g)
        up[:, ~sure], down[:, ~sure] = self.take(~sure).sets().extents(g)
        return up, down


@final
@dataclass(frozen=True, eq=False)
class FormMaker:
    """Everything but the coordinates: smoother, residuals of the estimate, transformations, ties.

    All in units of the square roots of the weights, with which the transformations commute.
    """

    q: Array  # (n, k): S = q qᵀ
    residual: Array  # (n,): r̂, zero where it may be rounding alone
    residual_error: Array  # (n,): bounds on its rounding errors
    perturbations: Perturbations
    tie_wins: BoolArray  # (m - 1,): whether a tie between Z_0 and Z_i counts for the candidate

    def batches(self, F: Array) -> Iterator[tuple[slice, Forms]]:
        """Yield the forms for fitted values f̂ + F x, F of shape (n, k), in batches of sets."""
        (n, k), width = F.shape, self.q.shape[1]
        numbers = numbers_per_set(self.perturbations.noise, n, k, width)
        for which in slices(self.perturbations.m - 1, rows_that_fit(BATCH_BYTES, numbers)):
            yield which, self._forms(F, which)

    def all_forms(self, F: Array) -> Forms:
        """Return the forms of all sets at once, (m - 1) k² numbers."""
        parts = [forms for _, forms in self.batches(F)]
        A, b, c, empty = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("A", "b", "c", "empty")
        )
        return Forms(A, b, c, empty, parts[0].scale)

    def _forms(self, F: Array, which: slice) -> Forms:
        Gr, qEr = self.residual + self.moved[which], self.seen[which]
        A, qEF, b = inner_products(self.perturbations.take(which), F, self.q, Gr)
        A -= qEF @ np.swapaxes(qEF, 1, 2)
        b = b - (qEF @ qEr[:, :, None])[:, :, 0]
        c = np.einsum("sk,sk->s", qEr, qEr) + self.margin[which]
        tied = self.tied[which]
        c, b = np.where(tied, 0.0, c), np.where(tied[:, None], 0.0, b)
        scale = float((F**2).sum(axis=0).max(initial=0.0))
        return Forms(A, b, c, tied & ~self.tie_wins[which], scale)

    def complement(self, lines: int) -> Complement:
        """Return the faster way to inner products with I - S, for all sets and that many lines."""
        n, k = self.q.shape
        pays = triangle_pays(n, k, self.perturbations.m - 1, lines)
        return self._triangle if pays else ByFactor(self.q)

    @cached_property
    def _triangle(self) -> ByTriangle:
        """I - S as a triangle, n² numbers."""
        return ByTriangle(self.q)

    @cached_property
    def moved(self) -> Array:
        """E r̂ for every transformation, (m - 1, n); zero where it may be rounding alone."""
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
    def slope(self) -> Array:
        """(I - S)E r̂ + r̂ for every transformation, (m - 1, n): b = (E F)ᵀ times it."""
        return np.asarray(self.moved + self.residual - self.seen @ self.q.T)

    @cached_property
    def margin(self) -> Array:
        """A bound of the rounding error of c = ‖qᵀE r̂‖² where that is small, else 0, (m - 1,)."""
        length = np.linalg.norm(self.moved, axis=1)
        if not self.perturbations.noise.exact_arithmetic:
            length = length + np.linalg.norm(self.residual)
        error = 8 * EPS * sum(self.q.shape) * length + 2 * np.linalg.norm(self.residual_error)
        small = np.linalg.norm(self.seen, axis=1) <= error
        return np.asarray(np.where(small, error**2, 0.0))

    @cached_property
    def tied(self) -> BoolArray:
        """Where Z_i <= Z_0 everywhere, with equality on the free directions, (m - 1,).

        The tie order decides whether the set consists of these or is empty (4, 4.1). This is the
        case if G_i r̂ = r̂, and if Z_i and Z_0 are the same function.
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
        """Which sets are empty, shape (m - 1,)."""
        return np.asarray(self.tied & ~self.tie_wins)

"""Z_i - Z_0 as a quadratic form in coordinates of the fitted values (docs/theory.md 4).

The form of one transformation takes inner products of moved columns (`_moved_columns`), and sets
follow from forms (`_sets`). All forms together may not fit into memory, so they come in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, SEEN, gamma
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic._coordinates import Coordinates
from unassuming.geometry.quadratic._moved_columns import (
    flips_signs,
    inner_products,
    moved_lengths,
    numbers_per_set,
    roundings,
)
from unassuming.geometry.quadratic._residual_products import (
    ByFactor,
    ByTriangle,
    Complement,
    triangle_pays,
)
from unassuming.geometry.quadratic._sets import (
    FREE,
    SURE,
    Ellipsoids,
    FormErrors,
    NormwiseErrors,
    Sets,
)
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
    errors: FormErrors | None = None  # None: not needed, in a search for points that get tested

    def take(self, which: slice | BoolArray) -> Forms:
        """Return some of the forms."""
        parts = (self.A[which], self.b[which], self.c[which], self.empty[which])
        return Forms(*parts, self.scale, self.errors and self.errors.take(which))

    def sets(self) -> Sets:
        """Return the sets {Z_0 <= Z_i}, diagonalised."""
        return Sets.from_forms(self.A, self.b, self.c, self.empty, self.scale)

    def outward(self, limit: float) -> tuple[Ellipsoids, BoolArray]:
        """Return ellipsoids that contain the sets whatever rounding does, and which do.

        ``limit`` is the largest relative error of the form that is accepted.
        """
        assert self.errors is not None
        found, error = Ellipsoids.outward(self.A, self.b, self.c, self.errors)
        return found, np.asarray((error <= limit) & ~self.empty)

    def extents(
        self,
        g: Array,
        limit: float = SURE,
        tolerance: float = SEEN,
        off: Array | None = None,
    ) -> tuple[Array, Array, BoolArray]:
        """Return the largest gᵀx and the largest -gᵀx over each set, (N, k) -> (N, s) each.

        The third result (s,) says which of the sets rounding leaves in no doubt. The others count
        as unbounded, or ignore components of g up to ``tolerance`` of its length in directions that
        never end. The functionals are known to within vectors of length ``off`` (N,).
        """
        up, down = np.empty((2, len(g), len(self.A)))
        found, sure = self.outward(limit)
        assert self.errors is not None
        up[:, sure], down[:, sure] = found.take(sure).extents(g)
        size = tolerance * np.linalg.norm(g, axis=1, keepdims=True)
        doubtful = np.zeros(len(self.A), dtype=np.bool_)
        if (flat := self.errors.flat[sure]).any():
            seen = (np.abs(g) > size).astype(np.float64) @ flat.T > 0
            for bound in (up, down):
                bound[:, sure] = np.where(seen, np.inf, bound[:, sure])
            # A component that may be rounding, in a coordinate that never ends.
            small = ((g != 0) & (np.abs(g) <= size)).astype(np.float64) @ flat.T > 0
            doubtful[sure] = (small & ~seen).any(axis=0)
        if not sure.all():
            # A form that has lost its digits does not tell a bounded set from a cylinder.
            rest = np.where(self.empty[~sure], -np.inf, np.inf)
            up[:, ~sure] = down[:, ~sure] = rest
        if off is not None and off.any():
            longest = np.full(len(self.A), np.inf)
            longest[sure] = np.where(flat.any(axis=1), np.inf, found.take(sure).longest)
            with np.errstate(invalid="ignore"):
                more = np.where(np.isinf(off)[:, None], np.inf, off[:, None] * longest)
            more = np.where((off[:, None] == 0) | self.empty, 0.0, more)
            up, down = up + more, down + more
        return up, down, np.asarray((sure & ~doubtful) | self.empty)


@final
@dataclass(frozen=True, eq=False)
class AccurateResidual:
    """The residual of the estimate as it is, and what keeps that from being the minimum."""

    values: Array  # (n,): r̂, to the last digits
    gradient: Array  # (k,): minus the gradient at the estimate, in whitened coordinates
    gradient_error: Array  # (k,): bounds on its rounding errors
    least: Array  # (n,): the residual at the minimum, zero where it may be rounding alone
    least_error: Array  # (n,): bounds on its rounding errors
    vanishes: Callable[[int], bool]  # whether Z_i - Z_0 is constant
    error: Array  # (n,): bounds on the errors of r̂ where features are rounded


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
    unit: float = 1.0  # in which the residuals are
    accurate: AccurateResidual | None = None  # None: that of the exact estimate, in ``residual``
    sizes: Array | None = None  # (n, k): errors of q are at most EPS times these, |q| by default
    defect: float | None = None  # of the orthonormality of the stacked Q
    lost: float = 0.0  # the length of the error of r̂ in a stream
    exact_tie: Callable[[int], bool | None] | None = None
    """Whether Z_i = Z_0 at the estimate in exact arithmetic; None where that is not known."""
    equal: Array | None = None
    """Numbers of the rows (n,), the same where r̂ is the same in exact arithmetic, zero where it is
    zero; None if only rounding is known."""

    def batches(
        self, F: Array, sizes: Array | None = None, origin: Array | None = None
    ) -> Iterator[tuple[slice, Forms]]:
        """Yield the forms for fitted values f̂ + F x, F of shape (n, k), in batches of sets.

        Errors of F are at most EPS times ``sizes``, |F| by default. ``origin`` (k,) is where the
        minimum is, zero by default.
        """
        (n, k), width = F.shape, self.q.shape[1]
        numbers = numbers_per_set(self.perturbations.noise, n, k, width)
        for which in slices(self.perturbations.m - 1, rows_that_fit(BATCH_BYTES, numbers)):
            yield which, self._forms(F, which, np.abs(F) if sizes is None else sizes, origin)

    def batches_in(self, where: Coordinates) -> Iterator[tuple[slice, Forms]]:
        """Yield the forms in some coordinates."""
        origin = None
        if where.basis is not None and self.accurate is not None:
            origin = where.basis.T @ self.accurate.gradient
        return self.batches(where.F, where.sizes, origin)

    def all_forms(self, F: Array) -> Forms:
        """Return the forms of all sets at once, (m - 1) k² numbers."""
        parts = [forms for _, forms in self.batches(F)]
        A, b, c, empty = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("A", "b", "c", "empty")
        )
        return Forms(A, b, c, empty, parts[0].scale)

    def _forms(self, F: Array, which: slice, sizes: Array, origin: Array | None) -> Forms:
        some, tied = self.perturbations.take(which), self.certain_ties[which]
        exact = self.accurate
        r = self.residual if exact is None else exact.values
        Gr = self.residual + self.moved[which] if exact is None else some.apply(r)
        qEr = self.seen[which] if exact is None else (Gr - r) @ self.q
        A, qEF, b = inner_products(some, F, self.q, Gr)
        own = np.diagonal(A, axis1=1, axis2=2).copy()
        A -= qEF @ np.swapaxes(qEF, 1, 2)
        b = b - (qEF @ qEr[:, :, None])[:, :, 0]
        c = np.einsum("sk,sk->s", qEr, qEr)
        if exact is None:
            c = c + self.margin[which]
        else:  # the estimate is the minimum up to rounding only, and the errors know by how much
            b = b - qEF @ exact.gradient
            c = c + 2 * qEr @ exact.gradient
        errors = self._errors(some, F, sizes, r, own, qEF, qEr)
        # A tied set consists of the free directions through the minimum.
        at = np.zeros(F.shape[1]) if origin is None else origin
        centre = A @ at
        b = np.where(tied[:, None], centre, b)
        c = np.where(tied, -(centre @ at), c)
        scale = float((F**2).sum(axis=0).max(initial=0.0))
        return Forms(A, b, c, tied & ~self.tie_wins[which], scale, errors)

    def _errors(
        self,
        some: Perturbations,
        F: Array,
        sizes: Array,
        r: Array,
        own: Array,
        qEF: Array,
        qEr: Array,
    ) -> FormErrors:
        """Bound the rounding errors of the forms, for rounding errors of F of EPS times ``sizes``.

        A sum of n products is off by at most γ_n times the lengths of its factors. Transformations
        that round have errors of their own.
        """
        n, k = self.q.shape
        if self.defect is not None and not np.isfinite(self.defect):  # q itself is not known
            A, b, c = (np.full(x.shape, np.inf) for x in (own, own, own[:, 0]))
            return FormErrors(A, b, c, np.asarray(own == 0))
        times = 1 if some.noise.exact_arithmetic else 8
        unit, whole = gamma(times * roundings(some, n, F.shape[1])), gamma(times * (n + 8))
        D, off = 2 * moved_lengths(some, F), 2 * EPS * moved_lengths(some, sizes)
        Dq = moved_lengths(some, self.q)
        off_q = EPS * moved_lengths(some, np.abs(self.q) if self.sizes is None else self.sizes)
        R = moved_lengths(some, r[:, None])[:, 0]
        defect = 4 * EPS * (n + k) if self.defect is None else self.defect
        # |δF||F| is bilinear: with a balance τ it is at most (√τ|F| + |δF|/√τ)².
        balance = unit + np.maximum(_ratio(off, D), _ratio(off_q, Dq))[:, None]
        size, root = np.abs(qEF), np.sqrt(balance)
        seen = (size @ (root * Dq + off_q / root)[:, :, None])[:, :, 0]
        A = root * D + off / root + seen
        A += np.sqrt(defect + gamma(k + 2)) * np.linalg.norm(qEF, axis=2)
        # The terms b and c are plain sums of n products.
        least = root[:, 0] + np.sqrt(defect)
        share = least * (whole / unit)
        spread = np.linalg.norm(Dq, axis=1)
        b = A * (share * R * (2 + 2 * spread))[:, None]
        c = 4 * least * share * R**2 * (1 + 2 * spread)
        if self.accurate is not None:
            gradient, error = np.abs(self.accurate.gradient), self.accurate.gradient_error
            at = Dq @ gradient
            b = b + size @ error + whole * D * at[:, None]
            c = c + 2 * np.abs(qEr) @ error + 4 * whole * R * at
            # ‖E δr‖ is at most twice the length of δr in the rows that move.
            lost = 2 * moved_lengths(some, self.accurate.error[:, None])[:, 0]
            seen_r = np.linalg.norm(qEr, axis=1) + np.linalg.norm(gradient + error)
            b = b + 2 * D * lost[:, None]
            c = c + lost * (2 * seen_r + lost)
        if some.rounded is None:
            return FormErrors(A, b, c, np.asarray(own == 0))
        # With X = qᵀEq the forms are A = -X - Xᵀ - XᵀX, b and c with E r. To first order errors of
        # E, of the inner products of q, and of the fitted values enter eight times at most. Errors
        # δr of r enter E r and the gradient, and b = -⟨EF, (I - S)Er + r⟩ by
        # -⟨EF, (I - S)G δr + S δr⟩. For every 0 <= S <= I, ‖(I - S)u + Sv‖² <= ‖u‖² + ‖v‖²: that is
        # at most 2√2‖F‖‖δr‖ < 3‖F‖‖δr‖.
        size_r = float(np.linalg.norm(r))
        off_E, off_F = 8 * some.rounded.error, 16 * some.rounded.turned
        off_r = (off_E + off_F) * size_r / 4 + 3 * self.lost
        c = c + off_r * (2 * np.linalg.norm(qEr, axis=1) + off_r)
        off_A = off_E, off_F, off_F**2 / 16
        normwise = NormwiseErrors(F, off_A, (off_E * size_r + 3 * self.lost, off_F * size_r))
        # Sums that are zero may have underflowed. A transformation that keeps the first coordinate,
        # a shift, keeps it without rounding; so does one that keeps everything.
        still, flat = some.rounded.still, np.asarray(own == 0)
        flat[:, 1:] &= still.all(axis=1, keepdims=True)
        flat[:, 0] &= still[:, 0]
        return FormErrors(A, b, c, flat, normwise)

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
        tied = np.asarray(~self.moved.any(axis=1) | self._known_ties)
        for i in np.flatnonzero((self.margin > 0) & ~tied):
            one = self.perturbations.take(slice(i, i + 1))
            Eq = one.apply(self.q.T)[:, 0, :] - self.q.T  # (k, n)
            size = float((Eq**2).sum(axis=1).max(initial=0.0))
            A = Eq @ Eq.T - (Eq @ self.q) @ (Eq @ self.q).T
            # Errors of the products, and of the columns, which are not quite orthonormal.
            cut = 4 * gamma(sum(self.q.shape) + 8) + 4 * (self.defect or 0.0)
            tied[i] = np.abs(A).max(initial=0.0) <= min(cut, FREE) * size
        return tied

    @cached_property
    def certain_ties(self) -> BoolArray:
        """Where Z_i <= Z_0 everywhere beyond doubt, (m - 1,): where Z_i = Z_0 at the estimate."""
        tied = self._ties_by_rounding() | self._known_ties
        if self.exact_tie is not None:
            for i in np.flatnonzero(self.tied | (self.margin > 0) | tied):
                known = self.exact_tie(int(i))
                tied[i] = tied[i] if known is None else known
        return tied

    @property
    def _known_ties(self) -> BoolArray:
        """Where the rows of a stream have shown that Z_i = Z_0 for every candidate, (m - 1,)."""
        known = self.perturbations.rounded
        return np.zeros(self.perturbations.m - 1, dtype=np.bool_) if known is None else known.ties

    def _ties_by_rounding(self) -> BoolArray:
        """Where Z_i = Z_0 at the estimate up to rounding of double precision, (m - 1,)."""
        exact = self.accurate
        if exact is None and self.equal is not None:
            return np.asarray((self.perturbations.apply(self.equal) == self.equal).all(axis=1))
        if exact is None:
            return self.tied
        if not self.perturbations.noise.exact_arithmetic:  # a rotation moves all but zero
            zero = not (exact.least.any() or exact.least_error.any())
            return np.full(self.perturbations.m - 1, zero)
        if not self.residual.any():  # an exact fit, up to the rounding of the data
            return self.tied
        if flips_signs(self.perturbations.noise):
            tied = moved_lengths(self.perturbations, exact.least[:, None] != 0)[:, 0] == 0
        else:
            Er = self.perturbations.apply(exact.least) - exact.least
            slack = np.abs(self.perturbations.apply(exact.least_error)) + exact.least_error
            tied = (np.abs(Er) <= slack).all(axis=1)
        for i in np.flatnonzero((self.margin > 0) & ~tied):
            tied[i] = exact.vanishes(int(i))
        return np.asarray(tied)

    @property
    def certainly_not_empty(self) -> BoolArray:
        """Which sets have points beyond doubt, (m - 1,), rounding of the data included."""
        return np.asarray(self.tie_wins | ~(self.tied | self.certain_ties))

    @property
    def certainly_empty(self) -> BoolArray:
        """Which sets have no point beyond doubt, shape (m - 1,)."""
        return np.asarray(self.certain_ties & ~self.tie_wins)

    @property
    def without_points(self) -> BoolArray:
        """Which sets are empty, shape (m - 1,)."""
        return np.asarray(self.tied & ~self.tie_wins)


def _ratio(off: Array, length: Array) -> Array:
    """Return the largest ratio of errors to lengths, (s, k) each -> (s,)."""
    return np.asarray((off / np.where(length > 0, length, np.inf)).max(axis=1, initial=0.0))

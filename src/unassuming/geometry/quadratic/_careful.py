"""Sets {Z_0 <= Z_i} of features, one at a time, where the quadratic form has lost its digits.

For signs nothing cancels if the rows J that change sign and the others are kept apart. With the
least squares solutions θ_J and θ_K of the two halves (the penalty belongs to the second) and the
inner products G_J and G_K of their rows,

    E_i = {a : (a - θ_J)ᵀ P (a - θ_K) <= 0},      P⁻¹ = G_J⁻¹ + G_K⁻¹,

the ellipsoid whose diameter, in the metric P, joins the two solutions. Other transformations take
the factor of the part of the moved columns that is orthogonal to the design.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import final

import numpy as np
from numpy.linalg import norm
from scipy.linalg import qr

from unassuming._factors import Factor, factor, lower_solved
from unassuming._products import exact_difference
from unassuming._rounding import EPS, gamma, length, powers_of_two
from unassuming._typing import Array
from unassuming.geometry.quadratic._moved_columns import flips_signs
from unassuming.geometry.quadratic._sets import Ellipsoids
from unassuming.noise import Perturbations
from unassuming.objectives import FeatureWhitening, Quadratic

FINE = 1e-7
"""A relative error of a form above which its set is computed with care."""


@final
@dataclass(frozen=True, eq=False)
class CarefulSet:
    """{C(centre + radius u) : ‖u‖ <= 1}, and free directions; C is a product of factors."""

    parts: tuple[Factor, ...]
    centre: Array
    measure: Callable[[], float]
    known: tuple[Factor, ...]  # factors whose null vectors are the free directions
    unseen: int  # the number of independent directions that change no fitted value at all
    dimension: int | None = None  # that of the free directions without rounding, if it is known
    before: Factor | None = None  # the coordinates that the parts refer to, if not coefficients

    @cached_property
    def radius(self) -> float:
        """The radius, measured when it is first used."""
        return self.measure()

    @property
    def decided(self) -> bool:
        """Whether double precision determines the set."""
        if not all(part.decided for part in self.parts):
            return False
        if self.dimension is not None and self.dimension != self._dimension:
            return False
        # A direction that may be free has to be one that is.
        if self.before is None:
            return True
        if not self.before.decided:
            return False
        lost = self.before.null.shape[1] + sum(part.null.shape[1] for part in self.parts)
        return bool(lost == self._dimension)

    @cached_property
    def _dimension(self) -> int:
        """The number of independent free directions."""
        unit = np.max([part.unit for part in self.known], axis=0)  # one for all: directions are one
        null = np.hstack([part.null for part in self.known]) * unit[:, None]
        return len(null) - len(_complement(null)) if null.shape[1] else 0

    @property
    def bounded(self) -> bool:
        """Whether it is certainly bounded, as far as fitted values change."""
        return self.decided and self._dimension == self.unseen

    @property
    def everything(self) -> bool:
        """Whether every direction is free."""
        return self.decided and self._dimension == len(self.known[0].null)

    def free(self) -> Array:
        """Return free directions in the coefficients, (d, f)."""
        return np.hstack([part.null for part in self.known])

    def extents(self, g: Array) -> tuple[Array, Array]:
        """Return the largest gᵀ(a - â) and the largest -gᵀ(a - â), for g (N, d), (N,) each."""
        if not self.decided:
            return np.full(len(g), np.inf), np.full(len(g), np.inf)
        blind = np.logical_and.reduce([part.blind(g) for part in self.known])
        g = g if self.before is None else self.before.turn(g)
        if not blind.any() or not np.isfinite(self.radius):
            return np.full(len(g), np.inf), np.full(len(g), np.inf)
        t = np.hstack([part.turn(g) for part in self.parts])
        half, middle = self.radius * length(t), t @ self.centre
        return np.where(blind, half + middle, np.inf), np.where(blind, half - middle, np.inf)

    def whitened(self, sets: CarefulSets) -> Ellipsoids:
        """Return a bounded set in coordinates √n H^{1/2}(a - â).

        The images of factors are accurate; the factors themselves, rounded, need not be.
        """
        if self.before is not None:  # whitened coordinates are what the parts refer to
            turned = np.sqrt(len(sets.root)) * np.hstack([part.basis for part in self.parts])
        else:
            turned = sets.in_whitened(self.parts)[0]
        turned = sets.seen.T @ turned
        centre = turned @ self.centre
        return Ellipsoids(centre[None], self.radius * turned[None])


@final
@dataclass(frozen=True, eq=False)
class CarefulSets:
    """Everything that the sets of one region are made of."""

    Phi: Array  # (n, d)
    root: Array  # (n,): W^{1/2}
    penalty: Array  # (d,): the root of the diagonal of nλP
    residual: Array  # (n,): W^{1/2} r̂
    estimate: Array  # (d,): â, in the units of the residual
    white: FeatureWhitening
    seen: Array  # (k, r): the whitened directions that change fitted values
    perturbations: Perturbations
    computed: bool = False  # whether columns that depend up to rounding count as dependent
    _made: dict[int, CarefulSet] = field(default_factory=dict)

    @classmethod
    def of(
        cls, o: Quadratic, residual: Array, estimate: Array, perturbations: Perturbations
    ) -> CarefulSets | None:
        """Return the sets of an objective; None if it has no features or rotations round."""
        if not isinstance(o.whitening, FeatureWhitening) or o.design.rounding:
            return None
        if not perturbations.noise.exact_arithmetic:
            return None
        penalty = np.sqrt(o.n * o.lam * np.diag(o.design.penalty_matrix()))
        parts = (o.design.matrix, np.sqrt(o.w), penalty, residual, estimate)
        return cls(*parts, o.whitening, o.seen, perturbations, o.design.computed)

    def one(self, i: int) -> CarefulSet:
        """Return the i-th set, made once."""
        if i not in self._made:
            halves = flips_signs(self.perturbations.noise)
            self._made[i] = self._halves(i) if halves else self._moved(i)
        return self._made[i]

    def _halves(self, i: int) -> CarefulSet:
        J = self.perturbations.take(slice(i, i + 1)).apply(np.ones(len(self.root)))[0] < 0
        held = self.penalty != 0
        others = np.vstack([self.Phi[~J], np.eye(len(held))[held]])
        weights = np.append(self.root[~J], self.penalty[held])
        rest = np.append(self.residual[~J], -(self.penalty * self.estimate)[held])
        halves = (self.Phi[J], self.root[J]), (others, weights)
        parts = tuple(factor(M, root=w, given=self._given(M)) for M, w in halves)
        centre, off = zip(
            *(_projected(*pair) for pair in zip(parts, (self.residual[J], rest), strict=True)),
            strict=True,
        )
        ends = np.append(centre[0], -centre[1])
        slim = parts[0].without_columns(), parts[1].without_columns()
        radius = partial(self._radius, slim, ends, sum(off))
        unseen = self.white.null.shape[1]
        # What is free in both halves is null in the stacked design.
        free = sum(part.null.shape[1] for part in parts) - self.white.factor.null.shape[1]
        return CarefulSet(slim, np.append(*centre) / 2, radius, slim, unseen, free)

    def _given(self, *parts: Array) -> tuple[Array, ...]:
        """Return what a matrix is the sum of, if its columns are to be taken as they are."""
        return () if self.computed else parts

    def in_whitened(self, parts: tuple[Factor, ...]) -> tuple[Array, Array]:
        """Return the coordinates of factors in coordinates √n H^{1/2}(a - â), and error sizes."""
        white, scale = self.white, np.sqrt(len(self.root))
        C = np.hstack([part.basis for part in parts])
        images = [
            lower_solved(part.lower, part.image(self.Phi, root=self.root)[0]) for part in parts
        ]
        moved, push = np.hstack(images), scale * white.push
        size = white.sizes.T @ np.abs(moved) + np.abs(push) @ np.abs(C)
        return white.q.T @ moved + push @ C, (gamma(sum(moved.shape)) / EPS + 4) * size

    def _radius(self, parts: tuple[Factor, Factor], ends: Array, off: float) -> float:
        """Return half the distance of the two solutions in the metric P, rounded outward."""
        length, share = float(norm(ends)), _relative(*parts)
        half = min(self._diameter(parts, ends), length) * (1 + share) / 2
        return float(half + off + share * length)

    def _diameter(self, parts: tuple[Factor, Factor], ends: Array) -> float:
        """Return the distance of the two solutions in the metric P.

        It is the length of the projection of the solutions, each in the coordinates of its half, on
        the functionals that no free direction changes.
        """
        null = np.hstack([part.null for part in parts])
        if null.shape[1]:
            unit = powers_of_two(np.abs(self.root[:, None] * self.Phi).max(axis=0))
            g = _complement(null * unit[:, None]) * unit
            turned = np.hstack([part.turn(g) for part in parts])
            # The functionals are rounded, and long coordinates magnify that.
            long = np.hstack([np.abs(g) @ np.abs(part.basis) for part in parts])
            sizes = 2 * np.abs(turned) + long
        elif self.white.factor.decided:
            turned, sizes = self.in_whitened(parts)
        else:
            return np.inf
        found = factor(turned.T, sizes.T)
        if not (found.decided and all(part.certain for part in parts)):
            return np.inf
        value, off = _projected(found, ends)
        return float(norm(value) + off + found.error * norm(ends))

    def _moved(self, i: int) -> CarefulSet:
        some, white = self.perturbations.take(slice(i, i + 1)), self.white.factor
        n, scale = len(self.root), np.sqrt(len(self.root))
        # Differences of rows, to the last digit: nearly dependent columns need them.
        GPhi = some.apply(self.Phi.T)[:, 0].T
        EPhi, rest = exact_difference(GPhi, self.Phi)
        found, off = white.image(EPhi, rest, root=self.root / scale)
        EF = lower_solved(white.lower, found)
        sizes = np.abs(EF) + off / EPS
        q, low = white.columns[:n], white.columns[n:]
        K = q.T @ EF
        B = np.vstack([EF - q @ K, -low @ K])
        both = np.abs(white.columns)
        size = both @ np.abs(K) + both.sum(axis=1, keepdims=True) * norm(EF, axis=0)
        size *= scale
        size[:n] += sizes
        part = factor(B, size)
        r = self.residual / scale
        Gr = some.apply(r)[0]
        below = -self.penalty * self.estimate / scale
        value, error = _projected(part, np.append(Gr, below))
        u = q.T @ (Gr - r)
        gradient = q.T @ r + low.T @ below
        length = norm(r) + norm(below)
        error += (_relative(part, white) + EPS * scale) * length
        rho = max(float(u @ u + 2 * u @ gradient + value @ value), 0.0)
        radius = np.sqrt(rho + error * length) + error
        slim, slim_white = part.without_columns(), white.without_columns()
        known: tuple[Factor, ...] = (slim_white,)
        if part.null.shape[1]:
            # Columns stay as they are, or change sign, which matters to the penalty only.
            terms = np.abs(GPhi) + np.abs(self.Phi)
            known = (factor(EPhi, terms, given=self._given(GPhi, -self.Phi)).without_columns(),)
            if not self.penalty.any():
                turned = factor(GPhi + self.Phi, terms, given=self._given(GPhi, self.Phi))
                known = (*known, turned.without_columns())
        unseen = self.white.null.shape[1]
        return CarefulSet((slim,), value, partial(float, radius), known, unseen, None, slim_white)


def _relative(*parts: Factor) -> float:
    """Return a relative error of lengths and projections in the coordinates of some factors."""
    return 2 * sum(part.error for part in parts) + 64 * EPS


def _projected(part: Factor, r: Array) -> tuple[Array, float]:
    """Return the coordinates of a vector along the columns, and a bound on their rounding error."""
    error = (gamma(len(r) + 4) + EPS) * norm(part.sizes.T @ np.abs(r))
    return part.columns.T @ r, float(error)


def _complement(null: Array) -> Array:
    """Return functionals (N, d) that vanish on some vectors (d, f)."""
    length = np.abs(null).max(axis=0)
    q, r, _ = qr(null / np.where(length > 0, length, 1.0), pivoting=True)
    size = np.abs(np.diag(r))
    rank = int((size > 1e-10 * size[0]).sum())
    return np.asarray(q[:, rank:].T)

"""The sets E_i = {Z_0 <= Z_i} as ellipsoids or ellipsoidal cylinders (docs/theory.md 4).

Everything here is in coordinates x with fitted values f̂ + F x, in units of the square roots of the
weights. With the smoother S and E = G_i - I,

    n (Z_i - Z_0) = c + 2 bᵀx - xᵀA x,      A = FᵀEᵀ(I - S)E F,
    b = FᵀEᵀ((I - S)E r̂ + r̂),              c = (E r̂)ᵀS(E r̂),

so E_i = {xᵀA x - 2bᵀx <= c}. A is positive semidefinite for every orthogonal G_i; its null space
holds the free directions of the cylinder.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from scipy.linalg.lapack import dtrtri

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, SEEN, gamma, powers_of_two
from unassuming._typing import Array, BoolArray

FREE = 1e-11
"""Eigenvalues of A below this share of the scale of F count as zero: free directions.

A direction that is so nearly free is reported as free. This errs on the honest side: a bound may
be infinite where a finite one exists but cannot be computed, never the other way round. Features
have their forms from `Ellipsoids.outward` or from `_careful`, which do not use this number. It
serves in searches for points, which get tested, and for kernels."""

_BLOCK_BYTES = 2**19
"""The size of one block of turned functionals: it stays in the cache."""
_POINT = 1e-280
"""Squared axes below this are zero."""
SURE = 1e-3
"""A relative error ω up to which a form is rounded outward; a larger one is not certain.

The outward rounding holds for every ω up to 1/2, so this number decides what is left undecided, not
what is certified."""


class NormwiseErrors(NamedTuple):
    """Bounds on the errors of all forms of a stream, by the lengths of Fx and x.

    |xᵀδAx| <= A_0 ‖Fx‖² + A_1 ‖Fx‖‖x‖ + A_2 ‖x‖² and |δbᵀx| <= b_0 ‖Fx‖ + b_1 ‖x‖.
    """

    F: Array  # (n, k)
    A: tuple[float, float, float]
    b: tuple[float, float]

    def within(self, white: Array) -> tuple[Array, Array]:
        """Return bounds of both for x = whiteᵀz, ‖z‖ = 1, for white (s, k, k), (s,) each."""
        triangle = np.linalg.qr(self.F)[1]
        moved = np.linalg.norm(white @ triangle.T, 2, axis=(1, 2))
        length = np.linalg.norm(white, 2, axis=(1, 2))
        A = self.A[0] * moved**2 + self.A[1] * moved * length + self.A[2] * length**2
        return A, self.b[0] * moved + self.b[1] * length

    def inside(self, V: Array) -> NormwiseErrors:
        """Return the bounds for x = Vz, with V (k, r) an orthonormal basis of some x."""
        return NormwiseErrors(self.F @ V, self.A, self.b)


@final
@dataclass(frozen=True, eq=False)
class FormErrors:
    """Bounds on the rounding errors of the forms xᵀAx - 2bᵀx <= c of s sets."""

    A: Array  # (s, k): |δA_jl| is at most the product of entries j and l
    b: Array  # (s, k)
    c: Array  # (s,)
    flat: BoolArray  # (s, k): coordinates in which nothing moves, so that A and b are zero
    normwise: NormwiseErrors | None = None  # further errors, of every A and b

    @property
    def finite(self) -> BoolArray:
        """Which sets have errors that are known at all, (s,)."""
        return np.asarray(np.isfinite(self.A.sum(axis=1) + self.b.sum(axis=1) + self.c))

    def without(self, which: BoolArray) -> FormErrors:
        """Return the errors with zeros for some sets."""
        A, b, c = (np.where(which, 0.0, x.T).T for x in (self.A, self.b, self.c))
        return FormErrors(A, b, c, self.flat, self.normwise)

    def take(self, which: slice | BoolArray) -> FormErrors:
        """Return the errors of some sets."""
        parts = (self.A[which], self.b[which], self.c[which], self.flat[which])
        return FormErrors(*parts, self.normwise)


@final
@dataclass(frozen=True, eq=False)
class Ellipsoids:
    """A batch of s ellipsoids {centre + root u : ‖u‖ <= 1} in k coordinates, flat ones included."""

    centre: Array  # (s, k)
    root: Array  # (s, k, k)

    @classmethod
    def outward(cls, A: Array, b: Array, c: Array, errors: FormErrors) -> tuple[Ellipsoids, Array]:
        """Make ellipsoids that contain the sets whatever the rounding errors of the forms are.

        The second result bounds the relative errors of the forms; above 1e-3, and infinite where A
        may not be definite, the ellipsoid is meaningless. Flat coordinates are left out.

        A is scaled to a unit diagonal, by powers of two. With A = LLᵀ and |δA| <= e eᵀ the relative
        error of xᵀAx is at most (Σ e_j ‖L⁻¹_j‖)², L⁻¹_j a column of L⁻¹, since x = L⁻ᵀz has entries
        of at most ‖L⁻¹_j‖ ‖z‖. Cholesky's method adds γ_{k+1} |L||Lᵀ|, with rows of L of length one
        or less. The computed inverse M is off by ‖ML - I‖ relative to z. For ω <= 1/2 the true form
        is at least 1 - ω times A, so lengths grow by at most 1 + ω.
        """
        k = A.shape[-1]
        diagonal = np.diagonal(A, axis1=1, axis2=2)
        open_, known = ~errors.flat, errors.finite
        errors = errors if known.all() else errors.without(~known)
        sane = np.asarray((open_ <= (diagonal > 0)).all(axis=1)) & known
        unit = np.where(open_ & (diagonal > 0), diagonal, 1.0)
        unit = np.where(open_, 1.0 / powers_of_two(np.sqrt(unit)), 0.0)
        scaled = A * unit[:, :, None] * unit[:, None, :]
        scaled[:, range(k), range(k)] += ~open_
        white, lower, definite = _inverse_roots(scaled, sane)
        lengths = np.einsum("skl,skl->sl", white, white)
        columns = np.sqrt(lengths)
        spread = (columns * errors.A * unit).sum(axis=1)
        inverse = np.linalg.norm(white @ lower - np.eye(k), axis=(1, 2))
        sizes = np.linalg.norm(columns, axis=1) * np.linalg.norm(lower, axis=(1, 2))
        omega = spread**2 + gamma(2 * k + 8) * columns.sum(axis=1) ** 2
        omega = omega + 2 * (inverse + gamma(k + 2) * sizes)
        white = white * unit[:, None, :]
        off_A, off_b = (0.0, 0.0) if errors.normwise is None else errors.normwise.within(white)
        omega = omega + off_A
        omega = np.where(definite, omega * (1 + 8 * k * EPS), np.inf)
        own = (white @ b[:, :, None])[:, :, 0]
        length = np.linalg.norm(own, axis=1)
        moved = 2 * (columns * errors.b * unit).sum(axis=1) + 2 * off_b
        w = np.where(omega <= SURE, omega, 0.0)
        moved = moved + 2 * w * length
        rho = np.maximum(c + length**2, 0.0) + errors.c + (2 * length + moved) * moved
        radius = (np.sqrt(rho) * (1 + w) + moved) * (1 + 8 * EPS)
        root = np.swapaxes(white, 1, 2)
        centre = (root @ own[:, :, None])[:, :, 0]
        return cls(centre, root * radius[:, None, None]), omega

    def take(self, which: BoolArray) -> Ellipsoids:
        """Return some of the ellipsoids."""
        return self if which.all() else Ellipsoids(self.centre[which], self.root[which])

    @property
    def longest(self) -> Array:
        """A bound of ‖x‖ over each, (s,)."""
        half = np.linalg.norm(self.root, axis=(1, 2))
        return np.asarray(np.linalg.norm(self.centre, axis=1) + half)

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


def _inverse_roots(A: Array, sane: BoolArray) -> tuple[Array, Array, BoolArray]:
    """Return L⁻¹ and L with A = LLᵀ, and for which matrices they exist; the identity elsewhere."""
    eye = np.broadcast_to(np.eye(A.shape[-1]), A.shape)
    A = np.where(sane[:, None, None], A, eye)
    try:
        lower, definite = np.linalg.cholesky(A), sane
    except np.linalg.LinAlgError:  # numpy does not say which one is not definite
        lower, definite = eye.copy(), np.zeros_like(sane)
        for i in np.flatnonzero(sane):
            with suppress(np.linalg.LinAlgError):
                lower[i] = np.linalg.cholesky(A[i])
                definite[i] = True
    inverse = np.empty_like(lower)
    for one, triangle in zip(inverse, lower, strict=True):
        one[:] = dtrtri(triangle, lower=1)[0]
    return inverse, np.asarray(lower), definite


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

    @classmethod
    def of_ellipsoids(cls, some: Ellipsoids) -> Sets:
        """Diagonalise ellipsoids; short axes are lengthened by rounding."""
        k = some.root.shape[1]
        squares, basis = np.linalg.eigh(some.root @ np.swapaxes(some.root, 1, 2))
        squares = np.maximum(squares, 0.0) + 4 * k * EPS * squares[:, -1:]
        point = squares[:, -1] < _POINT
        w = 1.0 / np.where(point[:, None], 1.0, squares)
        centre = (some.centre[:, None, :] @ basis)[:, 0, :]
        c = np.where(point, 0.0, 1.0) - (w * centre**2).sum(axis=1)
        return cls(w, basis, w * centre, c, np.zeros(len(w), dtype=np.bool_))

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

    @property
    def longest(self) -> Array:
        """A bound of ‖x‖ over each set, (s,): infinite if it never ends, zero if it is empty."""
        w = np.where(self.free, np.inf, self.w)
        half = np.sqrt(np.maximum(self.radius, 0.0) / w.min(axis=1))
        length = np.linalg.norm(self.b / w, axis=1) + half
        return np.where(self.empty, 0.0, np.where(self.bounded, length, np.inf))

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

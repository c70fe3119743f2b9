"""Bounds of the rounding errors of sums over rows, derived step by step.

Write Z (n, k) for the rows, d_j for the lengths of their columns, G_i for the transformations,
which are isometries, and γ_t for the relative error of t roundings (`gamma`). The matrices δ below
are errors; ‖·‖ is the spectral norm, which the Frobenius norm bounds.

**Sums of products.** `blocked` adds up blocks of b = `BLOCK` rows and then the blocks. Each product
goes through t = b + (number of blocks) roundings at most, so a sum of products is off by γ_t times
the sum of their absolute values. By Cauchy and Schwarz

    |δ(ZᵀZ)_ab| <= γ_t d_a d_b,      |δ(Zᵀ(G_i - I)Z)_ab| <= 2 γ_(t+1) d_a d_b,

since -2 Σ z_a z_b over the rows that change sign is at most 2 d_a d_b, and so is |z_a||G_i z_b -
z_b|, whose difference is one more rounding. Sums of two parts have the larger of the two factors,
since d_a d_b of all rows is at least the sum of those of the parts (Cauchy and Schwarz), and one
rounding more. These factors are ``defect`` and ``moved`` of `Errors` in the plain form.

**Orthonormal form.** There are matrices Q and F with

    Z = QR + F,    ‖QᵀQ - I‖ <= defect,    ‖E_i - Qᵀ(G_i - I)Q‖ <= moved,    ‖F_j‖ <= lengths_j.

*From products* (`of_triangle`). With Q = Z R⁻¹ nothing is left: F = 0. Cholesky's method has a
backward error of γ_(k+1)|Rᵀ||R| <= γ_(k+1) d_a d_b. A matrix of errors |δ_ab| <= η d_a d_b becomes
R⁻ᵀδR⁻¹, of norm η v at most, v = ‖|R⁻ᵀ|d‖². A triangular system with a row x as its solution has a
backward error γ_(k+2)|R|, so the solution is off by γ_(k+2)|x||R||R⁻¹|. With κ = ‖|R||R⁻¹|‖ this
is, for X_i = Zᵀ(G_i - I)Q with rows of length 2 d_a and then for E_i with ‖E_i‖_F <= 2√k, together
2 γ_(k+2) κ (√v + √k).

*From rows* (`of_rows`). Householder's Q and R are checked once they are there: ‖QᵀQ - I‖ and the
lengths of F = Z - QR are computed, with bounds of the errors of this computation. The sums E_i are
off by 2k γ_t, as above with d = 1. With an intercept z_0 the columns are Z = Z' + z_0 cᵀ, and Z' is
factored. Then q_0 is taken to be z_0 / R_00 without rounding, so that F_0 = 0 and no error is
multiplied by the means c: for the share s = ‖F_0‖ / R_00 of Householder's q_0 that costs 2s in
QᵀQ, 4s in E_i and s|R_0j| in F_j. The rounding errors of Z' and of R are computed themselves.

*Weights.* The rows are √w times those given, and both the root and each product are rounded. The
factor of a row changes all of its numbers alike, an intercept included: it multiplies the rows of Q
by 1 + u at most, which costs 2u in QᵀQ and 4u in E_i. The rounding of the products costs u d_j in
F_j, but nothing in F_0 for an intercept, as z_0 is the root itself. A product of columns goes
through four roundings more.

*Joined parts* (`joined`). [R_1; R_2] = QR + F as above, in coordinates of the two bases. The
products QᵀE_iQ, two of k terms and a sum, are off by 2 γ_(k+1) |Q|ᵀ|E_i||Q|, entry by entry.
Where G_i z_0 = z_0, the first row and column of E_i are zero, since q_0 is a multiple of z_0.

Products of errors are far below the hundredth that is added to every bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import solve_triangular

from unassuming._products import exact_difference, exact_product, exact_sum, inner_products
from unassuming._rounding import EPS, TINY, UNIT, column_lengths, gamma, length, powers_of_two
from unassuming._typing import Array

BLOCK = 256
"""Rows whose products are added in one sum: fewer give smaller errors, but slow matrix products."""
_MORE = 1.01
UNKNOWN = 1.0
"""The largest error: it leaves everything open."""


@final
@dataclass(frozen=True, eq=False)
class Errors:
    """Bounds for the sums of a part, in its form: see the module."""

    defect: float
    moved: float
    lengths: Array  # (k,)

    @classmethod
    def of_products(cls, count: int, k: int, *, weighted: bool = False) -> Errors:
        """Return those of plain sums over so many rows, in blocks."""
        terms = _terms(count) + 4 * weighted
        return cls(gamma(terms), 2 * gamma(terms + 1), np.zeros(k))

    @classmethod
    def of_rows(cls, Z: Array, Q: Array, R: Array) -> Errors:
        """Return those of Z = QR alone, before anything is summed."""
        seen = Q.any(axis=0)  # with fewer rows than columns the last are zero
        gram, error = inner_products(Q)
        defect = float(np.linalg.norm(gram - np.diag(seen.astype(np.float64)))) + error
        return cls(_MORE * defect, 0.0, _MORE * _lengths_left(Z, Q, R))

    def shifted(self, R: Array, lost: Array) -> Errors:
        """Return those with q_0 = z_0 / R_00; ``lost`` are the errors of shifting the columns."""
        share = float(self.lengths[0] / max(abs(R[0, 0]), TINY))
        lengths = self.lengths + _MORE * (share * np.abs(R[0]) + lost)
        lengths[0] = 0.0
        return Errors(self.defect + _MORE * 2 * share, self.moved + _MORE * 4 * share, lengths)

    def with_roots(self, Z: Array, *, intercept: bool) -> Errors:
        """Return those of rows Z that were multiplied by the roots of weights."""
        lengths = column_lengths(Z)
        smallest = np.sqrt(len(Z)) * EPS * TINY  # of products without all their digits
        lost = np.where(lengths > 0, UNIT * lengths + smallest, 0.0)
        lost[: int(intercept)] = 0.0
        defect, moved = self.defect + _MORE * 2 * UNIT, self.moved + _MORE * 4 * UNIT
        return Errors(defect, moved, self.lengths + _MORE * lost)

    def of_sums(self, count: int) -> Errors:
        """Return those of QᵀG_iQ as sums over so many rows."""
        more = 2 * len(self.lengths) * gamma(_terms(count) + 1)
        return Errors(self.defect, self.moved + _MORE * more, self.lengths)

    def added(self, other: Errors) -> Errors:
        """Return those of the sum of two plain parts."""
        defect, moved = max(self.defect, other.defect), max(self.moved, other.moved)
        return Errors(defect + _MORE * UNIT, moved + _MORE * 2 * UNIT, self.lengths)

    def of_triangle(self, R: Array) -> Errors:
        """Return those of plain sums whose columns are made orthonormal, Z = QR."""
        k = len(R)
        inverse = np.abs(solve_triangular(R, np.eye(k)))
        root = float(np.linalg.norm(length(R.T) @ inverse))  # √v
        solved = 2 * gamma(k + 2) * float(np.linalg.norm(np.abs(R) @ inverse))
        defect = (self.defect + gamma(k + 1)) * root**2
        moved = self.moved * root**2 + solved * (root + np.sqrt(k))
        return Errors(_MORE * defect, _MORE * float(moved), self.lengths)

    def joined(self, other: Errors, own: Errors, terms: Array) -> Errors:
        """Return those of two orthonormal parts; see `turned`."""
        lengths = np.hypot(self.lengths, other.lengths)
        defect, moved = max(self.defect, other.defect), max(self.moved, other.moved)
        return Errors(defect, moved, lengths).turned(own, terms)

    def turned(self, own: Errors, terms: Array) -> Errors:
        """Return those in another basis; ``own`` are those of the triangle as rows in it.

        ``terms`` are `sizes_between` of the products.
        """
        size, rounded = 1 + own.defect, 2 * gamma(len(self.lengths) + 1)
        defect = own.defect + self.defect * size
        rounded *= float(np.linalg.norm(terms))
        moved = self.moved * size + own.moved + _MORE * rounded
        lengths = self.lengths + np.sqrt(1 + self.defect) * own.lengths
        return Errors(min(defect, UNKNOWN), min(moved, UNKNOWN), lengths)


def sizes_between(products: Array, Q: Array) -> Array:
    """Return bounds of |Q|ᵀ|E_i||Q| for all E_i (s, k, k), shape (h, h)."""
    Q = np.abs(Q)
    return np.asarray(Q.T @ (np.abs(products).max(axis=0, initial=0.0) @ Q))


def shift(Z: Array) -> tuple[Array, Array, Array]:
    """Return columns Z - z_0 cᵀ, c, and the lengths of the rounding errors.

    c are the columns of the row with the largest z_0, divided by it: numbers of one row have no
    errors of sums.
    """
    heaviest = Z[np.abs(Z[:, 0]).argmax()]
    c = heaviest / heaviest[0]
    c[0] = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        level, off = exact_product(Z[:, :1], c)
        moved, more = exact_difference(Z, level)
        lost = column_lengths(more - off)
        most = UNIT * (column_lengths(moved) + 2 * column_lengths(level))
    return moved, c, np.where(np.isfinite(lost), lost, most)


def weighted(rows: Array, weight: Array) -> Array:
    """Return rows times the roots of their weights, in one memory layout.

    Products may round differently in another one.
    """
    return np.ascontiguousarray(rows * np.sqrt(weight)[:, None])


def unshift(R: Array, c: Array) -> tuple[Array, Array]:
    """Return R + R_00 e_0 cᵀ, and the rounding errors: only the first row changes."""
    with np.errstate(over="ignore", invalid="ignore"):
        level, off = exact_product(R[0, 0], c)
        first, more = exact_sum(R[0], level)
        lost = np.abs(more + off)
        most = UNIT * (np.abs(first) + 2 * np.abs(level))
    R = R.copy()
    R[0] = first
    return R, np.where(np.isfinite(lost), lost, most)


def _lengths_left(Z: Array, Q: Array, R: Array) -> Array:
    """Return bounds of the lengths of the columns of Z - QR.

    Q and R are cut to so few bits that their product is exact. What this leaves of Q and R is
    2^-bits of them, and so are the rounding errors of its products.
    """
    k = Q.shape[1]
    bits = (50 - k.bit_length()) // 2
    unit = powers_of_two(np.abs(R).max(axis=0))
    with np.errstate(over="ignore", invalid="ignore"):
        high, top = (np.ldexp(np.rint(np.ldexp(x, bits)), -bits) for x in (Q, R / unit))
        rest = (Z / unit - high @ top) - (high @ (R / unit - top) + (Q - high) @ (R / unit))
        error = np.ldexp(gamma(2 * k + 4), 2 - bits) * column_lengths(np.abs(Q) @ np.abs(R / unit))
        return np.asarray((column_lengths(rest) + error) * unit)


def _terms(count: int) -> int:
    """Return the number of roundings of sums over so many rows, in blocks."""
    return min(count, BLOCK) - (-count // BLOCK)


def blocked(left: Array, right: Array) -> Array:
    """Return left (a, n) times right (n, b), added in blocks of rows.

    Examples
    --------
    >>> blocked(np.ones((1, 1000)), np.ones((1000, 2)))
    array([[1000., 1000.]])
    """
    a, n = left.shape
    blocks, b = n // BLOCK, right.shape[1]
    if n <= BLOCK:
        return np.asarray(left @ right)
    whole = blocks * BLOCK
    parts = np.matmul(
        np.swapaxes(left[:, :whole].reshape(a, blocks, BLOCK), 0, 1),
        right[:whole].reshape(blocks, BLOCK, b),
    )
    total = np.asarray(np.add.reduce(parts, axis=0))
    if whole < n:
        total += left[:, whole:] @ right[whole:]
    return total

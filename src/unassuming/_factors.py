"""Factors of badly scaled matrices, with bounds on their errors.

Columns are scaled by powers of two, which rounds nothing. Rows are sorted by size and columns are
pivoted, so that the rounding errors of Householder's method are relative to each row (Cox and
Higham). What counts as zero is decided row by row as well: no constant is compared with the largest
number of a matrix. Where a column may depend on others, the rank is computed without rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dtrtrs

from unassuming._dependence import Dependence
from unassuming._modular import PRIMES, Remainders, product, remainders
from unassuming._products import accurate_product, image, inner_products
from unassuming._rounding import EPS, UNIT, column_units, gamma
from unassuming._typing import Array, BoolArray, IntArray

_DECIDED = 1e-2
"""An error up to which columns are determined."""
_NEAR = 0.5
"""Columns whose inner products are so near the identity need no further refinement."""
_REFINEMENTS = 4
_DOUBTFUL = 2.0**-26
"""Pivots that are smaller, relative to their columns, may be rounding alone.

Rounding errors are below d² EPS of a column, and pivots exceed the least singular value by a factor
that is small but for examples made for the purpose."""


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """Coordinates in which the columns of a matrix (n, d) are orthonormal.

    The coordinates of a vector are those of ``lower⁻ᵀ``, then ``back``: a product of two factors,
    since no single matrix of doubles is accurate enough if the columns are nearly dependent.

    Attributes
    ----------
    back : array of shape (d, r)
        The matrix times ``back + rest`` has nearly orthonormal columns.
    lower : array of shape (r, r)
        Triangle: the inner products of these columns are ``lower lowerᵀ``, near the identity.
    null : array of shape (d, d - r)
        Vectors that the matrix maps to zero, up to rounding in each row. If the matrix is known
        exactly, their number is that of exact arithmetic.
    columns : array of shape (n, r)
        Orthonormal columns: the matrix times ``back``, times ``lower⁻ᵀ``.
    sizes : array of shape (n, r)
        Rounding errors of the columns are at most EPS times these numbers.
    error : float
        Bound on the distance of their inner products from the identity, and of their projector from
        that on the range of the matrix. Infinite if double precision does not determine it.
    unit : array of shape (d,)
        The size of each column of the matrix.
    exact_null : arrays of shape (d, d - r)
        Bases of the null vectors modulo primes, if the matrix is known exactly.
    certain : bool
        Whether double precision determines the null vectors.
    rest : array of shape (d, r), or None
        Digits that ``back`` has no room for; None if it needs none.
    """

    back: Array
    lower: Array
    null: Array
    columns: Array
    sizes: Array
    error: float
    unit: Array
    exact_null: tuple[Remainders, ...] = ()
    certain: bool = True
    rest: Array | None = None

    @property
    def decided(self) -> bool:
        """Whether double precision determines the columns at all."""
        return self.error <= _DECIDED

    def widened(self, errors: Array) -> Factor:
        """Return the factor of a weighted matrix that is known to within ``errors`` (n, d).

        The same coordinates have other columns: C changes by at most ``errors`` times the basis,
        and CCᵀ and CᵀC by 2‖C‖ times that and its square.
        """
        more = (errors @ np.abs(self.basis)) * (1 + 8 * (sum(self.basis.shape) + 2) * EPS)
        length = float(np.linalg.norm(more))
        error = self.error + length * (2 * float(np.sqrt(1 + self.error)) + length)
        return replace(self, sizes=self.sizes + more / EPS, error=error)

    def without_columns(self) -> Factor:
        """Return the factor without its columns, to save memory."""
        none = np.empty((0, self.back.shape[1]))
        return replace(self, columns=none, sizes=none)

    @property
    def basis(self) -> Array:
        """From these coordinates to vectors, rounded, (d, r)."""
        return lower_solved(self.lower, self.back)

    def turn(self, g: Array) -> Array:
        """Return functionals g (N, d) in these coordinates, (N, r)."""
        return lower_solved(self.lower, self.image(g)[0])

    def image(self, *rows: Array, root: Array | None = None) -> tuple[Array, Array]:
        """Return the sum of some rows (N, d) times ``back + rest``, and bounds on its errors."""
        back = [self.back] if self.rest is None else [self.back, self.rest]
        left = np.hstack([one for one in rows for _ in back])
        right = np.vstack([part for _ in rows for part in back])
        return image(left, right, root=root)

    def blind(self, g: Array) -> BoolArray:
        """Return which functionals (N, d) the null vectors leave as they are.

        Decided without rounding if the matrix is known exactly, and up to rounding of entries that
        have all the digits of a double: weights of 1/3 add up to one as they are meant.
        """
        if not self.null.shape[1]:
            return np.ones(len(g), dtype=np.bool_)
        value = np.abs(accurate_product(g, self.null))
        if not self.exact_null:  # relative to the largest entry, in units of the columns
            largest = (np.abs(self.null) * self.unit[:, None]).max(axis=0)
            size = (np.abs(g) / self.unit).sum(axis=1, keepdims=True)
            return np.asarray((value <= 16 * len(self.null) * EPS * size * largest).all(axis=1))
        # Numbers of few digits are what they are; only long ones may be rounded.
        digits = np.frexp(g)[0]
        long = np.where(digits == digits.astype(np.float32), 0.0, np.abs(g))
        slack = UNIT * (long @ np.abs(self.null))
        near = (value <= slack).all(axis=1) & slack.any(axis=1) & self.certain
        exact = [
            ~product(remainders(g, prime), null, prime).any(axis=1)
            for prime, null in zip(PRIMES, self.exact_null, strict=True)
        ]
        return np.asarray(np.logical_and.reduce(exact) | near)


class Start(NamedTuple):
    """Vectors to start from."""

    back: Array  # (d, r): their images are nearly orthonormal
    null: Array  # (d, d - r): their images are zero
    exact_null: tuple[Remainders, ...] = ()  # the same modulo primes, where that is known
    certain: bool = True  # whether double precision determines the null vectors


def factor(
    matrix: Array,
    sizes: Array | None = None,
    root: Array | None = None,
    given: Sequence[Array] | None = None,
) -> Factor:
    """Factor diag(root) times a matrix (n, d).

    ``sizes`` (n, d) are the numbers that its rounding errors are relative to, if it has any.
    ``given`` are matrices whose sum it is without rounding; by default the matrix itself, if it has
    no rounding errors. Without any, columns that depend up to rounding count as dependent.

    Examples
    --------
    >>> found = factor(np.array([[0.0, 1e10, 1e10], [1.0, 1.0, 2.0], [2.0, 1.0, 3.0]]))
    >>> found.back.shape, bool(found.error < 1e-14)
    ((3, 2), True)
    """
    if given is None:
        given = (matrix,) if sizes is None else ()
    return refined(matrix, independent(matrix, sizes, root, given), sizes, root)


def independent(
    matrix: Array,
    sizes: Array | None = None,
    root: Array | None = None,
    given: Sequence[Array] = (),
    shift: Array | None = None,
) -> Start:
    """Return vectors with nearly orthonormal images, and null vectors.

    Where double precision leaves a doubt, what depends on what is decided by the matrices
    ``given``: the matrix is their sum, from whose columns ``shift`` (d,) times its first column is
    subtracted, without rounding. Null vectors modulo primes are those of the sum.
    """
    n, d = matrix.shape
    root = np.ones(n) if root is None else root
    weighted = root[:, None] * matrix
    unit = _units(weighted)
    rows, weighted = matrix / unit, weighted / unit
    order = np.argsort(-np.abs(weighted).max(axis=1, initial=0.0), kind="stable")
    R, pivots = qr(weighted[order], mode="r", pivoting=True, check_finite=False)
    R, seen = R[: min(n, d)], root > 0
    sized = np.abs(rows) if sizes is None else sizes / unit
    r, sure = _rank(rows[seen], sized[seen], root[seen], R, pivots), _beyond_doubt(R)
    first, certain, exact = pivots[:r], True, None
    if given and min(r, sure) < d:
        shift = np.zeros(d) if shift is None else shift
        exact = Dependence.of([part[seen] for part in given], shift, unit)
        found = exact.first(pivots)
        certain = len(found) == d or sure <= len(found) <= np.isin(found, first).sum()
        if len(found) >= sure:  # else both primes divide what decides
            first = found
    r = len(first)
    if not np.array_equal(first, pivots[:r]):
        pivots = np.append(first, np.setdiff1d(pivots, first))
        R = qr(weighted[order][:, pivots], mode="r", check_finite=False)[0][: min(n, d)]
    # Independent columns may differ by less than one decomposition resolves.
    R[range(r), range(r)] += np.where(np.diagonal(R)[:r] == 0, EPS, 0.0)
    back, null, known = np.zeros((d, r)), np.zeros((d, d - r)), tuple[Remainders, ...]()
    if r:
        back[pivots[:r]] = _triangular(R[:r, :r], np.eye(r))
    if r < d:
        null = _refined(rows, root, R, pivots, r, _null_vectors(R, pivots, r, slice(r, d)))
        if exact is not None:
            null, known = exact.null_vectors(null, pivots)
            value, terms = np.abs(accurate_product(rows[seen], null)), sized[seen] @ np.abs(null)
            certain = certain and bool((value <= 8 * (d + 1) * EPS * terms).all())
    return Start(back / unit[:, None], null / unit[:, None], known, certain)


def _beyond_doubt(R: Array) -> int:
    """Return how many leading pivots are far larger than the rounding errors of their columns."""
    pivots = np.diagonal(R)
    small = np.abs(pivots) <= _DOUBTFUL * np.linalg.norm(R[:, : len(pivots)], axis=0)
    return int(small.argmax()) if small.any() else len(pivots)


def _units(rows: Array) -> Array:
    """Return powers of two near the largest number of each column."""
    return column_units(rows)


def refined(
    matrix: Array, start: Start, sizes: Array | None = None, root: Array | None = None
) -> Factor:
    """Return the factor of diag(root) times a matrix, given vectors with nearly such images.

    With the computed images M = Φ_w B + E, the computed inner products MᵀM + E', their triangle L
    and the columns C = M L⁻ᵀ + E'', the exact columns Q = Φ_w B L⁻ᵀ satisfy

        ‖QᵀQ - I‖ <= ‖L⁻¹‖² (‖E'‖ + γ_{r+1} ‖L‖²) + 2 ‖EL⁻ᵀ‖ ‖ML⁻ᵀ‖ + ‖EL⁻ᵀ‖²,

    |E''| <= γ_r |C||Lᵀ||L⁻ᵀ|, and CCᵀ is as far from QQᵀ as 2‖C - Q‖ + ‖C - Q‖².
    """
    r = start.back.shape[1]
    unit = _units(matrix if root is None else root[:, None] * matrix)
    rows, back, rest = matrix / unit, start.back * unit[:, None], None
    sizes = None if sizes is None else sizes / unit
    for left in reversed(range(_REFINEMENTS)):
        if rest is None:
            found, off = image(rows, back, sizes, root)
        else:
            found, off = image(np.hstack([rows, rows]), np.vstack([back, rest]), None, root)
        gram, gram_error = inner_products(found)
        far = float(np.abs(gram - np.eye(r)).max(initial=0.0))
        try:
            lower: Array = np.asarray(np.linalg.cholesky(gram), dtype=np.float64)
        except np.linalg.LinAlgError:
            far, lower = np.inf, np.eye(r)
            break
        if far <= _NEAR or not left:
            break
        if sizes is None:
            back, rest = _turned(lower, back, rest)
        else:
            back = lower_solved(lower, back)
    columns = lower_solved(lower, found)
    inverse = lower_solved(lower, np.eye(r))  # L⁻ᵀ
    solved = gamma(r + 2) * (np.abs(columns) @ (np.abs(lower.T) @ np.abs(inverse)))
    off = off @ np.abs(inverse)
    error = np.inf
    if far <= _NEAR:
        with np.errstate(over="ignore"):  # an infinite error says so
            length, total = float(np.linalg.norm(off)), float(np.linalg.norm(off + solved))
        cut = float((1 + r * EPS) * np.linalg.norm(inverse, 2)) ** 2 if r else 0.0
        error = cut * (gram_error + gamma(r + 2) * float(np.linalg.norm(lower)) ** 2)
        size = float(np.sqrt(1 + error))  # of ML⁻ᵀ
        error += 2 * (length + total) * (size + total) + length**2 + total**2 + 4 * EPS
    both = (off + solved) / EPS + np.abs(columns)
    rest = None if rest is None or not rest.any() else rest / unit[:, None]
    parts = (back / unit[:, None], lower, start.null, columns, both, error, unit)
    return Factor(*parts, start.exact_null, start.certain, rest)


def _turned(lower: Array, back: Array, rest: Array | None) -> tuple[Array, Array]:
    """Return (back + rest) lower⁻ᵀ in twice the digits: a rounded matrix and what it leaves out."""
    turn = lower_solved(lower, np.eye(len(lower)))
    whole = np.hstack([back] if rest is None else [back, rest])
    turns = np.vstack([turn] * (1 if rest is None else 2))
    high = accurate_product(whole, turns)
    return high, accurate_product(np.hstack([whole, high]), np.vstack([turns, -np.eye(len(turn))]))


def lower_solved(lower: Array, x: Array) -> Array:
    """Return x lower⁻ᵀ."""
    return np.ascontiguousarray(_triangular(lower, x.T, lower=True).T)


def _triangular(a: Array, b: Array, *, lower: bool = False, transposed: bool = False) -> Array:
    """Return a⁻¹b or a⁻ᵀb: the checks of SciPy would take longer than small systems do."""
    if not b.size:
        return np.empty(b.shape)
    if a.flags.f_contiguous:
        x, info = dtrtrs(a, b, lower=lower, trans=transposed)
    else:
        x, info = dtrtrs(a.T, b, lower=not lower, trans=not transposed)
    if info:
        raise np.linalg.LinAlgError("the triangle is singular")
    return np.asarray(x)


def _rank(rows: Array, sizes: Array, root: Array, R: Array, pivots: IntArray) -> int:
    """Return how many pivots are more than rounding."""
    r, unit = len(R), 8 * (rows.shape[1] + 1) * EPS
    while r:
        if R[r - 1, r - 1] != 0:
            v = _null_vectors(R, pivots, r - 1, slice(r - 1, r))[:, 0]
            if not np.isfinite(v).all():
                break
            # The rounding errors of R and of v are relative to the largest number of each row.
            terms = sizes.max(axis=1) * np.abs(v).sum()
            if (np.abs(rows @ v) > 64 * unit * terms).any():
                break
            v = _refined(rows, root, R, pivots, r - 1, v[:, None])[:, 0]
            value = accurate_product(rows, v[:, None])[:, 0]
            if (np.abs(value) > unit * (sizes @ np.abs(v))).any():
                break
        r -= 1
    return r


def _null_vectors(R: Array, pivots: IntArray, r: int, which: slice) -> Array:
    """Return the combinations of some pivot columns and the first r that are nearest to zero."""
    v = np.zeros((len(pivots), which.stop - which.start))
    v[pivots[which], range(v.shape[1])] = 1.0
    if r:
        v[pivots[:r]] = -_triangular(R[:r, :r], R[:r, which])
    return v


def _refined(rows: Array, root: Array, R: Array, pivots: IntArray, r: int, v: Array) -> Array:
    """Return null vectors (d, f) after a step of refinement by the normal equations."""
    if not r or not np.isfinite(v).all():
        return v
    top, kept, v = R[:r, :r], pivots[:r], v.copy()
    rest = root[:, None] * accurate_product(rows, v)
    normal = (root[:, None] * rows[:, kept]).T @ rest
    half = _triangular(top, normal, transposed=True)
    step = _triangular(top, half)
    if np.isfinite(step).all():
        v[kept] -= step
    return v

"""Factors of badly scaled matrices, with bounds on their errors.

Columns are scaled by powers of two, which rounds nothing. Rows are sorted by size and columns are
pivoted, so that the rounding errors of Householder's method are relative to each row (Cox and
Higham). What counts as zero is decided row by row as well: no constant is compared with the largest
number of a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.linalg import qr, solve_triangular

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, column_units
from unassuming._typing import Array, BoolArray, IntArray

_SPLIT = 2.0**27 + 1
_BATCH_BYTES = 2**20
_FINE = 2e-13
"""An error up to which the plain product serves."""
_MANY = 2**16
"""Products for which twice the digits take noticeable time."""
_DECIDED = 1e-2
"""An error up to which columns are determined."""
_NEAR = 1e-2
"""Columns whose inner products are so near the identity need no further refinement."""
_REFINEMENTS = 4


def accurate_product(A: Array, B: Array) -> Array:
    """Return A B as if computed with twice the digits, (n, d) and (d, k) -> (n, k).

    The error is at most EPS times the result, plus (d EPS)² |A||B| (Ogita, Rump and Oishi).

    Examples
    --------
    >>> A, B = np.array([[1.0, 1e17, -1e17]]), np.array([[3.0], [1.0], [1.0]])
    >>> accurate_product(A, B)
    array([[3.]])
    """
    found = np.empty((len(A), B.shape[1]))
    B_high, B_low = _halves(B)
    for some in slices(len(A), rows_that_fit(_BATCH_BYTES, max(1, B.shape[1]))):
        high, low = _halves(A[some])
        total, rest = np.zeros((2, *found[some].shape))
        for j in range(A.shape[1]):
            a, b = A[some, j, None], B[j]
            product = a * b
            one, two = high[:, j, None], low[:, j, None]
            most = (product - one * B_high[j]) - two * B_high[j]
            off = two * B_low[j] - (most - one * B_low[j])
            total, lost = exact_sum(total, product)
            rest += lost + off
        found[some] = total + rest
    return found


def exact_product(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x y, rounded, and the rounding error (Dekker)."""
    product = x * y
    (x1, x2), (y1, y2) = _halves(x), _halves(y)
    return product, x2 * y2 - (((product - x1 * y1) - x2 * y1) - x1 * y2)


def exact_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x + y, rounded, and the rounding error (Knuth)."""
    total = x + y
    of_y = total - x
    return total, (x - (total - of_y)) + (y - of_y)


def exact_difference(x: Array, y: Array) -> tuple[Array, Array]:
    """Return x - y, rounded, and the rounding error."""
    return exact_sum(x, -y)


def _halves(x: Array) -> tuple[Array, Array]:
    """Return x as the sum of two numbers of 26 bits (Veltkamp)."""
    big = _SPLIT * x
    high = big - (big - x)
    return high, x - high


def image(
    rows: Array, back: Array, sizes: Array | None = None, root: Array | None = None
) -> tuple[Array, Array]:
    """Return diag(root) rows @ back and bounds on its rounding errors, entry by entry.

    The product has twice the digits if the plain one would lose too many. ``sizes`` bounds |rows|
    from above, with a margin for errors of the rows themselves. The weights of the rows come last:
    rounding weighted rows would change how nearly dependent the columns are.
    """
    d = rows.shape[1]
    terms = (np.abs(rows) if sizes is None else sizes) @ np.abs(back)
    # Rounding errors of a sum grow like the root of its length.
    error = (np.sqrt(d) + 1) * EPS * terms
    length = np.linalg.norm(error, axis=0)
    found = rows @ back
    fine = (
        rows.size * back.shape[1] > _MANY
        and (length <= _FINE * np.linalg.norm(found, axis=0)).all()
    )
    if sizes is None and not fine:
        found = accurate_product(rows, back)
        error = EPS * np.abs(found) + (d * EPS) ** 2 * terms
    if root is None:
        return found, error
    found *= root[:, None]
    return found, error * root[:, None] + EPS * np.abs(found)


@final
@dataclass(frozen=True, eq=False)
class Factor:
    """Coordinates in which the columns of a matrix (n, d) are orthonormal.

    The coordinates of a vector are those of ``lower⁻ᵀ``, then ``back``: a product of two factors,
    since no single matrix of doubles is accurate enough if the columns are nearly dependent.

    Attributes
    ----------
    back : array of shape (d, r)
        The matrix times ``back`` has nearly orthonormal columns.
    lower : array of shape (r, r)
        Triangle: the inner products of these columns are ``lower lowerᵀ``, near the identity.
    null : array of shape (d, d - r)
        Vectors that the matrix maps to zero, up to rounding in each row.
    columns : array of shape (n, r)
        Orthonormal columns: the matrix times ``back``, times ``lower⁻ᵀ``.
    sizes : array of shape (n, r)
        Rounding errors of the columns are at most EPS times these numbers.
    error : float
        Bound on the distance of their inner products from the identity.
    unit : array of shape (d,)
        The size of each column of the matrix.
    """

    back: Array
    lower: Array
    null: Array
    columns: Array
    sizes: Array
    error: float
    unit: Array

    @property
    def decided(self) -> bool:
        """Whether double precision determines the columns at all."""
        return self.error <= _DECIDED

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
        return lower_solved(self.lower, image(g, self.back)[0])

    def blind(self, g: Array) -> BoolArray:
        """Return which functionals (N, d) the null vectors leave as they are, up to rounding.

        Rounding is relative to the largest entry of a null vector, in units of the columns.
        """
        if not self.null.shape[1]:
            return np.ones(len(g), dtype=np.bool_)
        value = accurate_product(g, self.null)
        largest = (np.abs(self.null) * self.unit[:, None]).max(axis=0)
        size = (np.abs(g) / self.unit).sum(axis=1, keepdims=True)
        return np.asarray((np.abs(value) <= 16 * len(self.null) * EPS * size * largest).all(axis=1))


def factor(matrix: Array, sizes: Array | None = None, root: Array | None = None) -> Factor:
    """Factor diag(root) times a matrix (n, d).

    ``sizes`` (n, d) are the numbers that its rounding errors are relative to, if it has any.

    Examples
    --------
    >>> found = factor(np.array([[0.0, 1e10, 1e10], [1.0, 1.0, 2.0], [2.0, 1.0, 3.0]]))
    >>> found.back.shape, bool(found.error < 1e-14)
    ((3, 2), True)
    """
    return refined(matrix, *independent(matrix, sizes, root), sizes, root)


def independent(
    matrix: Array, sizes: Array | None = None, root: Array | None = None
) -> tuple[Array, Array]:
    """Return vectors (d, r) with nearly orthonormal images, and null vectors (d, d - r)."""
    n, d = matrix.shape
    root = np.ones(n) if root is None else root
    weighted = root[:, None] * matrix
    unit = _units(weighted)
    rows, weighted = matrix / unit, weighted / unit
    order = np.argsort(-np.abs(weighted).max(axis=1, initial=0.0), kind="stable")
    R, pivots = qr(weighted[order], mode="r", pivoting=True, check_finite=False)
    R, seen = R[: min(n, d)], root > 0
    sized = np.abs(rows) if sizes is None else sizes / unit
    r = _rank(rows[seen], sized[seen], root[seen], R, pivots)
    back, null = np.zeros((d, r)), np.zeros((d, d - r))
    if r:
        back[pivots[:r]] = solve_triangular(R[:r, :r], np.eye(r), check_finite=False)
    if r < d:
        null = _refined(rows, root, R, pivots, r, _null_vectors(R, pivots, r, slice(r, d)))
    return back / unit[:, None], null / unit[:, None]


def _units(rows: Array) -> Array:
    """Return powers of two near the largest number of each column."""
    return column_units(rows)


def refined(
    matrix: Array,
    back: Array,
    null: Array,
    sizes: Array | None = None,
    root: Array | None = None,
) -> Factor:
    """Return the factor of diag(root) times a matrix, given vectors with nearly such images."""
    r = back.shape[1]
    unit = _units(matrix if root is None else root[:, None] * matrix)
    rows, back = matrix / unit, back * unit[:, None]
    sizes = None if sizes is None else sizes / unit
    for _ in range(_REFINEMENTS):
        found, off = image(rows, back, sizes, root)
        gram = found.T @ found
        far = float(np.abs(gram - np.eye(r)).max(initial=0.0))
        try:
            lower: Array = np.asarray(np.linalg.cholesky(gram), dtype=np.float64)
        except np.linalg.LinAlgError:
            far, lower = np.inf, np.eye(r)
            break
        if far <= _NEAR:
            break
        back = lower_solved(lower, back)
    columns = lower_solved(lower, found)
    off = off @ np.abs(lower_solved(lower, np.eye(r)))
    length = float(np.linalg.norm(off))
    error = EPS * np.sqrt((len(rows) + 1) * r) + 2 * length + length**2
    error = error if far <= _NEAR else np.inf
    both = off / EPS + np.abs(columns)
    return Factor(back / unit[:, None], lower, null, columns, both, error, unit)


def lower_solved(lower: Array, x: Array) -> Array:
    """Return x lower⁻ᵀ."""
    return np.ascontiguousarray(solve_triangular(lower, x.T, lower=True, check_finite=False).T)


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
        v[pivots[:r]] = -solve_triangular(R[:r, :r], R[:r, which], check_finite=False)
    return v


def _refined(rows: Array, root: Array, R: Array, pivots: IntArray, r: int, v: Array) -> Array:
    """Return null vectors (d, f) after a step of refinement by the normal equations."""
    if not r or not np.isfinite(v).all():
        return v
    top, kept, v = R[:r, :r], pivots[:r], v.copy()
    rest = root[:, None] * accurate_product(rows, v)
    normal = (root[:, None] * rows[:, kept]).T @ rest
    half = solve_triangular(top, normal, trans="T", check_finite=False)
    step = solve_triangular(top, half, check_finite=False)
    if np.isfinite(step).all():
        v[kept] -= step
    return v

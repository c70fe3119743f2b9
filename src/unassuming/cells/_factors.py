"""What a cell contributes: the R factor of its rows, from the rows or from their sums.

Everything about a cell follows from T with TᵀT = Φ_bᵀΦ_b, z with Tᵀz = Φ_bᵀy_b, and the residual
sum of squares. The columns are divided by powers of two before the rank is decided, so the
decision does not depend on the units of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dgeqp3, dormqr

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, column_ranges, column_units, powers_of_two, rank_cut
from unassuming._typing import Array, IntArray

_BATCH = 2**20  # bytes of rows that are factored at once
_FEW = 512  # rows
KNOWN = 8
"""Columns are dependent unless they differ by so many times the rounding, times the root of their
number. The others have a condition for which errors of estimates are bounded."""
_SURE = 1e-5
"""Columns whose R has a smaller inverse condition number are compared with pivots."""


@dataclass(frozen=True, eq=False)
class Factor:
    """The rows of one cell, up to a rotation.

    Attributes
    ----------
    T : array of shape (r, d)
        Of full row rank r, the rank of Φ_b; TᵀT is the Gram matrix of the scaled columns.
    z : array of shape (r,)
        Tᵀz is the product of the scaled columns with y_b.
    rest : float
        Norm of the residuals of least squares in the cell.
    length : float
        Norm of y_b, or more if y_b itself has errors.
    scale : array of shape (d,)
        The powers of two by which the columns were divided.
    rows : int
        Number of rows of the cell.
    unit : float
        Relative size of rounding errors in T.
    centre : array of shape (d + 1,), or None
        The multiples of the first column that were subtracted from the columns of Φ_b, and from
        y_b, before T and z were computed.
    """

    T: Array
    z: Array
    rest: float
    length: float
    scale: Array
    rows: int
    unit: float
    centre: Array | None = None

    def coordinates(self, functionals: Array) -> tuple[Array, Array]:
        """Return functionals (N, d) of the coefficients as functionals of those of T, and offsets.

        cᵀθ is the functional that is returned, of the coefficients of T, plus the offset (N,).

        Examples
        --------
        >>> factor = factor_of_rows(np.array([[4.0], [8.0]]), np.array([1.0, 2.0]))
        >>> factor.coordinates(np.array([[1.0]]))
        (array([[0.0625]]), array([0.]))
        """
        if self.centre is None:
            return functionals / self.scale, np.zeros(len(functionals))
        offset = functionals[:, 0] * self.centre[-1]
        return after_centring(functionals, self.centre) / self.scale, offset


def centred(Phi: Array) -> tuple[Array, Array]:
    """Subtract multiples of the first column, which is all ones, from the other columns.

    Return the columns, and the multiples as `Factor.centre` has them. A multiple is the mean of the
    column, rounded to a multiple of a unit that exceeds twice its spread, if that is three units or
    more: all numbers of the column are then between half and twice the multiple, so that the
    differences have no rounding errors (Sterbenz). Other columns stay as they are.

    Examples
    --------
    >>> centred(np.array([[1.0, 1e9, 3.0], [1.0, 1e9 + 1.5, -4.0]]))[0]
    array([[ 1. ,  0. ,  3. ],
           [ 1. ,  1.5, -4. ]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = Phi.mean(axis=0)
        low, high = column_ranges(Phi)
        unit = 4 * powers_of_two(np.maximum(high - mean, mean - low))
        count = np.rint(mean / unit)
        count = np.where(np.abs(count) >= 3, count, 0.0)
        centre = np.nan_to_num(count * unit, posinf=0.0, neginf=0.0)
    centre[0] = 0.0
    return Phi - centre if centre.any() else Phi, np.append(centre, 0.0)


def after_centring(functionals: Array, centre: Array) -> Array:
    """Return functionals (N, d) for the columns minus multiples of the first column.

    Examples
    --------
    >>> after_centring(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.0, 5.0, 0.0]))
    array([[ 1., -5.],
           [ 0.,  1.]])
    """
    return np.asarray(functionals - functionals[:, :1] * centre[:-1])


def factor_of_rows(
    Phi: Array, y: Array, rows: int | None = None, centre: Array | None = None
) -> Factor:
    """Return the factor of a cell from its rows.

    The R factor of [Φ_b, y_b] may replace the rows; ``rows`` is then their number.

    Parameters
    ----------
    Phi : array of shape (n_b, d)
        Rows of the design, multiplied by the square roots of sample weights if there are any.
    y : array of shape (n_b,)
        The targets, multiplied likewise.
    rows : int, optional
        Number of rows of the cell, if not n_b.
    centre : array of shape (d + 1,), optional
        What was subtracted from the columns, as for `Factor`.

    Examples
    --------
    >>> Phi, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0.0, 1.0, 5.0])
    >>> factor = factor_of_rows(Phi, y)
    >>> factor.T.shape, round(factor.rest, 6)
    ((2, 2), 1.224745)
    """
    n, d = Phi.shape
    rows = n if rows is None else rows
    scale = column_units(Phi)
    # Few rows are factored as they are; of many, R comes first.
    R = np.column_stack([Phi / scale, y]) if n <= _FEW else triangle(Phi, scale, y)
    shape = (max(rows, n), d)
    if R.size == 0 or not R[:, :d].any():
        empty = np.zeros((0, d)), np.zeros(0), float(np.linalg.norm(y))
        return Factor(*empty, float(np.linalg.norm(y)), scale, rows, rank_cut(shape), centre)
    # LAPACK itself: for small cells the wrappers of SciPy would take most of the time.
    T, pivots, tau, _, _ = dgeqp3(R[:, :d])
    z = dormqr("L", "T", T[:, : len(tau)], tau, R[:, d:], lwork=1)[0][:, 0]
    diagonal = np.abs(np.diagonal(T))
    r = int(np.count_nonzero(diagonal > KNOWN * np.sqrt(d) * rank_cut(shape) * diagonal[0]))
    straight = np.empty((r, d))
    straight[:, pivots - 1] = np.triu(T[:r])
    rest, length = float(np.linalg.norm(z[r:])), float(np.linalg.norm(R[:, d]))
    return Factor(straight, z[:r], rest, length, scale, rows, rank_cut(shape), centre)


def triangle(Phi: Array, scale: Array, y: Array | None = None) -> Array:
    """Return R of [Φ/scale, y], or of Φ/scale, from batches of rows that fit into a cache.

    Examples
    --------
    >>> R = triangle(np.array([[3.0], [4.0]]), np.ones(1))
    >>> bool(np.isclose(abs(R[0, 0]), 5.0))
    True
    """
    parts = []
    n, d = max(1, len(Phi)), Phi.shape[1]
    for some in slices(n, max(4 * d, rows_that_fit(_BATCH, d))):
        rows = Phi[some] / scale
        joined = rows if y is None else np.column_stack([rows, y[some]])
        parts.append(np.linalg.qr(joined, mode="r"))
    if len(parts) == 1:
        return np.asarray(parts[0])
    return np.asarray(np.linalg.qr(np.vstack(parts), mode="r"))


def factor_of_all(factors: Sequence[Factor], rows: int) -> Factor:
    """Return the factor of all rows from those of cells that hold them all.

    Parameters
    ----------
    factors : sequence of K Factor
        With the same `centre`.
    rows : int
        Number of rows.

    Examples
    --------
    >>> Phi, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0.0, 1.0, 5.0])
    >>> whole = factor_of_all(factors_of_rows(Phi, y, np.array([0, 1, 1]), 2), 3)
    >>> whole.T.shape, round(whole.rest, 6)
    ((2, 2), 1.224745)
    """
    T = np.vstack([factor.T * factor.scale for factor in factors])
    found = factor_of_rows(T, np.concatenate([factor.z for factor in factors]), rows)
    rest, length = (
        float(np.linalg.norm([first, *parts]))
        for first, parts in (
            (found.rest, [factor.rest for factor in factors]),
            (0.0, [factor.length for factor in factors]),
        )
    )
    return replace(found, rest=rest, length=length, centre=factors[0].centre)


def factors_of_rows(
    Phi: Array, y: Array, labels: IntArray, K: int, centre: Array | None = None
) -> list[Factor]:
    """Return the factor of each cell.

    Parameters
    ----------
    Phi : array of shape (n, d)
    y : array of shape (n,)
    labels : integer array of shape (n,)
        The cell of each row, from 0 to K - 1; rows with a negative label are in none.
    K : int
        Number of cells.
    centre : array of shape (d + 1,), optional
        What was subtracted from the columns, as for `Factor`.

    Examples
    --------
    >>> [f.rows for f in factors_of_rows(np.ones((5, 1)), np.ones(5), np.array([0, 1, 1, 0, 1]), 2)]
    [2, 3]
    """
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(K + 1))
    members = [order[ends[b] : ends[b + 1]] for b in range(K)]
    found = _factors_at_once(Phi, y, members, centre)
    return [
        factor_of_rows(Phi[rows], y[rows], centre=centre) if one is None else one
        for one, rows in zip(found, members, strict=True)
    ]


def _factors_at_once(
    Phi: Array, y: Array, members: list[IntArray], centre: Array | None
) -> list[Factor | None]:
    """Return the factors of small cells with independent columns, and None for the others.

    The rows of each cell are padded with zeros to the same number, and one call factors all cells.
    The inverse of R shows that its columns are far from dependent: no pivots are needed then.
    """
    K, d = len(members), Phi.shape[1]
    sizes = np.array([len(rows) for rows in members])
    longest = int(sizes.max(initial=0))
    if not d < sizes.min(initial=longest) or longest > _FEW or K * longest > 2 * sizes.sum():
        return [None] * K
    joined = np.zeros((K, longest, d + 1))
    for rows, into in zip(members, joined, strict=True):
        into[: len(rows), :d], into[: len(rows), d] = Phi[rows], y[rows]
    scale = powers_of_two(np.abs(joined[:, :, :d]).max(axis=1))
    joined[:, :, :d] /= scale[:, None]
    R = np.asarray(np.linalg.qr(joined, mode="r"))  # (K, d + 1, d + 1)
    T, z, rest = R[:, :d, :d], R[:, :d, d], np.abs(R[:, d, d])
    length = np.linalg.norm(R[:, :, d], axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        ends = np.diagonal(T, axis1=1, axis2=2)
        sure = np.isfinite(T).all(axis=(1, 2)) & ends.all(axis=1)
        inverse = np.linalg.inv(np.where(sure[:, None, None], T, np.eye(d)))
        sure &= np.linalg.norm(T, axis=(1, 2)) * np.linalg.norm(inverse, axis=(1, 2)) < 1 / _SURE
    return [
        Factor(T[b], z[b], float(rest[b]), float(length[b]), scale[b], n_b, n_b * EPS, centre)
        if sure[b]
        else None
        for b, n_b in enumerate(sizes.tolist())
    ]

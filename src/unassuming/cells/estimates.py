"""Least squares in each cell: v_b and β_b of many numbers at once (docs/theory.md 11.2, 11.3).

The rows are those of a factor Q of the design, so that all of them together have the information 1
about a number uᵀθ with ‖u‖ = 1, and y is replaced by the residuals of least squares. In cell b the
information is v_b = 1 / uᵀG_b⁻¹u with G_b = Q_bᵀQ_b, and β_b = uᵀG_b⁻¹h_b with h_b = Q_bᵀe_b is how
far its estimate is from that of all rows. One factorisation of a cell serves all numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from unassuming._numerics import EPS, Factor, factor
from unassuming._typing import Array, BoolArray, IntArray

_WELL, _CUT, _SEEN = 1e6, 1e-9, 1e-10
"""Inverses with larger entries give way to eigenvalues; those below the cut are zero; a number is
identified if its share outside the others is smaller than the last."""

_ROUNDED = 1e-7
"""Eigenvalues of sums in a cell, of one in all rows, below this are rounding."""
_BLUR = 64 * EPS
"""Rounding of estimates, in coordinates in which all rows say 1, as a share of the norm of y."""


@final
@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates θ of the coefficients in which all rows together have the information 1.

    Attributes
    ----------
    factor : Factor
        Of all rows; a = ``factor.back`` θ.
    fit : array of shape (r,)
        The least-squares fit.
    rest : float
        The norm of the residuals.
    rows : int
        Number of rows.
    blur : float
        What counts as rounding in estimates of uᵀθ.
    shift : float
        What was subtracted from y, to be added to the coefficient of the first column.
    first : array of shape (r,), or None
        That column in these coordinates.
    """

    factor: Factor
    fit: Array
    rest: float
    rows: int
    blur: float
    shift: float = 0.0
    first: Array | None = None

    @property
    def fit_of_y(self) -> Array:
        """The least-squares fit of y itself, (r,)."""
        return self.fit if self.first is None else self.fit + self.shift * self.first

    @property
    def rank(self) -> int:
        """R."""
        return len(self.fit)

    def vectors(self, g: Array) -> tuple[Array, Array, BoolArray]:
        """Return u (N, r), ‖.‖ (N,) with gᵀa = ‖.‖ uᵀθ, and which g (N, d) are determined."""
        U = g @ self.factor.back
        size = np.linalg.norm(U, axis=1)
        return U / np.where(size > 0, size, 1.0)[:, None], size, ~self.factor.unseen(g)

    def estimates(self, g: Array) -> Array:
        """Return the least-squares estimates of functionals (N, d); NaN if not determined."""
        found = g @ (self.factor.back @ self.fit) + g[:, 0] * self.shift
        return np.where(self.factor.unseen(g), np.nan, found)


@final
@dataclass(frozen=True, eq=False)
class Sample:
    """Rows whose noise may change its sign, one by one or in units, and their coordinates.

    Attributes
    ----------
    at : Coordinates
    Q : array of shape (n, r)
        The rows, times the roots of their weights: Qθ are fitted values.
    e : array of shape (n,)
        The residuals of least squares, times the roots of the weights.
    units : integer array of shape (n,), or None
        The unit of each row, from 0; None if every row is one.
    """

    at: Coordinates
    Q: Array
    e: Array
    units: IntArray | None

    @classmethod
    def of(
        cls,
        Phi: Array,
        y: Array,
        w: Array | None = None,
        *,
        intercept: bool = False,
        units: IntArray | None = None,
    ) -> Sample:
        """Return rows (n, d) with targets (n,) and weights (n,); the first column may be of ones.

        Examples
        --------
        >>> sample = Sample.of(np.array([[1.0], [1.0], [1.0]]), np.array([1.0, 2.0, 6.0]))
        >>> sample.at.estimates(np.eye(1)).round(6), sample.at.rest**2
        (array([3.]), 14.0)
        """
        weight = np.ones(len(y)) if w is None else w
        found = factor(Phi, weight, intercept=intercept)
        shift = float(y.mean()) if intercept else 0.0
        e = (y - shift) * np.sqrt(weight)
        length = float(np.linalg.norm(e))
        fit = np.zeros(found.Q.shape[1])
        for _ in range(2):  # once more for orthogonality to rounding
            step = found.Q.T @ e
            fit, e = fit + step, e - found.Q @ step
        rest = float(np.linalg.norm(e))
        first = found.Q.T @ np.sqrt(weight) if intercept else None
        at = Coordinates(found, fit, rest, len(y), _BLUR * length, shift, first)
        return cls(at, found.Q, e, units)

    @cached_property
    def atoms(self) -> Atoms:
        """What goes into a cell as a whole."""
        return Atoms.of(self.Q, self.e, self.units)

    def labels(self, places: IntArray) -> IntArray:
        """Return the cell of each row (n,) from the atoms (K, s) of the cells."""
        N = len(self.atoms)
        labels = np.empty(N + 1, dtype=np.intp)
        labels[places] = np.arange(len(places))[:, None]
        return labels[:N] if self.units is None else labels[:N][self.units]

    def places(self, labels: IntArray) -> IntArray:
        """Return the atoms (K, s) of cells that labels 0, ..., K - 1 of rows (n,) describe."""
        if self.units is None:
            return places_of(labels)
        first = np.unique(self.units, return_index=True)[1]
        return places_of(labels[first])


@final
@dataclass(frozen=True, eq=False)
class Atoms:
    """What goes into a cell as a whole: N rows, or N units of rows in k rows each.

    The rows L_j of unit j have L_jᵀL_j = Q_jᵀQ_j and L_jᵀe_j = Q_jᵀ(the residuals of the unit).

    Attributes
    ----------
    L : array of shape (N, k, r)
    e : array of shape (N, k)
    squares : array of shape (N,)
        Sums of the squared residuals.
    rows : array of shape (N,)
        Numbers of rows.
    """

    L: Array
    e: Array
    squares: Array
    rows: Array

    @classmethod
    def of(cls, Q: Array, e: Array, units: IntArray | None = None) -> Atoms:
        """Return the atoms of a design (n, r) with residuals (n,), or of its units 0, 1, ...

        Examples
        --------
        >>> Q, e = np.eye(4)[:, :2], np.arange(4.0)
        >>> Atoms.of(Q, e).L.shape, Atoms.of(Q, e, np.array([0, 0, 1, 1])).L.shape
        ((4, 1, 2), (2, 2, 2))
        """
        if units is None:
            return cls(Q[:, None], e[:, None], np.square(e), np.ones(len(e)))
        n = len(Q)
        order, N = np.argsort(units, kind="stable"), int(units.max()) + 1
        starts = np.searchsorted(units[order], np.arange(N))
        ends = np.append(starts[1:], n)
        members = [order[a:b] for a, b in zip(starts, ends, strict=True)]
        G = np.array([Q[rows].T @ Q[rows] for rows in members])
        h = np.array([e[rows] @ Q[rows] for rows in members])
        lam, V = np.linalg.eigh(G)
        seen = lam > 1e-13
        k = max(1, int(seen.sum(axis=1).max()))
        root = np.sqrt(np.where(seen, lam, 1.0))
        coordinates = np.einsum("jrk,jr->jk", V, h) / root
        L = np.where(seen, root, 0.0)[:, :, None] * V.swapaxes(1, 2)
        squares = np.bincount(units, np.square(e)).astype(np.float64)
        sizes = (ends - starts).astype(np.float64)
        return cls(L[:, -k:], np.where(seen, coordinates, 0.0)[:, -k:], squares, sizes)

    def __len__(self) -> int:
        return len(self.L)

    @property
    def leverage(self) -> Array:
        """The leverages, summed over the rows of a unit, (N,)."""
        return np.asarray(np.einsum("jkr,jkr->j", self.L, self.L))

    def products(self, places: IntArray) -> Array:
        """Return G_b (K, r, r) of cells with these atoms (K, s), of which N stands for nobody."""
        L = gathered(self.L, places)
        return np.asarray(L.swapaxes(1, 2) @ L)

    def sums(self, places: IntArray) -> CellSums:
        """Return the sums over cells with these atoms (K, s), of which N stands for nobody."""
        L, e = gathered(self.L, places), gathered(self.e, places)
        lists = [gathered(part[:, None], places).sum(axis=1) for part in (self.squares, self.rows)]
        turned = L.swapaxes(1, 2)
        return CellSums(turned @ L, (turned @ e[:, :, None])[:, :, 0], *lists)


def gathered(A: Array, places: IntArray) -> Array:
    """Return the rows of the atoms (N, k, ...) of each cell (K, s), one after the other."""
    N = len(A)
    part = A[np.minimum(places, N - 1)]
    part[places >= N] = 0.0
    return part.reshape(len(places), -1, *A.shape[2:])


def places_of(labels: IntArray) -> IntArray:
    """Return the atoms (K, s) of the cells that labels 0, ..., K - 1 (N,) describe.

    Examples
    --------
    >>> places_of(np.array([0, 1, 1]))
    array([[0, 3],
           [1, 2]])
    """
    counts, N = np.bincount(labels), len(labels)
    order = np.argsort(labels, kind="stable")
    place = np.arange(N) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.full((len(counts), counts.max()), N, dtype=np.intp)
    places[labels[order], place] = order
    return places


@final
@dataclass(frozen=True, eq=False)
class CellSums:
    """Sums over the rows of K cells, in the coordinates of the factor.

    Attributes
    ----------
    G : array of shape (K, r, r)
    h : array of shape (K, r)
    squares : array of shape (K,)
        Sums of the squared residuals e of all rows.
    rows : array of shape (K,)
    """

    G: Array
    h: Array
    squares: Array
    rows: Array

    def merged(self, K: int) -> CellSums:
        """Return the sums of K cells: cells with equal numbers modulo K, merged."""
        parts = self.G, self.h, self.squares, self.rows
        return CellSums(*(np.array([one[b::K].sum(axis=0) for b in range(K)]) for one in parts))

    def residual_weights(self, v: Array) -> Array:
        """Return v_b / s_b² in place of v (c, K), with s_b² the residual variance of the cell.

        A cell without degrees of freedom gets the pooled variance of the others. If no cell has
        any, the weights stay v_b.
        """
        lam, V = np.linalg.eigh(self.G)
        seen = lam > _CUT
        explained = np.square(np.einsum("brk,br->bk", V, self.h)) / np.where(seen, lam, np.inf)
        rest = np.maximum(self.squares - explained.sum(axis=1), 0.0)
        freedom = np.maximum(self.rows - seen.sum(axis=1), 0)
        free = freedom > 0
        if not rest[free].any():
            return v
        pooled = rest[free].sum() / freedom[free].sum()
        variance = np.where(free, rest / np.maximum(freedom, 1), pooled)
        return np.asarray(v / np.maximum(variance / pooled, 1e-30))


@final
@dataclass(frozen=True, eq=False)
class KeptCells:
    """Cells of a stream: sums that were collected in one pass, and can be merged to fewer cells.

    A union of cells is a cell. So a stream collects C cells, and each question takes as many as
    serve it best, merged by their numbers modulo K. Neither the cells nor K depend on y.

    Attributes
    ----------
    at : Coordinates
    sums : CellSums
        Of C cells.
    blocks : bool
        Whether cells consist of blocks of rows, and not of single rows.
    """

    at: Coordinates
    sums: CellSums
    blocks: bool

    @classmethod
    def of_rows(cls, sample: Sample, labels: IntArray, number: int, *, blocks: bool) -> KeptCells:
        """Return the cells that labels (n,) from 0 to number - 1 describe."""
        places = places_of(np.append(labels, number - 1))  # so that the last cell has a place
        sums = sample.atoms.sums(np.minimum(places, len(labels)))
        return cls(sample.at, sums, blocks)

    @classmethod
    def of_sums(
        cls,
        phi: Array,
        y: Array,
        rest: float,
        inside: Array,
        rows: IntArray,
        *,
        blocks: bool,
        intercept: bool = False,
    ) -> KeptCells:
        """Return cells from products of an orthonormal basis of the columns of [Φ, y].

        Φ = U phi and y = U y, with the last vector of the basis along the residual of y, of length
        ``rest``. ``inside`` (C, r + 1, r + 1) are the products of the rows of U in each cell. What
        they say less than 1e-7 about is rounding. The first column may be an intercept, along the
        first vector of the basis.
        """
        r, centred, shift = len(y), np.eye(phi.shape[1]), 0.0
        if intercept:
            centred[0, 1:], shift = -phi[0, 1:] / phi[0, 0], float(y[0] / phi[0, 0])
        found = factor(phi @ centred, np.ones(r))
        found = replace(
            found,
            **{name: centred @ getattr(found, name) for name in ("back", "null", "scales")},
        )
        y = y - shift * phi[:, 0]
        lam, V = np.linalg.eigh(found.Q.T @ inside[:, :r, :r] @ found.Q)
        G = (V * np.where(lam > _ROUNDED, lam, 0.0)[:, None]) @ V.swapaxes(1, 2)
        h = rest * inside[:, :r, r] @ found.Q
        squares = rest**2 * inside[:, r, r]
        blur = _BLUR * float(np.hypot(np.linalg.norm(y), rest))
        first = found.Q.T @ phi[:, 0] if intercept else None
        at = Coordinates(found, found.Q.T @ y, rest, int(rows.sum()), blur, shift, first)
        return cls(at, CellSums(G, h, squares, rows.astype(np.float64)), blocks)

    @property
    def number(self) -> int:
        """C."""
        return len(self.sums.G)


def fits(G: Array, h: Array, U: Array) -> tuple[Array, Array]:
    """Return v (c, ...) and β (c, ...) of the numbers U (c, r), 0 where they are not identified.

    G (..., r, r) are Gram matrices of cells or halves, h (..., r) the products with residuals.

    Examples
    --------
    >>> G = np.array([np.diag([2.0, 1.0]), np.diag([4.0, 0.0])])
    >>> v, beta = fits(G, np.array([[2.0, 1.0], [8.0, 0.0]]), np.eye(2))
    >>> v, beta
    (array([[2., 4.],
           [1., 0.]]), array([[1., 2.],
           [1., 0.]]))
    """
    inverse = _inverse(G)
    if inverse is not None:
        P = U @ inverse
        variance = np.einsum("...cr,cr->c...", P, U)
        known = variance > 0  # a functional that the rows do not determine may be zero here
        v = np.where(known, 1 / np.where(known, variance, 1.0), 0.0)
        return v, np.einsum("...cr,...r->c...", P, h)
    lam, V = np.linalg.eigh(G)
    seen = (lam > _CUT)[..., None, :]
    P = U @ V
    scaled = P * np.where(seen, 1 / np.where(seen, lam[..., None, :], 1.0), 0.0)
    variance = (P * scaled).sum(axis=-1)
    known = ((np.square(P) * ~seen).sum(axis=-1) < _SEEN) & (variance > 0)
    beta = np.einsum("...ck,...rk,...r->...c", scaled, V, h)
    v = np.where(known, 1 / np.where(known, variance, 1.0), 0.0)
    return np.moveaxis(v, -1, 0), np.moveaxis(np.where(known, beta, 0.0), -1, 0)


def _inverse(G: Array) -> Array | None:
    """Return the inverses of well-conditioned matrices; None if one of them is not."""
    try:
        inverse = np.linalg.inv(G)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(inverse) if np.abs(inverse).max(initial=0.0) < _WELL else None

"""Cells of a stream: sums that were collected in one pass, and can be merged to fewer cells.

A union of cells is a cell. So a stream collects C cells, and each question takes as many as serve
it best: C cells are merged to K by their numbers modulo K. Neither the cells nor K depend on y.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from unassuming._rounding import EPS, powers_of_two
from unassuming._typing import Array, IntArray
from unassuming.cells._factors import Factor, factor_of_rows, factors_of_rows

_LARGEST_UNIT = 1e-5
"""Directions of a cell that sums determine less accurately count as not determined."""


class KeptCells(ABC):
    """C cells of rows, or what is left of them.

    Attributes
    ----------
    number : int
        C.
    blocks : bool
        Whether cells consist of blocks of rows, and not of single rows.
    """

    number: int
    blocks: bool

    @abstractmethod
    def factors(self, K: int) -> list[Factor]:
        """Return the factors of K cells, K at most C: cells with equal numbers modulo K, merged."""

    @abstractmethod
    def whole(self) -> Factor:
        """Return the factor of all rows."""


@final
@dataclass(frozen=True, eq=False)
class KeptRows(KeptCells):
    """All rows, and the cell of each; for so few rows that they were not summed.

    ``centre`` is what was subtracted from the columns, as for `Factor`.

    Examples
    --------
    >>> rows = KeptRows(np.ones((4, 1)), np.arange(4.0), np.array([0, 1, 2, 3]), 4, False)
    >>> [factor.rows for factor in rows.factors(2)], rows.whole().rows
    ([2, 2], 4)
    """

    Phi: Array
    y: Array
    labels: IntArray
    number: int
    blocks: bool
    centre: Array | None = None

    def factors(self, K: int) -> list[Factor]:
        """Return the factors of K cells."""
        return factors_of_rows(self.Phi, self.y, self.labels % K, K, self.centre)

    def whole(self) -> Factor:
        """Return the factor of all rows."""
        return replace(factor_of_rows(self.Phi, self.y), centre=self.centre)


@final
@dataclass(frozen=True, eq=False)
class KeptSums(KeptCells):
    """Sums over the rows of cells, relative to an orthonormal basis U of the columns of [Φ, y].

    Φ = U phi and y = U y, with the last vector of the basis along the residual of y. All rows of
    the basis in one cell form U_b, and ``inside`` has the products U_bᵀU_b, which are near I/C
    whatever the condition number of Φ is.

    Attributes
    ----------
    phi : array of shape (r, d)
        Of full row rank. With an intercept, which is the first column, the first row has its
        products with all columns, and the others are zero in the first column.
    y : array of shape (r,)
    rest : float
        The norm of the residual of y.
    inside : array of shape (C, r + 1, r + 1)
    rows : integer array of shape (C,)
        Number of rows in each cell.
    blocks : bool
    intercept : bool
    unit : float
        Rounding errors of the columns of ``phi``, minus their means, relative to their lengths.
    unit_inside : float
        What counts as rounding in ``inside``, whatever y is: it decides what a cell identifies.
    error_y : float
        Rounding errors of y minus its mean, as a length.
    error_inside : float
        Rounding errors of ``inside``.
    carriers : array of shape (d,) or None
        In no more rows than that the columns of Φ are other than zero.

    Examples
    --------
    >>> U = np.linalg.qr(np.column_stack([np.ones(4), [0.0, 0, 1, 1], [1.0, 2, 5, 1]]))[0]
    >>> inside = np.array([np.outer(u, u) for u in U])
    >>> one = np.ones(4, dtype=int)
    >>> sums = KeptSums(np.eye(2), np.ones(2), 1.0, inside, one, False, False, *[1e-15] * 4)
    >>> [len(factor.T) for factor in sums.factors(2)], len(sums.whole().T)
    ([2, 2], 2)
    """

    phi: Array
    y: Array
    rest: float
    inside: Array
    rows: IntArray
    blocks: bool
    intercept: bool
    unit: float
    unit_inside: float
    error_y: float
    error_inside: float
    carriers: Array | None = None

    @property
    def number(self) -> int:  # type: ignore[override]
        """C."""
        return len(self.inside)

    def factors(self, K: int) -> list[Factor]:
        """Return the factors of K cells."""
        parts = [slice(b, None, K) for b in range(K)]
        return [self._factor(self.inside[b].sum(axis=0), int(self.rows[b].sum())) for b in parts]

    def whole(self) -> Factor:
        """Return the factor of all rows."""
        return self._factor(np.eye(len(self.y) + 1), int(self.rows.sum()))

    def _factor(self, inside: Array, rows: int) -> Factor:
        """Return the factor of rows with the products U_bᵀU_b.

        Which directions count is decided by the part of ``inside`` that belongs to Φ, never by y.
        """
        phi, y, centre = self._centred()
        r = len(y)
        values, vectors = np.linalg.eigh(inside[:r, :r])
        keep = values * _LARGEST_UNIT > self.unit_inside
        root, V = np.sqrt(values[keep]), vectors[:, keep].T
        along = (V @ inside[:r, r]) / root  # the residual of y, in the directions of the cell
        T, z = root[:, None] * (V @ phi), root * (V @ y) + self.rest * along
        rest = self.rest * np.sqrt(max(float(inside[r, r] - along @ along), 0.0))
        scale = powers_of_two(np.linalg.norm(phi, axis=0))
        unit = error = self.unit + 4 * EPS * max(phi.shape)
        if root.size:
            unit = unit * float(root[-1] / root[0]) + self.unit_inside / float(root[0]) ** 2
            error = error * float(root[-1] / root[0]) + self.error_inside / float(root[0]) ** 2
        # Errors are ``unit`` times this length, and ``unit`` does not depend on y.
        length = (error * float(np.hypot(np.linalg.norm(z), rest)) + self.error_y) / unit
        return Factor(T / scale, z, float(rest), length, scale, rows, unit, centre=centre)

    def _centred(self) -> tuple[Array, Array, Array | None]:
        """Return Φ and y without their means, and the means, if there is an intercept.

        What a cell says about slopes does not depend on the means, and neither do its errors.
        """
        if not self.intercept:
            return self.phi, self.y, None
        phi, y = self.phi.copy(), self.y.copy()
        centre = np.append(phi[0], y[0]) / phi[0, 0]
        phi[0, 1:] = y[0] = centre[0] = 0.0
        return phi, y, centre

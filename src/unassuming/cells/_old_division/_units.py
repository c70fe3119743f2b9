"""The units that are dealt to cells: rows, or clusters of rows, by their second moments.

A row with orthonormal coordinates q has the second moments q qᵀ; a cluster has the sum over its
rows. Clusters may differ in size, so a cluster may also move to another cell without an exchange.
Such a move is a swap with the empty unit, which has the number -1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.cells._old_division._basis import RIDGE


class Units(ABC):
    """The second moments f of the units that are dealt to cells.

    Moments are compared by ⟨f_i, f_j⟩ = tr(f_i H f_j). With H = I all functionals count alike; with
    H near hhᵀ the functional with unit vector h counts most (`aimed`).

    Attributes
    ----------
    leverage : array of shape (U,)
        tr(H f) of each unit.
    movable : bool
        Whether a unit may move to another cell without an exchange.
    """

    leverage: Array
    movable: bool

    @abstractmethod
    def aimed(self, h: Array) -> Self:
        """Return the units with moments that are compared for functionals (N, r) alone."""

    @abstractmethod
    def products(self, units: IntArray) -> Array:
        """Return ⟨f_i, f_j⟩ of some units."""

    @abstractmethod
    def along(self, units: IntArray, moments: Array) -> Array:
        """Return ⟨f_i, M⟩ of some units with a matrix of moments."""

    @abstractmethod
    def information(self, moments: Array, h: Array, units: IntArray, cells: IntArray) -> Array:
        """Return v of the cell of unit i after unit j has taken its place, shape (U, U).

        ``moments`` (K, r, r) are those of the cells, ``h`` (r,) is the unit vector of a functional,
        ``units`` (U,) and ``cells`` (U,) are some units and the cells in which they are.
        """

    @abstractmethod
    def total(self, units: IntArray) -> Array:
        """Return Σ f_i over some units, shape (r, r)."""


_OTHERS = 0.1
"""What the functionals that are not aimed at count, so that no cell becomes singular."""


def _aim(h: Array) -> Array:
    """Return H for some functionals (N, r); its trace is about r, as that of the identity."""
    N, r = h.shape
    return np.asarray(h.T @ h * (r / N) + _OTHERS * np.eye(r))


class RowUnits(Units):
    """Each row is a unit."""

    def __init__(self, rows: Array, H: Array | None = None) -> None:
        self.rows = rows
        self._weighted = rows if H is None else rows @ H
        self.leverage = np.einsum("nr,nr->n", self._weighted, rows)
        self.movable = False

    def aimed(self, h: Array) -> Self:
        """Return the rows with other weights of their moments."""
        return type(self)(self.rows, _aim(h))

    def products(self, units: IntArray) -> Array:
        """Return q_iᵀHq_j q_iᵀq_j."""
        rows = self.rows[units].T
        if self._weighted is self.rows:
            return np.square(rows.T @ rows)
        return np.asarray((self._weighted[units] @ rows) * (rows.T @ rows))

    def along(self, units: IntArray, moments: Array) -> Array:
        """Return q_iᵀ H M q_i."""
        return np.asarray(np.einsum("nr,nr->n", self._weighted[units] @ moments, self.rows[units]))

    def information(self, moments: Array, h: Array, units: IntArray, cells: IntArray) -> Array:
        """Return 1/A'_xx, by the change that two rows make to an inverse matrix (9.3)."""
        A = np.linalg.inv(moments + RIDGE * np.eye(len(h)))  # (K, r, r)
        q = self.rows[units]
        qA = q @ A  # (K, U, r)
        p, lengths = (qA @ h)[cells], np.einsum("kur,ur->ku", qA, q)[cells]  # of j in the cell of i
        itself = np.arange(len(units))
        p_i, less = p[itself, itself][:, None], lengths[itself, itself][:, None] - 1  # h_ii - 1 < 0
        h_ij, more = qA[cells, itself] @ q.T, 1 + lengths
        change = p_i * (p_i * more - 2 * p * h_ij) + p * p * less
        A_xx = (h @ A @ h)[cells][:, None]
        A_xx = A_xx - change / np.minimum(less * more - h_ij * h_ij, -1e-14)
        return np.asarray(1 / np.maximum(A_xx, 1e-300))

    def total(self, units: IntArray) -> Array:
        """Return Σ q_i q_iᵀ."""
        rows = self.rows[units]
        return np.asarray(rows.T @ rows)


class ClusterUnits(Units):
    """Each cluster of rows is a unit."""

    def __init__(self, moments: Array, H: Array | None = None) -> None:
        self.moments = np.concatenate([moments, np.zeros((1, *moments.shape[1:]))])
        self._flat = self.moments.reshape(len(self.moments), -1)
        weighted = self.moments if H is None else self.moments @ H
        self._weighted = weighted.reshape(self._flat.shape)
        self.leverage = np.trace(weighted[:-1], axis1=1, axis2=2)
        self.movable = True

    def aimed(self, h: Array) -> Self:
        """Return the clusters with other weights of their moments."""
        return type(self)(self.moments[:-1], _aim(h))

    def products(self, units: IntArray) -> Array:
        """Return tr(f_i H f_j)."""
        return np.asarray(self._weighted[units] @ self._flat[units].T)

    def along(self, units: IntArray, moments: Array) -> Array:
        """Return tr(f_i H M)."""
        return np.asarray(self._weighted[units] @ moments.reshape(-1))

    def information(self, moments: Array, h: Array, units: IntArray, cells: IntArray) -> Array:
        """Return 1 / hᵀM'⁻¹h for the moments M' after each swap."""
        f = self.moments[units]
        kept = moments[cells] + RIDGE * np.eye(len(h)) - f
        solved = np.linalg.solve(kept[:, None] + f, h[:, None])[..., 0]  # (U, U, r)
        return np.asarray(1 / np.maximum(solved @ h, 1e-300))

    def total(self, units: IntArray) -> Array:
        """Return Σ f_i."""
        return np.asarray(self.moments[units].sum(axis=0))

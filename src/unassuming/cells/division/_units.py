"""The units that are dealt to cells: rows, or clusters of rows, by their second moments.

A row with orthonormal coordinates q has the second moments q qᵀ; a cluster has the sum over its
rows. Clusters may differ in size, so a cluster may also move to another cell without an exchange.
Such a move is a swap with the empty unit, which has the number -1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.cells.division._basis import RIDGE


class Units(ABC):
    """The second moments of the units that are dealt to cells.

    Attributes
    ----------
    leverage : array of shape (U,)
        The trace of the second moments of each unit.
    movable : bool
        Whether a unit may move to another cell without an exchange.
    """

    leverage: Array
    movable: bool

    @abstractmethod
    def products(self, units: IntArray) -> Array:
        """Return ⟨f_i, f_j⟩ of some units."""

    @abstractmethod
    def along(self, units: IntArray, moments: Array) -> Array:
        """Return ⟨f_i, M⟩ of some units with a matrix of moments."""

    @abstractmethod
    def information(self, moments: Array, h: Array, out: IntArray, into: IntArray) -> Array:
        """Return v of a cell with these moments after each swap, shape (N, len(out), len(into)).

        ``h`` (N, r) are the unit vectors of the functionals; ``out`` are units of the cell.
        """

    @abstractmethod
    def total(self, units: IntArray) -> Array:
        """Return Σ f_i over some units, shape (r, r)."""


class RowUnits(Units):
    """Each row is a unit."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        self.leverage = np.einsum("nr,nr->n", rows, rows)
        self.movable = False

    def products(self, units: IntArray) -> Array:
        """Return (q_iᵀq_j)²."""
        rows = self.rows[units]
        return np.square(rows @ rows.T)

    def along(self, units: IntArray, moments: Array) -> Array:
        """Return q_iᵀ M q_i."""
        rows = self.rows[units]
        return np.asarray(np.einsum("nr,nr->n", rows @ moments, rows))

    def information(self, moments: Array, h: Array, out: IntArray, into: IntArray) -> Array:
        """Return 1/A'_xx, by the change that two rows make to an inverse matrix (9.3)."""
        A = np.linalg.inv(moments + RIDGE * np.eye(len(moments)))
        gone, new = self.rows[out], self.rows[into]
        hA = h @ A
        p_i, p_j = (hA @ gone.T)[:, :, None], (hA @ new.T)[:, None, :]
        gone_A = gone @ A
        h_ij = gone_A @ new.T
        less = np.einsum("nr,nr->n", gone_A, gone)[:, None] - 1  # h_ii - 1 < 0
        more = 1 + np.einsum("nr,nr->n", new @ A, new)  # 1 + h_jj
        change = p_i * p_i * more - 2 * p_i * p_j * h_ij + p_j * p_j * less
        A_xx = np.einsum("nr,nr->n", hA, h)[:, None, None]
        A_xx = A_xx - change / np.minimum(less * more - h_ij * h_ij, -1e-14)
        return np.asarray(1 / np.maximum(A_xx, 1e-300))

    def total(self, units: IntArray) -> Array:
        """Return Σ q_i q_iᵀ."""
        rows = self.rows[units]
        return np.asarray(rows.T @ rows)


class ClusterUnits(Units):
    """Each cluster of rows is a unit."""

    def __init__(self, moments: Array) -> None:
        self.moments = np.concatenate([moments, np.zeros((1, *moments.shape[1:]))])
        self._flat = self.moments.reshape(len(self.moments), -1)
        self.leverage = np.trace(moments, axis1=1, axis2=2)
        self.movable = True

    def products(self, units: IntArray) -> Array:
        """Return tr(f_i f_j)."""
        flat = self._flat[units]
        return np.asarray(flat @ flat.T)

    def along(self, units: IntArray, moments: Array) -> Array:
        """Return tr(f_i M)."""
        return np.asarray(self._flat[units] @ moments.reshape(-1))

    def information(self, moments: Array, h: Array, out: IntArray, into: IntArray) -> Array:
        """Return 1 / hᵀM'⁻¹h for the moments M' after each swap."""
        kept = moments + RIDGE * np.eye(len(moments)) - self.moments[out]
        changed = kept[:, None] + self.moments[into]
        solved = np.linalg.solve(changed, np.broadcast_to(h.T, (*changed.shape[:-1], len(h))))
        return np.asarray(1 / np.maximum(np.einsum("nr,ijrn->nij", h, solved), 1e-300))

    def total(self, units: IntArray) -> Array:
        """Return Σ f_i."""
        return np.asarray(self.moments[units].sum(axis=0))

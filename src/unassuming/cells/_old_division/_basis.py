"""The design in coordinates in which its Gram matrix is n times the identity.

In these coordinates a division is good for every number if the second moments Σ q qᵀ of each cell
are (n/K) I. The information about a functional with unit vector h in the cell with second moments
M_b is v_b = 1 / hᵀM_b⁻¹h, and n over all rows (docs/theory.md 9.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unassuming._rounding import column_units, exceeds, rank_cut
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells._factors import triangle

RIDGE = 1e-6
"""Added to second moments, of size n/K, before they are inverted."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Rows of the design in orthonormal coordinates.

    Attributes
    ----------
    rows : array of shape (n, r)
        √n times an orthonormal basis of the columns of Φ.
    functionals : array of shape (N, r)
        The functionals in these coordinates, as unit vectors.
    known : boolean array of shape (N,)
        Whether all rows together identify the functional.
    whole : array of shape (N,)
        The information about the functional in all rows, ‖x̃‖².
    """

    rows: Array
    functionals: Array
    known: BoolArray
    whole: Array


def basis_of(Phi: Array, functionals: Array) -> Basis:
    """Return the rows and the functionals in orthonormal coordinates.

    Parameters
    ----------
    Phi : array of shape (n, d)
    functionals : array of shape (N, d)

    Examples
    --------
    >>> basis = basis_of(np.column_stack([np.ones(4), np.arange(4.0)]), np.eye(2))
    >>> bool(np.allclose(basis.rows.T @ basis.rows, 4 * np.eye(2))), basis.known
    (True, array([ True,  True]))
    """
    n = len(Phi)
    scale = column_units(Phi)
    R = triangle(Phi, scale)
    _, values, directions = np.linalg.svd(R, full_matrices=False)
    r = int(np.count_nonzero(values > rank_cut(Phi.shape) * values.max(initial=0.0)))
    back = directions[:r].T / (scale[:, None] * values[:r])  # Φ back is orthonormal
    c = functionals / scale
    inside = c @ directions[:r].T
    h = inside / values[:r]
    length = np.linalg.norm(h, axis=1, keepdims=True)
    h = np.divide(h, length, out=np.zeros_like(h), where=length > 0)
    known = ~exceeds(c - inside @ directions[:r], c) & (length[:, 0] > 0)
    whole = np.divide(1.0, np.square(length[:, 0]), out=np.zeros(len(c)), where=known)
    rows = Phi @ back
    rows *= np.sqrt(n)
    return Basis(rows, h, known, whole)


def second_moments(rows: Array, labels: IntArray, K: int) -> Array:
    """Return Σ q qᵀ over the rows of each cell, shape (K, r, r).

    Examples
    --------
    >>> second_moments(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 1]), 2).ravel()
    array([ 1., 13.])
    """
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(K + 1))
    parts = (rows[order[ends[b] : ends[b + 1]]] for b in range(K))
    return np.stack([part.T @ part for part in parts])


def information(moments: Array, functionals: Array) -> Array:
    """Return v_b for the functionals (N, r) and cells with these moments, shape (N, K).

    A cell that does not identify the functional has a v_b near `RIDGE`.

    Examples
    --------
    >>> information(np.array([[[2.0, 0.0], [0.0, 3.0]]]), np.eye(2)).round(3)
    array([[2.],
           [3.]])
    """
    h = np.broadcast_to(functionals.T, (len(moments), *functionals.T.shape))
    solved = np.linalg.solve(moments + RIDGE * np.eye(moments.shape[-1]), h)  # (K, r, N)
    inverse = np.einsum("nr,krn->nk", functionals, solved)  # 0 for a functional that is unknown
    return np.asarray(np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0))

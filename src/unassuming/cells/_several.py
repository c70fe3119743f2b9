"""Several numbers at once: the rank of a vector of functionals (docs/theory.md 9.2).

The numbers are τ = Cθ with k rows in C. In cell b let X̃_b be the residuals of the k columns after
least squares on the nuisance columns. Then u_b = X̃_bᵀ(y_b - X_bτ) changes its sign with the noise
of the cell at the true τ. So the statistics ‖V^(-1/2) Σ_b s_b u_b‖² are exchangeable, with
V = Σ_b X̃_bᵀX̃_b. A cell that identifies a part of the numbers contributes that part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

from unassuming._rounding import EPS, rank_cut
from unassuming._typing import Array, IntArray
from unassuming.cells._factors import Factor
from unassuming.cells._signs import flipped_cells
from unassuming.ranking import draw_tie_order, precedes, rank


@dataclass(frozen=True, eq=False)
class PseudoRows:
    """Pseudo-rows of a linear model without nuisance, k for each cell that identifies something.

    The rows of a cell change their signs together: with `BlockSymmetric` noise and ``cells`` as
    blocks they make an ordinary least-squares region for the vector of numbers.

    Attributes
    ----------
    rows : array of shape (B, k, k)
        Triangular factors of X̃_bᵀX̃_b.
    targets : array of shape (B, k)
        What takes the place of y.
    error : array of shape (B, k)
        Bounds on the rounding errors of the targets.
    cells : integer array of shape (B,)
        The numbers of the cells.
    """

    rows: Array
    targets: Array
    error: Array
    cells: IntArray


def pseudo_rows(factors: Sequence[Factor], functionals: Array) -> PseudoRows:
    """Eliminate the nuisance coefficients from each cell.

    Parameters
    ----------
    factors : sequence of K Factor
    functionals : array of shape (k, d)
        Linearly independent rows.

    Examples
    --------
    >>> from unassuming.cells import factors_of_rows
    >>> Phi = np.column_stack([np.ones(6), [0.0, 1.0, 2.0, 0.0, 2.0, 4.0]])
    >>> y = np.array([0.0, 1.0, 2.0, 1.0, 2.0, 3.0])
    >>> cells = factors_of_rows(Phi, y, np.array([0, 0, 0, 1, 1, 1]), 2)
    >>> pseudo = pseudo_rows(cells, np.eye(2)[1:])
    >>> (pseudo.rows[:, 0, 0] ** 2).round(6), (pseudo.targets / pseudo.rows[:, 0]).ravel().round(6)
    (array([2., 8.]), array([1. , 0.5]))
    """
    k = len(functionals)
    kept: list[tuple[Array, Array, Array, int]] = []
    for b, factor in enumerate(factors):
        if not len(factor.T):
            continue
        C, offset = factor.coordinates(functionals)
        Q, L = qr(C.T, check_finite=False)  # the last d - k columns span the complement of C
        nuisance = factor.T @ Q[:, k:]
        x = factor.T @ solve_triangular(L[:k, :k], Q[:, :k].T, check_finite=False).T
        cut = max(factor.unit, rank_cut(factor.T.shape))
        x, z = _without(nuisance, x, factor.z, cut)
        lengths = np.linalg.norm(factor.T, axis=0).sum() * np.linalg.norm(np.linalg.pinv(C), axis=0)
        x = np.where(np.linalg.norm(x, axis=0) > 1e3 * cut * lengths, x, 0.0)
        if not x.any():
            continue
        q, R = np.linalg.qr(x)
        pad = k - len(R)
        rows = np.vstack([R, np.zeros((pad, k))])
        targets = np.append(q.T @ z, np.zeros(pad)) + rows @ offset
        error = 4 * (factor.unit * factor.length + EPS * (np.abs(rows) @ np.abs(offset)))
        kept.append((rows, targets, error, b))
    return PseudoRows(
        np.array([part[0] for part in kept]).reshape(-1, k, k),
        np.array([part[1] for part in kept]).reshape(-1, k),
        np.array([part[2] for part in kept]).reshape(-1, k),
        np.array([part[3] for part in kept], dtype=np.intp),
    )


def _without(nuisance: Array, x: Array, z: Array, cut: float) -> tuple[Array, Array]:
    """Return the residuals of x and z after least squares on the nuisance columns."""
    if not nuisance.size:
        return x, z
    Q, R, _ = qr(nuisance, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(np.diagonal(R))
    Q = Q[:, : int(np.count_nonzero(size > cut * max(size.max(initial=0.0), 1e-300)))]
    for _ in range(2):  # once more for orthogonality to rounding
        x, z = x - Q @ (Q.T @ x), z - Q @ (Q.T @ z)
    return x, z


def joint_rank(
    pseudo: PseudoRows, tau: Array, ties: str = "conservative", seed: int = 0
) -> tuple[int, Array]:
    """Return the rank of Z_0 for the hypothesis that the numbers are ``tau``, and all statistics.

    Parameters
    ----------
    pseudo : PseudoRows
        The cells.
    tau : array of shape (k,)
        The hypothetical values.
    ties : {"conservative", "random"}
        How equal statistics are counted.
    seed : int
        Where the tie order, and the signs of more than 16 cells, come from.

    Examples
    --------
    >>> targets = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> pseudo = PseudoRows(np.ones((4, 1, 1)), targets, 0 * targets, np.arange(4))
    >>> joint_rank(pseudo, np.zeros(1))[0], joint_rank(pseudo, np.array([2.5]))[0]
    (8, 1)
    """
    K, k = pseudo.targets.shape
    if K == 0:
        return 1, np.zeros(1)
    stacked = pseudo.rows.reshape(K * k, k)
    Q = np.linalg.qr(stacked)[0].reshape(K, k, k)  # ‖V^(-1/2) Σ s_b R_bᵀt_b‖ = ‖Σ s_b Q_bᵀt_b‖
    t = pseudo.targets - pseudo.rows @ tau
    u = np.einsum("bij,bi->bj", Q, t)
    size = np.abs(pseudo.targets) + np.abs(pseudo.rows) @ np.abs(tau)
    error = np.abs(Q).sum(axis=1) * (pseudo.error + 4 * k * EPS * size).sum(axis=1)[:, None]
    flipped = flipped_cells(K, seed).astype(np.float64)
    total, change = u.sum(axis=0), -2 * flipped @ u  # z_s = total + change
    gap = np.einsum("sj,sj->s", change, change + 2 * total)  # Z_s - Z_0, not of two large numbers
    moved = 2 * flipped @ error
    tolerance = np.einsum("sj,sj->s", np.abs(change + 2 * total), moved)
    tolerance += np.einsum("sj,sj->s", np.abs(change), moved + 2 * error.sum(axis=0))
    order = draw_tie_order(len(flipped) + 1, ties, np.random.default_rng([seed, 1]))
    position = int(rank(precedes(gap, tolerance, order)))
    return position, np.concatenate([[total @ total], np.square(total + change).sum(axis=1)])

"""Weights in the cells: kriging, with features that are not penalised reproduced exactly.

In cell b the estimate of L f* is a_bᵀy_b. Any weights that depend on the design alone will do.
Kriging weights (K_b + μI)⁻¹k_b balance bias and noise. Features that are not penalised vanish from
the error if a_bᵀZ_b = z. Of all such weights these have the smallest mean squared error for a prior
of covariance k and noise of variance μ (docs/theory.md 9.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh, svd

from unassuming._rounding import EPS, column_units, rank_cut
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.functions._system import System, Wanted

_STEPS = 2
"""Steps of refinement after which a_bᵀZ_b = z to rounding."""


@final
class Kriging:
    """Weights for any functional and any μ, in the cells of one division.

    Parameters
    ----------
    system : System
    labels : integer array of shape (n,)
        The cell of each row, from 0 to K - 1.
    K : int
        Number of cells.

    Examples
    --------
    >>> x, z = np.linspace(0, 1, 6), np.array([0.5])
    >>> kernel = lambda s, t: np.exp(-np.square(s[:, None] - t))
    >>> system = System(np.ones((6, 1)), np.ones(6), kernel(x, x))
    >>> wanted = Wanted(np.ones((1, 1)), np.ones(1), kernel(z, x))
    >>> a, identified = Kriging(system, np.arange(6) % 2, 2).weights(wanted, mu=1e-3)
    >>> round(float(a[0, ::2].sum()), 12), round(float(a[0, 1::2].sum()), 12), identified
    (1.0, 1.0, array([[ True,  True]]))
    """

    def __init__(self, system: System, labels: IntArray, K: int) -> None:
        self.system, self.labels, self.K = system, labels, K
        self.cells = [np.flatnonzero(labels == b) for b in range(K)]
        self._factors = [_Cell.of(system, rows) for rows in self.cells]

    def weights(self, wanted: Wanted, mu: float) -> tuple[Array, BoolArray]:
        """Return the weights (N, n), and which cells identify each functional (N, K)."""
        a = np.zeros((len(wanted), self.system.n))
        identified = np.zeros((len(wanted), self.K), dtype=bool)
        for b, (rows, cell) in enumerate(zip(self.cells, self._factors, strict=True)):
            if rows.size:
                a[:, rows], identified[:, b] = cell.weights(wanted, rows, mu)
        return a, identified


@final
@dataclass(frozen=True, eq=False)
class _Cell:
    """W^{1/2}K W^{1/2} = U diag(values) Uᵀ in one cell, and its features that are not penalised.

    ``turn`` (r, d) takes coordinates of a functional to those along U; None if kernel values do.
    """

    values: Array
    u: Array
    turn: Array | None
    trend: Array
    root: Array
    scale: Array

    @classmethod
    def of(cls, system: System, rows: IntArray) -> _Cell:
        root = np.sqrt(system.weight[rows])
        turn = None
        if system.features is not None:
            u, s, vt = svd(root[:, None] * system.features[rows], full_matrices=False)
            values, turn = np.square(s), s[:, None] * vt
        else:
            assert system.gram is not None
            K = root[:, None] * system.gram[np.ix_(rows, rows)] * root
            values, u = eigh(K, driver="evd") if rows.size else (np.zeros(0), K)
            values = np.maximum(values, 0.0)
        trend = root[:, None] * system.trend[rows]
        scale = column_units(trend)
        return cls(values, u, turn, trend / scale, root, scale)

    def weights(self, wanted: Wanted, rows: IntArray, mu: float) -> tuple[Array, BoolArray]:
        """Return the weights (N, n_b) and whether they reproduce the free features, (N,)."""
        if self.turn is None:
            assert wanted.at_rows is not None
            along = (wanted.at_rows[:, rows] * self.root) @ self.u
        else:
            assert wanted.features is not None
            along = wanted.features @ self.turn.T
        a = (along / (self.values + mu)) @ self.u.T
        if not self.trend.shape[1]:
            return a * self.root, np.ones(len(a), dtype=bool)
        z = wanted.trend / self.scale
        # S^{1/2} with S = (K + μI)⁻¹; outside the range of U it is 1/√μ.
        full = self.u.shape[1] == len(self.root)
        rest = 0.0 if full else 1 / np.sqrt(mu)
        half = 1 / np.sqrt(self.values + mu) - rest

        def halved(v: Array) -> Array:
            return np.asarray(self.u @ (half[:, None] * (self.u.T @ v)) + rest * v)

        p, d, vt = svd(halved(self.trend), full_matrices=False)
        keep = d > rank_cut((len(rows), 1)) * d.max(initial=0.0)
        back = halved(p[:, keep]) / d[keep]  # (n_b, r): a change of the weights
        for _ in range(_STEPS + 1):
            a = a + ((z - a @ self.trend) @ vt[keep].T) @ back.T
        missed = np.abs(z - a @ self.trend)
        size = np.abs(z) + np.abs(a) @ np.abs(self.trend)
        identified = missed.max(axis=1) <= 16 * (len(rows) + 4) * EPS * size.max(axis=1)
        return a * self.root, np.asarray(identified)

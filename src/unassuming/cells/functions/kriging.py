"""Weights in the cells of a function: kriging, with free features reproduced exactly (11.5).

The rows see f* = f + (features without a penalty) through representers k(x_j, ·), and a functional
L of f through its own; here all of them are vectors in common coordinates. In cell b the estimate
of L f* is a_bᵀy_b. Kriging weights (K_b + μI)⁻¹k_b balance bias and noise; features without a
penalty vanish from the error if a_bᵀZ_b = z. Any other weights from the design alone would do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh, solve_triangular, svd
from scipy.linalg.lapack import dpstrf

from unassuming._numerics import CUT, EPS
from unassuming._typing import Array, BoolArray, IntArray


@final
@dataclass(frozen=True, eq=False)
class System:
    """The rows: free features (n, p), sample weights (n,), and representers as vectors (n, r)."""

    # `unit` bounds the rounding of a vector, as a share of the length of the largest.

    trend: Array
    weight: Array
    features: Array
    unit: float

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.weight)

    @property
    def longest(self) -> float:
        """κ, the length of the longest representer."""
        return float(np.sqrt(np.square(self.features).sum(axis=1).max(initial=0.0)))


@final
@dataclass(frozen=True, eq=False)
class Wanted:
    """N functionals: their values on the free features (N, p), and their representers."""

    # These are vectors in the coordinates of the rows (N, r), and the length of what is orthogonal
    # to all rows (N,). `size` (N,) bounds the lengths of the terms of a sum that may cancel.

    trend: Array
    features: Array
    beyond: Array
    size: Array

    def __len__(self) -> int:
        return len(self.beyond)

    @property
    def norm(self) -> Array:
        """‖L‖ (N,); infinite if free features count, which no norm bounds."""
        norm = np.hypot(np.linalg.norm(self.features, axis=1), self.beyond)
        return np.where(self.trend.any(axis=1), np.inf, norm)

    def part(self, where: slice | IntArray) -> Wanted:
        """Return some of the functionals."""
        parts = self.trend, self.features, self.beyond, self.size
        return Wanted(*(part[where] for part in parts))


@final
class Coordinates:
    """Vectors with the inner products of a kernel: a pivoted Cholesky factor of its Gram matrix."""

    def __init__(self, gram: Array) -> None:
        """Factor it; what is left of its diagonal is smaller than the rounding of a vector."""
        n, largest = len(gram), float(np.diagonal(gram).max(initial=0.0))
        self.unit = float(np.sqrt(4 * (n + 4) * EPS))  # η of docs/theory.md 11.5
        L, pivots, rank, _ = dpstrf(gram, lower=1, tol=n * EPS * largest)
        rank = rank if largest > 0 else 0
        self.features = np.empty((n, rank))
        self.features[pivots - 1] = np.tril(L)[:, :rank]
        self._pivots, self._root = pivots[:rank] - 1, np.tril(L[:rank, :rank])

    def wanted(self, trend: Array, at_rows: Array, square: Array, size: Array) -> Wanted:
        """Return functionals from inner products with the rows (N, n) and squared norms (N,)."""
        g = solve_triangular(self._root, at_rows[:, self._pivots].T, lower=True).T
        rest = np.maximum(square - np.square(g).sum(axis=1), 0.0) + 64 * EPS * np.square(size)
        return Wanted(trend, g, np.sqrt(rest), size)


@final
class Kriging:
    """Weights for any functional and any μ, in K cells given by labels (n,)."""

    def __init__(self, system: System, labels: IntArray, K: int) -> None:
        self.system, self.labels, self.K = system, labels, K
        self.cells = [np.flatnonzero(labels == b) for b in range(K)]
        self._cells = [_Cell.of(system, rows) for rows in self.cells]

    def weights(self, wanted: Wanted, mu: float) -> tuple[Array, BoolArray]:
        """Return the weights (N, n), and which cells identify each functional (N, K)."""
        a = np.zeros((len(wanted), self.system.n))
        known = np.zeros((len(wanted), self.K), dtype=np.bool_)
        for b, (rows, cell) in enumerate(zip(self.cells, self._cells, strict=True)):
            if rows.size:
                a[:, rows], known[:, b] = cell.weights(wanted, mu)
        return a, known

    def sums(self, a: Array, y: Array) -> Array:
        """Return the estimates a_bᵀy_b for outputs y (..., n), shape (..., N, K)."""
        return np.stack([y[..., rows] @ a[:, rows].T for rows in self.cells], axis=-1)


@final
@dataclass(frozen=True, eq=False)
class _Cell:
    """W^½K_bW^½ = U diag(values) Uᵀ; ``turn`` takes representers to the coordinates of U."""

    values: Array
    U: Array
    turn: Array
    trend: Array
    root: Array

    @classmethod
    def of(cls, system: System, rows: IntArray) -> _Cell:
        root = np.sqrt(system.weight[rows])
        F = root[:, None] * system.features[rows]
        if F.shape[1] < len(F):
            U, s, _ = svd(F, full_matrices=False)
            values = np.square(s)
        else:
            values, U = eigh(F @ F.T) if rows.size else (np.zeros(0), np.zeros((0, 0)))
        trend = root[:, None] * system.trend[rows]
        return cls(np.maximum(values, 0.0), U, U.T @ F, trend, root)

    def weights(self, wanted: Wanted, mu: float) -> tuple[Array, BoolArray]:
        """Return the weights (N, n_b), and whether they reproduce the free features (N,)."""
        a = (wanted.features @ self.turn.T / (self.values + mu)) @ self.U.T
        if not self.trend.shape[1]:
            return a * self.root, np.ones(len(a), dtype=np.bool_)
        scale = np.abs(self.trend).max(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        Z, z = self.trend / scale, wanted.trend / scale
        # S^½ with S = (K + μI)⁻¹; outside the range of U it is 1/√μ.
        rest = 0.0 if self.U.shape[1] == len(self.U) else 1 / np.sqrt(mu)
        half = 1 / np.sqrt(self.values + mu) - rest

        def halved(v: Array) -> Array:
            return np.asarray(self.U @ (half[:, None] * (self.U.T @ v)) + rest * v)

        p, d, vt = svd(halved(Z), full_matrices=False)
        keep = d > CUT * d.max(initial=0.0)
        back = halved(p[:, keep]) / d[keep]  # (n_b, r): the smallest change of the weights
        for _ in range(3):  # refined until a_bᵀZ_b = z to rounding
            a = a + ((z - a @ Z) @ vt[keep].T) @ back.T
        size = np.abs(z) + np.abs(a) @ np.abs(Z)
        missed = np.abs(z - a @ Z).max(axis=1)
        return a * self.root, missed <= 16 * (len(Z) + 4) * EPS * size.max(axis=1)

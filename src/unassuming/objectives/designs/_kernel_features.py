"""The features of a kernel that has few of them: K = FFᵀ, decided and decomposed through F.

The condition of K is the square of that of F. A direction of relative size 1e-8 in the features has
1e-16 in K, where it cannot be told from rounding, though fitted values may move along it freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import svd
from scipy.linalg.lapack import dgejsv

from unassuming._rounding import EPS, powers_of_two, rank_cut
from unassuming._typing import Array
from unassuming.kernels import InnerProductKernel, TrainingKernel


@final
@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """F (n, D) with K = FFᵀ, and its rank."""

    kernel: InnerProductKernel
    F: Array
    rank: int
    inputs: int

    @classmethod
    def of(cls, kernel: TrainingKernel | None, most: int) -> KernelFeatures | None:
        """Return the features if there are at most that many."""
        if kernel is None or kernel.polynomial is None:
            return None
        polynomial, X = kernel.polynomial, kernel.X
        if polynomial.count(X.shape[1]) > most:
            return None
        F = polynomial.features(X)
        rank = numerical_rank(F, polynomial.degree + 2)
        return cls(polynomial, F, rank, X.shape[1]) if rank else None

    @property
    def rounding(self) -> float:
        """The relative error of every feature; the inputs themselves have none.

        A weight is the root of a sum of products of nonnegative numbers, with at most 2k + 2
        roundings for degree k, and k inputs are multiplied: 2k + 3 roundings of EPS / 2 in all.
        Dividing p inputs by their length adds p/2 + 3 to each factor.
        """
        kernel, k = self.kernel, self.kernel.degree
        if kernel.c == (0.0, 1.0) and not kernel.normalised:
            return 0.0
        more = k * (self.inputs / 2 + 3) if kernel.normalised else 0.0
        return (k + 2 + more / 2) * EPS

    def decomposition(self, root_weights: Array | None = None) -> tuple[Array, Array]:
        """Return singular values, in increasing order, and left singular vectors of W^{1/2}F."""
        F = self.F if root_weights is None else root_weights[:, None] * self.F
        u, s = graded_svd(F)
        return s[: self.rank][::-1], u[:, : self.rank][:, ::-1]

    def at(self, X: Array, *, projected: bool) -> Array:
        """Return the features at inputs X, or their projection on the span of the rows of F.

        The coefficients a determine only this part of a function.
        """
        rows = self.kernel.features(X)
        if projected and self._null.shape[1]:
            rows = rows - (rows @ self._null) @ self._null.T
        return rows

    @cached_property
    def _null(self) -> Array:
        """An orthonormal basis of the null space of F, shape (D, D - rank)."""
        D = self.F.shape[1]
        if self.rank == D:
            return np.zeros((D, 0))
        scaled, unit = _equilibrated(self.F)
        vt = svd(scaled, full_matrices=True)[2]
        return np.asarray(np.linalg.qr(vt[self.rank :].T / unit[:, None])[0])


def numerical_rank(F: Array, roundings: int) -> int:
    """Return the rank of F as far as double precision resolves it.

    Every entry may be off by that many roundings relative to itself. Rows and columns are scaled by
    powers of two, which changes neither the rank nor these errors. What is left of a smaller
    singular value may be their doing: it is below the norm of all errors, those of the
    decomposition included.
    """
    scaled, _ = _equilibrated(F)
    s = svd(scaled, compute_uv=False)
    cut = rank_cut(F.shape) * s[0] + roundings * EPS * float(np.linalg.norm(scaled))
    return int(np.count_nonzero(s > cut))


def _equilibrated(F: Array) -> tuple[Array, Array]:
    """Return F with rows and columns of length near one, and the units of the columns."""
    columns = powers_of_two(np.abs(F).max(axis=0))
    scaled = F / columns
    scaled = scaled / powers_of_two(np.abs(scaled).max(axis=1))[:, None]
    more = powers_of_two(np.linalg.norm(scaled, axis=0))
    return scaled / more, columns * more


def graded_svd(F: Array) -> tuple[Array, Array]:
    """Return left singular vectors and singular values, in decreasing order.

    One-sided Jacobi rotations after a QR decomposition with pivoting are accurate relative to each
    singular value, however differently rows and columns are scaled.
    """
    if F.shape[0] < F.shape[1]:
        u, s, _ = svd(F, full_matrices=False)
        return u, s
    s, u, _, work, _, info = dgejsv(F, joba=2, jobu=0, jobv=0, jobr=0, jobt=0, jobp=1)
    if info != 0:
        u, s, _ = svd(F, full_matrices=False)
        return u, s
    return u[:, : F.shape[1]], np.asarray(s * (work[0] / work[1]))

"""What lines and boxes need to know of a region of regression quantiles (docs/theory.md 13)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._numerics import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership import Engine
from unassuming.ranking import Order


@final
@dataclass(frozen=True, eq=False)
class Table:
    """The statistics of fresh signs, for coefficients whose signs are given."""

    Z: Array  # (m - 1,)
    order: Order
    tolerance: float

    def ranks(self, Z0: Array) -> IntArray:
        """Return the ranks of some Z_0 (N,), by a search in the sorted statistics."""
        order, ends = np.argsort(self.Z, kind="stable"), (-self.tolerance, self.tolerance)
        less, most = (np.searchsorted(self.Z[order], Z0 + end) for end in ends)
        ahead = np.append(0, np.cumsum(self.order.first[order]))  # of ties, by the tie order
        return np.asarray(1 + less + ahead[most] - ahead[less], dtype=np.intp)


@final
@dataclass(frozen=True, eq=False)
class SignModel:
    """z = pull (τ - b) - Ψc: b says which residuals are negative, c is the penalty's subgradient.

    ``pull`` is ΨL. The subgradient is that of l1, nearest to L(τ - b) where a coefficient is zero.
    """

    phi: Array  # (n, d): Φ
    y: Array  # (n,)
    pull: Array  # (k, n)
    L: Array  # (d, n)
    weighting: Array  # (k, d): Ψ
    l1: Array  # (d,)
    tau: float
    below: BoolArray  # (m - 1, n): fresh indicators
    order: Order

    @classmethod
    def of(cls, engine: Engine) -> SignModel | None:
        """Return the model of a region of quantiles; None if its statistics have no such form."""
        o, score = engine.objective, engine.score.along_lines
        if o.quantile is None or score is None or o.design is None or o.penalty is None:
            return None
        L = score.A if score.L is None else score.L
        Psi = np.eye(len(L)) if score.Psi is None else score.Psi
        parts = o.design.matrix, o.y, score.A, L, Psi, o.penalty.l1
        return cls(*parts, o.quantile, engine.drawn, engine.order)

    @property
    def m(self) -> int:
        """Number of statistics."""
        return len(self.below) + 1

    @cached_property
    def held(self) -> IntArray:
        """The coefficients with a penalty."""
        return np.flatnonzero(self.l1)

    def box(self, signs: Array) -> tuple[Array, Array]:
        """Return the least and the largest subgradient for signs (..., d) of coefficients."""
        return np.where(signs > 0, self.l1, -self.l1), np.where(signs < 0, -self.l1, self.l1)

    def of_sums(self, z: Array, u: Array, signs: Array) -> Array:
        """Return the gradients whose sums over the rows are z (..., k) = Ψu, u (..., d)."""
        if not len(self.held):
            return z
        return np.asarray(z - np.clip(u, *self.box(signs)) @ self.weighting.T)

    def table(self, signs: Array) -> Table:
        """Return the statistics of fresh signs, for signs (d,) of coefficients."""
        z, u = self._fresh
        Z = (self.of_sums(z, u, signs) ** 2).sum(axis=1)
        longest = np.linalg.norm(self.weighting) * np.linalg.norm(self.l1)
        size = float(np.linalg.norm(self.pull) + longest) ** 2
        return Table(Z, self.order, 16 * EPS * sum(self.pull.shape) * size)

    @cached_property
    def _fresh(self) -> tuple[Array, Array]:
        rho = self.tau - self.below
        return rho @ self.pull.T, rho @ self.L.T

    def tables(self, signs: Array) -> Iterator[tuple[IntArray, Table]]:
        """Yield the candidates (N,) that share a pattern of signs (N, d), and its table."""
        pattern, which = np.unique(signs[:, self.held], axis=0, return_inverse=True)
        for number, some in enumerate(pattern):
            every = np.ones(signs.shape[1])
            every[self.held] = some
            yield np.flatnonzero(which.reshape(-1) == number), self.table(every)

"""Ranks of many candidates by one matrix product; near-ties go to the engine (docs/theory.md 4.6).

Of a quadratic objective Z_i - Z_0 = c_i - 2 b_iᵀx - xᵀA_i x is linear in the monomials of x. Of a
quantile without a penalty the Z_i do not depend on the candidate, and Z_0 needs one product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import slices
from unassuming._second.membership.engine import Engine
from unassuming._typing import Array, BoolArray, IntArray

NEAR = 1e-10
"""Differences below this share of what was added up are left to the engine."""

_NUMBERS = 2**20
"""Numbers in one batch."""


@final
@dataclass(frozen=True, eq=False)
class QuadraticTable:
    """The forms A (S, p, p), b (S, p), c (S,) of all sets, in coordinates x = forward (a - â)."""

    engine: Engine
    A: Array
    b: Array
    c: Array
    forward: Array  # (p, d)
    estimate: Array

    def rank(self, a: Array) -> IntArray:
        """Return the ranks of coefficients a (N, d)."""
        i, j = self._pairs
        found = np.empty(len(a), dtype=np.intp)
        for which in slices(len(a), max(1, _NUMBERS // (len(i) + self.engine.m))):
            x = (a[which] - self.estimate) @ self.forward.T
            monomials = np.hstack([np.ones((len(x), 1)), x, x[:, i] * x[:, j]])
            gap = monomials @ self._columns
            size = np.abs(monomials).sum(axis=1, keepdims=True) * self._sizes
            found[which] = _settled(self.engine, a[which], gap, np.abs(gap) <= NEAR * size)
        return found

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        i, j = np.triu_indices(self.A.shape[1])
        return i, j

    @cached_property
    def _columns(self) -> Array:
        """The coefficients of the monomials, (1 + p + p (p + 1) / 2, S)."""
        i, j = self._pairs
        square = np.where(i == j, 1.0, 2.0) * self.A[:, i, j]
        columns = np.hstack([self.c[:, None], -2 * self.b, -square])
        return np.asarray(columns.T.copy())

    @cached_property
    def _sizes(self) -> Array:
        return np.asarray(np.abs(self._columns).max(axis=0))


@final
@dataclass(frozen=True, eq=False)
class FixedTable:
    """The statistics Z (S,) that no candidate changes, and z_0 = A ρ(r)."""

    engine: Engine
    A: Array
    Z: Array

    def rank(self, a: Array) -> IntArray:
        """Return the ranks of coefficients a (N, d)."""
        found = np.empty(len(a), dtype=np.intp)
        o = self.engine.objective
        assert o.loss is not None
        for which in slices(len(a), max(1, _NUMBERS // (o.n + self.engine.m))):
            at = o.state(a[which])
            z0 = o.loss.rho(at.r) @ self.A.T
            Z0 = (z0 * z0).sum(axis=1, keepdims=True)
            near = np.abs(self.Z - Z0) <= NEAR * (self.Z + Z0)
            near |= np.isin(at.r, o.loss.knots).any(axis=1, keepdims=True)
            found[which] = _settled(self.engine, a[which], self.Z - Z0, near)
        return found


def _settled(engine: Engine, a: Array, gap: Array, near: BoolArray) -> IntArray:
    """Return ranks from gaps (N, S); the engine decides candidates with a near-tie."""
    ranks = 1 + (gap < 0).sum(axis=1, dtype=np.intp)
    doubt = np.flatnonzero(near.any(axis=1))
    if len(doubt):
        ranks[doubt] = engine.rank(a[doubt])
    return np.asarray(ranks, dtype=np.intp)

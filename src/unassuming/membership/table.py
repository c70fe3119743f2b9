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
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership.engine import Engine

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
            near = np.abs(gap).min(axis=1) <= NEAR * np.abs(monomials).sum(axis=1)
            ranks = 1 + np.count_nonzero(gap < 0, axis=1)
            found[which] = _settled(self.engine, a[which], ranks, near)
        return found

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        i, j = np.triu_indices(self.A.shape[1])
        return i, j

    @cached_property
    def _columns(self) -> Array:
        """The coefficients of the monomials, (1 + p + p (p + 1) / 2, S), at most one each."""
        i, j = self._pairs
        square = np.where(i == j, 1.0, 2.0) * self.A[:, i, j]
        columns = np.hstack([self.c[:, None], -2 * self.b, -square]).T
        return np.ascontiguousarray(columns / np.abs(columns).max(axis=0))


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
        o, Z = self.engine.objective, np.sort(self.Z)
        assert o.loss is not None
        for which in slices(len(a), max(1, _NUMBERS // o.n)):
            at = o.state(a[which])
            z0 = o.loss.rho(at.r) @ self.A.T
            Z0 = np.einsum("nk,nk->n", z0, z0)
            below, least = (np.searchsorted(Z, Z0 * (1 + side)) for side in (NEAR, -NEAR))
            near = (below != least) | (at.r == 0).any(axis=1)
            found[which] = _settled(self.engine, a[which], 1 + least, near)
        return found


def _settled(engine: Engine, a: Array, ranks: IntArray, near: BoolArray) -> IntArray:
    """Return the ranks, decided by the engine where there is a near-tie."""
    doubt = np.flatnonzero(near)
    if len(doubt):
        ranks[doubt] = engine.rank(a[doubt])
    return ranks

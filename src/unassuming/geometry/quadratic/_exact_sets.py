"""Free directions and ties of sets in exact arithmetic, modulo primes (docs/theory.md 4, 4.4).

A direction v stays in E_i for ever iff diag(G_i, I) maps the stacked design's image of v back into
its range: iff there is a u with

    G_i Φ v = Φ u,      P v = P u.

Weights do not matter, since the transformations commute with them, and of λ only whether it is
zero. So the free directions are null spaces of matrices that are known to the last digit, and
whether sets share one is a question of ranks. Z_i and Z_0 tie at the estimate if
ΦᵀW(G_i - I)r̂ = 0, and that is known modulo a prime as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from unassuming._modular import (
    PRIMES,
    Remainders,
    column_basis,
    echelon,
    few_rows,
    intersection,
    null_space,
    product,
    rank_modulo,
    remainders,
)
from unassuming.geometry.quadratic._moved_columns import flips_signs
from unassuming.noise import Perturbations
from unassuming.objectives import Quadratic, exact_columns

_LARGEST = 2 * 10**8
"""Operations that all eliminations together may take."""
_NODES = 500
"""Intersections of sets that are tried in search of a direction that most of them share."""


class Shared(NamedTuple):
    """Sets that share a free direction."""

    sets: list[int]
    exact: bool  # whether no direction is shared by more sets


@final
@dataclass(frozen=True, eq=False)
class ExactSets:
    """The free directions of every set, modulo one prime."""

    Phi: Remainders  # (n, D): Φ, up to the scale of its columns
    penalty: Remainders  # (k, D): P u = P v iff this matrix times u and v is the same
    squares: Remainders | None  # (D, D): nλP for this scale of the columns; None if not rational
    pull: Remainders  # (D, n): ΦᵀW
    y: Remainders  # (n, 1)
    perturbations: Perturbations
    prime: int
    _spaces: dict[int, Remainders] = field(default_factory=dict)

    @classmethod
    def of(cls, objective: Quadratic, perturbations: Perturbations) -> list[ExactSets]:
        """Return the sets modulo each prime; none if Φ is not known exactly, or too large."""
        noise = perturbations.noise
        if not noise.exact_arithmetic or not noise.orthogonal:
            return []
        design, alpha = objective.design, objective.n * objective.lam
        found = [exact_columns(design, alpha, p, signs=flips_signs(noise)) for p in PRIMES]
        moves = []
        for one, p in zip(found, PRIMES, strict=True):
            if one is None:
                return []
            w = remainders(objective.w, p)
            y = remainders(objective.y, p)[:, None]
            moves.append(cls(*one, one[0].T * w % p, y, perturbations, p))
        (n, D), k = moves[0].Phi.shape, len(moves[0].penalty)
        work = (min(n, 2 * D) + k) * D * min(n, D) * (1 if flips_signs(noise) else 8)
        return moves if work * (perturbations.m - 1) <= _LARGEST else []

    @cached_property
    def _residual(self) -> Remainders | None:
        """r̂, (n, 1); None if it cannot be computed modulo the prime."""
        if self.squares is None:
            return None
        p = self.prime
        N = (product(self.pull, self.Phi, p) + self.squares) % p
        form, pivots = echelon(np.hstack([N, product(self.pull, self.y, p)]), p)
        if pivots and pivots[-1] == N.shape[1]:
            return None
        a = np.zeros((N.shape[1], 1), dtype=np.int64)
        a[pivots] = form[:, -1:]
        return (self.y - product(self.Phi, a, p)) % p

    def ties(self, i: int) -> bool | None:
        """Whether Z_i = Z_0 at the estimate; None if that is not known."""
        r = self._residual
        if r is None:
            return None
        change = self._moved(i, r) - r
        return not bool(product(self.pull, change % self.prime, self.prime).any())

    def _moved(self, i: int, M: Remainders) -> Remainders:
        """Return G_i M."""
        some = self.perturbations.take(slice(i, i + 1))
        return some.apply(M.T.astype(np.float64))[:, 0].T.astype(np.int64) % self.prime

    @cached_property
    def _rows(self) -> Remainders:
        """The echelon form of Φ, (r, D): directions that it maps to the same vector are one."""
        return echelon(self.Phi, self.prime)[0]

    @property
    def rank(self) -> int:
        """The rank of Φ."""
        return len(self._rows)

    def free(self, i: int) -> Remainders:
        """Return a basis (r, f) of the free directions of E_i that change fitted values."""
        if i not in self._spaces:
            v = self._directions(i)
            self._spaces[i] = column_basis(product(self._rows, v, self.prime), self.prime)
        return self._spaces[i]

    @cached_property
    def _held(self) -> bool:
        """Whether the penalty sees every direction, so that u = v."""
        D = self.Phi.shape[1]
        return bool(len(self.penalty) >= D and rank_modulo(self.penalty, self.prime) == D)

    def _directions(self, i: int) -> Remainders:
        p, Phi, P = self.prime, self.Phi, self.penalty
        if flips_signs(self.perturbations.noise):
            J = self._moved(i, np.ones((len(Phi), 1), dtype=np.int64))[:, 0] != 1
            still = null_space(self._mixed(Phi[J]), p)
            if self._held:
                return still
            return np.hstack([still, null_space(np.vstack([self._mixed(Phi[~J]), P]), p)])
        moved = self._moved(i, Phi)
        if self._held:
            return null_space(self._mixed((moved - Phi) % p), p)
        both = np.vstack([self._mixed(np.hstack([moved, -Phi % p])), np.hstack([P, -P % p])])
        return null_space(both, p)[: Phi.shape[1]]

    def _mixed(self, M: Remainders) -> Remainders:
        """Return few rows with the same null space."""
        return few_rows(M, self.prime)

    def share(self, sets: list[int]) -> bool:
        """Whether some sets share a direction."""
        common: Remainders | None = None
        for i in sets:
            free = self.free(i)
            common = free if common is None else intersection(common, free, self.prime)
            if not common.shape[1]:
                return False
        return common is not None and bool(common.shape[1])

    def most(self, sets: list[int], known: Sequence[int] = ()) -> Shared:
        """Return as many of the sets as share a direction; those in ``known`` do."""
        spaces = {i: self.free(i) for i in sets}
        whole = [i for i in sets if spaces[i].shape[1] == self.rank]
        others = [i for i in sets if 0 < spaces[i].shape[1] < self.rank]
        others.sort(key=lambda i: -spaces[i].shape[1])
        best, nodes = [i for i in known if i in others], 0
        stack: list[tuple[int, list[int], Remainders | None]] = [(0, [], None)]
        while stack and nodes < _NODES:
            k, chosen, common = stack.pop()
            if len(chosen) > len(best):
                best = chosen
            if k == len(others) or len(chosen) + len(others) - k <= len(best):
                continue
            i, nodes = others[k], nodes + 1
            free = spaces[i] if common is None else intersection(common, spaces[i], self.prime)
            if common is None or free.shape[1] < common.shape[1]:
                stack.append((k + 1, chosen, common))
            if free.shape[1]:
                stack.append((k + 1, [*chosen, i], free))
        if not self.rank:
            return Shared([], exact=True)
        return Shared(sorted(whole + best), exact=not stack)

"""The sets E_i = {Z_0 <= Z_i} as quadratic forms (docs/theory.md 4).

With D = I - QQᵀ, r̂ = D W^½y the weighted residuals of the estimate, r = r̂ - Cx those of a
candidate, and d = (G_i - I)r:  Z_i - Z_0 = -dᵀDd - 2dᵀr̂, up to a positive factor. Hence

    E_i = {x : xᵀA_i x + 2 b_iᵀx <= c_i},    A_i = (C_i)ᵀD C_i,  C_i = (G_i - I)C,
    a_i = Qᵀ(G_i - I)r̂,    b_i = Cᵀ(G_i - I)r̂ + C_iᵀQ a_i,    c_i = ‖a_i‖².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from unassuming._numerics import EPS, SEEN
from unassuming._typing import Array, BoolArray
from unassuming.noise import Noise
from unassuming.objectives.score import Groups

_NUMBERS = 2**22
"""Numbers in one batch of transformed columns."""


@final
@dataclass(frozen=True, eq=False)
class Forms:
    """A_i (S, p, p), b_i (S, p) and c_i (S,) of some of the sets.

    ``still`` are those with Z_i = Z_0 for every candidate.
    """

    A: Array
    b: Array
    c: Array
    still: BoolArray


@final
@dataclass(frozen=True, eq=False)
class Form:
    """What the forms are made of.

    Attributes
    ----------
    C : array of shape (n, p)
        Columns that change the weighted fitted values.
    Q : array of shape (n, k)
        Those of the factor of the objective.
    r : array of shape (n,)
        The weighted residuals of the estimate; those within rounding of zero are zero.
    root : array of shape (n,)
        W^½, which has to commute with the transformations.
    """

    C: Array
    Q: Array
    r: Array
    root: Array
    noise: Noise
    drawn: Any
    count: int

    @property
    def step(self) -> int:
        """How many sets make a batch."""
        n, p = self.C.shape
        return int(max(1, _NUMBERS // ((p if self.noise.rowwise else n) * (p + 1))))

    @property
    def single(self) -> bool:
        """Whether each column is one row, and signs change rows: then rows J alone have bounds."""
        n, p = self.C.shape
        return self.noise.rowwise and n == p and np.count_nonzero(self.C) == n

    def supports(self, t: Array) -> tuple[Array, Array]:
        """Return the largest tᵀx and -tᵀx over each set, (N, S) each, if columns are single rows.

        The rows J that change sign alone have bounds: r_JᵀD_JJ r_J <= r_Jᵀr̂_J with r = r̂ - x.
        """
        order = np.argmax(self.C != 0, axis=0)  # the row of each column
        up, down = (np.full((len(t), self.count), np.inf) for _ in range(2))
        for i, signs in enumerate(np.asarray(self.drawn)):
            J = np.flatnonzero(signs[order] < 0)
            outside = np.linalg.norm(np.delete(t, J, axis=1), axis=1)
            inside = np.flatnonzero(outside <= SEEN * np.linalg.norm(t, axis=1))
            if not len(inside):
                continue
            Q, r, own = self.Q[order[J]], self.r[order[J]], t[np.ix_(inside, J)]
            D = cho_factor(np.eye(len(J)) - Q @ Q.T)
            half, solved = cho_solve(D, r) / 2, cho_solve(D, own.T)
            reach = np.sqrt((half @ r / 2) * np.einsum("nj,jn->n", own, solved))
            middle = own @ (r - half)
            up[inside, i], down[inside, i] = middle + reach, reach - middle
        return up, down

    def at(self, which: slice) -> Forms:
        """Return some of the sets."""
        drawn = self.noise.take(self.drawn, which)
        A, b, c = self._of_signs(drawn) if self.noise.rowwise else self._of_maps(drawn)
        n, size = len(self.r), float(self.r @ self.r)
        moves = np.abs(A).max(axis=(1, 2), initial=0.0)
        still = (moves <= 64 * EPS * n) & (c <= (64 * EPS * n) ** 2 * size)
        return Forms((A + A.transpose(0, 2, 1)) / 2, b, c, still)

    def _of_signs(self, signs: Array) -> tuple[Array, Array, Array]:
        """Sum over the rows J that change sign: C_i = -2 C_J."""
        minus, same = signs < 0, self.C is self.Q
        a, b = (-2 * (minus * self.r) @ columns for columns in (self.Q, self.C))
        N = self._products(signs, self.C, self.Q)
        A = 4 * ((N if same else self._products(signs, self.C, self.C)) - N @ N.transpose(0, 2, 1))
        return A, b - 2 * np.einsum("spk,sk->sp", N, a), (a * a).sum(axis=1)

    def _products(self, signs: Array, C: Array, Q: Array) -> Array:
        """Return C_JᵀQ_J of each set, from sums over rows with equal signs if there are many."""
        groups = Groups.of(signs)
        if groups is None:
            return np.array([C[s < 0].T @ Q[s < 0] for s in signs])
        order = np.argsort(groups.of_row, kind="stable")
        ends = np.cumsum(np.bincount(groups.of_row))[:-1]
        parts = zip(np.split(C[order], ends), np.split(Q[order], ends), strict=True)
        return np.tensordot(groups.minus, np.array([c.T @ q for c, q in parts]), 1)

    def _of_maps(self, drawn: Any) -> tuple[Array, Array, Array]:
        """Transform r̂ and the columns as vectors of residuals."""
        rows = np.vstack([self.r, self.C.T]) / self.root
        moved = np.asarray(self.noise.apply(drawn, rows, rows), dtype=np.float64)
        moved = (moved - rows[:, None]) * self.root  # (p + 1, S, n)
        d, C = moved[0], np.moveaxis(moved[1:], 0, -1)
        a, N = d @ self.Q, np.matmul(self.Q.T, C)  # (S, k), (S, k, p)
        A = np.matmul(C.transpose(0, 2, 1), C - np.matmul(self.Q, N))
        return A, d @ self.C + np.einsum("skp,sk->sp", N, a), (a * a).sum(axis=1)

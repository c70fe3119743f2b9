"""The screen of quadratic objectives, in double and in single precision (docs/theory.md 4.6).

Each gap Z_i - Z_0 is a quadratic function of the whitened candidate, so it is linear in the
monomials of degree up to two. Single precision is faster, and leaves more candidates in doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._rounding import EPS, length, powers_of_two
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._doubt import Doubt
from unassuming.membership.screens._monomials import Floats, pairs_into, pairs_of
from unassuming.membership.screens._screen import FAR, LARGEST_TABLE, TableScreen, ties_before
from unassuming.noise import Perturbations
from unassuming.objectives import Quadratic, entry_errors

BATCH_BYTES = 2**24
"""The working memory for images of the columns of a design."""

_EPS_SINGLE = float(np.finfo(np.float32).eps)


@final
@dataclass(frozen=True, eq=False)
class LiftedGaps:
    """Z_i - Z_0 = vᵀQ_i v + l_iᵀv + c_i with v = H^{1/2}(a - â), for all i."""

    pull: Array  # (k, n): v = push a - pull r(a), see `Whitening`
    push: Array  # (k, d)
    unit: float  # a power of two near the largest output: r and a are taken in units of it
    table: Array  # (m - 1, k (k + 1) / 2 + k + 1): coefficients of v_a v_b (a <= b), v_a and 1
    size: Array  # (m - 1, 4): rounding errors are relative to these times ‖v‖², ‖v‖o, ‖v‖ + o and 1
    columns: Array  # (d,): rounding errors of fitted values are relative to |a| times these
    idle: BoolArray  # (m - 1,): transformations that move nothing, so that Z_i = Z_0
    rounding: float  # errors of the transformations themselves, if they come from sums

    @classmethod
    def build(
        cls, objective: Quadratic, perturbations: Perturbations, doubt: Doubt | None = None
    ) -> LiftedGaps | None:
        """Build the table, or return None if it would be too large."""
        white = objective.whitening
        pull, push = white.pull(objective.w), white.push
        k, transformations = len(pull), perturbations.m - 1
        if (k + 1) * (k + 2) // 2 * transformations > LARGEST_TABLE:
            return None
        unit = float(powers_of_two(np.abs(objective.y).max()))
        y = objective.y / unit
        # Fitted values move by n W⁻¹ pullᵀ v, so r = r̂ - n W⁻¹ pullᵀ v.
        moved = pull * (objective.n / objective.w)
        # The residuals r̂ = y - ŷ do not need the coefficients, which may be ill conditioned.
        r = (y - (pull @ y) @ moved)[None, :]
        vectors = np.concatenate([r, moved])
        images = np.empty((transformations, 1 + k, k))
        lengths = np.empty((1 + k, transformations))
        for some in slices(transformations, rows_that_fit(BATCH_BYTES, 4 * vectors.size)):
            moves = perturbations.take(some).apply(vectors)
            delta = moves - vectors[:, None, :]  # (G_i - I) of r̂ and each column
            images[some] = np.moveaxis(delta @ pull.T, 0, 1)
            lengths[:, some] = length(delta)
        b, N = images[:, 0], -np.swapaxes(images[:, 1:], 1, 2)  # d_i = b_i + N_i v
        Nt = np.swapaxes(N, 1, 2)
        Q = Nt @ N - N - Nt  # from ⟨d_i, d_i + 2 z_0⟩ with z_0 = -v
        linear = 2 * np.einsum("iab,ib->ia", Nt, b) - 2 * b
        constant = np.einsum("ia,ia->i", b, b)
        table = np.concatenate([pairs_of(Q), linear, constant[:, None]], axis=1)
        # Rounding errors are relative to the terms, not to their sum: where Z_i and Z_0 are the
        # same function, the table consists of such errors. The columns have errors of their own,
        # so that rows which are equal in exact arithmetic need not be equal here.
        pull_size = float(length(pull.ravel()))
        reach = pull_size * (lengths + length(vectors)[:, None])
        b_size = reach[0] + pull_size * length(y)
        N_size = length(reach[1:].T)
        c_size = b_size * (2 * np.sqrt(constant) + EPS * objective.n * b_size)
        # ‖v‖o: the errors of the residuals themselves, which the careful comparison lets tie.
        sizes = [N_size**2 + 2 * N_size, 4 * (N_size + 1) ** 2, 2 * (N_size + 1) * b_size, c_size]
        idle = np.asarray(~lengths.any(axis=0))
        table[idle] = 0.0
        # Fitted values have the errors of Φ a, and lose what the whitening cuts off.
        design = objective.design.matrix
        lost = length((design - moved.T @ (push + pull @ design)).T)
        columns = length(design.T) + lost / (8 * EPS * sum(design.shape))
        rounding = 1024 * objective.design.rounding
        if doubt is not None:
            rounding += 4 * doubt.defect
            columns += doubt.penalised / pull_size
        entries = entry_errors(objective.design)
        if entries is not None:
            columns += length(entries.T) / (8 * EPS * sum(design.shape))
        return cls(pull, push, unit, table, np.stack(sizes, axis=1), columns, idle, rounding)

    def gaps(self, a: Array, r: Array) -> tuple[Array, BoolArray]:
        """Return Z_i - Z_0 in squared units, (N, m - 1), and which candidates are in doubt."""
        n = self.pull.shape[1]
        a, r = a / self.unit, r / self.unit
        pushed, pulled = self.push @ a.T, self.pull @ r.T
        v = pushed - pulled
        monomials = np.empty((self.table.shape[1], len(a)))
        start = pairs_into(monomials, v, v)
        monomials[start:-1] = v
        monomials[-1] = 1.0
        gaps = self.table @ monomials
        # v itself has rounding errors, relative to its terms.
        size, pull_size = np.linalg.norm(v, axis=0), float(length(self.pull.ravel()))
        fitted = np.abs(a) @ self.columns + np.linalg.norm(r, axis=1)
        off = np.linalg.norm(pushed, axis=0) + fitted * pull_size
        unit = 8 * EPS * (n + len(monomials) + a.shape[1]) + self.rounding
        powers = np.stack([size**2, size * off, size + off, np.ones(len(a))])
        sure = np.abs(gaps) > (unit * self.size) @ powers  # False also where anything overflowed
        return gaps.T, ~sure[~self.idle].all(axis=0)


@final
@dataclass(frozen=True, eq=False)
class WhitenedScreen(TableScreen):
    """The gaps as quadratic functions of v = H^{1/2}(a - â), with numbers of 32 bits.

    With x = v/s and s = max(τ, ‖v‖), τ the scale of the data, the gap is s² times the product of
    the table with the monomials x_a x_b, x_a τ/s and (τ/s)², whose length is at most √3. So the
    rounding error of row i is at most γ√3 times the length of the row.
    """

    forward: Array  # (k, d): v = forward a - offset
    offset: Array  # (k,)
    scale: float  # τ
    reach: tuple[
        float, Array
    ]  # rounding errors of v are relative to the first plus ``|a|`` times (d,)

    @classmethod
    def build(
        cls, lifted: LiftedGaps, objective: Quadratic, tie_order: IntArray
    ) -> WhitenedScreen | None:
        """Return the screen, or None if a row consists of rounding errors."""
        scale = float(np.median(np.sqrt(np.maximum(lifted.table[:, -1], 0.0)))) or 1.0
        k, terms = len(lifted.pull), lifted.table.shape[1]
        powers = np.concatenate([np.ones(terms - k - 1), np.full(k, 1 / scale), [1 / scale**2]])
        table = lifted.table[~lifted.idle] * powers
        size = lifted.size[~lifted.idle] * [1.0, 1.0, 1 / scale, 1 / scale**2]
        single = (terms + 16) * _EPS_SINGLE * np.sqrt(3) * np.linalg.norm(table, axis=1)
        # Of the table itself and of v, as in LiftedGaps.
        unit = 8 * EPS * (terms + sum(objective.design.matrix.shape))
        tolerance = single + 4 * (unit * FAR + lifted.rounding) * size.sum(axis=1)
        if not (tolerance > 0).all():
            return None
        pull = float(length(lifted.pull.ravel()))
        unit = lifted.unit
        return cls(
            table=np.asarray(table / tolerance[:, None], dtype=np.float32),
            ties=ties_before(lifted.idle, tie_order),
            forward=(lifted.push + lifted.pull @ objective.design.matrix) / unit,
            offset=lifted.pull @ (objective.y / unit),
            scale=scale,
            reach=(
                pull * float(length(objective.y / unit)),
                (length(lifted.push.T) + pull * lifted.columns) / unit,
            ),
        )

    def monomials(self, a: Array) -> tuple[Floats, BoolArray]:
        """Return x_a x_b, x_a τ/s and (τ/s)²."""
        v = self.forward @ a.T - self.offset[:, None]
        s = np.maximum(self.scale, np.sqrt(np.einsum("kn,kn->n", v, v)))
        x, over = (v / s).astype(np.float32), (self.scale / s).astype(np.float32)
        monomials = np.empty((self.table.shape[1], len(a)), dtype=np.float32)
        start = pairs_into(monomials, x, x)
        np.multiply(x, over, out=monomials[start:-1])
        np.multiply(over, over, out=monomials[-1])
        return monomials, ~(self.reach[0] + np.abs(a) @ self.reach[1] <= FAR * s)

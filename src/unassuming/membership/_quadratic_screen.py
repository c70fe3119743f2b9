"""The screen of quadratic objectives: `LiftedGaps` in single precision (docs/theory.md 4.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._quadratic_gaps import LiftedGaps
from unassuming.membership._screen import FAR, Floats, Screen, pairs_into, ties_before
from unassuming.objectives import Quadratic

_EPS_SINGLE = float(np.finfo(np.float32).eps)


@final
@dataclass(frozen=True, eq=False)
class WhitenedScreen(Screen):
    """The gaps as quadratic functions of v = H^{1/2}(a - â), with numbers of 32 bits.

    With x = v/s and s = max(τ, ‖v‖), τ the scale of the data, the gap is s² times the product of
    the table with the monomials x_a x_b, x_a τ/s and (τ/s)², whose length is at most √3. So the
    rounding error of row i is at most γ√3 times the length of the row.
    """

    forward: Array  # (k, d): v = forward a - offset
    offset: Array  # (k,)
    scale: float  # τ
    reach: tuple[float, float]  # rounding errors of v are relative to the first plus ‖a‖ the second

    @classmethod
    def build(
        cls, lifted: LiftedGaps, objective: Quadratic, tie_order: IntArray
    ) -> WhitenedScreen | None:
        """Return the screen, or None if a row consists of rounding errors."""
        scale = float(np.median(np.sqrt(np.maximum(lifted.table[:, -1], 0.0)))) or 1.0
        k, terms = len(lifted.pull), lifted.table.shape[1]
        powers = np.concatenate([np.ones(terms - k - 1), np.full(k, 1 / scale), [1 / scale**2]])
        table = lifted.table[~lifted.idle] * powers
        size = lifted.size[~lifted.idle] * [1.0, 1 / scale, 1 / scale**2]
        single = (terms + 16) * _EPS_SINGLE * np.sqrt(3) * np.linalg.norm(table, axis=1)
        # Of the table itself and of v, as in LiftedGaps.
        unit = 8 * EPS * (terms + sum(objective.design.matrix.shape))
        tolerance = single + 4 * unit * FAR * size.sum(axis=1)
        if not (tolerance > 0).all():
            return None
        pull, push = (float(np.linalg.norm(part)) for part in (lifted.pull, lifted.push))
        return cls(
            table=np.asarray(table / tolerance[:, None], dtype=np.float32),
            ties=ties_before(lifted.idle, tie_order),
            forward=lifted.push + lifted.pull @ objective.design.matrix,
            offset=lifted.pull @ objective.y,
            scale=scale,
            reach=(pull * float(np.linalg.norm(objective.y)), push + pull * lifted.spread),
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
        length = np.sqrt(np.einsum("nd,nd->n", a, a))
        return monomials, ~(self.reach[0] + self.reach[1] * length <= FAR * s)

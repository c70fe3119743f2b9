"""The lifted product of quadratic objectives in single precision (docs/theory.md 4.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.objectives import Quadratic
from unassuming.regions._lifted import LiftedGaps
from unassuming.regions._screen import FAR, Floats, Screen, pairs_into, ties_before

_EPS, _EPS_SINGLE = float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps)


@final
@dataclass(frozen=True, eq=False)
class WhitenedScreen(Screen):
    """The gaps as quadratic functions of v = H^{1/2}(a - â), with numbers of 32 bits.

    With x = v/s and s = max(1, ‖v‖) the gap is s² times the product of the table with the monomials
    x_a x_b, x_a/s and 1/s², whose length is at most √3. So the rounding error of row i is at most
    γ√3 times the length of the row.

    Attributes
    ----------
    forward, offset : arrays of shape (k, d) and (k,)
        v = forward a - offset.
    reach : float
        What the rounding error of v is relative to: that many times 1 + ‖a‖.
    """

    forward: Array
    offset: Array
    reach: float

    @classmethod
    def build(
        cls, lifted: LiftedGaps, objective: Quadratic, tie_order: IntArray
    ) -> WhitenedScreen | None:
        """Return the screen, or None if a row is nothing but rounding."""
        table, size, terms = lifted.table[~lifted.idle], lifted.size, lifted.table.shape[1]
        single = (terms + 16) * _EPS_SINGLE * np.sqrt(3) * np.linalg.norm(table, axis=1)
        # Of the table itself and of v, as in LiftedGaps.
        unit = 8 * _EPS * (terms + sum(objective.design.matrix.shape))
        tolerance = single + 4 * unit * FAR * size[~lifted.idle].sum(axis=1)
        if not (tolerance > 0).all():
            return None
        forward = lifted.push + lifted.pull @ objective.design.matrix
        pull = float(np.linalg.norm(lifted.pull))
        reach = float(np.linalg.norm(lifted.push)) + pull * lifted.spread
        reach = max(reach, pull * float(np.linalg.norm(objective.y)))
        return cls(
            table=np.asarray(table / tolerance[:, None], dtype=np.float32),
            ties=ties_before(lifted.idle, tie_order),
            forward=forward,
            offset=lifted.pull @ objective.y,
            reach=reach,
        )

    def monomials(self, a: Array) -> tuple[Floats, BoolArray]:
        """Return x_a x_b, x_a/s and 1/s²."""
        v = self.forward @ a.T - self.offset[:, None]
        s = np.maximum(1.0, np.sqrt(np.einsum("kn,kn->n", v, v)))
        x, over = (v / s).astype(np.float32), (1 / s).astype(np.float32)
        monomials = np.empty((self.table.shape[1], len(a)), dtype=np.float32)
        start = pairs_into(monomials, x, x)
        np.multiply(x, over, out=monomials[start:-1])
        np.multiply(over, over, out=monomials[-1])
        return monomials, self.reach * (1 + np.sqrt(np.einsum("nd,nd->n", a, a))) > FAR * s

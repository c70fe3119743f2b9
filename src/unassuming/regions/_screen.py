"""The lifted product in single precision: it decides on most candidates, in half the time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.objectives import Quadratic
from unassuming.regions._lifted import LiftedGaps

_EPS = float(np.finfo(np.float64).eps)
_EPS_SINGLE = float(np.finfo(np.float32).eps)
_FAR = 1e4
"""Rounding errors of v may be relative to numbers that many times longer than v itself."""

Single = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Screen:
    """Signs of Z_i - Z_0 with numbers of 32 bits; what these leave in doubt is left in doubt.

    With x = v/s and s = max(1, ‖v‖) the gap is s² times the product of the table with the monomials
    x_a x_b, x_a/s and 1/s², whose length is at most √3. So the rounding error of row i is at most
    γ√3 times the length of the row; the rows are divided by that, and a gap is in doubt up to ±1.

    Attributes
    ----------
    table : array of shape (m - 1, K), single precision
    forward, offset : arrays of shape (k, d) and (k,)
        v = forward a - offset.
    reach : float
        What the rounding error of v is relative to: that many times 1 + ‖a‖.
    """

    table: Single
    forward: Array
    offset: Array
    reach: float

    @classmethod
    def build(cls, lifted: LiftedGaps, objective: Quadratic) -> Screen | None:
        """Return the screen, or None if a row is nothing but rounding."""
        table, terms = lifted.table, lifted.table.shape[1]
        single = (terms + 16) * _EPS_SINGLE * np.sqrt(3) * np.linalg.norm(table, axis=1)
        # Of the table itself and of v, as in LiftedGaps.
        unit = 8 * _EPS * (terms + sum(objective.design.matrix.shape))
        double = 4 * unit * _FAR * lifted.size.sum(axis=1)
        tolerance = single + double
        if not (tolerance > 0).all():
            return None
        forward = lifted.push + lifted.pull @ objective.design.matrix
        pull = float(np.linalg.norm(lifted.pull))
        reach = float(np.linalg.norm(lifted.push)) + pull * lifted.spread
        reach = max(reach, pull * float(np.linalg.norm(objective.y)))
        scaled = np.asarray(table / tolerance[:, None], dtype=np.float32)
        return cls(scaled, forward, lifted.pull @ objective.y, reach)

    def before(self, a: Array) -> tuple[IntArray, BoolArray]:
        """Return how many Z_i are less than Z_0, and which candidates (N, d) are in doubt."""
        k, count = len(self.offset), len(a)
        v = self.forward @ a.T - self.offset[:, None]
        length = np.sqrt(np.einsum("kn,kn->n", v, v))
        s = np.maximum(1.0, length)
        x, over = (v / s).astype(np.float32), (1 / s).astype(np.float32)
        monomials = np.empty((self.table.shape[1], count), dtype=np.float32)
        start = 0
        for j in range(k):
            np.multiply(x[j], x[j:], out=monomials[start : start + k - j])
            start += k - j
        np.multiply(x, over, out=monomials[start:-1])
        np.multiply(over, over, out=monomials[-1])
        gaps = self.table @ monomials
        # Sums of bytes, at most 127 at a time.
        negative = (gaps < 0).view(np.int8)
        below = np.zeros(count, dtype=np.intp)
        for top in range(0, len(negative), 127):
            below += np.add.reduce(negative[top : top + 127], axis=0, dtype=np.int8)
        nearest = np.minimum.reduce(np.abs(gaps, out=gaps), axis=0)
        far = self.reach * (1 + np.sqrt(np.einsum("nd,nd->n", a, a))) > _FAR * s
        return below, ~(nearest > 1) | far  # True also where anything overflowed

"""Z_i - Z_0 of labels along lines, without rounding: from moments of the features.

With g = ΦᵀWδ, s = ΦᵀWy and N = ΦᵀWΦ + alpha P

    n (Z_i - Z_0) = gᵀN⁺(g + 2s) - 2gᵀa,      δ = y⁽ⁱ⁾ - y.

If features are small beside the root of alpha, or of other columns, what decides is far below the
rounding errors of other terms, which cancel.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np

from unassuming._exact import Exact, Triangle
from unassuming._typing import Array, BoolArray


@final
class Moments:
    """The moments of a model with features Φ (n, d), weights (n,) and alpha P (d, d)."""

    def __init__(self, phi: Array, y: Array, w: Array, penalty: Array) -> None:
        self._given = phi, y, w, penalty

    @cached_property
    def _weighted(self) -> Exact:
        phi, _, w, _ = self._given
        return Exact.of(phi).T * Exact.of(w)

    @cached_property
    def _triangle(self) -> Triangle | None:
        """The factors of N; None if its numbers span too many digits."""
        phi, _, _, penalty = self._given
        N = self._weighted @ Exact.of(phi) + Exact.of(penalty)
        # Enough digits for its smallest entries beside its largest.
        longest = max(int(abs(x)).bit_length() for x in N.number.flat)
        try:
            return Triangle(N, digits=longest)
        except ArithmeticError:
            return None

    @cached_property
    def _twice(self) -> Exact:
        """2s."""
        return (self._weighted @ Exact.of(self._given[1])[:, None]).times_two_to(1)

    def affine(
        self, change: Array, origin: Array, direction: Array
    ) -> tuple[Array, Array, BoolArray]:
        """Return Z_i - Z_0 = Bt + C up to a factor, and which tie with Z_0, for some δ and lines.

        ``change`` is (N, n), the lines are (N, d).
        """
        whole, triangle = Exact(change.T.astype(np.int64).astype(object), 0), self._triangle
        if triangle is None or not len(change):
            none = np.zeros(len(change))
            return none, none, none == 0
        g = self._weighted @ whole
        x, a = triangle.solve(g + self._twice), Exact.of(2 * origin.T)
        C, B = (g * (x - a)).columns(), (g * Exact.of(-2 * direction.T)).columns()
        terms = (abs(g) * (abs(x) + abs(a))).columns().times_two_to(-triangle.bits // 2)
        values = []
        for b, c, rounding in zip(*_alike(B, C, terms), strict=True):
            c = c if abs(c) > rounding else 0
            unit = 1 << max(abs(b), abs(c)).bit_length()
            values.append((b / unit, c / unit))
        slope, start = np.array(values).T
        return slope, start, (slope == 0) & (start == 0)


def _alike(*numbers: Exact) -> list[Any]:
    """Return integers over one power of two."""
    shift = max(x.shift for x in numbers)
    return [x.to(shift) for x in numbers]

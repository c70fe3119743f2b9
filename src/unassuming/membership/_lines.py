"""Ends of sets on lines: confirmed in double precision, or computed without rounding.

Along a line Z_i - Z_0 = c + bt + kt² with k <= 0, and {Z_0 <= Z_i} is an interval of t. With bounds
of the errors of c, b and k, its signs on both sides of both ends confirm an interval. A line
outside the set is confirmed by the largest value of the polynomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from unassuming._products import image
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray
from unassuming.membership._doubt import Doubt
from unassuming.objectives import Moves, Score
from unassuming.ranking import Contrast

_NEAR = 1e-8
"""Ends are confirmed up to this relative error."""


@final
@dataclass(frozen=True, eq=False)
class LineGaps:
    """c, b and k of N lines and m - 1 sets, shape (3, N, m - 1), and bounds of their errors.

    ``wide`` are bounds that allow for rounding of the data too, within which statistics count as
    tied: a set has to be more than that. By default they are the same.
    """

    values: Array
    errors: Array
    wide: Array | None = None

    @classmethod
    def of(cls, doubt: Doubt, score: Score, moves: Moves, a: Array, u: Array) -> Self:
        """Restrict the gaps to lines a + t u, each (N, d)."""
        o = doubt.objective
        (f, f_error), (step, s_error) = (image(x, o.design.matrix.T) for x in (a, u))
        r, step = o.y - f, -step
        with np.errstate(all="ignore"):  # what overflows is not confirmed
            moved, stepped = moves.apply(r), moves.apply(step)
            sizes, sizes_of_step = doubt.sizes(a, r, moved), doubt.sizes(u, step, stepped)
            c, k = doubt.of_product(sizes, sizes), doubt.of_product(sizes_of_step, sizes_of_step)
            b = doubt.of_product(sizes, sizes_of_step) + doubt.of_product(sizes_of_step, sizes)
            own = f_error + EPS * np.abs(r) + doubt.residuals(a), s_error + doubt.residuals(u)
            wide = o.residual_error(a, r) + doubt.residuals(a), o.product_error(u) + own[1]
            found = []
            for error, step_error in (own, wide):
                here = score.contrast(a, r, moved, exact=True, error=error)
                along = score.contrast(u, step, stepped, exact=True, error=step_error)
                parts = [_product(here, here), _product(here, along), _product(along, here)]
                values, errors = zip(*parts, _product(along, along), strict=True)
                found.append(np.stack([errors[0] + c, errors[1] + errors[2] + b, errors[3] + k]))
        return cls(np.stack([values[0], values[1] + values[2], values[3]]), *found)

    def confirmed(
        self, low: Array, high: Array, near_end: float = _NEAR, near_width: float = 0.0
    ) -> BoolArray:
        """Return which intervals are right, (N, m - 1) each, up to these relative errors.

        They are relative to the ends, and to the lengths of the intervals.
        """
        with np.errstate(all="ignore"):
            near = [near_end * np.abs(end) + near_width * (high - low) for end in (low, high)]
            inside = [self._above(low + near[0], 1), self._above(high - near[1], 1)]
            outside = [self._above(low - near[0], -1), self._above(high + near[1], -1)]
            wide = self.errors if self.wide is None else self.wide
            if self.wide is not None:
                width = high - low
                inside.append(self._above((low + high) / 2, 1, wide))
                outside += [self._above(t, -1, wide) for t in (low - width, high + width)]
            c, b, k = self.values
            dc, db, dk = wide
            bend = -k - dk
            missed = (bend > 0) & (c + dc + (np.abs(b) + db) ** 2 / (4 * bend) < 0)
        ends = np.logical_and.reduce(inside + outside) & np.isfinite(low) & np.isfinite(high)
        return np.asarray(np.where(low > high, missed, ends))

    def _above(self, t: Array, sign: int, errors: Array | None = None) -> BoolArray:
        """Whether the polynomial certainly has this sign at t."""
        c, b, k = self.values
        dc, db, dk = self.errors if errors is None else errors
        error = dc + np.abs(t) * (db + np.abs(t) * dk)
        return np.asarray(sign * (c + t * (b + t * k)) > 2 * error)


def _product(one: Contrast, two: Contrast) -> tuple[Array, Array]:
    """Return ⟨d, d' + 2z_0'⟩ of two contrasts and a bound of its error, (N, m - 1) each."""
    d, e = one.difference, one.difference_error
    s = two.difference + 2 * two.reference[:, None, :]
    s_error = two.difference_error + 2 * two.reference_error[:, None, :]
    value = np.einsum("nik,nik->ni", d, s)
    return value, ((np.abs(s) + s_error) * e).sum(axis=-1) + (np.abs(d) * s_error).sum(axis=-1)

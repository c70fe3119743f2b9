"""Where a quadratic polynomial is positive, in exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, isqrt
from typing import final

_DIGITS = 160
"""Digits of square roots."""


@final
@dataclass(frozen=True)
class Parabola:
    """c + bt + kt² with integers as coefficients, up to a positive factor.

    Examples
    --------
    >>> Parabola(2, 1, -1).ends(wins=True)
    (-1.0, 2.0)
    """

    c: int
    b: int
    k: int

    def places(self, least: float) -> tuple[float, ...]:
        """Points inside, and on both sides of, the interval where the polynomial is positive.

        They are at least ``least`` apart.
        """
        middle = _ratio(-self.b, 2 * self.k) if self.k else 0.0
        low, high = self.ends(wins=False)
        width = high - low if -inf < low < high < inf else 0.0
        away = max(width, abs(middle) / 2, least) or 1.0
        places = middle + away, middle, middle - away
        return places if all(map(isfinite, places)) else ()

    def ends(self, *, wins: bool) -> tuple[float, float]:
        """Return the ends of {t : c + bt + kt² >= 0}, for k <= 0; (∞, -∞) if it is empty.

        ``wins`` says whether points belong to the set if the polynomial vanishes identically.
        """
        c, b, k = self.c, self.b, self.k
        if k > 0:  # impossible for exact coefficients
            raise ArithmeticError("the set is not convex")
        if k == 0 and b == 0:
            return (-inf, inf) if c > 0 or (c == 0 and wins) else (inf, -inf)
        if k == 0:
            end = _ratio(-c, b)
            return (end, inf) if b > 0 else (-inf, end)
        square = b * b - 4 * k * c
        if square < 0:
            return inf, -inf
        # The two roots without cancellation: q/k and c/q with q = -(b ± √(b² - 4kc))/2.
        up = max(0, 2 * _DIGITS - square.bit_length())
        up += up % 2
        root = isqrt(square << up)
        whole = abs(b) << (up // 2)
        q = -(root + whole) if b >= 0 else root + whole
        one = _ratio(q, 2 * k << (up // 2))
        two = _ratio((2 * c) << (up // 2), q) if q else 0.0
        return min(one, two), max(one, two)


def _ratio(x: int, y: int) -> float:
    """Return x / y, rounded; infinite if it is too large."""
    try:
        return x / y
    except OverflowError:
        return inf if (x > 0) == (y > 0) else -inf

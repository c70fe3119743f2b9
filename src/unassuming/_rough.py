"""Numbers with bounds of their errors: quick answers that are certain, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from unassuming._exact import Exact
from unassuming._typing import BoolArray

_FLOAT = np.longdouble
_ROUNDING = np.finfo(_FLOAT).eps
_SMALLEST = np.finfo(_FLOAT).tiny
_DIGITS = 62
"""Binary digits that are kept of each number."""
_dropped = np.frompyfunc(lambda x: max(0, int(x).bit_length() - _DIGITS), 1, 1)


@final
@dataclass(frozen=True, eq=False)
class Rough:
    """An array of numbers x with ``|x - middle| <= radius``.

    The radii are rounded themselves, which a comparison allows for. Overflow leaves them infinite
    or undefined, and no comparison is certain then.

    Examples
    --------
    >>> x = Rough.of(Exact.of(np.array([0.1, 0.2])))
    >>> x[0].at_most(x[1]), (x[0] + x[0]).at_most(x[1])
    (True, None)
    """

    middle: Any
    radius: Any

    @classmethod
    def of(cls, x: Exact) -> Rough:
        """Return exact numbers to some 60 binary digits each."""
        number = np.asarray(x.number, dtype=object)
        drop = np.asarray(_dropped(number), dtype=object)
        leading = np.asarray(number >> drop, dtype=object).astype(np.int64).astype(_FLOAT)
        power = drop.astype(np.intc) - x.shift
        with np.errstate(over="ignore", under="ignore"):
            middle = np.ldexp(leading, power)
            unit = np.ldexp((drop > 0).astype(_FLOAT), power)
            return cls(middle, _ROUNDING * np.abs(middle) + unit + _SMALLEST)

    @np.errstate(all="ignore")
    def __add__(self, other: Rough) -> Rough:
        return _rounded(self.middle + other.middle, self.radius + other.radius)

    @np.errstate(all="ignore")
    def __sub__(self, other: Rough) -> Rough:
        return _rounded(self.middle - other.middle, self.radius + other.radius)

    @np.errstate(all="ignore")
    def __mul__(self, other: Rough) -> Rough:
        size = np.abs(self.middle) + self.radius
        radius = size * other.radius + self.radius * np.abs(other.middle) + _SMALLEST
        return _rounded(self.middle * other.middle, radius)

    @np.errstate(all="ignore")
    def __matmul__(self, other: Rough) -> Rough:
        terms = self.middle.shape[-1]
        size, other_size = np.abs(self.middle), np.abs(other.middle)
        radius = (size + self.radius) @ other.radius + self.radius @ other_size
        radius = radius + terms * (_ROUNDING * (size @ other_size) + _SMALLEST)
        return _rounded(self.middle @ other.middle, radius)

    def __abs__(self) -> Rough:
        return Rough(np.abs(self.middle), self.radius)

    def __getitem__(self, which: Any) -> Rough:
        return Rough(self.middle[which], self.radius[which])

    @property
    def T(self) -> Rough:
        """The transpose."""
        return Rough(self.middle.T, self.radius.T)

    @np.errstate(all="ignore")
    def sum(self) -> Rough:
        """Return the sum of all entries."""
        terms = np.abs(self.middle).sum() * (_ROUNDING * np.size(self.middle))
        return _rounded(self.middle.sum(), self.radius.sum() + terms)

    @np.errstate(all="ignore")
    def columns(self) -> Rough:
        """Return the sums of the columns."""
        terms = np.abs(self.middle).sum(axis=0) * (_ROUNDING * len(self.middle))
        return _rounded(self.middle.sum(axis=0), self.radius.sum(axis=0) + terms)

    @np.errstate(all="ignore")
    def times_two_to(self, power: int) -> Rough:
        """Return the numbers times a power of two."""
        radius = np.ldexp(self.radius, power) + _SMALLEST
        return Rough(np.ldexp(self.middle, power), radius)

    def least(self, other: Rough) -> Rough:
        """Return the smaller of two numbers."""
        radius = np.maximum(self.radius, other.radius)
        return Rough(np.minimum(self.middle, other.middle), radius)

    def most(self, other: Rough) -> Rough:
        """Return the larger of two numbers."""
        radius = np.maximum(self.radius, other.radius)
        return Rough(np.maximum(self.middle, other.middle), radius)

    @np.errstate(all="ignore")
    def at_most(self, other: Rough) -> bool | None:
        """Whether one number is at most another; None if that is not certain."""
        gap = other - self
        return bool(gap.middle > 0) if np.abs(gap.middle) > 2 * gap.radius else None

    @np.errstate(all="ignore")
    def certainly_above(self, other: Rough) -> BoolArray:
        """Return which numbers are certainly larger than others."""
        gap = self - other
        return np.asarray(gap.middle > 2 * gap.radius)


def _rounded(middle: Any, radius: Any) -> Rough:
    return Rough(middle, radius + _ROUNDING * np.abs(middle))

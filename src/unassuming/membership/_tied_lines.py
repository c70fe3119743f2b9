"""Lines at whose origin rounding of the data may make two statistics equal.

Statistics that are meant to tie on a whole line are within rounding of each other everywhere. If
they are not somewhere, the line counts as it was given.

Along a line Z_i - Z_0 = c + bt + kt², and rounding may change this by about B_0 + B_1|t| + B_2 t².
The origin shows whether c is more than that. Very far away k decides, and b exceeds the bound by
most where B_0 = B_2 t². On one side of the origin terms of the bound may cancel, so that it grows
later. There b exceeds it as soon as bt is more than B_0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import final

import numpy as np

from unassuming._exact import Exact
from unassuming._typing import BoolArray, IntArray
from unassuming.membership._parabola import Parabola
from unassuming.membership._states import State, nearest

_FAR = 64
"""Where a step changes so many binary digits more than there was before, nothing else matters."""
_MORE = -40
"""Where bt certainly exceeds B_0: by 2 to this power, and not 2^-52, in units of rounding."""
_APART = 8
"""Powers of two are multiples of this one, so that statistics share the places where they are."""

Places = tuple[Fraction, ...]


@final
@dataclass(frozen=True, eq=False)
class TiedLine:
    """A line a + t u on which some Z_i tie with Z_0 at the origin: ``here`` is a, ``along`` u."""

    here: State
    along: State

    def throughout(self, some: IntArray, gaps: Sequence[Parabola]) -> BoolArray:
        """Return which of some Z_i of ``here`` tie all along the line, given Z_i - Z_0 on it.

        They are compared at a few places only, since each takes the solution of the equations.
        """
        near = [tuple(map(Fraction, gap.places(self._least))) for gap in gaps]
        tied = self._tied(some, near)
        far = Fraction(2) ** self._far
        tied[tied] = self._tied(some[tied], [(far, -far)] * int(tied.sum()))
        left = [gap for gap, open_ in zip(gaps, tied, strict=True) if open_]
        tied[tied] = self._tied(some[tied], self._between(some[tied], left))
        return tied

    def _tied(self, some: IntArray, places: Sequence[Places]) -> BoolArray:
        """Return which statistics tie at their places; not those without any."""
        tied = np.array([bool(one) for one in places], dtype=np.bool_)
        for t in dict.fromkeys(t for one in places for t in one):
            asked = np.flatnonzero(tied & [t in one for one in places])
            if asked.size:
                tied[asked] = np.equal(self._at(t, some[asked]).order, 0)
        return tied

    def _between(self, some: IntArray, gaps: Sequence[Parabola]) -> list[Places]:
        """Return for each statistic where B_0 = B_2 t², and where bt is more than B_0."""
        if not some.size:
            return []
        t = Fraction(2) ** self._far
        far, found = self._at(t, some), list[Places]()
        for k, (j, gap) in enumerate(zip(some.tolist(), gaps, strict=True), start=1):
            least = self.here.log_blur(j + 1)
            powers = [(least - far.log_blur(k)) / 2 + self._far]
            whole = gap.c + gap.b * t + gap.k * t**2
            if gap.b and whole:  # the unit of c, b and k is seen far away
                unit = _log2(far.gaps[k - 1]) - _binary_digits(whole)
                powers.append(least + _MORE - unit - _binary_digits(Fraction(gap.b)))
            steps = [
                Fraction(2) ** (_APART * round(power / _APART)) if isfinite(power) else Fraction(0)
                for power in powers
            ]
            found.append(tuple(sign * step for step in steps for sign in (1, -1)))
        return found

    def _at(self, t: Fraction, some: IntArray) -> State:
        """Return the candidate a + t u, and some of its perturbations."""
        here, step = self.here, Exact(t.numerator, t.denominator.bit_length() - 1)
        a = here.a + self.along.a * step
        r = here.system.residuals(a)
        return State(here.system, here.moves, a, r, here.which[some], here.always)

    @cached_property
    def _least(self) -> float:
        """A step that changes every coefficient that it moves by its own size or more.

        Steps that change coefficients by less than their rounding show nothing.
        """
        a, u = np.abs(nearest(self.here.a)), np.abs(nearest(self.along.a))
        return float((a[u > 0] / u[u > 0]).max(initial=0.0))

    @cached_property
    def _far(self) -> int:
        """The power of two of a step beside which neither y nor a matters, in any row that moves.

        A row may move by far less than another one.
        """
        moved, system = abs(self.along.r), self.here.system
        rows = np.flatnonzero(moved.number)
        held = [abs(system.y), abs(system.Phi) @ abs(self.here.a)]
        steps = [_log2(x[j]) - _log2(moved[j]) for x in held for j in rows if x.number[j]]
        return _FAR + max([int(np.frexp(self._least)[1]), *steps])


def _log2(x: Exact) -> int:
    """Return the binary logarithm of the size of a number, rounded up."""
    return abs(int(x.number)).bit_length() - x.shift


def _binary_digits(x: Fraction) -> int:
    """Return the binary logarithm of the size of a number, to within one."""
    return abs(x.numerator).bit_length() - x.denominator.bit_length()

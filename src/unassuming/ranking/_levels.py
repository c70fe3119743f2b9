"""Confidence levels as integers: p = 1 - q/m, the only levels that ranks from 1 to m can have."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10
from numbers import Real
from typing import Any, final

import numpy as np

_SHORT = 9
"""Digits and point of a level that is printed as it is, as 0.9921875 is."""

_SLACK = 1e-9
"""Distance of a level from a multiple of 1/m that counts as rounding (0.29 * 100 is not 29)."""


@dataclass(frozen=True)
class Level:
    """The confidence level p = 1 - q/m, kept as the integers q and m.

    Examples
    --------
    >>> Level.at_least(0.95, m=100)
    Level(q=5, m=100)
    >>> Level.at_least(0.9, m=128)
    Level(q=12, m=128)
    >>> float(Level.at_least(0.9, m=128))
    0.90625
    """

    q: int
    m: int

    @classmethod
    def at_least(cls, level: float, m: int) -> Level:
        """Return the smallest multiple of 1/m that is not below the level."""
        position = max(1, ceil(_position(level, m) - _slack(level) * m))
        if position >= m:
            raise _above_all(level, m)
        return cls(m - position, m)

    def __float__(self) -> float:
        """Return p = 1 - q/m."""
        return (self.m - self.q) / self.m

    @property
    def largest_rank(self) -> int:
        """The largest rank that a candidate in the region may have."""
        return self.m - self.q


@final
class InadmissibleLevel(ValueError):
    """A level that m statistics do not have.

    Attributes
    ----------
    command_line : str
        The message for a reader of the command line.
    """

    def __init__(self, message: str, command_line: str) -> None:
        super().__init__(message, command_line)
        self.command_line = command_line

    def __str__(self) -> str:
        return str(self.args[0])


def _above_all(level: Any, m: int) -> InadmissibleLevel:
    """Name the highest level of m statistics, and the smallest m that would do."""
    p, highest = as_double(level), level_in_digits((m - 1) / m, m)
    fewest = ceil((1 - _SLACK) / (1 - p))
    rows = (fewest - 1).bit_length() + 1
    given = f"expected at most {highest} with m = {m} statistics, given {p!r}"
    return InadmissibleLevel(
        f"level is too high: {given}. Pass level={highest}; {p!r} takes m={fewest} or more, and "
        f"with signs at least {rows} rows or blocks.",
        f"--level is too high: {given}. Try --level {highest}; {p!r} takes --m {fewest} or more, "
        f"and with signs at least {rows} rows or blocks.",
    )


def level_in_digits(level: float, m: int | None = None) -> str:
    """Return a level in the digits that identify it, rounded down.

    Parameters
    ----------
    level : float
    m : int, optional
        Only multiples of 1/m are admissible: the result stands for the nearest one. Without m any
        level may be asked for, and three digits of one minus the level are enough.

    Examples
    --------
    >>> level_in_digits(1 - 1 / 2**15), level_in_digits(1 - 1 / 2**15, m=2**15)
    ('0.9999694', '0.999969482')
    >>> level_in_digits(0.83, m=100), level_in_digits(0.875, m=8), level_in_digits(2 / 3, m=3)
    ('0.83', '0.875', '0.666666666')
    >>> level_in_digits(0.999)
    '0.999'
    """
    exact = Fraction(repr(float(level))) if m is None else Fraction(round(level * m), m)
    digits = 2 - floor(log10(1 - exact))
    while m is not None and not _stands_for(_down(exact, digits), exact):
        digits += 1
    return f"{_down(exact, digits):.{digits}f}".rstrip("0")


def level_in_print(level: float) -> str:
    """Return a level for a reader: all its digits if they are few, else six or more.

    Examples
    --------
    >>> level_in_print(0.953125), level_in_print(1 - 1638 / 2**15), level_in_print(1 - 2**-20)
    ('0.953125', '0.950012', '0.999999046')
    """
    exact = f"{level:.12g}"
    return exact if len(exact) <= _SHORT else f"{level:.{max(6, 2 - floor(log10(1 - level)))}g}"


def _down(level: Fraction, digits: int) -> float:
    return float(Fraction(floor(level * 10**digits), 10**digits))


def _stands_for(level: float, exact: Fraction) -> bool:
    return level > 0 and bool(abs(level - exact) <= _SLACK)


def as_levels(level: Any) -> list[Any]:
    """Return one level or several as a list; raise if it would be empty.

    Parameters
    ----------
    level : float or sequence of floats

    Examples
    --------
    >>> as_levels(0.9), as_levels([0.5, 0.9])
    ([0.9], [0.5, 0.9])
    """
    levels = list(level) if np.ndim(level) == 1 else [level]
    if not levels:
        raise ValueError(
            "level must be a number strictly between 0 and 1, or several, given none. Pass e.g. "
            "0.9 or [0.5, 0.9]."
        )
    return levels


def as_double(level: Any) -> float:
    """Return ``level`` in double precision; one in lower precision by its printed decimal.

    Examples
    --------
    >>> as_double(np.float32(0.9))
    0.9
    """
    scalar = level[()] if isinstance(level, np.ndarray) else level
    short = isinstance(scalar, np.floating) and scalar.itemsize < 8
    return float(str(scalar)) if short else float(scalar)


def _slack(level: Any) -> float:
    """Return the slack of a level in its own precision."""
    dtype = getattr(level, "dtype", None)
    if dtype is None or dtype.kind != "f":
        return _SLACK
    return max(_SLACK, float(np.finfo(dtype).eps))


def _position(level: Any, m: int) -> float:
    """Return level * m; raise unless the level is one number between 0 and 1."""
    if isinstance(level, np.ndarray) and level.ndim == 0:
        level = level[()]
    number = isinstance(level, Real) and not isinstance(level, bool)
    if number and 0 < level < 1:
        return as_double(level) * m
    remedy = "Pass e.g. 0.9."
    if number and 2 <= level < 100:
        remedy = f"Pass {level / 100:g} if {level:g} percent was meant."
    elif np.ndim(level):
        remedy = "Pass one level, e.g. 0.9."
    raise ValueError(
        f"level must be {'one' if np.ndim(level) else 'a'} number strictly between 0 and 1, given "
        f"{level!r}. {remedy}"
    )


def check_m(m: object) -> int:
    """Return m as an integer of at least 2, or raise.

    Examples
    --------
    >>> check_m(100)
    100
    """
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or m < 2:
        raise ValueError(
            f"m must be an integer of at least 2, or 'all', given {m!r}. Leave it out for "
            "128, or pass e.g. m=1000."
        )
    return int(m)

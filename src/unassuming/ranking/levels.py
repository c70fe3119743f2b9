"""Confidence levels as integers: p = 1 - q/m, the only levels that ranks from 1 to m can have."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from numbers import Real
from typing import Any

import numpy as np

_SLACK = 1e-9
"""Distance of a level from a multiple of 1/m that counts as rounding (0.29 * 100 is not 29)."""

_SHORT = 9
"""Characters of a level that is printed as it is."""


@dataclass(frozen=True)
class Level:
    """The confidence level p = 1 - q/m, kept as the integers q and m.

    Examples
    --------
    >>> Level.at_least(0.95, m=100), float(Level.at_least(0.9, m=128))
    (Level(q=5, m=100), 0.90625)
    """

    q: int
    m: int

    @classmethod
    def at_least(cls, level: float, m: int) -> Level:
        """Return the smallest multiple of 1/m that is not below the level."""
        p = as_double(level)
        position = max(1, ceil((p - _slack(level)) * m))
        if position < m:
            return cls(m - position, m)
        highest, fewest = level_in_digits((m - 1) / m, m), ceil((1 - _SLACK) / (1 - p))
        raise ValueError(
            f"level is too high: expected at most {highest} with m = {m} statistics, given {p!r}. "
            f"Pass level={highest}; {p!r} takes m={fewest} or more, and with signs at least "
            f"{(fewest - 1).bit_length() + 1} rows or blocks."
        )

    def __float__(self) -> float:
        """Return p = 1 - q/m."""
        return (self.m - self.q) / self.m

    @property
    def largest_rank(self) -> int:
        """The largest rank that a candidate in the region may have."""
        return self.m - self.q


def level_in_digits(level: float, m: int | None = None) -> str:
    """Return a level in the digits that identify it among multiples of 1/m, rounded down.

    Without m any level may be asked for, and three digits of one minus the level are enough.

    Examples
    --------
    >>> level_in_digits(1 - 1 / 2**15), level_in_digits(0.875, m=8), level_in_digits(2 / 3, m=3)
    ('0.9999694', '0.875', '0.666666666')
    """
    whole = float(repr(float(level))) if m is None else round(level * m) / m
    digits = 2 - floor(log10(1 - whole))
    while True:
        down = floor(whole * 10**digits + (1e-9 if m is None else 0.0)) / 10**digits
        if m is None or (down > 0 and abs(down - whole) <= _SLACK):
            return f"{down:.{digits}f}".rstrip("0")
        digits += 1


def level_in_print(level: float) -> str:
    """Return a level for a reader: all its digits if they are few, else six or more."""
    exact = f"{level:.12g}"
    digits = max(6, 2 - floor(log10(1 - level)))
    return exact if len(exact) <= _SHORT else f"{level:.{digits}g}"


def as_levels(level: Any) -> list[Any]:
    """Return one level or several as a list; raise if it would be empty.

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
    """Return a level in double precision, one in lower precision by its printed decimal.

    Examples
    --------
    >>> as_double(np.float32(0.9))
    0.9
    """
    if isinstance(level, np.ndarray) and level.ndim == 0:
        level = level[()]
    if isinstance(level, Real) and not isinstance(level, bool):
        p = float(str(level)) if _slack(level) > _SLACK else float(level)
        if 0 < p < 1:
            return p
        remedy = (
            f"Pass {p / 100:g} if {p:g} percent was meant." if 2 <= p < 100 else "Pass e.g. 0.9."
        )
    else:
        remedy = "Pass one level, e.g. 0.9."
    raise ValueError(
        f"level must be {'one' if np.ndim(level) else 'a'} number strictly between 0 and 1, given "
        f"{level!r}. {remedy}"
    )


def _slack(level: Any) -> float:
    """Return the slack of a level in its own precision."""
    dtype = getattr(level, "dtype", np.dtype(np.float64))
    return max(_SLACK, float(np.finfo(dtype).eps)) if dtype.kind == "f" else _SLACK


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

"""The result of a case: times, comparisons and checks."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Comparison:
    """Another way to the same answer, and how many times faster the library has to be.

    A floor is a part of the work that nobody can leave out: there the library is slower, and the
    ratio says how close it comes.
    """

    against: str
    seconds: float
    target: float | None = None


@dataclass(frozen=True)
class Check:
    """Something other than time: agreement of the answers, memory."""

    what: str
    found: str
    met: bool


@dataclass(frozen=True)
class Growth:
    """Times for growing sizes, and factor · size^exponent, which fits the larger ones."""

    variable: str
    sizes: list[int]
    seconds: list[float]
    exponent: float
    factor: float


@dataclass(frozen=True)
class Result:
    """One case: the library's time, and everything it is held against."""

    case: str
    seconds: float
    comparisons: list[Comparison]
    checks: list[Check] = field(default_factory=list)
    peak_memory_bytes: int | None = None
    growth: Growth | None = None

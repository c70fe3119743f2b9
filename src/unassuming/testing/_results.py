"""Measured coverage, as a self-contained table."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

import numpy as np

from unassuming._frames import as_frame

_TITLES = {
    "method": "method",
    "simultaneous": "rate",
    "low": "low",
    "high": "high",
    "pointwise": "pointwise",
    "median width": "width",
    "level": "level",
    "runs": "runs",
    "claims": "claims",
    "assumes": "assumes",
}
"""Columns of the table, and the attributes that they show."""


@dataclass(frozen=True)
class MethodCoverage:
    """How often one method covered the truth.

    Attributes
    ----------
    method : str
    covered, runs : int
        Number of runs in which the method covered the truth at all inputs, or all coefficients, at
        once, and of runs in which it was available.
    low, high : float
        Exact (Clopper-Pearson) confidence interval of the coverage.
    pointwise : float
        Share of the inputs, or of the coefficients, at which it covered the truth, over all runs;
        NaN for membership.
    width : float
        Median over runs of the median width; NaN for membership.
    claims : str
        Where the method claims the level: at all inputs at once, or at each single one.
    assumes : str
        Its assumptions, in words.
    level : float
        The level that it claims, a mean over the runs. Intervals of one coefficient at a time
        attain the next level that their number of cells allows.

    Examples
    --------
    >>> row = MethodCoverage("region", 90, 100, 0.82, 0.95, pointwise=0.97, width=1.5)
    >>> row.rate
    0.9
    """

    method: str
    covered: int
    runs: int
    low: float
    high: float
    pointwise: float
    width: float
    claims: str = ""
    assumes: str = ""
    level: float = float("nan")

    @property
    def rate(self) -> float:
        """Share of the runs in which the whole truth was covered."""
        return self.covered / self.runs if self.runs else float("nan")


@dataclass(frozen=True, eq=False)
class Coverage:
    """Measured coverage of a region's level, and of other methods on the same data.

    Attributes
    ----------
    level : float
        The level that each method claims; the mean of the levels used if they differ.
    levels : tuple of two floats
        The lowest and the highest level used. They differ for ``m="all"`` if the number of rows
        varies, since a level is rounded up to the next level of the group.
    repetitions : int
    confidence : float
        Level of the intervals of the coverage.
    seed : int
        ``random_state=seed`` gives the same numbers again.
    outside : int or None
        Number of runs in which no coefficients give the truth at the inputs. The band claims
        nothing about such a truth. None if the objective cannot decide it.
    methods : tuple of MethodCoverage
        The region itself comes first.
    target : {"function", "coefficients"}
        What the methods give bounds for.

    Examples
    --------
    >>> def make_data(rng):
    ...     return ua.datasets.sine(n=20, random_state=rng)
    >>> measured = ua.testing.coverage(
    ...     make_data, Ridge(), repetitions=5, resamples=9, random_state=0
    ... )
    >>> print(measured)
    Coverage of the truth at level 0.953125, 5 repetitions, with exact 0.95 intervals:
      method ...
    >>> measured.region.runs, len(measured.to_frame())
    (5, 5)
    """

    level: float
    levels: tuple[float, float]
    repetitions: int
    confidence: float
    seed: int
    outside: int | None
    methods: tuple[MethodCoverage, ...] = field(repr=False)
    target: str = "function"

    @property
    def region(self) -> MethodCoverage:
        """The coverage of the region itself, by membership of the truth."""
        return self.methods[0]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each method."""
        return as_frame(
            [{title: getattr(row, name) for title, name in _TITLES.items()} for row in self.methods]
        )

    def __str__(self) -> str:
        width = max(len(row.method) for row in self.methods)
        low, high = self.levels
        level = f"level {self.level:.12g}"
        if low < high:
            level = f"levels from {low:.4g} to {high:.4g}, {self.level:.4g} on average"
        what = "input" if self.target == "function" else "coef"
        heading = f"  {'method':<{width}}  {f'all {what}s':<10}  interval          each {what}"
        heading = f"{heading:<{width + 44}}  median width"
        with_levels = self.target == "coefficients"
        lines = [
            f"Coverage of the truth at {level}, {self.repetitions} repetitions, "
            f"with exact {self.confidence:.12g} intervals:",
            heading + "  level" * with_levels,
        ]
        for row in self.methods:
            if not row.runs:
                lines.append(f"  {row.method:<{width}}  not available for these data")
                continue
            each = "" if np.isnan(row.pointwise) else f"{row.pointwise:.3f}"
            size = "" if np.isnan(row.width) else f"{row.width:.4g}"
            line = (
                f"  {row.method:<{width}}  {row.rate:<10.3f}  [{row.low:.3f}, {row.high:.3f}]    "
                f"{each:<10}  {size}"
            )
            if with_levels:
                line = f"{line:<{width + 58}}  {row.level:.4g}"
            lines.append(line.rstrip())
        lines.append("Where each claims the level, and what it assumes:")
        lines += [
            fill(
                f"{row.method}: at {row.claims}. Assumes {row.assumes}.",
                100,
                initial_indent="  - ",
                subsequent_indent="    ",
            )
            for row in self.methods
        ]
        if self.outside is not None:
            runs = f"{self.outside} of {self.repetitions} runs"
            lines.append(f"The truth was outside the span of the model in {runs}.")
        return "\n".join(lines)

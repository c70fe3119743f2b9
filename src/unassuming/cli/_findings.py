"""What a region says of a table, gathered once for the screen and for the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from unassuming._errors import NotAvailable
from unassuming.regions import Region


@dataclass(frozen=True, eq=False)
class Answer:
    """What was asked at every level, or why there is no answer."""

    by_level: dict[float, Any]
    refusal: str = ""


@dataclass(frozen=True, eq=False)
class Findings:
    """A region and what was asked of it.

    Attributes
    ----------
    region : Region
    levels : list of float
    norm_bound : float or None
    inputs : DataFrame
        Where the band was asked for.
    bounded, bands, intervals : Answer
        Boundedness, Band and Interval at each level; intervals only of models with features.
    """

    region: Region
    levels: list[float]
    norm_bound: float | None
    inputs: Any
    bounded: Answer
    bands: Answer
    intervals: Answer | None

    @property
    def primal(self) -> bool:
        """Whether the coefficients belong to features."""
        return self.intervals is not None


def examine(
    region: Region, inputs: Any, levels: Sequence[float], norm_bound: float | None
) -> Findings:
    """Ask the region everything that a report tells."""
    asked = sorted({float(region.level(level)) for level in levels}, reverse=True)
    design = region.objective.design
    primal = design is not None and not design.dual
    return Findings(
        region=region,
        levels=asked,
        norm_bound=norm_bound,
        inputs=inputs,
        bounded=_ask(lambda: region.bounded(asked)),
        bands=_ask(lambda: region.band(inputs, level=asked, norm_bound=norm_bound)),
        intervals=_ask(lambda: region.interval(level=asked, norm_bound=norm_bound))
        if primal
        else None,
    )


def _ask(question: Callable[[], dict[float, Any]]) -> Answer:
    try:
        return Answer(question())
    except NotAvailable as error:
        return Answer({}, str(error))

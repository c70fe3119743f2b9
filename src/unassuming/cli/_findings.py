"""The results for a table, computed once for the screen and for the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.regions import Region


@dataclass(frozen=True, eq=False)
class Answer:
    """A result for each level, or the reason why there is none."""

    by_level: dict[float, Any]
    refusal: str = ""


@dataclass(frozen=True, eq=False)
class Findings:
    """A region with its boundedness, bands and intervals.

    Attributes
    ----------
    estimate : array or None
        None if there is none, as for logistic regression with labels of one class.
    inputs : DataFrame
        The inputs of the bands.
    intervals : Answer or None
        Only for models with features.
    pointwise : bool
        Whether each bound of bands and intervals has its level by itself.
    method : str
        Where simultaneous bounds come from.
    """

    region: Region
    levels: list[float]
    norm_bound: float | None
    estimate: Array | None
    inputs: Any
    bounded: Answer
    bands: Answer
    intervals: Answer | None
    pointwise: bool = False
    method: str = "auto"

    @property
    def primal(self) -> bool:
        """Whether each coefficient belongs to a feature."""
        return self.intervals is not None


def examine(
    region: Region,
    inputs: Any,
    levels: Sequence[float],
    norm_bound: float | None,
    *,
    pointwise: bool = False,
    method: str = "auto",
) -> Findings:
    """Compute everything that a report contains; ``method`` is that of simultaneous bounds."""
    joint = {float(region.level(level)) for level in levels}
    asked = sorted(set(levels) if pointwise else joint, reverse=True)
    design = region.objective.design
    primal = design is not None and not design.dual
    options: dict[str, Any] = {"norm_bound": norm_bound, "simultaneous": not pointwise}
    options["method"] = "auto" if pointwise else method
    return Findings(
        region=region,
        levels=asked,
        norm_bound=norm_bound,
        estimate=_estimate(region),
        inputs=inputs,
        bounded=_ask(lambda: region.bounded(asked)),
        bands=_ask(lambda: region.band(inputs, asked, **options)),
        intervals=_ask(lambda: region.interval(level=asked, **options)) if primal else None,
        pointwise=pointwise,
        method=method,
    )


def _estimate(region: Region) -> Array | None:
    try:
        return region.estimate
    except NotAvailable:  # the answers give the reason
        return None


def _ask(question: Callable[[], dict[float, Any]]) -> Answer:
    try:
        return Answer(question())
    except NotAvailable as error:
        return Answer({}, error.command_line)

"""The band over one column at a time, with the other columns held at those of one row.

All panels are asked for at once: a simultaneous band then holds at all their inputs together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.plots import percent
from unassuming.regions import Language, Region, Status
from unassuming.report._columns import as_numbers
from unassuming.report._content import BandAt, Bands, Panel
from unassuming.report._grids import centre, grid_inputs, grid_of
from unassuming.report._nested import nested

MOST = 6
"""Panels that are drawn."""

_POINTS = 1500
"""Points that are drawn; beyond, equidistant rows are picked."""


def bands_of(
    region: Region,
    inputs: Mapping[str, Any],
    levels: Sequence[float],
    norm_bound: float | None,
    language: Language,
) -> Bands:
    """Compute the bands of all panels at once."""
    numbers = {name: as_numbers(column) for name, column in inputs.items()}
    varied = {
        name: column
        for name, column in numbers.items()
        if column is not None and np.isfinite(column).all() and len(np.unique(column)) > 2
    }
    chosen = dict(list(varied.items())[:MOST])
    X, places = grid_inputs(region, chosen, len(inputs))
    if X is None:
        return Bands((), ("The inputs have no numeric column over which a band can be drawn.",))
    try:
        options = {"norm_bound": norm_bound, "method": "auto"}
        found = nested(partial(region.band, X), levels, options)
    except NotAvailable as error:
        text = str(error) if language is Language.PYTHON else error.command_line
        return Bands((), (f"No band: {text}",))
    said = list(dict.fromkeys(_about(region, found, norm_bound, language)))
    grid = [next(iter(found.values())).estimate[place] for place in places]
    points = len(inputs) == 1
    panels = tuple(
        _panel(region, name, x, grid[k], place, found, points=points)
        for k, ((name, x), place) in enumerate(zip(chosen.items(), places, strict=True))
    )
    if not any(panel.bands for panel in panels):
        return Bands((), tuple(said))
    if len(varied) > len(chosen):
        said.append(f"The first {len(chosen)} of {len(varied)} numeric columns are drawn.")
    if len(inputs) > 1:
        row = int(region.problem.data("a report needs").rows.nonzero()[0][centre(inputs)])
        said.append(
            "Each picture varies one column. The others have the values of row "
            f"{row + 1}, the one nearest to the medians. All pictures have the same "
            "vertical scale."
        )
    return Bands(panels, tuple(said), _vertical(panels, region.objective.y))


def _vertical(panels: Sequence[Panel], y: Array) -> tuple[float, float]:
    """Return the vertical range of all panels: what is drawn, as far as it is near the outputs.

    At least half of the bounds of the narrowest band are inside.
    """
    core = [part for panel in panels for part in (panel.points_y, panel.estimate)]
    every = np.concatenate([*core, y[:0]])
    bounds = [b for panel in panels for one in panel.bands for b in (one.lower, one.upper)]
    near = np.concatenate([*bounds, y[:0]])
    low, high = float(y.min()), float(y.max())
    narrow = [panel.bands[-1] for panel in panels if panel.bands]
    beyond = [part for one in narrow for part in (one.upper - high, low - one.lower)]
    away = np.concatenate([*beyond, y[:0]])
    room = max(0.5 * (high - low), float(np.median(away[np.isfinite(away)])) if narrow else 0.0)
    near = near[np.isfinite(near)].clip(low - room, high + room)
    shown = np.concatenate([every, near])
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (low, high)
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin


def _panel(
    region: Region,
    name: str,
    column: Array,
    estimate: Array,
    place: slice,
    found: Mapping[float, Any],
    *,
    points: bool,
) -> Panel:
    bands = []
    for level, band in sorted(found.items(), reverse=True):
        lower, upper = band.lower[place], band.upper[place]
        if _finite(band):
            bands.append(BandAt(level, lower, upper))
    shown = np.arange(len(column))
    if len(shown) > _POINTS:
        shown = np.unique(np.linspace(0, len(column) - 1, _POINTS).round().astype(np.intp))
    if not points:
        shown = shown[:0]
    x = grid_of(column, place.stop - place.start)
    y = region.objective.y
    return Panel(name, x, estimate, tuple(bands), column[shown], y[shown])


def _about(
    region: Region, found: Mapping[float, Any], norm_bound: float | None, language: Language
) -> list[str]:
    """Say what the bands cover, where they come from, and why bounds are infinite."""
    finite = [band for band in found.values() if _finite(band)]
    said = list(_remarks(found, language))
    if not finite:
        return said
    if region.caveat:
        return [f"No guarantee: {region.caveat}", *said]
    return [
        f"The bands are simultaneous: each covers {_target(region, finite[0], norm_bound)} at all "
        f"{len(finite[0])} inputs shown at once, with a probability of at least its level. A band "
        "is not a prediction interval: it covers the function, not new outputs.",
        *_sources(finite),
        *said,
    ]


def _finite(band: Any) -> bool:
    without = band.status in (Status.EMPTY, Status.TRIVIAL)
    return not without and bool((np.isfinite(band.lower) | np.isfinite(band.upper)).any())


def _remarks(found: Mapping[float, Any], language: Language) -> Iterator[str]:
    """Yield the explanations, each with all levels that it is for."""
    levels: dict[str, list[float]] = {}
    first: dict[Status, str] = {}
    for level, band in sorted(found.items(), reverse=True):
        text = band.explanation.text(language)
        if not _finite(band):  # explanations differ in numbers only
            text = first.setdefault(band.status, f"{band.description}. {text}".strip())
        if text:
            levels.setdefault(text, []).append(level)
    for text, which in levels.items():
        yield f"{', '.join(map(percent, which))}: {text[0].lower()}{text[1:]}"


def _sources(finite: Sequence[Any]) -> Iterator[str]:
    """Say where bands come from, if some do not come from the joint region."""
    said = []
    for band in sorted(finite, key=lambda one: -one.level):
        cells = band.method == "balanced cells"
        source = "balanced cells of rows" if cells else f"the {band.method}"
        said.append(f"{percent(band.level)} from {source}")
    if any(band.method == "balanced cells" for band in finite):
        yield f"Chosen by the width predicted before the target is seen: {', '.join(said)}."


def _target(region: Region, band: Any, norm_bound: float | None) -> str:
    norm = "" if norm_bound is None else f" if its norm is at most {norm_bound:g},"
    if band.target == "function":
        return f"the function itself,{norm}"
    design, what = region.objective.design, region.problem.truth
    if design is not None and not design.spans_everything:
        given = "" if norm_bound is None else f" with coefficients of norm at most {norm_bound:g}"
        return f"{what}, if it lies in the span of the model's features{given},"
    return f"the ideal representation, which agrees with {what} at the data,{norm}"

"""The pictures of a report, as SVG; a script redraws the bands when a reader zooms in."""

from __future__ import annotations

import json
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from unassuming._typing import Array
from unassuming.plots import DiagnosisData, forest_data, on_one_scale, percent
from unassuming.regions import Summary
from unassuming.report._content import Column, Panel
from unassuming.report._html import element
from unassuming.report._numbers import interval
from unassuming.report._svg import Frame, left_margin, limits, line, path, text

MOST_ROWS = 40
"""Rows of a forest plot."""

_ROW, _LONGEST = 30.0, 16
"""Height of a row, and characters of a name in a forest plot."""

_DOTS = 1500
"""Residuals that are drawn."""


def band_figure(panel: Panel, target: str, vertical: tuple[float, float], key: int) -> Element:
    """Return the picture of one panel, with switches for its levels and a line of numbers."""
    frame = Frame(*limits([panel.x], 0.0), *vertical, left=left_margin(*vertical))
    picture = frame.canvas(f"Bands of {target} over {panel.name}")
    clip = f"clip{key}"
    left, top, right, bottom = frame.box
    area = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    inside = element("rect", {name: f"{value:g}" for name, value in area.items()})
    picture.append(element("defs", None, element("clipPath", {"id": clip}, inside)))
    picture.append(frame.axes(panel.name, target))
    plot = element("g", {"class": "plot", "clip-path": f"url(#{clip})"})
    for rank, band in enumerate(panel.bands):
        shape = {"class": f"band tint{min(rank, 3)}", "data-level": f"{band.level:.6g}"}
        plot.append(element("path", {**shape, "d": _area(frame, panel.x, band.lower, band.upper)}))
    for x, y in zip(panel.points_x.tolist(), panel.points_y.tolist(), strict=True):
        at = {"cx": f"{float(frame.x(x)):.1f}", "cy": f"{float(frame.y(y)):.1f}", "r": "2.6"}
        plot.append(element("circle", {"class": "dot", **at}))
    curve = zip(frame.x(panel.x).tolist(), frame.y(panel.estimate).tolist(), strict=True)
    plot.append(element("path", {"class": "estimate", "d": path(curve)}))
    plot.append(element("line", {"class": "cursor", "y1": f"{top:g}", "y2": f"{bottom:g}"}))
    plot.append(element("rect", {"class": "brush", "y": f"{top:g}", "height": f"{bottom - top:g}"}))
    picture.append(plot)
    switches = [
        element(
            "label",
            None,
            element("input", {"type": "checkbox", "checked": "", "value": f"{band.level:.6g}"}),
            element("i", {"class": f"swatch tint{min(rank, 3)}"}),
            f" {percent(band.level)}",
        )
        for rank, band in enumerate(panel.bands)
    ]
    controls = element("div", {"class": "controls"}, *switches)
    controls.append(
        element("button", {"type": "button", "class": "reset", "hidden": ""}, "Whole range")
    )
    return element(
        "figure",
        {"class": "bands", "data-panel": _data(panel, target, frame)},
        controls,
        element("div", {"class": "stage", "tabindex": "0"}, picture),
        element(
            "output", {"class": "readout"}, "Point at the picture for numbers; drag to zoom in."
        ),
    )


def _area(frame: Frame, x: Array, lower: Array, upper: Array) -> str:
    """Return the outline of a band; infinite bounds end outside the picture."""
    beyond = frame.y1 - frame.y0
    low = lower.clip(frame.y0 - beyond, frame.y1 + beyond)
    high = upper.clip(frame.y0 - beyond, frame.y1 + beyond)
    at = frame.x(x).tolist()
    there = list(zip(at, frame.y(high).tolist(), strict=True))
    back = list(zip(at, frame.y(low).tolist(), strict=True))
    return path([*there, *reversed(back)]) + "Z"


def _data(panel: Panel, target: str, frame: Frame) -> str:
    """Return the numbers of a panel for the script, infinite ones as null."""
    content = {
        "name": panel.name,
        "target": target,
        "frame": [frame.x0, frame.x1, frame.y0, frame.y1],
        "box": list(frame.box),
        "x": _plain(panel.x),
        "estimate": _plain(panel.estimate),
        "bands": [
            {
                "level": f"{band.level:.6g}",
                "name": percent(band.level),
                "lower": _plain(band.lower),
                "upper": _plain(band.upper),
            }
            for band in panel.bands
        ],
        "points": [_plain(panel.points_x), _plain(panel.points_y)],
    }
    return json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _plain(values: Array) -> list[Any]:
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in values.tolist()]


def forest_rows(summary: Summary) -> list[int]:
    """Return the rows that are drawn: not an intercept that would squeeze the others."""
    first = len(summary) - len(on_one_scale(summary))
    return list(range(first, len(summary)))[:MOST_ROWS]


def forest_figure(summary: Summary, rows: list[int]) -> Element:
    """Return the intervals of a summary, one below the other."""
    names = [summary.names[j] for j in rows]
    left = 12.5 * min(max(map(len, names)), _LONGEST) + 22
    low, upp = summary.lower[rows], summary.upper[rows]
    sets = forest_data(summary, names).sets
    x0, x1 = limits([*np.concatenate(sets).T, summary.estimate[rows], np.zeros(1)])
    frame = Frame(x0, x1, 0.0, float(len(rows)), height=_ROW * len(rows) + 70, left=left)
    picture = frame.canvas("Intervals of the coefficients")
    picture.append(frame.axes("coefficient", "", vertical=False))
    _, top, _, bottom = frame.box
    zero = f"{float(frame.x(0.0)):.1f}"
    picture.append(line(zero, f"{top:g}", zero, f"{bottom:g}", "zero"))
    for k, j in enumerate(rows):
        at = top + (k + 0.5) * (bottom - top) / len(rows)
        numbers = interval(float(summary.estimate[j]), float(low[k]), float(upp[k]))
        said = f"{names[k]}: {numbers[0]}, from {numbers[1]} to {numbers[2]}"
        if summary.sets is not None:
            said = f"{names[k]}: {numbers[0]}, not rejected {summary.sets[j]}"
        group = element("g", {"class": "interval"}, element("title", None, said))
        for span in sets[k]:
            a, b = (f"{float(v):.1f}" for v in frame.x(np.clip(span, x0, x1)))
            group.append(line(a, f"{at:.1f}", b, f"{at:.1f}", "whisker"))
            for end, infinite in ((a, np.isneginf(span[0])), (b, np.isposinf(span[1]))):
                if not infinite:
                    group.append(line(end, f"{at - 5:.1f}", end, f"{at + 5:.1f}", "cap"))
        dot = {"cx": f"{float(frame.x(summary.estimate[j])):.1f}", "cy": f"{at:.1f}", "r": "4"}
        group.append(element("circle", {"class": "mark", **dot}))
        anchor = {"text-anchor": "end", "dominant-baseline": "middle"}
        name = names[k] if len(names[k]) <= _LONGEST else f"{names[k][: _LONGEST - 1]}…"
        group.append(text(f"{left - 10:g}", f"{at:.1f}", name, anchor))
        picture.append(group)
    return element("figure", {"class": "forest"}, picture)


def residual_figure(data: DiagnosisData, caption: str) -> Element:
    """Return residuals with their running median."""
    vertical = limits([data.residuals])
    left = left_margin(*vertical)
    frame = Frame(*limits([data.x], 0.02), *vertical, height=300.0, left=left)
    picture = frame.canvas(caption)
    picture.append(frame.axes(data.name, "residual"))
    right = frame.box[2]
    zero = f"{float(frame.y(0.0)):.1f}"
    picture.append(line(f"{left:g}", zero, f"{right:g}", zero, "zero"))
    shown = np.arange(len(data.x))
    if len(shown) > _DOTS:
        shown = np.unique(np.linspace(0, len(shown) - 1, _DOTS).round().astype(np.intp))
    at = zip(frame.x(data.x[shown]).tolist(), frame.y(data.residuals[shown]).tolist(), strict=True)
    for x, y in at:
        picture.append(
            element("circle", {"class": "dot", "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "2.4"})
        )
    if len(data.line):
        median = zip(frame.x(data.line_x).tolist(), frame.y(data.line).tolist(), strict=True)
        picture.append(element("path", {"class": "median", "d": path(median)}))
    return element("figure", None, picture, element("figcaption", None, caption))


def sparkline(column: Column) -> Element:
    """Return a small histogram."""
    counts = column.counts
    assert counts is not None
    picture = element(
        "svg", {"viewBox": "0 0 64 18", "class": "spark", "role": "img", "aria-label": "histogram"}
    )
    width = 64 / len(counts)
    for k, count in enumerate(counts.tolist()):
        height = 18 * count / max(int(counts.max()), 1)
        bar = {"x": k * width, "y": 18 - height, "width": width - 0.6, "height": height}
        picture.append(element("rect", {name: f"{value:.2f}" for name, value in bar.items()}))
    return picture

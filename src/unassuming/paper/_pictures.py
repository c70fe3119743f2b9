"""Pictures of the figures: rasters of members, coloured by level, with one colour bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from scipy.stats import norm

from unassuming import plots
from unassuming._typing import Array
from unassuming.paper._errata import REVERSED
from unassuming.paper._figures import LEVELS, Figure
from unassuming.paper._raster import Raster
from unassuming.paper._reproduce import Panel, Reproduction
from unassuming.testing import process_bounds

_COLOURS = "viridis_r"  # light for low levels, so that the estimate is visible on them
_DPI = 110
_WIDTH = 205
"""Characters in a line of notes."""


def draw(found: Reproduction, path: Path) -> None:
    """Draw a figure into a PNG file, the same bytes for the same seed."""
    plots.require_matplotlib()
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure as Canvas

    drawn = [panel for panel in found.panels if panel.rasters]
    count = 2 if found.figure.number == 1 or found.process is not None else len(drawn)
    lines = count // 2
    canvas = Canvas(figsize=(12, 1.5 + 4.6 * lines), layout="constrained")
    grid = canvas.add_gridspec(lines + 1, 2, height_ratios=[0.05, *[1] * lines])
    axes = [canvas.add_subplot(grid[1 + k // 2, k % 2]) for k in range(count)]
    if found.figure.number == 1:
        _lines(axes[0], drawn[0])
        _coefficients(axes[1], drawn[0])
    else:
        for ax, panel in zip(axes, drawn, strict=False):
            _functions(ax, panel)
        if found.process is not None:
            _process(axes[1], found, drawn[0])
    scale = canvas.colorbar(ScalarMappable(Normalize(0, 1), _COLOURS), ax=axes, pad=0.02)
    scale.set_label("smallest level of a member at this pixel")
    title = f"Figure {found.figure.number}: {found.figure.title}"
    canvas.suptitle(title, x=0.01, ha="left", fontweight="bold")
    canvas.supxlabel(_notes(found.figure, drawn), x=0.01, ha="left", fontsize=8)
    _legend(canvas.add_subplot(grid[0, :]), axes)
    canvas.savefig(path, dpi=_DPI, metadata=plots.WITHOUT_DATE)


def _notes(figure: Figure, drawn: Sequence[Panel]) -> str:
    members = drawn[0].members
    assert members is not None
    notes = [
        f"{members.total:,} random coefficient vectors around the estimate were ranked for each "
        "region, m = 100; low levels are drawn on top, and no member reached white pixels. The "
        "pictures show members, not bounds.",
        *(panel.setting.note for panel in drawn if panel.setting.note),
        *figure.notes,
        REVERSED,
    ]
    return "\n".join(fill(note, _WIDTH) for note in dict.fromkeys(notes))


def _title(ax: Any, panel: Panel, letter: str, what: str) -> None:
    """Name the panel, its boundedness and its coverage."""
    highest, truth = max(LEVELS), panel.setting.truth
    assert panel.ends is not None
    covered = f"the {plots.percent(highest)} region contained {truth} in {panel.coverage(highest)}"
    title = f"({letter}) {what}\n{panel.ends.sentence(panel.region.m)}\n{covered}"
    ax.set_title(title, loc="left", fontsize=10)


def _image(ax: Any, raster: Raster, levels: Array) -> None:
    """Draw levels (rows, columns); NaN is white."""
    (left, right), (bottom, top) = raster.window
    ax.imshow(
        levels,
        origin="lower",
        extent=(left, right, bottom, top),
        aspect="auto",
        cmap=_COLOURS,
        vmin=0,
        vmax=1,
        interpolation="nearest",
    )


def _levels(panel: Panel, which: str) -> Array:
    lowest = panel.rasters[which].lowest()
    return np.where(lowest > 0, lowest / panel.region.m, np.nan)


def _functions(ax: Any, panel: Panel) -> None:
    raster, region = panel.rasters["models"], panel.region
    _image(ax, raster, _levels(panel, "models"))
    x = np.linspace(*raster.window[0], 600)[:, None]
    estimate = plots.values(region, region.estimate[None, :], x)[0]
    _curves(ax, panel, x[:, 0], estimate, "estimate")
    _title(ax, panel, panel.setting.panel[-1], panel.setting.name)


def _curves(ax: Any, panel: Panel, x: Array, estimate: Array, name: str) -> None:
    """Draw the truth, an estimate and the data on top of an image."""
    raster, sample = panel.rasters["models"], panel.sample
    among = (x >= sample.X.min()) & (x <= sample.X.max())
    x, estimate = x[among], estimate[among]
    _outlined(ax, x, estimate, plots.BLACK, "-", name)
    _outlined(ax, x, sample.truth(x[:, None]), plots.VERMILION, "--", "truth, x sin x")
    _dots(ax, np.column_stack([sample.X, sample.y]), "white", "o", "data")
    ax.set(xlabel="x", ylabel="y", xlim=raster.window[0], ylim=raster.window[1])


def _process(ax: Any, found: Reproduction, panel: Panel) -> None:
    """Draw the bands of all levels with the colours of the regions."""
    raster, x = panel.rasters["models"], panel.rasters["models"].columns[:, None]
    lower, upper = process_bounds(found.process, x, 0.5)
    mean, deviation = (lower + upper) / 2, (upper - lower) / 2 / norm.ppf(0.75)
    with np.errstate(divide="ignore", invalid="ignore"):
        level = 2 * norm.cdf(np.abs(raster.rows[:, None] - mean) / deviation) - 1
    _image(ax, raster, np.where(level <= 0.99, level, np.nan))
    _curves(ax, panel, x[:, 0], mean, "mean of the process")
    measured, highest = found.process_coverage, max(LEVELS)
    assert measured is not None
    title = (
        "(b) Gaussian process, fitted by likelihood\n"
        f"its {plots.percent(highest)} band covered x sin x at {measured.each(highest):.3f} of the "
        f"inputs,\nand at all of them in {measured.everywhere(highest)}"
    )
    ax.set_title(title, loc="left", fontsize=10)


def _lines(ax: Any, panel: Panel) -> None:
    """Draw decision lines in the plane of the inputs."""
    raster, sample = panel.rasters["models"], panel.sample
    _image(ax, raster, _levels(panel, "models"))
    x = np.array(raster.window[0])
    for w, colour, style, name in (
        (panel.region.estimate, plots.BLACK, "-", "estimate"),
        (sample.truth, plots.VERMILION, "--", "symmetric slacks, w = (2, 2)"),
    ):
        _outlined(ax, x, -w[0] / w[1] * x, colour, style, name)
    for label, colour, marker in ((1, plots.ORANGE, "o"), (-1, plots.BLUE, "s")):
        points = sample.X[sample.y == label]
        _dots(ax, points, colour, marker, f"class {label:+d}")
    ax.set(xlabel="x1", ylabel="x2", xlim=raster.window[0], ylim=raster.window[1])
    _title(ax, panel, "a", "model space: the lines where w1 x1 + w2 x2 = 0")


def _coefficients(ax: Any, panel: Panel) -> None:
    """Draw the two coefficients, with exact boundaries and outer ellipses."""
    raster = panel.rasters["coefficients"]
    _image(ax, raster, _levels(panel, "coefficients"))
    data = plots.coefficients_data(panel.region, levels=LEVELS)
    named = ", ".join(plots.percent(level) for level in LEVELS)
    for outlines, style, name in (
        (data.boundary, "-", f"exact boundary, {named}"),
        (data.ellipses, "--", "outer ellipses"),
    ):
        colour = plots.BLACK if style == "-" else plots.VERMILION
        for number, outline in enumerate(outlines.values()):
            closed = np.vstack([outline, outline[:1]])
            label = None if number else name
            _outlined(ax, closed[:, 0], closed[:, 1], colour, style, label, width=1.0)
    ax.plot(*data.estimate, "o", color=plots.BLACK, markersize=5, label="estimate")
    ax.annotate(
        "to w = (2, 2)",
        xy=(0.98, 0.98),
        xytext=(0.8, 0.84),
        xycoords="axes fraction",
        ha="center",
        bbox={"facecolor": "white", "edgecolor": "none"},
        arrowprops={"arrowstyle": "->", "color": plots.VERMILION},
    )
    ax.set(xlabel="w1", ylabel="w2", xlim=raster.window[0], ylim=raster.window[1])
    _title(ax, panel, "b", "coefficient space, without a bias")


def _outlined(
    ax: Any, x: Array, y: Array, colour: str, style: str, name: str | None, width: float = 1.6
) -> None:
    """Draw a line that is visible on any background."""
    from matplotlib.patheffects import Normal, Stroke

    effects = [Stroke(linewidth=2 * width, foreground="white"), Normal()]
    ax.plot(x, y, style, color=colour, linewidth=width, label=name, path_effects=effects)


def _dots(ax: Any, points: Array, colour: str, marker: str, name: str) -> None:
    edge = {"markeredgecolor": plots.BLACK, "markeredgewidth": 0.8}
    ax.plot(*points.T, marker, color=colour, markersize=5, label=name, **edge)


def _legend(strip: Any, axes: Sequence[Any]) -> None:
    """Put one legend for all panels above them."""
    named: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    strip.axis("off")
    legend = strip.legend(
        list(named.values()), list(named), loc="center left", ncols=len(named), frameon=False
    )
    legend.set_in_layout(False)  # its strip has a fixed height and the width of the picture

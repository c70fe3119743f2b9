"""Pictures of the figures: rasters of members, coloured by level, with one colour bar."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from scipy.stats import norm

from unassuming._typing import Array
from unassuming.paper.figures import LEVELS, REVERSED, M
from unassuming.paper.reproduce import CONFIDENCE, Count, Panel, Reproduction
from unassuming.plots import canvas, coefficients_data
from unassuming.testing import process_bounds

# Of a picture, and characters in a line of notes.
_DPI, _WIDTH = 110, 205

_COLOURS = "viridis_r"  # light for low levels, so that the estimate is visible on them
_OUTLINED: dict[str, Any] = {
    "markeredgecolor": canvas.BLACK,
    "markeredgewidth": 0.8,
    "markersize": 5,
}


def draw(found: Reproduction, path: Path) -> None:
    """Draw a figure into a PNG file, the same bytes for the same seed."""
    canvas.require_matplotlib()
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure as Canvas

    figure, drawn = found.figure, [panel for panel in found.panels if panel.rasters]
    count = max(2, len(drawn))
    sheet = Canvas(figsize=(12, 1.5 + 4.6 * (count // 2)), layout="constrained")
    grid = sheet.add_gridspec(count // 2 + 1, 2, height_ratios=[0.05, *[1] * (count // 2)])
    axes = [sheet.add_subplot(grid[1 + k // 2, k % 2]) for k in range(count)]
    if figure.number == 1:
        _lines(axes[0], drawn[0])
        _coefficients(axes[1], drawn[0])
    else:
        for ax, panel in zip(axes, drawn, strict=False):
            _functions(ax, panel)
        if found.process is not None:
            _process(axes[1], found, drawn[0])
    scale = sheet.colorbar(ScalarMappable(Normalize(0, 1), _COLOURS), ax=axes, pad=0.02)
    scale.set_label("smallest level of a member at this pixel")
    title = f"Figure {figure.number}: {figure.title}"
    sheet.suptitle(title, x=0.01, ha="left", fontweight="bold")
    notes = [
        f"{drawn[0].members.sum():,} random coefficient vectors around the estimate were ranked "
        f"for each region, m = {M}; low levels are drawn on top, and no member reached white "
        "pixels. The pictures show members, not bounds.",
        *(panel.setting.note for panel in drawn if panel.setting.note),
        *figure.notes,
        REVERSED,
    ]
    small = "\n".join(fill(note, _WIDTH) for note in dict.fromkeys(notes))
    sheet.supxlabel(small, x=0.01, ha="left", fontsize=8)
    named: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    strip = sheet.add_subplot(grid[0, :])
    strip.axis("off")
    place: dict[str, Any] = {"loc": "center left", "ncols": len(named), "frameon": False}
    legend = strip.legend(list(named.values()), list(named), **place)
    legend.set_in_layout(False)  # its strip has a fixed height and the width of the picture
    sheet.savefig(path, dpi=_DPI, metadata=canvas.WITHOUT_DATE)


def _title(ax: Any, panel: Panel, letter: str, what: str) -> None:
    """Name the panel, its boundedness and its coverage."""
    highest, truth = max(LEVELS), panel.setting.truth
    bounded = ", ".join(f"{canvas.percent(p)} {said}" for p, said in panel.bounded.items())
    rate = f"the {canvas.percent(highest)} region contained {truth} in {panel.coverage(highest)}"
    ax.set_title(f"({letter}) {what}\nbounded: {bounded}\n{rate}", loc="left", fontsize=10)


def _image(ax: Any, panel: Panel, which: str = "models", levels: Array | None = None) -> None:
    """Draw the levels of pixels (rows, columns), by default those of members; NaN is white."""
    raster = panel.rasters[which]
    if levels is None:
        lowest = raster.lowest()
        levels = np.where(lowest > 0, lowest / panel.region.m, np.nan)
    look: dict[str, Any] = {"cmap": _COLOURS, "vmin": 0, "vmax": 1, "interpolation": "nearest"}
    extent = raster.window.ravel().tolist()
    ax.imshow(levels, origin="lower", extent=extent, aspect="auto", **look)
    ax.set(xlim=raster.window[0], ylim=raster.window[1])


def _outlined(ax: Any, *args: Any, width: float = 1.6) -> None:
    """Draw a line that is visible on any background."""
    from matplotlib.patheffects import Normal, Stroke

    effects = [Stroke(linewidth=2 * width, foreground="white"), Normal()]
    canvas.curve(ax, *args, linewidth=width, path_effects=effects)


def _curves(ax: Any, panel: Panel, x: Array, estimate: Array, name: str) -> None:
    """Draw the truth, an estimate and the data on top of an image."""
    sample = panel.sample
    among = (x >= sample.X.min()) & (x <= sample.X.max())
    x, estimate = x[among], estimate[among]
    _outlined(ax, x, estimate, name)
    _outlined(ax, x, sample.truth(x[:, None]), "truth, x sin x", canvas.VERMILION, "--")
    canvas.dots(ax, sample.X[:, 0], sample.y, "data", color="white", **_OUTLINED)
    canvas.name_axes(ax, "x", "y")


def _functions(ax: Any, panel: Panel) -> None:
    """Draw the members of a region as functions."""
    _image(ax, panel)
    left, right = panel.rasters["models"].window[0]
    x = np.linspace(left, right, 600)
    estimate = canvas.values(panel.region, panel.region.estimate[None, :], x[:, None])[0]
    _curves(ax, panel, x, estimate, "estimate")
    _title(ax, panel, panel.setting.panel[-1], panel.setting.name)


def _process(ax: Any, found: Reproduction, panel: Panel) -> None:
    """Draw the bands of all levels with the colours of the regions."""
    raster, highest = panel.rasters["models"], max(LEVELS)
    x = raster.centres(0)
    lower, upper = process_bounds(found.process, x[:, None], 0.5)
    mean, deviation = (lower + upper) / 2, (upper - lower) / 2 / norm.ppf(0.75)
    with np.errstate(divide="ignore", invalid="ignore"):
        level = 2 * norm.cdf(np.abs(raster.centres(1)[:, None] - mean) / deviation) - 1
    _image(ax, panel, levels=np.where(level <= CONFIDENCE, level, np.nan))
    _curves(ax, panel, x, mean, "mean of the process")
    shares = found.shares[highest]
    title = (
        "(b) Gaussian process, fitted by likelihood\n"
        f"its {canvas.percent(highest)} band covered x sin x at {shares.mean():.3f} of the "
        f"inputs,\nand at all of them in {Count(int((shares == 1).sum()), len(shares))}"
    )
    ax.set_title(title, loc="left", fontsize=10)


def _lines(ax: Any, panel: Panel) -> None:
    """Draw decision lines in the plane of the inputs."""
    sample, w = panel.sample, panel.region.estimate
    _image(ax, panel)
    x = panel.rasters["models"].window[0]
    _outlined(ax, x, -w[0] / w[1] * x, "estimate")
    slacks = "symmetric slacks, w = (2, 2)"
    _outlined(ax, x, -sample.truth[0] / sample.truth[1] * x, slacks, canvas.VERMILION, "--")
    for label, colour, marker in ((1, canvas.ORANGE, "o"), (-1, canvas.BLUE, "s")):
        x1, x2 = sample.X[sample.y == label].T
        name = f"class {label:+d}"
        canvas.dots(ax, x1, x2, name, color=colour, marker=marker, **_OUTLINED)
    canvas.name_axes(ax, "x1", "x2")
    _title(ax, panel, "a", "model space: the lines where w1 x1 + w2 x2 = 0")


def _coefficients(ax: Any, panel: Panel) -> None:
    """Draw the two coefficients, with exact boundaries and outer ellipses."""
    _image(ax, panel, "coefficients")
    data = coefficients_data(panel.region, levels=LEVELS)
    exact = f"exact boundary, {', '.join(map(canvas.percent, LEVELS))}"
    for outlines, colour, style, name in (
        (data.boundary, canvas.BLACK, "-", exact),
        (data.ellipses, canvas.VERMILION, "--", "outer ellipses"),
    ):
        for number, outline in enumerate(outlines.values()):
            closed = np.vstack([outline, outline[:1]]).T
            _outlined(ax, *closed, "_" if number else name, colour, style, width=1.0)
    canvas.dots(
        ax, data.estimate[:1], data.estimate[1:], "estimate", color=canvas.BLACK, markersize=5
    )
    arrow = {"arrowstyle": "->", "color": canvas.VERMILION}
    box = {"facecolor": "white", "edgecolor": "none"}
    where: dict[str, Any] = {"xy": (0.98, 0.98), "xytext": (0.8, 0.84), "ha": "center"}
    ax.annotate("to w = (2, 2)", xycoords="axes fraction", bbox=box, arrowprops=arrow, **where)
    canvas.name_axes(ax, "w1", "w2")
    _title(ax, panel, "b", "coefficient space, without a bias")

"""Axes, colours, names of levels, notes and legends that the pictures share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming.regions import Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From the palette of Okabe and Ito, which colour-blind readers can distinguish.
BLUE, VERMILION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#009E73"
GREY, BLACK = "0.35", "0.1"

WITHOUT_DATE = {"Software": None}
"""Metadata of a PNG that do not depend on the run."""

_WIDTH = 72
"""Characters in a line of notes above axes of the usual width."""

_SHORT = {
    Status.UNBOUNDED: "unbounded",
    Status.NOT_CERTIFIED: "no finite bound certified",
    Status.UNDETERMINED: "not determined everywhere",
    Status.NO_OUTER_BOUND: "no outer bound known",
    Status.TRIVIAL: "no outer bound known",
    Status.EMPTY: "empty region",
    Status.SOME_EMPTY: "empty at some inputs",
    Status.TOO_FEW_CELLS: "not finite everywhere",
}


def require_matplotlib() -> None:
    """Raise an error with the install command if Matplotlib is missing."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        raise ModuleNotFoundError(
            'Drawing needs matplotlib: pip install "unassuming[plot]"', name="matplotlib"
        ) from error


def new_axes(ax: Axes | None, height: float | None = None) -> Axes:
    """Return the given axes, or those of a new figure (its height in inches)."""
    require_matplotlib()
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(layout="constrained")
    if height is not None:
        figure.set_figheight(height)
    return ax


def percent(level: float) -> str:
    """Return a level as a percentage."""
    return f"{100 * level:.6g} %"


def note(levels: Iterable[float], sentence: str) -> str:
    """Return a sentence about some levels."""
    return f"{', '.join(map(percent, levels))}: {sentence}."


def short(level: float, status: Status, regular: str = "") -> str:
    """Name a level in a legend: its status if bounds are not finite, else the regular words."""
    return percent(level) + (f": {_SHORT[status]}" if status in _SHORT else regular)


def tints(
    count: int, colour: str = BLUE, lightest: float = 0.22, darkest: float = 0.55
) -> list[Any]:
    """Return opaque tints of one colour, from light (the highest level) to dark."""
    from matplotlib.colors import to_rgb

    full = np.array(to_rgb(colour))
    return [tuple(1 - share * (1 - full)) for share in np.linspace(lightest, darkest, count)]


def sentences(statuses: Mapping[float, Status], norm_bound: float | None = None) -> tuple[str, ...]:
    """Return one sentence for each status with infinite bounds, with its levels."""
    kinds = dict.fromkeys(status for status in statuses.values() if status in _SHORT)
    return tuple(
        note([p for p, status in statuses.items() if status is kind], kind.given(norm_bound))
        for kind in kinds
    )


def legend_above(
    ax: Axes, notes: Sequence[str], columns: int = 3, handles: Sequence[Any] | None = None
) -> None:
    """Put the legend and the notes above the axes."""
    ax.legend(
        handles=ax.get_legend_handles_labels()[0] if handles is None else handles,
        title="\n".join(fill(note, _WIDTH) for note in notes),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        alignment="left",
    )


def limits(core: Iterable[Any], more: Iterable[Any]) -> tuple[float, float]:
    """Return axis limits that show all of ``core``, and the part of ``more`` close to it."""
    inner = np.concatenate([np.ravel(part) for part in core])
    outer = np.concatenate([np.ravel(part) for part in more] or [np.empty(0)])
    inner, outer = inner[np.isfinite(inner)], outer[np.isfinite(outer)]
    low, high = float(inner.min()), float(inner.max())
    span = (high - low) or 1.0
    outer = np.clip(outer, low - 0.75 * span, high + 0.75 * span)
    low, high = min(low, outer.min(initial=low)), max(high, outer.max(initial=high))
    margin = 0.05 * ((high - low) or 1.0)
    return low - margin, high + margin

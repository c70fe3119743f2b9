"""A forest plot: one row for each coefficient of a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._typing import Array
from unassuming.plots import _canvas as canvas
from unassuming.regions import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _FRAME, _HIGHEST = 0.32, 1.9, 30.0
"""Height of a row, of everything around the rows, and of the largest figure, in inches."""

_SQUEEZED = 3.0
"""An intercept that is larger than the other numbers by this factor squeezes them."""

_LISTED = 4
"""Names that are listed in a note."""


@dataclass(frozen=True, eq=False)
class ForestData:
    """The numbers behind `forest`; `forest_data` describes them."""

    names: tuple[str, ...]
    estimate: Array
    model_estimate: Array
    lower: Array
    upper: Array
    sets: tuple[Array, ...]
    title: str
    notes: tuple[str, ...]


def forest_data(summary: Summary, which: Sequence[str] | None = None) -> ForestData:
    """Return the data that `forest` draws.

    Parameters
    ----------
    summary, which
        As for `forest`.

    Returns
    -------
    ForestData
        The ``names`` of the coefficients, from the top row to the bottom row; the ``estimate`` that
        belongs to each interval (NaN where there is none), and the ``model_estimate``; the ends
        ``lower`` and ``upper`` of the intervals, infinite where nothing finite holds; the
        ``sets`` that are drawn, each an array of the ends (r, 2) of r intervals, of which there is
        one unless an endogenous column has rays or several parts; the ``title``, and ``notes`` on
        rows without a finite interval.

    Examples
    --------
    >>> data = ua.plots.forest_data(region.summary(), which=["x0", "x1"])
    >>> data.names, data.title
    (('x0', 'x1'), '95 % intervals, one at a time')
    """
    if not isinstance(summary, Summary):
        raise TypeError(
            f"summary cannot be drawn: expected the result of region.summary(), given a "
            f"{type(summary).__name__}. Call forest(region.summary())."
        )
    rows = _rows(summary.names, which)
    names = tuple(summary.names[j] for j in rows)
    lower, upper = summary.lower[rows], summary.upper[rows]
    empty = np.isnan(lower) | np.isnan(upper)
    infinite = ~empty & ~np.isfinite(upper - lower)
    kinds = {"No finite interval at this level": infinite, "No value is in the region": empty}
    return ForestData(
        names=names,
        estimate=summary.estimate[rows],
        model_estimate=summary.model_estimate[rows],
        lower=lower,
        upper=upper,
        sets=_sets(summary, rows),
        title=f"{canvas.percent(summary.requested_level)} intervals, "
        + ("all at once" if summary.simultaneous else "one at a time"),
        notes=tuple(
            f"{what}: {_listed([names[i] for i in np.flatnonzero(rows)])}."
            for what, rows in kinds.items()
            if rows.any()
        ),
    )


def _sets(summary: Summary, rows: list[int]) -> tuple[Array, ...]:
    """Return the intervals of each row that is drawn, (r, 2)."""
    if summary.sets is not None:
        return tuple(summary.sets[j].ends for j in rows)
    ends = np.stack([summary.lower, summary.upper], axis=1)
    return tuple(ends[j : j + 1] if ends[j, 0] <= ends[j, 1] else ends[:0] for j in rows)


def _rows(names: Sequence[str], which: Sequence[str] | None) -> list[int]:
    """Return the positions of the names that are drawn."""
    if which is None:
        return list(range(len(names)))
    chosen = [which] if isinstance(which, str) else list(which)
    for name in chosen:
        if name not in names:
            raise ValueError(
                f"which names an unknown coefficient: expected some of {_listed(names)}, given "
                f"{name!r}. See summary.names."
            )
    if not chosen:
        raise ValueError(
            "which is empty: expected at least one name, given none. Leave it out for all "
            "coefficients."
        )
    return [list(names).index(name) for name in chosen]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} others" if more > 0 else "")


def has_finite_end(summary: Summary) -> bool:
    """Whether there is an interval to draw: one that does not extend to infinity on both sides.

    Examples
    --------
    >>> has_finite_end(region.summary())
    True
    """
    every = _sets(summary, list(range(len(summary))))
    return any(np.isfinite(ends).any() for ends in every)


def on_one_scale(summary: Summary) -> list[str]:
    """Return the names without the intercept if it would squeeze the others in a picture.

    Examples
    --------
    >>> on_one_scale(region.summary())
    ['intercept', 'x0', 'x1']
    """
    numbers = np.stack([summary.estimate, summary.lower, summary.upper])
    size = np.where(np.isfinite(numbers), np.abs(numbers), 0.0).max(axis=0)
    names = list(summary.names)
    if len(names) > 1 and names[0] == "intercept" and size[0] > _SQUEEZED * size[1:].max():
        return names[1:]
    return names


def forest_height(count: int) -> float:
    """Return the height of a figure with that many rows, in inches."""
    return min(_ROW * count + _FRAME, _HIGHEST)


def forest(summary: Summary, which: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the intervals of a summary, one row for each coefficient.

    A dot marks the estimate of the model. A short bar marks the estimate behind the interval, which
    has no penalty, where the two differ. An interval that is infinite on one side ends there in an
    arrow at the edge of the picture. A row may have several intervals, such as two rays, if its
    column is endogenous. A dashed line marks zero.

    Parameters
    ----------
    summary : Summary
        The result of ``region.summary()``.
    which : sequence of names, optional
        The coefficients to draw, from top to bottom; all by default. Leave out an intercept that is
        much larger than the others.
    ax : Axes, optional
        By default those of a new figure, whose height depends on the number of rows.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = ua.plots.forest(region.summary())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['intercept', 'x0', 'x1']
    """
    data = forest_data(summary, which)
    count = len(data.names)
    ax = canvas.new_axes(ax, height=forest_height(count))
    rows = np.arange(count)
    spans = np.concatenate([np.zeros((0, 2)), *data.sets])
    where = np.repeat(rows, [len(one) for one in data.sets])
    low, high = canvas.limits([data.estimate, data.model_estimate, *spans.T, [0.0]], [])
    ax.axvline(0.0, color=canvas.GREY, linestyle="--", linewidth=1, zorder=0.5)
    parts = any(len(one) > 1 for one in data.sets)
    label = "not rejected" if parts else "interval"
    line: dict[str, Any] = {"color": canvas.BLUE, "linewidth": 2, "label": label}
    ax.hlines(where, *np.clip(spans.T, low, high), **line)
    for ends_at, mark, edge in ((-spans[:, 0], "<", low), (spans[:, 1], ">", high)):
        beyond = where[np.isposinf(ends_at)]
        at_edge: dict[str, Any] = {"color": canvas.BLUE, "markersize": 7, "clip_on": False}
        ax.plot(np.full(len(beyond), edge), beyond, mark, **at_edge)
    if _differ(data):
        bar: dict[str, Any] = {"color": canvas.BLUE, "markersize": 10, "markeredgewidth": 1.8}
        ax.plot(data.model_estimate, rows, "|", label="estimate of the model", **bar)
    dot: dict[str, Any] = {"color": canvas.BLACK, "markersize": 5}
    ax.plot(data.estimate, rows, "o", label="estimate", **dot)
    ax.set_yticks(rows, data.names)
    ax.set(xlabel="coefficient", xlim=(low, high), ylim=(count - 0.5, -0.5))
    canvas.legend_above(ax, [data.title, *data.notes])
    return ax


def _differ(data: ForestData) -> bool:
    """Whether the estimates of the model differ visibly from those behind the intervals."""
    gap = np.abs(data.estimate - data.model_estimate)
    with np.errstate(invalid="ignore"):
        return bool((gap > 0.01 * (data.upper - data.lower)).any())

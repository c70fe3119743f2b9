"""Residuals against fitted values, and how their signs balance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._typing import Array
from unassuming.plots import _canvas as canvas
from unassuming.regions import Diagnosis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WINDOW = 0.2
"""Share of the rows whose median the line shows."""


@dataclass(frozen=True, eq=False)
class DiagnosisData:
    """The numbers behind `diagnosis`; `diagnosis_data` describes them."""

    x: Array
    residuals: Array
    line_x: Array
    line: Array
    name: str
    notes: tuple[str, ...]


def diagnosis_data(diagnosis: Diagnosis, against: str | None = None) -> DiagnosisData:
    """Return the data that `diagnosis` draws.

    Parameters
    ----------
    diagnosis, against
        As for `diagnosis`.

    Returns
    -------
    DiagnosisData
        The ``residuals`` in the order of ``x``, which has the ``name``; the running median
        ``line`` at ``line_x``; one sentence in ``notes`` for each test of the noise.

    Examples
    --------
    >>> data = ua.plots.diagnosis_data(region.diagnose(), against="x0")
    >>> data.name, data.residuals.shape
    ('x0', (50,))
    """
    if not isinstance(diagnosis, Diagnosis):
        raise TypeError(
            "diagnosis cannot be drawn: expected the result of region.diagnose(), given a "
            f"{type(diagnosis).__name__}. Call diagnosis(region.diagnose())."
        )
    columns = {"row": diagnosis.rows, **diagnosis.inputs}
    if against is not None and against not in columns:
        raise ValueError(
            f"against is unknown: expected one of {', '.join(map(repr, columns))}, given "
            f"{against!r}. Leave it out for the fitted values."
        )
    values = diagnosis.fitted if against is None else columns[against]
    try:
        x = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"against is not a column of numbers: expected numbers, given {against!r}. Choose "
            "another column."
        ) from error
    order = np.argsort(x, kind="stable")
    line_x, line = running_median(x[order], diagnosis.residuals[order])
    return DiagnosisData(
        x=x[order],
        residuals=diagnosis.residuals[order],
        line_x=line_x,
        line=line,
        name="fitted value" if against is None else against,
        notes=tuple(
            f"{one.name}: "
            + ("not available" if one.unavailable else f"p-value {one.pvalue:.3g}")
            + ("" if one.assumed else " (not assumed)")
            for one in diagnosis.indications
        ),
    )


def running_median(x: Array, values: Array) -> tuple[Array, Array]:
    """Return the medians over a fifth of the rows or more, at up to 60 places of sorted x.

    Rows with equal x belong to the same windows: their order, which means nothing, does not matter.
    """
    n = len(x)
    half = max(2, int(_WINDOW * n / 2))
    if n < 2 * half + 1:
        return np.empty(0), np.empty(0)
    centres = np.unique(np.linspace(half, n - 1 - half, 60).round().astype(int))
    first = np.searchsorted(x, x[centres - half], side="left")
    last = np.searchsorted(x, x[centres + half], side="right")
    windows = [slice(a, b) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    medians = np.array([np.median(values[w]) for w in windows])
    places, which = np.unique([np.median(x[w]) for w in windows], return_inverse=True)
    return places, np.bincount(which, medians) / np.bincount(which)


def diagnosis(diagnosis: Diagnosis, against: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the residuals of the estimate against fitted values, a column or the row.

    A line shows the running median. A line that bends away from zero suggests that the model lacks
    a feature; see ``region.lack_of_fit()``.

    Parameters
    ----------
    diagnosis : Diagnosis
        The result of ``region.diagnose()``.
    against : str, optional
        The name of an input column, or ``"row"``; by default the fitted values.
    ax : Axes, optional
        By default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = ua.plots.diagnosis(region.diagnose(), against="row")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('row', 'residual')
    """
    data = diagnosis_data(diagnosis, against)
    ax = canvas.new_axes(ax)
    ax.axhline(0.0, color=canvas.GREY, linestyle="--", linewidth=1, zorder=0.5)
    dots: dict[str, Any] = {"color": canvas.GREY, "markersize": 3.5, "label": "residual"}
    ax.plot(data.x, data.residuals, "o", **dots)
    if len(data.line):
        line: dict[str, Any] = {"color": canvas.BLUE, "linewidth": 2, "label": "running median"}
        ax.plot(data.line_x, data.line, **line)
    ax.set(xlabel=data.name, ylabel="residual")
    canvas.legend_above(ax, ["; ".join(data.notes)])
    return ax

"""Predicted half-widths of a plan, over the penalty or over the number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._typing import Array
from unassuming.planning import Plan, narrowest
from unassuming.plots import _canvas as canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = {
    (True, "joint region"): ("all inputs at once, joint region", canvas.BLUE, "-"),
    (True, "balanced cells"): ("all inputs at once, balanced cells", canvas.VERMILION, "--"),
    (False, "cells"): ("one input at a time, cells", canvas.GREEN, "-."),
}


@dataclass(frozen=True, eq=False)
class PlanData:
    """The numbers behind `plan`; `plan_data` describes them."""

    over: str
    lines: dict[tuple[bool, str], tuple[Array, Array]]
    alpha: float | None
    title: str


def plan_data(plan: Plan, over: str | None = None) -> PlanData:
    """Return the data that `plan` draws.

    Parameters
    ----------
    plan, over
        As for `plan`.

    Returns
    -------
    PlanData
        ``lines`` maps whether the bounds hold at once, and the method, to numbers and half-widths;
        ``alpha`` is the best penalty. A half-width that does not depend on the penalty has one
        value, that of the best number of cells.

    Examples
    --------
    >>> X = np.linspace(0, 10, 40)[:, None]
    >>> model = KernelRidge(kernel="rbf", gamma=0.1)
    >>> plan = ua.plan(model, X, norm_bound=60, noise_scale=0.7, alphas=[0.01, 1.0])
    >>> data = ua.plots.plan_data(plan)
    >>> data.over, data.lines[True, "joint region"][0]
    ('alpha', array([0.01, 1.  ]))
    """
    if not isinstance(plan, Plan):
        raise TypeError(
            f"plan cannot be drawn: expected the result of ua.plan, given a {type(plan).__name__}. "
            "Call plan(ua.plan(...))."
        )
    over = ("rows" if len(plan.rows) > 1 else "alpha") if over is None else over
    if over not in ("alpha", "rows"):
        raise ValueError(
            f"over is unknown: expected 'alpha' or 'rows', given {over!r}. Leave it out for the "
            "default."
        )
    lines = {}
    for kind in _KINDS:
        found = [one for one in plan.predictions if (one.simultaneous, one.method) == kind]
        if over == "alpha":
            found = [one for one in found if one.rows == plan.n]
            if found and not all(one.alpha for one in found):
                found = [narrowest(found)]
        else:
            numbers = sorted({one.rows for one in found})
            found = [narrowest([one for one in found if one.rows == n]) for n in numbers]
        if found:
            x = [one.rows if over == "rows" else (one.alpha or np.nan) for one in found]
            lines[kind] = np.array(x, dtype=np.float64), np.array([one.half_width for one in found])
    B, scale = plan.setting.assumption.norm_bound, plan.setting.assumption.noise_scale
    norm = "" if B is None else f"norm at most {B:g}, "
    title = f"{canvas.percent(plan.level)}, {norm}noise of scale {scale:g}"
    return PlanData(over, lines, plan.alpha, title)


def plan(plan: Plan, over: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw predicted half-widths over the penalty, or over the number of rows.

    A dot marks the best penalty. Widths that do not depend on the penalty are horizontal lines.

    Parameters
    ----------
    plan : Plan
        The result of ``ua.plan``.
    over : {"alpha", "rows"}, optional
        By default ``"rows"`` if the plan has several numbers of rows.
    ax : Axes, optional
        By default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> X = np.linspace(0, 10, 40)[:, None]
    >>> model = KernelRidge(kernel="rbf", gamma=0.1)
    >>> plan = ua.plan(model, X, norm_bound=60, noise_scale=0.7, alphas=[0.01, 1.0])
    >>> ua.plots.plan(plan).get_xlabel()
    'alpha'
    """
    data = plan_data(plan, over)
    ax = canvas.new_axes(ax)
    for kind, (x, width) in data.lines.items():
        label, colour, style = _KINDS[kind]
        look: dict[str, Any] = {"color": colour, "linestyle": style, "label": label}
        if np.isnan(x).all():
            ax.axhline(width[0], **look)
            continue
        ax.plot(x, width, marker="." if data.over == "alpha" else "o", markersize=5, **look)
        if data.over == "alpha" and data.alpha is not None:
            name = f"best: {data.alpha:.3g}"
            ax.plot(data.alpha, width[x == data.alpha], "o", color=colour, markersize=9, label=name)
    ax.set(xscale="log", yscale="log", ylabel="predicted half-width")
    ax.set_xlabel("alpha" if data.over == "alpha" else "number of rows")
    _plain_ticks(ax, data)
    canvas.legend_above(ax, [data.title], columns=2)
    return ax


def _plain_ticks(ax: Axes, data: PlanData) -> None:
    """Show half-widths, and numbers of rows, as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes: list[Any] = [ax.yaxis]
    if data.over == "rows":
        ax.set_xticks(np.unique(np.concatenate([x for x, _ in data.lines.values()])))
        ax.xaxis.set_minor_locator(LogLocator(subs=()))
        axes.append(ax.xaxis)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
    for axis in axes:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())

"""The other pictures: ranks, plan, diagnosis, family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.stats import binom

from unassuming._typing import Array, IntArray
from unassuming.inputs import as_seed
from unassuming.planning import Plan, narrowest
from unassuming.plots import canvas
from unassuming.regions import Diagnosis, Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS, _CONFIDENCE = 20, 0.99
"""Of a histogram of ranks."""

_WINDOW = 0.2
"""Share of the rows whose median the line shows."""

_LEVELS = 10
"""Nested regions to sample from: nearly all of the volume of one region is near its boundary."""

_KINDS = {
    (True, "joint region"): ("all inputs at once, joint region", canvas.BLUE, "-"),
    (True, "balanced cells"): ("all inputs at once, balanced cells", canvas.VERMILION, "--"),
    (False, "cells"): ("one input at a time, cells", canvas.GREEN, "-."),
}


# --- ranks of the truth -------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class RanksData:
    """The numbers behind `ranks`; `ranks_data` describes them."""

    edges: Array
    counts: IntArray
    expected: float
    low: int
    high: int


def ranks_data(ranks: Any, m: int, bars: int | None = None) -> RanksData:
    """Return the data that `ranks` draws.

    Parameters
    ----------
    ranks, m, bars
        As for `ranks`.

    Returns
    -------
    RanksData
        The ``counts`` of the bars and their ``edges``, half a rank outside the ranks they count;
        for uniform ranks, the ``expected`` count, and limits ``low`` and ``high`` that contain all
        counts with probability at least 0.99.

    Examples
    --------
    >>> data = ua.plots.ranks_data([1, 2, 3, 4, 4, 4], m=4, bars=2)
    >>> data.counts, data.edges, data.expected
    (array([2, 4]), array([0.5, 2.5, 4.5]), 3.0)
    """
    found = np.asarray(ranks)
    integers = found.ndim == 1 and len(found) and found.dtype.kind in "iu"
    if not integers or found.min() < 1 or found.max() > m:
        raise ValueError(
            f"ranks is not a list of ranks: expected integers from 1 to m = {m}, given {ranks!r}. "
            "Collect region.rank(truth) over many samples."
        )
    if bars is None:
        bars = max(b for b in range(1, min(m, _MOST_BARS) + 1) if m % b == 0)
    if bars < 1 or m % bars:
        raise ValueError(
            f"bars does not divide m: expected a divisor of {m}, so that every bar counts the same "
            f"number of ranks, given {bars}. Leave it out for a suitable one."
        )
    edges = np.linspace(0, m, bars + 1) + 0.5
    law, tail = binom(len(found), 1 / bars), (1 - _CONFIDENCE) / (2 * bars)
    counts = np.histogram(found, edges)[0]
    return RanksData(edges, counts, len(found) / bars, int(law.ppf(tail)), int(law.isf(tail)))


def ranks(ranks: Any, m: int, bars: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw a histogram of ranks; exact regions have uniformly distributed ranks of the truth.

    Parameters
    ----------
    ranks : sequence of int
        Ranks of the true function over independent samples, each with its own seed.
    m : int
        Number of statistics of each region, which is the largest possible rank.
    bars : int, optional
        A divisor of m; by default the largest up to 20.
    ax : Axes, optional
        By default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> found = []
    >>> for seed in range(40):
    ...     X, y, truth = ua.datasets.linear(n=20, d=1, random_state=seed)
    ...     region = ua.confidence_region(LinearRegression(), X, y, m=20, random_state=seed)
    ...     found.append(region.rank(truth))
    >>> len(ua.plots.ranks(found, m=20, bars=5).patches)
    5
    """
    ax = canvas.new_axes(ax)
    data = ranks_data(ranks, m, bars)
    ((_, tint),) = canvas.tinted([1.0], lightest=0.5)
    style: dict[str, Any] = {"color": tint, "edgecolor": "white"}
    ax.bar(data.edges[:-1], data.counts, np.diff(data.edges), align="edge", **style)
    ax.axhline(data.expected, color=canvas.BLACK, linewidth=1.4, label="expected for uniform ranks")
    between = f"simultaneous {canvas.percent(_CONFIDENCE)} limits for uniform ranks"
    for height, label in ((data.low, between), (data.high, None)):
        ax.axhline(height, color=canvas.VERMILION, linewidth=1.2, linestyle="--", label=label)
    ax.set(
        xlabel=f"rank of the candidate (1 to {m})",
        ylabel=f"count ({data.counts.sum()} samples)",
        xlim=(data.edges[0], data.edges[-1]),
        ylim=(0, 1.1 * max(data.counts.max(), data.high)),
    )
    canvas.legend_above(ax, [], columns=1)
    return ax


# --- predicted widths ---------------------------------------------------------------------------


@final
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
    canvas.require("plan", plan, Plan, "ua.plan(...)")
    over = over or ("rows" if len(plan.rows) > 1 else "alpha")
    if over not in ("alpha", "rows"):
        raise ValueError(
            f"over is unknown: expected 'alpha' or 'rows', given {over!r}. Choose one."
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
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

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
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
    plain: list[Any] = [ax.yaxis]
    if data.over == "rows":
        ax.set_xticks(np.unique(np.concatenate([x for x, _ in data.lines.values()])))
        ax.xaxis.set_minor_locator(LogLocator(subs=()))
        plain.append(ax.xaxis)
    for axis in plain:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    canvas.legend_above(ax, [data.title], columns=2)
    return ax


# --- residuals ----------------------------------------------------------------------------------


@final
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
    canvas.require("diagnosis", diagnosis, Diagnosis, "region.diagnose()")
    columns: dict[Any, Any] = {
        None: diagnosis.fitted,
        "row": diagnosis.rows,
        **diagnosis.inputs,
    }
    try:
        x = np.asarray(columns[against], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        named = ", ".join(repr(name) for name in columns if name is not None)
        raise ValueError(
            f"against does not name a column of numbers: expected one of {named}, given "
            f"{against!r}. Leave it out for the fitted values."
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
    draw_diagnosis(ax, data)
    canvas.legend_above(ax, ["; ".join(data.notes)])
    return ax


def draw_diagnosis(ax: Axes, data: DiagnosisData) -> None:
    """Draw residuals and their running median, without words."""
    ax.axhline(0.0, color=canvas.GREY, linestyle="--", linewidth=1, zorder=0.5)
    ax.plot(data.x, data.residuals, "o", color=canvas.GREY, markersize=3.5, label="residual")
    if len(data.line):
        ax.plot(data.line_x, data.line, color=canvas.BLUE, linewidth=2, label="running median")
    canvas.name_axes(ax, data.name, "residual")


# --- members as functions -----------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class FamilyData:
    """The numbers behind `family`; `family_data` describes them."""

    x: Array
    members: Array
    values: Array
    levels: Array
    estimate: Array
    observed_x: Array
    observed_y: Array


def family_data(
    region: Region,
    X: Any = None,
    size: int = 200,
    level: float = 0.95,
    *,
    norm_bound: float | None = None,
    random_state: Any = 0,
) -> FamilyData:
    """Return the data that `family` draws.

    Parameters
    ----------
    region, X, size, level, norm_bound, random_state
        As for `family`.

    Returns
    -------
    FamilyData
        The feature ``x`` in increasing order with the ``estimate``; the coefficients ``members``
        (M, d), highest level first, their functions ``values`` (M, N) and their ``levels``, the
        smallest whose region contains the member; the rows ``observed_x``, ``observed_y``.

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y, random_state=0)
    >>> data = ua.plots.family_data(line, size=20)
    >>> data.values.shape, bool(data.levels.max() <= 0.96)
    ((20, 200), True)
    """
    inputs, x, order = canvas.horizontal(region, X)
    last, rng = region.level(level).largest_rank, np.random.default_rng(as_seed(random_state))
    lowest = min(max(int(region.rank(region.estimate)), -(-last // _LEVELS)), last)
    ranks = np.unique(np.linspace(lowest, last, min(_LEVELS, size)).round().astype(int))
    sizes = np.full(len(ranks), size // len(ranks))
    sizes[len(ranks) - size % len(ranks) :] += 1
    parts = [
        region.sample(int(part), level=rank / region.m, random_state=rng, norm_bound=norm_bound)
        for rank, part in zip(ranks, sizes, strict=True)
    ]
    members = np.concatenate(parts)
    levels = region.smallest_level(members)
    first = np.argsort(-levels, kind="stable")
    observed_x, observed_y = canvas.observed(region, 1)
    return FamilyData(
        x=x[order],
        members=members[first],
        values=canvas.values(region, members[first], inputs)[:, order],
        levels=levels[first],
        estimate=canvas.values(region, region.estimate[None, :], inputs)[0, order],
        observed_x=observed_x[:, 0],
        observed_y=observed_y,
    )


def family(
    region: Region,
    X: Any = None,
    size: int = 200,
    level: float = 0.95,
    *,
    norm_bound: float | None = None,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw members of the region as functions, coloured by their level, with a colour bar.

    The members are sampled from ten nested regions, the largest with the given level. They are
    members, not bounds: their envelope is narrower than the region, whose outer bounds `band`
    draws. An unbounded region cannot be sampled without a norm bound.

    Parameters
    ----------
    region : Region
    X : array or DataFrame with one feature, optional
        Inputs of the functions; by default 200 inputs over the range of the data.
    size : int, default 200
        Number of members.
    level : float, default 0.95
    norm_bound : float, optional
        Largest norm of a member.
    random_state : int, Generator, RandomState or None, default 0
    ax : Axes, optional
        By default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y, random_state=0)
    >>> ax = ua.plots.family(line, size=20)
    >>> len(ax.collections[0].get_segments())
    20
    """
    ax = canvas.new_axes(ax)
    from matplotlib.collections import LineCollection

    data = family_data(region, X, size, level, norm_bound=norm_bound, random_state=random_state)
    curves = [np.column_stack([data.x, curve]) for curve in data.values]
    lines = LineCollection(curves, array=data.levels, cmap="viridis", linewidths=0.8)
    lines.set_clim(0, region.level(level).largest_rank / region.m)
    ax.add_collection(lines)
    ax.plot(data.observed_x, data.observed_y, "o", color=canvas.GREY, markersize=3.5, label="data")
    ax.plot(data.x, data.estimate, color=canvas.BLACK, linewidth=1.8, label="estimate")
    scale = ax.figure.colorbar(lines, ax=ax)
    scale.set_label("smallest level whose region contains the function")
    canvas.name_axes(ax, canvas.names(region.inputs, 1)[0], canvas.output_name(region))
    ax.set_ylim(canvas.limits([data.observed_y, data.estimate], [data.values]))
    ax.margins(x=0.01)
    title = f"{len(data.levels)} members of the {canvas.percent(level)} confidence region"
    canvas.legend_above(ax, [title, *canvas.caveats(region)])
    return ax

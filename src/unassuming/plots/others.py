"""The other pictures: ranks, plan, diagnosis, family."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from unassuming._typing import Array
from unassuming.inputs import as_seed
from unassuming.planning import Plan, narrowest
from unassuming.plots import canvas
from unassuming.regions import Diagnosis, Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of a histogram of ranks.
_MOST_BARS, _CONFIDENCE = 20, 0.99

# Share of the rows whose median the line shows, and points of the line.
_WINDOW, _PLACES = 0.2, 60

# Nested regions to sample from: nearly all of the volume of one region is near its boundary.
_LEVELS = 10

_KINDS = {
    (True, "joint region"): ("all inputs at once, joint region", canvas.BLUE, "-"),
    (True, "balanced cells"): ("all inputs at once, balanced cells", canvas.VERMILION, "--"),
    (False, "cells"): ("one input at a time, cells", canvas.GREEN, "-."),
}


# --- ranks of the truth -------------------------------------------------------------------------


def ranks_data(ranks: Any, m: int, bars: int | None = None) -> SimpleNamespace:
    """Return the data that `ranks` draws.

    Parameters
    ----------
    ranks, m, bars
        As for `ranks`.

    Returns
    -------
    SimpleNamespace
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
    bars = bars or max(b for b in range(1, min(m, _MOST_BARS) + 1) if m % b == 0)
    if bars < 1 or m % bars:
        raise ValueError(
            f"bars does not divide m: expected a divisor of {m}, so that every bar counts the same "
            f"number of ranks, given {bars}. Leave it out for a suitable one."
        )
    edges = np.linspace(0, m, bars + 1) + 0.5
    law, tail = binom(len(found), 1 / bars), (1 - _CONFIDENCE) / (2 * bars)
    return SimpleNamespace(
        edges=edges,
        counts=np.histogram(found, edges)[0],
        expected=len(found) / bars,
        low=int(law.ppf(tail)),
        high=int(law.isf(tail)),
    )


def ranks(ranks: Any, m: int, bars: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw a histogram of ranks; exact regions have uniformly distributed ranks of the truth.

    Parameters
    ----------
    ranks : sequence of int
        Ranks of the true function over independent samples.
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
    width = np.diff(data.edges)
    ax.bar(data.edges[:-1], data.counts, width, align="edge", color=tint, edgecolor="white")
    ends = data.edges[[0, -1]]
    canvas.curve(ax, ends, [data.expected] * 2, "expected for uniform ranks")
    between = f"simultaneous {canvas.percent(_CONFIDENCE)} limits for uniform ranks"
    for height, label in ((data.low, between), (data.high, "_")):
        canvas.curve(ax, ends, [height] * 2, label, canvas.VERMILION, "--")
    ax.set(xlim=ends, ylim=(0, 1.1 * max(data.counts.max(), data.high)))
    canvas.name_axes(ax, f"rank (1 to {m})", f"count ({data.counts.sum()} samples)")
    canvas.legend_above(ax, [], columns=1)
    return ax


# --- predicted widths ---------------------------------------------------------------------------


def plan_data(plan: Plan, over: str | None = None) -> SimpleNamespace:
    """Return the data that `plan` draws.

    Parameters
    ----------
    plan, over
        As for `plan`.

    Returns
    -------
    SimpleNamespace
        ``over``; ``lines`` maps whether the bounds hold at once, and the method, to numbers and
        half-widths; ``alpha`` is the best penalty; the ``title``. A half-width that does not depend
        on the penalty has one value.

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
    assumed = plan.setting.assumption
    norm = "" if assumed.norm_bound is None else f"norm at most {assumed.norm_bound:g}, "
    title = f"{canvas.percent(plan.level)}, {norm}noise of scale {assumed.noise_scale:g}"
    return SimpleNamespace(over=over, lines=lines, alpha=plan.alpha, title=title)


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
    from matplotlib.ticker import LogLocator, NullFormatter

    of_rows = data.over == "rows"
    for kind, (x, width) in data.lines.items():
        label, colour, style = _KINDS[kind]
        if np.isnan(x).all():
            ax.axhline(width[0], color=colour, linestyle=style, label=label)
            continue
        canvas.curve(ax, x, width, label, colour, style, marker="o" if of_rows else ".")
        if not of_rows and data.alpha is not None:
            best, name = x == data.alpha, f"best: {data.alpha:.3g}"
            canvas.dots(ax, x[best], width[best], name, color=colour, markersize=9)
    ax.set(xscale="log", yscale="log")
    canvas.name_axes(ax, "number of rows" if of_rows else "alpha", "predicted half-width")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0)))
    if of_rows:
        ax.set_xticks(np.unique(np.concatenate([x for x, _ in data.lines.values()])))
    for axis in (ax.xaxis, ax.yaxis) if of_rows else (ax.yaxis,):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    canvas.legend_above(ax, [data.title], columns=2)
    return ax


# --- residuals ----------------------------------------------------------------------------------


def diagnosis_data(diagnosis: Diagnosis, against: str | None = None) -> SimpleNamespace:
    """Return the data that `diagnosis` draws.

    Parameters
    ----------
    diagnosis, against
        As for `diagnosis`.

    Returns
    -------
    SimpleNamespace
        The ``residuals`` in the order of ``x``, which has the ``name``; the running median
        ``line`` at ``line_x``; one sentence in ``notes`` for each test of the noise.

    Examples
    --------
    >>> data = ua.plots.diagnosis_data(region.diagnose(), against="x0")
    >>> data.name, data.residuals.shape
    ('x0', (50,))
    """
    canvas.require("diagnosis", diagnosis, Diagnosis, "region.diagnose()")
    columns: dict[Any, Any] = {None: diagnosis.fitted, "row": diagnosis.rows, **diagnosis.inputs}
    try:
        x = np.asarray(columns[against], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        named = ", ".join(repr(name) for name in columns if name is not None)
        raise ValueError(
            f"against does not name a column of numbers: expected one of {named}, given "
            f"{against!r}. Leave it out for the fitted values."
        ) from error
    order = np.argsort(x, kind="stable")
    line_x, line = _running_median(x[order], diagnosis.residuals[order])
    return SimpleNamespace(
        x=x[order],
        residuals=diagnosis.residuals[order],
        line_x=line_x,
        line=line,
        name="fitted value" if against is None else against,
        notes=[
            f"{one.name}: "
            + ("not available" if one.unavailable else f"p-value {one.pvalue:.3g}")
            + ("" if one.assumed else " (not assumed)")
            for one in diagnosis.indications
        ],
    )


def _running_median(x: Array, values: Array) -> tuple[Array, Array]:
    """Return medians over a fifth of the rows or more; rows with equal x stay together."""
    half = max(2, int(_WINDOW * len(x) / 2))
    if len(x) < 2 * half + 1:
        return np.empty(0), np.empty(0)
    centres = np.linspace(half, len(x) - 1 - half, _PLACES).round().astype(int)
    first = np.searchsorted(x, x[centres - half], side="left")
    last = np.searchsorted(x, x[centres + half], side="right")
    windows = [slice(a, b) for a, b in np.unique([first, last], axis=1).T.tolist()]
    medians = [[np.median(x[w]), np.median(values[w])] for w in windows]
    places, line = np.array(medians).T
    return places, line


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
    canvas.zero(ax)
    canvas.dots(ax, data.x, data.residuals, "residual")
    if len(data.line):
        canvas.curve(ax, data.line_x, data.line, "running median", canvas.BLUE, linewidth=2)
    canvas.name_axes(ax, data.name, "residual")
    canvas.legend_above(ax, ["; ".join(data.notes)])
    return ax


# --- members as functions -----------------------------------------------------------------------


def family_data(
    region: Region,
    X: Any = None,
    size: int = 200,
    level: float = 0.95,
    *,
    norm_bound: float | None = None,
    random_state: Any = 0,
) -> SimpleNamespace:
    """Return the data that `family` draws.

    Parameters
    ----------
    region, X, size, level, norm_bound, random_state
        As for `family`.

    Returns
    -------
    SimpleNamespace
        The feature ``x`` in increasing order with the ``estimate``; the coefficients ``members``
        (M, d), highest level first, their functions ``values`` (M, N) and their ``levels``, the
        smallest whose region contains the member; the rows ``observed_x``, ``observed_y``.

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y)
    >>> data = ua.plots.family_data(line, size=20)
    >>> data.values.shape, bool(data.levels.max() <= 0.96)
    ((20, 200), True)
    """
    inputs, x, order = canvas.horizontal(region, X)
    rng, last = np.random.default_rng(as_seed(random_state)), region.level(level).largest_rank
    lowest = min(max(int(region.rank(region.estimate)), -(-last // _LEVELS)), last)
    ranks = np.unique(np.linspace(lowest, last, min(_LEVELS, size)).round().astype(int))
    sizes = np.diff(np.linspace(0, size, len(ranks) + 1).astype(int)).tolist()
    parts = [
        region.sample(part, level=rank / region.m, random_state=rng, norm_bound=norm_bound)
        for rank, part in zip(ranks, sizes, strict=True)
    ]
    members = np.concatenate(parts)
    levels = region.smallest_level(members)
    first = np.argsort(-levels, kind="stable")
    curves = np.vstack([members[first], region.estimate])
    found = canvas.values(region, curves, inputs)[:, order]
    observed_x, observed_y = canvas.observed(region, 1)
    return SimpleNamespace(
        x=x[order],
        members=members[first],
        values=found[:-1],
        levels=levels[first],
        estimate=found[-1],
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
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y)
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
    canvas.dots(ax, data.observed_x, data.observed_y, "data")
    canvas.curve(ax, data.x, data.estimate, "estimate", linewidth=1.8)
    scale = ax.figure.colorbar(lines, ax=ax)
    scale.set_label("smallest level whose region contains the function")
    canvas.name_axes(ax, canvas.names(region.inputs, 1)[0], canvas.output_name(region))
    ax.set_ylim(canvas.limits([data.observed_y, data.estimate], [data.values]))
    ax.margins(x=0.01)
    title = f"{len(data.levels)} members of the {canvas.percent(level)} confidence region"
    canvas.legend_above(ax, [title, *canvas.caveats(region)])
    return ax

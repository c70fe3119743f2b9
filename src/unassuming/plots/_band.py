"""A band over one feature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._typing import Array
from unassuming.plots._canvas import (
    BLACK,
    BLUE,
    GREY,
    VERMILION,
    legend_above,
    limits,
    new_axes,
    percent,
    sentences,
    short,
    tints,
)
from unassuming.plots._inputs import (
    caveats,
    features,
    grid,
    like,
    names,
    observed,
    output_name,
    used,
)
from unassuming.regions import Region, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MANY = 500


@dataclass(frozen=True, eq=False)
class BandData:
    """What `band` draws.

    Attributes
    ----------
    x, estimate : arrays of shape (N,)
        The feature in increasing order, and the estimate there.
    lower, upper : dict from level to array of shape (N,)
        Outer bounds; infinite where nothing finite is true or certified.
    inner_x : array of shape (M,)
        The inputs at which members were searched for.
    inner_lower, inner_upper : dict from level to array of shape (M,)
        Values that members attain there.
    status, reason : dict from level to Status and str
    target : str
        What the band covers: ``"representation"`` or ``"function"``.
    observed_x, observed_y : arrays of shape (n,)
        The rows of the data; none for a region from a stream, unless they were given.
    name : str
        What the feature is called.
    """

    x: Array
    estimate: Array
    lower: dict[float, Array]
    upper: dict[float, Array]
    inner_x: Array
    inner_lower: dict[float, Array]
    inner_upper: dict[float, Array]
    status: dict[float, Status]
    reason: dict[float, str]
    target: str
    observed_x: Array
    observed_y: Array
    name: str


def band_data(
    region: Region,
    X: Any = None,
    levels: Sequence[float] = (0.5, 0.9),
    *,
    norm_bound: float | None = None,
    target: str | None = None,
    inner: int = 0,
    rows: tuple[Any, Any] | None = None,
) -> BandData:
    """Return what `band` draws.

    Parameters
    ----------
    region, X, levels, norm_bound, target, inner, rows
        As for `band`.

    Returns
    -------
    BandData
        ``x``, ``estimate``, and by level ``lower``, ``upper``, ``status`` and ``reason``;
        ``inner_x`` with ``inner_lower`` and ``inner_upper``; ``observed_x``, ``observed_y``.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
    >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    >>> data = ua.plots.band_data(region, levels=[0.9])
    >>> data.x.shape, bool((data.lower[0.9] < data.upper[0.9]).all())
    ((200,), True)
    """
    inputs = grid(region) if X is None else X
    x = features(inputs, 1)[:, 0]
    order = np.argsort(x, kind="stable")
    wanted = used(region, levels)
    bands = region.band(inputs, level=wanted, norm_bound=norm_bound, target=target)
    few = order[np.unique(np.linspace(0, len(x) - 1, min(inner, len(x))).round().astype(int))]
    found = (
        region.band(like(inputs, x[few, None]), wanted, norm_bound, target, inner=True)
        if len(few)
        else {}
    )
    found = {level: b for level, b in found.items() if b.inner_lower is not None}
    observed_x, observed_y, named = _observations(region, inputs, rows)
    first = bands[wanted[0]]
    return BandData(
        x=x[order],
        estimate=first.estimate[order],
        lower={level: b.lower[order] for level, b in bands.items()},
        upper={level: b.upper[order] for level, b in bands.items()},
        inner_x=x[few],
        inner_lower={level: b.inner_lower for level, b in found.items()},
        inner_upper={level: b.inner_upper for level, b in found.items()},
        status={level: b.status for level, b in bands.items()},
        reason={level: b.reason for level, b in bands.items()},
        target=first.target,
        observed_x=observed_x[:, 0],
        observed_y=observed_y,
        name=names(named, 1)[0],
    )


def _observations(region: Region, inputs: Any, rows: Any) -> tuple[Array, Array, Any]:
    """Return features and outputs of the rows to draw, and a table that names the feature."""
    if rows is not None:
        return features(rows[0], 1), np.asarray(rows[1], dtype=np.float64), rows[0]
    if region.problem.rows is None:
        return np.empty((0, 1)), np.empty(0), inputs
    return *observed(region, 1), region.inputs


def band(
    region: Region,
    X: Any = None,
    levels: Sequence[float] = (0.5, 0.9),
    *,
    norm_bound: float | None = None,
    target: str | None = None,
    inner: int = 0,
    truth: Callable[[Any], Any] | None = None,
    rows: tuple[Any, Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the data, the estimate and the certified band of each level over one feature.

    Where a bound is infinite the shade runs to the edge of the picture and a note says why. The
    legend says what the band covers: the ideal representation, which need not be the noise-free
    function between the training inputs, or the function itself (with a norm bound).

    Parameters
    ----------
    region : Region
    X : array or DataFrame with one feature, optional
        Where to draw; by default 200 inputs over the range of the data.
    levels : sequence of floats
    norm_bound : float, optional
        An assumption of yours: the function's norm is at most B.
    target : {"representation", "function"}, optional
        As for ``region.band``.
    inner : int, default 0
        Number of the inputs at which members near the bounds are searched for; a dash marks what
        they attain. A search takes about a tenth of a second for each, more with a norm bound.
    truth : callable, optional
        A function of X to draw as well.
    rows : pair (X, y), optional
        The observations to draw; by default those of the region, and none for a region from a
        stream, which does not keep them and needs ``X``.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
    >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    >>> ax = ua.plots.band(region, levels=(0.5, 0.9))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x', 'y')
    """
    ax = new_axes(ax)
    data = band_data(
        region, X, levels, norm_bound=norm_bound, target=target, inner=inner, rows=rows
    )
    true = None
    if truth is not None:
        inputs = grid(region) if X is None else X
        true = np.asarray(truth(inputs))[np.argsort(features(inputs, 1)[:, 0], kind="stable")]
    core = [data.observed_y, data.estimate, *([] if true is None else [true])]
    low, high = limits(core, [*data.lower.values(), *data.upper.values()])
    ordered = sorted(data.lower, reverse=True)
    for level, tint in zip(ordered, tints(len(ordered)), strict=True):
        if data.status[level] is Status.EMPTY:
            ax.fill_between([], [], [], color=tint, label=short(level, data.status[level]))
            continue
        beyond = high - low  # infinite bounds end outside the picture
        both = np.stack([data.lower[level], data.upper[level]])
        bottom, top = np.clip(both, low - beyond, high + beyond)
        name = short(level, data.status[level])
        ax.fill_between(data.x, bottom, top, color=tint, linewidth=0, label=name)
    dashes = tints(len(data.inner_lower), BLUE, 0.75, 1.0)[::-1]
    for (level, bound), dash in zip(sorted(data.inner_lower.items()), dashes, strict=True):
        x, attained = np.tile(data.inner_x, 2), np.concatenate([bound, data.inner_upper[level]])
        label = f"{percent(level)}, attained"
        ax.plot(x, attained, "_", color=dash, markersize=7, markeredgewidth=1.6, label=label)
    if count := len(data.observed_x):
        label = "data" if count == region.n else f"{count} of the {region.n} rows"
        # Many points would hide the band, which is narrow then: they go below it, and lighter.
        many = {"alpha": 0.35, "zorder": 0.5, "markersize": 2.0} if count > _MANY else {}
        points: dict[str, Any] = {"color": GREY, "markersize": 3.5, "label": label, **many}
        ax.plot(data.observed_x, data.observed_y, "o", **points)
    if true is not None:
        ax.plot(data.x, true, "--", color=VERMILION, linewidth=1.8, label="truth")
    ax.plot(data.x, data.estimate, color=BLACK, linewidth=1.4, label="estimate")
    ax.set(xlabel=data.name, ylabel=output_name(region), ylim=(low, high))
    ax.margins(x=0.01)
    legend_above(ax, _covers(data.target, norm_bound), [*caveats(region), *sentences(data.status)])
    return ax


def _covers(target: str, norm_bound: float | None) -> str:
    given = "" if norm_bound is None else f", if its norm is at most {norm_bound:g}"
    what = "the function itself" if target == "function" else "the ideal representation"
    return f"simultaneous band of {what}{given}"

"""A band over one feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._typing import Array
from unassuming.plots import _canvas as canvas
from unassuming.plots._compare import NOTE, Compared
from unassuming.plots._inputs import (
    caveats,
    features,
    horizontal,
    like,
    names,
    observed,
    output_name,
    used,
)
from unassuming.regions import Band, Region, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MANY = 500


@dataclass(frozen=True, eq=False)
class BandData:
    """The numbers behind `band`; `band_data` describes them."""

    x: Array
    estimate: Array
    lower: dict[float, Array]
    upper: dict[float, Array]
    inner_x: Array
    inner_lower: dict[float, Array]
    inner_upper: dict[float, Array]
    status: dict[float, Status]
    reason: dict[float, str]
    pointwise_lower: dict[float, Array]
    pointwise_upper: dict[float, Array]
    pointwise_status: dict[float, Status]
    target: str
    observed_x: Array
    observed_y: Array
    name: str
    compared: Compared | None = None


def band_data(
    region: Region,
    X: Any = None,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    pointwise: Sequence[float] = (),
    norm_bound: float | None = None,
    model_error: float | None = None,
    noise_scale: float | None = None,
    target: str | None = None,
    method: str = "auto",
    inner: int = 0,
    rows: tuple[Any, Any] | None = None,
    compare: Any = None,
    bands: Mapping[float, Band] | None = None,
) -> BandData:
    """Return the data that `band` draws.

    Parameters
    ----------
    region, X, levels, pointwise, norm_bound, model_error, noise_scale, target, method, inner, \
    rows, compare, bands
        As for `band`.

    Returns
    -------
    BandData
        The feature ``x`` in increasing order with the ``estimate``; by level the outer bounds
        ``lower`` and ``upper`` (infinite where no finite bound is true or certified), ``status``
        and ``reason``; the same of the pointwise bands, ``pointwise_lower``, ``pointwise_upper``
        and ``pointwise_status``; ``inner_x``, with the values ``inner_lower`` and ``inner_upper``
        that members attain there, by level; the ``target``; the rows ``observed_x``,
        ``observed_y``; the ``name`` of the feature; ``compared``, the ``mean``, ``lower`` and
        ``upper`` of the Gaussian process at the highest level, if there is one.

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y, random_state=0)
    >>> data = ua.plots.band_data(line, levels=[0.9])
    >>> data.x.shape, bool((data.lower[0.9] < data.upper[0.9]).all())
    ((200,), True)
    """
    inputs, x, order = horizontal(region, X)
    wanted, single = used(region, levels), sorted({float(level) for level in pointwise})
    if not wanted and not single:
        raise ValueError(
            "no band is asked for: expected at least one level in levels or in pointwise, given "
            "none. Try levels=[0.9]."
        )
    if inner and method == "auto":
        method = "joint"  # the only one with members
    assumed: dict[str, Any] = {"model_error": model_error, "noise_scale": noise_scale}
    together: Mapping[float, Band] = {}
    alone: Mapping[float, Band] = {}
    if wanted:
        together = _known(bands, wanted, simultaneous=True) or region.band(
            inputs, wanted, norm_bound=norm_bound, target=target, method=method, **assumed
        )
    if single:
        alone = _known(bands, single, simultaneous=False) or region.band(
            inputs,
            single,
            norm_bound=norm_bound,
            target=None if model_error is None else target,
            simultaneous=False,
            **assumed,
        )
    few = order[np.unique(np.linspace(0, len(x) - 1, min(inner, len(x))).round().astype(int))]
    found = (
        region.band(
            like(inputs, x[few, None]),
            wanted,
            norm_bound=norm_bound,
            target=target,
            inner=True,
            method=method,
            **assumed,
        )
        if len(few) and wanted
        else {}
    )
    found = {level: b for level, b in found.items() if b.inner_lower is not None}
    observed_x, observed_y, named = _observations(region, inputs, rows)
    first = together[wanted[0]] if wanted else alone[single[0]]
    compared = None
    if compare is not None:
        compared = Compared.of(compare, like(inputs, x[order, None]), max([*wanted, *single]))
    return BandData(
        x=x[order],
        estimate=first.estimate[order],
        lower={level: b.lower[order] for level, b in together.items()},
        upper={level: b.upper[order] for level, b in together.items()},
        inner_x=x[few],
        inner_lower={level: b.inner_lower for level, b in found.items()},
        inner_upper={level: b.inner_upper for level, b in found.items()},
        status={level: b.status for level, b in together.items()},
        reason={level: b.reason for level, b in together.items()},
        pointwise_lower={level: b.lower[order] for level, b in alone.items()},
        pointwise_upper={level: b.upper[order] for level, b in alone.items()},
        pointwise_status={level: b.status for level, b in alone.items()},
        target=first.target,
        observed_x=observed_x[:, 0],
        observed_y=observed_y,
        name=names(named, 1)[0],
        compared=compared,
    )


def _known(
    bands: Mapping[float, Band] | None, levels: list[float], *, simultaneous: bool
) -> dict[float, Band]:
    """Return the given bands of these levels, if they are all of this kind."""
    given = [] if bands is None else [bands.get(level) for level in levels]
    right = [band for band in given if band is not None and band.simultaneous is simultaneous]
    return dict(zip(levels, right, strict=True)) if len(right) == len(levels) else {}


def _observations(region: Region, inputs: Any, rows: Any) -> tuple[Array, Array, Any]:
    """Return features and outputs of the rows to draw, and a table with the feature's name."""
    if rows is not None:
        return features(rows[0], 1), np.asarray(rows[1], dtype=np.float64), rows[0]
    if region.problem.rows is None:
        return np.empty((0, 1)), np.empty(0), inputs
    return *observed(region, 1), region.inputs


def band(
    region: Region,
    X: Any = None,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    pointwise: Sequence[float] = (),
    norm_bound: float | None = None,
    model_error: float | None = None,
    noise_scale: float | None = None,
    target: str | None = None,
    method: str = "auto",
    inner: int = 0,
    truth: Callable[[Any], Any] | None = None,
    rows: tuple[Any, Any] | None = None,
    compare: Any = None,
    bands: Mapping[float, Band] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the data, the estimate and the certified band of each level over one feature.

    A simultaneous band (blue) holds at all inputs at once. A pointwise band (orange) holds at each
    input by itself. It is usually narrower, except where there are few data.

    Where a bound is infinite, the shading extends to the edge of the picture and a note gives the
    reason. The legend states what the band covers: the ideal representation, that is, the model
    function with the noise-free outputs at the training inputs, which may differ from the
    noise-free function between them; or the function itself (with a norm bound).

    Parameters
    ----------
    region : Region
    X : array or DataFrame with one feature, optional
        Inputs of the band; by default 200 inputs over the range of the data.
    levels : sequence of floats
        Of the simultaneous bands; may be empty if ``pointwise`` is not.
    pointwise : sequence of floats, optional
        Levels of pointwise bands. Those of a kernel need a norm bound.
    norm_bound : float, optional
        Assume that the norm of the function is at most this.
    model_error, noise_scale : float, optional
        As for ``region.band``: how much the features may miss the function by, and a guess of the
        standard deviation of the noise, which affects the width only.
    target : {"representation", "function"}, optional
        As for ``region.band``.
    method : {"joint", "cells", "auto"}, default "auto"
        As for ``region.band``, of the simultaneous bands.
    inner : int, default 0
        Number of inputs at which to search for members near the bounds; dashes mark the values that
        they attain. Each takes about a tenth of a second, more with a norm bound. Only the joint
        region has members, so ``method="cells"`` is refused and ``"auto"`` takes ``"joint"``.
    truth : callable, optional
        A function of X to draw as well.
    rows : pair (X, y), optional
        Observations to draw; by default those of the region. A region from a stream stores none,
        and needs ``X``.
    compare : fitted GaussianProcessRegressor, optional
        Also draw its mean and its interval of the function at the highest level. They hold at each
        input by itself, if prior and noise are Gaussian.
    bands : dict of Band, optional
        Results of ``region.band`` at these inputs, by level, to be drawn as they are; by default
        they are computed.
    ax : Axes, optional
        By default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y, random_state=0)
    >>> ax = ua.plots.band(line, levels=(0.5, 0.95))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x', 'y')
    >>> ax = ua.plots.band(line, levels=[0.9], pointwise=[0.9])
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['90 % simultaneous band', '90 % pointwise band']
    """
    ax = canvas.new_axes(ax)
    data = band_data(
        region,
        X,
        levels,
        pointwise=pointwise,
        norm_bound=norm_bound,
        model_error=model_error,
        noise_scale=noise_scale,
        target=target,
        method=method,
        inner=inner,
        rows=rows,
        compare=compare,
        bands=bands,
    )
    true = None
    if truth is not None:
        inputs, _, order = horizontal(region, X)
        true = np.asarray(truth(inputs))[order]
    core = [data.observed_y, data.estimate, *([] if true is None else [true])]
    if data.compared is not None:
        core += [data.compared.lower, data.compared.upper]
    drawn = [data.lower, data.upper, data.pointwise_lower, data.pointwise_upper]
    low, high = canvas.limits(core, [bound for one in drawn for bound in one.values()])
    _shade(ax, data, low, high)
    dashes = canvas.tints(len(data.inner_lower), canvas.BLUE, 0.75, 1.0)[::-1]
    for (level, bound), dash in zip(sorted(data.inner_lower.items()), dashes, strict=True):
        x, attained = np.tile(data.inner_x, 2), np.concatenate([bound, data.inner_upper[level]])
        label = f"{canvas.percent(level)} inner bound"
        ax.plot(x, attained, "_", color=dash, markersize=7, markeredgewidth=1.6, label=label)
    if count := len(data.observed_x):
        label = "data" if count == region.n else f"{count} of the {region.n} rows"
        # Many points would hide the band, which is then narrow: they are lighter and below it.
        many = {"alpha": 0.35, "zorder": 0.5, "markersize": 2.0} if count > _MANY else {}
        points: dict[str, Any] = {"color": canvas.GREY, "markersize": 3.5, "label": label, **many}
        ax.plot(data.observed_x, data.observed_y, "o", **points)
    if true is not None:
        ax.plot(data.x, true, "--", color=canvas.VERMILION, linewidth=1.8, label="truth")
    if data.compared is not None:
        data.compared.draw(ax, data.x)
    ax.plot(data.x, data.estimate, color=canvas.BLACK, linewidth=1.4, label="estimate")
    ax.set(xlabel=data.name, ylabel=output_name(region), ylim=(low, high))
    ax.margins(x=0.01)
    notes = caveats(region)
    statuses = [*data.status.values(), *data.pointwise_status.values()]
    if not notes and any(status is not Status.EMPTY for status in statuses):
        notes = [_covers(region, data.target, norm_bound, model_error)]
    if data.compared is not None:
        notes = [*notes, NOTE]
    apart = [f"Pointwise, {note}" for note in canvas.sentences(data.pointwise_status, norm_bound)]
    canvas.legend_above(ax, [*notes, *canvas.sentences(data.status, norm_bound), *apart])
    return ax


def _shade(ax: Axes, data: BandData, low: float, high: float) -> None:
    """Fill the simultaneous bands, and the pointwise ones over them with their outlines."""
    beyond = high - low  # infinite bounds end outside the picture
    for level, tint in _tinted(data.lower, canvas.BLUE):
        shade = np.stack([data.x, data.lower[level], data.upper[level]])
        if data.status[level] is Status.EMPTY:
            shade = shade[:, :0]
        shade[1:] = shade[1:].clip(low - beyond, high + beyond)
        name = canvas.short(level, data.status[level], " simultaneous band")
        ax.fill_between(*shade, color=tint, linewidth=0, label=name)
    for level, tint in _tinted(data.pointwise_lower, canvas.ORANGE):
        bounds = np.stack([data.pointwise_lower[level], data.pointwise_upper[level]])
        bounds = bounds.clip(low - beyond, high + beyond)
        # Transparent, since it may lie over a simultaneous band of a lower level.
        look: dict[str, Any] = {"facecolor": (tint, 0.7), "edgecolor": canvas.ORANGE}
        name = canvas.short(level, data.pointwise_status[level], " pointwise band")
        ax.fill_between(data.x, *bounds, linewidth=1, label=name, **look)


def _tinted(levels: Iterable[float], colour: str) -> Iterator[tuple[float, Any]]:
    """Yield the levels from the highest on, with tints from light to dark."""
    ordered = sorted(levels, reverse=True)
    yield from zip(ordered, canvas.tints(len(ordered), colour), strict=True)


def _covers(
    region: Region, target: str, norm_bound: float | None, model_error: float | None
) -> str:
    """State what the band covers."""
    design, truth = region.objective.design, region.problem.truth
    given = "" if norm_bound is None else f", if its norm is at most {norm_bound:g}"
    if model_error is not None:
        covered, missed = "the model", truth
        if target == "function":
            covered, missed = "the function itself", "it"
        if norm_bound is not None:
            given = f" and the norm of the model is at most {norm_bound:g}"
        return f"Covers {covered}, if the model misses {missed} by at most {model_error:g}{given}."
    if target == "function":
        return f"Covers the function itself{given}."
    if design is not None and not design.spans_everything:
        also = " and" if given else ", if"
        return f"Covers {truth}{given}{also} it lies in the span of the features."
    return f"Covers the model function that equals {truth} at the observed inputs{given}."

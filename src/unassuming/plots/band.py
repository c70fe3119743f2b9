"""Bands over one feature, simultaneous and pointwise, and over two features of a classifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.ndimage import zoom
from scipy.stats import norm
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from unassuming._typing import Array, BoolArray
from unassuming.kernels import white_noise
from unassuming.noise import Labels
from unassuming.plots import canvas
from unassuming.regions import Band, Region, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MANY = 500
"""More points than this are lighter and below the band, which they would hide."""

_FINER, _FAR = 8, 2.0
"""Points of a picture for each one with bounds; bounds of E[y|x], in [-1, 1], are cut here."""

_PROCESS = (
    "The interval of the Gaussian process holds at each input, if prior and noise are Gaussian."
)


@final
@dataclass(frozen=True, eq=False)
class Compared:
    """Mean and interval of a Gaussian process at the inputs of a band; (N,) each."""

    level: float
    mean: Array
    lower: Array
    upper: Array


@final
@dataclass(frozen=True, eq=False)
class BandData:
    """The numbers behind `band`; `band_data` describes them."""

    x: Array
    estimate: Array
    lower: dict[float, Array]
    upper: dict[float, Array]
    status: dict[float, Status]
    target: str
    name: str
    observed_x: Array = field(default_factory=lambda: np.empty(0))
    observed_y: Array = field(default_factory=lambda: np.empty(0))
    pointwise_lower: dict[float, Array] = field(default_factory=dict)
    pointwise_upper: dict[float, Array] = field(default_factory=dict)
    pointwise_status: dict[float, Status] = field(default_factory=dict)
    inner_x: Array = field(default_factory=lambda: np.empty(0))
    inner_lower: dict[float, Array] = field(default_factory=dict)
    inner_upper: dict[float, Array] = field(default_factory=dict)
    compared: Compared | None = None
    norm_bound: float | None = None
    model_error: float | None = None


def band_data(
    region: Region,
    X: Any = None,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    pointwise: Sequence[float] = (),
    inner: int = 0,
    rows: tuple[Any, Any] | None = None,
    compare: Any = None,
    bands: Mapping[float, Band] | None = None,
    method: str = "auto",
    **options: Any,
) -> BandData:
    """Return the data that `band` draws.

    Parameters
    ----------
    region, X, levels, pointwise, inner, rows, compare, bands, method
        As for `band`.

    Returns
    -------
    BandData
        The feature ``x`` in increasing order with the ``estimate``; by level the outer bounds
        ``lower`` and ``upper`` (infinite where no finite bound is true or certified) and
        ``status``; the same of the pointwise bands, ``pointwise_lower``, ``pointwise_upper`` and
        ``pointwise_status``; ``inner_x``, with the values ``inner_lower`` and ``inner_upper``
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
    inputs, x, order = canvas.horizontal(region, X)
    wanted, single = canvas.asked(levels), canvas.asked(pointwise)
    if not wanted and not single:
        raise ValueError(
            "no band is asked for: expected at least one level in levels or in pointwise, given "
            "none. Try levels=[0.9]."
        )
    together: Mapping[float, Band] = {}
    alone: Mapping[float, Band] = {}
    found: Mapping[float, Band] = {}
    few = order[np.unique(np.linspace(0, len(x) - 1, min(inner, len(x))).round().astype(int))]
    if wanted:
        options["method"] = "joint" if inner and method == "auto" else method  # it has members
        together = _known(bands, wanted, True) or region.band(inputs, wanted, **options)
        if len(few):
            at = canvas.like(inputs, x[few, None])
            found = region.band(at, wanted, inner=True, **options)
    if single:
        options.pop("method", None)
        if options.get("model_error") is None:
            options.pop("target", None)
        asked = {**options, "simultaneous": False}
        alone = _known(bands, single, False) or region.band(inputs, single, **asked)
    at_x, at_y, named = np.empty(0), np.empty(0), inputs
    if rows is not None:
        at_x, at_y, named = canvas.features(rows[0], 1)[:, 0], np.asarray(rows[1], float), rows[0]
    elif canvas.stores_rows(region):
        observed_x, at_y = canvas.observed(region, 1)
        at_x, named = observed_x[:, 0], region.inputs
    first = {**alone, **together}[(wanted or single)[0]]
    top, ordered = max([*wanted, *single]), canvas.like(inputs, x[order, None])
    return BandData(
        x=x[order],
        estimate=first.estimate[order],
        lower={level: b.lower[order] for level, b in together.items()},
        upper={level: b.upper[order] for level, b in together.items()},
        status={level: b.status for level, b in together.items()},
        target=first.target,
        name=canvas.names(named, 1)[0],
        observed_x=at_x,
        observed_y=at_y,
        pointwise_lower={level: b.lower[order] for level, b in alone.items()},
        pointwise_upper={level: b.upper[order] for level, b in alone.items()},
        pointwise_status={level: b.status for level, b in alone.items()},
        inner_x=x[few],
        inner_lower={p: b.inner_lower for p, b in found.items() if b.inner_lower is not None},
        inner_upper={p: b.inner_upper for p, b in found.items() if b.inner_upper is not None},
        compared=None if compare is None else _interval(compare, ordered, top),
        norm_bound=first.norm_bound,
        model_error=first.model_error,
    )


def _known(
    bands: Mapping[float, Band] | None, levels: list[float], simultaneous: bool
) -> dict[float, Band]:
    """Return the given bands of these levels, if they are all of this kind."""
    found = {p: b for p, b in (bands or {}).items() if b.simultaneous is simultaneous}
    return {p: found[p] for p in levels} if set(levels) <= set(found) else {}


def _interval(process: Any, X: Any, level: float) -> Compared:
    """Return the interval of the function, without the noise of new outputs."""
    last = process[-1] if isinstance(process, Pipeline) else process
    if not hasattr(last, "kernel") or not hasattr(last, "normalize_y"):
        raise TypeError(
            "compare is not a Gaussian process: expected a fitted GaussianProcessRegressor, given "
            f"{type(process).__name__}. Leave it out for other models."
        )
    check_is_fitted(last, "kernel_")
    mean, deviation = process.predict(X, return_std=True)
    inputs = process[:-1].transform(X) if last is not process else X
    noise = white_noise(last.kernel_, np.asarray(inputs, float)) * np.square(last._y_train_std)
    deviation = np.sqrt(np.maximum(np.asarray(deviation) ** 2 - noise, 0.0))
    half = norm.ppf((1 + level) / 2) * deviation
    return Compared(level, np.asarray(mean), mean - half, mean + half)


def band(
    region: Region,
    X: Any = None,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    truth: Callable[[Any], Any] | None = None,
    ax: Axes | None = None,
    **options: Any,
) -> Axes:
    """Draw the data, the estimate and the certified band of each level over one feature.

    A simultaneous band (blue) holds at all inputs at once. A pointwise band (orange) holds at each
    input by itself. It is usually narrower, except where there are few data.

    Where a bound is infinite, the shading extends to the edge of the picture and a note gives the
    reason. The legend states what the band covers: the model function that equals the regression
    function at the observed inputs, and may differ from it between them; or the function itself
    (with a norm bound).

    Parameters
    ----------
    region : Region
    X : array or DataFrame with one feature, optional
        Inputs of the band; by default 200 inputs over the range of the data.
    levels : sequence of floats
        Of the simultaneous bands; may be empty if ``pointwise`` is not.
    truth : callable, optional
        A function of X to draw as well.
    ax : Axes, optional
        By default those of a new figure.
    pointwise : sequence of floats, optional
        Levels of pointwise bands. Those of a kernel need a norm bound.
    inner : int, default 0
        Number of inputs at which to search for members near the bounds; dashes mark the values that
        they attain. Each takes about a tenth of a second, more with a norm bound. Only the joint
        region has members, so ``method="cells"`` is refused and ``"auto"`` takes ``"joint"``.
    rows : pair (X, y), optional
        Observations to draw; by default those of the region. A region from a stream stores none,
        and needs ``X``.
    compare : fitted GaussianProcessRegressor, optional
        Also draw its mean and its interval of the function at the highest level. They hold at each
        input by itself, if prior and noise are Gaussian.
    bands : dict of Band, optional
        Results of ``region.band`` at these inputs, by level, to be drawn as they are; by default
        they are computed.
    norm_bound, model_error, noise_scale, target, method : optional
        As for ``region.band``; ``method`` is that of the simultaneous bands.

    Returns
    -------
    Axes

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y, random_state=0)
    >>> ax = ua.plots.band(line, levels=[0.9], pointwise=[0.9])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x', 'y')
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['90 % simultaneous band', '90 % pointwise band']
    """
    ax = canvas.new_axes(ax)
    data = band_data(region, X, levels, **options)
    true = None
    if truth is not None:
        inputs, _, order = canvas.horizontal(region, X)
        true = np.asarray(truth(inputs))[order]
    count = len(data.observed_x)
    points = "data" if count == region.n else f"{count} of the {region.n} rows"
    draw_band(ax, data, true, points=points)
    canvas.name_axes(ax, data.name, canvas.output_name(region))
    notes = canvas.caveats(region)
    statuses = [*data.status.values(), *data.pointwise_status.values()]
    if not notes and any(status is not Status.EMPTY for status in statuses):
        notes = [canvas.covers(region, data.target, data.norm_bound, data.model_error)]
    if data.compared is not None:
        notes.append(_PROCESS)
    notes += canvas.sentences(data.status, data.norm_bound)
    apart = canvas.sentences(data.pointwise_status, data.norm_bound)
    canvas.legend_above(ax, [*notes, *(f"Pointwise, {note}" for note in apart)])
    return ax


def draw_band(
    ax: Axes,
    data: BandData,
    truth: Array | None = None,
    window: tuple[float, float] | None = None,
    points: str = "data",
) -> None:
    """Draw the numbers of a band, without words; the window is the vertical range."""
    if window is None:
        core = [data.observed_y, data.estimate, *([] if truth is None else [truth])]
        if data.compared is not None:
            core += [data.compared.lower, data.compared.upper]
        drawn = (data.lower, data.upper, data.pointwise_lower, data.pointwise_upper)
        window = canvas.limits(core, [bound for one in drawn for bound in one.values()])
    _shade(ax, data, *window)
    for level, dash in canvas.tinted(data.inner_lower, canvas.BLUE, 0.75, 1.0):
        attained = np.concatenate([data.inner_lower[level], data.inner_upper[level]])
        look: dict[str, Any] = {"color": dash, "markersize": 7, "markeredgewidth": 1.6}
        name = f"{canvas.percent(level)} inner bound"
        ax.plot(np.tile(data.inner_x, 2), attained, "_", label=name, **look)
    if len(data.observed_x):
        look = {"color": canvas.GREY, "markersize": 3.5}
        if len(data.observed_x) > _MANY:
            look |= {"alpha": 0.35, "zorder": 0.5, "markersize": 2.0}
        ax.plot(data.observed_x, data.observed_y, "o", label=points, **look)
    if truth is not None:
        ax.plot(data.x, truth, "--", color=canvas.VERMILION, linewidth=1.8, label="truth")
    if data.compared is not None:
        one, look = data.compared, {"color": canvas.GREEN, "linewidth": 1.3}
        ax.plot(data.x, one.lower, ":", label=f"process, {canvas.percent(one.level)}", **look)
        ax.plot(data.x, one.upper, ":", **look)
        ax.plot(data.x, one.mean, "-.", label="process, mean", **look)
    ax.plot(data.x, data.estimate, color=canvas.BLACK, linewidth=1.4, label="estimate")
    ax.set_ylim(window)
    ax.margins(x=0.01)


def _shade(ax: Axes, data: BandData, low: float, high: float) -> None:
    """Fill the simultaneous bands, and the pointwise ones over them with their outlines."""
    beyond = low - (high - low), high + (high - low)  # infinite bounds end outside the picture
    for level, tint in canvas.tinted(data.lower):
        bounds = np.clip([data.lower[level], data.upper[level]], *beyond)
        there = slice(0 if data.status[level] is Status.EMPTY else None)
        name = canvas.short(level, data.status[level], " simultaneous band")
        shade = data.x[there], bounds[0, there], bounds[1, there]
        ax.fill_between(*shade, color=tint, linewidth=0, label=name)
    for level, tint in canvas.tinted(data.pointwise_lower, canvas.ORANGE):
        bounds = np.clip([data.pointwise_lower[level], data.pointwise_upper[level]], *beyond)
        # Transparent, since it may lie over a simultaneous band of a lower level.
        look: dict[str, Any] = {"facecolor": (tint, 0.7), "edgecolor": canvas.ORANGE}
        name = canvas.short(level, data.pointwise_status[level], " pointwise band")
        ax.fill_between(data.x, *bounds, linewidth=1, label=name, **look)


# --- two features of a classifier ---------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class ClassificationData:
    """The numbers behind `classification`; `classification_data` describes them."""

    x1: Array
    x2: Array
    estimate: Array
    lower: dict[float, Array]
    upper: dict[float, Array]
    undecided: dict[float, BoolArray]
    status: dict[float, Status]
    classes: Any
    observed_x: Array
    observed_y: Array


def classification_data(
    region: Region,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    norm_bound: float | None = None,
    resolution: int | None = None,
) -> ClassificationData:
    """Return the data that `classification` draws.

    Parameters
    ----------
    region, levels, norm_bound, resolution
        As for `classification`.

    Returns
    -------
    ClassificationData
        The grid ``x1``, ``x2`` (K,) and the ``estimate`` (K, K), row k at x2[k]; by level the outer
        bounds ``lower`` and ``upper`` of E[y|x], whether the label is ``undecided``, and
        ``status``; the labels ``classes``; the rows ``observed_x``, and ``observed_y``, which is
        1.0 for the second class and -1.0 for the first.

    Examples
    --------
    >>> X, y, f = ua.datasets.labels(n=20, random_state=0)
    >>> region = ua.confidence_region(RidgeClassifier(), X, y, m=20, random_state=0)
    >>> data = ua.plots.classification_data(region, levels=[0.5], resolution=10)
    >>> data.undecided[0.5].shape
    (10, 10)
    """
    if canvas.classes(region) is None:
        raise ValueError(
            "the region is not that of a classifier: expected RidgeClassifier, LogisticRegression "
            f"or ua.LSSVC, given {type(region.estimator).__name__}. Draw a regression with band or "
            "coefficients."
        )
    K = resolution or (24 if isinstance(region.noise, Labels) else 60)
    X, y = canvas.observed(region, 2)
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.08 * np.where(high > low, high - low, 1.0)
    x1, x2 = np.linspace(low - margin, high + margin, K).T
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x1, x2)])
    wanted = canvas.asked(levels)
    bands = region.band(canvas.like(region.inputs, grid), level=wanted, norm_bound=norm_bound)
    lower = {p: band.lower.reshape(K, K) for p, band in bands.items()}
    upper = {p: band.upper.reshape(K, K) for p, band in bands.items()}
    return ClassificationData(
        x1=x1,
        x2=x2,
        estimate=bands[wanted[0]].estimate.reshape(K, K),
        lower=lower,
        upper=upper,
        # Both labels remain possible; an empty region does not decide any.
        undecided={p: (lower[p] > 0) == (upper[p] < 0) for p in bands},
        status={p: band.status for p, band in bands.items()},
        classes=canvas.classes(region),
        observed_x=X,
        observed_y=y,
    )


def classification(
    region: Region,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    norm_bound: float | None = None,
    resolution: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the decision boundary over two features, the undecided zone of each level, the data.

    The label is decided where the outer bounds have one sign. With probability at least p, this is
    the sign of E[y|x], as the model represents it, at all inputs outside the zone of level p. (This
    does not hold for the published region of LS-SVC, with noise other than labels, which carries no
    guarantee; the picture then states this.)

    Parameters
    ----------
    region : Region
        Of a classifier with two features.
    levels : sequence of floats
    norm_bound : float, optional
        Assume that the norm of the function is at most this.
    resolution : int, optional
        Points in each direction of the grid on which bounds are computed; they are interpolated in
        between. By default 60, and 24 with label noise, where a search for all points of a level
        takes some 20 seconds with two features and an intercept.
    ax : Axes, optional
        By default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> X, y, f = ua.datasets.labels(n=20, random_state=0)
    >>> region = ua.confidence_region(RidgeClassifier(), X, y, m=20, random_state=0)
    >>> ax = ua.plots.classification(region, levels=[0.5], resolution=10)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x1', 'x2')
    """
    ax = canvas.new_axes(ax)
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    data = classification_data(region, levels, norm_bound=norm_bound, resolution=resolution)
    inhabited = sorted(p for p, status in data.status.items() if status is not Status.EMPTY)
    handles: list[Any] = []
    for level, tint in canvas.tinted(inhabited, canvas.GREY):
        name = canvas.short(level, data.status[level])
        handles.append(Patch(color=tint, label=f"undecided at {name}"))
        # Each bound is interpolated by itself, so that a zone between the points is not lost.
        bounds = data.upper[level], -data.lower[level]
        doubt = np.minimum(*(zoom(one.clip(-_FAR, _FAR), _FINER, order=1) for one in bounds))
        if doubt.max() >= 0:
            x1, x2 = (np.linspace(x[0], x[-1], len(doubt)) for x in (data.x1, data.x2))
            ax.contourf(x1, x2, doubt, [0.0, 2.0 * _FAR], colors=[tint])
    if data.estimate.min() < 0 < data.estimate.max():
        ax.contour(data.x1, data.x2, data.estimate, [0.0], colors=[canvas.BLACK], linewidths=1.6)
        handles.append(Line2D([], [], color=canvas.BLACK, linewidth=1.6, label="decision boundary"))
    looks = ((-1, "o", canvas.BLUE), (1, "s", canvas.VERMILION))
    for name, (sign, style, colour) in zip(data.classes, looks, strict=True):
        points = data.observed_x[data.observed_y == sign]
        label = f"class {name:g}" if isinstance(name, float) else f"class {name}"
        look: dict[str, Any] = {"color": colour, "markeredgecolor": "white", "markersize": 5}
        handles += ax.plot(*points.T, style, label=label, **look)
    canvas.name_axes(ax, *canvas.names(region.inputs, 2))
    ax.set(xlim=data.x1[[0, -1]], ylim=data.x2[[0, -1]])
    notes = [*canvas.caveats(region), *canvas.sentences(data.status)]
    known = [p for p in inhabited if data.status[p] is not Status.TRIVIAL]
    if full := [p for p in known if data.undecided[p].all()]:
        notes.append(canvas.note(full, "the label is undecided at every input shown"))
    canvas.legend_above(ax, notes, 2, handles)
    return ax

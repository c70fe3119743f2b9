"""Bands over one feature, simultaneous and pointwise, and over two features of a classifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import zoom

from unassuming.noise import Labels
from unassuming.plots import canvas
from unassuming.regions import Band, Region, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points of a picture for each one with bounds; bounds of E[y|x], in [-1, 1], are cut here.
_FINER, _FAR = 8, 2.0


def band_data(
    region: Region,
    X: Any = None,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    pointwise: Sequence[float] = (),
    inner: int = 0,
    rows: tuple[Any, Any] | None = None,
    bands: Mapping[float, Band] | None = None,
    method: str = "auto",
    **options: Any,
) -> SimpleNamespace:
    """Return the data that `band` draws.

    Parameters
    ----------
    region, X, levels, pointwise, inner, rows, bands, method, options
        As for `band`.

    Returns
    -------
    SimpleNamespace
        The feature ``x`` in increasing order, its ``name``, the ``estimate``; by level the outer
        bounds ``lower`` and ``upper`` (infinite where no finite bound is true or certified) and
        ``status``, and the same of pointwise bands with the prefix ``pointwise_``; ``inner_x``
        with the values ``inner_lower`` and ``inner_upper`` that members attain there; the
        ``target``; the rows ``observed_x``, ``observed_y``; ``notes`` in words.

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y)
    >>> data = ua.plots.band_data(line, levels=[0.9])
    >>> data.x.shape, bool((data.lower[0.9] < data.upper[0.9]).all())
    ((200,), True)
    """
    inputs, x, order = canvas.horizontal(region, X)
    asked = {True: sorted(set(levels)), False: sorted(set(pointwise))}
    if not asked[True] and not asked[False]:
        raise ValueError(
            "no band is asked for: expected at least one level in levels or in pointwise, given "
            "none. Try levels=[0.9]."
        )
    if inner and method == "auto":
        method = "joint"  # it has members
    found = {}
    for kind, wanted in asked.items():
        given = {p: b for p, b in (bands or {}).items() if b.simultaneous is kind and p in wanted}
        if len(given) < len(wanted):
            own = {**options, **({"method": method} if kind else {})}
            given = region.band(inputs, wanted, simultaneous=kind, **own)
        found[kind] = given
    few = order[np.unique(np.linspace(0, len(x) - 1, min(inner, len(x))).round().astype(int))]
    attained: Mapping[float, Band] = {}
    if len(few) and asked[True]:
        at = canvas.like(inputs, x[few, None])
        at_few = region.band(at, asked[True], inner=True, method=method, **options)
        attained = {p: b for p, b in at_few.items() if b.inner_lower is not None}
    seen, y = canvas.observed(region, 1)
    named = inputs if X is not None and not len(y) else region.inputs
    if rows is not None:
        seen, y, named = canvas.features(rows[0], 1), np.asarray(rows[1], float), rows[0]
    alone, together = found[False], found[True]
    first = next(iter((together or alone).values()))
    return SimpleNamespace(
        x=x[order],
        estimate=first.estimate[order],
        lower={p: b.lower[order] for p, b in together.items()},
        upper={p: b.upper[order] for p, b in together.items()},
        status={p: b.status for p, b in together.items()},
        pointwise_lower={p: b.lower[order] for p, b in alone.items()},
        pointwise_upper={p: b.upper[order] for p, b in alone.items()},
        pointwise_status={p: b.status for p, b in alone.items()},
        inner_x=x[few],
        inner_lower={p: b.inner_lower for p, b in attained.items()},
        inner_upper={p: b.inner_upper for p, b in attained.items()},
        target=first.target,
        name=canvas.names(named, 1)[0],
        observed_x=seen[:, 0],
        observed_y=y,
        notes=_notes(region, together, alone, first),
    )


def _notes(
    region: Region, together: Mapping[float, Band], alone: Mapping[float, Band], one: Band
) -> list[str]:
    """Say what the bands cover, and why some are infinite."""
    said = canvas.caveats(region)
    some = any(b.status is not Status.EMPTY for b in [*together.values(), *alone.values()])
    if some and not said:
        said = [canvas.covers(region, one.target, one.norm_bound, one.model_error)]
    said += canvas.sentences(together)
    return said + [f"Pointwise, {sentence}" for sentence in canvas.sentences(alone)]


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

    A simultaneous band (blue) holds at all inputs at once, a pointwise one (orange) at each input
    by itself. Where a bound is infinite, the shading extends to the edge of the picture and a note
    gives the reason. The legend states what the band covers.

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
        they attain. Only the joint region has members, so ``method="auto"`` is then ``"joint"``.
    rows : pair (X, y), optional
        Observations to draw; by default those of the region. A region from a stream has none, and
        needs ``X``.
    bands : dict of Band, optional
        Results of ``region.band`` at these inputs, by level, to be drawn as they are.
    norm_bound, model_error, noise_scale, target, method : optional
        As for ``region.band``; ``method`` is that of the simultaneous bands.

    Returns
    -------
    Axes

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y)
    >>> ax = ua.plots.band(line, levels=[0.9], pointwise=[0.9])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x', 'y')
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['90 % simultaneous band', '90 % pointwise band']
    """
    ax = canvas.new_axes(ax)
    data = band_data(region, X, levels, **options)
    core = [data.observed_y, data.estimate]
    if truth is not None:
        inputs, _, order = canvas.horizontal(region, X)
        true = np.asarray(truth(inputs))[order]
        core.append(true)
    drawn = (data.lower, data.upper, data.pointwise_lower, data.pointwise_upper)
    window = canvas.limits(core, [bound for one in drawn for bound in one.values()])
    canvas.bands(ax, data.x, data.lower, data.upper, data.status, window)
    alone = data.pointwise_lower, data.pointwise_upper, data.pointwise_status
    canvas.bands(ax, data.x, *alone, window, "pointwise band")
    for level, dash in canvas.tinted(data.inner_lower, canvas.BLUE, 0.75, 1.0):
        at, label = np.tile(data.inner_x, 2), f"{canvas.percent(level)} inner bound"
        attained = np.concatenate([data.inner_lower[level], data.inner_upper[level]])
        look = {"color": dash, "marker": "_", "markersize": 7, "markeredgewidth": 1.6}
        canvas.dots(ax, at, attained, label, **look)
    if count := len(data.observed_x):
        label = "data" if count == region.n else f"{count} of the {region.n} rows"
        canvas.dots(ax, data.observed_x, data.observed_y, label)
    if truth is not None:
        canvas.curve(ax, data.x, true, "truth", canvas.VERMILION, "--", linewidth=1.8)
    canvas.curve(ax, data.x, data.estimate, "estimate")
    ax.set_ylim(window)
    ax.margins(x=0.01)
    canvas.name_axes(ax, data.name, canvas.output_name(region))
    canvas.legend_above(ax, data.notes)
    return ax


# --- two features of a classifier ---------------------------------------------------------------


def classification_data(
    region: Region,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    norm_bound: float | None = None,
    resolution: int | None = None,
) -> SimpleNamespace:
    """Return the data that `classification` draws.

    Parameters
    ----------
    region, levels, norm_bound, resolution
        As for `classification`.

    Returns
    -------
    SimpleNamespace
        The grid ``x1``, ``x2`` (K,) and the ``estimate`` (K, K), row k at x2[k]; by level the outer
        bounds ``lower`` and ``upper`` of E[y|x], whether the label is ``undecided``, and
        ``status``; ``notes`` in words; the labels ``classes``; the rows ``observed_x``, and
        ``observed_y``, which is 1.0 for the second class and -1.0 for the first.

    Examples
    --------
    >>> X, y, f = ua.datasets.labels(n=20, random_state=0)
    >>> region = ua.confidence_region(RidgeClassifier(), X, y, m=20)
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
    margin = 0.08 * np.ptp(X, axis=0)
    x1, x2 = np.linspace(X.min(axis=0) - margin, X.max(axis=0) + margin, K).T
    grid = canvas.like(region.inputs, np.stack(np.meshgrid(x1, x2), axis=-1).reshape(-1, 2))
    bands = region.band(grid, sorted(set(levels)), norm_bound=norm_bound)
    lower = {p: one.lower.reshape(K, K) for p, one in bands.items()}
    upper = {p: one.upper.reshape(K, K) for p, one in bands.items()}
    return SimpleNamespace(
        x1=x1,
        x2=x2,
        estimate=next(iter(bands.values())).estimate.reshape(K, K),
        lower=lower,
        upper=upper,
        # Both labels remain possible; an empty region does not decide any.
        undecided={p: (lower[p] > 0) == (upper[p] < 0) for p in bands},
        status={p: one.status for p, one in bands.items()},
        notes=[*canvas.caveats(region), *canvas.sentences(bands)],
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
    the sign of E[y|x], as the model represents it, at all inputs outside the zone of level p.

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
    >>> region = ua.confidence_region(RidgeClassifier(), X, y, m=20)
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
    for name, (sign, marker, colour) in zip(data.classes, looks, strict=True):
        x1, x2 = data.observed_x[data.observed_y == sign].T
        label = f"class {name:g}" if isinstance(name, float) else f"class {name}"
        look: dict[str, Any] = {
            "marker": marker,
            "color": colour,
            "markeredgecolor": "white",
            "markersize": 5,
        }
        canvas.dots(ax, x1, x2, label, **look)
        handles.append(ax.lines[-1])
    canvas.name_axes(ax, *canvas.names(region.inputs, 2))
    ax.set(xlim=data.x1[[0, -1]], ylim=data.x2[[0, -1]])
    known = [p for p in inhabited if data.status[p] is not Status.TRIVIAL]
    if full := [p for p in known if data.undecided[p].all()]:
        data.notes.append(canvas.note(full, "the label is undecided at every input shown"))
    canvas.legend_above(ax, data.notes, 2, handles)
    return ax

"""Two features: the decision boundary, the zone in which the label is undecided, and the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from unassuming._typing import Array, BoolArray
from unassuming.noise import Labels
from unassuming.plots import _canvas as canvas
from unassuming.plots._inputs import caveats, classes, like, names, observed, used
from unassuming.regions import Band, Region, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FINER = 8
"""Cells of the picture for each cell of the grid of bounds, in each direction."""

_FAR = 2.0
"""E[y|x] lies in [-1, 1]: larger bounds contain no information."""


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
    reason: dict[float, str]
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
        bounds ``lower`` and ``upper`` of E[y|x], whether the label is ``undecided``, ``status`` and
        ``reason``; the labels ``classes``; the rows ``observed_x``, and ``observed_y``, which is
        1.0 for the second class and -1.0 for the first.

    Examples
    --------
    >>> X, y, f = ua.datasets.labels(n=20, random_state=0)
    >>> region = ua.confidence_region(RidgeClassifier(), X, y, m=20, random_state=0)
    >>> data = ua.plots.classification_data(region, levels=[0.5], resolution=10)
    >>> data.undecided[0.5].shape
    (10, 10)
    """
    if classes(region) is None:
        raise ValueError(
            "the region is not that of a classifier: expected RidgeClassifier, LogisticRegression "
            f"or ua.LSSVC, given {type(region.estimator).__name__}. Draw a regression with band or "
            "coefficients."
        )
    if resolution is None:
        resolution = 24 if isinstance(region.noise, Labels) else 60
    X, y = observed(region, 2)
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.08 * np.where(high > low, high - low, 1.0)
    x1, x2 = np.linspace(low - margin, high + margin, resolution).T
    grid = np.column_stack([part.ravel() for part in np.meshgrid(x1, x2)])
    wanted = used(region, levels)
    bands = region.band(like(region.inputs, grid), level=wanted, norm_bound=norm_bound)
    shape = (resolution, resolution)
    return ClassificationData(
        x1=x1,
        x2=x2,
        estimate=bands[wanted[0]].estimate.reshape(shape),
        lower={p: band.lower.reshape(shape) for p, band in bands.items()},
        upper={p: band.upper.reshape(shape) for p, band in bands.items()},
        undecided={p: _undecided(band).reshape(shape) for p, band in bands.items()},
        status={p: band.status for p, band in bands.items()},
        reason={p: band.reason for p, band in bands.items()},
        classes=classes(region),
        observed_x=X,
        observed_y=y,
    )


def _undecided(band: Band) -> BoolArray:
    """Return where both labels remain possible; an empty region does not decide any label."""
    return np.asarray((band.lower > 0) == (band.upper < 0))


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
    the sign of the ideal representation of E[y|x] at all inputs outside the zone of level p. (This
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
    ordered = sorted(_inhabited(data), reverse=True)
    handles: list[Any] = []
    for level, tint in zip(ordered, canvas.tints(len(ordered), canvas.GREY), strict=True):
        name = canvas.short(level, data.status[level])
        handles.append(Patch(color=tint, label=f"undecided at {name}"))
        x1, x2, doubt = _doubt(data, level)
        if doubt.max() >= 0:
            ax.contourf(x1, x2, doubt, [0.0, 2.0 * _FAR], colors=[tint])
    if data.estimate.min() < 0 < data.estimate.max():
        ax.contour(data.x1, data.x2, data.estimate, [0.0], colors=[canvas.BLACK], linewidths=1.6)
        handles.append(Line2D([], [], color=canvas.BLACK, linewidth=1.6, label="decision boundary"))
    for name, sign, style, colour in zip(
        data.classes, (-1, 1), "os", (canvas.BLUE, canvas.VERMILION), strict=True
    ):
        points = data.observed_x[data.observed_y == sign]
        label = f"class {name:g}" if isinstance(name, float) else f"class {name}"
        look: dict[str, Any] = {"color": colour, "markeredgecolor": "white", "markersize": 5}
        handles += ax.plot(*points.T, style, label=label, **look)
    first, second = names(region.inputs, 2)
    ax.set(xlabel=first, ylabel=second, xlim=data.x1[[0, -1]], ylim=data.x2[[0, -1]])
    notes = [*caveats(region), *canvas.sentences(data.status), *_everywhere(data)]
    canvas.legend_above(ax, notes, 2, handles)
    return ax


def _inhabited(data: ClassificationData) -> list[float]:
    """Return the levels whose region is not empty; the notes report the others."""
    return [p for p, status in data.status.items() if status is not Status.EMPTY]


def _doubt(data: ClassificationData, level: float) -> tuple[Array, Array, Array]:
    """Return a finer grid and min(upper, -lower) there, which is >= 0 if both labels are possible.

    Each bound is interpolated separately, so that a zone between the points is not lost.
    """
    x1, x2 = (np.linspace(x[0], x[-1], _FINER * (len(x) - 1) + 1) for x in (data.x1, data.x2))
    at = np.meshgrid(x2, x1, indexing="ij")
    lower, upper = (
        RegularGridInterpolator(
            (data.x2, data.x1), np.clip(bound, -_FAR, _FAR), bounds_error=False, fill_value=None
        )(tuple(at))
        for bound in (data.lower[level], data.upper[level])
    )
    return x1, x2, np.minimum(upper, -lower)


def _everywhere(data: ClassificationData) -> list[str]:
    """Report the levels at which no input is decided although bounds are known."""
    known = [p for p in sorted(_inhabited(data)) if data.status[p] is not Status.TRIVIAL]
    full = [p for p in known if data.undecided[p].all()]
    return [canvas.note(full, "the label is undecided at every input shown")] if full else []

"""Two features: the decision boundary, where the label is undecided, and the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from unassuming._typing import Array, BoolArray
from unassuming.noise import Labels
from unassuming.plots._canvas import (
    BLACK,
    BLUE,
    GREY,
    VERMILION,
    legend_above,
    new_axes,
    percent,
    sentences,
    short,
    tints,
)
from unassuming.plots._inputs import caveats, like, names, observed, used
from unassuming.regions import Band, Region, Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FINER = 8
"""Cells of the picture for one of the grid of bounds, in each direction."""

_FAR = 2.0
"""E[y|x] lies in [-1, 1]: larger bounds say no more than this."""


@dataclass(frozen=True, eq=False)
class ClassificationData:
    """What `classification` draws.

    Attributes
    ----------
    x1, x2 : arrays of shape (K,)
        The grid.
    estimate : array of shape (K, K)
        The estimate, row k at x2[k]; its sign is the label.
    lower, upper : dict from level to array of shape (K, K)
        The outer bounds of E[y|x].
    undecided : dict from level to boolean array of shape (K, K)
        Where they do not rule out either label.
    status, reason : dict from level to Status and str
    classes : array of shape (2,)
        The labels; the second is +1.
    observed_x : array of shape (n, 2)
    observed_y : array of shape (n,)
        1.0 for the second class, -1.0 for the first.
    """

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
    levels: Sequence[float] = (0.5, 0.9),
    *,
    norm_bound: float | None = None,
    resolution: int | None = None,
) -> ClassificationData:
    """Return what `classification` draws.

    Parameters
    ----------
    region, levels, norm_bound, resolution
        As for `classification`.

    Returns
    -------
    ClassificationData
        ``x1``, ``x2``, ``estimate``, and by level ``lower``, ``upper``, ``undecided``, ``status``
        and ``reason``; ``classes``, ``observed_x``, ``observed_y``.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y, f = ua.datasets.labels(n=50, random_state=0)
    >>> region = ua.confidence_region(LogisticRegression(), X, y, random_state=0)
    >>> data = ua.plots.classification_data(region, levels=[0.9], resolution=10)
    >>> data.undecided[0.9].shape
    (10, 10)
    """
    if region.problem.classes is None:
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
        classes=region.problem.classes,
        observed_x=X,
        observed_y=y,
    )


def _undecided(band: Band) -> BoolArray:
    """Whether both labels remain: an empty region, below which everything holds, decides none."""
    return np.asarray((band.lower > 0) == (band.upper < 0))


def classification(
    region: Region,
    levels: Sequence[float] = (0.5, 0.9),
    *,
    norm_bound: float | None = None,
    resolution: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the decision boundary of two features, the undecided zone of each level, the data.

    The label is decided where every function in the region has the same sign, as far as outer
    bounds can tell: outside the zone of level p the sign of the ideal representation of E[y|x] is
    that of the estimate, everywhere at once, with probability p. (Not so for the published region
    of LS-SVC, that of another noise than labels, which carries no guarantee; the picture says so.)

    Parameters
    ----------
    region : Region
        Of a classifier with two features.
    levels : sequence of floats
    norm_bound : float, optional
        An assumption of yours: the function's norm is at most B.
    resolution : int, optional
        The bounds are computed on a grid of that many points in each direction, between which they
        are interpolated: by default 60, and 24 with label noise. There one search serves all points
        of a level, of some 20 seconds for two features and an intercept.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y, f = ua.datasets.labels(n=50, random_state=0)
    >>> region = ua.confidence_region(LogisticRegression(), X, y, random_state=0)
    >>> ax = ua.plots.classification(region, resolution=10)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x1', 'x2')
    """
    ax = new_axes(ax)
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    data = classification_data(region, levels, norm_bound=norm_bound, resolution=resolution)
    ordered = sorted(_inhabited(data), reverse=True)
    handles: list[Any] = []
    for level, tint in zip(ordered, tints(len(ordered), GREY), strict=True):
        handles.append(Patch(color=tint, label=f"undecided, {short(level, data.status[level])}"))
        x1, x2, doubt = _doubt(data, level)
        if doubt.max() >= 0:
            ax.contourf(x1, x2, doubt, [0.0, 2.0 * _FAR], colors=[tint])
    if data.estimate.min() < 0 < data.estimate.max():
        ax.contour(data.x1, data.x2, data.estimate, [0.0], colors=[BLACK], linewidths=1.6)
        handles.append(Line2D([], [], color=BLACK, linewidth=1.6, label="decision boundary"))
    for sign, marker, colour, name in zip(
        (-1, 1), "os", (BLUE, VERMILION), data.classes, strict=True
    ):
        points = data.observed_x[data.observed_y == sign]
        handles += ax.plot(
            *points.T,
            marker,
            color=colour,
            markeredgecolor="white",
            markersize=5,
            label=f"class {_word(name)}",
        )
    first, second = names(region.inputs, 2)
    ax.set(xlabel=first, ylabel=second, xlim=data.x1[[0, -1]], ylim=data.x2[[0, -1]])
    notes = [*caveats(region), *sentences(data.status), *_everywhere(data)]
    legend_above(ax, "", notes, 2, handles)
    return ax


def _inhabited(data: ClassificationData) -> list[float]:
    """Return the levels whose region has members: of one that has none the notes speak."""
    return [p for p, status in data.status.items() if status is not Status.EMPTY]


def _doubt(data: ClassificationData, level: float) -> tuple[Array, Array, Array]:
    """Return a finer grid, and how far E[y|x] may lie on the side of either label, >= 0 if it may.

    Each bound is interpolated by itself: a zone that passes between the points is not lost.
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


def _word(label: Any) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)


def _everywhere(data: ClassificationData) -> list[str]:
    """Say at which levels no input is decided, if that is more than a lack of bounds."""
    known = [p for p in sorted(_inhabited(data)) if data.status[p] is not Status.TRIVIAL]
    full = [p for p in known if data.undecided[p].all()]
    if not full:
        return []
    return [f"{', '.join(map(percent, full))}: the label is undecided at every input shown."]

"""Coefficients: the intervals of a summary, and the region of two of them.

The region of two has a boundary along rays and outer ellipses. With more coefficients, every member
lies in the half-plane u · a <= b, where b is the upper bound of the functional u. The half-planes
of several u enclose the projection onto the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.plots import canvas
from unassuming.regions import Interval, Region, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NORMALS = 16
"""Slanted lines, two half-planes each, of a region whose bounds are cheap."""

_SEEN = 0.03
"""A slice is drawn if it extends over this share of the picture: the dot of the estimate hides a
smaller one."""

_SQUEEZED = 3.0
"""An intercept that is larger than the other numbers by this factor squeezes them."""

_VISIBLE = 0.01
"""Estimates that differ by more than this share of an interval are both drawn."""

_AXES = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


@final
@dataclass(frozen=True, eq=False)
class Projection:
    """Half-planes around the projection: normals (K, 2), the half-axes first, and upper bounds.

    The bounds (K,) of a level are infinite where no finite one holds, and NaN without a member.
    """

    normals: Array
    supports: dict[float, Array]
    joint: bool
    """Whether the bounds are those of the joint region, which has a slice."""

    def box(self, level: float) -> Array:
        """Return the intervals of the two coefficients, (2, 2)."""
        right, left, top, bottom = self.supports[level][:4]
        return np.array([[-left, right], [-bottom, top]])

    def polygon(self, level: float, window: Array) -> Array:
        """Return the corners of the polygon within a window (2, 2), in order; (0, 2) if empty."""
        (left, right), (bottom, top) = window
        corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
        if np.isnan(self.supports[level]).any():
            return corners[:0]
        for normal, bound in zip(self.normals, self.supports[level], strict=True):
            if np.isfinite(bound):
                corners = _clipped(corners, corners @ normal - bound)
        return corners


def _clipped(corners: Array, excess: Array) -> Array:
    """Return the part of a convex polygon whose excess is at most zero."""
    kept = []
    for k in range(len(corners)):
        if (excess[k] > 0) != (excess[k - 1] > 0):
            share = excess[k - 1] / (excess[k - 1] - excess[k])
            kept.append(corners[k - 1] + share * (corners[k] - corners[k - 1]))
        if excess[k] <= 0:
            kept.append(corners[k])
    return np.array(kept).reshape(-1, 2)


@final
@dataclass(frozen=True, eq=False)
class CoefficientsData:
    """The numbers behind `coefficients`; `coefficients_data` describes them."""

    names: tuple[str, str]
    estimate: Array
    directions: Array
    reach: dict[float, Array]
    beyond: dict[float, BoolArray]
    boundary: dict[float, Array]
    ellipses: dict[float, Array]
    slice: bool
    projection: Projection | None = None

    @property
    def from_cells(self) -> bool:
        """Whether the intervals are not those of the joint region: then it is not drawn."""
        return self.projection is not None and not self.projection.joint

    @property
    def projected(self) -> list[float]:
        """The levels whose projection has a finite bound."""
        supports = {} if self.projection is None else self.projection.supports
        return [level for level, b in supports.items() if np.isfinite(b).any()]

    @property
    def outside(self) -> list[float]:
        """The levels whose region does not contain the estimate, so that no ray is traced."""
        return [level for level, t in self.reach.items() if np.isneginf(t).any()]


def coefficients_data(
    region: Region,
    which: Sequence[int | str] | None = None,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    rays: int | None = None,
    method: str | None = None,
    intervals: Mapping[float, Interval] | None = None,
) -> CoefficientsData:
    """Return the data that `coefficients` draws.

    Parameters
    ----------
    region, which, levels, rays, method, intervals
        As for `coefficients`.

    Returns
    -------
    CoefficientsData
        The ``names`` and the ``estimate`` of the two coefficients; the ``directions`` (K, 2) of the
        rays; by level the ``reach`` (K,) at which each ray leaves the region, in multiples of its
        direction (inf if it does not, -inf if the estimate is outside), whether it enters again
        ``beyond`` (only if crossings are exact), the ``boundary`` estimate + reach · direction (NaN
        where that is not finite), and the outer ``ellipses`` of two coefficients, if finite;
        ``slice``: whether these are a slice with the other coefficients fixed at the estimate; then
        ``projection``, the half-planes around both coefficients whatever the others are: its
        ``box(level)`` are their intervals.

    Examples
    --------
    >>> data = ua.plots.coefficients_data(region, levels=[0.9], rays=12)
    >>> data.names, data.boundary[0.9].shape
    (('x0', 'x1'), (12, 2))
    """
    pair, wanted = _pair(region, which), canvas.asked(levels)
    plane = _around(region, pair, rays or (360 if region.shape.exact else 48))
    directions = np.zeros((len(plane), len(region.names)))
    directions[:, pair] = plane
    centre = region.estimate[pair]
    reach = region.reach(directions, level=wanted)
    beyond = {p: np.zeros(len(plane), dtype=np.bool_) for p in wanted}
    if region.shape.exact and not region.shape.star_convex:
        for p, spans in region.crossings(directions, level=wanted).items():
            beyond[p] |= [(s[:, 1] > end).any() for s, end in zip(spans, reach[p], strict=True)]
    projection = None
    if len(region.names) > 2 or method not in (None, "joint"):
        projection = _project(region, pair, wanted, method, intervals)
    return CoefficientsData(
        names=(region.names[pair[0]], region.names[pair[1]]),
        estimate=centre,
        directions=plane,
        reach=reach,
        beyond=beyond,
        boundary={
            p: centre + np.where(np.isfinite(t), t, np.nan)[:, None] * plane
            for p, t in reach.items()
        },
        ellipses=_ellipses(region, wanted) if len(region.names) == 2 else {},
        slice=len(region.names) > 2,
        projection=projection,
    )


def _pair(region: Region, which: Sequence[int | str] | None) -> list[int]:
    """Return two coefficients by name or position; by default the first two after the intercept."""
    known, d = region.names, len(region.names)
    if which is None:
        which = (1, 2) if d > 2 and known[0] == "intercept" else (0, 1)
    found = [known.index(w) if isinstance(w, str) and w in known else w for w in which]
    good = [int(k) % d for k in found if not isinstance(k, str) and -d <= k < d]
    if len(found) != 2 or len(set(good)) != 2:
        raise ValueError(
            "which does not name two coefficients: expected two of "
            f"{', '.join(known[:6])}{', ...' * (d > 6)}, or their positions, given {which!r}. For "
            "a model with one coefficient use region.interval(simultaneous=True)."
        )
    return good


def _around(region: Region, pair: list[int], rays: int) -> Array:
    """Return directions in a full circle, even for the fitted values, and the half-axes exactly."""
    every = canvas.columns(region)
    into: Array = np.eye(2)
    if every is not None:
        gram = every[:, pair].T @ every[:, pair]
        into = np.asarray(
            np.linalg.cholesky(gram + 1e-12 * np.diag(gram.diagonal().clip(1e-300))).T
        )
    angles = (np.arange(max(rays - 4, 0)) + 0.5) * 2 * np.pi / max(rays - 4, 1)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    axes = _AXES / np.linalg.norm(_AXES @ into.T, axis=1)[:, None]
    found = np.concatenate([np.linalg.solve(into, circle.T).T, axes])
    around = found @ into.T
    return np.asarray(found[np.argsort(np.arctan2(around[:, 1], around[:, 0]), kind="stable")])


def _ellipses(region: Region, levels: list[float]) -> dict[float, Array]:
    """Return the outlines of the finite outer ellipsoids of two coefficients."""
    try:
        found = region.ellipsoid(level=levels)
    except NotAvailable:
        return {}
    angles = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    circle = np.array([np.cos(angles), np.sin(angles)])
    return {
        p: one.center
        + np.sqrt(one.squared_radius) * np.linalg.solve(np.linalg.cholesky(one.matrix).T, circle).T
        for p, one in found.items()
        if 0 <= one.squared_radius < np.inf
    }


def _project(
    region: Region,
    pair: list[int],
    levels: list[float],
    method: str | None,
    intervals: Mapping[float, Interval] | None,
) -> Projection | None:
    """Return the half-planes of two coefficients; None if the joint region has no such bounds."""
    joint = method in (None, "joint")
    options: dict[str, Any] = {"level": levels, "simultaneous": True, "method": method or "joint"}
    normals = _slanted(region, pair) if joint else _AXES[:0]
    functionals = np.zeros((len(normals), len(region.names)))
    functionals[:, pair] = normals
    try:
        found = region.interval(**options) if intervals is None else intervals
        slanted = region.interval(functionals, **options) if len(normals) else {}
    except NotAvailable:
        if joint:
            return None
        raise
    supports = {p: _both(found[p].lower[pair], found[p].upper[pair]) for p in levels}
    for p, one in slanted.items():
        supports[p] = np.append(supports[p], _both(one.lower, one.upper))
    both = np.stack([normals, -normals], axis=1).reshape(-1, 2)
    return Projection(np.vstack([_AXES, both]), supports, joint)


def _both(lower: Array, upper: Array) -> Array:
    """Return the bounds along normals and their opposites, in turn."""
    return np.column_stack([upper, -lower]).ravel()


def _slanted(region: Region, pair: list[int]) -> Array:
    """Return normals of a half-circle, even for the spread of least squares, if they are cheap."""
    phi = canvas.columns(region)
    if phi is None or not region.shape.star_convex:
        return _AXES[:0]
    spread = np.linalg.pinv(phi.T @ phi)[np.ix_(pair, pair)]
    if np.linalg.cond(spread) > 1e12:
        return _AXES[:0]
    angles = np.linspace(0, np.pi, _NORMALS, endpoint=False)
    circle = np.array([np.cos(angles), np.sin(angles)])
    return np.asarray(np.linalg.solve(np.linalg.cholesky(spread).T, circle).T)


def coefficients(
    region: Region,
    which: Sequence[int | str] | None = None,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    truth: Any = None,
    ax: Axes | None = None,
    **options: Any,
) -> Axes:
    """Draw the confidence region of two coefficients, with the estimate.

    A model with two coefficients shows its region, exact along every ray for quadratic objectives,
    and outer ellipses. For other models the region need not be star-shaped, and the picture shows
    the part up to the first exit of each ray.

    With more coefficients, the shaded polygon is an outer bound of the projection: it contains both
    coefficients whatever the others are, and its extent along each axis is the interval of
    ``region.interval(simultaneous=True)``. The dotted line is the slice at the estimate of the
    others, which is smaller and gives no intervals.

    Parameters
    ----------
    region : Region
    which : pair of names or positions, optional
        By default the first two coefficients, without the intercept if there are others.
    levels : sequence of floats
    truth : array of shape (d,), optional
        Coefficients to mark.
    ax : Axes, optional
        By default those of a new figure.
    rays : int, optional
        Number of rays from the estimate, with both half-axes of each coefficient. By default 360,
        and 48 where each of them has to be searched on a grid.
    method : {"joint", "cells", "auto"}, optional
        Where the bounds of the projection come from, as for ``region.interval``.
    intervals : dict of Interval, optional
        Results of ``region.interval`` by this method, by level, to be drawn as they are; by default
        they are computed.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = ua.plots.coefficients(region, truth=coefficients)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x0', 'x1')
    """
    ax = canvas.new_axes(ax)
    data = coefficients_data(region, which, levels, **options)
    marked = [] if truth is None else [np.asarray(truth)[_pair(region, which)]]
    window = np.array(_window(data, marked))
    width = np.ptp(window, axis=1).sum()
    far = 2 * width / np.linalg.norm(data.directions, axis=1)  # out of the picture
    sliced = _sliced(data, window)
    for level, tint in canvas.tinted(data.reach):
        name = canvas.percent(level)
        look: dict[str, Any] = {"facecolor": tint, "edgecolor": canvas.BLUE, "linewidth": 0.9}
        steps = np.clip(data.reach[level], -far, far)
        outline = data.estimate + steps[:, None] * data.directions
        if data.projection is not None and level in data.projected:
            corners = data.projection.polygon(level, window + np.array([-width, width]))
            what = "region" if data.projection.joint else "intervals"
            ax.fill(*corners.T, label=f"{name} {what}", **look)
            if level in sliced:
                _outline(ax, outline, ":", canvas.BLUE, f"{name} slice")
        elif level in sliced:
            ax.fill(*outline.T, label=f"{name} {'slice' if data.slice else 'region'}", **look)
    for number, outline in enumerate([] if data.from_cells else data.ellipses.values()):
        _outline(ax, outline, "--", canvas.VERMILION, "" if number else "outer ellipses")
    ax.plot(*data.estimate, "o", color=canvas.BLACK, markersize=5, label="estimate")
    star: dict[str, Any] = {"color": canvas.VERMILION, "markeredgecolor": "white"}
    for point in marked:
        ax.plot(*point, "*", markersize=11, label="truth", **star)
    canvas.name_axes(ax, *data.names)
    ax.set(xlim=window[0], ylim=window[1])
    canvas.legend_above(ax, [*_title(region, data, sliced), *canvas.caveats(region), *_notes(data)])
    return ax


def _outline(ax: Axes, points: Array, style: str, colour: str, label: str) -> None:
    """Draw a closed line."""
    ax.plot(*points[[*range(len(points)), 0]].T, style, color=colour, linewidth=1, label=label)


def _sliced(data: CoefficientsData, window: Array) -> list[float]:
    """Return the levels whose rays are drawn: all except slices that the estimate would hide."""
    large = _SEEN * np.ptp(window, axis=1)
    return [
        level
        for level, t in data.reach.items()
        if not data.from_cells
        and level not in data.outside
        and (
            level not in data.projected
            or np.isposinf(t).any()
            or (np.ptp(data.boundary[level], axis=0) > large).any()
        )
    ]


def _window(data: CoefficientsData, marked: list[Array]) -> list[tuple[float, float]]:
    """Return limits that show the bounded regions, and the near part of unbounded ones."""
    points = [data.estimate[None, :], *(point[None, :] for point in marked)]
    if data.projection is not None:
        boxes = map(data.projection.box, data.projection.supports)
        points += [box.T for box in boxes if np.isfinite(box).all()]
    for level, t in [] if data.from_cells else list(data.reach.items()):
        near = np.ones(len(t), dtype=np.bool_)
        if np.isinf(t).any():
            near = t <= 3 * np.median(t[np.isfinite(t)]) if np.isfinite(t).any() else ~near
        elif level in data.ellipses:
            points.append(data.ellipses[level])
        points.append(data.boundary[level][near])
    return [canvas.limits([column]) for column in np.concatenate(points).T]


def _title(region: Region, data: CoefficientsData, sliced: list[float]) -> list[str]:
    """Say what is drawn, and how exactly."""
    names = " and ".join(data.names)
    if data.from_cells:
        return [f"Simultaneous intervals of {names}, from balanced cells of rows"]
    title = []
    if data.projected:
        title.append(
            f"Confidence region of {names}, whatever the other coefficients are: outer bound of "
            "the projection"
        )
        if data.slice and not sliced:
            return title
    kind = "Traced, not certified: boundary found by tests of membership on a grid,"
    if region.shape.exact:
        kind = "Exact boundary"
        kind += "" if region.shape.star_convex else " of the part around the estimate"
    if data.slice:
        kind = f"Slice, with the other coefficients fixed at the estimate: {kind.lower()}"
    return [*title, f"{kind} along {len(data.directions)} rays"]


def _notes(data: CoefficientsData) -> list[str]:
    """Say what a reader would not see."""
    if data.from_cells:
        return []
    unbounded = [p for p, t in data.reach.items() if np.isposinf(t).any()]
    supports = {} if data.projection is None else data.projection.supports
    infinite = [p for p, b in supports.items() if np.isposinf(b[:4]).any() and p not in unbounded]
    beyond = [p for p, again in data.beyond.items() if again.any() and p not in data.outside]
    notes = {
        "the estimate is outside the region, so no ray starts there": data.outside,
        "the region is unbounded in some directions": unbounded,
        "no finite bounds of the projection are certified in some directions": infinite,
        "some rays enter the region again beyond the boundary shown": beyond,
    }
    return [canvas.note(levels, what) for what, levels in notes.items() if levels]


# --- all coefficients ---------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class ForestData:
    """The numbers behind `forest`; `forest_data` describes them."""

    names: tuple[str, ...]
    estimate: Array
    model_estimate: Array
    lower: Array
    upper: Array
    sets: tuple[Array, ...]
    title: str
    notes: tuple[str, ...]


def forest_data(summary: Summary, which: Sequence[str] | None = None) -> ForestData:
    """Return the data that `forest` draws.

    Parameters
    ----------
    summary, which
        As for `forest`.

    Returns
    -------
    ForestData
        The ``names`` of the coefficients, from the top row to the bottom row; the ``estimate`` that
        belongs to each interval (NaN where there is none), and the ``model_estimate``; the ends
        ``lower`` and ``upper`` of the intervals, infinite where nothing finite holds; the ``sets``
        that are drawn, each an array of the ends (r, 2) of r intervals, of which there is one
        unless an endogenous column has rays or several parts; the ``title``, and ``notes`` on rows
        without a finite interval.

    Examples
    --------
    >>> data = ua.plots.forest_data(region.summary(), which=["x0", "x1"])
    >>> data.names, data.title
    (('x0', 'x1'), '95 % intervals, one at a time')
    """
    canvas.require("forest", summary, Summary, "region.summary()")
    chosen = [which] if isinstance(which, str) else list(summary.names if which is None else which)
    unknown = [name for name in chosen if name not in summary.names]
    if unknown or not chosen:
        raise ValueError(
            f"which does not name coefficients: expected some of {_listed(summary.names)}, given "
            f"{unknown or which!r}. See summary.names, or leave it out for all."
        )
    rows = [summary.names.index(name) for name in chosen]
    ends = np.stack([summary.lower, summary.upper], axis=1)[rows]
    sets = tuple(end[None, :][: int(end[0] <= end[1])] for end in ends)
    if summary.sets is not None:
        sets = tuple(summary.sets[j].ends for j in rows)
    empty = np.isnan(ends).any(axis=1)
    infinite = ~empty & ~np.isfinite(ends).all(axis=1)
    kinds = {"No finite interval at this level": infinite, "No value is in the region": empty}
    held = "all at once" if summary.simultaneous else "one at a time"
    return ForestData(
        names=tuple(chosen),
        estimate=summary.estimate[rows],
        model_estimate=summary.model_estimate[rows],
        lower=ends[:, 0],
        upper=ends[:, 1],
        sets=sets,
        title=f"{canvas.percent(summary.requested_level)} intervals, {held}",
        notes=tuple(
            f"{what}: {_listed([chosen[i] for i in np.flatnonzero(where)])}."
            for what, where in kinds.items()
            if where.any()
        ),
    )


def _listed(names: Sequence[str], most: int = 4) -> str:
    """Return the first names."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def has_finite_end(summary: Summary) -> bool:
    """Whether there is an interval to draw: one that does not extend to infinity on both sides."""
    return any(np.isfinite(ends).any() for ends in forest_data(summary).sets)


def on_one_scale(summary: Summary) -> list[str]:
    """Return the names, without an intercept that would squeeze the others in a picture."""
    numbers = np.stack([summary.estimate, summary.lower, summary.upper])
    size = np.where(np.isfinite(numbers), np.abs(numbers), 0.0).max(axis=0)
    names = list(summary.names)
    squeezed = names[0] == "intercept" and size[0] > _SQUEEZED * size[1:].max(initial=0.0)
    return names[1:] if squeezed and len(names) > 1 else names


def forest_height(count: int) -> float:
    """Return the height of a figure with that many rows, in inches."""
    return min(0.32 * count + 1.9, 30.0)


def forest(summary: Summary, which: Sequence[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the intervals of a summary, one row for each coefficient.

    A dot marks the estimate that belongs to the interval, and a short bar that of the model where
    it differs. An interval that is infinite on one side ends there in an arrow at the edge of the
    picture. A row may have several intervals, such as two rays, if its column is endogenous. A
    dashed line marks zero.

    Parameters
    ----------
    summary : Summary
        The result of ``region.summary()``.
    which : sequence of names, optional
        The coefficients to draw, from top to bottom; all by default. Leave out an intercept that is
        much larger than the others.
    ax : Axes, optional
        By default those of a new figure, whose height depends on the number of rows.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = ua.plots.forest(region.summary())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['intercept', 'x0', 'x1']
    """
    data = forest_data(summary, which)
    ax = canvas.new_axes(ax, height=forest_height(len(data.names)))
    draw_forest(ax, data)
    canvas.legend_above(ax, [data.title, *data.notes])
    return ax


def draw_forest(ax: Axes, data: ForestData) -> None:
    """Draw the rows of a forest, without words."""
    count, rows = len(data.names), np.arange(len(data.names))
    spans = np.concatenate([np.zeros((0, 2)), *data.sets])
    where = np.repeat(rows, [len(one) for one in data.sets])
    low, high = canvas.limits([data.estimate, data.model_estimate, *spans.T, [0.0]])
    ax.axvline(0.0, color=canvas.GREY, linestyle="--", linewidth=1, zorder=0.5)
    label = "not rejected" if any(len(one) > 1 for one in data.sets) else "interval"
    line: dict[str, Any] = {"color": canvas.BLUE, "linewidth": 2, "label": label}
    ax.hlines(where, *np.clip(spans.T, low, high), **line)
    for ends_at, mark, edge in ((-spans[:, 0], "<", low), (spans[:, 1], ">", high)):
        beyond = where[np.isposinf(ends_at)]
        look: dict[str, Any] = {"color": canvas.BLUE, "markersize": 7, "clip_on": False}
        ax.plot(np.full(len(beyond), edge), beyond, mark, **look)
    gap, width = np.abs(data.estimate - data.model_estimate), data.upper - data.lower
    if (gap > _VISIBLE * np.where(np.isfinite(width), width, 0.0)).any():
        look = {"color": canvas.BLUE, "markersize": 10, "markeredgewidth": 1.8}
        ax.plot(data.model_estimate, rows, "|", label="estimate of the model", **look)
    ax.plot(data.estimate, rows, "o", color=canvas.BLACK, markersize=5, label="estimate")
    ax.set_yticks(rows, data.names, parse_math=False)
    ax.set(xlabel="coefficient", xlim=(low, high), ylim=(count - 0.5, -0.5))

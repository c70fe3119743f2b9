"""Coefficients: the intervals of a summary, and the region of two of them.

The region of two has a boundary along rays and outer ellipses. With more coefficients, every member
lies in the half-plane u · a <= b, where b is the upper bound of the functional u. The half-planes
of several u enclose the projection onto the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.plots import canvas
from unassuming.regions import Interval, Region, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Slanted lines of a projection; an intercept larger than all else by this factor squeezes it;
# estimates that differ by more than this share of the picture are both drawn.
_NORMALS, _SQUEEZED, _VISIBLE = 16, 3.0, 0.01

_AXES = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def polygon(normals: Array, supports: Array, window: Array) -> Array:
    """Return the corners of half-planes within a window (2, 2), in order; none if empty."""
    (left, right), (bottom, top) = window
    corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    for normal, bound in zip(normals, supports, strict=True):
        corners = _clipped(corners, np.nan_to_num(corners @ normal - bound, nan=1.0))
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


def coefficients_data(
    region: Region,
    which: Sequence[int | str] | None = None,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    rays: int | None = None,
    method: str | None = None,
    intervals: Mapping[float, Interval] | None = None,
) -> SimpleNamespace:
    """Return the data that `coefficients` draws.

    Parameters
    ----------
    region, which, levels, rays, method, intervals
        As for `coefficients`.

    Returns
    -------
    SimpleNamespace
        The ``names`` and the ``estimate`` of the two coefficients; the ``directions`` (K, 2) of the
        rays; by level the ``reach`` (K,) at which each ray leaves the region, in multiples of its
        direction (inf if it does not, -inf if the estimate is outside), whether it enters again
        ``beyond``, the ``boundary`` (K, 2), and the outer ``ellipses`` of two coefficients, if
        finite. With more than two, half-planes that hold whatever the others are: ``normals`` and
        upper bounds ``supports`` by level; the ``box`` of a level are the two intervals.

    Examples
    --------
    >>> data = ua.plots.coefficients_data(region, levels=[0.9], rays=12)
    >>> data.names, data.boundary[0.9].shape
    (['x0', 'x1'], (12, 2))
    """
    pair, wanted, d = _pair(region, which), sorted(set(levels)), len(region.names)
    plane = _around(region, pair, rays or (360 if region.exact_crossings else 48))
    directions = np.zeros((len(plane), d))
    directions[:, pair] = plane
    reach = region.reach(directions, level=wanted)
    beyond = {p: np.zeros(len(plane), dtype=np.bool_) for p in wanted}
    if region.exact_crossings and not region.shape.star_convex:
        for p, found in region.crossings(directions, level=wanted).items():
            beyond[p] |= [(s[:, 1] > end).any() for s, end in zip(found, reach[p], strict=True)]
    ends = {p: np.where(np.isfinite(t), t, np.nan) for p, t in reach.items()}
    normals, supports = _AXES[:0], dict[float, Array]()
    joint = method in (None, "joint")
    if d > 2 or not joint:
        normals, supports = _project(region, pair, wanted, method, intervals)
    return SimpleNamespace(
        names=[region.names[j] for j in pair],
        estimate=region.estimate[pair],
        directions=plane,
        reach=reach,
        beyond=beyond,
        boundary={p: region.estimate[pair] + t[:, None] * plane for p, t in ends.items()},
        ellipses=_ellipses(region, wanted) if d == 2 else {},
        slice=d > 2,
        normals=normals,
        supports=supports,
        box={p: np.array([[-b[1], b[0]], [-b[3], b[2]]]) for p, b in supports.items()},
        joint=joint,
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


def _columns(region: Region, which: Any) -> Array:
    """Return how fitted values change with some of the coefficients, (n, k)."""
    at, objective = region.estimate[None, :], region.objective
    return np.asarray((objective.fitted(at + np.eye(at.size)[which]) - objective.fitted(at)).T)


def _even(columns: Any, angles: Array) -> tuple[Array, Array]:
    """Return two-vectors v with ‖columns v‖ = 1 at these angles, and the map to a circle."""
    _, size, turn = np.linalg.svd(columns, full_matrices=False)
    into = np.maximum(size, 1e-6 * size[0])[:, None] * turn
    return _circle(angles) @ np.linalg.inv(into).T, into


def _circle(angles: Array) -> Array:
    """Return points of the unit circle, (K, 2)."""
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _around(region: Region, pair: list[int], rays: int) -> Array:
    """Return directions in a full circle, even for the fitted values, and the half-axes exactly."""
    angles = (np.arange(rays - 4) + 0.5) * 2 * np.pi / (rays - 4)
    circle, into = _even(_columns(region, pair), angles)
    found = np.vstack([circle, _AXES / np.linalg.norm(_AXES @ into.T, axis=1)[:, None]])
    return np.asarray(found[np.argsort(np.arctan2(*(found @ into.T).T), kind="stable")])


def _ellipses(region: Region, levels: list[float]) -> dict[float, Array]:
    """Return the outlines of the finite outer ellipsoids of two coefficients."""
    try:
        found = region.ellipsoid(level=levels)
    except NotAvailable:
        return {}
    circle = _circle(np.linspace(0, 2 * np.pi, 200, endpoint=False))
    finite = {p: e for p, e in found.items() if 0 <= e.squared_radius < np.inf}
    return {p: one.center + circle @ one.axes() for p, one in finite.items()}


def _project(
    region: Region,
    pair: list[int],
    levels: list[float],
    method: str | None,
    intervals: Mapping[float, Interval] | None,
) -> tuple[Array, dict[float, Array]]:
    """Return half-planes of two coefficients; none if the joint region has no such bounds."""
    options: dict[str, Any] = {"level": levels, "simultaneous": True, "method": method or "joint"}
    normals = _AXES[:0]
    if options["method"] == "joint" and region.shape.star_convex:  # then more bounds are cheap
        angles = np.linspace(0, np.pi, _NORMALS, endpoint=False)
        normals, _ = _even(np.linalg.pinv(_columns(region, slice(None)))[pair].T, angles)
    functionals = np.zeros((len(normals), len(region.names)))
    functionals[:, pair] = normals
    try:
        found = region.interval(**options) if intervals is None else intervals
        slanted = region.interval(functionals, **options) if len(normals) else {}
    except NotAvailable:
        if options["method"] != "joint":
            raise
        return _AXES[:0], {}
    supports = {p: _both(found[p].lower[pair], found[p].upper[pair]) for p in levels}
    for p, one in slanted.items():
        supports[p] = np.append(supports[p], _both(one.lower, one.upper))
    return np.vstack([_AXES, np.stack([normals, -normals], axis=1).reshape(-1, 2)]), supports


def _both(lower: Array, upper: Array) -> Array:
    """Return the bounds along normals and their opposites, in turn."""
    return np.column_stack([upper, -lower]).ravel()


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
    and outer ellipses. Other regions need not be star-shaped: the picture shows the part up to the
    first exit of each ray.

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
        Results of ``region.interval`` by this method, by level, to be drawn as they are.

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
    window = _window(data, marked)
    width = np.ptp(window, axis=1).sum()
    far = 2 * width / np.linalg.norm(data.directions, axis=1)  # out of the picture
    for level, tint in canvas.tinted(data.reach):
        steps = np.clip(data.reach[level], 0, far)
        outline = data.estimate + steps[:, None] * data.directions
        look: dict[str, Any] = {"facecolor": tint, "edgecolor": canvas.BLUE, "linewidth": 0.9}
        name, traced = canvas.percent(level), data.joint and level not in _outside(data)
        if np.isfinite(data.supports.get(level, np.inf)).any():
            corners = polygon(
                data.normals, data.supports[level], window + np.array([-width, width])
            )
            ax.fill(*corners.T, label=f"{name} {'region' if data.joint else 'intervals'}", **look)
            if traced:
                canvas.closed(ax, outline, ":", canvas.BLUE, f"{name} slice")
        elif traced:
            ax.fill(*outline.T, label=f"{name} {'slice' if data.slice else 'region'}", **look)
    for number, outline in enumerate(data.ellipses.values() if data.joint else ()):
        label = "_" if number else "outer ellipses"
        canvas.closed(ax, outline, "--", canvas.VERMILION, label)
    canvas.dots(
        ax, data.estimate[:1], data.estimate[1:], "estimate", color=canvas.BLACK, markersize=5
    )
    star = {"marker": "*", "color": canvas.VERMILION, "markeredgecolor": "white"}
    for point in marked:
        canvas.dots(ax, point[:1], point[1:], "truth", markersize=11, **star)
    canvas.name_axes(ax, *data.names)
    ax.set(xlim=window[0], ylim=window[1])
    canvas.legend_above(ax, [*canvas.caveats(region), *_words(region, data)])
    return ax


def _outside(data: Any) -> list[float]:
    """Return the levels whose region does not contain the estimate, so that no ray starts there."""
    return [level for level, t in data.reach.items() if np.isneginf(t).any()]


def _window(data: Any, marked: list[Array]) -> Array:
    """Return limits that show the bounded regions, and the near part of unbounded ones."""
    points = [data.estimate[None, :], *(point[None, :] for point in marked)]
    points += [box.T for box in data.box.values() if np.isfinite(box).all()]
    if data.joint:
        points += data.ellipses.values()
        for level, t in data.reach.items():
            usual = np.median(t[np.isfinite(t)]) if np.isfinite(t).any() else 0.0
            points.append(data.boundary[level][(t <= 3 * usual) | np.isfinite(t).all()])
    return np.array([canvas.limits([column]) for column in np.concatenate(points).T])


def _words(region: Region, data: Any) -> list[str]:
    """Say what is drawn, how exactly, and what a reader would not see."""
    names, outside = " and ".join(data.names), _outside(data)
    if not data.joint:
        return [f"Simultaneous intervals of {names}, from balanced cells of rows"]
    kind = "Traced, not certified: boundary found by tests of membership on a grid,"
    if region.exact_crossings:
        kind = "Exact boundary"
        kind += "" if region.shape.star_convex else " of the part around the estimate"
    said = [f"{kind} along {len(data.directions)} rays"]
    if data.slice:
        said = [f"Slice, with the other coefficients fixed at the estimate: {said[0].lower()}"]
    if any(np.isfinite(bounds).any() for bounds in data.supports.values()):
        said.insert(0, f"Outer bound of {names}, whatever the other coefficients are")
    notes = {
        "the estimate is outside the region, so no ray starts there": outside,
        "the region is unbounded in some directions": [
            p for p, t in data.reach.items() if np.isposinf(t).any()
        ],
        "no finite bounds of the projection are certified in some directions": [
            p for p, bounds in data.supports.items() if np.isposinf(bounds[:4]).any()
        ],
        "some rays enter the region again beyond the boundary shown": [
            p for p, again in data.beyond.items() if again.any() and p not in outside
        ],
    }
    return said + [canvas.note(levels, what) for what, levels in notes.items() if levels]


# --- all coefficients ---------------------------------------------------------------------------


def forest_data(summary: Summary, which: Sequence[str] | None = None) -> SimpleNamespace:
    """Return the data that `forest` draws.

    Parameters
    ----------
    summary, which
        As for `forest`.

    Returns
    -------
    SimpleNamespace
        The ``names`` of the coefficients, from the top row to the bottom row, with ``estimate`` and
        ``model_estimate``; the ``sets`` that are drawn, each an array of the ends (r, 2) of r
        intervals (one, unless a column is endogenous); ``notes``: the level, and rows without a
        finite interval.

    Examples
    --------
    >>> data = ua.plots.forest_data(region.summary(), which=["x0", "x1"])
    >>> data.names, data.notes
    (['x0', 'x1'], ['95 % intervals, one at a time'])
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
    held = "all at once" if summary.simultaneous else "one at a time"
    notes = [f"{canvas.percent(summary.requested_level)} intervals, {held}"]
    kinds = {
        "No finite interval at this level": np.isinf(ends).any(axis=1),
        "No value is in the region": np.isnan(ends).any(axis=1),
    }
    for what, where in kinds.items():
        if where.any():
            notes.append(f"{what}: {_listed([chosen[i] for i in np.flatnonzero(where)])}.")
    return SimpleNamespace(
        names=chosen,
        estimate=summary.estimate[rows],
        model_estimate=summary.model_estimate[rows],
        sets=sets,
        notes=notes,
    )


def _listed(names: Sequence[str], most: int = 4) -> str:
    """Return the first names."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def has_finite_end(summary: Summary, which: Sequence[str] | None = None) -> bool:
    """Whether there is an interval to draw: one that does not extend to infinity on both sides."""
    return any(np.isfinite(ends).any() for ends in forest_data(summary, which).sets)


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
    picture. A row may have several intervals, such as two rays, if its column is endogenous.

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
    count, rows = len(data.names), np.arange(len(data.names))
    ends = np.concatenate([np.zeros((0, 2)), *data.sets])
    where = np.repeat(rows, [len(one) for one in data.sets])
    window = canvas.limits([data.estimate, data.model_estimate, *ends.T, [0.0]])
    canvas.zero(ax, "y")
    several = any(len(one) > 1 for one in data.sets)
    canvas.spans(ax, where, ends, window, "not rejected" if several else "interval")
    if not np.allclose(data.model_estimate, data.estimate, rtol=0, atol=_VISIBLE * np.ptp(window)):
        bar = {"marker": "|", "color": canvas.BLUE, "markersize": 10, "markeredgewidth": 1.8}
        canvas.dots(ax, data.model_estimate, rows, "estimate of the model", **bar)
    canvas.dots(ax, data.estimate, rows, "estimate", color=canvas.BLACK, markersize=5)
    ax.set_yticks(rows, list(map(canvas.cut, data.names)), parse_math=False)
    ax.set(xlabel="coefficient", xlim=window, ylim=(count - 0.5, -0.5))
    canvas.legend_above(ax, data.notes)
    return ax

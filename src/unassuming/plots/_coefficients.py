"""Two coefficients: the boundary of a region along rays, outer ellipses, the projection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._rounding import column_units
from unassuming._typing import Array, BoolArray
from unassuming.plots import _canvas as canvas
from unassuming.plots._inputs import caveats, used
from unassuming.plots._projection import Projection, project
from unassuming.regions import Interval, Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SEEN = 0.03
"""A slice is drawn if it extends over this share of the picture: the dot of the estimate hides a
smaller one."""


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
        where that is not finite), and the outer ``ellipses``, if finite; ``slice``: whether these
        are a slice with the other coefficients fixed at the estimate; then ``projection``, the
        half-planes around both coefficients whatever the others are: its ``box(level)`` are their
        intervals.

    Examples
    --------
    >>> data = ua.plots.coefficients_data(region, levels=[0.9], rays=12)
    >>> data.names, data.boundary[0.9].shape
    (('x0', 'x1'), (12, 2))
    """
    i, j = _pair(region, which)
    wanted = used(region, levels)
    if rays is None:
        rays = 360 if region.shape.exact else 48
    plane = _around(region, [i, j], rays)
    directions = np.zeros((len(plane), region.objective.d))
    directions[:, [i, j]] = plane
    centre = region.estimate[[i, j]]
    reach = region.reach(directions, level=wanted)
    finite = {p: np.where(np.isfinite(t), t, np.nan) for p, t in reach.items()}
    return CoefficientsData(
        names=(region.names[i], region.names[j]),
        estimate=centre,
        directions=plane,
        reach=reach,
        beyond=_beyond(region, directions, reach),
        boundary={p: centre + t[:, None] * plane for p, t in finite.items()},
        ellipses=_ellipses(region, [i, j], wanted, plane),
        slice=region.objective.d > 2,
        projection=_whatever_others(region, [i, j], wanted, method, intervals),
    )


def _whatever_others(
    region: Region,
    pair: list[int],
    levels: list[float],
    method: str | None,
    intervals: Mapping[float, Interval] | None,
) -> Projection | None:
    """Return the projection, unless the joint region of two coefficients is its own."""
    if region.objective.d == 2 and method in (None, "joint"):
        return None
    return project(region, pair, levels, method, intervals)


def _beyond(region: Region, directions: Array, reach: dict[float, Array]) -> dict[float, BoolArray]:
    """Return whether each ray enters the region again, which need not be star-shaped."""
    if region.shape.star_convex or not region.shape.exact:
        return {p: np.zeros(len(directions), dtype=np.bool_) for p in reach}
    spans = region.crossings(directions, level=list(reach))
    return {
        p: np.array([(s[:, 1] > end).any() for s, end in zip(spans[p], ends, strict=True)])
        for p, ends in reach.items()
    }


def _pair(region: Region, which: Sequence[int | str] | None) -> tuple[int, int]:
    """Return two coefficients by name or position; by default the first two after the intercept."""
    known, d = region.names, region.objective.d
    if which is None:
        which = (1, 2) if d > 2 and known[0] == "intercept" else (0, 1)
    found = [known.index(w) if isinstance(w, str) and w in known else w for w in which]
    good = [k for k in found if isinstance(k, (int, np.integer)) and -d <= k < d]
    if len(found) != 2 or len(good) != 2 or good[0] % d == good[1] % d:
        raise ValueError(
            "which does not name two coefficients: expected two of "
            f"{', '.join(known[:6])}{', ...' * (d > 6)}, or their positions, given {which!r}. For "
            "a model with one coefficient use region.interval(simultaneous=True)."
        )
    return good[0] % d, good[1] % d


def _around(region: Region, pair: list[int], rays: int) -> Array:
    """Return directions in a full circle, evenly spread for the fitted values, and the half-axes.

    The half-axes are exact, because a region may be unbounded along one coefficient only.
    """
    into, unit = np.eye(2), np.ones(2)
    objective = region.objective
    every = objective.regressors if objective.design is None else objective.design.matrix
    if every is not None:
        unit = column_units(every[:, pair])  # powers of two: squares neither over- nor underflow
        phi = every[:, pair] / unit
        values, vectors = np.linalg.eigh(phi.T @ phi)
        values = np.maximum(values, 1e-12 * (values[-1] or 1.0))
        into = np.asarray(np.sqrt(values)[:, None] * vectors.T)  # norms are those of fitted values
    axes = np.vstack([np.eye(2), -np.eye(2)])
    there = axes @ into.T
    axes /= np.linalg.norm(there, axis=1)[:, None]
    even = np.linspace(0, 2 * np.pi, max(rays - 4, 0), endpoint=False)
    turned = np.column_stack([np.cos(even), np.sin(even)]) @ np.linalg.inv(into).T
    angle = np.concatenate([even, np.arctan2(there[:, 1], there[:, 0]) % (2 * np.pi)])
    return np.asarray(np.concatenate([turned, axes])[np.argsort(angle, kind="stable")] / unit)


def _ellipses(
    region: Region, pair: list[int], levels: list[float], plane: Array
) -> dict[float, Array]:
    """Return the sections of the finite outer ellipsoids with the plane through the estimate."""
    try:
        found = region.ellipsoid(level=levels)
    except NotAvailable:
        return {}
    outlines = {}
    for level, ellipsoid in found.items():
        matrix = ellipsoid.matrix[np.ix_(pair, pair)]
        size = np.einsum("kj,jl,kl->k", plane, matrix, plane)
        if 0 <= ellipsoid.squared_radius < np.inf and (size > 0).all():
            t = np.sqrt(ellipsoid.squared_radius / size)
            outlines[level] = ellipsoid.center[pair] + t[:, None] * plane
    return outlines


def coefficients(
    region: Region,
    which: Sequence[int | str] | None = None,
    levels: Sequence[float] = (0.5, 0.95),
    *,
    rays: int | None = None,
    method: str | None = None,
    intervals: Mapping[float, Interval] | None = None,
    truth: Any = None,
    ax: Axes | None = None,
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
    rays : int, optional
        Number of rays from the estimate, with both half-axes of each coefficient. By default 360,
        and 48 where each of them has to be searched on a grid.
    method : {"joint", "cells", "auto"}, optional
        Where the bounds of the projection come from, as for ``region.interval``.
    intervals : dict of Interval, optional
        Results of ``region.interval`` by this method, by level, to be drawn as they are; by default
        they are computed.
    truth : array of shape (d,), optional
        Coefficients to mark.
    ax : Axes, optional
        By default those of a new figure.

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
    data = coefficients_data(region, which, levels, rays=rays, method=method, intervals=intervals)
    marked = [] if truth is None else [np.asarray(truth)[list(_pair(region, which))]]
    ordered = sorted(data.reach, reverse=True)
    window = _window(data, marked)
    width = sum(high - low for low, high in window)
    far = 2 * width / np.linalg.norm(data.directions, axis=1)  # out of the picture
    projected, sliced = _projected(data), _sliced(data, window)
    around = np.array(window) + np.array([-1.0, 1.0]) * width  # unbounded parts leave the picture
    for level, tint in zip(ordered, canvas.tints(len(ordered)), strict=True):
        t = data.reach[level]
        look: dict[str, Any] = {"facecolor": tint, "edgecolor": canvas.BLUE, "linewidth": 0.9}
        if level in projected and data.projection is not None:
            corners = data.projection.polygon(level, around)
            what = "region" if data.projection.joint else "intervals"
            ax.fill(*corners.T, label=f"{canvas.percent(level)} {what}", **look)
        if level not in sliced:
            continue
        outline = data.estimate + np.minimum(t, far)[:, None] * data.directions
        if level in projected:
            closed = np.vstack([outline, outline[:1]])
            name = f"{canvas.percent(level)} slice"
            ax.plot(*closed.T, ":", color=canvas.BLUE, linewidth=1, label=name)
        else:
            label = f"{canvas.percent(level)} {'slice' if data.slice else 'region'}"
            ax.fill(*outline.T, label=label, **look)
    shown = [] if data.slice or _from_cells(data) else data.ellipses.values()
    for number, outline in enumerate(shown):
        closed = np.vstack([outline, outline[:1]])
        label = "" if number else "outer ellipses"
        ax.plot(*closed.T, "--", color=canvas.VERMILION, linewidth=1, label=label)
    ax.plot(*data.estimate, "o", color=canvas.BLACK, markersize=5, label="estimate")
    for point in marked:
        star: dict[str, Any] = {"color": canvas.VERMILION, "markeredgecolor": "white"}
        ax.plot(*point, "*", markersize=11, label="truth", **star)
    ax.set(xlabel=data.names[0], ylabel=data.names[1], xlim=window[0], ylim=window[1])
    canvas.legend_above(ax, [*_title(region, data, sliced), *caveats(region), *_notes(data)])
    return ax


def _projected(data: CoefficientsData) -> list[float]:
    """Return the levels whose projection is drawn: those with a finite bound."""
    if data.projection is None:
        return []
    return [p for p, b in data.projection.supports.items() if np.isfinite(b).any()]


def _from_cells(data: CoefficientsData) -> bool:
    """Whether the intervals do not come from the joint region, whose slice is then not drawn."""
    return data.projection is not None and not data.projection.joint


def _sliced(data: CoefficientsData, window: list[tuple[float, float]]) -> list[float]:
    """Return the levels whose rays are drawn: all except slices that the estimate would hide."""
    if _from_cells(data):
        return []
    size = np.ptp(window, axis=1)
    projected, outside = _projected(data), _outside(data)
    found = []
    for level, t in data.reach.items():
        large = np.isposinf(t).any() or (np.ptp(data.boundary[level], axis=0) > _SEEN * size).any()
        if level not in outside and (level not in projected or large):
            found.append(level)
    return found


def _outside(data: CoefficientsData) -> list[float]:
    """Return the levels whose region does not contain the estimate, so that no ray is traced."""
    return [p for p, t in data.reach.items() if np.isneginf(t).any()]


def _title(region: Region, data: CoefficientsData, sliced: list[float]) -> list[str]:
    title = []
    if _from_cells(data):
        names = f"{data.names[0]} and {data.names[1]}"
        return [f"Simultaneous intervals of {names}, from balanced cells of rows"]
    if _projected(data):
        title.append(
            f"Confidence region of {data.names[0]} and {data.names[1]}, whatever the other "
            "coefficients are: outer bound of the projection"
        )
    traced = "Traced, not certified: boundary found by tests of membership on a grid,"
    kind = "Exact boundary" if region.shape.exact else traced
    if region.shape.exact and not region.shape.star_convex:
        kind = "Exact boundary of the part around the estimate"
    if _projected(data) and data.slice and not sliced:
        return title
    if data.slice:
        kind = f"Slice, with the other coefficients fixed at the estimate: {kind.lower()}"
    return [*title, f"{kind} along {len(data.directions)} rays"]


def _window(data: CoefficientsData, marked: list[Array]) -> list[tuple[float, float]]:
    """Return limits that show the bounded regions, and the near part of unbounded ones."""
    points = [data.estimate[None, :], *(point[None, :] for point in marked)]
    if data.projection is not None:
        points += [data.projection.box(p).T for p in data.projection.bounded]
    for level, t in [] if _from_cells(data) else list(data.reach.items()):
        if np.isinf(t).any():
            finite = t[np.isfinite(t)]
            near = t <= 3 * np.median(finite) if len(finite) else np.zeros(len(t), dtype=np.bool_)
            points.append(data.boundary[level][near])
        else:
            points.append(data.boundary[level])
            if level in data.ellipses and not data.slice:
                points.append(data.ellipses[level])
    return [canvas.limits([column], []) for column in np.concatenate(points).T]


def _notes(data: CoefficientsData) -> list[str]:
    if _from_cells(data):
        return []
    outside = _outside(data)
    unbounded = [p for p, t in data.reach.items() if np.isposinf(t).any()]
    infinite = []
    if data.projection is not None:
        infinite = [p for p, b in data.projection.supports.items() if np.isposinf(b[:4]).any()]
        infinite = [p for p in infinite if p not in unbounded]
    beyond = [p for p, again in data.beyond.items() if again.any() and p not in outside]
    notes = {
        "the estimate is outside the region, so no ray starts there": outside,
        "the region is unbounded in some directions": unbounded,
        "no finite bounds of the projection are certified in some directions": infinite,
        "some rays enter the region again beyond the boundary shown": beyond,
    }
    return [canvas.note(levels, what) for what, levels in notes.items() if levels]

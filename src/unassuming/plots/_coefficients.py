"""Two coefficients: the exact boundary of a region from rays, and outer ellipses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.plots._canvas import (
    BLACK,
    BLUE,
    VERMILION,
    legend_above,
    limits,
    new_axes,
    percent,
    tints,
)
from unassuming.plots._inputs import caveats, used
from unassuming.regions import Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class CoefficientsData:
    """What `coefficients` draws.

    Attributes
    ----------
    names : pair of str
    estimate : array of shape (2,)
    directions : array of shape (K, 2)
        Rays from the estimate, once around, the four half-axes among them; all other coefficients
        stay as they are.
    reach : dict from level to array of shape (K,)
        Where each ray leaves the region, in multiples of the direction; infinite if it does not,
        minus infinity if the estimate itself is outside.
    beyond : dict from level to boolean array of shape (K,)
        Whether the ray meets members again farther out. Not asked where crossings are approximate.
    boundary : dict from level to array of shape (K, 2)
        estimate + reach · direction; not a number where that is not finite.
    ellipses : dict from level to array of shape (K, 2)
        The outer ellipsoid in the same plane; only levels at which there is a finite one.
    slice : bool
        Whether there are more coefficients, fixed at the estimate.
    """

    names: tuple[str, str]
    estimate: Array
    directions: Array
    reach: dict[float, Array]
    beyond: dict[float, BoolArray]
    boundary: dict[float, Array]
    ellipses: dict[float, Array]
    slice: bool


def coefficients_data(
    region: Region,
    which: Sequence[int | str] | None = None,
    levels: Sequence[float] = (0.1, 0.5, 0.9),
    *,
    rays: int | None = None,
) -> CoefficientsData:
    """Return what `coefficients` draws.

    Parameters
    ----------
    region, which, levels, rays
        As for `coefficients`.

    Returns
    -------
    CoefficientsData
        ``names``, ``estimate``, ``directions``, and by level ``reach``, ``boundary`` and
        ``ellipses``; ``slice`` if other coefficients are held fixed.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
    >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    >>> data = ua.plots.coefficients_data(region, levels=[0.9], rays=12)
    >>> data.names, data.boundary[0.9].shape
    (('intercept', 'x0'), (12, 2))
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
    )


def _beyond(region: Region, directions: Array, reach: dict[float, Array]) -> dict[float, BoolArray]:
    """Whether there are members behind the end of each ray: regions need not be star convex."""
    if region.shape.star_convex or not region.shape.exact:
        return {p: np.zeros(len(directions), dtype=np.bool_) for p in reach}
    spans = region.crossings(directions, level=list(reach))
    return {
        p: np.array([(s[:, 1] > end).any() for s, end in zip(spans[p], ends, strict=True)])
        for p, ends in reach.items()
    }


def _pair(region: Region, which: Sequence[int | str] | None) -> tuple[int, int]:
    """Return two coefficients by name or position; by default the first that are no intercept."""
    known, d = region.names, region.objective.d
    if which is None:
        which = (1, 2) if d > 2 and known[0] == "intercept" else (0, 1)
    found = [known.index(w) if isinstance(w, str) and w in known else w for w in which]
    good = [k for k in found if isinstance(k, (int, np.integer)) and -d <= k < d]
    if len(found) != 2 or len(good) != 2 or good[0] % d == good[1] % d:
        raise ValueError(
            "which does not name two coefficients: expected two of "
            f"{', '.join(known[:6])}{', ...' * (d > 6)}, or their positions, given {which!r}. A "
            "model with one coefficient has nothing to draw here: use region.interval()."
        )
    return good[0] % d, good[1] % d


def _around(region: Region, pair: list[int], rays: int) -> Array:
    """Return directions once around, spread evenly over a long thin region, and the axes.

    The axes are among them exactly: a region can be open along a coefficient and nowhere else.
    """
    into = np.eye(2)
    if region.objective.design is not None:
        phi = region.objective.design.matrix[:, pair]
        values, vectors = np.linalg.eigh(phi.T @ phi)
        values = np.maximum(values, 1e-12 * (values[-1] or 1.0))
        into = np.asarray(np.sqrt(values)[:, None] * vectors.T)  # there the fitted values are round
    axes = np.vstack([np.eye(2), -np.eye(2)])
    there = axes @ into.T
    axes /= np.linalg.norm(there, axis=1)[:, None]
    even = np.linspace(0, 2 * np.pi, max(rays - 4, 0), endpoint=False)
    turned = np.column_stack([np.cos(even), np.sin(even)]) @ np.linalg.inv(into).T
    angle = np.concatenate([even, np.arctan2(there[:, 1], there[:, 0]) % (2 * np.pi)])
    return np.asarray(np.concatenate([turned, axes])[np.argsort(angle, kind="stable")])


def _ellipses(
    region: Region, pair: list[int], levels: list[float], plane: Array
) -> dict[float, Array]:
    """Cut the outer ellipsoids with the plane through the estimate, where there are any."""
    try:
        found = region.ellipsoid(level=levels)
    except NotAvailable:
        return {}
    outlines = {}
    for level, ellipsoid in found.items():
        matrix = ellipsoid.matrix[np.ix_(pair, pair)]
        size = np.einsum("kj,jl,kl->k", plane, matrix, plane)
        if np.isfinite(ellipsoid.squared_radius) and ellipsoid.squared_radius >= 0 and (size > 0).all():
            t = np.sqrt(ellipsoid.squared_radius / size)
            outlines[level] = ellipsoid.center[pair] + t[:, None] * plane
    return outlines


def coefficients(
    region: Region,
    which: Sequence[int | str] | None = None,
    levels: Sequence[float] = (0.1, 0.5, 0.9),
    *,
    rays: int | None = None,
    truth: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the region of two coefficients: its boundary along rays, outer ellipses, the estimate.

    The boundary is exact on every ray for quadratic objectives. For other models the region need
    not be star convex, and the picture shows the part that rays from the estimate see. With more
    than two coefficients it is the slice in which the others keep the value of the estimate, which
    is no interval for these two: ``region.interval()`` has those.

    Parameters
    ----------
    region : Region
    which : pair of names or positions, optional
        By default the first two coefficients, without the intercept if there are others.
    levels : sequence of floats
    rays : int, optional
        Number of rays from the estimate, both half-axes of each coefficient among them. By default
        360, and 48 where each of them has to be searched on a grid.
    truth : array of shape (d,), optional
        Coefficients to mark.
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
    >>> ax = ua.plots.coefficients(region, truth=coefficients)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('intercept', 'x0')
    """
    ax = new_axes(ax)
    data = coefficients_data(region, which, levels, rays=rays)
    marked = [] if truth is None else [np.asarray(truth)[list(_pair(region, which))]]
    ordered = sorted(data.reach, reverse=True)
    window = _window(data, marked)
    width = sum(high - low for low, high in window)
    far = 2 * width / np.linalg.norm(data.directions, axis=1)  # out of the picture
    for level, tint in zip(ordered, tints(len(ordered)), strict=True):
        t = data.reach[level]
        if np.isneginf(t).any():
            continue
        outline = data.estimate + np.minimum(t, far)[:, None] * data.directions
        ax.fill(*outline.T, facecolor=tint, edgecolor=BLUE, linewidth=0.9, label=percent(level))
    for number, outline in enumerate(data.ellipses.values()):
        label = "outer ellipses" if number == 0 else None
        closed = np.vstack([outline, outline[:1]])
        ax.plot(*closed.T, "--", color=VERMILION, linewidth=1, label=label)
    ax.plot(*data.estimate, "o", color=BLACK, markersize=5, label="estimate")
    for point in marked:
        ax.plot(*point, "*", color=VERMILION, markersize=11, markeredgecolor="white", label="truth")
    ax.set(xlabel=data.names[0], ylabel=data.names[1], xlim=window[0], ylim=window[1])
    kind = "boundary, found on a grid,"
    if region.shape.exact:
        star = region.shape.star_convex
        kind = "exact boundary" if star else "exact end of the part around the estimate"
    more = ", the others fixed at the estimate" if data.slice else ""
    legend_above(
        ax, f"{kind} along {len(data.directions)} rays{more}", [*caveats(region), *_notes(data)]
    )
    return ax


def _window(data: CoefficientsData, marked: list[Array]) -> list[tuple[float, float]]:
    """Return limits that show the regions, without the far ends of those that have none."""
    points = [data.estimate[None, :], *(point[None, :] for point in marked)]
    for level, t in data.reach.items():
        if np.isinf(t).any():
            finite = t[np.isfinite(t)]
            near = t <= 3 * np.median(finite) if len(finite) else np.zeros(len(t), dtype=np.bool_)
            points.append(data.boundary[level][near])
        else:
            points += [data.boundary[level], data.ellipses.get(level, data.estimate[None, :])]
    return [limits([column], []) for column in np.concatenate(points).T]


def _notes(data: CoefficientsData) -> list[str]:
    outside = [p for p, t in data.reach.items() if np.isneginf(t).any()]
    open_ = [p for p, t in data.reach.items() if np.isposinf(t).any()]
    said = {
        "the estimate is no member, so no ray starts there.": outside,
        "the region has no end in some directions.": open_,
        "there are members beyond the end of some rays.": [
            p for p, more in data.beyond.items() if more.any()
        ],
    }
    return [f"{', '.join(map(percent, at))}: {what}" for what, at in said.items() if at]

"""Members of a region as functions of one feature, coloured by their level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._typing import Array
from unassuming.inputs import as_seed
from unassuming.plots._canvas import BLACK, GREY, legend_above, limits, new_axes, percent
from unassuming.plots._inputs import caveats, horizontal, names, observed, output_name, values
from unassuming.regions import Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = 10
"""Nested regions to sample from: nearly all of the volume of one region is near its boundary."""


@dataclass(frozen=True, eq=False)
class FamilyData:
    """The numbers behind `family`; `family_data` describes them."""

    x: Array
    members: Array
    values: Array
    levels: Array
    estimate: Array
    observed_x: Array
    observed_y: Array


def family_data(
    region: Region,
    X: Any = None,
    size: int = 200,
    level: float = 0.95,
    *,
    norm_bound: float | None = None,
    random_state: Any = 0,
) -> FamilyData:
    """Return the data that `family` draws.

    Parameters
    ----------
    region, X, size, level, norm_bound, random_state
        As for `family`.

    Returns
    -------
    FamilyData
        The feature ``x`` in increasing order with the ``estimate``; the coefficients ``members``
        (M, d), highest level first, their functions ``values`` (M, N) and their ``levels``, the
        smallest whose region contains the member; the rows ``observed_x``, ``observed_y``.

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y, random_state=0)
    >>> data = ua.plots.family_data(line, size=20)
    >>> data.values.shape, bool(data.levels.max() <= 0.9)
    ((20, 200), True)
    """
    inputs, x, order = horizontal(region, X)
    members = _nested(region, size, level, norm_bound, np.random.default_rng(as_seed(random_state)))
    levels = region.smallest_level(members)
    first = np.argsort(-levels, kind="stable")
    observed_x, observed_y = observed(region, 1)
    return FamilyData(
        x=x[order],
        members=members[first],
        values=values(region, members[first], inputs)[:, order],
        levels=levels[first],
        estimate=values(region, region.estimate[None, :], inputs)[0, order],
        observed_x=observed_x[:, 0],
        observed_y=observed_y,
    )


def _nested(
    region: Region, size: int, level: float, norm_bound: float | None, rng: np.random.Generator
) -> Array:
    """Sample regions of several levels up to the given one, in equal parts."""
    last = region.level(level).largest_rank
    lowest = min(max(int(region.rank(region.estimate)), -(-last // _LEVELS)), last)
    ranks = np.unique(np.linspace(lowest, last, min(_LEVELS, size)).round().astype(int))
    sizes = np.full(len(ranks), size // len(ranks))
    sizes[len(ranks) - size % len(ranks) :] += 1
    parts = [
        region.sample(int(part), level=rank / region.m, random_state=rng, norm_bound=norm_bound)
        for rank, part in zip(ranks, sizes, strict=True)
    ]
    return np.concatenate(parts)


def family(
    region: Region,
    X: Any = None,
    size: int = 200,
    level: float = 0.95,
    *,
    norm_bound: float | None = None,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw members of the region as functions, coloured by their level, with a colour bar.

    The members are sampled from ten nested regions, the largest with the given level. They are
    members, not bounds: their envelope is narrower than the region, whose outer bounds `band`
    draws. An unbounded region cannot be sampled without a norm bound.

    Parameters
    ----------
    region : Region
    X : array or DataFrame with one feature, optional
        Inputs of the functions; by default 200 inputs over the range of the data.
    size : int, default 200
        Number of members.
    level : float, default 0.95
    norm_bound : float, optional
        Largest norm of a member.
    random_state : int, Generator, RandomState or None, default 0
    ax : Axes, optional
        By default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> line = ua.confidence_region(LinearRegression(), X[:, :1], y, random_state=0)
    >>> ax = ua.plots.family(line, size=20)
    >>> len(ax.collections[0].get_segments())
    20
    """
    ax = new_axes(ax)
    from matplotlib.collections import LineCollection

    data = family_data(region, X, size, level, norm_bound=norm_bound, random_state=random_state)
    curves = [np.column_stack([data.x, curve]) for curve in data.values]
    lines = LineCollection(curves, array=data.levels, cmap="viridis", linewidths=0.8)
    lines.set_clim(0, region.level(level).largest_rank / region.m)
    ax.add_collection(lines)
    ax.plot(data.observed_x, data.observed_y, "o", color=GREY, markersize=3.5, label="data")
    ax.plot(data.x, data.estimate, color=BLACK, linewidth=1.8, label="estimate")
    scale = ax.figure.colorbar(lines, ax=ax)
    scale.set_label("smallest level whose region contains the function")
    ax.set(xlabel=names(region.inputs, 1)[0], ylabel=output_name(region))
    ax.set_ylim(limits([data.observed_y, data.estimate], [data.values]))
    ax.margins(x=0.01)
    title = f"{len(data.levels)} members of the {percent(level)} confidence region"
    legend_above(ax, [title, *caveats(region)])
    return ax

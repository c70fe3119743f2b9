"""Evaluation of one figure: members, boundedness and coverage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unassuming._typing import Array, IntArray
from unassuming.paper._bounded import Ends, ends
from unassuming.paper._coverage import Count, ProcessCoverage, build, process_coverage, truth_ranks
from unassuming.paper._figures import FIGURES, LEVELS, Figure, Setting
from unassuming.paper._members import Follow, Members, evaluate
from unassuming.paper._raster import Raster
from unassuming.paper._samples import Sample
from unassuming.paper._sizes import Size, measure_sizes
from unassuming.plots import limits, values
from unassuming.regions import Region
from unassuming.testing import gaussian_process


@dataclass(frozen=True, eq=False)
class Panel:
    """The results for one setting.

    Attributes
    ----------
    rasters : dict of Raster
        "models", and "coefficients" if there are two; empty if only the coverage is measured, and
        members and ends are then None.
    truth_ranks : array of shape (repetitions,)
        Rank of the truth in each fresh sample.
    """

    setting: Setting
    sample: Sample
    region: Region
    rasters: dict[str, Raster]
    members: Members | None
    ends: Ends | None
    truth_ranks: IntArray

    def coverage(self, level: float) -> Count:
        """Count the samples whose region of this level contained the truth."""
        inside = self.truth_ranks <= self.region.level(level).largest_rank
        return Count(int(inside.sum()), len(inside))


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A figure with its results.

    Attributes
    ----------
    panels : tuple of Panel
        Those of ``figure.settings``, then those of ``figure.counted``.
    process : fitted Gaussian process or None
    sizes : tuple of Size
        Those of ``figure.settings``, if the article compares them.
    """

    figure: Figure
    panels: tuple[Panel, ...]
    process: Any = None
    process_coverage: ProcessCoverage | None = None
    sizes: tuple[Size, ...] = ()


def silently(work: Iterable[Any], what: str, total: int) -> Iterator[Any]:
    """Yield the work without showing the progress."""
    del what, total
    return iter(work)


def reproduce(
    number: int,
    members: int = 1_000_000,
    repetitions: int = 1000,
    seed: int = 0,
    follow: Follow = silently,
) -> Reproduction:
    """Evaluate one figure of the article.

    Parameters
    ----------
    number : int
        1 to 6.
    members : int, default 1,000,000
        Number of candidates evaluated for each region of the figure.
    repetitions : int, default 1000
        Number of samples over which the coverage is measured.
    seed : int, default 0
    follow : callable, optional
        ``follow(work, what, total)`` yields the work, for example with a progress bar.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> from unassuming import paper
    >>> found = paper.reproduce(2, members=500, repetitions=20)
    >>> [panel.setting.name for panel in found.panels]
    ['KRR, λ = 0.1', 'ε-SVR, ε = 0.2, c = 250', 'ε-SVR in (α⁺, α⁻)']
    >>> found.panels[0].members.total, found.panels[0].coverage(0.9).runs
    (500, 20)
    """
    for name, value in (("members", members), ("repetitions", repetitions)):
        if not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(
                f"{name} is out of range: expected an integer >= 1, given {value!r}. Increase it."
            )
    if number not in FIGURES:
        known = ", ".join(map(str, FIGURES))
        raise ValueError(
            f"figure is not in the article: expected one of {known}, given {number}. Choose one."
        )
    figure = FIGURES[number]
    sizes = [(setting, members) for setting in figure.settings]
    sizes += [(setting, 0) for setting in figure.counted]
    panels = tuple(_panel(setting, size, repetitions, seed, follow) for setting, size in sizes)
    if not figure.process:
        return Reproduction(figure, panels, sizes=measure_sizes(figure, repetitions, seed, follow))
    sample = panels[0].sample
    return Reproduction(
        figure,
        panels,
        gaussian_process(sample.X, sample.y, seed),
        process_coverage(figure.settings[0], LEVELS, repetitions, seed, follow),
    )


def _panel(setting: Setting, size: int, repetitions: int, seed: int, follow: Follow) -> Panel:
    sample = setting.draw(np.random.default_rng(seed))
    region = build(setting, sample, seed)
    rasters, members, where = {}, None, None
    if size:
        where = ends(region)
        rng = np.random.default_rng(np.random.SeedSequence([seed, 2]))
        two = sample.X.shape[1] == 2
        rasters = _plane(region, sample) if two else _functions(region, sample)
        mark = partial(_mark_lines if two else _mark_functions, region, rasters)
        what = f"{setting.panel} {setting.name}: members"
        members = evaluate(region, size, rng, mark, follow, what)
    ranks = truth_ranks(setting, repetitions, seed, follow)
    return Panel(setting, sample, region, rasters, members, where, ranks)


# --- functions of one input ---------------------------------------------------------------------


def _functions(region: Region, sample: Sample) -> dict[str, Raster]:
    """Return a window around the truth, which does not depend on the sample."""
    first, last = float(sample.X.min()), float(sample.X.max())
    truth = sample.truth(np.linspace(first, last, 200)[:, None])
    low, high = float(truth.min()), float(truth.max())
    room, edge = 0.4 * (high - low), 0.02 * (last - first)  # room for whole dots
    return {"models": Raster(((first - edge, last + edge), (low - room, high + room)), region.m)}


def _mark_functions(region: Region, rasters: dict[str, Raster], a: Array, ranks: IntArray) -> None:
    raster = rasters["models"]
    raster.mark_curves(values(region, a, raster.columns[:, None]), ranks)


# --- lines in the plane, and their two coefficients ---------------------------------------------


def _plane(region: Region, sample: Sample) -> dict[str, Raster]:
    far = 1.05 * float(np.abs(sample.X).max())
    outer = region.ellipsoid(level=max(LEVELS))
    half = np.sqrt(outer.squared_radius * np.diagonal(np.linalg.inv(outer.matrix)))
    points = np.stack([outer.center - 1.2 * half, outer.center + 1.2 * half])
    first, second = (limits([column], []) for column in points.T)
    return {
        "models": Raster(((-far, far), (-far, far)), region.m),
        "coefficients": Raster((first, second), region.m),
    }


def _mark_lines(region: Region, rasters: dict[str, Raster], a: Array, ranks: IntArray) -> None:
    """Mark the lines w₁x₁ + w₂x₂ = 0: flat ones column by column, steep ones row by row."""
    del region
    raster, flat = rasters["models"], np.abs(a[:, 0]) <= np.abs(a[:, 1])
    slope, turned = -a[flat, :1] / a[flat, 1:], -a[~flat, 1:] / a[~flat, :1]
    raster.mark_curves(slope * raster.columns, ranks[flat])
    raster.mark_steep_curves(turned * raster.rows, ranks[~flat])
    rasters["coefficients"].mark_points(a, ranks)

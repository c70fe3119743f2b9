"""One figure of the article: members with their levels, boundedness, coverage, sizes, tables."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

from unassuming._typing import Array, IntArray
from unassuming.paper.figures import (
    FIGURES,
    INPUT_RANGE,
    LEVELS,
    REVERSED,
    Figure,
    M,
    Sample,
    Setting,
)
from unassuming.plots import canvas
from unassuming.regions import Region, confidence_region
from unassuming.testing import gaussian_process, process_bounds

Follow: TypeAlias = Callable[[Iterable[Any], str, int], Iterator[Any]]
"""``follow(work, what, total)`` yields the work and may show the progress."""

COLUMNS = (
    *("panel", "method", "n", "noise", "m", "members", "truth", "level", "members_up_to_level"),
    *("bounded", "bounded_up_to", "unbounded_from", "covered", "repetitions", "coverage"),
    *("low", "high", "promise", "note"),
)
"""Columns of the table; a cell is empty where the entry does not exist.

``bounded`` concerns the region of this level for the sample of the picture. ``coverage`` is the
share of ``repetitions`` fresh samples whose region contained the truth, and ``low`` to ``high`` its
exact 99 % interval.
"""

SIZE_COLUMNS = (
    *("panel", "method", "n", "level", "median_reach", "endless", "rays", "samples", "compared"),
)
"""Columns of the table of sizes.

``median_reach`` is the median, over rays and samples, of the largest t in the region, and
``endless`` the share of rays that never leave it. ``compared`` marks the largest level at which
the medians of all regions of the figure are finite.
"""

CONFIDENCE = 0.99
_BATCH, _PILOTS = 2**12, 256
_SHARE = 0.9
"""Median level of the candidates with the largest scale, at least."""

_PIXELS = 240
"""Of a picture of members, in each direction."""

_SIZED, _WAVES = 50, 9
"""Samples over which the median size is taken, and rays along ±cos(kπx/10), each of mean square 1:
t is a distance of functions in the units of y, which compares kernels and sample sizes."""


# --- coverage -----------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Count:
    """Covered runs, with the exact (Clopper-Pearson) interval of the probability."""

    covered: int
    runs: int

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of confidence 0.99."""
        found = binomtest(self.covered, self.runs).proportion_ci(CONFIDENCE, method="exact")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.covered} of {self.runs} samples [{low:.3f}, {high:.3f}]"


def build(setting: Setting, sample: Sample, seed: int) -> Region:
    """Build the region of a setting; the table has the warning about the published classifier."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the published region", category=UserWarning)
        return confidence_region(
            setting.model, sample.X, sample.y, random_state=seed, **setting.options
        )


def repeated(setting: Setting, seed: int, repetition: int) -> tuple[Sample, int]:
    """Draw a sample, the same for settings with the same law and size, and a seed for signs."""
    of_data, of_signs = np.random.SeedSequence([seed, 1, repetition]).spawn(2)
    return setting.draw(np.random.default_rng(of_data)), int(of_signs.generate_state(1)[0])


def truth_ranks(setting: Setting, repetitions: int, seed: int, follow: Follow) -> IntArray:
    """Rank the truth in the regions of fresh samples, with fresh transformations."""
    ranks = np.empty(repetitions, dtype=np.intp)
    what = f"{setting.panel} {setting.name}: samples"
    with threadpool_limits(1):  # for such small matrices, threads cost more than they save
        for k in follow(range(repetitions), what, repetitions):
            sample, signs = repeated(setting, seed, k)
            ranks[k] = build(setting, sample, signs).rank(sample.truth)
    return ranks


def process_shares(
    setting: Setting, levels: Sequence[float], repetitions: int, seed: int, follow: Follow
) -> dict[float, Array]:
    """Return the share of inputs where a Gaussian process band covers, by level and sample."""
    inside = {level: np.empty(repetitions) for level in levels}
    with threadpool_limits(1):
        for k in follow(range(repetitions), "Gaussian process: samples", repetitions):
            sample, _ = repeated(setting, seed, k)
            process, truth = gaussian_process(sample.X, sample.y, seed), sample.truth(sample.X)
            for level in levels:
                lower, upper = process_bounds(process, sample.X, level)
                inside[level][k] = ((lower <= truth) & (truth <= upper)).mean()
    return inside


# --- boundedness and size -----------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Ends:
    """Regions up to level bounded/m are bounded, those from level unbounded/m on are not.

    For levels in between it is not known; bounded is 0, or unbounded is m, if no region is known to
    be so.
    """

    bounded: int
    unbounded: int

    def at(self, rank: int) -> str:
        """Report whether the region with the ranks up to this one is bounded."""
        if rank <= self.bounded:
            return "yes"
        return "no" if rank >= self.unbounded else "not known"

    def sentence(self, m: int = M) -> str:
        """Describe boundedness at all levels."""
        if self.unbounded == 1 or self.bounded >= m - 1:
            return f"{'un' * (self.unbounded == 1)}bounded at every level"
        if self.bounded + 1 == self.unbounded:
            return f"bounded up to level {self.bounded / m:g}"
        if self.unbounded == m:
            return "no unbounded direction was found"
        return f"unbounded from level {self.unbounded / m:g} on, not known below"


def ends(region: Region) -> Ends:
    """Find the levels at which a region is bounded and unbounded.

    Quadratic regions have a criterion (docs/theory.md 4.4). For the others some lines through the
    estimate are examined: one that is unbounded at a level proves that regions are unbounded from
    this level on. (With Ψ = I the statistics of LASSO grow quadratically, and along the eigenvector
    of K with the smallest eigenvalue none grows more slowly than Z_0.)
    """
    if region.shape.star_convex:
        bounded = round(region.max_bounded_level * region.m)
        return Ends(bounded, bounded + 1)
    every, n = canvas.columns(region), len(region.names)
    assert every is not None
    values = region.objective.coefficients(np.eye(region.n))
    unbounded = region.m
    for direction in np.concatenate([np.linalg.eigh(every)[1].T, values, np.eye(n)]):
        if unbounded > 1 and _open(region, direction, range(unbounded - 1, unbounded)):
            unbounded = min(_open(region, direction, range(1, unbounded)))
    return Ends(0, unbounded)


def _open(region: Region, direction: Array, ranks: range) -> list[int]:
    """Return those ranks whose region is unbounded along this line through the estimate."""
    spans = region.crossings(direction, level=[rank / region.m for rank in ranks])
    return [r for r, span in zip(ranks, spans.values(), strict=True) if np.isinf(span).any()]


def directions(X: Array) -> Array:
    """Return the values of the rays' functions at inputs X, shape (rays, n)."""
    waves = np.cos(np.outer(range(_WAVES), X[:, 0]) * np.pi / INPUT_RANGE)
    waves[1:] *= np.sqrt(2)
    return np.concatenate([waves, -waves])


def sizes(setting: Setting, samples: int, seed: int, follow: Follow) -> dict[float, Array]:
    """Return where rays leave the region for good, (samples, rays) by level; 0 if they are out."""
    found: dict[float, list[Any]] = {level: [] for level in LEVELS}
    for k in follow(range(samples), f"{setting.panel} {setting.name}: sizes", samples):
        sample, signs = repeated(setting, seed, k)
        region = build(setting, sample, signs)
        rays = region.objective.coefficients(directions(sample.X))
        for level, spans in region.crossings(rays, level=LEVELS).items():
            found[level].append([max(0.0, *span[:, 1]) if len(span) else 0.0 for span in spans])
    return {level: np.array(rows) for level, rows in found.items()}


# --- members ------------------------------------------------------------------------------------


class Raster:
    """Pixels of a window, each with the lowest rank of the members marked there.

    There is no interpolation: a curve marks the pixel of its value at the centre of each column.
    """

    def __init__(self, window: Array, m: int, size: int = _PIXELS) -> None:
        self.window, self.size = np.asarray(window), size
        # One flag for each rank and pixel: the order of marks does not matter. Values outside the
        # window go to a frame around it.
        self._marked = np.zeros((m, size + 2, size + 2), dtype=np.bool_)

    def centres(self, axis: int) -> Array:
        """Return the centres of the columns (0), or of the rows from the bottom (1), (size,)."""
        low, high = self.window[axis]
        return np.asarray(low + (np.arange(self.size) + 0.5) * (high - low) / self.size)

    def mark(self, x: Array, y: Array, ranks: IntArray) -> None:
        """Mark points of members with these ranks."""
        place = []
        for values, (low, high) in zip((x, y), self.window, strict=True):
            pixel = (values - low) * (self.size / (high - low)) + 1
            place.append(pixel.clip(0, self.size + 1).astype(np.intp))
        self._marked[ranks, place[1], place[0]] = True

    def lowest(self) -> IntArray:
        """Return the lowest rank of each pixel, (rows, columns) from the bottom; 0 if unmarked."""
        return np.asarray(np.argmax(self._marked[:, 1:-1, 1:-1], axis=0))  # no mark has rank 0


def evaluate(
    region: Region,
    size: int,
    rng: np.random.Generator,
    mark: Callable[[Array, IntArray], None],
    follow: Follow,
    what: str = "members",
) -> IntArray:
    """Rank random candidates; pass those in some region to ``mark``; count each rank, (m + 1,).

    A candidate is the estimate plus s times a standard normal vector, where s is uniform between 0
    and the smallest power of two at which the median candidate has level 0.9.
    """

    def around(scales: Array) -> Array:
        return np.asarray(
            region.estimate + scales * rng.normal(size=(len(scales), len(region.names)))
        )

    for power in range(-10, 11):
        if np.median(region.rank(around(np.full((_PILOTS, 1), 2.0**power)))) >= _SHARE * region.m:
            break
    counts = np.zeros(region.m + 1, dtype=np.intp)
    starts = range(0, size, _BATCH)
    for start in follow(starts, what, len(starts)):
        a = around(2.0**power * rng.uniform(size=(min(_BATCH, size - start), 1)))
        ranks = region.rank(a)
        counts += np.bincount(ranks, minlength=region.m + 1)
        mark(a[ranks < region.m], ranks[ranks < region.m])
    return counts


def _functions(region: Region, sample: Sample) -> tuple[dict[str, Raster], Any]:
    """Return a window around the truth, which does not depend on the sample, and its marks."""
    first, last = float(sample.X.min()), float(sample.X.max())
    truth = sample.truth(np.linspace(first, last, 200)[:, None])
    low, high = float(truth.min()), float(truth.max())
    room, edge = 0.4 * (high - low), 0.02 * (last - first)  # room for whole dots
    window = np.array([[first - edge, last + edge], [low - room, high + room]])
    raster = Raster(window, region.m)
    x = raster.centres(0)

    def mark(a: Array, ranks: IntArray) -> None:
        raster.mark(x, canvas.values(region, a, x[:, None]), ranks[:, None])

    return {"models": raster}, mark


def _plane(region: Region, sample: Sample) -> tuple[dict[str, Raster], Any]:
    """Return windows for the lines w₁x₁ + w₂x₂ = 0 and for their two coefficients, and marks."""
    far = 1.05 * float(np.abs(sample.X).max())
    outer = region.ellipsoid(level=max(LEVELS))
    half = np.sqrt(outer.squared_radius * np.diagonal(np.linalg.inv(outer.matrix)))
    points = np.stack([outer.center - 1.2 * half, outer.center + 1.2 * half])
    lines = Raster(np.array([[-far, far], [-far, far]]), region.m)
    pairs = Raster(np.array([canvas.limits([column]) for column in points.T]), region.m)
    x, y = lines.centres(0), lines.centres(1)

    def mark(a: Array, ranks: IntArray) -> None:
        flat = np.abs(a[:, 0]) <= np.abs(a[:, 1])  # column by column; steep lines row by row
        lines.mark(x, -a[flat, :1] / a[flat, 1:] * x, ranks[flat, None])
        lines.mark(-a[~flat, 1:] / a[~flat, :1] * y, y, ranks[~flat, None])
        pairs.mark(a[:, 0], a[:, 1], ranks)

    return {"models": lines, "coefficients": pairs}, mark


# --- one figure ---------------------------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class Panel:
    """The results for one setting.

    Attributes
    ----------
    rasters : dict of Raster
        "models", and "coefficients" if there are two; empty if only the coverage is measured, and
        members and ends are then None.
    members : integer array of shape (m + 1,)
        The number of candidates of each rank; those of rank m are in no region.
    truth_ranks : integer array of shape (repetitions,)
        Rank of the truth in each fresh sample.
    sizes : dict of arrays of shape (samples, rays)
        Where rays leave the region, by level, if the article compares sizes.
    """

    setting: Setting
    sample: Sample
    region: Region
    rasters: dict[str, Raster]
    members: IntArray | None
    ends: Ends | None
    truth_ranks: IntArray
    sizes: dict[float, Array]

    def coverage(self, level: float) -> Count:
        """Count the samples whose region of this level contained the truth."""
        inside = self.truth_ranks <= self.region.level(level).largest_rank
        return Count(int(inside.sum()), len(inside))


@final
@dataclass(frozen=True, eq=False)
class Reproduction:
    """A figure with its results.

    Attributes
    ----------
    panels : tuple of Panel
        Those of ``figure.settings``, then those of ``figure.counted``.
    process : fitted Gaussian process or None
    shares : dict of arrays of shape (repetitions,)
        For each level and sample, the share of inputs where the band of the process covered.
    """

    figure: Figure
    panels: tuple[Panel, ...]
    process: Any = None
    shares: dict[float, Array] | None = None

    @property
    def compared(self) -> float | None:
        """The largest level at which the median sizes of all regions are finite, if any."""
        sized = [panel.sizes for panel in self.panels if panel.sizes]
        finite = [p for p in LEVELS if all(np.isfinite(np.median(one[p])) for one in sized)]
        return max(finite, default=None)


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
    ['KRR, λ = 0.1', 'ε-SVR, ε = 0.2, c = 250']
    >>> int(found.panels[0].members.sum()), found.panels[0].coverage(0.9).runs
    (500, 20)
    """
    if number not in FIGURES or members < 1 or repetitions < 1:
        raise ValueError(
            f"nothing can be reproduced: expected a figure from {min(FIGURES)} to {max(FIGURES)} "
            f"and at least one member and repetition, given figure {number}, {members} members, "
            f"{repetitions} repetitions."
        )
    figure, panels = FIGURES[number], []
    for setting in (*figure.settings, *figure.counted):
        sample = setting.draw(np.random.default_rng(seed))
        region = build(setting, sample, seed)
        rasters: dict[str, Raster] = {}
        counts, where = None, None
        if setting in figure.settings:
            where = ends(region)
            rasters, mark = (_plane if sample.X.shape[1] == 2 else _functions)(region, sample)
            rng = np.random.default_rng(np.random.SeedSequence([seed, 2]))
            what = f"{setting.panel} {setting.name}: members"
            counts = evaluate(region, members, rng, mark, follow, what)
        ranks = truth_ranks(setting, repetitions, seed, follow)
        sized = figure.sized and setting in figure.settings
        far = sizes(setting, min(_SIZED, repetitions), seed, follow) if sized else {}
        panels.append(Panel(setting, sample, region, rasters, counts, where, ranks, far))
    if not figure.process:
        return Reproduction(figure, tuple(panels))
    sample = panels[0].sample
    shares = process_shares(figure.settings[0], LEVELS, repetitions, seed, follow)
    return Reproduction(figure, tuple(panels), gaussian_process(sample.X, sample.y, seed), shares)


# --- tables -------------------------------------------------------------------------------------


def rows(found: Reproduction) -> list[dict[str, Any]]:
    """Return the table of a figure, one row for each region and level."""
    every = [_row(panel, level, found.figure.notes) for panel in found.panels for level in LEVELS]
    for level, shares in (found.shares or {}).items():
        first = found.panels[0].setting
        shared = {
            "panel": "3b",
            "n": first.n,
            "noise": first.law,
            "truth": first.truth,
            "level": level,
            "bounded": "yes",
            "repetitions": len(shares),
        }
        everywhere = {
            "method": "Gaussian process, all inputs at once",
            **_counted(Count(int((shares == 1).sum()), len(shares))),
            "promise": "none",
            "note": "Its band is pointwise: unlike the regions, it does not claim to cover all "
            "inputs at once.",
        }
        each = {
            "method": "Gaussian process, each input",
            "coverage": f"{shares.mean():.6f}",
            "promise": "approximate",
            "note": "Would be exact if the kernel were known, the function drawn from it and the "
            "noise Gaussian; here the kernel is estimated.",
        }
        every += [shared | everywhere, shared | each]
    return every


def _row(panel: Panel, level: float, notes: tuple[str, ...]) -> dict[str, Any]:
    """Return the row of a region at a level."""
    setting, rank = panel.setting, panel.region.level(level).largest_rank
    row = {
        "panel": setting.panel,
        "method": setting.name,
        "n": setting.n,
        "noise": setting.law,
        "m": M,
        "truth": setting.truth,
        "level": level,
        **_counted(panel.coverage(level)),
        "promise": setting.promise,
        "note": " ".join(note for note in (setting.note, *notes, REVERSED) if note),
    }
    if panel.members is not None and panel.ends is not None:
        row["members"] = int(panel.members.sum())
        row["members_up_to_level"] = int(panel.members[: rank + 1].sum())
        row["bounded"] = panel.ends.at(rank)
        if panel.ends.bounded or panel.ends.unbounded == 1:
            row["bounded_up_to"] = f"{panel.ends.bounded / M:g}"
        if panel.ends.unbounded < M:
            row["unbounded_from"] = f"{panel.ends.unbounded / M:g}"
    return row


def _counted(count: Count) -> dict[str, Any]:
    """Return the columns of a coverage."""
    low, high = count.interval
    rates = {"coverage": count.covered / count.runs, "low": low, "high": high}
    written = {name: f"{rate:.6f}" for name, rate in rates.items()}
    return {"covered": count.covered, "repetitions": count.runs, **written}


def size_rows(found: Reproduction) -> list[dict[str, Any]]:
    """Return the table of sizes, one row for each region and level."""
    return [
        {
            "panel": panel.setting.panel,
            "method": panel.setting.name,
            "n": panel.setting.n,
            "level": level,
            "median_reach": f"{np.median(reach):.6g}",
            "endless": f"{np.isinf(reach).mean():.4f}",
            "rays": reach.shape[1],
            "samples": reach.shape[0],
            "compared": "yes" if level == found.compared else "no",
        }
        for panel in found.panels
        for level, reach in panel.sizes.items()
    ]


def write_table(columns: Sequence[str], table: list[dict[str, Any]], path: Path) -> None:
    """Write a table as CSV, the same bytes for the same seed."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)

"""One figure of the article: members with their levels, boundedness, coverage, and a table."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

from unassuming._typing import Array, IntArray
from unassuming.paper.figures import FIGURES, LEVELS, REVERSED, Figure, M, Sample, Setting
from unassuming.plots import canvas
from unassuming.regions import Region, confidence_region
from unassuming.testing import gaussian_process, process_bounds

# ``follow(work, what, total)`` yields the work and may show the progress.
Follow: TypeAlias = Callable[[Iterable[Any], str, int], Iterator[Any]]

# Columns of the table; a cell is empty where the entry does not exist.
#
# ``bounded`` concerns the region of this level for the sample of the picture. ``coverage`` is the
# share of ``repetitions`` fresh samples whose region contained the truth, and ``low`` to ``high``
# its exact 99 % interval.
COLUMNS = (
    *("panel", "method", "n", "noise", "m", "members", "truth", "level", "members_up_to_level"),
    *("bounded", "covered", "repetitions", "coverage", "low", "high", "promise", "note"),
)

CONFIDENCE = 0.99
# Candidates of a batch and of a trial, and the level of the median one with the largest scale.
_BATCH, _PILOTS, _SHARE = 2**12, 256, 0.9

# Of a picture of members, in each direction.
_PIXELS = 240

_PROCESS_ROWS = (
    (
        "Gaussian process, all inputs at once",
        "none",
        "Its band is pointwise: unlike the regions, it does not claim to cover all inputs at once.",
    ),
    (
        "Gaussian process, each input",
        "approximate",
        "Would be exact if the kernel were known, the function drawn from it and the noise "
        "Gaussian; here the kernel is estimated.",
    ),
)


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
    setting: Setting, repetitions: int, seed: int, follow: Follow
) -> dict[float, Array]:
    """Return the share of inputs where a Gaussian process band covers, by level and sample."""
    inside = {level: np.empty(repetitions) for level in LEVELS}
    with threadpool_limits(1):
        for k in follow(range(repetitions), "Gaussian process: samples", repetitions):
            sample, _ = repeated(setting, seed, k)
            process, truth = gaussian_process(sample.X, sample.y, seed), sample.truth(sample.X)
            for level in LEVELS:
                lower, upper = process_bounds(process, sample.X, level)
                inside[level][k] = ((lower <= truth) & (truth <= upper)).mean()
    return inside


def boundedness(region: Region) -> dict[float, str]:
    """Say at each level whether a region is bounded: "yes", "no" or "not known"."""
    # Quadratic regions have a criterion (docs/theory.md 4.4). For the others some lines through the
    # estimate are examined, and one that never leaves the region proves that it is unbounded.
    if region.shape.star_convex:
        return {p: "yes" if found else "no" for p, found in region.bounded(LEVELS).items()}
    spectrum = np.linalg.eigh(region.problem.design("boundedness").matrix)[1].T
    lines = np.vstack([spectrum, region.objective.coefficients(np.eye(region.n))])
    return {
        p: "no" if any(np.isinf(span).any() for span in spans) else "not known"
        for p, spans in region.crossings(lines, level=LEVELS).items()
    }


# --- members ------------------------------------------------------------------------------------


class Raster:
    """Pixels of a window, each with the lowest rank of the members marked there."""

    # There is no interpolation: a curve marks the pixel of its value at the centre of each column.

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
    seed: int,
    mark: Callable[[Array, IntArray], None],
    follow: Follow,
    what: str = "members",
) -> IntArray:
    """Rank random candidates; pass those in some region to ``mark``; count each rank, (m + 1,)."""
    # A candidate is the estimate plus s times a standard normal vector, where s is uniform between
    # 0 and the smallest power of two at which the median candidate has level 0.9.
    rng, d = np.random.default_rng(np.random.SeedSequence([seed, 2])), len(region.names)
    for power in range(-10, 11):
        trial = region.estimate + 2.0**power * rng.normal(size=(_PILOTS, d))
        if np.median(region.rank(trial)) >= _SHARE * region.m:
            break
    counts = np.zeros(region.m + 1, dtype=np.intp)
    starts = range(0, size, _BATCH)
    for start in follow(starts, what, len(starts)):
        scales = 2.0**power * rng.uniform(size=(min(_BATCH, size - start), 1))
        a = region.estimate + scales * rng.normal(size=(len(scales), d))
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
    half = 1.2 * (np.array(outer.project(np.eye(2))[1]) - outer.center)
    lines = Raster(np.array([[-far, far], [-far, far]]), region.m)
    pairs = Raster(np.column_stack([outer.center - half, outer.center + half]), region.m)
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
    """The results for one setting; without rasters if only the coverage is measured."""

    setting: Setting
    sample: Sample
    region: Region
    truth_ranks: IntArray  # of the truth in each fresh sample
    rasters: dict[str, Raster] = field(default_factory=dict)  # "models" and "coefficients"
    # The number of candidates of each rank, (m + 1,); those of rank m are in no region.
    members: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.intp))
    bounded: dict[float, str] = field(default_factory=dict)

    def coverage(self, level: float) -> Count:
        """Count the samples whose region of this level contained the truth."""
        inside = self.truth_ranks <= self.region.level(level).largest_rank
        return Count(int(inside.sum()), len(inside))


@final
@dataclass(frozen=True, eq=False)
class Reproduction:
    """A figure with its panels, and a fitted Gaussian process with the shares that it covers."""

    figure: Figure
    panels: tuple[Panel, ...]
    process: Any = None
    shares: dict[float, Array] = field(default_factory=dict)


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
        drawn: dict[str, Any] = {}
        if setting in figure.settings:
            rasters, mark = (_plane if sample.X.shape[1] == 2 else _functions)(region, sample)
            what = f"{setting.panel} {setting.name}: members"
            counts = evaluate(region, members, seed, mark, follow, what)
            drawn = {"rasters": rasters, "members": counts, "bounded": boundedness(region)}
        ranks = truth_ranks(setting, repetitions, seed, follow)
        panels.append(Panel(setting, sample, region, ranks, **drawn))
    if not figure.process:
        return Reproduction(figure, tuple(panels))
    sample = panels[0].sample
    shares = process_shares(figure.settings[0], repetitions, seed, follow)
    return Reproduction(figure, tuple(panels), gaussian_process(sample.X, sample.y, seed), shares)


# --- tables -------------------------------------------------------------------------------------


def rows(found: Reproduction) -> list[dict[str, Any]]:
    """Return the table of a figure, one row for each region and level."""
    every = [_row(panel, level, found.figure.notes) for panel in found.panels for level in LEVELS]
    first = found.panels[0].setting
    about = {"panel": "3b", "n": first.n, "noise": first.law, "truth": first.truth}
    for level, shares in found.shares.items():
        everywhere = _counted(Count(int((shares == 1).sum()), len(shares)))
        each = {"repetitions": len(shares), "coverage": f"{shares.mean():.6f}"}
        for (name, promise, note), counted in zip(_PROCESS_ROWS, (everywhere, each), strict=True):
            row = {"method": name, "level": level, "bounded": "yes", "promise": promise}
            every.append({**about, **row, "note": note, **counted})
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
    if panel.rasters:
        row["members"] = int(panel.members.sum())
        row["members_up_to_level"] = int(panel.members[: rank + 1].sum())
        row["bounded"] = panel.bounded[level]
    return row


def _counted(count: Count) -> dict[str, Any]:
    """Return the columns of a coverage."""
    low, high = count.interval
    rates = {"coverage": count.covered / count.runs, "low": low, "high": high}
    written = {name: f"{rate:.6f}" for name, rate in rates.items()}
    return {"covered": count.covered, "repetitions": count.runs, **written}


def write_table(columns: Sequence[str], table: list[dict[str, Any]], path: Path) -> None:
    """Write a table as CSV, the same bytes for the same seed."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)

"""How large the regions of a figure are: how far fixed rays of functions reach.

Coefficients of different kernels and sample sizes cannot be compared, functions can. A ray is
f̂ + t u with a fixed function u on the range of the inputs whose mean square is one, so t is a
distance of functions in the units of y.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.paper._coverage import build, repeated
from unassuming.paper._figures import INPUT_RANGE, LEVELS, Figure, Setting
from unassuming.paper._members import Follow
from unassuming.regions import Region

FREQUENCIES = range(9)
"""The rays run along ±cos(kπx/10) for these k, scaled to mean square one."""
SAMPLES = 50
"""Number of samples over which the median is taken, at most."""
COLUMNS = (
    "panel",
    "method",
    "n",
    "level",
    "median_reach",
    "endless",
    "rays",
    "samples",
    "compared",
)
"""Columns of the table of sizes.

``median_reach`` is the median, over rays and samples, of the largest t in the region, and
``endless`` the share of rays that never leave it. ``compared`` marks the largest level at which
the medians of all regions of the figure are finite.
"""


@dataclass(frozen=True, eq=False)
class Size:
    """The ends of the rays: for each level an array of shape (samples, rays)."""

    setting: Setting
    ends: dict[float, Array]

    def median(self, level: float) -> float:
        """Return the median over rays and samples; infinite if half of the rays never leave."""
        return float(np.median(self.ends[level]))

    def endless(self, level: float) -> float:
        """Return the share of rays that never leave the region."""
        return float(np.isinf(self.ends[level]).mean())


def directions(X: Array) -> Array:
    """Return the values of the rays' functions at inputs X, shape (rays, n)."""
    waves = np.cos(np.outer(FREQUENCIES, X[:, 0]) * np.pi / INPUT_RANGE)
    waves[1:] *= np.sqrt(2)
    return np.concatenate([waves, -waves])


def measure_sizes(figure: Figure, repetitions: int, seed: int, follow: Follow) -> tuple[Size, ...]:
    """Measure the regions of a figure on the first samples of its coverage."""
    if not figure.sized:
        return ()
    samples = range(min(SAMPLES, repetitions))
    return tuple(_size(setting, samples, seed, follow) for setting in figure.settings)


def _size(setting: Setting, samples: range, seed: int, follow: Follow) -> Size:
    what = f"{setting.panel} {setting.name}: sizes"
    ends = [_last_ends(*_region(setting, seed, k)) for k in follow(samples, what, len(samples))]
    return Size(setting, {level: np.stack([one[level] for one in ends]) for level in LEVELS})


def _region(setting: Setting, seed: int, repetition: int) -> tuple[Region, Array]:
    sample, signs = repeated(setting, seed, repetition)
    return build(setting, sample, signs), directions(sample.X)


def _last_ends(region: Region, values: Array) -> dict[float, Array]:
    """Return the largest t >= 0 in the region along each ray, gaps allowed; 0 if there is none."""
    lines = [region.crossings(a, level=LEVELS) for a in region.objective.coefficients(values)]
    return {
        level: np.array([max(line[level][:, 1], default=0.0) for line in lines]).clip(0.0)
        for level in LEVELS
    }


def compared_level(found: Iterable[Size]) -> float | None:
    """Return the largest level at which all medians are finite; None if there is none."""
    finite = [level for level in LEVELS if all(np.isfinite(size.median(level)) for size in found)]
    return max(finite, default=None)


def size_rows(found: tuple[Size, ...]) -> list[dict[str, Any]]:
    """Return the table of sizes, one row for each region and level."""
    compared = compared_level(found)
    return [
        {
            "panel": size.setting.panel,
            "method": size.setting.name,
            "n": size.setting.n,
            "level": level,
            "median_reach": f"{size.median(level):.6g}",
            "endless": f"{size.endless(level):.4f}",
            "rays": size.ends[level].shape[1],
            "samples": size.ends[level].shape[0],
            "compared": "yes" if level == compared else "no",
        }
        for size in found
        for level in LEVELS
    ]


def size_sentence(found: tuple[Size, ...]) -> str:
    """Explain the table of sizes, and at which level its regions can be compared."""
    first = found[0].ends[LEVELS[0]]
    text = (
        f"Sizes: median over {first.shape[1]} rays of functions with mean square one and "
        f"{first.shape[0]} samples of the distance at which a ray leaves the region for good, and "
        "the share of rays that never leave it."
    )
    level = compared_level(found)
    if level is None:
        return f"{text} At no level are all medians finite."
    return f"{text} Compare them at level {level:g}, the largest at which all medians are finite."

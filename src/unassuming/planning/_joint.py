"""The half-width of the joint region's band, predicted by made-up data.

The data are functions of half the norm that is allowed, plus Gaussian noise of the working scale.
Each penalty sees the same data, and its band is computed as that of real data would be, from fewer
transformations (docs/theory.md 9.9).
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.ranking import Level
from unassuming.regions import Functions

if TYPE_CHECKING:
    from unassuming.planning._setting import Setting

_FEWEST, _USUAL = 20, 100
"""Bounds on m of a prediction, where the level allows them."""

_ROWS, _MOST_RUNS = 8000, 8
"""Rows times transformations, over all data sets of a kernel. With more rows the widths differ
less."""
_FEATURES, _FEWEST_RUNS, _MOST_OF_FEATURES = 160, 3, 16
"""Features times data sets. Few features take little time; many are nearly dependent, and sets of
such features are computed with twice the digits."""


def joint_width(setting: Setting, alpha: float | None) -> float:
    """Return the median half-width over the inputs, averaged over a few data sets."""
    level = few_transformations(setting.level)
    B = setting.assumption.norm_bound
    halves = []
    for run in range(_runs(setting, level.m)):
        rng = np.random.default_rng([118, run])
        e = setting.noise_draw(rng)
        y = setting.outputs(made_up_values(setting, rng) + e)
        region = setting.region(y, alpha, level.m, seed=run)
        band = region.band(setting.inputs, level=float(level), norm_bound=B, method="joint")
        halves.append(float(np.median((band.upper - band.lower) / 2)))
    return float(np.mean(halves))


def _runs(setting: Setting, m: int) -> int:
    """Return the number of data sets, equal for all penalties."""
    if setting.plain.problem.design("a plan").dual:
        return min(max(1, _ROWS // (setting.n * m)), _MOST_RUNS)
    d = setting.plain.objective.d
    return min(max(_FEWEST_RUNS, _FEATURES // d), _MOST_OF_FEATURES)


def few_transformations(level: float) -> Level:
    """Return the level, or the next one above it, with a small m.

    Examples
    --------
    >>> few_transformations(0.9), few_transformations(0.99)
    (Level(q=2, m=20), Level(q=1, m=100))
    """
    two = ceil(2 / (1 - level) - 1e-9)  # q = 2: the largest of a few widths varies a great deal
    fewest = max(_FEWEST, min(two, _USUAL), ceil(1 / (1 - level) - 1e-9))
    found = [Level.at_least(level, m) for m in range(fewest, max(_USUAL, fewest) + 1)]
    return min(found, key=lambda one: (round(float(one) - level, 9), one.m))


def made_up_values(setting: Setting, rng: np.random.Generator) -> Array:
    """Return the values at the rows of a random function of norm B/2, (n,)."""
    try:
        return Functions(setting.plain.problem).made_up(setting.assumption, rng)
    except NotAvailable:
        return np.zeros(setting.n)

"""Half-widths predicted over the number of cells (docs/theory.md 9.8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming.cells.functions.predict import choose, choose_band, numbers_of_cells
from unassuming.regions import Assumption, Functions


def widths_over_cells(
    functions: Functions, inputs: Any, assumption: Assumption, level: float, *, simultaneous: bool
) -> dict[int, float]:
    """Return the median half-width over the inputs for each number of cells.

    Each division has its best smoothing, as in `Region.band`.
    """
    try:
        wanted = functions.values(functions.problem.transform(inputs), assumption)
    except NotAvailable:
        return {}
    system, assumed = functions.system(assumption), functions.assumed(assumption)
    pick = choose_band if simultaneous else choose
    found = {}
    for K in numbers_of_cells(level, functions.units, simultaneous=simultaneous):
        division = functions.kriging(assumption, K)
        chosen = pick(system, wanted, [division], assumed, level)
        found[K] = float(np.median(chosen.half_width))
    return found

"""Functions of bounded norm: intervals one at a time, and simultaneous bands (docs/theory.md 9.8).

A cell of rows estimates L f* with kriging weights. The error has a part from the noise, whose sign
is random, and a bias that the norm bound limits. `choose` fixes the cells and the smoothing by the
half-width predicted before y is seen; `biased_intervals` and `function_band` then bound L f*.
"""

from unassuming.cells.functions._band import (
    BandSizes,
    band_half_width,
    choose_band,
    function_band,
    looked_at,
)
from unassuming.cells.functions._biased import biased_intervals, biased_ranks
from unassuming.cells.functions._divisions import interleaved
from unassuming.cells.functions._errors import Errors, errors
from unassuming.cells.functions._kriging import Kriging
from unassuming.cells.functions._made_up import MadeUp, unit_function
from unassuming.cells.functions._predicted import (
    Choice,
    choose,
    pointwise_half_width,
    smoothings,
)
from unassuming.cells.functions._prediction import Prediction, numbers_of_cells, predicted
from unassuming.cells.functions._system import Assumed, System, Wanted

__all__ = [
    "Assumed",
    "BandSizes",
    "Choice",
    "Errors",
    "Kriging",
    "MadeUp",
    "Prediction",
    "System",
    "Wanted",
    "band_half_width",
    "biased_intervals",
    "biased_ranks",
    "choose",
    "choose_band",
    "errors",
    "function_band",
    "interleaved",
    "looked_at",
    "numbers_of_cells",
    "pointwise_half_width",
    "predicted",
    "smoothings",
    "unit_function",
]

"""One number at a time: exact intervals and tests of a coefficient (docs/theory.md 11)."""

from unassuming.cells._division import Division, candidates, divide
from unassuming.cells._estimates import Estimates, estimates
from unassuming.cells._factors import Factor, factor_of_rows, factor_of_sums, factors_of_rows
from unassuming.cells._intervals import Intervals, Ranks, intervals, ranks
from unassuming.cells._signs import fewest_cells, flipped_cells, largest_q, number_of_statistics
from unassuming.cells._width import predicted_width, width_factor

__all__ = [
    "Division",
    "Estimates",
    "Factor",
    "Intervals",
    "Ranks",
    "candidates",
    "divide",
    "estimates",
    "factor_of_rows",
    "factor_of_sums",
    "factors_of_rows",
    "fewest_cells",
    "flipped_cells",
    "intervals",
    "largest_q",
    "number_of_statistics",
    "predicted_width",
    "ranks",
    "width_factor",
]

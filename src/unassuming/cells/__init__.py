"""One number at a time: exact intervals and tests of a coefficient (docs/theory.md 9).

The rows are divided into cells by looking at the design only (`divide`). Least squares in each cell
estimates the number with its own nuisance coefficients (`estimates`). Under symmetric noise the
sign of the error of each cell is random. This makes the rank of a statistic uniform and gives an
interval in closed form (`intervals`, `ranks`; for several numbers `joint_rank`). Exchangeable noise
becomes symmetric in differences of pairs (`opposite_pairs`). Where cells identify too little,
`half_spans` and `palmrt_spans` give intervals with certified coverage. `balanced_band` serves many
numbers simultaneously. `instrument_set` serves a column that depends on the noise.

Plain arrays go in and come out. Nothing here sees y before the division is fixed.
"""

from unassuming.cells._balanced import (
    BalancedBand,
    BalancedDivision,
    balanced_band,
    balanced_division,
    balanced_number,
    balanced_numbers,
    balanced_statistic,
)
from unassuming.cells._certified import certified_interval, certified_pvalue, certified_q
from unassuming.cells._estimates import Estimates, estimates
from unassuming.cells._factors import (
    Factor,
    after_centring,
    centred,
    factor_of_all,
    factor_of_rows,
    factors_of_rows,
)
from unassuming.cells._halves import half_spans, random_halves
from unassuming.cells._instruments import InstrumentCells, InstrumentSet, instrument_set
from unassuming.cells._intervals import Intervals, Ranks, intervals, intervals_and_ranks, ranks
from unassuming.cells._kept import KeptCells, KeptRows, KeptSums
from unassuming.cells._method import Method, enough_cells, rows_needed
from unassuming.cells._old_division import Division, candidates, divide, settled
from unassuming.cells._pairs import centred_in_blocks, opposite_pairs, pair_differences
from unassuming.cells._palmrt import palmrt_spans
from unassuming.cells._robust import (
    least_absolute_deviations,
    robust_coefficients,
    robust_estimates,
)
from unassuming.cells._several import PseudoRows, joint_rank, pseudo_rows
from unassuming.cells._signs import (
    MOST_ENUMERATED,
    fewest_cells,
    flipped_cells,
    largest_q,
    number_of_statistics,
)
from unassuming.cells._spherical import t_intervals, t_pvalues
from unassuming.cells._weights import residual_weights
from unassuming.cells._width import approximate_width, predicted_width, width_factor

__all__ = [
    "MOST_ENUMERATED",
    "BalancedBand",
    "BalancedDivision",
    "Division",
    "Estimates",
    "Factor",
    "InstrumentCells",
    "InstrumentSet",
    "Intervals",
    "KeptCells",
    "KeptRows",
    "KeptSums",
    "Method",
    "PseudoRows",
    "Ranks",
    "after_centring",
    "approximate_width",
    "balanced_band",
    "balanced_division",
    "balanced_number",
    "balanced_numbers",
    "balanced_statistic",
    "candidates",
    "centred",
    "centred_in_blocks",
    "certified_interval",
    "certified_pvalue",
    "certified_q",
    "divide",
    "enough_cells",
    "estimates",
    "factor_of_all",
    "factor_of_rows",
    "factors_of_rows",
    "fewest_cells",
    "flipped_cells",
    "half_spans",
    "instrument_set",
    "intervals",
    "intervals_and_ranks",
    "joint_rank",
    "largest_q",
    "least_absolute_deviations",
    "number_of_statistics",
    "opposite_pairs",
    "pair_differences",
    "palmrt_spans",
    "predicted_width",
    "pseudo_rows",
    "random_halves",
    "ranks",
    "residual_weights",
    "robust_coefficients",
    "robust_estimates",
    "rows_needed",
    "settled",
    "t_intervals",
    "t_pvalues",
    "width_factor",
]

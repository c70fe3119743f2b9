"""Why the regions are exact: a rank that is uniform whatever the law of the noise.

The residuals of the true candidate are the noise, so their statistic Z_0 and the statistics Z_1,
..., Z_{m-1} of transformed residuals (`unassuming.noise`) are exchangeable. With ties broken at
random, Z_0 therefore takes each of the m ranks with probability 1/m. The region of level 1 - q/m
collects the candidates with rank at most m - q, and so contains the true one with exactly that
probability (docs/theory.md 2).
"""

from unassuming.ranking.levels import Level, as_double, as_levels, check_m, level_in_digits
from unassuming.ranking.levels import level_in_print as level_in_print
from unassuming.ranking.order import Order
from unassuming.ranking.order import check_ties as check_ties
from unassuming.ranking.order import precedes as precedes
from unassuming.ranking.order import tied as tied
from unassuming.ranking.result import RankTest
from unassuming.ranking.result import pvalue_in_print as pvalue_in_print

__all__ = [
    "Level",
    "Order",
    "RankTest",
    "as_double",
    "as_levels",
    "check_m",
    "level_in_digits",
]

"""Levels, the order of the statistics with its ties, ranks, and the test they give."""

from unassuming.ranking._contrast import Contrast
from unassuming.ranking._levels import Level, as_double, as_levels, check_m
from unassuming.ranking._order import TIES, check_ties, draw_tie_order, precedes, rank
from unassuming.ranking._result import RankTest

__all__ = [
    "TIES",
    "Contrast",
    "Level",
    "RankTest",
    "as_double",
    "as_levels",
    "check_m",
    "check_ties",
    "draw_tie_order",
    "precedes",
    "rank",
]

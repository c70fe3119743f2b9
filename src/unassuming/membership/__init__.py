"""Candidates and their ranks: a candidate is in the region if its rank is small (docs/theory.md 2).

The careful comparison of statistics defines the rank. Fast screens decide most candidates at once,
and leave those that rounding could affect to it.
"""

from unassuming.membership._candidates import FITTED, Candidates, resolve
from unassuming.membership._comparison import Comparison
from unassuming.membership._doubt import about_columns_in_doubt
from unassuming.membership._engine import RankEngine
from unassuming.membership._exact import ExactGaps
from unassuming.membership._lines import LineGaps

__all__ = [
    "FITTED",
    "Candidates",
    "Comparison",
    "ExactGaps",
    "LineGaps",
    "RankEngine",
    "about_columns_in_doubt",
    "resolve",
]

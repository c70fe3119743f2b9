"""The division of the rows into cells, chosen before y is seen (docs/theory.md 9.3)."""

from unassuming.cells._old_division._basis import Basis, basis_of, information, second_moments
from unassuming.cells._old_division._search import (
    Division,
    Search,
    candidates,
    divide,
    usually_kept,
)
from unassuming.cells._old_division._settled import settled

__all__ = [
    "Basis",
    "Division",
    "Search",
    "basis_of",
    "candidates",
    "divide",
    "information",
    "second_moments",
    "settled",
    "usually_kept",
]

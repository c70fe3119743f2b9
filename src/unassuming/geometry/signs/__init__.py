"""Regions of regression quantiles: unions of polyhedra (docs/theory.md 13).

The statistics change only where a residual, or a penalised coefficient, changes its sign. So lines
are cut into finitely many pieces, and boxes of coefficients leave few signs open.
"""

from unassuming.geometry._branch_and_bound import (
    GAP,
    LARGEST_RANK,
    NODES,
    Support,
    branch_and_bound,
)
from unassuming.geometry.signs._boxes import SignBoxes
from unassuming.geometry.signs._lines import SignLines
from unassuming.geometry.signs._model import SignModel

__all__ = [
    "GAP",
    "LARGEST_RANK",
    "NODES",
    "SignBoxes",
    "SignLines",
    "SignModel",
    "Support",
    "branch_and_bound",
]

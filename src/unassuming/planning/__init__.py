"""Widths before y is seen: the penalty, the number of cells and the number of rows."""

from unassuming.planning.widths import Plan, Predicted
from unassuming.planning.widths import narrowest as narrowest
from unassuming.planning.widths import plan as plan

__all__ = ["Plan", "Predicted", "plan"]

"""Widths before y is seen: the penalty, the number of cells and the number of rows."""

from unassuming.planning.plan import Plan, Predicted
from unassuming.planning.plan import narrowest as narrowest
from unassuming.planning.plan import plan as plan

__all__ = ["Plan", "Predicted", "plan"]

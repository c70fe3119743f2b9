"""Widths before y is seen: the penalty, the number of cells and the number of rows."""

from unassuming.planning._plan import plan
from unassuming.planning._result import Plan
from unassuming.planning._result import narrowest as narrowest
from unassuming.planning._setting import Predicted

__all__ = ["Plan", "Predicted", "plan"]

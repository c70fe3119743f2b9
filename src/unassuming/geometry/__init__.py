"""What the regions of all shapes share: intervals on lines, order statistics."""

from unassuming.geometry._along_lines import Lines
from unassuming.geometry._grid_lines import GridLines
from unassuming.geometry._order_statistic import order_statistic

__all__ = ["GridLines", "Lines", "order_statistic"]

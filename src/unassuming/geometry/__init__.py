"""The geometry of a region: its intersection with lines, and bounds of linear functionals over it.

A region at level 1 - q/m holds the points that lie in at least q of the m - 1 sets {Z_0 ≼ Z_i}.
What can be computed depends on the form of Z_i - Z_0: a quadratic (`quadratic`), a piecewise
quadratic along lines (`piecewise`), a function of random labels (`labels`), or of signs (`signs`).
"""

from unassuming.geometry._copies import Copy, copies_in, near_copies, of_one_row
from unassuming.geometry._grid_lines import GridLines
from unassuming.geometry._limits import no_narrower
from unassuming.geometry._lines import Lines
from unassuming.geometry._order_statistic import order_statistic

__all__ = [
    "Copy",
    "GridLines",
    "Lines",
    "copies_in",
    "near_copies",
    "no_narrower",
    "of_one_row",
    "order_statistic",
]

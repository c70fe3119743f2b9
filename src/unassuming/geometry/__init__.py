"""The sets E_i and what they bound: plain arrays in and out."""

from unassuming.geometry._admissible import Admissible
from unassuming.geometry._boxes import Boxes
from unassuming.geometry._bracketing import BracketedLines
from unassuming.geometry._following import Lines
from unassuming.geometry._forms import FormMaker, Forms
from unassuming.geometry._gradients import LineModel
from unassuming.geometry._labels import LabelLines, LabelModel
from unassuming.geometry._lines import (
    LineQuadratics,
    along_lines,
    covered,
    exits,
    intervals,
    order_statistic,
)
from unassuming.geometry._norm_bound import SetsAndBall
from unassuming.geometry._piecewise import PiecewiseLines
from unassuming.geometry._relaxation import Relaxation, relaxed_bounds
from unassuming.geometry._secular import farthest
from unassuming.geometry._sets import FREE, SEEN, Sets

__all__ = [
    "FREE",
    "SEEN",
    "Admissible",
    "Boxes",
    "BracketedLines",
    "FormMaker",
    "Forms",
    "LabelLines",
    "LabelModel",
    "LineModel",
    "LineQuadratics",
    "Lines",
    "PiecewiseLines",
    "Relaxation",
    "Sets",
    "SetsAndBall",
    "along_lines",
    "covered",
    "exits",
    "farthest",
    "intervals",
    "order_statistic",
    "relaxed_bounds",
]

"""Label regions: the geometry of regression functions E[y|x] of labels ±1 (docs/theory.md 8).

The perturbed labels are drawn from the candidate itself, so statistics jump where a label flips.
Intersections with lines are exact. Outer bounds come from branch and bound over few coefficients,
else from -1 <= E[y|x] <= 1 alone.
"""

from unassuming.geometry._branch_and_bound import GAP, LARGEST_RANK, NODES, Support
from unassuming.geometry.labels._admissible import OUTWARD, Admissible, Known
from unassuming.geometry.labels._branch_and_bound import Boxes
from unassuming.geometry.labels._lines import LabelLines, LabelModel
from unassuming.geometry.labels._moments import Moments

__all__ = [
    "GAP",
    "LARGEST_RANK",
    "NODES",
    "OUTWARD",
    "Admissible",
    "Boxes",
    "Known",
    "LabelLines",
    "LabelModel",
    "Moments",
    "Support",
]

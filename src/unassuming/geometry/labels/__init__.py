"""Label regions: exact along lines, bounded by branch and bound elsewhere (docs/theory.md 8)."""

from unassuming.geometry.labels._admissible import OUTWARD, Admissible
from unassuming.geometry.labels._branch_and_bound import GAP, LARGEST_RANK, NODES, Boxes, Support
from unassuming.geometry.labels._lines import LabelLines, LabelModel

__all__ = [
    "GAP",
    "LARGEST_RANK",
    "NODES",
    "OUTWARD",
    "Admissible",
    "Boxes",
    "LabelLines",
    "LabelModel",
    "Support",
]

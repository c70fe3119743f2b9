"""What a model minimises, taken apart along its own plus signs: design, loss, penalty."""

from unassuming._second.objectives.base import Design, Objective
from unassuming._second.objectives.designed import DesignedObjective
from unassuming._second.objectives.features import FeatureDesign
from unassuming._second.objectives.kernel import KernelDesign
from unassuming._second.objectives.penalties import Kinks, Penalty
from unassuming._second.objectives.score import Score, State

__all__ = [
    "Design",
    "DesignedObjective",
    "FeatureDesign",
    "KernelDesign",
    "Kinks",
    "Objective",
    "Penalty",
    "Score",
    "State",
]

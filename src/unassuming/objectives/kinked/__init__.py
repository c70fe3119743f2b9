"""Objectives whose gradient has kinks or jumps: LASSO, elastic net, ε-SVR and LinearSVR."""

from unassuming.objectives.kinked._jump_score import JumpScore
from unassuming.objectives.kinked._lasso import LassoObjective
from unassuming.objectives.kinked._least_element import least_element, optimality_gap
from unassuming.objectives.kinked._linear_svr import LinearSVRObjective
from unassuming.objectives.kinked._svr import SVRObjective

__all__ = [
    "JumpScore",
    "LassoObjective",
    "LinearSVRObjective",
    "SVRObjective",
    "least_element",
    "optimality_gap",
]

"""Which shape a region has."""

from __future__ import annotations

from unassuming.membership import RankEngine
from unassuming.noise import Labels
from unassuming.objectives import Quadratic
from unassuming.regions._problem import Problem
from unassuming.regions.shapes._labels import LabelShape
from unassuming.regions.shapes._piecewise import PiecewiseShape
from unassuming.regions.shapes._quadratic import QuadraticShape
from unassuming.regions.shapes._quantiles import QuantileShape
from unassuming.regions.shapes._shape import Shape


def shape_of(problem: Problem, engine: RankEngine) -> Shape:
    """Choose the shape by the noise, the objective and the weighting."""
    o = problem.objective
    if isinstance(problem.noise, Labels):
        return LabelShape(problem, engine, "fresh labels are drawn from the candidate itself")
    if engine.fresh_signs is not None and o.design is not None:
        why = "the statistics depend on the signs of the residuals alone"
        return QuantileShape(problem, engine, why)
    if isinstance(o, Quadratic) and problem.whitened:
        why = "the objective is quadratic and weighted by its Hessian"
        return QuadraticShape(problem, engine, why)
    if isinstance(o, Quadratic):
        why = "the objective is quadratic, but not weighted by its Hessian"
    elif (kinks := o.kinks()) is None:
        why = f"only membership can be tested for {o}"
    elif not (kinks.values.size or kinks.thresholds.size):
        why = f"{o} are linear in the coefficients"
    else:
        why = f"the gradient of {o} is piecewise linear"
    return PiecewiseShape(problem, engine, why)

"""The shapes of regions, and which of them a region has."""

from unassuming.geometry.quadratic import QuadraticSets
from unassuming.membership import Engine
from unassuming.regions.shapes.labels import LabelShape
from unassuming.regions.shapes.piecewise import PiecewiseShape
from unassuming.regions.shapes.quadratic import QuadraticShape
from unassuming.regions.shapes.quantiles import QuantileShape
from unassuming.regions.shapes.shape import OuterBounds, Question, Shape

__all__ = ["OuterBounds", "Question", "Shape", "shape_of"]


def shape_of(engine: Engine) -> Shape:
    """Choose the shape by what the objective and the noise declare."""
    if engine.noise.labels:
        return LabelShape(engine)
    if engine.objective.quantile is not None:
        return QuantileShape(engine)
    return QuadraticShape(engine) if QuadraticSets.exist(engine) else PiecewiseShape(engine)

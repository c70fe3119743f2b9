"""What a region looks like: quadratic, piecewise quadratic, of labels, or of quantiles."""

from unassuming.regions.shapes._choose import shape_of
from unassuming.regions.shapes._labels import LabelShape
from unassuming.regions.shapes._piecewise import PiecewiseShape
from unassuming.regions.shapes._quadratic import QuadraticShape
from unassuming.regions.shapes._quantiles import QuantileShape
from unassuming.regions.shapes._shape import OuterBounds, Shape

__all__ = [
    "LabelShape",
    "OuterBounds",
    "PiecewiseShape",
    "QuadraticShape",
    "QuantileShape",
    "Shape",
    "shape_of",
]

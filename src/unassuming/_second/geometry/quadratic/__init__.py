"""Regions of quadratic objectives: points in at least q of m - 1 ellipsoids (docs/theory.md 4)."""

from unassuming._second.geometry.quadratic.ball import SetsAndBall
from unassuming._second.geometry.quadratic.free import FreeDirections, free_directions
from unassuming._second.geometry.quadratic.lines import rays, spans
from unassuming._second.geometry.quadratic.radius import radii
from unassuming._second.geometry.quadratic.sets import QuadraticSets, outward, qth_largest

__all__ = [
    "FreeDirections",
    "QuadraticSets",
    "SetsAndBall",
    "free_directions",
    "outward",
    "qth_largest",
    "radii",
    "rays",
    "spans",
]

"""Regions of quadratic objectives: points in at least q of m - 1 ellipsoids (docs/theory.md 4)."""

from unassuming.geometry.quadratic.ball import SetsAndBall
from unassuming.geometry.quadratic.free import FreeDirections, free_directions
from unassuming.geometry.quadratic.lines import rays, spans
from unassuming.geometry.quadratic.radius import radii
from unassuming.geometry.quadratic.sets import QuadraticSets, outward, qth_largest

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

"""The protocol of a shape: a region along lines, its bounds, and whether it is bounded.

Membership is decided by ranks, whatever the shape. The shape adds geometry: where lines cross the
region, how far rays from the estimate stay in it, bounds of linear functionals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._second.membership import Engine
from unassuming._second.ranking.levels import Level
from unassuming._second.regions.explain import Explanation, Status
from unassuming._second.regions.results import Boundedness, Ellipsoid
from unassuming._typing import Array


@final
@dataclass(frozen=True, eq=False)
class Question:
    """Linear functionals gᵀa, g (N, d), to be bounded over a region.

    With a norm bound, ``similarity`` holds k(z, z) if they are values at inputs z, and ``function``
    says whether they are values of the function or of its representation by the kernel.
    """

    g: Array
    norm_bound: float | None = None
    similarity: Array | None = None
    function: bool = False


@final
@dataclass(frozen=True, eq=False)
class OuterBounds:
    """Bounds of N functionals at one level; lower > upper if the region has no member."""

    lower: Array
    upper: Array
    status: Status
    explanation: Explanation


class Shape(ABC):
    """What is known of a region beyond membership."""

    name: ClassVar[str]
    star_convex: ClassVar[bool] = False

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @property
    def exact(self) -> bool:
        """Whether intervals on lines are exact rather than found on a grid."""
        return True

    @property
    def estimate(self) -> Array:
        """The minimiser, (d,)."""
        return self.engine.objective.estimate()

    @abstractmethod
    def intervals(self, origins: Array, directions: Array, qs: Sequence[int]) -> list[list[Array]]:
        """Return the closed intervals of t with origin + t direction in the region.

        For each q and each line (N, d) an array (k, 2), sorted and disjoint, ±inf allowed.
        """

    @abstractmethod
    def reach(self, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return for each q how far rays (N, d) from the estimate stay in the region, (N,).

        Minus infinity if the estimate is not a member.
        """

    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Bound linear functionals over the region at each level."""
        raise self.not_available("interval")

    def bounded(self, level: Level) -> Boundedness:
        """Return whether the region is bounded, with a certificate."""
        raise self.not_available("bounded")

    def largest_bounded_rank(self) -> int:
        """Return the largest rank up to which regions are certainly bounded."""
        raise self.not_available("max_bounded_level")

    def ellipsoid(self, level: Level) -> Ellipsoid:
        """Return an outer ellipsoid."""
        raise self.not_available("ellipsoid")

    def norm_lower_bound(self, level: Level) -> float:
        """Return a lower bound of the norm of every member."""
        raise self.not_available("norm_lower_bound")

    def not_available(self, operation: str) -> NotAvailable:
        """Return the refusal of an operation that needs another shape."""
        return NotAvailable(
            f"{operation} needs a quadratic objective with weighting='hessian', that of "
            "LinearRegression, Ridge, KernelRidge, GaussianProcessRegressor or ua.LSSVC, given "
            f"{self.engine.objective}. Ranks, tests, membership and crossings are available."
        )

    def _where_inside(self, found: Sequence[Array], qs: Sequence[int]) -> list[Array]:
        """Return the ends of rays, minus infinity at levels whose region lacks the estimate."""
        rank = int(self.engine.rank(self.estimate[None])[0])
        inside = [rank <= self.engine.m - q for q in qs]
        return [
            t if here else np.full(len(t), -np.inf) for here, t in zip(inside, found, strict=True)
        ]

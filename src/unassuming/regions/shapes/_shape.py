"""The protocol of a shape: a region along lines, its bounds, and whether it is bounded.

A region decides membership by ranks, whatever its shape. The shape adds geometry about it: where
lines cross the region, bounds of linear functionals, samples. Which shape a region has depends on
the objective, the weighting and the noise; `shape_of` chooses it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.geometry import no_narrower
from unassuming.geometry.piecewise import ball_alone
from unassuming.objectives import BallCoordinates, NormBall, Quadratic
from unassuming.ranking import Level
from unassuming.regions._ellipsoid import Ellipsoid
from unassuming.regions._explain import (
    Cause,
    Explanation,
    Fact,
    Language,
    Status,
)
from unassuming.regions._problem import Problem
from unassuming.regions._question import Question
from unassuming.regions._results import Boundedness


@final
@dataclass(frozen=True, eq=False)
class OuterBounds:
    """Bounds of N functionals over a region at one level.

    Attributes
    ----------
    lower, upper : arrays of shape (N,)
        Outer bounds; lower > upper if the region has no member.
    status : Status
    explanation : Explanation
    witnesses : array of shape (2, N, d), or None
        Members near the bounds, if they were searched for.
    endless : boolean array of shape (2, N)
        Functionals that members exceed without limit, below and above.
    """

    lower: Array
    upper: Array
    status: Status
    explanation: Explanation
    witnesses: Array | None = None
    endless: Any = False

    def inner(self, g: Array) -> tuple[Array, Array] | tuple[None, None]:
        """Return the values that the witnesses attain, for functionals g (N, d)."""
        if self.witnesses is None:
            return None, None
        low, high = np.einsum("snd,nd->sn", self.witnesses, g)
        below, above = np.broadcast_to(self.endless, (2, len(g)))
        return np.where(below, -np.inf, low), np.where(above, np.inf, high)

    def because(self, status: Status, explanation: Explanation) -> OuterBounds:
        """Return these bounds with another status and explanation."""
        return replace(self, status=status, explanation=explanation)


class Shape(ABC):
    """What is known of a region beyond membership.

    Attributes
    ----------
    name : str
    star_convex : bool
        Whether the segment from the estimate to any member lies in the region.
    why : str
        The reason for this shape.
    """

    name: ClassVar[str]
    star_convex: ClassVar[bool] = False
    why: str
    problem: Problem

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether intervals on lines are exact rather than found on a grid."""

    @abstractmethod
    def intervals(self, origins: Array, directions: Array, qs: Sequence[int]) -> list[list[Array]]:
        """Return the closed intervals of t with origin + t direction in the region.

        For each q and each line (N, d) an array (k, 2), sorted and disjoint, ±inf allowed.
        """

    @abstractmethod
    def reach(self, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return for each q how far rays (N, d) from the estimate stay in the region, (N,)."""

    @abstractmethod
    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Bound linear functionals over the region at each level."""

    @abstractmethod
    def sample(
        self, size: int, level: Level, ball: NormBall | None, random_state: Any, thinning: Any
    ) -> Array:
        """Return members of the region, (size, d)."""

    @abstractmethod
    def start(self) -> Array:
        """Return the coefficients at which a search for members begins, (d,)."""

    def require_inside(self, ball: NormBall, otherwise: str = "") -> None:
        """Refuse a search that would have to start outside the ball."""
        norm = ball.norm(self.start())
        if norm > ball.bound:
            raise NotAvailable(
                f"the search starts at the estimate, whose norm {norm:.6g} is above the norm bound "
                f"{ball.bound:.6g}: pass norm_bound={_rounded_up(norm)} or more{otherwise}."
            )

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
        raise self.not_available("norm_lower_bound (and norm_bounds_table)")

    @abstractmethod
    def lines_of_print(self, language: Language) -> list[tuple[str, str]]:
        """Return what print(region) says of the shape: headings and sentences, cheap to know."""

    def not_available(self, operation: str) -> NotAvailable:
        """Return the refusal of an operation that needs another shape."""
        problem, here = self.problem, f"Available here: {', '.join(self._available())}."
        if isinstance(problem.objective, Quadratic):
            given = repr(problem.weighting) if isinstance(problem.weighting, str) else "a matrix"
            return NotAvailable(
                f"{operation} needs weighting='hessian', the default, and this region has "
                f"weighting={given}: leave out `weighting`. {here}"
            )
        return NotAvailable(
            f"{operation} needs a quadratic objective, that of LinearRegression, Ridge, "
            "KernelRidge, GaussianProcessRegressor or ua.LSSVC, and this is a region of "
            f"{problem.objective}. {here}"
        )

    def _available(self) -> list[str]:
        """Return what can be asked of this region."""
        known = ["rank", "contains", "test"]
        try:
            _ = self.problem.estimate
        except (NotAvailable, ValueError):  # the minimum is not declared, or there is none
            return [*known, "crossings(direction, origin=candidate)"]
        known += ["crossings", "reach", "sample", "interval"]
        return known if self.problem.objective.design is None else [*known, "band"]

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.why}>"


def why_empty(level: Level, ball: BallCoordinates | None) -> Fact:
    """Return why a region, or its part in a ball, has no member."""
    if ball is not None:
        return Cause.BALL_TOO_SMALL(bound=ball.bound)
    return Cause.TOO_FEW_SETS(q=level.q)


def ball_facts(
    status: Status, lower: Array, upper: Array, level: Level, ball: BallCoordinates | None
) -> tuple[Fact, ...]:
    """Return why a region is empty, or whether finite bounds follow from the ball alone."""
    if status is Status.EMPTY:
        return (why_empty(level, ball),)
    follow = ball is not None and no_narrower(lower, upper, ball_alone(ball))
    return (Cause.BALL_ALONE(),) if follow else ()


def no_member(level: Level) -> NotAvailable:
    """Return the refusal to sample an empty region."""
    return NotAvailable(
        f"the region of level {float(level):.12g} has no member: even the estimate is outside. Ask "
        "for a higher level."
    )


def estimate_outside(level: Level) -> NotAvailable:
    """Return the refusal to sample a region whose estimate need not be a member."""
    return NotAvailable(
        f"sampling starts at the estimate, which is outside the region of level {float(level):.12g}"
        ": with more instruments than endogenous columns that is possible. Ask for a higher level, "
        "or use crossings with an origin of your own."
    )


def _rounded_up(number: float) -> str:
    """Return a number that is not smaller, in six digits."""
    unit = 10.0 ** (np.floor(np.log10(number)) - 5)
    return f"{np.ceil(number / unit) * unit:.6g}"

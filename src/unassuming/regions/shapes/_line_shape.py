"""What shapes that are known along lines share: crossings, reach, samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.geometry import Lines
from unassuming.geometry.piecewise import LineModel
from unassuming.membership import RankEngine
from unassuming.objectives import NormBall
from unassuming.ranking import Level
from unassuming.regions._explain import Language
from unassuming.regions._problem import Problem
from unassuming.regions.search._line_search import LineSearch
from unassuming.regions.search._proposals import Proposals
from unassuming.regions.shapes._piecewise_remedies import PiecewiseAdviser
from unassuming.regions.shapes._shape import Shape, estimate_outside, no_member


class LineShape(Shape):
    """A region known by its intersections with lines; it need not be star convex, nor connected."""

    def __init__(self, problem: Problem, engine: RankEngine, why: str) -> None:
        self.problem, self.engine, self.why = problem, engine, why

    @property
    @abstractmethod
    def lines(self) -> Lines:
        """The region along lines."""

    @property
    def model(self) -> LineModel | None:
        """The piecewise quadratic statistics along lines; None if there is no such model."""
        return None

    @abstractmethod
    def proposals(self, ball: NormBall | None) -> Proposals:
        """Return the directions in which to walk."""

    @abstractmethod
    def probes(self, ball: NormBall | None) -> Array:
        """Return directions (N, d) along which regions often never end."""

    @cached_property
    def search(self) -> LineSearch:
        """Searches for members."""
        design = self.problem.objective.design
        return LineSearch(
            lines=self.lines,
            ranks=self.engine.ranks_of,
            m=self.engine.perturbations.m,
            start=self.start(),
            proposals=self.proposals,
            probes=self.probes,
            phi=None if design is None else design.matrix,
            seed=self.problem.seed,
            n=self.problem.n,
            spread=float(np.ptp(self.problem.objective.y)),
        )

    @cached_property
    def adviser(self) -> PiecewiseAdviser:
        """Remedies for bounds and regions without end."""
        return PiecewiseAdviser(self.problem, self.model, self.engine.perturbations.m)

    def intervals(self, origins: Array, directions: Array, qs: Sequence[int]) -> list[list[Array]]:
        """Return the intervals, single points included."""
        return self.lines.intervals(origins, directions, qs)

    def reach(self, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return the end of the interval of t >= 0 that contains the estimate."""
        return self.search.reach(self.problem.estimate, directions, qs)

    def sample(
        self, size: int, level: Level, ball: NormBall | None, random_state: Any, thinning: Any
    ) -> Array:
        """Return members by hit-and-run on crossings, with excursions to faces."""
        if not self.search.accepts(self.start()[None, :], level.q)[0]:
            if self.problem.objective.endogenous:
                raise estimate_outside(level)
            raise no_member(level)
        if ball is not None:
            self.require_inside(ball)

        def refuse() -> Exception:
            return self.adviser.unbounded_sample(level, ball)

        return self.search.sample(size, level.q, ball, random_state, thinning, refuse)

    def lines_of_print(self, language: Language) -> list[tuple[str, str]]:
        """Return how lines are followed, and in Python which calls say how far they extend."""
        said = []
        if not self.exact:
            said.append(("crossings", "approximate, by bisection between the points of a grid"))
        if language is Language.PYTHON:
            words = (
                "not examined here: crossings(direction) shows how far a line extends, and "
                "interval() whether finite bounds are certified"
            )
            said.append(("bounded", words))
        return said

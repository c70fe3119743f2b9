"""The shape of regression quantiles: a union of polyhedra (docs/theory.md 13).

Statistics depend on the signs of residuals alone. Outer bounds come from a search over boxes of
coefficients out to infinity. Directions in which the region does not end are set apart, so that
functionals that do not see them have finite bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import ClassVar, final

import numpy as np

from unassuming._numerics import SEEN, Factor, factor
from unassuming._typing import Array, BoolArray
from unassuming.geometry.branch_and_bound import LARGEST_RANK, NODES, branch_and_bound
from unassuming.geometry.signs.boxes import SignBoxes
from unassuming.geometry.signs.model import SignModel
from unassuming.membership import FixedTable
from unassuming.objectives import Design
from unassuming.ranking.levels import Level
from unassuming.regions.explain import (
    LOWER_LEVEL,
    NORM_BOUND,
    Cause,
    Explanation,
    Fact,
    Remedy,
    Status,
)
from unassuming.regions.results import Boundedness
from unassuming.regions.search.walk import Members, confined
from unassuming.regions.shapes.shape import LineShape, OuterBounds, Question, held, of_the_ball

_GAP = 5e-4
"""How close members come to a bound, relative to the width, before the search ends."""

_LOOK = NODES // 10
"""Boxes at infinity that are examined to find lines without end."""

_FOLLOWED = 64
"""Of these, how many are followed."""


@final
class QuantileShape(LineShape):
    """Regions of `QuantileRegressor`, for a model of features."""

    name: ClassVar[str] = "quantiles"
    why: ClassVar[str] = "the statistics depend on the signs of residuals alone"

    @property
    def _design(self) -> Design:
        design = self.engine.objective.design
        assert design is not None
        return design

    @cached_property
    def _factor(self) -> Factor:
        ones = np.ones(self.engine.objective.n)
        return factor(self._design.matrix, ones, intercept=self._design.intercept)

    @cached_property
    def _table(self) -> FixedTable | None:
        engine, score = self.engine, self.engine.score.along_lines
        fresh = engine.noise.apply(engine.drawn, np.zeros(engine.objective.n), None)
        Z = None if score is None else score.fixed(fresh)
        return None if Z is None or score is None else FixedTable(engine, score.A, Z)

    def accepts(self, a: Array, level: Level) -> BoolArray:
        """Which coefficients (N, d) are members, by one product where statistics are fixed."""
        if self._table is None:
            return super().accepts(a, level)
        return np.asarray(self._table.rank(a) <= level.largest_rank)

    def _boxes(self, apart: Array | None = None) -> SignBoxes | None:
        """Return boxes about the estimate; None if there are too many coefficients."""
        model = SignModel.of(self.engine)
        return None if model is None else SignBoxes.of(model, self.estimate, self._factor, apart)

    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Return bounds by branch and bound, or those of the ball alone."""
        return [self._bounds(question, level) for level in levels]

    def _bounds(self, question: Question, level: Level) -> OuterBounds:
        g, B = question.g, question.norm_bound
        ball = self._design.ball()
        t, rest = ball.functionals(g)
        limit, rays = of_the_ball(ball, t, rest, B), np.zeros((0, g.shape[1]))
        if B is None:
            rays = self.rays(level)
        boxes, hidden = self._boxes(_basis(rays)), self._factor.unseen(g)
        if boxes is None:
            why = partial(self._endless, level, B, rays, Cause.NO_BOXES(most=LARGEST_RANK))
            return self.outer(-limit, limit, level, B, why)
        endless = np.stack([_along(-g, rays), _along(g, rays)]) | hidden
        members: Members = partial(self._members, level.q)
        root = np.sqrt(ball.nu)[:, None] * ball.forward

        def keeps(centre: Array, half: Array) -> BoolArray:
            keep = np.ones(len(centre), dtype=np.bool_)
            if B is not None and not self._factor.null.size:
                keep = boxes.meets(root, B, centre, half)
            keep[keep] = boxes.keeps(centre[keep], half[keep], level.q)
            return keep

        if B is not None:
            members = confined(members, ball, B)
        axes = np.hstack([boxes.back, boxes.free]).T
        nearby = partial(self.near, members, axes, level, None if B is None else (root, B))
        found = branch_and_bound(boxes, keeps, g, nearby, gap=_GAP, endless=endless)
        lower, upper = np.maximum(found.lower, -limit), np.minimum(found.upper, limit)
        why = partial(self._endless, level, B, rays, Cause.NOT_SETTLED(nodes=NODES))
        return self.outer(lower, upper, level, B, why, found.witnesses)

    def _endless(
        self, level: Level, bound: float | None, rays: Array, otherwise: Fact
    ) -> tuple[Status, Explanation]:
        """Return what kind of answer infinite bounds are, and why."""
        if not len(rays):
            return Status.NO_OUTER_BOUND, Explanation((otherwise,), held(bound))
        fact = Cause.MOVES_FOR_EVER()
        return Status.UNBOUNDED, Explanation((fact,), (LOWER_LEVEL, *held(bound)))

    def bounded(self, level: Level) -> Boundedness:
        """Return whether the region is bounded, by boxes at infinity and lines without end."""
        rays, boxes = self.rays(level), self._boxes()
        remedies: tuple[Remedy, ...] | None = (LOWER_LEVEL, NORM_BOUND)
        verdict, fact, direction = "undetermined", Cause.NO_BOXES(most=LARGEST_RANK), None
        if len(rays):
            verdict, fact = "unbounded", Cause.MOVES_FOR_EVER()
            direction = rays[0]
        elif boxes is not None:
            fact = Cause.NOT_SETTLED(nodes=NODES)
            if not (self._factor.null.size or len(boxes.far(level.q, NODES)[0])):
                verdict, fact, remedies = "bounded", Cause.NO_END_LEFT(), None
        explanation = Explanation((fact,), remedies)
        return Boundedness(float(level), verdict, explanation.text(), direction, explanation)

    def rays(self, level: Level) -> Array:
        """Return directions (k, d) in which members go arbitrarily far, if some are found.

        Single coefficients come first: a functional of others does not see them.
        """
        own = np.eye(self.engine.objective.d)
        found = self._leaving(np.broadcast_to(self.estimate, own.shape), own, level)
        if len(found) or (boxes := self._boxes()) is None:
            return found
        centre, half = boxes.far(level.q, _LOOK)
        if not len(centre):
            return found
        some = np.unique(np.linspace(0, len(centre) - 1, _FOLLOWED, dtype=np.intp))
        return self._leaving(*boxes.outward(centre[some], half[some]), level)

    def _leaving(self, origins: Array, directions: Array, level: Level) -> Array:
        """Return the directions u, or -u, in which lines (N, d) do not leave the region."""
        spans = self._members(level.q, origins, directions)
        up = np.array([np.isposinf(one).any() for one in spans], dtype=np.bool_)
        down = np.array([np.isneginf(one).any() for one in spans], dtype=np.bool_)
        return np.concatenate([directions[up], -directions[down]])


def _along(g: Array, rays: Array) -> BoolArray:
    """Which functionals g (N, d) grow along some ray, by more than rounding."""
    size = np.abs(g) @ np.abs(rays).T
    return np.asarray((g @ rays.T > SEEN * size).any(axis=1))


def _basis(rays: Array) -> Array | None:
    """Return independent directions (d, f) that span the rays; None if there are none."""
    if not len(rays):
        return None
    kept: list[Array] = []
    for one in rays:
        if np.linalg.matrix_rank(np.array([*kept, one])) > len(kept):
            kept.append(one)
    return np.array(kept).T

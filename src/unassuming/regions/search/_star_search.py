"""Members of a quadratic region, which is star convex around the estimate."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.geometry.quadratic import (
    FormMaker,
    Forms,
    LineQuadratics,
    covered,
    intervals,
    table_lines,
    whitened,
    whitened_matrix,
)
from unassuming.membership import RankEngine
from unassuming.objectives import BallCoordinates, NormBall, Quadratic
from unassuming.ranking import Level
from unassuming.regions.search._hit_and_run import hit_and_run
from unassuming.regions.search._ray_search import RaySearch

_LARGEST_SEARCH = 2**26
_LARGEST_TABLE = 2**20
_SHARES = (1 - 1e-6, 1 - 1e-4, 0.999, 0.99, 0.97, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1, 0.0)


@final
class StarSearch:
    """Samples, and members near the bounds of functionals.

    Parameters
    ----------
    objective : Quadratic
    maker : FormMaker
        Its residual is that of the estimate.
    lines : callable
        The sets along lines estimate + start + t direction, with care.
    engine : RankEngine
    seed : int
    """

    def __init__(
        self,
        objective: Quadratic,
        maker: FormMaker,
        lines: Callable[[Array, Array], LineQuadratics],
        engine: RankEngine,
        estimate: Array,
        seed: int,
    ) -> None:
        self.objective, self.maker, self.lines = objective, maker, lines
        self.engine, self.estimate, self.seed = engine, estimate, seed
        self._sets = maker.perturbations.m - 1

    def accepts(self, a: Array, level: Level) -> BoolArray:
        """Return which coefficients (N, d) are members."""
        return np.asarray(self.engine.ranks_of(a) <= level.largest_rank)

    def sample(
        self,
        size: int,
        level: Level,
        ball: NormBall | None,
        random_state: Any,
        thinning: int | None,
    ) -> Array:
        """Return members by hit-and-run from the estimate, (size, d)."""

        def members(origins: Array, directions: Array) -> list[Array]:
            low, high = intervals(self._lines_to_walk(origins - self.estimate, directions))
            spans = [covered(low[j], high[j], level.q) for j in range(len(origins))]
            if ball is not None:
                return ball.confine(spans, origins, directions)
            if any(np.isinf(span).any() for span in spans):
                raise NotAvailable(
                    "sampling needs a region that is bounded beyond rounding, and on some lines "
                    "this one has no end. Sample within a ball: sample(size, norm_bound=B)."
                )
            return spans

        axes = self.objective.back * self.maker.unit
        return hit_and_run(
            self.estimate,
            lambda rng, chains: rng.standard_normal((len(chains), axes.shape[1])) @ axes.T,
            members,
            lambda a: self.accepts(a, level),
            size,
            random_state,
            2 * axes.shape[1] if thinning is None else thinning,
        )

    def _lines_to_walk(self, start: Array, directions: Array) -> LineQuadratics:
        """Restrict the sets to lines, from a table of them if that is not too large."""
        if self._table is None:
            return self.lines(start, directions)
        forward = self.objective.forward.T * (np.sqrt(self.objective.n) / self.maker.unit)
        return table_lines(self._table, start @ forward, directions @ forward)

    @cached_property
    def _table(self) -> Forms | None:
        """All sets in whitened coordinates, if that is not much."""
        F = whitened_matrix(self.objective)
        if self._sets * F.shape[1] ** 2 > _LARGEST_TABLE:
            return None
        return self.maker.all_forms(F)

    def witnesses(self, g: Array, ball: BallCoordinates | None, level: Level) -> Array:
        """Return members near the lower and the upper bounds, (2, N, d)."""
        if ball is None:
            where = whitened(self.objective, g)
            F, functionals = where.F, where.functionals
            back = self.objective.back / np.sqrt(self.objective.n)
        else:
            F, functionals, back = ball.F, ball.functionals, ball.back
        size = self._sets * F.shape[1] ** 2
        if size > _LARGEST_SEARCH:
            raise NotAvailable(
                f"the inner search holds (m - 1) k² numbers, here {size:.2g}: ask for the outer "
                "bounds only (inner=False), or use sample()."
            )
        search = RaySearch(self.maker.all_forms(F), ball)
        rng = np.random.default_rng(self.seed)
        x = [[search.search(s * f, level.q, rng) for f in functionals] for s in (-1.0, 1.0)]
        a = np.asarray(self.estimate + self.maker.unit * np.array(x) @ back.T)
        return self._drawn_back(a.reshape(-1, a.shape[-1]), level).reshape(a.shape)

    def _drawn_back(self, a: Array, level: Level) -> Array:
        """Move points towards the estimate until they are members, (N, d).

        The region is star convex around the estimate, a member of every region that has one. Where
        K is nearly singular the coefficients of a boundary point are huge, and rounding their
        fitted values can take it across the boundary.
        """
        points, waiting = a.copy(), np.arange(len(a))
        for share in _SHARES:
            waiting = waiting[~self.accepts(points[waiting], level)]
            if not len(waiting):
                break
            points[waiting] = self.estimate + share * (a[waiting] - self.estimate)
        return points

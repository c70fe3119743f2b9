"""The m - 1 sets of a quadratic region, made from a problem: lines, bounds and radii of each.

Everything is computed in a unit near the size of the residuals, so that squares neither overflow
nor underflow.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._products import image
from unassuming._rounding import EPS, TINY, gamma, length, powers_of_two
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry.quadratic import (
    AccurateResidual,
    CarefulSets,
    ExactSets,
    FormMaker,
    FreeDirections,
    LineQuadratics,
    OriginErrors,
    RowsAndBall,
    SetsAndBall,
    accurate_residual,
    along_lines,
    commute,
    coordinates,
    dense_forms,
    equal_residuals,
    free_directions,
    free_in_sums,
    intervals,
    least_norms,
    outer_radii,
    residual_and_error,
    supports,
    undecided_ends,
    unit_of_residuals,
    whitened,
)
from unassuming.membership import RankEngine
from unassuming.objectives import BallCoordinates, FeatureWhitening, NormBall, Quadratic, times_unit
from unassuming.regions._question import Question
from unassuming.regions._sizes import require_radii, squared
from unassuming.regions.shapes._lost_lines import LostLines, quick_gaps

_ROUNDING = 8 * EPS
_ABOVE = 1.001


@final
class QuadraticSets:
    """The sets {Z_0 <= Z_i} around an estimate."""

    def __init__(self, objective: Quadratic, estimate: Array, engine: RankEngine) -> None:
        self.objective, self.estimate, self.engine = objective, estimate, engine
        # A kernel with few features has them as coordinates: they carry fewer rounding errors.
        self.primal, self.centre = objective, estimate
        if objective.primal is not None:
            self.primal, self.centre = objective.primal, objective.primal_estimate
        self.perturbations = engine.perturbations
        self.root = np.sqrt(objective.w)
        self._lost_lines = LostLines.of(objective, engine)

    @cached_property
    def unit(self) -> float:
        """The unit in which the sets are computed."""
        return unit_of_residuals(self.primal, self.centre)

    @cached_property
    def maker(self) -> FormMaker:
        """What makes the quadratic forms of the sets in any coordinates."""
        self._require_commuting()
        o, known = self.primal, self.perturbations.rounded
        residual, error = residual_and_error(o, self.centre, self.unit, self._accurate)
        tie_order, white = self.engine.tie_order, o.whitening
        lost = 0.0 if known is None else known.of_residuals(self.centre)
        return FormMaker(
            q=white.q,
            residual=residual,
            residual_error=error,
            perturbations=self.perturbations,
            tie_wins=tie_order[1:] > tie_order[0],
            unit=self.unit,
            accurate=self._accurate,
            sizes=white.sizes,
            defect=white.defect,
            lost=float(self.root.max()) * lost / self.unit,
            exact_tie=self._exact_tie,
            equal=equal_residuals(o),
        )

    @cached_property
    def exact(self) -> list[ExactSets]:
        """The sets modulo some primes, where the data are known to the last digit.

        None if columns that were computed depend on each other up to rounding only.
        """
        found, design = ExactSets.of(self.objective, self.perturbations), self.objective.design
        if design.computed and not design.dual:
            rank = design.matrix.shape[1] - design.unseen
            found = found if all(one.rank == rank for one in found) else []
        return found

    def _exact_tie(self, i: int) -> bool | None:
        """Whether Z_i = Z_0 at the estimate, if exact arithmetic decides it."""
        found = {one.ties(i) for one in self.exact}
        return found.pop() if len(found) == 1 else None

    @cached_property
    def _accurate(self) -> AccurateResidual | None:
        """The residual of the estimate with twice the digits, for features."""
        return accurate_residual(self.primal, self.centre, self.unit, self._vanishes)

    def _vanishes(self, i: int) -> bool:
        """Whether Z_i - Z_0 is constant."""
        return self.careful is not None and self.careful.one(i).everything

    @cached_property
    def careful(self) -> CarefulSets | None:
        """The sets of features one by one, for those whose forms have lost their digits."""
        if self._accurate is None:
            return None
        centre, r = self.centre / self.unit, self._accurate.values
        return CarefulSets.of(self.primal, r, centre, self.perturbations)

    def _require_commuting(self) -> None:
        """Refuse transformations that are not orthogonal or do not commute with the weights."""
        noise = self.perturbations.noise
        if not noise.orthogonal:
            raise NotAvailable(
                f"{noise!r} does not act by orthogonal maps, so the sets that make up the region "
                "need not be ellipsoids: only membership and tests are available."
            )
        if not commute(self.perturbations, self.root):
            raise NotAvailable(
                f"{noise!r} mixes rows of different weight, so the sets that make up the region "
                "need not be convex: only membership and tests are available. Use equal weights "
                "or noise='symmetric'."
            )

    # Lines, docs/theory.md 4.1

    def rays(self, directions: Array) -> tuple[Array, Array, BoolArray]:
        """Return the ends of each set on lines through the estimate, (N, m - 1) twice, and doubts.

        Sets that hold the estimate by its rank reach that far: it is a rounded number.
        """
        origins = np.broadcast_to(self.estimate, directions.shape)
        low, high, doubt = self.intervals(origins, directions)
        inside = self.hold_estimate
        low = np.where(inside, np.minimum(low, 0.0), low)
        return low, np.where(inside, np.maximum(high, 0.0), high), doubt

    def intervals(self, origins: Array, directions: Array) -> tuple[Array, Array, BoolArray]:
        """Return the ends of each set on each line, (N, m - 1) twice, confirmed or corrected.

        The third result says where neither the rows nor sums over them determine the ends.
        """
        directions, share = self._in_units(directions)
        lines = self.lines(origins - self.estimate, directions, self._origin_errors)
        doubt = np.zeros(lines.A.shape, dtype=np.bool_)
        if (rounded := self.perturbations.rounded) is not None:
            free = rounded.along(directions)
            lines = replace(lines, A=np.where(free, 0.0, lines.A))
            (step, error), (away, _) = map(self._fitted, (directions, origins - self.estimate))
            step, away = np.linalg.norm(step, axis=1), np.linalg.norm(away, axis=1)
            whole = np.linalg.norm(self.maker.residual) + away
            seen = (step > error) | (self.objective.design.unseen == 0)
            off = rounded.of_fitted(directions) * (float(self.root.max()) / self.unit)
            parts = (rounded.error, step, off, whole, self.maker.lost)
            doubt = undecided_ends(lines, *parts) | lines.free
            doubt &= ~free & seen[:, None]
        low, high = intervals(lines, self._inside(lines, origins))
        low, high = self.engine.ends(origins, directions, low, high, quick_gaps(lines))
        if self._lost_lines is not None:
            low, high = low.copy(), high.copy()
            doubt = self._lost_lines.correct(self.maker, lines, origins, directions, low, high)
        return low * share, high * share, doubt

    def endless(self, directions: Array) -> BoolArray:
        """Return which sets never end on rays from the estimate, (N, m - 1).

        Up to rounding: directions that move a single value of a kernel are rounded numbers.
        """
        lines, rounded = self.lines(None, self._in_units(directions)[0]), self.perturbations.rounded
        if rounded is not None:
            return rounded.along(directions) & ~lines.empty & self.hold_estimate
        inside = self._inside(lines, self.estimate[None, :])
        return lines.free & ~lines.empty & (True if inside is None else inside)

    @cached_property
    def hold_estimate(self) -> BoolArray:
        """Which sets hold the estimate, by its rank, (m - 1,)."""
        return np.asarray(~self.engine.before(self.estimate[None, :])[0])

    @cached_property
    def _origin_errors(self) -> OriginErrors | None:
        """What is not known at the estimate; None where lines are not confirmed."""
        if self._lost_lines is not None:
            return self._lost_lines.origin_errors(self.maker)
        doubt, a = self.engine.doubt, self.estimate
        if doubt is None or self.primal is not self.objective:
            return None
        error = self.maker.residual_error + (self.root / self.unit) * doubt.residuals(a)
        gradient = doubt.gradient(a) * np.sqrt(self.objective.n) / self.unit
        if self._accurate is not None:
            gradient = float(length(self._accurate.gradient_error))
        return OriginErrors(2 * float(length(error)), gradient, doubt.defect)

    def _inside(self, lines: LineQuadratics, origins: Array) -> BoolArray | None:
        """Return in which sets the origins lie by their ranks, if some lines are free."""
        if not lines.free.any():
            return None
        same = bool((origins == self.estimate).all())
        return self.hold_estimate if same else ~self.engine.before(origins)

    def _in_units(self, directions: Array) -> tuple[Array, Array]:
        """Return directions that move fitted values by about a unit, and their share (N, 1)."""
        moved = (self.root / self.unit) * (directions @ self.objective.design.matrix.T)
        size = np.abs(moved).max(axis=1, initial=0.0, keepdims=True)
        share = 1.0 / powers_of_two(size)
        return directions * share, share

    def lines(
        self, start: Array | None, directions: Array, origin: OriginErrors | None = None
    ) -> LineQuadratics:
        """Restrict the sets to lines estimate + start + t direction, each (N, d)."""
        step, error = self._fitted(directions)
        if start is None or not start.any():
            return along_lines(self.maker, np.zeros_like(step), step, error, origin=origin)
        base, away = self._fitted(start)
        return along_lines(self.maker, base, step, error, away, origin)

    def _fitted(self, changes: Array) -> tuple[Array, Array]:
        """Return the changes (N, d) in fitted values, (N, n), and bounds of their rounding (N,).

        Rounding is relative to the terms of each sum, however badly the columns are scaled.
        """
        Phi, root = self.objective.design.matrix, self.root / self.unit
        terms = np.linalg.norm(root * (np.abs(changes) @ np.abs(Phi.T)), axis=1)
        unit = EPS * sum(Phi.shape) + self.objective.design.rounding
        error = unit * terms
        if self.engine.doubt is not None:
            error += np.linalg.norm(root * self.engine.doubt.residuals(changes), axis=-1)
        return root * (changes @ Phi.T), error

    # Bounds, docs/theory.md 4.2 to 4.4

    @cached_property
    def radii(self) -> Array:
        """γ_i = max ‖H^{1/2}(a - â)‖² over each set, shape (m - 1,)."""
        o, none = self.primal, np.zeros((0, self.primal.d))
        design, where = o.design, whitened(o, none)
        if design.full_rank and where.F.shape[1] < len(design.distinct[0]):
            # Directions lost in rounding could be as long as one likes.
            return np.full(self.perturbations.m - 1, np.inf)
        if not design.full_rank:
            where = coordinates(o, none, self.perturbations.noise)
        found = outer_radii(self.maker, where, self.careful) / o.n
        return squared(require_radii(found, o.design), self.unit)

    def supports(
        self, o: Quadratic, estimate: Array, g: Array, at: IntArray | None = None
    ) -> tuple[Array, Array, BoolArray, bool]:
        """Return the largest gᵀa and -gᵀa over each set, for g (N, d), rounded outward.

        ``o`` is the objective, or its form on features, and ``estimate`` its minimum. ``at`` is the
        row of the data at which a functional is the fitted value, or -1. The third result says of
        which sets it is known whether they are bounded, the fourth whether some functionals are
        hidden.
        """
        where = coordinates(o, g, self.perturbations.noise, at)
        if computed := o.design.errors is not None:
            # Functionals of features are rounded as the features of the data are.
            own = o.design.rounding * np.abs(g)
            off = np.linalg.norm(own @ np.abs(o.whitening.back), axis=1) / np.sqrt(o.n)
            where = replace(where, off=off * (1 + 8 * sum(g.shape) * EPS))
        size = powers_of_two(np.abs(where.functionals).max(axis=1, initial=0.0, keepdims=True))
        off = None if where.off is None else where.off / size[:, 0]
        scaled = replace(where, functionals=where.functionals / size, off=off)
        careful = self.careful if o is self.primal else None
        forms = None
        middle, rounding = _at(g, estimate, exact=not o.design.dual)
        if computed:
            rounding = rounding + own @ np.abs(estimate)
        if o.design.full_rank and o.complement.dense is not None:
            # From fitted values: those of the estimate, rounded, are a point like any other.
            start = where.F.T @ (self.root * (o.design.matrix @ estimate))
            forms = dense_forms(
                self.perturbations,
                o.complement,
                self.root * o.y / self.unit,
                where.F @ (start / self.unit),
                where.F,
                self.maker.certainly_empty,
            )
            middle = where.functionals @ start
            rounding = _ROUNDING * (np.abs(where.functionals) @ np.abs(start))
            if where.off is not None and (known := where.off > 0).any():
                # What is infinite stays so beside an estimate of zero.
                rounding[known] += where.off[known] * max(float(np.linalg.norm(start)), TINY)
        # The features of a kernel have errors as well, but no sets of their own.
        errors = self.primal is self.objective and self.objective.design.rounding > 0
        rounded = o if errors else None
        up, down, decided = supports(self.maker, scaled, g / size, careful, forms, rounded)
        if o is self.primal and self.lost:
            decided = np.zeros_like(decided)
            up, down = (np.where(np.isneginf(x), -np.inf, np.inf) for x in (up, down))
        size = size * self.unit
        ends = []
        for bound, shift in ((up, rounding + middle), (down, rounding - middle)):
            with np.errstate(invalid="ignore"):  # what is empty stays so
                ends.append(np.where(np.isneginf(bound), bound, bound * size + shift[:, None]))
        return ends[0], ends[1], decided, bool(where.hidden.any())

    @cached_property
    def lost(self) -> bool:
        """Whether the features of a kernel are independent where rounding makes them dependent.

        Then they change fitted values in directions that no set in double precision has.
        """
        white = self.primal.whitening
        if self.primal is self.objective or not isinstance(white, FeatureWhitening):
            return False
        if not white.null.shape[1]:
            return False
        return any(one.rank > self.primal.seen.shape[1] for one in self.exact)

    def supports_in_ball(
        self, o: Quadratic, estimate: Array, asked: Question, ball: BallCoordinates
    ) -> tuple[Array, Array]:
        """Return these maxima over the sets and a ball.

        In a large ball rounding costs more than the ball brings: then the sets alone decide.
        """
        ball, unit = ball.in_units(asked.at)
        both = self._in_ball(o, ball, asked.at)
        up, down = both.supports(self.maker.certainly_empty)
        loose = not o.design.full_rank or both.loose(up, down)
        up, down = times_unit(up, unit), times_unit(down, unit)
        alone = np.full(len(up), not asked.function)
        if asked.at is not None:
            alone |= asked.at >= 0
        if alone.any() and loose:
            at = None if asked.at is None else asked.at[alone]
            more = self.supports(o, estimate, asked.g[alone], at)
            for bound, other in zip((up, down), more[:2], strict=True):
                bound[alone] = np.minimum(bound[alone], other)
        return up, down

    def _in_ball(
        self, o: Quadratic, ball: BallCoordinates, at: IntArray | None
    ) -> SetsAndBall | RowsAndBall:
        """Return the sets and the ball in the smaller number of coordinates."""
        parts = (self.perturbations, o.complement, np.sqrt(o.w) * o.y, ball)
        if RowsAndBall.pays(self.perturbations, o.complement, ball):
            return RowsAndBall(*parts, self.root, at)
        return SetsAndBall(*parts)

    @cached_property
    def least_norms(self) -> Array:
        """Lower bounds of the norm over each set, (m - 1,); infinite where it is empty.

        The estimate lies in every set that is not, so nothing above its norm need be considered.
        """
        o, estimate, empty = self.primal, self.centre, self.maker.without_points
        norm = NormBall(o.design.penalty_matrix(), np.inf).norm(estimate)
        if norm == 0:
            return np.where(empty, np.inf, 0.0)
        ball = o.design.ball_coordinates(self.root, estimate, np.zeros((0, o.d)), _ABOVE * norm)
        both = self._in_ball(o, ball, None)
        if isinstance(both, SetsAndBall):
            return least_norms(both, empty)
        return both.least_norms(empty)

    @cached_property
    def free(self) -> FreeDirections:
        """The free directions of the sets."""
        careful = self.careful if self.primal is self.objective else None
        if self.perturbations.rounded is not None:
            return free_in_sums(self.objective, self.maker, self.perturbations.rounded)
        return free_directions(self.objective, self.maker, careful, lambda: self.exact)


def _at(g: Array, estimate: Array, *, exact: bool) -> tuple[Array, Array]:
    """Return the functionals (N, d) at the estimate, and bounds of their rounding errors.

    Coefficients of columns that nearly depend on each other are long, and their terms cancel.
    """
    if not exact:
        rounding = gamma(g.shape[1] + 2) + _ROUNDING
        return g @ estimate, rounding * (np.abs(g) @ np.abs(estimate))
    value, error = image(g, estimate[:, None])
    return value[:, 0], error[:, 0] + _ROUNDING * np.abs(value[:, 0])

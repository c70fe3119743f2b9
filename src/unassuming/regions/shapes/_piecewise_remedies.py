"""What to do about infinite bounds of a piecewise region: only what works for it.

Whether a norm bound, another weighting or other noise would give finite bounds is found by trying
it on the inputs and the transformations. y plays no part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.cells.codes import fewest_cells
from unassuming.cells.functions.predict import numbers_of_cells
from unassuming.geometry import order_statistic
from unassuming.geometry.piecewise import (
    LARGEST_TRIAL,
    LineModel,
    ball_alone,
    highest_level,
    outer_bounds,
)
from unassuming.inputs import split_pipeline
from unassuming.noise import Noise, Perturbations, Symmetric, sign_units_of
from unassuming.objectives import BallCoordinates, NormBall, Objective
from unassuming.ranking import Level
from unassuming.regions._explain import Explanation, Remedy
from unassuming.regions._problem import Problem
from unassuming.regions._question import Call, Question
from unassuming.regions._remedies import (
    ATTAINED,
    CELLS,
    CROSSINGS,
    FEWER_THAN_ROWS,
    LEAST_SQUARES,
    MODEL_OF_FEATURES,
    NO_INTERCEPT,
    ONE_AT_A_TIME,
    STRONGER,
    SYMMETRIC,
    level,
    norm_bound,
)


@final
@dataclass(frozen=True, eq=False)
class PiecewiseAdviser:
    """What has to be known of a piecewise region to find the remedies that work.

    Attributes
    ----------
    problem : Problem
    model : LineModel or None
        The statistics along lines.
    m : int
    """

    problem: Problem
    model: LineModel | None
    m: int

    @property
    def objective(self) -> Objective:
        """The objective of the problem."""
        return self.problem.objective

    def coordinates(
        self, g: Array, bound: float, similarity: Array | None = None
    ) -> BallCoordinates:
        """Return functionals (N, d) in the coordinates of a ball; may refuse.

        With k(z, z) at inputs they are values of the function, as a band has with a norm bound.
        """
        design = self.problem.design("a norm bound")
        design.require_positive_semidefinite("a norm bound")
        ones, function = np.ones(self.objective.n), similarity is not None
        estimate = self.problem.estimate
        return design.ball_coordinates(ones, estimate, g, bound, similarity, function=function)

    @cached_property
    def last(self) -> Any:
        """The estimator, or the last step of a pipeline."""
        return split_pipeline(self.problem.estimator)[1]

    def unbounded_sample(self, level: Level, ball: NormBall | None) -> NotAvailable:
        """Return the refusal to sample a region that has no end on some line."""
        asked = Question(Call.SAMPLE, np.eye(self.objective.d), ball)
        remedies = tuple(self.remedies(asked, level.q, None, inner=True))
        held = "" if ball is None else " The norm bound does not bound an intercept."
        return NotAvailable(
            f"sampling needs a bounded region, and that of level {float(level):.12g} has no end on "
            f"some lines.{held} {Explanation(remedies=remedies).text()}"
        )

    def remedies(
        self, asked: Question, q: int, bounds: tuple[Array, Array] | None, *, inner: bool
    ) -> Iterator[Remedy]:
        """Yield what works, cheap to check first.

        ``bounds`` (N, m - 1) are those over each set, from above and of -g, where they have been
        computed. ``inner`` says that attained values were asked for, or are known to be infinite.
        """
        o, design, g = self.objective, self.objective.design, asked.g
        dual = design is not None and design.dual
        intercept = design is not None and design.intercept
        slopes = g.copy()
        slopes[:, :1] = 0.0
        some = intercept and bool(slopes.any()) and asked.call is Call.INTERVAL
        if asked.ball is None:
            calls = self._calls_with_norm_bound(asked, q)
            if any(calls):
                yield norm_bound(calls[0], single=calls[1])
            elif some and self._norm_bound_works(asked.call, q, slopes):
                yield norm_bound(_slopes("B"), ", which bounds all but the intercept")
        elif some and np.isfinite(ball_alone(self.coordinates(slopes, asked.ball.bound))).all():
            paste = _slopes(f"{asked.ball.bound:.6g}")
            yield Remedy(f"the coefficients that the norm bounds: {paste}", None)
        if o.endogenous:  # their columns depend on the noise, so a level must not depend on them
            yield STRONGER
            yield ATTAINED if not inner else CROSSINGS
            return
        each = outer_bounds(self.model, o, g, None, self.m - 1) if bounds is None else bounds
        if (best := highest_level(*each)) > 0:
            yield level(best, self.m)
        trials, features = self._trials(g, q), design is not None and not dual
        if trials is not None and asked.ball is None:
            if trials.weighted():
                yield Remedy("weighting='hessian'", None)
            if self.problem.weighting_name == "identity" and trials.standardised():
                yield Remedy(
                    "features of one scale, since weighting='identity' depends on it: "
                    f"make_pipeline(StandardScaler(), {' '.join(repr(self.last).split())})",
                    None,
                )
        if intercept and features and self.shift_unseen:
            if trials is not None and trials.with_noise(Symmetric()):
                yield SYMMETRIC
            if asked.call is not Call.SAMPLE and 4 * o.d <= o.n:
                yield LEAST_SQUARES
        if asked.ball is not None and intercept:
            if dual and asked.call is not Call.INTERVAL:
                yield NO_INTERCEPT
            if features and hasattr(self.last, "fit_intercept"):
                yield Remedy("fit_intercept=False, if the function has no constant part", None)
        if asked.ball is None and features and o.d > o.n:
            yield FEWER_THAN_ROWS
        if dual:
            yield MODEL_OF_FEATURES
        if features and not self.relaxed and _cells_serve(self.problem, asked):
            yield CELLS
        elif self.model is None and features and _cells_serve(self.problem, asked, rows_each=16):
            yield ONE_AT_A_TIME
        yield CROSSINGS if inner else ATTAINED

    @property
    def relaxed(self) -> bool:
        """Whether the data tighten the outer bounds of this model: without kinks in residuals."""
        return self.model is not None and not len(self.model.kinks.thresholds)

    @cached_property
    def shift_unseen(self) -> bool:
        """Whether every transformation leaves a constant shift as it is."""
        if self.model is None:
            return False
        ones = np.ones(self.objective.n)
        return bool((self.model.perturbations.apply(ones) == 1).all())

    def _trials(self, g: Array, q: int) -> _Trials | None:
        design = self.objective.design
        if self.model is None or design is None or design.dual:
            return None
        return _Trials(self.model, self.objective, g, q)

    def _norm_bound_works(
        self, call: Call, q: int, g: Array, similarity: Array | None = None
    ) -> bool:
        design = self.objective.design
        if design is None:
            return False
        # A norm bound to try: twice the norm of the estimate.
        size = 2 * NormBall(design.penalty_matrix(), np.inf).norm(self.problem.estimate) or 1.0
        try:
            ball = self.coordinates(g, size, similarity)
        except (NotAvailable, ValueError):  # no norm is known, or the kernel is indefinite
            return False
        if call is Call.SAMPLE:  # a walk takes no step that neither norm nor intercept bounds
            if not design.intercept:
                return True
            g = g[:1]
            ball = self.coordinates(g, size)
        found = outer_bounds(self.model, self.objective, g, ball, self.m - 1)
        return all(bool(np.isfinite(order_statistic(part, q)).all()) for part in found)

    def _calls_with_norm_bound(self, asked: Question, q: int) -> tuple[str | None, str | None]:
        """Return what bounds all functionals at once, and one at a time, with a norm bound."""
        cells, paste = self.cells(asked, q), asked.call.value
        single = paste.format("norm_bound=B, simultaneous=False")
        joint = self._norm_bound_works(asked.call, q, asked.g, asked.similarity)
        at_once = None
        if CELLS in cells and not (joint and self.relaxed):
            at_once = paste.format("norm_bound=B, method='cells'")
        elif joint:
            at_once = self._paste(asked.call)
        return at_once, single if ONE_AT_A_TIME in cells else None

    def _paste(self, call: Call) -> str:
        design = self.objective.design
        if call is Call.BAND and design is not None and design.precomputed:
            return "band(X, norm_bound=B, target='representation')"
        return call.value.format("norm_bound=B")

    def cells(self, asked: Question, q: int) -> tuple[Remedy, ...]:
        """Return the methods that bound values of a kernel's function, given a norm bound."""
        problem, design = self.problem, self.objective.design
        units = sign_units_of(problem.left_to_rotate[1], problem.n)
        if design is None or not design.dual or asked.similarity is None or units is None:
            return ()
        representation = asked.ball is not None and not asked.function
        if representation or asked.inner or problem.classes is not None:
            return ()
        try:
            design.require_positive_semidefinite("a norm bound")
        except ValueError:  # an indefinite kernel has no norm
            return ()
        count, wanted = int(units.max()) + 1, 1 - q / self.m
        together = (CELLS,) if numbers_of_cells(wanted, count, simultaneous=True) else ()
        return (*together, ONE_AT_A_TIME) if count >= fewest_cells(wanted) else together


def _cells_serve(problem: Problem, asked: Question, rows_each: int = 32) -> bool:
    """Whether there are certainly enough rows at the usual levels: by default, for balanced cells.

    Cells for single numbers need half as many.
    """
    enough = rows_each * problem.objective.d <= problem.n
    usual = isinstance(problem.row_noise, Symmetric) and asked.call in (Call.BAND, Call.INTERVAL)
    return enough and usual and asked.ball is None and not asked.inner


def _slopes(bound: str) -> str:
    return f"interval(region.names[1:], norm_bound={bound})"


@final
@dataclass(frozen=True, eq=False)
class _Trials:
    """Whether functionals g (N, d) of a model of features would be bounded if it were another."""

    model: LineModel
    objective: Objective
    g: Array
    q: int

    def weighted(self) -> bool:
        """With weighting='hessian'."""
        return self._finite(self._scored(self.objective, "hessian"), self.g)

    def standardised(self) -> bool:
        """With columns of mean zero and variance one, as StandardScaler makes them."""
        other = self.objective.standardised()
        if other is None:
            return False
        # Every coefficient: then every functional of the functions is bounded too.
        return self._finite(self._scored(other, "identity"), np.eye(self.objective.d))

    def with_noise(self, noise: Noise) -> bool:
        """With transformations of another kind."""
        rng = np.random.default_rng(0)
        m = self.model.perturbations.m
        drawn = Perturbations.sample(noise, len(self.model.y), m, rng)
        return self._finite(replace(self.model, perturbations=drawn), self.g)

    def _scored(self, objective: Objective, weighting: str) -> LineModel | None:
        try:
            score: Any = objective.score(weighting)
        except ValueError:  # no such weighting
            return None
        assert objective.design is not None
        return replace(self.model, phi=objective.design.matrix, score=score.along_lines)

    def _finite(self, model: LineModel | None, g: Array) -> bool:
        sets = self.model.perturbations.m - 1
        if model is None or sets * g.shape[1] * model.phi.size > LARGEST_TRIAL:
            return False
        bounds = outer_bounds(model, self.objective, g, None, sets)
        return all(np.isfinite(order_statistic(part, self.q)).all() for part in bounds)

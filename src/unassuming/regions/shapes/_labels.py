"""The shape of label regions: regression functions E[y|x] of labels ±1 (docs/theory.md 8).

Where f is linear in the coefficients (RidgeClassifier, LSSVC), lines cross the region exactly, and
outer bounds are certified: by branch and bound over boxes of coefficients if there are at most 4 of
them, else from -1 <= f <= 1 at the inputs alone. Logistic regression has approximate crossings, and
no outer bound but that of E[y|x] itself, [-1, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar, final

import numpy as np
from scipy.linalg import orth, svd

from unassuming._errors import NotAvailable
from unassuming._products import accurate_product
from unassuming._rounding import column_units
from unassuming._typing import Array
from unassuming.geometry import GridLines, Lines
from unassuming.geometry.labels import (
    LARGEST_RANK,
    OUTWARD,
    Admissible,
    Boxes,
    Known,
    LabelLines,
    LabelModel,
    Moments,
    Support,
)
from unassuming.membership import ExactGaps
from unassuming.objectives import (
    BallCoordinates,
    LeastNormScore,
    NormBall,
    Quadratic,
    RowSpace,
    entry_errors,
    projector_error,
    row_errors,
    row_space,
)
from unassuming.ranking import Level
from unassuming.regions._explain import OF_A_SEARCH, Cause, Explanation, Fact, Status, status_of
from unassuming.regions._question import Call, Question
from unassuming.regions._remedies import (
    ATTAINED,
    FEW_LABEL_COEFFICIENTS,
    LABEL_NORM_BOUND,
    LEAST_SQUARES_LABELS,
    OF_EMPTY_LABEL_REGION,
    OF_HIDDEN_LABEL_FUNCTIONALS,
)
from unassuming.regions._results import Boundedness
from unassuming.regions.search._line_search import Attained
from unassuming.regions.search._proposals import Proposals
from unassuming.regions.shapes._boxes import how_found, nested, of_the_ball, without_boxes
from unassuming.regions.shapes._line_shape import LineShape
from unassuming.regions.shapes._shape import OuterBounds
from unassuming.regions.shapes._unresolved import unresolved

_SMALLEST = 1e-3
"""Singular values of Φ are raised to this share of the largest, in walks."""
_CERTAIN = 1e-9
"""A label is certain if E[y|x] is as close as this to ±1."""
_STEPS = 200
"""Points between certain labels and fair coins at which a search may begin."""
_FAR = np.array([1e3, 1e6, 1e9, -1e3, -1e6, -1e9])
_UNMOVED = 1e-4
"""So far along a direction without end of a computed kernel fitted values move by less."""


@final
@dataclass(frozen=True, eq=False)
class Linear:
    """What is known where f is linear in the coefficients, and the gradient in both."""

    model: LabelModel
    admissible: Admissible
    rows: RowSpace
    boxes: Boxes | None

    def known(self, question: Question) -> Known:
        """Return what is known of functionals in exact arithmetic."""
        g, design = question.g, self.rows.design
        if not design.dual:
            return self.admissible.known(g)
        there = np.zeros(len(g), dtype=np.bool_) if question.at is None else question.at >= 0
        if question.inputs is None:
            return Known(there, self.rows.holds(g))
        errors = row_errors(design, question.inputs)
        return Known(there, self.rows.holds_values(question.inputs), errors)


@final
class LabelShape(LineShape):
    """A region of regression functions of labels."""

    name: ClassVar[str] = "labels"

    @cached_property
    def linear(self) -> Linear | None:
        """The model where f is linear; None for logistic regression."""
        o, score = self.problem.objective, self.engine.score
        if not isinstance(o, Quadratic) or not isinstance(score, LeastNormScore):
            return None
        order = self.engine.tie_order
        drawn = self.engine.perturbations.drawn
        white = None
        if self.engine.whitened:
            white = projector_error(o.design, o.w, o.lam, o.whitening)
        phi, wins, moments = o.design.matrix, order[0] < order[1:], None
        if self.engine.whitened and not o.design.dual and ExactGaps.affordable(o):
            moments = Moments(phi, o.y, o.w, o.lam * o.n * o.design.penalty_matrix())
        model = LabelModel.of(phi, o.y, drawn, score, wins, white, moments)
        rows = row_space(o.design)
        if o.design.dual:
            admissible = Admissible.of_kernel(phi, rows.rank, entry_errors(o.design))
        else:
            admissible = Admissible.of_features(phi)
        penalty = o.lam * o.design.penalty_matrix()
        boxes = Boxes.of(model, admissible, partial(rows.vanish, w=o.w), penalty)
        return Linear(model, admissible, rows, boxes)

    @property
    def exact(self) -> bool:
        """Whether f is linear in the coefficients."""
        o, score = self.problem.objective, self.engine.score
        return isinstance(o, Quadratic) and isinstance(score, LeastNormScore)

    @cached_property
    def lines(self) -> Lines:
        """The region along lines."""
        if self.linear is None:
            return GridLines(self.engine.ranks_of, self.engine.perturbations.m)
        return LabelLines(self.linear.model, self.engine.ranks_of)

    def start(self) -> Array:
        """Return the estimate, or the admissible coefficients closest to it."""
        return self._start

    @cached_property
    def _start(self) -> Array:
        o, start = self.problem.objective, self.problem.estimate
        if self.linear is None:
            return start
        f = o.fitted(start[None])
        if not self.problem.noise.admits(o.y - f, f)[0]:
            model = self.linear.model
            start = self.linear.admissible.nearest(start, model.pull, model.push)
            f = o.fitted(start[None])
        return self._less_certain(start) if (np.abs(f) > 1 - _CERTAIN).all() else start

    def _less_certain(self, start: Array) -> Array:
        """Return a member near coefficients that leave no label to chance, as if all are equal.

        There all statistics tie, so that their rank is that of the tie order, and most lines leave
        the region at once. Of some multiples, return the farthest one of the smallest rank.
        """
        steps = (1 - np.geomspace(1, 0.01 / self.problem.n, _STEPS))[:, None] * start
        return np.asarray(steps[np.argmin(self.engine.ranks_of(steps))])

    def require_inside(self, ball: NormBall, otherwise: str = "") -> None:
        """Refuse a search that would have to start outside the ball."""
        norm = ball.norm(self.start())
        if norm > ball.bound:
            raise NotAvailable(
                "the search starts near the estimate, at coefficients that have to satisfy the "
                f"norm bound: their norm is {norm:.6g}, the bound {ball.bound:.6g}. Pass a "
                f"larger one{otherwise}."
            )

    @cached_property
    def _unresolved(self) -> tuple[Fact, ...]:
        known, names = self.linear, self.problem.objective.names
        return () if known is None else unresolved(known.rows.design, known.admissible, names)

    # Bounds

    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Return bounds of f, or of the log-odds, and say if they are trivial for E[y|x]."""
        ball, by_level = of_the_ball(self, question, levels)
        found = []
        for level, (lower, upper) in zip(levels, by_level, strict=True):
            if self.linear is None:
                explain = partial(self._log_odds, question, level)
                bounds = without_boxes(self, question, ball, (lower, upper), level, explain)
            else:
                bounds = self._linear_bounds(question, ball, lower, upper, level)
            found.append(self._of_means(bounds, question) if question.call is Call.BAND else bounds)
        return found

    def _linear_bounds(
        self,
        question: Question,
        ball: BallCoordinates | None,
        lower: Array,
        upper: Array,
        level: Level,
    ) -> OuterBounds:
        """Combine branch and bound, values within [-1, 1] and the ball."""
        assert self.linear is not None
        g, known = question.g, self.linear.known(question)
        # Fitted values determine f only up to the part they do not depend on: at most this.
        beyond, near = np.zeros(len(g)), np.full(len(g), np.inf)
        if ball is not None:
            beyond = np.where(known.at_inputs, 0.0, ball.bound * ball.beyond)
            near = self._near_inputs(ball)
        found, facts = self._certified(g, known, level, question.ball)
        # Branch and bound finds members on its way.
        search = question.inner and self.linear.boxes is None
        members = self.search.examine(g, level.q, question.ball, lower, upper, inner=search)
        lower = np.maximum(found.lower - beyond, np.maximum(lower, -near))
        upper = np.minimum(found.upper + beyond, np.minimum(upper, near))
        lower, upper = nested(lower, upper)
        lost = self._unresolved if known.determined[np.isinf(upper - lower)].all() else ()
        status = status_of(lower, upper, Status.NO_OUTER_BOUND if lost else Status.UNDETERMINED)
        explanation = self._explained(status, facts, ball, question)
        witnesses = found.witnesses if question.inner and not search else members.witnesses
        return OuterBounds(lower, upper, status, explanation, witnesses, members.endless(g))

    def _explained(
        self,
        status: Status,
        facts: tuple[Fact, ...],
        ball: BallCoordinates | None,
        question: Question,
    ) -> Explanation:
        if status is Status.EMPTY:
            if ball is None:
                return Explanation((Cause.NO_LABEL_MODEL(),), OF_EMPTY_LABEL_REGION)
            return Explanation((Cause.NO_LABEL_MODEL_IN_BALL(bound=ball.bound),))
        if status is Status.CERTIFIED:
            if self.linear is None or self.linear.boxes is not None:
                return Explanation(facts)
            fewer = () if self._unresolved else (FEW_LABEL_COEFFICIENTS,)
            return Explanation(facts, (*fewer, *(() if question.inner else (ATTAINED,))) or None)
        norm = () if ball is not None else (LABEL_NORM_BOUND,)
        if status is Status.NO_OUTER_BOUND:
            return Explanation(self._unresolved, norm or None)
        return Explanation((), (*OF_HIDDEN_LABEL_FUNCTIONALS, *norm))

    def _log_odds(
        self, question: Question, level: Level, members: Attained
    ) -> tuple[Status, Explanation]:
        """Explain infinite bounds of logistic regression: only those of a ball are known."""
        del members
        intercept = self.problem.design("a bound").intercept
        cause = Cause.LOGISTIC_NORM_INTERCEPT if intercept else Cause.LOGISTIC_NORM
        remedies = self.adviser.remedies(question, level.q, None, inner=question.inner)
        return Status.NO_OUTER_BOUND, Explanation((cause(),), tuple(remedies))

    def _of_means(self, found: OuterBounds, question: Question) -> OuterBounds:
        """Say what bounds of the linear part mean for E[y|x], which lies in [-1, 1]."""
        attained = () if question.inner else (ATTAINED,)
        searched = tuple(fact for fact in found.explanation.facts if fact.cause in OF_A_SEARCH)
        if self.linear is not None:
            trivial = (found.lower <= -1 + 1e-9).all() and (found.upper >= 1 - 1e-9).all()
            why = found.explanation
            if found.status is Status.UNDETERMINED:
                why = Explanation((Cause.VALUES_HIDDEN(),), why.remedies)
            if found.status is not Status.EMPTY and trivial:
                return found.because(Status.TRIVIAL, why)
            return found
        if found.status is Status.EMPTY:
            return found
        if np.isinf(found.lower).all() and np.isinf(found.upper).all():
            why = Explanation((Cause.LOGISTIC(), *searched), (LEAST_SQUARES_LABELS, *attained))
            return found.because(Status.TRIVIAL, why)
        return found.because(Status.CERTIFIED, Explanation(searched, attained or None))

    def _near_inputs(self, ball: BallCoordinates) -> Array:
        """Return what |f(z)| <= 1 + B‖k_z - k_x‖ implies, x being the nearest input of the data."""
        seen = np.diagonal(ball.N) > 0
        steps = ball.functionals[:, None, :] - ball.F
        square = (steps[:, :, seen] ** 2).sum(axis=2)
        own = self.problem.design("a norm bound").self_similarity()
        lost = np.zeros(self.problem.n)
        if own is not None:
            lost = np.sqrt(np.maximum(own - (ball.F[:, seen] ** 2).sum(axis=1), 0.0))
        square += (ball.beyond[:, None] + lost) ** 2
        square[(steps[:, :, ~seen] != 0).any(axis=2)] = np.inf
        bounds = 1 + ball.bound * np.sqrt(square.min(axis=1))
        return np.where(ball.hidden, np.inf, bounds * OUTWARD)

    def _certified(
        self, g: Array, known: Known, level: Level, ball: NormBall | None
    ) -> tuple[Support, tuple[Fact, ...]]:
        """Return bounds of gᵀa over the region, and how they were found."""
        assert self.linear is not None
        admissible, boxes = self.linear.admissible, self.linear.boxes
        if boxes is None:
            largest = admissible.bounds(g, known)
            found = Support(-largest, largest, np.zeros(len(g), dtype=np.bool_), None)
            how = Cause.VALUES_ALONE() if ball is None else Cause.VALUES_AND_BALL()
            return found, (how, *(self._unresolved or (Cause.FEW_COEFFICIENTS(most=LARGEST_RANK),)))
        within = None if ball is None else self._ball_in(boxes, ball)
        nearby = partial(self._nearby, level, ball)
        found = boxes.support(g, level.q, nearby, within=within)
        open_, slack = ~found.settled, admissible.slack(known, boxes.corner, boxes.back)
        lower, upper = found.lower - slack, found.upper + slack
        if open_.any():
            limit = admissible.bounds(g, known)[open_]
            lower[open_] = np.maximum(lower[open_], -limit)
            upper[open_] = np.minimum(upper[open_], limit)
        free = admissible.hidden(known) & ~(lower > upper)
        lower, upper = np.where(free, -np.inf, lower), np.where(free, np.inf, upper)
        found = replace(found, lower=lower, upper=upper)
        return found, (how_found(found),)

    def _ball_in(self, boxes: Boxes, ball: NormBall) -> Array:
        """Return R: ‖Rx‖ <= 1 wherever some coefficients of these fitted values are in the ball."""
        assert self.linear is not None
        root = ball.root / ball.bound
        free = orth(root @ self.linear.admissible.null)
        moves = root @ boxes.back
        return np.asarray(np.linalg.qr(moves - free @ (free.T @ moves), mode="r"))

    def _nearby(self, level: Level, ball: NormBall | None, a: Array) -> Array:
        """Return members near coefficients a (N, d)."""
        assert self.linear is not None
        return self.search.near(a, self.linear.admissible.back.T, level.q, ball)

    def bounded(self, level: Level) -> Boundedness:
        """Return whether the region is bounded in its coefficients, where f is linear in them."""
        if self.linear is None:
            raise self.not_available("bounded")
        rank, d = self.linear.admissible.rank, self.problem.objective.d
        verdict, fact, direction = "undetermined", Cause.VALUES_DO_NOT_DETERMINE(), None
        if rank == d:
            verdict, fact = "bounded", Cause.VALUES_DETERMINE()
        elif (
            self.linear.rows.most < d
            and self.linear.model.follows_values(self.linear.admissible.null)
            and self._holds_start(level)
        ):
            verdict, fact, direction = "unbounded", Cause.FREE_COEFFICIENTS(), self._free(level)
        explanation = Explanation((fact,))
        return Boundedness(float(level), verdict, explanation.text(), direction, explanation)

    def _free(self, level: Level) -> Array | None:
        """Return a direction that changes no fitted value; None if doubles do not represent one.

        For computed kernel values it may change them by as little as their errors do, if these
        leave no other direction so still, and if members far along it remain members.
        """
        assert self.linear is not None
        found = self.linear.rows.free()
        admissible = self.linear.admissible
        if found is not None or admissible.errors is None or not admissible.resolved:
            return found
        v, start = admissible.null[:, 0], self.start()
        far = np.outer(_FAR, v) * max(1.0, float(np.abs(start).max()))
        moved = np.abs(accurate_product(far, admissible.phi.T)) + np.abs(far) @ admissible.errors.T
        if moved.max() > _UNMOVED:
            return None
        return v if self.search.accepts(start + far, level.q).all() else None

    def _holds_start(self, level: Level) -> bool:
        return bool(self.search.accepts(self.start()[None, :], level.q)[0])

    def proposals(self, ball: NormBall | None) -> Proposals:
        """Return directions in units of the fitted values, or of the coefficients."""
        if self.linear is None:
            kinks = self.problem.objective.kinks()
            return Proposals.in_coefficients(self.problem.estimate, kinks, ball)
        phi = self.linear.model.phi
        unit = column_units(phi)
        _, s, vt = svd(phi / unit, full_matrices=False)
        kept = slice(0, self.linear.admissible.rank or len(s))  # no step that leaves values alone
        s, vt = s[kept], vt[kept] / unit
        return Proposals((vt.T / np.sqrt(s**2 + (_SMALLEST * s[0]) ** 2),), None, None)

    def probes(self, ball: NormBall | None) -> Array:
        """Return single coefficients of the log-odds, as far as nothing holds them back.

        None for a linear f: its values are bounded, and steps are taken along these alone.
        """
        own = np.eye(self.problem.objective.d)
        if self.linear is not None:
            return own[:0]
        return own if ball is None else own[: int(self.problem.design("sample").intercept)]

    def not_available(self, operation: str) -> NotAvailable:
        """Return the refusal of an operation that needs another shape."""
        known = f"{operation} is not known for labels and {self.problem.objective}"
        if self.linear is not None:
            return NotAvailable(f"{known}: use bounded(level), interval or band.")
        return NotAvailable(
            f"{known}, whose region has no outer bound: crossings(direction) shows where a line "
            "leaves it, band(X, inner=True) what members attain."
        )

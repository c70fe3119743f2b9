"""Regions of label noise: exact lines, and outer bounds by branch and bound (docs/theory.md 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.linalg import orth, svd

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.geometry import BracketedLines, Lines
from unassuming.geometry.labels import (
    GAP,
    LARGEST_RANK,
    NODES,
    OUTWARD,
    Admissible,
    Boxes,
    LabelLines,
    LabelModel,
    Support,
)
from unassuming.geometry.quadratic import BallChart
from unassuming.objectives import DesignedObjective, KernelDesign, LeastNormScore, Quadratic
from unassuming.ranking import Level
from unassuming.regions._functionals import attained
from unassuming.regions._piecewise import PiecewiseRegion
from unassuming.regions._results import Boundedness, Status
from unassuming.regions.search._proposals import Ball, Walk

_SMALLEST = 1e-3
"""Singular values of Φ are raised to this share of the largest, in walks."""

_EMPTY = (
    "No coefficients with |f| <= 1 at the inputs agree with the labels: the model is too small for "
    "the data. What helps: other features, a kernel, LogisticRegression, a higher level."
)
_EMPTY_IN_BALL = (
    "No coefficients with |f| <= 1 at the inputs and a norm of {:g} or less agree with the labels: "
    "the norm bound, or the model, is too small."
)
ATTAINED = "inner=True gives bounds that members attain."
_UNKNOWN = f"No outer bound is known for logistic regression. {ATTAINED}"


@dataclass(frozen=True, eq=False)
class _Linear:
    """What is known where f is linear in the coefficients, and the gradient in both."""

    model: LabelModel
    admissible: Admissible
    boxes: Boxes | None


class LabelRegion(PiecewiseRegion):
    """A region of regression functions E[y|x] of labels ±1.

    For least squares on the labels (RidgeClassifier, LSSVC) with any weighting, lines cross it
    exactly and outer bounds are certified: by branch and bound over boxes of coefficients if there
    are at most 4 of them, else from -1 <= f <= 1 at the inputs alone. Logistic regression has
    approximate crossings, and no outer bound but that of E[y|x] itself, [-1, 1]; with a small C its
    region reaches far out (docs/theory.md 8), and samples and inner bounds say little.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y, f = ua.datasets.labels(n=60, d=1, random_state=0)
    >>> region = ua.confidence_region(RidgeClassifier(), X, y, random_state=0)
    >>> region.exact_crossings, bool(region.bounded(level=0.9))
    (True, True)
    >>> region.reach([0.0, 1.0], level=0.9) > 0
    True
    >>> region.sample(5, level=0.9, random_state=0).shape
    (5, 2)
    """

    def band(
        self,
        X: Any,
        level: Any = 0.9,
        norm_bound: float | None = None,
        target: str | None = None,
        inner: bool = False,
    ) -> Any:
        """Return a simultaneous band of E[y|x]: honest outer bounds at every input.

        They bound what the members of the region say of E[y|x]. At an input outside the data this
        need not lie in [-1, 1] where f is linear, and agrees with the truth if the model holds
        there. With at most 4 coefficients the bounds come from branch and bound, which stops when
        members attain each of them up to 2 % of the width of the band, or after 20,000 boxes; it is
        honest wherever it stops, and ``reason`` says which it was. One search serves all inputs, so
        the bounds at an input differ a little with the inputs that are asked for beside it, and are
        tighter if few are.

        Parameters
        ----------
        X : array or DataFrame
            Inputs, as the model takes them.
        level : float or sequence of floats
        norm_bound : float, optional
            An assumption of yours: the norm of the coefficients, or of the function, is at most B.
        target : {"representation", "function"}, optional
            As for other regions.
        inner : bool
            Also search for members that come near the bounds, and return them as witnesses.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import RidgeClassifier
        >>> X, y, f = ua.datasets.labels(n=60, d=1, random_state=0)
        >>> region = ua.confidence_region(RidgeClassifier(), X, y, random_state=0)
        >>> band = region.band([[-1.0], [1.0]], inner=True)
        >>> bool((band.lower <= band.inner_lower).all())
        True
        >>> print(band.reason)
        Members attain every bound up to 2% of the width.
        """
        bands = super().band(X, level, norm_bound, target, inner)
        if isinstance(bands, dict):
            return {p: self._in_values(band) for p, band in bands.items()}
        return self._in_values(bands)

    def bounded(self, level: Any = 0.9) -> Any:
        """Say whether the region is bounded in its coefficients, where f is linear in them."""
        return self._at_levels(level, self._boundedness)

    # Bounds

    def _bounds(
        self, g: Array, ball: BallChart | None, norm_bound: float | None, *, inner: bool
    ) -> Callable[[Level], dict[str, Any]]:
        linear = self._linear
        if linear is None:
            make = super()._bounds(g, ball, norm_bound, inner=inner)
            return lambda used: self._without_outer_bound(make(used))
        # Fitted values know nothing of the part of a function that they do not see: at most this.
        beyond, near = np.zeros(len(g)), np.full(len(g), np.inf)
        if ball is not None and norm_bound is not None:
            at_input = linear.admissible.at_inputs(g)
            beyond = np.where(at_input, 0.0, norm_bound * ball.beyond)
            near = self._near_inputs(ball, norm_bound)
        # Branch and bound finds members on its way.
        search = inner and linear.boxes is None
        make = super()._bounds(g, ball, norm_bound, inner=search)

        def at(used: Level) -> dict[str, Any]:
            fields = make(used)
            found, reason = self._certified(g, used, norm_bound)
            lower = np.maximum(found.lower - beyond, np.maximum(fields["lower"], -near))
            upper = np.minimum(found.upper + beyond, np.minimum(fields["upper"], near))
            if (lower > upper).any():
                lower, upper = np.full(len(g), np.inf), np.full(len(g), -np.inf)
            fields |= {"lower": lower, "upper": upper, **_status(lower, upper, reason, norm_bound)}
            if inner and not search and found.witnesses is not None:
                fields |= attained(found.witnesses, g)
            return fields

        return at

    def _without_outer_bound(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Say what helps where f is not linear in the coefficients."""
        if fields["status"] is Status.NO_OUTER_BOUND:
            norm = "norm_bound=B bounds the coefficients"
            if self._design("a bound").intercept:
                norm += " but not the intercept, and so no value of E[y|x]"
            fields["reason"] = f"{norm}. {ATTAINED}"
        return fields

    def _near_inputs(self, ball: BallChart, norm_bound: float) -> Array:
        """Return what |f(z)| <= 1 + B‖k_z - k_x‖ says, the nearest input x being in the data."""
        seen = np.diagonal(ball.N) > 0
        steps = ball.functionals[:, None, :] - ball.F
        square = (steps[:, :, seen] ** 2).sum(axis=2)
        design = self._design("a norm bound")
        lost = np.zeros(self.n)
        if isinstance(design, KernelDesign):
            own = np.diagonal(design.matrix[:, int(design.intercept) :])
            lost = np.sqrt(np.maximum(own - (ball.F[:, seen] ** 2).sum(axis=1), 0.0))
        square += (ball.beyond[:, None] + lost) ** 2
        square[(steps[:, :, ~seen] != 0).any(axis=2)] = np.inf
        bounds = 1 + norm_bound * np.sqrt(square.min(axis=1))
        return np.where(ball.hidden, np.inf, bounds * OUTWARD)

    def _certified(self, g: Array, used: Level, norm_bound: float | None) -> tuple[Support, str]:
        """Return bounds of gᵀa over the region, and how they were found."""
        assert self._linear is not None
        admissible, boxes = self._linear.admissible, self._linear.boxes
        if boxes is None:
            largest = admissible.bounds(g)
            alone = "alone" if norm_bound is None else "and the norm bound alone"
            return Support(-largest, largest, np.zeros(len(g), dtype=np.bool_), None), (
                f"The bounds follow from |f| <= 1 at the inputs {alone}: tighter ones are found "
                f"for models of at most {LARGEST_RANK} coefficients. {ATTAINED}"
            )
        within = None if norm_bound is None else self._ball_in(boxes, norm_bound)
        nearby = partial(self._nearby, used, norm_bound)
        found = boxes.support(g, used.q, nearby, within=within)
        hidden, open_ = admissible.hidden(g), ~found.settled
        lower, upper = found.lower, found.upper
        if open_.any():
            limit = admissible.bounds(g[open_])
            lower[open_] = np.maximum(lower[open_], -limit)
            upper[open_] = np.minimum(upper[open_], limit)
        empty = lower > upper
        lower, upper = (
            np.where(hidden & ~empty, -np.inf, lower),
            np.where(hidden & ~empty, np.inf, upper),
        )
        found = replace(found, lower=lower, upper=upper)
        if not open_.any():
            return found, f"Members attain every bound up to {GAP:.0%} of the width."
        return found, (
            f"Branch and bound stopped after {NODES:,} boxes: {int(open_.sum())} of {len(g)} "
            f"may be wider than the region by more than {GAP:.0%}."
        )

    def _ball_in(self, boxes: Boxes, norm_bound: float) -> Array:
        """Return R: ‖Rx‖ <= 1 wherever some coefficients of these fitted values are in the ball."""
        assert self._linear is not None
        root = Ball.of(self._design("a norm bound").penalty_matrix(), norm_bound).root / norm_bound
        free = orth(root @ self._linear.admissible.null)
        moves = root @ boxes.back
        return np.asarray(np.linalg.qr(moves - free @ (free.T @ moves), mode="r"))

    def _in_values(self, band: Any) -> Any:
        """Turn bounds of the linear part into those of E[y|x], and say so if they are trivial."""
        if self._linear is not None:
            known = band.status is not Status.CERTIFIED or not _trivial(band)
            return band if known else replace(band, status=Status.TRIVIAL)
        objective = self.objective
        assert isinstance(objective, DesignedObjective)
        names = ("estimate", "lower", "upper", "inner_lower", "inner_upper")
        values = {name: getattr(band, name) for name in names}
        mapped = {k: None if v is None else objective.response(v) for k, v in values.items()}
        if band.status is Status.EMPTY:
            return replace(band, **mapped)
        trivial = np.isinf(band.lower).all() and np.isinf(band.upper).all()
        status = Status.TRIVIAL if trivial else Status.CERTIFIED
        return replace(band, **mapped, status=status, reason=_UNKNOWN if trivial else ATTAINED)

    def _boundedness(self, used: Level) -> Boundedness:
        if self._linear is None:
            raise self._no_geometry("bounded")
        level, null = float(used), self._linear.admissible.null
        if not null.shape[1]:
            why = "fitted values lie in [-1, 1] and determine the coefficients."
            return Boundedness(level, "bounded", why)
        if self._linear.model.follows_values(null) and self._accepts(self._start[None, :], used)[0]:
            why = (
                "coefficients may move without changing any fitted value. Bounds of E[y|x] at the "
                "inputs are finite."
            )
            return Boundedness(level, "unbounded", why, null[:, 0])
        return Boundedness(level, "undetermined", "fitted values do not determine coefficients.")

    # Inside

    @cached_property
    def _linear(self) -> _Linear | None:
        o, score = self.objective, self._engine.score
        if not isinstance(o, Quadratic) or not isinstance(score, LeastNormScore):
            return None
        wins = self.tie_order[0] < self.tie_order[1:]
        model = LabelModel.of(o.design.matrix, o.y, self.perturbations.drawn, score, wins)
        free = 0
        if isinstance(o.design, KernelDesign) and o.design.full_rank:
            # With a bias one direction is open whatever the values are.
            free = len(o.design.distinct[0]) + int(o.design.intercept)
        admissible = Admissible.of(model.phi, free)
        return _Linear(model, admissible, Boxes.of(model, admissible))

    @cached_property
    def _lines(self) -> Lines:
        if self._linear is None:
            return BracketedLines(self._ranks_of, self.m)
        return LabelLines(self._linear.model, self._ranks_of)

    @cached_property
    def _start(self) -> Array:
        """The estimate, or what comes closest to it within [-1, 1]."""
        if self._linear is None or self._admits(self.estimate):
            return self.estimate
        model = self._linear.model
        return self._linear.admissible.nearest(self.estimate, model.pull, model.push)

    def _walk(self, norm_bound: float | None) -> Walk:
        if self._linear is None:
            return super()._walk(norm_bound)
        _, s, vt = svd(self._linear.model.phi, full_matrices=False)
        kept = slice(0, self._linear.admissible.back.shape[1])  # no step that no value sees
        s, vt = s[kept], vt[kept]
        return Walk((vt.T / np.sqrt(s**2 + (_SMALLEST * s[0]) ** 2),), None, None)

    def _probes(self, norm_bound: float | None) -> Array:
        """Single coefficients of the log-odds, as far as nothing holds them back.

        Of a linear f none: values are bounded, and steps are taken along these alone.
        """
        own = np.eye(self.objective.d)
        if self._linear is not None:
            return own[:0]
        return own if norm_bound is None else own[: int(self._design("sample").intercept)]

    def _nearby(self, used: Level, norm_bound: float | None, a: Array) -> Array:
        """Return members near coefficients a (N, d): on lines to the start, and along all axes."""
        assert self._linear is not None
        axes = self._linear.admissible.back.T
        ways = np.concatenate([self._start - a, *(np.broadcast_to(x, a.shape) for x in axes)])
        origins = np.tile(a, (1 + len(axes), 1))
        found = self._lines.intervals(origins, ways, [used.q])[0]
        found = self._confined(found, origins, ways, norm_bound)
        t = np.array([_closest(spans) for spans in found])
        points = (origins + t[:, None] * ways)[np.isfinite(t)]
        if norm_bound is not None:
            P = self._design("a norm bound").penalty_matrix()
            points = points[np.einsum("ij,jk,ik->i", points, P, points) <= norm_bound**2]
        return np.asarray(points[self._accepts(points, used)])

    def _admits(self, a: Array) -> bool:
        f = self.objective.fitted(a[None])
        return bool(self.noise.admits(self.objective.y - f, f)[0])

    def _accepts(self, a: Array, used: Level) -> BoolArray:
        return np.asarray(self._ranks_of(a) <= used.largest_rank)

    def _require_inside(self, norm_bound: float, otherwise: str = "") -> None:
        P = self._design("a norm bound").penalty_matrix()
        norm = float(np.sqrt(np.maximum(self._start @ P @ self._start, 0.0)))
        if norm > norm_bound:
            raise NotAvailable(
                "the search starts near the estimate, at coefficients that have to satisfy the "
                f"norm bound: their norm is {norm:.6g}, the bound {norm_bound:.6g}. Pass a "
                f"larger one{otherwise}."
            )

    def _no_geometry(self, operation: str) -> NotAvailable:
        if self._linear is not None:
            return NotAvailable(
                f"{operation} is not known for labels and {self.objective}: use bounded(level), "
                "interval or band."
            )
        return NotAvailable(
            f"{operation} is not known for labels and {self.objective}, whose region has no outer "
            "bound: crossings(direction) shows where a line leaves it, band(X, inner=True) what "
            "members attain."
        )


def _trivial(band: Any) -> bool:
    """Whether a band says no more than that E[y|x] lies in [-1, 1]."""
    return bool((band.lower <= -1 + 1e-9).all() and (band.upper >= 1 - 1e-9).all())


def _closest(spans: Array) -> float:
    """Return the point of the intervals closest to zero, a little inside; NaN if there is none."""
    if not len(spans):
        return np.nan
    inside = 1e-9 * (spans[:, 1] - spans[:, 0])
    t = np.clip(0.0, spans[:, 0] + inside, spans[:, 1] - inside)
    return float(t[np.argmin(np.abs(t))])


def _status(lower: Array, upper: Array, reason: str, norm_bound: float | None) -> dict[str, Any]:
    """Say what kind of answer the bounds are."""
    if (lower > upper).any():
        why = _EMPTY if norm_bound is None else _EMPTY_IN_BALL.format(norm_bound)
        return {"status": Status.EMPTY, "reason": why}
    if np.isfinite(lower).all() and np.isfinite(upper).all():
        return {"status": Status.CERTIFIED, "reason": reason}
    ways = (
        "What helps: inputs of the data, where E[y|x] is determined; a model without a bias beside "
        "a full-rank kernel"
    )
    return {
        "status": Status.UNDETERMINED,
        "reason": ways + ("; a norm bound." if norm_bound is None else "."),
    }

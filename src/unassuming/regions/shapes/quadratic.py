"""The shape of least squares, ridge, kernel ridge and LS-SVC regions (docs/theory.md 4).

The region of level 1 - q/m holds the points that lie in at least q of the m - 1 sets {Z_0 <= Z_i},
each an ellipsoid or a cylinder around the estimate. So lines and bounds have closed forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import ClassVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, IntArray
from unassuming.geometry.lines import Events, membership
from unassuming.geometry.quadratic import (
    FreeDirections,
    QuadraticSets,
    SetsAndBall,
    free_directions,
    outward,
    qth_largest,
    radii,
    rays,
    spans,
)
from unassuming.membership import Engine, QuadraticTable
from unassuming.noise import Noise
from unassuming.ranking import Level, level_in_print
from unassuming.regions.explain import (
    AT_INPUTS,
    FEWER_FEATURES,
    INDEPENDENT,
    Cause,
    Explanation,
    Fact,
    Remedy,
    Status,
    lower_level,
    status_of,
)
from unassuming.regions.results import Boundedness, Ellipsoid
from unassuming.regions.shapes.shape import OuterBounds, Question, Shape, held

_FEW = 60
"""Dimensions up to which the free directions are found for print(region)."""


@final
class QuadraticShape(Shape):
    """Points that lie in at least q of m - 1 ellipsoids or cylinders around the estimate."""

    name: ClassVar[str] = "quadratic"
    why: ClassVar[str] = "the objective is quadratic and weighted by its Hessian"
    star_convex: ClassVar[bool] = True

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.sets = QuadraticSets.of(engine)

    def sample(
        self,
        size: int,
        level: Level,
        rng: np.random.Generator,
        norm_bound: float | None = None,
        thinning: int | None = None,
    ) -> Array:
        """Return members; refuse a region without end, which few lines reveal."""
        hidden = self.sets.objective.factor.null.size  # which walks leave as it is
        if norm_bound is None and not hidden and not (verdict := self.bounded(level)):
            raise NotAvailable(
                f"sampling needs a bounded region. {verdict} With norm_bound=B the sample is taken "
                "within the ball."
            )
        return super().sample(size, level, rng, norm_bound, thinning)

    @cached_property
    def _table(self) -> QuadraticTable | None:
        everything = type(self.engine.noise).admits is Noise.admits
        return self.sets.table() if everything else None

    def ranks(self, a: Array) -> IntArray:
        """Return the ranks of many coefficients, by one matrix product where forms are small."""
        return self.engine.rank(a) if self._table is None else self._table.rank(a)

    # Lines, docs/theory.md 4.1

    def reach(self, directions: Array, qs: Sequence[int]) -> list[Array]:
        """Return where rays first leave at least q of the sets."""
        ends = np.sort(rays(self.sets, directions), axis=1)[:, ::-1]
        return self._where_inside([ends[:, q - 1] for q in qs], qs)

    def intervals(
        self, origins: Array, directions: Array, qs: Sequence[int], *, points: bool = True
    ) -> list[list[Array]]:
        """Return the points of lines that lie in at least q of the sets."""
        found = spans(self.sets, origins, directions)
        line, which = np.nonzero(~np.isnan(found[..., 0]))
        low, high = found[line, which].T
        one = np.ones(len(line), dtype=np.intp)
        events = Events.joined([Events(line, low, one), Events(line, high, -one)])
        shift, each = np.zeros(len(origins)), []
        for q in qs:
            members = membership(self.engine.rank, origins, directions, self.engine.m - q)
            closed = events.spans(q).closed(shift, members if points else None)
            each.append(closed.split(len(origins)))
        return each

    # Bounds, docs/theory.md 4.2 to 4.4

    @cached_property
    def _in_ball(self) -> SetsAndBall:
        return SetsAndBall.of(self.sets)

    def bounds(self, question: Question, levels: Sequence[Level]) -> list[OuterBounds]:
        """Return the q-th largest of the bounds over the sets; the sets are made once."""
        g, B = question.g, question.norm_bound
        value = g @ self.estimate
        if B is None:
            up, down = self.sets.supports(g)
        else:
            t, rest = self._in_ball.ball.functionals(
                g, question.similarity, function=question.function
            )
            up, down = self._in_ball.supports(t, rest, B)
            value = np.zeros(len(g))
        found = []
        for level in levels:
            lower, upper = outward(-qth_largest(down, level.q), qth_largest(up, level.q))
            endless = partial(self._endless, g, level, B)
            found.append(self.outer(value + lower, value + upper, level, B, endless))
        return found

    def _endless(self, g: Array, level: Level, bound: float | None) -> tuple[Status, Explanation]:
        """Return what kind of answer infinite bounds are, and why."""
        hidden = self.sets.coordinates.functionals(g)[1].any()
        if hidden and not self._dual:
            why = Explanation((Cause.HIDDEN(),), (INDEPENDENT, *held(bound)))
            return Status.UNDETERMINED, why
        verdict, fact = self._verdict(level)
        if hidden and verdict != "unbounded":
            why = Explanation((Cause.HIDDEN(),), (*held(bound), AT_INPUTS))
            return Status.UNDETERMINED, why
        status = Status.UNBOUNDED if verdict == "unbounded" else Status.NOT_CERTIFIED
        return status, Explanation((fact,), self._remedies(bound))

    def ellipsoid(self, level: Level) -> Ellipsoid:
        """Return {a : (a - â)ᵀH(a - â)/n <= γ} with the q-th largest γ_i."""
        o = self.sets.objective
        each = radii(QuadraticSets.of(self.engine, whitened=True))
        gamma = float(qth_largest(each, level.q))
        forward = o.whitened.forward(np.eye(o.d))  # H = forward forwardᵀ
        ends = np.array([gamma])
        verdict, fact = self._verdict(level)
        whole = Status.UNBOUNDED if verdict == "unbounded" else Status.NOT_CERTIFIED
        status, explanation = status_of(-ends, ends, whole), Explanation()
        if status is whole:
            explanation = Explanation((fact,), self._remedies(None))
        return Ellipsoid(
            center=self.estimate,
            matrix=forward @ forward.T / o.n,
            squared_radius=gamma / o.n,
            level=float(level),
            status=status,
            reason=explanation.text(),
            root_inverse=o.factor.back * np.sqrt(o.n),
            explanation=explanation,
        )

    def norm_lower_bound(self, level: Level) -> float:
        """Return the q-th smallest of the least norms: a member lies in q of the sets."""
        return float(-qth_largest(-self._in_ball.least_norms(), level.q))

    # Boundedness, docs/theory.md 4.4

    @cached_property
    def free(self) -> FreeDirections:
        """The free directions of the sets."""
        return free_directions(self.sets)

    def largest_bounded_rank(self) -> int:
        """Return m minus the smallest q at which the region is certainly bounded."""
        return max(0, self.engine.m - (self.free.most + 1))

    def lines_of_print(self) -> list[tuple[str, str]]:
        """Return up to which level the region is bounded, if that is cheap to know."""
        if self.sets.form.C.shape[1] > _FEW:
            return [("bounded", "region.bounded(level) says whether the region is")]
        m, hidden = self.engine.m, self.sets.objective.factor.null.size
        free = free_directions(self.sets, hidden=False) if hidden else self.free
        rank = m - free.most - 1
        level = f"up to level {level_in_print(rank / m)}" if rank > 0 else "at no level"
        if hidden:
            level += ", in fitted values: coefficients that depend on each other are not determined"
        return [("bounded", level)]

    def bounded(self, level: Level) -> Boundedness:
        """Return the verdict by counting sets that share free directions."""
        verdict, fact = self._verdict(level)
        remedies = None if verdict == "bounded" else self._remedies(None)
        direction = self.free.direction if verdict == "unbounded" else None
        if direction is not None:  # entries that are rounding alone
            size = np.abs(direction)
            direction = np.where(size > 1e-12 * size.max(), direction, 0.0)
        explanation = Explanation((fact,), remedies)
        return Boundedness(float(level), verdict, explanation.text(), direction, explanation)

    def _verdict(self, level: Level) -> tuple[str, Fact]:
        """Return the verdict at one level, and the fact behind it."""
        q, free, sets = level.q, self.free, level.m - 1
        if free.most == 0:
            return "bounded", Cause.EVERY_SET_BOUNDED()
        if free.bounded(q):
            return "bounded", Cause.SETS_SHARE(q=q, most=free.most)
        if free.bounded(q) is False:
            return "unbounded", Cause.NEVER_END(found=free.found, sets=sets, q=q)
        counts = {"found": free.found, "most": free.most, "sets": sets, "q": q}
        return "undetermined", Cause.NOT_COUNTED(**counts)

    def _remedies(self, bound: float | None) -> tuple[Remedy, ...]:
        """Return what makes bounds finite in general."""
        rank = self.largest_bounded_rank()
        lower = (lower_level(rank / self.engine.m, self.engine.m),) if rank > 0 else ()
        fewer = () if self._dual else (FEWER_FEATURES,)
        return (*held(bound), *lower, *fewer)

    @property
    def _dual(self) -> bool:
        """Whether the model is a kernel."""
        design = self.sets.objective.design
        return design is not None and design.dual

"""Bounds, bands, summaries and tests of one region: from its methods to cells and joint region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.cells.functions import Wanted
from unassuming.functionals import Functional
from unassuming.inputs import (
    SingleOptions,
    as_functionals,
    as_hypothesis,
    check_assumption,
    check_inner,
    check_norm_bound,
    check_simultaneous,
    check_target,
    require_nonzero,
)
from unassuming.ranking import Level, RankTest
from unassuming.regions.explain import INPUT, Cause, Status
from unassuming.regions.results import Band, Interval
from unassuming.regions.shapes import OuterBounds, Question
from unassuming.regions.single.evidence import CELLS, JOINT, Setting, check_at_once, single_options
from unassuming.regions.single.functions import (
    Assumption,
    Functions,
    functional_rows,
)
from unassuming.regions.single.hypotheses import FTest, Instruments, hypothesis_test
from unassuming.regions.single.numbers import Numbers
from unassuming.regions.single.summary import Query, Summary, at_each, check_level, highest
from unassuming.regions.single.values import (
    NO_MEMBERS,
    Asked,
    Cells,
    Joint,
    balanced_cells,
    joint_answer,
)

if TYPE_CHECKING:
    from unassuming.regions.region import Region

T = TypeVar("T")

_NOTHING = Assumption(None)
_OPEN = (Status.UNDETERMINED, Status.NO_OUTER_BOUND)


@final
@dataclass(frozen=True)
class How:
    """The arguments that go with a question, as passed."""

    level: Any
    method: Any
    cells: Any
    cell_weights: Any
    cell_estimate: Any
    assumed: Assumption = _NOTHING
    simultaneous: Any = False
    inner: Any = False

    @property
    def options(self) -> tuple[Any, Any, Any, Any]:
        """Those of single numbers."""
        return self.cells, self.method, self.cell_weights, self.cell_estimate


@final
class Answers:
    """What a region says of linear functionals; everything is made when it is first needed."""

    def __init__(self, region: Region) -> None:
        self.region, self.problem = region, region.problem

    # The methods of a region

    def interval(self, functionals: Any, how: How) -> Any:
        """Bound functionals of the coefficients, or of the function."""
        self._check(how)
        asked = functionals if how.simultaneous else self._single(functionals)
        g, names, values = self._asked(asked, how.assumed)
        make = partial(Interval, names=names)
        if how.simultaneous:
            if isinstance(functionals, Functional) and self.problem.design("interval").dual:
                Setting.KERNEL.check(how.method)
                how = replace(how, method=CELLS)
            return self._at_once(Question(g, how.assumed.norm_bound), names, values, make, how)
        require_nonzero(g)
        if not how.assumed.given:
            return self._one_by_one(g, names, make, how)
        about = self._about(functionals, values(), names, g, how.assumed)
        return self._values(about, make, how)

    def band(self, X: Any, target: str | None, how: How) -> Any:
        """Bound the function at inputs."""
        self._check(how)
        design = self.problem.design("band")
        whole = self._of_the_function(target, how.assumed)
        how = replace(how, assumed=replace(how.assumed, whole=whole))
        make = partial(Band, X=X, target="function" if whole else "representation")
        if not how.simultaneous and not how.assumed.given:
            _ = self._numbers  # refuses a kernel before anything else
        question = self._question(X, how.assumed.norm_bound, whole=whole)
        g = question.g
        names = [f"{INPUT} {j}" for j in range(len(g))]
        if how.simultaneous:
            return self._at_once(question, names, partial(self._inputs, X, how), make, how)
        if not how.assumed.given:
            return self._one_by_one(g, names, make, how)
        alike = how.assumed.model_error is None and (whole or not design.dual)
        joint = self._joint(question) if alike else None  # cells bound the function itself
        wanted, estimate = self._inputs(X, how), g @ self.problem.estimate
        return self._values(Asked(wanted, names, estimate, how.assumed, joint), make, how)

    def summary(self, functionals: Any, how: How) -> Summary:
        """Return estimates, intervals and p-values of functionals of the coefficients."""
        problem, at_once = self.problem, check_simultaneous(how.simultaneous)
        asked = functionals if at_once else self._single(functionals)
        g, names = as_functionals(asked, problem.objective.names)
        require_nonzero(g)
        level = check_level(how.level)
        if at_once:
            if not problem.objective.endogenous:
                _ = self._numbers  # refuses labels and kernels
            chosen = check_at_once(how.method, how.cells, how.cell_weights, how.cell_estimate)
            made = balanced_cells(problem, g, level, chosen, how.cells)
            if made is None:
                found = joint_answer(self.region.shape, g, self.region.level(level))
            else:
                found = made.answer(level)
            return found.summary(problem, g, names, level)
        numbers = self._numbers
        found = numbers.answer(self._query(g, names, how)(level))
        if functionals is None:
            why = replace(found.why, facts=(*found.why.facts, *numbers.left_out))
            found = replace(found, why=why)
        summary: Summary = found.summary(problem, g, names, level)
        return summary

    def hypothesis(self, functional: Any, value: Any, how: How) -> RankTest | FTest:
        """Test hypothetical values of functionals."""
        self._check(how)
        g, names, values = self._asked(functional, how.assumed)
        require_nonzero(g)
        tau, level = as_hypothesis(value, len(g)), check_level(how.level)
        if how.assumed.given:
            options = self._function_options(how)
            about = self._about(functional, values(), names, g, how.assumed)
            return Cells(self._functions, about).test(tau, level, options)
        asked = self._query(g, names, how)(level)
        if self.problem.objective.endogenous:
            test: RankTest = self._numbers.test(asked, tau)
            return test
        return hypothesis_test(self._numbers, asked, tau)

    # What answers come from

    @cached_property
    def _numbers(self) -> Any:
        """Single numbers, of instruments or of cells; refuses what has no answer."""
        self.region._require_ordinary()
        return (Instruments if self.problem.objective.endogenous else Numbers)(self.problem)

    @cached_property
    def _functions(self) -> Functions:
        """Values of a function of bounded norm; refuses models and noise without an answer."""
        self.region._require_ordinary()
        return Functions(self.problem)

    def _function_options(self, how: How) -> SingleOptions:
        """Check cells, method, weights and estimate of values of a function."""
        return single_options(self._functions.problem, None, Setting.FUNCTION, how.options)

    # What is asked

    def _check(self, how: How) -> None:
        assumed = how.assumed
        check_assumption(assumed.norm_bound, assumed.model_error, assumed.noise_scale)
        if assumed.model_error is not None:
            self.problem.refuse_basis("a model error")
        check_inner(how.inner)
        if not check_simultaneous(how.simultaneous) and how.inner:
            raise ValueError(
                "inner=True does not apply to one number at a time: expected simultaneous=True "
                "with it, given simultaneous=False. Leave out one of the two."
            )

    def _single(self, functionals: Any) -> Any:
        """Return what is asked one at a time; by default endogenous columns, if there are any."""
        o = self.problem.objective
        if functionals is None and o.endogenous:
            return [o.names[j] for j in o.endogenous]
        return functionals

    def _query(self, g: Array, names: Sequence[str], how: How) -> Callable[[float], Query]:
        """Return the question about functionals (N, d) at each level."""
        options, chosen_for = self._numbers.options(*how.options), highest(how.level)
        return lambda one: Query(g, names, one, options, chosen_for, self._bounded_jointly)

    def _asked(
        self, functionals: Any, assumed: Assumption
    ) -> tuple[Array, tuple[str, ...], Callable[[], Wanted]]:
        """Return functionals as rows of the design, their names, and what makes them `Wanted`."""
        if isinstance(functionals, Functional):
            g, names = functional_rows(self.problem, functionals), functionals.names
            return g, names, lambda: self._functions.functional(functionals, g, assumed)
        g, names = as_functionals(functionals, self.problem.objective.names)
        return g, names, lambda: self._functions.coefficients(g, assumed)

    def _inputs(self, X: Any, how: How) -> Wanted:
        return self._functions.values(self.problem.transform(X), how.assumed)

    def _of_the_function(self, target: str | None, assumed: Assumption) -> bool:
        """Whether values are those of the function itself, as they are of kernels by default."""
        check_target(target)
        dual = self.problem.design("band").dual
        if target is None:
            return dual and assumed.given
        if target == "function" and not dual and assumed.model_error is None:
            raise NotAvailable(
                "target='function' needs a kernel or a model error, and this model has features "
                "only: leave out `target`, use a kernel model such as KernelRidge with "
                "norm_bound=B, or pass model_error=D if the features miss the function by at most "
                "D at the inputs."
            )
        if target == "function" and not assumed.given:
            raise NotAvailable(
                "target='function' needs an assumption on the function between the training "
                "inputs: pass norm_bound=B, or use target='representation'."
            )
        return target == "function"

    def _question(self, X: Any, norm_bound: float | None, *, whole: bool) -> Question:
        """Return functionals that are values at inputs, of the function or its representation."""
        design, inputs = self.problem.design("band"), self.problem.transform(X)
        g = design.rows(inputs)
        if norm_bound is None:
            return Question(g)
        similarity, function = design.self_similarity(inputs), whole and design.dual
        if function and similarity is None:
            raise NotAvailable(
                "target='function' needs k(z, z) at the new inputs, which a precomputed kernel "
                "does not give: pass the kernel itself, or use target='representation'."
            )
        return Question(g, norm_bound, similarity, function)

    def _about(
        self, functionals: Any, wanted: Wanted, names: Sequence[str], g: Array, assumed: Assumption
    ) -> Asked:
        """Return functionals of the function, with the same question to the joint region.

        That bounds functionals of features, and of kernels the values at inputs.
        """
        joint, bound = None, assumed.norm_bound
        if assumed.model_error is None and not self.problem.design("interval").dual:
            joint = self._joint(Question(g, bound))
        elif assumed.model_error is None and functionals.values_at is not None:
            joint = self._joint(self._question(functionals.values_at, bound, whole=True))
        return Asked(wanted, names, g @ self.problem.estimate, assumed, joint)

    # The joint region

    def _joint(self, question: Question) -> Joint:
        return Joint(lambda: self.region.shape, question, self.region.m)

    def _jointly(self, question: Question, make: partial[T], how: How) -> Any:
        """Return results of the joint region; ``make`` takes the fields of `Bounds`."""

        def at(levels: Sequence[Level]) -> list[T]:
            found = self.region.shape.bounds(question, levels)
            return list(map(partial(self._result, question, make, how), levels, found))

        return self.region._at_levels(how.level, at)

    def _result(
        self, question: Question, make: partial[T], how: How, level: Level, found: OuterBounds
    ) -> T:
        """Return the result of the joint region at one level; of labels within [-1, 1]."""
        problem, g, bound = self.problem, question.g, question.norm_bound
        band = make.func is Band
        value = problem.objective.response if band else np.asarray
        means, why, status = band and problem.noise.labels, found.explanation, found.status
        lower, upper = value(found.lower), value(found.upper)
        if means and (lower <= upper).all():
            beyond = int(((lower < -1) | (upper > 1)).sum())
            known = not np.isinf([found.lower, found.upper]).all()
            if known and beyond:
                why = why.with_more(Cause.CUT(count=beyond))
            if status in _OPEN:
                status = Status.CERTIFIED if known else Status.TRIVIAL
            lower, upper = (np.clip(ends, -1.0, 1.0) for ends in (lower, upper))
            if (lower == -1).all() and (upper == 1).all():
                status = Status.TRIVIAL
        if bound is not None:
            norm = problem.design("a norm bound").ball().norm(problem.estimate)
            if norm > bound:
                why = why.with_more(Cause.ESTIMATE_OUTSIDE(norm=norm, bound=bound))
        members, inner = found.witnesses if how.inner else None, [None, None]
        if how.inner and members is None:
            members = self.region.shape.witnesses(g, level, bound)
        if members is not None:
            attained = value((members * g).sum(axis=2))
            inner = list(np.clip(attained, -1.0, 1.0) if means else attained)
        return make(
            level=float(level),
            estimate=value(g @ problem.estimate),
            lower=lower,
            upper=upper,
            inner_lower=inner[0],
            inner_upper=inner[1],
            witnesses=members,
            status=status,
            reason=why.text(),
            norm_bound=bound,
            caveat=self.region.caveat,
            explanation=why,
            attained=np.full(len(g), float(level)),
        )

    def _bounded_jointly(self, level: float) -> bool:
        """Whether the joint region of a level is bounded."""
        try:
            return bool(self.region.shape.bounded(self.region.level(level)))
        except (NotAvailable, ValueError):
            return False

    # All at once, and one at a time

    def _at_once(
        self,
        question: Question,
        names: Sequence[str],
        values: Callable[[], Wanted],
        make: partial[T],
        how: How,
    ) -> Any:
        """Return simultaneous bounds; ``values`` gives the functionals if something is assumed."""
        check_norm_bound(question.norm_bound)
        if question.norm_bound is not None:
            self.problem.design("a norm bound").ball()  # refuses models without a norm
        chosen = check_at_once(how.method, how.cells, how.cell_weights, how.cell_estimate)
        joint = partial(self._jointly, question, make, how)
        if how.assumed.model_error is not None:
            _ = self._functions  # refuses models for which no method allows for it
            Setting.MODEL_ERROR.check(how.method)
            chosen = CELLS
        if chosen == JOINT:
            return joint()
        if not how.assumed.given:
            of = self.problem, question.g, highest(how.level), chosen, how.cells
            made = balanced_cells(*of, inner=bool(how.inner))
            if made is None:
                return joint()
            return at_each(how.level, lambda one: made.answer(one).bounds(make, one))
        try:
            if how.inner:
                raise NotAvailable(NO_MEMBERS)
            _ = self._functions
        except NotAvailable:
            if chosen == CELLS:
                raise
            return joint()
        asked = Asked(values(), names, question.g @ self.problem.estimate, how.assumed)
        cells = Cells(self._functions, asked)
        band = partial(cells.at_once, cells=how.cells, make=make)
        if chosen == "auto" and band(highest(how.level), unless_wider=True) is None:
            return joint()
        return at_each(how.level, band)

    def _one_by_one(self, g: Array, names: Sequence[str], make: partial[T], how: How) -> Any:
        """Return bounds that have their level each by itself."""
        numbers, query = self._numbers, self._query(g, names, how)
        return at_each(how.level, lambda one: numbers.answer(query(one)).bounds(make, one))

    def _values(self, asked: Asked, make: partial[T], how: How) -> Any:
        """Return bounds of functionals of the function, each with its level by itself."""
        options, chosen_for = self._function_options(how), highest(how.level)
        cells = Cells(self._functions, asked)
        return at_each(how.level, lambda one: cells.one_by_one(one, chosen_for, options, make))

"""Bounds, bands, summaries and tests of one region: from its methods to cells and joint region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
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
from unassuming.regions.single.evidence import CELLS, JOINT, Setting, check_at_once
from unassuming.regions.single.functions import (
    Assumption,
    Functions,
    function_options,
    functional_rows,
)
from unassuming.regions.single.hypotheses import FTest, hypothesis_test
from unassuming.regions.single.instruments import Instruments
from unassuming.regions.single.numbers import Numbers
from unassuming.regions.single.summary import Summary, at_each, check_level, highest
from unassuming.regions.single.values import (
    NO_MEMBERS,
    Asked,
    Joint,
    balanced_cells,
    function_test,
    joint_answer,
    values_at_once,
    values_one_by_one,
)

if TYPE_CHECKING:
    from unassuming.regions.region import Region

T = TypeVar("T")

Options = tuple[Any, Any, Any]
"""cells, cell_weights and cell_estimate, as passed."""

_OPEN = (Status.UNDETERMINED, Status.NO_OUTER_BOUND)


@final
class Answers:
    """What a region says of linear functionals; everything is made when it is first needed."""

    def __init__(self, region: Region) -> None:
        self.region, self.problem = region, region.problem

    # The methods of a region

    def interval(
        self,
        functionals: Any,
        level: Any,
        assumption: Assumption,
        method: str,
        options: Options,
        *,
        simultaneous: Any,
        inner: Any,
    ) -> Any:
        """Bound functionals of the coefficients, or of the function."""
        self._check(assumption)
        alone = not check_simultaneous(simultaneous)
        asked = self._single(functionals) if alone else functionals
        g, names, values = self._asked(asked, assumption)
        make = partial(Interval, names=names)
        if not alone:
            if isinstance(functionals, Functional) and self.problem.design("interval").dual:
                Setting.KERNEL.check(method)
                method = CELLS
            question = self._in_ball(Question(g, assumption.norm_bound))
            joint = self._jointly(question, make, inner=inner)
            asks = question, names, level, method, options, make, assumption, values
            return self._at_once(*asks, joint, inner=inner)
        _require_alone(inner)
        require_nonzero(g)
        if not assumption.given:
            return self._one_by_one(g, names, level, method, options, make)
        about = self._about(functionals, values(), names, g, assumption)
        return self._values(about, level, method, options, make)

    def band(
        self,
        X: Any,
        level: Any,
        assumption: Assumption,
        method: str,
        options: Options,
        *,
        simultaneous: Any,
        target: str | None,
        inner: Any,
    ) -> Any:
        """Bound the function at inputs."""
        self._check(assumption)
        error, bound = assumption.model_error, assumption.norm_bound
        whole = self._whole(assumption, target)
        assumption = Assumption(bound, error, assumption.noise_scale, whole=whole)
        make = partial(Band, X=X, target="function" if whole else "representation")
        if check_simultaneous(simultaneous):
            of = None if error is not None else target
            question = self._in_ball(self._question(X, bound, of))
            joint = self._jointly(question, make, inner=inner, band=True)
            names, values = _numbered(question.g), partial(self._inputs, X, assumption)
            asks = question, names, level, method, options, make, assumption, values
            return self._at_once(*asks, joint, inner=inner)
        _require_alone(inner)
        if not assumption.given:
            _ = self._numbers  # refuses a kernel before anything else
            g = self._question(X, None, target).g
            return self._one_by_one(g, _numbered(g), level, method, options, make)
        g = self.problem.design("band").rows(self.problem.transform(X))
        joint_question = None
        if error is None:
            question = self._question(X, bound, target)
            if target != "representation" or question.similarity is None:
                joint_question = question  # cells bound the function itself
        estimate, wanted = g @ self.problem.estimate, self._inputs(X, assumption)
        asked = Asked(wanted, _numbered(g), estimate, assumption, self._joint(joint_question))
        return self._values(asked, level, method, options, make)

    def summary(
        self, functionals: Any, level: Any, method: str, options: Options, *, simultaneous: Any
    ) -> Summary:
        """Return estimates, intervals and p-values of functionals of the coefficients."""
        problem, at_once = self.problem, check_simultaneous(simultaneous)
        g, names = as_functionals(
            functionals if at_once else self._single(functionals), problem.objective.names
        )
        require_nonzero(g)
        level = check_level(level)
        if at_once:
            if not problem.objective.endogenous:
                _ = self._numbers  # refuses labels and kernels
            chosen = check_at_once(method, *options)
            made = balanced_cells(problem, g, level, chosen, options[0])
            if made is None:
                found = joint_answer(self.region.shape, g, self.region.level(level))
            else:
                found = made.answer(level)
            return found.summary(problem, g, names, level)
        numbers, jointly = self._numbers, self._bounded_jointly
        checked = self._options(method, options)
        found = numbers.answer(g, names, level, checked, level, jointly)
        if functionals is None:
            why = replace(found.why, facts=(*found.why.facts, *numbers.left_out))
            found = replace(found, why=why)
        summary: Summary = found.summary(problem, g, names, level)
        return summary

    def hypothesis(
        self,
        functional: Any,
        value: Any,
        level: Any,
        assumption: Assumption,
        method: str,
        options: Options,
    ) -> RankTest | FTest:
        """Test hypothetical values of functionals."""
        self._check(assumption)
        g, names, values = self._asked(functional, assumption)
        require_nonzero(g)
        tau = as_hypothesis(value, len(g))
        if assumption.given:
            functions = self._functions
            checked = function_options(functions, options[0], method, *options[1:])
            about = self._about(functional, values(), names, g, assumption)
            return function_test(functions, about, tau, check_level(level), checked)
        asked = g, names, check_level(level), self._options(method, options), tau
        numbers = self._numbers
        if self.problem.objective.endogenous:
            test: RankTest = numbers.test(*asked)
            return test
        return hypothesis_test(numbers, *asked)

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

    # What is asked

    def _check(self, assumption: Assumption) -> None:
        check_assumption(assumption.norm_bound, assumption.model_error, assumption.noise_scale)
        if assumption.model_error is not None:
            self.problem.refuse_basis("a model error")

    def _single(self, functionals: Any) -> Any:
        """Return what is asked one at a time; by default endogenous columns, if there are any."""
        o = self.problem.objective
        if functionals is None and o.endogenous:
            return [o.names[j] for j in o.endogenous]
        return functionals

    def _options(self, method: Any, options: Options) -> SingleOptions:
        cells, weights, estimator = options
        checked: SingleOptions = self._numbers.options(cells, method, weights, estimator)
        return checked

    def _asked(
        self, functionals: Any, assumption: Assumption
    ) -> tuple[Array, tuple[str, ...], Callable[[], Wanted]]:
        """Return functionals as rows of the design, their names, and what gives them as `Wanted`.

        The last refuses models and noise without an answer.
        """
        if isinstance(functionals, Functional):
            g, names = functional_rows(self.problem, functionals), functionals.names
            return g, names, lambda: self._functions.functional(functionals, g, assumption)
        g, names = as_functionals(functionals, self.problem.objective.names)
        return g, names, lambda: self._functions.coefficients(g, assumption)

    def _inputs(self, X: Any, assumption: Assumption) -> Wanted:
        return self._functions.values(self.problem.transform(X), assumption)

    def _in_ball(self, question: Question) -> Question:
        """Refuse a norm bound where there is no norm."""
        check_norm_bound(question.norm_bound)
        if question.norm_bound is not None:
            self.problem.design("a norm bound").ball()
        return question

    def _question(self, X: Any, norm_bound: float | None, target: str | None) -> Question:
        """Return functionals that are values at inputs, of the function or its representation."""
        design, inputs = self.problem.design("band"), self.problem.transform(X)
        g = design.rows(inputs)
        check_target(target)
        function = target == "function"
        if target is None:
            function = design.dual and norm_bound is not None
        if function and not design.dual:
            raise NotAvailable(
                "target='function' needs a kernel, and this model has features only: leave out "
                "`target`, or use a kernel model such as KernelRidge with norm_bound=B."
            )
        if function and norm_bound is None:
            raise NotAvailable(
                "target='function' needs an assumption on the function between the training "
                "inputs: pass norm_bound=B, or use target='representation'."
            )
        similarity = None if norm_bound is None else design.self_similarity(inputs)
        if function and similarity is None:
            raise NotAvailable(
                "target='function' needs k(z, z) at the new inputs, which a precomputed kernel "
                "does not give: pass the kernel itself, or use target='representation'."
            )
        return Question(g, norm_bound, similarity, function)

    def _whole(self, assumption: Assumption, target: str | None) -> bool:
        """Whether values are those of the function itself, not of the model.

        With a kernel and a norm bound they are, by default.
        """
        check_target(target)
        dual = self.problem.design("band").dual
        if not assumption.given:
            return False
        if target == "function" and not dual and assumption.model_error is None:
            raise NotAvailable(
                "target='function' needs a kernel or a model error, and this model has features "
                "only: leave out `target`, use a kernel model such as KernelRidge with "
                "norm_bound=B, or pass model_error=D if the features miss the function by at most "
                "D at the inputs."
            )
        return dual if target is None else target == "function"

    def _about(
        self,
        functionals: Any,
        wanted: Wanted,
        names: Sequence[str],
        g: Array,
        assumption: Assumption,
    ) -> Asked:
        """Return functionals of the function, with the same question to the joint region.

        That bounds functionals of features, and of kernels the values at inputs.
        """
        question, bound = None, assumption.norm_bound
        if assumption.model_error is None and not self.problem.design("interval").dual:
            question = Question(g, bound)
        elif assumption.model_error is None and functionals.values_at is not None:
            question = self._question(functionals.values_at, bound, None)
        joint = self._joint(question)
        return Asked(wanted, names, g @ self.problem.estimate, assumption, joint)

    # The joint region

    def _joint(self, question: Question | None) -> Joint | None:
        if question is None:
            return None
        return Joint(lambda: self.region.shape, question, self.region.m)

    def _jointly(
        self, question: Question, make: Callable[..., T], *, inner: Any, band: bool = False
    ) -> Callable[[Any], Any]:
        """Return what makes results of the joint region; ``make`` takes the fields of `Bounds`."""
        check_inner(inner)

        def at(levels: Sequence[Level]) -> list[T]:
            found = self.region.shape.bounds(question, levels)
            made = partial(self._result, question, make, inner=bool(inner), band=band)
            return list(map(made, levels, found))

        return lambda level: self.region._at_levels(level, at)

    def _result(
        self,
        question: Question,
        make: Callable[..., T],
        level: Level,
        found: OuterBounds,
        *,
        inner: bool,
        band: bool,
    ) -> T:
        """Return the result of the joint region at one level; of labels within [-1, 1]."""
        problem, g, bound = self.problem, question.g, question.norm_bound
        value = problem.objective.response if band else np.asarray
        means, explanation, status = band and problem.noise.labels, found.explanation, found.status
        lower, upper = value(found.lower), value(found.upper)
        if means and (lower <= upper).all():
            beyond = int(((lower < -1) | (upper > 1)).sum())
            known = not np.isinf([found.lower, found.upper]).all()
            if known and beyond:
                explanation = explanation.with_more(Cause.CUT(count=beyond))
            if status in _OPEN:
                status = Status.CERTIFIED if known else Status.TRIVIAL
            lower, upper = (np.clip(ends, -1.0, 1.0) for ends in (lower, upper))
            if (lower == -1).all() and (upper == 1).all():
                status = Status.TRIVIAL
        if bound is not None:
            norm = problem.design("a norm bound").ball().norm(problem.estimate)
            if norm > bound:
                explanation = explanation.with_more(Cause.ESTIMATE_OUTSIDE(norm=norm, bound=bound))
        members, ends = None, (None, None)
        if inner:
            members = found.witnesses
            if members is None:
                members = self.region.shape.witnesses(g, level, bound)
        if members is not None:
            low, high = value((members * g).sum(axis=2))
            ends = (np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)) if means else (low, high)
        return make(
            level=float(level),
            estimate=value(g @ problem.estimate),
            lower=lower,
            upper=upper,
            inner_lower=ends[0],
            inner_upper=ends[1],
            witnesses=members,
            status=status,
            reason=explanation.text(),
            norm_bound=bound,
            caveat=self.region.caveat,
            explanation=explanation,
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
        level: Any,
        method: str,
        options: Options,
        make: Callable[..., T],
        assumption: Assumption,
        values: Callable[[], Wanted],
        joint: Callable[[Any], Any],
        *,
        inner: Any,
    ) -> Any:
        """Return simultaneous bounds; ``values`` gives the functionals if something is assumed."""
        cells = options[0]
        chosen = check_at_once(method, *options)
        if assumption.model_error is not None:
            _ = self._functions  # refuses models for which no method allows for it
            Setting.MODEL_ERROR.check(method)
            chosen = CELLS
        if chosen == JOINT:
            return joint(level)
        if not assumption.given:
            of = highest(level), chosen, cells
            made = balanced_cells(self.problem, question.g, *of, inner=bool(inner))
            if made is None:
                return joint(level)
            return at_each(level, lambda one: made.answer(one).bounds(make, one))
        try:
            if inner:
                raise NotAvailable(NO_MEMBERS)
            _ = self._functions
        except NotAvailable:
            if chosen == CELLS:
                raise
            return joint(level)
        asked = Asked(values(), names, question.g @ self.problem.estimate, assumption)

        def from_cells(one: float, auto: bool = False) -> T | None:
            return values_at_once(self._functions, asked, one, cells, make, unless_wider=auto)

        if chosen == "auto" and from_cells(highest(level), auto=True) is None:
            return joint(level)
        return at_each(level, from_cells)

    def _one_by_one(
        self,
        g: Array,
        names: Sequence[str],
        level: Any,
        method: str,
        options: Options,
        make: Callable[..., T],
    ) -> Any:
        """Return bounds that have their level each by itself."""
        checked, chosen_for = self._options(method, options), highest(level)
        numbers, jointly = self._numbers, self._bounded_jointly

        def at(one: float) -> T:
            found = numbers.answer(g, names, one, checked, chosen_for, jointly)
            bounds: T = found.bounds(make, one)
            return bounds

        return at_each(level, at)

    def _values(
        self, asked: Asked, level: Any, method: str, options: Options, make: Callable[..., T]
    ) -> Any:
        """Return bounds of functionals of the function, each with its level by itself."""
        functions, chosen_for = self._functions, highest(level)
        checked = function_options(functions, options[0], method, *options[1:])
        return at_each(
            level, lambda one: values_one_by_one(functions, asked, one, checked, make, chosen_for)
        )


def _require_alone(inner: object) -> None:
    """Refuse what only the joint region offers."""
    check_inner(inner)
    if inner:
        raise ValueError(
            "inner=True does not apply to one number at a time: expected simultaneous=True with "
            "it, given simultaneous=False. Leave out one of the two."
        )


def _numbered(g: Array) -> list[str]:
    """Return what the values at inputs are called."""
    return [f"{INPUT} {j}" for j in range(len(g))]

"""From questions about single numbers to results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming._words import shown
from unassuming.cells import KeptCells, Method
from unassuming.inputs import SingleOptions, check_inner, check_single
from unassuming.ranking import Level, RankTest, as_double, as_levels
from unassuming.regions._describe import assumptions
from unassuming.regions._explain import Cause, Explanation
from unassuming.regions._problem import Problem
from unassuming.regions._results import Levels
from unassuming.regions.single._facts import (
    explanation_of,
    method_facts,
    outside,
    repeated,
    status_of,
    two_values,
)
from unassuming.regions.single._hypotheses import FTest
from unassuming.regions.single._numbers import Numbers
from unassuming.regions.single._outcome import Outcome
from unassuming.regions.single._summary import Summary

T = TypeVar("T")

NAMES = {Method.STUDENT: "t", Method.NOTHING: "constant"}
"""What methods are called, if not by their value."""


def check_level(level: Any) -> float:
    """Return a level strictly between 0 and 1, or raise."""
    Level.at_least(level, 10**9)
    return as_double(level)


def at_each(level: Any, at: Callable[[float], T]) -> Any:
    """Return the answer at one level, or a dictionary of answers at several."""
    found = {as_double(one): at(check_level(one)) for one in as_levels(level)}
    return Levels(found) if np.ndim(level) else next(iter(found.values()))


def require_alone(inner: object) -> None:
    """Refuse what only the joint region offers."""
    check_inner(inner)
    if inner:
        raise ValueError(
            "inner=True does not apply to one number at a time: expected simultaneous=True with "
            "it, given simultaneous=False. Leave out one of the two."
        )


def options_for(
    numbers: Numbers, cells: Any, method: Any, weights: Any, estimator: Any
) -> SingleOptions:
    """Check the options of single numbers, also against what a stream has collected."""
    kept, problem = numbers.evidence.cells, numbers.problem
    if kept is None:
        rows = problem.data("intervals and tests of one number at a time need").rows
        return check_single(cells, method, weights, estimator, rows)
    options = check_single(cells, method, weights, estimator, problem.n)
    given = f"cell_estimate={estimator!r}" if options.robust else f"method={method!r}"
    if options.robust or method not in ("auto", "cells"):
        raise NotAvailable(
            f"{given} needs the rows of the data, and a stream keeps sums over cells: leave it "
            "out, or build the region in memory with ua.confidence_region(estimator, X, y)."
        )
    if isinstance(options.cells, int):
        require_cells(options.cells, kept)
    return options


def require_cells(cells: int, kept: KeptCells) -> None:
    """Refuse more cells than a stream has collected."""
    if cells > kept.number:
        raise ValueError(
            f"cells are more than the stream has collected: expected at most {kept.number}, given "
            f"{cells}. Pass StreamingRegion(..., cells={cells}), or a smaller number here."
        )


def called(method: Method) -> str:
    """Return the name of a method."""
    return NAMES.get(method, method.value)


def summary_of(
    numbers: Numbers, g: Array, names: Sequence[str], level: float, options: SingleOptions
) -> Summary:
    """Return the summary of functionals (N, d), one at a time."""
    problem, evidence = numbers.problem, numbers.evidence
    out = numbers.outcome(g, level, options)
    estimate = g @ problem.estimate
    why = explanation_of(out, names, g, level, evidence, options)
    facts = (
        Cause.ONE_AT_A_TIME(),
        *method_facts(out, names, evidence, options),
        *outside(problem, out.lower, out.upper, names, estimate),
        *why.facts,
        *repeated(problem, evidence),
    )
    return summary_from_cells(
        problem,
        Explanation(facts, why.remedies),
        names=tuple(names),
        estimate=estimate,
        cell_estimate=out.estimate,
        lower=out.lower,
        upper=out.upper,
        pvalue=out.pvalue,
        level=out.level,
        method=tuple(map(called, out.method)),
        requested_level=level,
        simultaneous=False,
        smallest_pvalue=np.divide(1.0, out.m, out=np.zeros(len(g)), where=out.m > 0),
    )


def one_by_one(
    numbers: Numbers,
    g: Array,
    names: Sequence[str],
    level: float,
    options: SingleOptions,
    make: Callable[..., T],
    *,
    own: bool,
) -> T:
    """Return bounds of functionals, each with its level by itself."""
    out = numbers.outcome(g, level, options, own=own)
    estimate = g @ numbers.problem.estimate
    why = explanation_of(out, names, g, level, numbers.evidence, options)
    why = replace(
        why, facts=(*outside(numbers.problem, out.lower, out.upper, names, estimate), *why.facts)
    )
    return bounds_from_cells(
        make,
        numbers.problem,
        why,
        level=level,
        estimate=estimate,
        lower=out.lower,
        upper=out.upper,
        status=status_of(out),
        simultaneous=False,
        method=_methods(out),
        attained=out.level,
    )


def bounds_from_cells(make: Callable[..., T], problem: Problem, why: Explanation, **own: Any) -> T:
    """Make a result whose bounds do not come from members of the region.

    Its level is the one that all bounds attain. Infinite ones, which attain 1, do not count.
    """
    own["level"] = float(min(own["attained"][own["attained"] < 1], default=own["level"]))
    why = replace(why, facts=(*two_values(problem), *why.facts))
    without = dict.fromkeys(("inner_lower", "inner_upper", "witnesses"))
    return make(**without, reason=why.text(), explanation=why, **own)


def summary_from_cells(problem: Problem, why: Explanation, **own: Any) -> Summary:
    """Make a summary, with the sentences that every summary of this model has."""
    return Summary(
        model=shown(problem.estimator),
        assumptions=assumptions(problem),
        explanation=replace(why, facts=(*two_values(problem), *why.facts)),
        **own,
    )


def with_caution(problem: Problem, test: RankTest | FTest) -> RankTest | FTest:
    """Add to a test what makes its assumption doubtful."""
    said = [str(fact) for fact in two_values(problem)]
    if not said or isinstance(test, FTest):
        return test
    return replace(test, caveat=" ".join([*said, *filter(None, [test.caveat])]))


def _methods(out: Outcome) -> str:
    used = [called(m) for m in out.method if m is not Method.NOTHING]
    return " and ".join(dict.fromkeys(used)) or "cells"

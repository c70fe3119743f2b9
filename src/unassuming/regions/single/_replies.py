"""From questions about single numbers to results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from unassuming._typing import Array
from unassuming._words import shown
from unassuming.cells import Method
from unassuming.inputs import SingleOptions, check_inner
from unassuming.ranking import Level, as_double, as_levels
from unassuming.regions._describe import describe
from unassuming.regions._explain import Cause, Explanation
from unassuming.regions._results import Levels
from unassuming.regions.single._facts import explanation_of, method_facts, outside, status_of
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
        *outside(out.lower, out.upper, names, estimate),
        *why.facts,
    )
    return Summary(
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
        model=shown(problem.estimator),
        assumptions=describe(problem, 2).under("assumes"),
        explanation=Explanation(facts, why.remedies),
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
    return make(
        level=level,
        estimate=estimate,
        lower=out.lower,
        upper=out.upper,
        inner_lower=None,
        inner_upper=None,
        witnesses=None,
        status=status_of(out),
        reason=why.text(),
        explanation=why,
        simultaneous=False,
        method=_methods(out),
        attained=out.level,
    )


def _methods(out: Outcome) -> str:
    used = [called(m) for m in out.method if m is not Method.NOTHING]
    return " and ".join(dict.fromkeys(used)) or "cells"

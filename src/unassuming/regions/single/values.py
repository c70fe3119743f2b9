"""From questions about values of a function to results: bounds, bands and tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.cells.codes import fewest_cells, largest_q, number_of_words
from unassuming.cells.functions import Wanted
from unassuming.cells.predict import Choice
from unassuming.cells.theorem import Intervals
from unassuming.inputs import SingleOptions
from unassuming.ranking import Level, RankTest
from unassuming.regions.explain import (
    FEWER_FEATURES,
    Cause,
    Explanation,
    Fact,
    Remedy,
    Status,
    lower_level,
)
from unassuming.regions.shapes import OuterBounds, Question, Shape
from unassuming.regions.single.at_once import too_few_balanced
from unassuming.regions.single.functions import Assumption, Functions
from unassuming.regions.single.numbers import NORM_BOUND, OTHER_CELLS, too_few
from unassuming.regions.single.summary import Answer

T = TypeVar("T")

NOT_EXACT = "The p-value is an upper bound: it allows for the largest bias."
AT_ONCE = "The p-value is an upper bound, from the joint region."


@final
@dataclass(frozen=True, eq=False)
class Joint:
    """The same question to the joint region, of m transformations."""

    shape: Callable[[], Shape]
    question: Question
    m: int

    def bounds(self, qs: Sequence[int]) -> list[OuterBounds]:
        """Return the bounds at levels 1 - q/m."""
        return self.shape().bounds(self.question, [Level(q, self.m) for q in qs])


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """N functionals of the function: what they are called, and the model's estimates of them."""

    # `joint` is None where the joint region cannot answer.

    wanted: Wanted
    names: Sequence[str]
    estimate: Array
    assumption: Assumption
    joint: Joint | None = None

    def jointly(
        self, functions: Functions, choice: Choice, level: float, options: SingleOptions
    ) -> BoolArray:
        """Return which functionals the joint region is predicted to bound more narrowly."""
        joint, free = self.joint, options.cells is None and options.method == "auto"
        if joint is None or not free or not largest_q(level, joint.m):
            return np.zeros(len(self.wanted), dtype=np.bool_)
        return functions.narrower_jointly(self.wanted, choice, level, self.assumption)


def values_one_by_one(
    functions: Functions,
    asked: Asked,
    level: float,
    options: SingleOptions,
    make: Callable[..., T],
    chosen_for: float,
) -> T:
    """Return the intervals of functionals of the function, each with its level by itself."""
    # Where the joint region is predicted to be narrower its bounds are used: they hold for each.
    wanted, assumption, N = asked.wanted, asked.assumption, len(asked.wanted)
    made = functions.chosen(wanted, chosen_for, options, assumption)
    got = functions.intervals(wanted, made, level, assumption)
    lower, upper = got.lower, got.upper
    attained = np.where(got.q > 0, got.level, 1.0)
    used = asked.jointly(functions, made[1], chosen_for, options)
    if used.any() and asked.joint is not None:
        q = largest_q(level, asked.joint.m)
        (bounds,) = asked.joint.bounds([q])
        inside = bounds.lower <= bounds.upper
        lower = np.where(used, np.where(inside, bounds.lower, np.nan), lower)
        upper = np.where(used, np.where(inside, bounds.upper, np.nan), upper)
        attained = np.where(used, 1 - q / asked.joint.m, attained)
    known, empty = (got.q > 0) | used, np.isnan(lower)
    why = Explanation(within_ball(functions, wanted, lower, upper, assumption))
    status = Status.ONE_BY_ONE
    if not known.all():
        why = _too_few(functions, got, level, known, options, assumption, why.facts)
        status = Status.TOO_FEW_CELLS if np.isinf([lower, upper]).any() else status
    if empty.any():
        status = Status.EMPTY if empty.all() else Status.SOME_EMPTY
        said = too_small(assumption) if empty.all() else _some_empty(assumption, N)
        why = replace(why, facts=(said, *why.facts))
    found = Answer.of(
        N,
        estimate=np.where(used | np.isnan(got.estimate), asked.estimate, got.estimate),
        lower=lower,
        upper=upper,
        level=attained,
        method=np.where(used, "joint region", "cells"),
        status=status,
        why=why,
    )
    return found.bounds(make, level, **assumption.stated)


def values_at_once(
    functions: Functions,
    asked: Asked,
    level: float,
    cells: int | None,
    make: Callable[..., T],
    *,
    unless_wider: bool,
) -> T | None:
    """Return a band from balanced cells."""
    # With `unless_wider` return None where the joint region is expected to be narrower, or where
    # there are too few rows for the level.
    wanted, assumption, N = asked.wanted, asked.assumption, len(asked.wanted)
    found = functions.balanced(wanted, level, cells, assumption)
    if found is None:
        if unless_wider:
            return None
        each = 1 if functions.blocks else functions.system(assumption).trend.shape[1]
        there = f"there are {functions.units} {'blocks' if functions.blocks else 'rows'}"
        raise too_few_balanced(level, there, each, cells, joint=assumption.model_error is None)
    kriging, choice = found
    if unless_wider and functions.wider_at_once(wanted, choice, level, assumption):
        return None
    band = functions.band(wanted, kriging, float(choice.mu[0]), level, assumption)
    limit, beyond = functions.assumed(assumption).limit(wanted.norm), assumption.beyond
    lower = np.maximum(band.estimate - band.half_width, -limit)
    upper = np.minimum(band.estimate + band.half_width, limit)
    refuted = bool((lower > upper).any())
    lower, upper = lower - beyond, upper + beyond
    facts = within_ball(functions, wanted, lower, upper, assumption)
    answer = Answer.of(
        N,
        estimate=band.estimate,
        lower=lower,
        upper=upper,
        level=1 - band.q / band.m,
        method="balanced cells",
        status=Status.EMPTY if refuted else Status.ALL_AT_ONCE,
        why=Explanation((too_small(assumption),) if refuted else facts),
        simultaneous=True,
    )
    return answer.bounds(make, level, **assumption.stated)


def function_test(
    functions: Functions,
    asked: Asked,
    tau: Array,
    level: float,
    options: SingleOptions,
) -> RankTest:
    """Test a hypothetical value of one functional of the function, dual to its interval."""
    wanted, assumption = asked.wanted, asked.assumption
    if len(wanted) != 1:
        raise NotAvailable(
            "a norm bound or a model error allows tests of one functional at a time: expected one "
            f"functional, given {len(wanted)}. Test each by itself."
        )
    tested = f"{asked.names[0]} = {tau[0]:.6g}"
    made = functions.chosen(wanted, level, options, assumption)
    if asked.jointly(functions, made[1], level, options)[0] and asked.joint is not None:
        m = asked.joint.m
        inside = [b.lower[0] <= tau[0] <= b.upper[0] for b in asked.joint.bounds(range(1, m))]
        return RankTest(m - sum(inside), m, np.zeros(0), AT_ONCE, tested)
    got = functions.intervals(wanted, made, level, assumption, tau)
    return RankTest(int(got.m[0] - got.count[0]), int(got.m[0]), np.zeros(0), NOT_EXACT, tested)


def within_ball(
    functions: Functions, wanted: Wanted, lower: Array, upper: Array, assumption: Assumption
) -> tuple[Fact, ...]:
    """Say where the norm bound alone gives all bounds, (N,)."""
    limit = functions.assumed(assumption).limit(wanted.norm) + assumption.beyond
    with np.errstate(invalid="ignore"):
        alone = np.isfinite(limit) & (np.minimum(-lower, upper) >= limit * (1 - 1e-9))
    return (Cause.BALL_ALONE(),) if len(limit) and alone.all() else ()


def too_small(assumption: Assumption) -> Fact:
    """Say what is too small where nothing within the norm bound agrees with the data."""
    bound, error = assumption.norm_bound, assumption.model_error
    if error is None:
        return Cause.BALL_TOO_SMALL(bound=bound)
    return Cause.BALL_OR_ERROR_TOO_SMALL(bound=bound, error=error)


def _some_empty(assumption: Assumption, number: int) -> Fact:
    """Say what some empty intervals mean, of several that hold one at a time."""
    which, holds = f"The norm bound of {assumption.norm_bound:g}", "it holds"
    if assumption.model_error is not None:
        which += f", or the model error of {assumption.model_error:g},"
        holds = "both hold"
    return Cause.SOME_EMPTY(which=which, holds=holds, count=number)


def _too_few(
    functions: Functions,
    got: Intervals,
    level: float,
    known: BoolArray,
    options: SingleOptions,
    assumption: Assumption,
    facts: tuple[Fact, ...],
) -> Explanation:
    """Say why the data say nothing about some values, and what makes infinite intervals finite."""
    names = f"{np.count_nonzero(~known)} of {len(known)} values"
    free = functions.system(assumption).trend.shape[1]
    rows = max(fewest_cells(level) * max(free, 1), functions.units + 1)
    enough = f"{rows:,} {'blocks of rows' if functions.blocks else 'rows'}"
    best = 1 - 1 / number_of_words(int(got.cells[~known].min()))
    remedies: list[Remedy] = [lower_level(best)] if 0.5 <= best < level else []
    remedies += [OTHER_CELLS] * (options.cells is not None)
    remedies += [FEWER_FEATURES] * (not functions.design.dual)
    remedies += [NORM_BOUND] * (assumption.norm_bound is None)
    return Explanation((*facts, too_few(names, level, best, enough)), tuple(remedies))

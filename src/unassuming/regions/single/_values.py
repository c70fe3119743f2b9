"""From questions about values of a function, one at a time, to results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.cells import Intervals, fewest_cells, number_of_statistics
from unassuming.cells.functions import Wanted
from unassuming.geometry import no_narrower
from unassuming.inputs import SingleOptions, check_single
from unassuming.ranking import RankTest
from unassuming.regions._explain import Cause, Explanation, Fact, Remedy, Status
from unassuming.regions._remedies import FEWER_FEATURES
from unassuming.regions._remedies import level as lower_level
from unassuming.regions.single._facts import NORM_BOUND, OTHER_CELLS, cells_missing, outside
from unassuming.regions.single._functions import Assumption, Functions
from unassuming.regions.single._replies import bounds_from_cells

T = TypeVar("T")


def values_one_by_one(
    functions: Functions,
    wanted: Wanted,
    names: Sequence[str],
    estimate: Array,
    level: float,
    options: SingleOptions,
    assumption: Assumption,
    make: Callable[..., T],
) -> T:
    """Return the intervals of functionals of the function, each with its level by itself."""
    got = functions.intervals(wanted, level, options, assumption)
    known, finite = got.q > 0, not np.isinf([got.lower, got.upper]).any()
    facts, empty = (
        within_ball(functions, wanted, got.lower, got.upper, assumption),
        np.isnan(got.lower),
    )
    facts += outside(functions.problem, got.lower, got.upper, names, estimate)
    why, status = Explanation(facts), Status.ONE_BY_ONE
    if not known.all():
        fact = _too_few(functions, got, level, known, assumption)
        least = int(got.cells[~known].min())
        ways = _remedies(functions, least, level, options, assumption)
        why = Explanation((*facts, fact), ways)
        status = Status.ONE_BY_ONE if finite else Status.TOO_FEW_CELLS
    if empty.all():
        why, status = replace(why, facts=(too_small(assumption), *why.facts)), Status.EMPTY
    elif empty.any():
        some = _some_empty(assumption, len(empty))
        why, status = replace(why, facts=(some, *why.facts)), Status.SOME_EMPTY
    return bounds_from_cells(
        make,
        functions.problem,
        why,
        level=level,
        estimate=estimate,
        lower=got.lower,
        upper=got.upper,
        status=status,
        simultaneous=False,
        method="cells",
        attained=np.where(got.q > 0, got.level, 1.0),
        norm_bound=assumption.norm_bound,
        model_error=assumption.model_error,
    )


def within_ball(
    functions: Functions, wanted: Wanted, lower: Array, upper: Array, assumption: Assumption
) -> tuple[Fact, ...]:
    """Say where the norm bound alone gives all bounds, (N,)."""
    limit = functions.assumed(assumption).limit(wanted.norm) + assumption.beyond
    return (Cause.BALL_ALONE(),) if no_narrower(lower, upper, limit) else ()


def _some_empty(assumption: Assumption, count: int) -> Fact:
    """Say what some empty intervals mean, of several that hold one at a time."""
    which, holds = f"The norm bound of {assumption.norm_bound:g}", "it holds"
    if assumption.model_error is not None:
        which += f", or the model error of {assumption.model_error:g},"
        holds = "both hold"
    return Cause.SOME_EMPTY(which=which, holds=holds, count=count)


def too_small(assumption: Assumption) -> Fact:
    """Say what is too small where nothing within the norm bound agrees with the data."""
    bound, error = assumption.norm_bound, assumption.model_error
    if error is None:
        return Cause.BALL_TOO_SMALL(bound=bound)
    return Cause.BALL_OR_ERROR_TOO_SMALL(bound=bound, error=error)


def _too_few(
    functions: Functions, got: Intervals, level: float, known: BoolArray, assumption: Assumption
) -> Fact:
    """Say why the data say nothing about some values."""
    most, needed = int(got.cells[~known].max()), fewest_cells(level)
    names = f"{np.count_nonzero(~known)} of {len(known)} values"
    if most >= needed:
        return Cause.LEVEL_TOO_HIGH(names=names, level=level)
    rotated = functions.problem.rotated
    units = "rotated rows" if rotated else "rows"
    units = units if functions.clusters is None else f"blocks of {units}"
    free = functions.system(assumption).trend.shape[1]
    n = functions.problem.n
    return cells_missing(names, level, most, units, n, free, counted=not rotated)


def _remedies(
    functions: Functions,
    cells: int,
    level: float,
    options: SingleOptions,
    assumption: Assumption,
) -> tuple[Remedy, ...]:
    """Say what makes infinite intervals finite, besides more rows."""
    remedies = []
    best = 1 - 1 / number_of_statistics(cells)
    if 0.5 <= best < level:
        remedies.append(lower_level(best))
    if options.cells is not None:
        remedies.append(OTHER_CELLS)
    if not functions.design.dual:
        remedies.append(FEWER_FEATURES)
    if assumption.norm_bound is None:
        remedies.append(NORM_BOUND)
    return tuple(remedies)


def function_test(
    functions: Functions,
    wanted: Wanted,
    names: Sequence[str],
    tau: Array,
    level: float,
    options: SingleOptions,
    assumption: Assumption,
) -> RankTest:
    """Test a hypothetical value of one functional of the function."""
    if len(wanted) != 1:
        raise NotAvailable(
            "a norm bound or a model error allows tests of one functional at a time: expected one "
            f"functional, given {len(wanted)}. Test each by itself."
        )
    tested = f"{names[0]} = {tau[0]:.6g}"
    return functions.test(wanted, tau, level, options, assumption, tested)


def function_options(
    functions: Functions, cells: Any, method: Any, weights: Any, estimator: Any
) -> SingleOptions:
    """Check the options of values of a function; refuse those that do not allow for a bias."""
    options = check_single(cells, method, weights, estimator, functions.data.rows)
    if options.method not in ("auto", "cells"):
        raise ValueError(
            "method does not go with norm_bound or model_error: expected 'auto' or 'cells', given "
            f"{options.method!r}. Leave it out."
        )
    if (options.weights, options.estimator) != ("design", "mean"):
        raise ValueError(
            "cell_weights and cell_estimate do not go with norm_bound or model_error: expected "
            f"'design' and 'mean', given {options.weights!r} and {options.estimator!r}. Leave them "
            "out."
        )
    return options

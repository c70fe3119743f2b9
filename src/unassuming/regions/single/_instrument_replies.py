"""From questions about coefficients of endogenous columns to results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming._words import joined
from unassuming.cells import fewest_cells
from unassuming.inputs import SingleOptions
from unassuming.ranking import RankTest
from unassuming.regions._explain import Cause, Explanation, Fact, Remedy, Status
from unassuming.regions._remedies import STRONGER
from unassuming.regions._remedies import level as lower_level
from unassuming.regions._results import count
from unassuming.regions._unions import IntervalUnion, several
from unassuming.regions.single._facts import OTHER_CELLS, cells_missing, highest_level, units_of
from unassuming.regions.single._instruments import EndogenousSet, Instruments
from unassuming.regions.single._replies import bounds_from_cells, options_for, summary_from_cells
from unassuming.regions.single._summary import Summary

T = TypeVar("T")


def instrument_summary(
    instruments: Instruments,
    g: Array,
    names: tuple[str, ...],
    level: float,
    options: SingleOptions,
    *,
    all_asked: bool,
) -> Summary:
    """Return the summary of multiples of the coefficient of the one endogenous column."""
    problem = instruments.problem
    factors = instruments.multiples(g, names)
    found = instruments.values(level, options)
    sets = tuple(found.values.times(float(c)) for c in factors)
    tested = instruments.test(instruments.of_one(0.0), level, options)
    why = _why(instruments, found, sets, level, options)
    left_out = all_asked and instruments.others
    alone = (Cause.CONTROLS_ALONE(names=instruments.name),) if left_out else ()
    return summary_from_cells(
        problem,
        Explanation((*_method(instruments, found), *why.facts, *alone), why.remedies),
        names=names,
        estimate=g @ problem.estimate,
        cell_estimate=factors * found.estimate,
        lower=np.array([one.lower for one in sets]),
        upper=np.array([one.upper for one in sets]),
        pvalue=np.full(len(g), tested.pvalue),
        level=np.full(len(g), found.level),
        method=(instruments.method.value,) * len(g),
        requested_level=level,
        simultaneous=False,
        sets=sets,
        smallest_pvalue=np.full(len(g), 1 / tested.m),
    )


def instrument_bounds(
    instruments: Instruments,
    g: Array,
    names: tuple[str, ...],
    level: float,
    options: SingleOptions,
    make: Callable[..., T],
) -> T:
    """Return sets of multiples of the coefficient of the one endogenous column."""
    factors = instruments.multiples(g, names)
    found = instruments.values(level, options)
    sets = tuple(found.values.times(float(c)) for c in factors)
    return bounds_from_cells(
        make,
        instruments.problem,
        _why(instruments, found, sets, level, options),
        level=level,
        estimate=g @ instruments.problem.estimate,
        lower=np.array([one.lower for one in sets]),
        upper=np.array([one.upper for one in sets]),
        status=_status(found),
        simultaneous=False,
        method=instruments.method.value,
        attained=np.full(len(g), found.level),
        sets=sets,
    )


def instrument_test(
    instruments: Instruments,
    g: Array,
    names: tuple[str, ...],
    level: float,
    options: SingleOptions,
    tau: Array,
) -> RankTest:
    """Test hypothetical values of all endogenous coefficients, and of others if some are given."""
    tested = joined(f"{n} = {t:.6g}" for n, t in zip(names, tau.tolist(), strict=True))
    return instruments.test(instruments.hypothesis(g, tau), level, options, tested)


def instrument_options(
    instruments: Instruments, cells: Any, method: Any, weights: Any, estimator: Any
) -> SingleOptions:
    """Check the options; refuse those that need columns that do not depend on the noise."""
    options = options_for(instruments.numbers, cells, method, weights, estimator)
    allowed = ("auto", instruments.method.value)
    if options.method not in allowed:
        raise NotAvailable(
            f"method={options.method!r} is not known for instruments: expected "
            f"{' or '.join(map(repr, allowed))} with {instruments.problem.noise!r}. Leave it out."
        )
    if options.robust or options.weights != "design":
        raise NotAvailable(
            "estimator and weights that depend on residuals are not known for instruments, since "
            "the residuals depend on the endogenous columns: leave them out."
        )
    return options


def _method(instruments: Instruments, found: EndogenousSet) -> Iterator[Fact]:
    """Say how the set was found."""
    if not found.cells:
        return
    k = len(instruments.objective.roles.instruments)
    units = units_of(instruments.evidence)
    if not instruments.evidence.flips:
        units = "differences of paired rows"
    words = "the instrument" if k == 1 else f"{k} instruments at once"
    yield Cause.BY_INSTRUMENTS(instruments=words, cells=count(found.cells, "cell"), units=units)


def _status(found: EndogenousSet) -> Status:
    """Return what kind of answer a set is."""
    if found.level == 1:
        return Status.TOO_FEW_CELLS
    if not len(found.values):
        return Status.EMPTY
    if not found.values.bounded:
        return Status.ENDLESS_SET
    return Status.ONE_BY_ONE if len(found.values) == 1 else Status.SEVERAL_PARTS


def _why(
    instruments: Instruments,
    found: EndogenousSet,
    sets: tuple[IntervalUnion, ...],
    level: float,
    options: SingleOptions,
) -> Explanation:
    """Say why a set is not a bounded interval, and what to do."""
    status, name = _status(found), instruments.name
    hull = (Cause.HULL(),) if several(sets) and status is not Status.EMPTY else ()
    if status is Status.TOO_FEW_CELLS:
        return _too_few(instruments, found, level, options)
    if status is Status.EMPTY:
        return Explanation((Cause.NO_VALUE(names=name, alpha=1 - found.level),))
    if status is Status.ENDLESS_SET:
        return Explanation((*hull, Cause.WEAK_INSTRUMENTS(names=name)), (STRONGER,))
    return Explanation(hull)


def _too_few(
    instruments: Instruments, found: EndogenousSet, level: float, options: SingleOptions
) -> Explanation:
    """Say why no cells attain the level."""
    evidence, needed, cells = instruments.evidence, fewest_cells(level), found.cells
    fact = Cause.LEVEL_TOO_HIGH(names=instruments.name, level=level)
    remedies: list[Remedy] = []
    if cells < needed and options.cells is not None:
        fact = Cause.CELLS_CHOSEN(level=level, needed=needed, cells=cells)
    elif cells < needed:
        n, rank, units = evidence.n, len(evidence.whole.T), units_of(evidence)
        fact = cells_missing(instruments.name, level, cells, units, n, rank)
    best = highest_level(cells, chosen=options.cells is not None)
    if 0.5 <= best < level:
        remedies.append(lower_level(best))
    if options.cells is not None:
        remedies.append(OTHER_CELLS)
    return Explanation((fact,), tuple(remedies))

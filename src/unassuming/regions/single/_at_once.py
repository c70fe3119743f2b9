"""All numbers at once, from balanced cells or from the joint region (docs/theory.md 9.7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.cells import (
    Factor,
    balanced_band,
    balanced_division,
    balanced_number,
    balanced_numbers,
    estimates,
    factors_of_rows,
)
from unassuming.ranking import Level
from unassuming.regions._explain import Cause, Explanation, Remedy, Status
from unassuming.regions._problem import Problem
from unassuming.regions._question import Call, Question
from unassuming.regions.shapes import Shape
from unassuming.regions.single._evidence import Evidence
from unassuming.regions.single._facts import outside, units_of
from unassuming.regions.single._joint_width import joint_of_features
from unassuming.regions.single._no_balanced_cells import Shortage
from unassuming.regions.single._replies import bounds_from_cells, require_cells, summary_from_cells
from unassuming.regions.single._summary import Summary

T = TypeVar("T")

JOINT, CELLS, AUTO = "joint", "cells", "auto"

_USE_JOINT = Remedy("method='joint'", "--method joint")

NO_MEMBERS = "balanced cells do not search for members: leave out inner, or use method='joint'."


@final
@dataclass(frozen=True, eq=False)
class BalancedCells:
    """Cells for a simultaneous band, and its expected half-widths for noise of variance one."""

    factors: tuple[Factor, ...]
    predicted: Array

    @property
    def K(self) -> int:
        """Number of cells."""
        return len(self.factors)


@final
@dataclass(frozen=True, eq=False)
class Simultaneous:
    """Intervals of N numbers that hold all at once, with adjusted p-values of the values 0."""

    estimate: Array
    lower: Array
    upper: Array
    pvalue: Array
    level: float
    cells: int
    smallest_pvalue: float


def check_at_once(method: Any, cells: Any, weights: Any, estimator: Any) -> str:
    """Return the method of simultaneous bounds, after checking what goes with it."""
    if not isinstance(method, str) or method not in (JOINT, CELLS, AUTO):
        raise ValueError(
            f"method is unknown: expected 'joint', 'cells' or 'auto' with simultaneous=True, given "
            f"{method!r}. Pass simultaneous=False for the methods for one number at a time."
        )
    if (weights, estimator) != ("design", "mean"):
        raise ValueError(
            "cell_weights and cell_estimate apply to one number at a time: expected "
            f"simultaneous=False with them, given cell_weights={weights!r} and cell_estimate="
            f"{estimator!r}. Leave them out."
        )
    if cells is None:
        return method
    integer = isinstance(cells, (int, np.integer)) and not isinstance(cells, bool)
    if method != CELLS or not integer or cells < 2 or cells & (cells - 1):
        raise ValueError(
            "cells does not fit simultaneous bounds: expected a power of two with method='cells', "
            f"given {cells!r} with method={method!r}. Leave it out for the default."
        )
    return method


def cells_for_model_error(method: str) -> str:
    """Return the method for simultaneous bounds that allow for a model error."""
    if method == JOINT:
        raise NotAvailable(
            "a model error needs estimates in cells: the joint region holds for the features as "
            "they are. Pass method='cells', or simultaneous=False for one value at a time."
        )
    return CELLS


def cells_for_functionals(method: str | None) -> str:
    """Return the method for simultaneous bounds of functionals of a kernel's function."""
    if method not in (CELLS, AUTO):
        raise NotAvailable(
            "the joint region of a kernel bounds its representation: functionals of the function "
            "itself need method='cells', or simultaneous=False for one at a time."
        )
    return CELLS


def function_cells(method: str, inner: bool, made: Callable[[], object]) -> bool:
    """Whether balanced cells may serve values of a function; "auto" then leaves out the others.

    ``made`` refuses models and noise for which there is no answer.
    """
    try:
        if inner:
            raise NotAvailable(NO_MEMBERS)
        made()
    except NotAvailable:
        if method == CELLS:
            raise
        return False
    return True


def division_for(
    shape: Shape, question: Question, level: float, method: str, cells: int | None
) -> BalancedCells | None:
    """Return the balanced cells for simultaneous bounds; None if the joint region serves them."""
    if method == JOINT:
        return None
    problem, g = shape.problem, question.g
    try:
        if question.inner:
            raise NotAvailable(NO_MEMBERS)
        evidence = Evidence.of(problem)
        if not evidence.flips:
            needed = (
                f"balanced cells need noise whose signs may change, and {problem.noise!r} does not "
                "declare that"
            )
            pairs = (
                "Pairs of rows, which work for one number at a time, are too imprecise for all at "
                "once."
            )
            after = f"if the noise is symmetric. {pairs}"
            raise NotAvailable(
                f"{needed}: use method='joint', or noise='symmetric' {after}",
                f"{needed}: use --method joint, or --noise symmetric {after}",
            )
    except NotAvailable:
        if method == AUTO:
            return None
        raise
    made = _balanced(evidence, problem, g, level, cells)
    if method == CELLS:
        if made is None:
            raise _shortage(evidence, level, cells).error()
        return made
    if made is None or not _narrower(made, evidence, g, level, exact=problem.whitened):
        return None
    known = np.asarray((estimates(made.factors, g).v > 0).all(axis=1))
    return None if problem.whitened and _lost_in_cells(problem, g, known) else made


def _lost_in_cells(problem: Problem, g: Array, known: BoolArray) -> bool:
    """Whether rounding hides functionals (N, d) in cells that the rows determine."""
    design = problem.objective.design
    hidden = g.any(axis=1) & ~known
    return bool(design is not None and hidden.any() and design.unseen == 0)


def _shortage(evidence: Evidence, level: float, cells: int | None) -> Shortage:
    """Return what balanced cells of this model take."""
    n, kept = evidence.n, evidence.cells
    return Shortage(
        level,
        balanced_numbers(level),
        each=max(len(evidence.whole.T), 1),
        rows=n,
        units=n if evidence.clusters is None else evidence.clusters,
        chosen=cells,
        kept=None if kept is None else kept.number,
    )


def _balanced(
    evidence: Evidence, problem: Problem, g: Array, level: float, cells: int | None
) -> BalancedCells | None:
    """Return balanced cells of the rows, or of those that a stream has collected."""
    kept = evidence.cells
    if kept is not None:
        if cells is not None:
            require_cells(cells, kept)
        found = balanced_number(kept, g, level, cells)
        return None if found is None else BalancedCells(tuple(kept.factors(found[0])), found[1])
    rows = evidence.signed(None)
    made = balanced_division(
        rows.Phi,
        rows.coordinates(g),
        level,
        seed=problem.seed,
        clusters=rows.clusters,
        cells=cells,
        made=problem.divisions,
    )
    if made is None:
        return None
    factors = factors_of_rows(rows.Phi, rows.y, made.labels, made.K, rows.centre)
    return BalancedCells(tuple(factors), made.predicted)


def _narrower(
    made: BalancedCells, evidence: Evidence, g: Array, level: float, *, exact: bool
) -> bool:
    """Whether balanced cells are expected to give narrower bounds than the joint region.

    The joint region of a quadratic objective is about as wide as the F ellipsoid. Other objectives
    have outer bounds that are wider still, or none.
    """
    if not exact:
        return True
    whole = estimates([evidence.whole], g).v[:, 0]
    n, d = evidence.n, len(evidence.whole.T)
    known = (whole > 0) & np.isfinite(made.predicted)
    if n <= d or not known.any():
        return True
    joint = joint_of_features(whole[known], n, d, level)
    return bool(np.log(made.predicted[known] / joint).mean() < 0)


def in_balanced_cells(g: Array, level: float, made: BalancedCells) -> Simultaneous:
    """Return the simultaneous intervals of functionals (N, d)."""
    found = estimates(made.factors, g)
    band = balanced_band(found.beta, found.v, level, found.error)
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma = np.sqrt((1 / found.v).sum(axis=1)) / made.K
        distance = np.nan_to_num(np.abs(band.estimate) / sigma)
    larger = (band.statistics[None, :] >= distance[:, None]).sum(axis=1)
    zero = ~g.any(axis=1)
    known = np.isfinite(band.half_width) & ~zero
    estimate = np.where(zero, 0.0, band.estimate)
    half = np.where(known, band.half_width, np.where(zero, 0.0, np.inf))
    lower = np.where(known | zero, estimate - half, -np.inf)
    upper = np.where(known | zero, estimate + half, np.inf)
    attained = 1 - band.q / band.m if band.q else 1.0
    pvalue = np.where(known, (1 + larger) / made.K, 1.0)
    return Simultaneous(estimate, lower, upper, pvalue, attained, made.K, 1 / made.K)


def all_at_once(
    shape: Shape,
    question: Question,
    names: Sequence[str],
    level: float,
    made: BalancedCells,
    make: Callable[..., T],
) -> T:
    """Return simultaneous bounds from balanced cells."""
    found = in_balanced_cells(question.g, level, made)
    estimate = question.g @ shape.problem.estimate
    known = np.isfinite(found.lower) & np.isfinite(found.upper)
    facts = outside(shape.problem, found.lower, found.upper, names, estimate)
    status, why = Status.ALL_AT_ONCE, Explanation(facts)
    if _lost_in_cells(shape.problem, question.g, known):
        status = Status.TOO_FEW_CELLS
        remedies = (_USE_JOINT,) if shape.problem.whitened else ()  # others have no joint bounds
        why = Explanation((*facts, Cause.HIDDEN_IN_CELLS()), remedies)
    elif not known.all():
        status, why = Status.UNDETERMINED, Explanation((*facts, Cause.HIDDEN_FEATURES()))
    return bounds_from_cells(
        make,
        shape.problem,
        why,
        level=level,
        estimate=estimate,
        lower=found.lower,
        upper=found.upper,
        status=status,
        method="balanced cells",
        attained=np.full(len(question.g), found.level),
    )


def simultaneous_summary(
    shape: Shape,
    g: Array,
    names: Sequence[str],
    level: float,
    joint_level: Callable[[float], Level],
    made: BalancedCells | None,
) -> Summary:
    """Return the summary of functionals whose intervals hold all at once."""
    problem = shape.problem
    estimate = g @ problem.estimate
    if made is None:
        found, why = _joint(shape, g, joint_level(level))
        how, method = Cause.JOINT_REGION(), "joint region"
    else:
        found, why = in_balanced_cells(g, level, made), Explanation()
        how = Cause.BALANCED_CELLS(cells=found.cells, units=units_of(Evidence.of(problem)))
        method = "balanced cells"
    facts = (
        Cause.ALL_HOLD(level=found.level),
        how,
        *outside(problem, found.lower, found.upper, names, estimate),
        *why.facts,
    )
    return summary_from_cells(
        problem,
        Explanation(facts, why.remedies),
        names=tuple(names),
        estimate=estimate,
        cell_estimate=found.estimate,
        lower=found.lower,
        upper=found.upper,
        pvalue=found.pvalue,
        level=np.full(len(g), found.level),
        method=(method,) * len(g),
        requested_level=level,
        simultaneous=True,
        smallest_pvalue=np.full(len(g), found.smallest_pvalue),
    )


def _joint(shape: Shape, g: Array, level: Level) -> tuple[Simultaneous, Explanation]:
    """Return the bounds of the joint region, and the smallest q at which they exclude 0."""
    every = [Level(q, level.m) for q in range(1, level.m)]
    bounds = shape.bounds(Question(Call.INTERVAL, g), every)
    asked = bounds[level.q - 1]
    least = np.full(len(g), level.m)
    for one, bound in zip(reversed(every), reversed(bounds), strict=True):
        out = (bound.lower > 0) | (bound.upper < 0)
        least = np.where(out, one.q, least)
    estimate = g @ shape.problem.estimate
    found = Simultaneous(
        estimate, asked.lower, asked.upper, least / level.m, float(level), 0, 1 / level.m
    )
    return found, asked.explanation

"""All numbers at once, from balanced cells or from the joint region (docs/theory.md 11.8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.balanced import (
    NUMBERS,
    balanced_band,
    balanced_places,
    narrowest,
)
from unassuming.cells.codes import largest_q
from unassuming.cells.estimates import CellSums, fits
from unassuming.ranking import Level
from unassuming.regions.explain import Cause, Explanation, Status
from unassuming.regions.problem import Problem
from unassuming.regions.results import count
from unassuming.regions.shapes import Question, Shape
from unassuming.regions.single.evidence import Evidence
from unassuming.regions.single.joint_width import joint_of_features
from unassuming.regions.single.summary import (
    Summary,
    bounds_from_cells,
    differing,
    summary_from_cells,
)

T = TypeVar("T")

JOINT, CELLS, AUTO = "joint", "cells", "auto"
NO_MEMBERS = "balanced cells do not search for members: leave out inner, or use method='joint'."


@final
@dataclass(frozen=True, eq=False)
class AtOnce:
    """Intervals of N numbers that hold all at once, with adjusted p-values of the values 0."""

    estimate: Array
    lower: Array
    upper: Array
    pvalue: Array
    level: float


@final
@dataclass(frozen=True, eq=False)
class BalancedCells:
    """Cells for N numbers: the estimates ``whole`` of all rows plus ``size`` times uᵀθ, each (N,).

    ``known`` says which of them the rows determine; ``predicted`` are the expected half-widths for
    noise of size one.
    """

    sums: CellSums
    U: Array
    size: Array
    known: BoolArray
    whole: Array
    predicted: Array

    def band(self, level: float) -> AtOnce:
        """Return the simultaneous intervals at a level."""
        v, beta = fits(self.sums.G, self.sums.h, self.U)
        some = self.known & (self.size > 0)
        size = np.where(some, self.size, 1.0)
        v = np.where(some[:, None], v, 0.0)
        found = balanced_band(beta, v, level, -self.whole / size)
        center = np.where(
            some, self.whole + size * found.estimate, np.where(self.known, 0.0, np.nan)
        )
        half = np.where(some | ~self.known, size * found.half_width, 0.0)  # a functional of zero
        lower, upper = (np.nan_to_num(center) + sign * half for sign in (-1.0, 1.0))
        attained = 1 - found.q / found.m if found.q else 1.0
        return AtOnce(center, lower, upper, found.pvalue, attained)


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
            "simultaneous=False with them, given "
            f"cell_weights={weights!r} and cell_estimate={estimator!r}. Leave them out."
        )
    integer = isinstance(cells, (int, np.integer)) and not isinstance(cells, bool)
    power = integer and cells in NUMBERS
    if cells is not None and not (method == CELLS and power):
        raise ValueError(
            "cells does not fit simultaneous bounds: expected a power of two up to "
            f"{NUMBERS[-1]} with method='cells', given {cells!r} with method={method!r}. Leave it "
            "out for the default."
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


def cells_for_functionals(method: str) -> str:
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
    problem: Problem,
    g: Array,
    level: float,
    method: str,
    cells: int | None,
    inner: object = False,
) -> BalancedCells | None:
    """Return the balanced cells for simultaneous bounds; None if the joint region serves them."""
    if method == JOINT:
        return None
    try:
        if inner:
            raise NotAvailable(NO_MEMBERS)
        evidence = Evidence.of(problem)
        if not evidence.flips:
            needed = (
                f"balanced cells need noise whose signs may change, and {problem.noise!r} does not "
                "declare that"
            )
            raise NotAvailable(
                f"{needed}: use method='joint', or noise='symmetric' if the noise is symmetric.",
                f"{needed}: use --method joint, or --noise symmetric if the noise is symmetric.",
            )
    except NotAvailable:
        if method == AUTO:
            return None
        raise
    made = _balanced(evidence, problem, g, level, cells)
    if made is None and method == CELLS:
        there, each = f"there are {count(evidence.n, 'row')}", evidence.whole.rank
        if evidence.kept is not None:
            there, each = f"the stream has {evidence.kept.number}", 1
        elif evidence.clusters is not None:
            there, each = f"there are {count(evidence.clusters, 'block')} of rows", 1
        raise too_few(level, there, each, cells)
    if made is None or method == CELLS:
        return made
    return made if _narrower(made, evidence, level, exact=problem.whitened) else None


def _balanced(
    evidence: Evidence, problem: Problem, g: Array, level: float, cells: int | None
) -> BalancedCells | None:
    """Return balanced cells of the rows, or of those that a stream has collected."""
    at, kept = evidence.whole, evidence.kept
    U, size, known = at.vectors(g)
    some = known & (size > 0)
    units = evidence.clusters or at.rows
    most = units if kept is None else kept.number
    numbers = [K for K in NUMBERS if largest_q(level, K)] if cells is None else [cells]
    numbers = [K for K in numbers if most >= K and K * at.rank <= at.rows]

    def sums(K: int) -> CellSums:
        if kept is not None:
            return kept.sums.merged(K)
        atoms = evidence.signed.atoms
        if K not in problem.divisions:
            problem.divisions[K] = balanced_places(atoms, K)
        places: IntArray = problem.divisions[K]
        return atoms.sums(places)

    def information(K: int) -> Array:
        found = sums(K)
        return fits(found.G, found.h, U[some])[0]

    best = narrowest(information, numbers, U[some], level) if some.any() else None
    if best is None:
        return None
    predicted = np.where(known, 0.0, np.inf)
    predicted[some] = size[some] * best[1]
    whole = np.nan_to_num(at.estimates(g))
    return BalancedCells(sums(best[0]), U, size, known, whole, predicted)


def _narrower(made: BalancedCells, evidence: Evidence, level: float, *, exact: bool) -> bool:
    """Whether balanced cells are expected to give narrower bounds than the joint region.

    The joint region of a quadratic objective is about as wide as the F ellipsoid. Other objectives
    have outer bounds that are wider still, or none.
    """
    n, rank, some = evidence.n, evidence.whole.rank, made.known & (made.size > 0)
    if not exact or n <= rank:
        return True
    joint = joint_of_features(1 / np.square(made.size[some]), n, rank, level)
    return bool(np.log(made.predicted[some] / joint).mean() < 0)


def too_few(
    level: float, there: str, each: int, chosen: int | None, *, joint: bool = True
) -> NotAvailable:
    """Return the refusal where balanced cells are too few: what it takes, and what there is."""
    numbers = [K for K in NUMBERS if largest_q(level, K)]
    K = chosen or (numbers[0] if numbers else 0)
    rows = f" of at least {each} rows each" * (each > 1)
    why = f"it takes {K} cells{rows}, and {there}"
    if K not in numbers:
        why = f"no {K} cells allow it" if K else "no number of cells allows it"
    ways = "a lower level, or bounds that hold one at a time"
    python, option = "method='joint', " * joint, "--method joint, " * joint
    sentence = f"balanced cells are too few for a level of {level:.12g}: {why}. Use"
    return NotAvailable(
        f"{sentence} {python}{ways} (simultaneous=False).",
        f"{sentence} {option}{ways} (--pointwise).",
    )


def all_at_once(level: float, made: BalancedCells, make: Callable[..., T]) -> T:
    """Return simultaneous bounds from balanced cells."""
    found, hidden = made.band(level), not made.known.all()
    return bounds_from_cells(
        make,
        Explanation((Cause.HIDDEN(),) if hidden else ()),
        level=level,
        estimate=found.estimate,
        lower=found.lower,
        upper=found.upper,
        status=Status.UNDETERMINED if hidden else Status.ALL_AT_ONCE,
        method="balanced cells",
        attained=np.full(len(found.lower), found.level),
    )


def simultaneous_summary(
    problem: Problem,
    shape: Shape | None,
    g: Array,
    names: Sequence[str],
    level: float,
    joint_level: Callable[[float], Level],
    made: BalancedCells | None,
) -> Summary:
    """Return the summary of functionals whose intervals hold all at once."""
    model = g @ problem.estimate
    if made is None:
        assert shape is not None
        found, why = _joint(shape, g, joint_level(level))
        method, least = "joint region", 1 / joint_level(level).m
    else:
        found, why = made.band(level), Explanation()
        method, least = "balanced cells", 1 / len(made.sums.G)
    facts = (*differing(found.estimate, found.lower, found.upper, model), *why.facts)
    return summary_from_cells(
        problem,
        Explanation(facts, why.remedies),
        names=tuple(names),
        estimate=found.estimate,
        lower=found.lower,
        upper=found.upper,
        pvalue=found.pvalue,
        model_estimate=model,
        level=np.full(len(g), found.level),
        method=(method,) * len(g),
        requested_level=level,
        simultaneous=True,
        smallest_pvalue=np.full(len(g), least),
    )


def _joint(shape: Shape, g: Array, level: Level) -> tuple[AtOnce, Explanation]:
    """Return the bounds of the joint region, and p-values from the least q that excludes 0."""
    every = [Level(q, level.m) for q in range(1, level.m)]
    bounds = shape.bounds(Question(g), every)
    asked = bounds[level.q - 1]
    least = np.full(len(g), level.m)
    for one, bound in zip(reversed(every), reversed(bounds), strict=True):
        out = (bound.lower > 0) | (bound.upper < 0)
        least = np.where(out, one.q, least)
    estimate = g @ shape.estimate
    found = AtOnce(estimate, asked.lower, asked.upper, least / level.m, float(level))
    return found, asked.explanation

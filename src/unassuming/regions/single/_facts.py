"""What is said about intervals of single numbers: facts and remedies, as values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells import (
    MOST_ENUMERATED,
    Factor,
    KeptSums,
    Method,
    centred_in_blocks,
    estimates,
    factor_of_rows,
    fewest_cells,
    number_of_statistics,
    rows_needed,
)
from unassuming.geometry import near_copies, of_one_row
from unassuming.geometry.quadratic import orders_of_magnitude
from unassuming.inputs import SingleOptions
from unassuming.noise import is_spherical
from unassuming.objectives import Quadratic
from unassuming.regions._explain import Cause, Explanation, Fact, Remedy, Status
from unassuming.regions._problem import IN_MEMORY, Problem
from unassuming.regions._question import INPUT
from unassuming.regions._remedies import (
    EXCHANGEABLE,
    FEWER_FEATURES,
    LIKE_WEIGHTS,
    SPAN_OF_WEIGHTS,
    SYMMETRIC,
)
from unassuming.regions._remedies import level as lower_level
from unassuming.regions._results import count
from unassuming.regions.single._evidence import Evidence
from unassuming.regions.single._outcome import Outcome

_LISTED = 4
"""Names that are listed in a sentence."""

_LABELS = 8
"""Rows from which a y of two values looks like labels."""

_PERMUTATIONS = "permutations of the rows"
OTHER_CELLS = Remedy("leave out cells for the default", None)
ANY_METHOD = Remedy("method='auto', which tries random halves as well", None)
NORM_BOUND = Remedy(
    "a norm bound that you can assume: interval(norm_bound=B)",
    "a norm bound that you can assume: --norm-bound B of unassuming region",
    norm_bound=True,
)


NORM_BOUND_AT_ONCE = Remedy(
    "a norm bound that you can assume, for bounds at once: interval(norm_bound=B)",
    "a norm bound that you can assume, for bounds at once: --norm-bound B of unassuming region, "
    "without --pointwise",
    norm_bound=True,
)


_FITTED = {"mean": "least squares", "median": "least absolute deviations"}
"""How the rows of a cell are fitted."""


def status_of(out: Outcome) -> Status:
    """Return what kind of answer intervals are."""
    return Status.ONE_BY_ONE if out.finite.all() else Status.TOO_FEW_CELLS


def method_facts(
    out: Outcome, names: Sequence[str], evidence: Evidence, options: SingleOptions
) -> Iterator[Fact]:
    """Say how the intervals were found."""
    units = units_of(evidence)
    for method, cause in ((Method.CELLS, Cause.IN_CELLS), (Method.PAIRS, Cause.IN_PAIRS)):
        used = (out.method == method) & (out.cells > 0)
        if used.any():
            cells = _range(out.cells[used])
            yield cause(estimator=_FITTED[options.estimator], cells=cells, units=units)
    certified = ((Method.HALVES, f"halves of the {units}"), (Method.PALMRT, _PERMUTATIONS))
    for method, parts in certified:
        used = out.method == method
        if used.any():
            yield Cause.FROM_RANDOM(names=listed(names, used), parts=parts)
    if (out.method == Method.STUDENT).any():
        yield Cause.STUDENT()
    if evidence.rotated:
        yield Cause.ROTATED()


def units_of(evidence: Evidence) -> str:
    """Return what cells are made of."""
    rows = "rotated rows" if evidence.rotated else "rows"
    return f"blocks of {rows}" if evidence.in_blocks else rows


def outside(
    problem: Problem, lower: Array, upper: Array, names: Sequence[str], estimate: Array
) -> tuple[Fact, ...]:
    """Say where the estimate of the model lies outside its interval, and what sets them apart."""
    beyond = (estimate < lower) | (estimate > upper)
    if not beyond.any():
        return ()
    objective, rows = problem.objective, problem.rows
    absent = []
    if objective.endogenous:
        pass  # two-stage least squares has neither a penalty nor a loss of its own
    elif not isinstance(objective, Quadratic):
        absent.append("without the penalty and the loss of the model")
    elif objective.lam:
        absent.append("without the penalty")
    if rows is not None and rows.weight is not None and is_spherical(problem.row_noise):
        absent.append("without the sample weights, since spherical noise is equal in all rows")
    apart = ", and ".join(absent) or "each from a part of the rows"
    return (Cause.OUTSIDE(names=listed(names, beyond), apart=apart),)


def repeated(problem: Problem, evidence: Evidence) -> tuple[Fact, ...]:
    """Say which columns are multiples of an earlier one, plus a constant, or differ very little."""
    design, whole = problem.objective.design, evidence.whole
    apart = of_one_row(evidence.Phi) if evidence.cells is None else None
    intercept = design is not None and design.intercept
    found = near_copies(whole.T, whole.unit, intercept=intercept, apart=apart)
    names = problem.objective.names
    return tuple(
        Cause.REPEATED(one=names[a.other], other=names[a.one], share=a.share) for a in found
    )


def two_values(problem: Problem) -> tuple[Fact, ...]:
    """Say where y looks like labels: noise about their mean is seldom symmetric or exchangeable."""
    y = problem.objective.y
    if problem.rows is None or problem.n < _LABELS or len(np.unique(y[:_LABELS])) > 2:
        return ()
    low, high = float(y.min()), float(y.max())
    if low == high or ((y > low) & (y < high)).any():
        return ()
    return (Cause.TWO_VALUES(low=low, high=high),)


def explanation_of(
    out: Outcome,
    names: Sequence[str],
    g: Array,
    level: float,
    evidence: Evidence,
    options: SingleOptions,
) -> Explanation:
    """Say why intervals are infinite, and what to do."""
    infinite = ~out.finite
    if not infinite.any():
        return Explanation()
    needed, n, clusters = fewest_cells(level), evidence.n, evidence.clusters
    rank = len(evidence.whole.T)
    hidden = infinite & ~_identified(evidence.whole, g)
    shift = np.zeros_like(hidden)
    if not evidence.flips and evidence.swaps is not None and not evidence.spherical:
        centred = _centred(evidence, evidence.swaps)
        shift = infinite & ~hidden & ~_identified(centred, g)
    facts, remedies = list[Fact](), list[Remedy]()
    streamed = isinstance(evidence.cells, KeptSums)
    apart = 0.0 if evidence.weight is None else float(orders_of_magnitude(evidence.weight))
    wide = apart > SPAN_OF_WEIGHTS
    if hidden.any():
        d, which = evidence.Phi.shape[1], listed(names, hidden)
        few_rows = Cause.ROWS_MISSING(n=n, d=d, names=which)
        facts.append(few_rows if n < d else Cause.NOT_IN_DESIGN(names=which))
        constant = hidden & _of_constants(evidence, g)
        if constant.any():
            remedies.append(_leave_out(listed(names, constant), several=int(constant.sum()) > 1))
    if shift.any():
        facts.append(Cause.SHIFT_NOT_SEEN(names=listed(names, shift)))
        remedies.append(SYMMETRIC)
    few = infinite & ~hidden & ~shift
    # Those that lack cells for want of rows: not by choice, nor since no cells attain the level.
    short = few & (out.cells < needed) & (options.cells is None)
    # Sums may have lost what rows would show, unless too few rows carry a column at all.
    doubtful = short & streamed & ~_rare(evidence, g, needed)
    for k in np.unique(out.cells[few]).tolist():
        same = few & (out.cells == k)
        if k >= needed:
            facts.append(Cause.LEVEL_TOO_HIGH(names=listed(names, same), level=level))
            continue
        if options.cells is not None:
            facts.append(Cause.CELLS_CHOSEN(level=level, needed=needed, cells=k))
            continue
        if clusters is not None and clusters < needed:
            facts.append(Cause.CLUSTERS_MISSING(level=level, needed=needed, units=clusters))
            continue
        which, units = listed(names, same), units_of(evidence)
        counted = not (evidence.rotated or wide or doubtful[same].any())
        facts.append(cells_missing(which, level, k, units, n, rank, counted=counted))
    if doubtful.any():
        facts.append(Cause.CELLS_IN_SUMS())
        remedies.append(IN_MEMORY)
    if wide and short.any():
        facts.append(Cause.WEIGHTS_APART(orders=round(apart)))
        remedies.append(LIKE_WEIGHTS)
    if few.any():
        best = highest_level(int(out.cells[few].min()), chosen=options.cells is not None)
        if 0.5 <= best < level:
            remedies.append(lower_level(best))
        if options.cells is not None:
            remedies.append(OTHER_CELLS)
        if options.method in ("cells", "pairs"):
            remedies.append(ANY_METHOD)
        elif not wide and short.any() and _permutations_would_do(evidence, g[short], rank):
            remedies.append(EXCHANGEABLE)
    if hidden.any() or (short.any() and not wide and (clusters is None or clusters >= needed)):
        remedies.append(FEWER_FEATURES)
    if _has_joint_bounds(evidence) and (hidden | (few & (out.cells < needed))).any():
        remedies.append(NORM_BOUND_AT_ONCE if streamed else NORM_BOUND)
    return Explanation(tuple(facts), tuple(remedies))


def _rare(evidence: Evidence, g: Array, needed: int) -> BoolArray:
    """Return which functionals take a column that is not zero in fewer rows than cells are needed.

    A cell without such a row does not determine them, in a stream or in memory.
    """
    kept = evidence.cells
    if not isinstance(kept, KeptSums) or kept.carriers is None:
        return np.zeros(len(g), dtype=np.bool_)
    return np.asarray(((g != 0) & (kept.carriers < needed)).any(axis=1))


def cells_missing(
    names: str, level: float, cells: int, units: str, n: int, rank: int, *, counted: bool = True
) -> Fact:
    """Say that too few cells determine some numbers, and how many rows would be enough."""
    needed = fewest_cells(level)
    rows = max(rows_needed(level, rank), -(-n * needed // cells) if cells else 0)
    # Rotated rows are seldom alike: a basis can put all of a feature into one of them. Sums may
    # have lost digits, which more rows do not bring back.
    missing = Cause.CELLS_MISSING if counted else Cause.SOME_CELLS_MISSING
    return missing(names=names, level=level, needed=needed, units=units, cells=cells, rows=rows)


def _leave_out(names: str, *, several: bool) -> Remedy:
    """Leave out constant columns."""
    are = "which are constant" if several else "which is constant"
    text = f"leave out {names}, {are}: the model has an intercept of its own"
    return Remedy(text, text)


def _of_constants(evidence: Evidence, g: Array) -> BoolArray:
    """Return which functionals are coefficients of constant columns beside an intercept."""
    constant = np.ptp(evidence.Phi, axis=0) == 0
    if evidence.centre is None or evidence.cells is not None:  # no intercept, or not the rows
        constant[:] = False
    constant[:1] = False
    of_one, of_constant = (g != 0).sum(axis=1) == 1, (g[:, constant] != 0).any(axis=1)
    return np.asarray(of_one & of_constant, dtype=np.bool_)


def highest_level(cells: int, *, chosen: bool) -> float:
    """Return the highest level of so many cells; with more than are enumerated, fewer do better."""
    used = cells if chosen else min(cells, MOST_ENUMERATED)
    return 1 - 1 / number_of_statistics(used)


def _has_joint_bounds(evidence: Evidence) -> bool:
    """Whether the joint region has bounds: transformations must not mix rows of unlike weight."""
    w, mixed = evidence.weight, evidence.spherical or evidence.swaps is not None
    return w is None or not mixed or bool((w == w[0]).all())


def _permutations_would_do(evidence: Evidence, g: Array, rank: int) -> bool:
    """Whether exchangeable noise would bound a functional: [Z, PZ] and x leave rows to spare."""
    n = evidence.n
    if evidence.cells is not None or evidence.swaps is not None or evidence.in_blocks:
        return False
    if not evidence.flips or n <= 2 * rank:
        return False
    return bool(_identified(_centred(evidence, np.zeros(n, dtype=np.intp)), g).any())


def listed(names: Sequence[str], which: BoolArray) -> str:
    """Return some of the names, as many as a sentence can take."""
    chosen = [names[i] for i in np.flatnonzero(which).tolist()]
    if len(chosen) == len(names) > _LISTED:
        return f"all {len(names)} numbers"
    if len(chosen) > _LISTED + 1:
        return f"{_together(chosen[:_LISTED])} and {len(chosen) - _LISTED} others"
    return _together(chosen)


def _together(names: list[str]) -> str:
    """Return names with commas between them; of inputs only the numbers are repeated."""
    numbers = [name.removeprefix(f"{INPUT} ") for name in names]
    if len(names) > 1 and all(map(str.isdecimal, numbers)):
        return f"{INPUT}s {', '.join(numbers)}"
    return ", ".join(names)


def _range(numbers: IntArray) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return count(low, "cell") if low == high else f"{low} to {high} cells"


def _identified(whole: Factor, g: Array) -> BoolArray:
    """Whether all rows together identify each functional."""
    return np.asarray(estimates([whole], g).v[:, 0] > 0)


def _centred(evidence: Evidence, blocks: IntArray) -> Factor:
    """Return the factor of the design minus its means within blocks."""
    return factor_of_rows(centred_in_blocks(evidence.Phi, blocks), np.zeros(evidence.n))

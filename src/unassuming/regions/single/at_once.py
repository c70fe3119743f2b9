"""All numbers at once, from balanced cells or from the joint region (docs/theory.md 11.8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import fdtri

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray
from unassuming.cells.balanced import NUMBERS, balanced_band, balanced_places, narrowest, sigma
from unassuming.cells.codes import largest_q
from unassuming.cells.estimates import CellSums, fits
from unassuming.ranking import Level
from unassuming.regions.explain import Cause, Explanation, Status
from unassuming.regions.problem import Problem
from unassuming.regions.results import count
from unassuming.regions.shapes import Question, Shape
from unassuming.regions.single.evidence import CELLS, JOINT, Evidence
from unassuming.regions.single.summary import Answer

NO_MEMBERS = "balanced cells do not search for members: leave out inner, or use method='joint'."


@final
@dataclass(frozen=True, eq=False)
class BalancedCells:
    """Cells for N numbers: the estimates ``whole`` of all rows plus ``size`` times uᵀθ."""

    # `known` says which of them the rows determine; `predicted` are the expected half-widths
    # for noise of size one.

    sums: CellSums
    U: Array
    size: Array
    known: BoolArray
    whole: Array
    predicted: Array

    def answer(self, level: float) -> Answer:
        """Return simultaneous intervals at a level, with adjusted p-values."""
        v, beta = fits(self.sums.G, self.sums.h, self.U)
        some, hidden = self.known & (self.size > 0), not self.known.all()
        size = np.where(some, self.size, 1.0)
        found = balanced_band(beta, np.where(some, sigma(v), np.inf), level, -self.whole / size)
        center = np.where(self.known, self.whole + size * np.nan_to_num(found.estimate), np.nan)
        half = np.where(some | ~self.known, size * found.half_width, 0.0)  # a functional of zero
        return Answer.of(
            len(some),
            estimate=center,
            lower=np.nan_to_num(center) - half,
            upper=np.nan_to_num(center) + half,
            pvalue=found.pvalue,
            m=found.m,
            level=1 - found.q / found.m if found.q else 1.0,
            method="balanced cells",
            status=Status.UNDETERMINED if hidden else Status.ALL_AT_ONCE,
            why=Explanation((Cause.HIDDEN(),) if hidden else ()),
            simultaneous=True,
        )


def balanced_cells(
    problem: Problem, g: Array, level: float, method: str, cells: int | None, *, inner: bool = False
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
        if method == CELLS:
            raise
        return None
    made, n, rank = _balanced(evidence, problem, g, level, cells), evidence.n, evidence.whole.rank
    if made is None and method == CELLS:
        there, each = f"there are {count(n, 'row')}", rank
        if evidence.kept is not None:
            there, each = f"the stream has {evidence.kept.number}", 1
        elif evidence.clusters is not None:
            there, each = f"there are {count(evidence.clusters, 'block')} of rows", 1
        raise too_few_balanced(level, there, each, cells)
    if made is None or method == CELLS or not problem.whitened or n <= rank:
        return made
    some = made.known & (made.size > 0)
    joint = joint_half_widths(1 / np.square(made.size[some]), n, rank, level)
    return made if np.log(made.predicted[some] / joint).mean() < 0 else None


def joint_half_widths(information: Array, n: int, d: int, level: float) -> Array:
    """Return the half-widths of the F ellipsoid for noise of size 1: a joint region is as wide."""
    return np.asarray(np.sqrt(d * float(fdtri(d, n - d, level)) / information))


def _balanced(
    evidence: Evidence, problem: Problem, g: Array, level: float, cells: int | None
) -> BalancedCells | None:
    """Return balanced cells of the rows, or of those that a stream has collected."""
    at, kept = evidence.whole, evidence.kept
    U, size, known = at.vectors(g)
    some = known & (size > 0)
    most = (evidence.clusters or at.rows) if kept is None else kept.number
    numbers = [K for K in NUMBERS if largest_q(level, K)] if cells is None else [cells]
    numbers = [K for K in numbers if most >= K and K * at.rank <= at.rows]

    def sums(K: int) -> CellSums:
        if kept is not None:
            return kept.sums.merged(K)
        atoms, divisions = evidence.signed.atoms, problem.divisions
        if K not in divisions:
            divisions[K] = balanced_places(atoms, K)
        return atoms.sums(divisions[K])

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


def too_few_balanced(
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


def joint_answer(shape: Shape, g: Array, level: Level) -> Answer:
    """Return the bounds of the joint region, and p-values from the least q that excludes 0."""
    every, N = [Level(q, level.m) for q in range(1, level.m)], len(g)
    bounds = shape.bounds(Question(g), every)
    asked, least = bounds[level.q - 1], np.full(N, level.m)
    for one, bound in zip(reversed(every), reversed(bounds), strict=True):
        least = np.where((bound.lower > 0) | (bound.upper < 0), one.q, least)
    return Answer.of(
        N,
        estimate=g @ shape.estimate,
        lower=asked.lower,
        upper=asked.upper,
        pvalue=least / level.m,
        m=level.m,
        level=float(level),
        method="joint region",
        status=asked.status,
        why=asked.explanation,
        simultaneous=True,
    )

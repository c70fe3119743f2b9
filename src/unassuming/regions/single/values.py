"""Bounds of numbers all at once, and of values of a function (docs/theory.md 11.5, 11.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, final

import numpy as np
from scipy.special import fdtri

from unassuming._batches import rows_that_fit, slices
from unassuming._errors import NotAvailable
from unassuming._numerics import factor
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells import theorem
from unassuming.cells.division import BALANCED, balanced_places, narrowest
from unassuming.cells.estimates import CellSums, fits
from unassuming.cells.functions import (
    Choice,
    Errors,
    Kriging,
    Wanted,
    band_sizes,
    biased_intervals,
    choose,
    choose_band,
    joint_of_kernel,
    looked_at,
    numbers_of_cells,
)
from unassuming.inputs import SingleOptions
from unassuming.ranking import Level, RankTest
from unassuming.regions import explain
from unassuming.regions.problem import Problem
from unassuming.regions.results import count
from unassuming.regions.shapes import OuterBounds, Question, Shape
from unassuming.regions.single.evidence import CELLS, JOINT, Evidence
from unassuming.regions.single.functions import Assumption, Functions
from unassuming.regions.single.summary import Answer

T = TypeVar("T")

NO_MEMBERS = "balanced cells do not search for members: leave out inner, or use method='joint'."

# With more rows the joint region is not predicted: its cost would exceed that of the cells. With
# more than a few, only intervals of so many noise scales on each side are compared with it. It is
# used where it is narrower by a hundredth.
_BATCH, _MOST_ROWS = 2**26, 2000
_WIDE, _FEW, _NARROWER = 2.0, 300, 0.99


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
        found = theorem.balanced_band(
            beta, np.where(some, theorem.sigma(v), np.inf), level, -self.whole / size
        )
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
            status=explain.Status.UNDETERMINED if hidden else explain.Status.ALL_AT_ONCE,
            why=explain.Explanation((explain.Cause.HIDDEN(),) if hidden else ()),
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
            needed = f"balanced cells need noise whose signs may change, not {problem.noise!r}"
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
    numbers = [K for K in BALANCED if theorem.largest_q(level, K)] if cells is None else [cells]
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
    numbers = [K for K in BALANCED if theorem.largest_q(level, K)]
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


@final
class Cells:
    """Cells of the rows for functionals of the function, and what they say about these."""

    def __init__(self, functions: Functions, asked: Asked) -> None:
        self.functions, self.asked, self.wanted = functions, asked, asked.wanted
        self.assumption = assumption = asked.assumption
        self.system, self.assumed = functions.system(assumption), functions.assumed(assumption)

    def chosen(self, level: float, cells: int | IntArray | None) -> tuple[list[Kriging], Choice]:
        """Return divisions, and which of them serves each functional; y is not seen."""
        kriging = self.functions.kriging
        if isinstance(cells, np.ndarray):
            divisions = [kriging(self.assumption, int(cells.max()) + 1, cells)]
        else:
            numbers = [cells] if cells else numbers_of_cells(level, self.functions.units)
            divisions = [kriging(self.assumption, K) for K in numbers]
        return divisions, choose(self.system, self.wanted, divisions, self.assumed, level)

    def balanced(self, level: float, cells: int | None) -> tuple[Kriging, Choice] | None:
        """Return the balanced cells for a band; None if there are too few rows for the level."""
        numbers = numbers_of_cells(level, self.functions.units, simultaneous=True)
        if cells is not None:
            numbers = [cells] if cells <= self.functions.units else []
        made = [self.functions.kriging(self.assumption, K) for K in numbers]
        if not made:
            return None
        found = choose_band(self.system, self.wanted, made, self.assumed, level)
        return (made[int(found.which[0])], found) if np.isfinite(found.half_width).all() else None

    def intervals(
        self, made: tuple[list[Kriging], Choice], level: float, tau: Array | float = 0.0
    ) -> theorem.Intervals:
        """Return the intervals of functionals, and p-values; NaN if no bounded function agrees."""
        N, (divisions, choice) = len(self.wanted), made
        ends = [np.full(N, np.nan) for _ in range(3)]
        out = theorem.Intervals(*ends, *(np.zeros(N, dtype=np.intp) for _ in range(4)))
        beyond, tau = self.assumption.beyond, np.broadcast_to(tau, N)
        for which, mu in np.unique(np.column_stack([choice.which, choice.mu]), axis=0).tolist():
            same = np.flatnonzero((choice.which == which) & (choice.mu == mu))
            for where, u, errors in self._estimated(divisions[int(which)], mu, same):
                got = biased_intervals(u, errors, self.assumed, level, tau[where])
                for name, part in vars(got).items():
                    getattr(out, name)[where] = part
        agrees = out.lower <= out.upper
        out.lower[:] = np.where(agrees, out.lower - beyond, np.nan)
        out.upper[:] = np.where(agrees, out.upper + beyond, np.nan)
        return out

    def band(self, kriging: Kriging, mu: float, level: float) -> theorem.BalancedBand:
        """Return the simultaneous band from the balanced cells of a division."""
        parts = []
        for _, u, errors in self._estimated(kriging, mu, np.arange(len(self.wanted))):
            parts.append((u, *band_sizes(errors, self.assumed)))
        u, scale, bias = (np.concatenate(part) for part in zip(*parts, strict=True))
        return theorem.balanced_band(u, scale, level, bias=bias)

    def _estimated(
        self, kriging: Kriging, mu: float, which: IntArray
    ) -> Iterator[tuple[IntArray, Array, Errors]]:
        """Yield functionals, their estimates (N, K) in the cells of a division, and the errors."""
        size = 3 * kriging.system.n + kriging.K * (kriging.K + kriging.system.features.shape[1])
        for part in slices(len(which), rows_that_fit(_BATCH, size)):
            some = self.wanted.part(which[part])
            a, known = kriging.weights(some, mu)
            sums = kriging.sums(a, self.functions.y)
            yield which[part], sums, Errors.of(some, kriging, a, known)

    # The joint region instead

    def joint_half_width(self, wanted: Wanted, level: float) -> Array:
        """Return the predicted half-widths of the joint region's band (N,); infinite if unknown."""
        # With a norm bound that of kernel ridge; that of features is at most the F ellipsoid. Other
        # objectives than kernel ridge and least squares have wider bands, or none.
        functions, system, assumption = self.functions, self.system, self.assumption
        o, n, p = functions.problem.objective, system.n, system.trend.shape[1]
        dual, known = functions.design.dual, functions.problem.whitened and o.quadratic
        known &= assumption.norm_bound is not None and assumption.model_error is None
        if o.penalty is None or not known or (dual and (p or n > _MOST_ROWS)):
            return np.full(len(wanted), np.inf)
        if dual:
            units, alpha = functions.ordered_units, o.penalty.alpha
            return joint_of_kernel(system, wanted, self.assumed, alpha, level, units)
        Phi = np.column_stack([system.trend, system.features]) * np.sqrt(system.weight)[:, None]
        U = np.column_stack([wanted.trend, wanted.features]) @ factor(Phi, np.ones(n)).back
        if n <= U.shape[1]:
            return np.full(len(wanted), np.inf)
        information = 1 / np.maximum(np.square(U).sum(axis=1), 1e-300)
        return self.assumed.noise_scale * joint_half_widths(information, n, U.shape[1], level)

    def narrower_jointly(self, choice: Choice, level: float, options: SingleOptions) -> BoolArray:
        """Return which intervals one at a time the joint region is predicted to make narrower."""
        # With many rows that is asked only where the data say next to nothing.
        better, joint = np.zeros(len(self.wanted), dtype=np.bool_), self.asked.joint
        if joint is None or options.cells is not None or options.method != "auto":
            return better
        wide = choice.half_width > _WIDE * self.assumed.noise_scale
        asked = np.flatnonzero(wide | (self.system.n <= _FEW))
        if asked.size and theorem.largest_q(level, joint.m):
            found = self.joint_half_width(self.wanted.part(asked), level)
            better[asked] = found < _NARROWER * choice.half_width[asked]
        return better

    # Words

    def within_ball(self, lower: Array, upper: Array) -> tuple[explain.Fact, ...]:
        """Say where the norm bound alone gives all bounds, (N,)."""
        limit = self.assumed.limit(self.wanted.norm) + self.assumption.beyond
        with np.errstate(invalid="ignore"):
            alone = np.isfinite(limit) & (np.minimum(-lower, upper) >= limit * (1 - 1e-9))
        return (explain.Cause.BALL_ALONE(),) if len(limit) and alone.all() else ()

    def too_small(self, *, everywhere: bool) -> explain.Fact:
        """Say what is too small where nothing within the norm bound agrees with the data."""
        bound, error = self.assumption.norm_bound, self.assumption.model_error
        if everywhere and error is None:
            return explain.Cause.BALL_TOO_SMALL(bound=bound)
        if everywhere:
            return explain.Cause.BALL_OR_ERROR_TOO_SMALL(bound=bound, error=error)
        which, holds = f"The norm bound of {bound:g}", "it holds"
        if error is not None:
            which, holds = f"{which}, or the model error of {error:g},", "both hold"
        return explain.Cause.SOME_EMPTY(which=which, holds=holds, count=len(self.wanted))

    def too_few(
        self, least: int, level: float, known: BoolArray, options: SingleOptions
    ) -> explain.Explanation:
        """Say why the data say nothing about some values, and what makes intervals finite."""
        names = f"{np.count_nonzero(~known)} of {len(known)} values"
        functions, free = self.functions, self.system.trend.shape[1]
        rows = max(theorem.fewest_cells(level) * max(free, 1), functions.units + 1)
        enough = f"{rows:,} {'blocks of rows' if functions.blocks else 'rows'}"
        best = 1 - 1 / theorem.number_of_words(least)
        remedies: list[explain.Remedy] = [explain.lower_level(best)] if 0.5 <= best < level else []
        remedies += [explain.OTHER_CELLS] * (options.cells is not None)
        remedies += [explain.FEWER_FEATURES] * (not functions.design.dual)
        remedies += [explain.BOUND_AT_ONCE] * (self.assumption.norm_bound is None)
        return explain.Explanation((explain.too_few(names, level, best, enough),), tuple(remedies))

    # The answers

    def one_by_one(
        self, level: float, chosen_for: float, options: SingleOptions, make: Callable[..., T]
    ) -> T:
        """Return the intervals, each with its level by itself."""
        # Where the joint region is predicted to be narrower its bounds are used: they hold for
        # each.
        made, joint = self.chosen(chosen_for, options.cells), self.asked.joint
        got = self.intervals(made, level)
        lower, upper = got.lower, got.upper
        attained = np.where(got.q > 0, got.level, 1.0)
        used = self.narrower_jointly(made[1], chosen_for, options)
        if used.any() and joint is not None:
            q = theorem.largest_q(level, joint.m)
            (bounds,) = joint.bounds([q])
            inside = bounds.lower <= bounds.upper
            lower = np.where(used, np.where(inside, bounds.lower, np.nan), lower)
            upper = np.where(used, np.where(inside, bounds.upper, np.nan), upper)
            attained = np.where(used, 1 - q / joint.m, attained)
        known, empty = (got.q > 0) | used, np.isnan(lower)
        why, status = explain.Explanation(self.within_ball(lower, upper)), explain.Status.ONE_BY_ONE
        if not known.all():
            few = self.too_few(int(got.cells[~known].min()), level, known, options)
            why = replace(few, facts=(*why.facts, *few.facts))
            status = explain.Status.TOO_FEW_CELLS if np.isinf([lower, upper]).any() else status
        if empty.any():
            status = explain.Status.EMPTY if empty.all() else explain.Status.SOME_EMPTY
            why = replace(why, facts=(self.too_small(everywhere=bool(empty.all())), *why.facts))
        found = Answer.of(
            len(self.wanted),
            estimate=np.where(used | np.isnan(got.estimate), self.asked.estimate, got.estimate),
            lower=lower,
            upper=upper,
            level=attained,
            method=np.where(used, "joint region", "cells"),
            status=status,
            why=why,
        )
        return found.bounds(make, level, **self.assumption.stated)

    def at_once(
        self, level: float, cells: int | None, make: Callable[..., T], *, unless_wider: bool = False
    ) -> T | None:
        """Return a band from balanced cells."""
        # With `unless_wider` return None where the joint region is expected to be narrower, or
        # where there are too few rows for the level.
        found, functions = self.balanced(level, cells), self.functions
        if unless_wider and found is None:
            return None
        if unless_wider and found is not None:
            joint = self.joint_half_width(self.wanted.part(looked_at(len(self.wanted))), level)
            if np.median(joint) <= np.median(found[1].half_width):
                return None
        if found is None:
            each = 1 if functions.blocks else self.system.trend.shape[1]
            there = f"there are {functions.units} {'blocks' if functions.blocks else 'rows'}"
            alike = self.assumption.model_error is None
            raise too_few_balanced(level, there, each, cells, joint=alike)
        band = self.band(found[0], float(found[1].mu[0]), level)
        limit, beyond = self.assumed.limit(self.wanted.norm), self.assumption.beyond
        lower = np.maximum(band.estimate - band.half_width, -limit)
        upper = np.minimum(band.estimate + band.half_width, limit)
        refuted = bool((lower > upper).any())
        lower, upper = lower - beyond, upper + beyond
        facts = (self.too_small(everywhere=True),) if refuted else self.within_ball(lower, upper)
        answer = Answer.of(
            len(self.wanted),
            estimate=band.estimate,
            lower=lower,
            upper=upper,
            level=1 - band.q / band.m,
            method="balanced cells",
            status=explain.Status.EMPTY if refuted else explain.Status.ALL_AT_ONCE,
            why=explain.Explanation(facts),
            simultaneous=True,
        )
        return answer.bounds(make, level, **self.assumption.stated)

    def test(self, tau: Array, level: float, options: SingleOptions) -> RankTest:
        """Test a hypothetical value of one functional, dual to its interval."""
        if len(self.wanted) != 1:
            raise NotAvailable(
                "a norm bound or a model error allows tests of one functional at a time: expected "
                f"one functional, given {len(self.wanted)}. Test each by itself."
            )
        said, made = explain.tested(self.asked.names, tau), self.chosen(level, options.cells)
        joint = self.asked.joint
        if self.narrower_jointly(made[1], level, options)[0] and joint is not None:
            bounds = joint.bounds(range(1, joint.m))
            inside = sum(one.lower[0] <= tau[0] <= one.upper[0] for one in bounds)
            return RankTest(joint.m - inside, joint.m, np.zeros(0), explain.AT_ONCE, said)
        got = self.intervals(made, level, tau)
        return RankTest(
            int(got.m[0] - got.count[0]), int(got.m[0]), np.zeros(0), explain.NOT_EXACT, said
        )

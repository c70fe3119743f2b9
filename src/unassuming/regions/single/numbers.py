"""Intervals and tests of single numbers: of which rows, in which cells (docs/theory.md 11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from unassuming._errors import NotAvailable
from unassuming._numerics import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells import estimates, theorem, tournament
from unassuming.cells.division import NUMBERS, Division, divide, half_width, information
from unassuming.inputs import SingleOptions
from unassuming.regions import explain
from unassuming.regions.problem import Problem
from unassuming.regions.single.evidence import Evidence, Setting, single_options
from unassuming.regions.single.summary import NOTHING, Answer, Query

# Pairs with a wider predicted interval, in units of the normal one, give way to permutations; cells
# of rows with a wider one are compared with cells of pairs, if the noise allows both.
_WIDEST, _LOSING = 2.0, 1.1
_ROBUST_ROWS = 3  # of a cell, for each coefficient: least absolute deviations resist outliers

CERTIFIED = ("halves", "palmrt")


@final
@dataclass(frozen=True, eq=False)
class Way:
    """How one number is answered, and the half-width that is predicted for noise of size 1."""

    # The method is "cells", "pairs", "halves", "palmrt", "t", or "nothing" if the rows do not
    # determine the number. The atoms of the cells are `places` (K, s), of rows or of differences
    # of `pairs` (P, 2); a stream has `merged` cells.

    method: str
    width: float = np.inf
    places: IntArray | None = None
    merged: int = 0
    halves: tournament.Halves | None = None
    pairs: IntArray | None = None


@final
class Numbers:
    """Intervals and tests of single functionals of the coefficients of one region."""

    left_out: tuple[explain.Fact, ...] = ()

    def __init__(self, problem: Problem) -> None:
        self.problem, self.evidence = problem, Evidence.of(problem)
        self._ways: dict[object, Way] = {}
        self._paired: dict[int, estimates.Sample] = {}

    def options(self, *given: Any) -> SingleOptions:
        """Check cells, method, weights and estimate."""
        kept = self.evidence.kept
        return single_options(self.problem, kept, Setting.STREAM if kept else None, given)

    def answer(self, asked: Query) -> Answer:
        """Return intervals and p-values of functionals, and what is said about them."""
        out = self.outcome(asked.g, asked.level, asked.options, chosen_for=asked.chosen_for)
        certain = np.isin(out.method, CERTIFIED) & out.finite
        named = explain.listed(asked.names, certain)
        facts = (explain.Cause.CERTIFIED_ALONE(names=named),) if certain.any() else ()
        if out.finite.all():
            return replace(out, why=explain.Explanation(facts))
        why = self._why_infinite(asked, out)
        why = replace(why, facts=(*facts, *why.facts))
        return replace(out, status=explain.Status.TOO_FEW_CELLS, why=why)

    def _why_infinite(self, asked: Query, out: Answer) -> explain.Explanation:
        """Say why intervals are infinite, and what to do."""
        g, names, level, options = asked.g, asked.names, asked.level, asked.options
        facts, remedies = list[explain.Fact](), list[explain.Remedy]()
        evidence, given, infinite = self.evidence, options.cells is not None, ~out.finite
        at = evidence.whole
        hidden, shift = infinite & ~at.vectors(g)[2], np.zeros_like(infinite)
        if hidden.any():
            facts += _dependence(evidence, self.problem.objective.names, g, names, hidden)
        if not evidence.flips and evidence.swaps is not None and not evidence.spherical:
            shift = infinite & ~hidden & ~evidence.centred.at.vectors(g)[2]
        if shift.any():
            facts.append(explain.Cause.SHIFT_NOT_SEEN(names=explain.listed(names, shift)))
            remedies.append(explain.SYMMETRIC)
        few = infinite & ~hidden & ~shift
        if few.any():
            reached = self.highest_levels(g[few], level, options)
            if given:
                least, needed = int(out.cells[few].min()), theorem.fewest_cells(level)
                facts.append(explain.Cause.CELLS_CHOSEN(level=level, needed=needed, cells=least))
            for one in np.unique(reached).tolist() if not given else ():
                same = np.zeros_like(few)
                same[np.flatnonzero(few)[reached == one]] = True
                enough = enough_rows(evidence, g[same], level)
                facts.append(explain.too_few(explain.listed(names, same), level, one, enough))
            if reached.min() >= 0.5:
                remedies.append(explain.lower_level(float(reached.min())))
            rows = evidence.signs is not None and not evidence.in_blocks and evidence.swaps is None
            offers = {
                explain.OTHER_CELLS: given,
                explain.ANY_METHOD: options.method in ("cells", "pairs"),
                explain.EXCHANGEABLE: rows and not given and at.rows > 2 * at.rank,
                explain.ALL_AT_ONCE: not hidden.any() and asked.jointly(level),
            }
            remedies += [remedy for remedy, works in offers.items() if works]
        dependent, rows_do = bool(hidden.any()), evidence.n < g.shape[1]
        too_few = bool(few.any()) and theorem.fewest_cells(level) <= theorem.ALL
        remedies += [explain.INDEPENDENT] * (dependent and not rows_do)
        remedies += [explain.FEWER_FEATURES] * (too_few or (dependent and rows_do))
        w, mixed = evidence.weight, evidence.spherical or evidence.swaps is not None
        if (dependent or too_few) and (w is None or not mixed or (w == w[0]).all()):
            remedies.append(explain.BOUND_AT_ONCE)
        return explain.Explanation(tuple(facts), tuple(remedies))

    def outcome(
        self,
        g: Array,
        level: float,
        options: SingleOptions,
        tau: Array | None = None,
        *,
        chosen_for: float | None = None,
    ) -> Answer:
        """Return the intervals of functionals (N, d), and the p-values of hypothetical values."""
        # Cells and halves are those for the level `chosen_for`, which is `level` by default.
        tau, out = np.zeros(len(g)) if tau is None else tau, Answer.of(len(g))
        groups: dict[object, list[int]] = {}
        ways = self.ways(g, level if chosen_for is None else chosen_for, options)
        for i, way in enumerate(ways):
            if way.method != NOTHING:
                alike = way.method, id(way.places), way.merged, id(way.pairs), id(way.halves)
                groups.setdefault(alike, []).append(i)
        for rows in groups.values():
            way = ways[rows[0]]
            at, sample = self.coordinates(way), None if way.merged else self.sample(way)
            U, size, _ = at.vectors(g[rows])
            center = at.estimates(g[rows])
            distance = (tau[rows] - center) / size
            out.method[rows], out.estimate[rows] = way.method, center
            rank: IntArray | int = 0
            m: IntArray | int = 0
            attained: Array | float = level
            if way.merged or way.places is not None:
                got = theorem.intervals(
                    *self.in_cells(g[rows], way, options), level, distance, at.blur
                )
                out.estimate[rows] = center + size * np.nan_to_num(got.estimate)
                out.cells[rows], rank, m = got.cells, got.m - got.count, got.m
                lower, upper, pvalue = got.lower, got.upper, got.pvalue
                attained = got.level
            elif way.method == "t":
                freedom, pvalue, half = at.rows - at.rank, np.ones(len(rows)), np.inf
                if freedom > 0:
                    error = at.rest / np.sqrt(freedom)
                    half = float(stdtrit(freedom, 0.5 + level / 2)) * error
                    with np.errstate(divide="ignore", invalid="ignore"):
                        t = np.where(distance == 0, 0.0, np.abs(distance) / error)
                    pvalue = 2 * stdtr(freedom, -t)
                lower, upper = np.full(len(rows), -half), np.full(len(rows), half)
            elif sample is not None and way.halves is not None:
                found, m = way.halves.spans(sample, U, robust=options.robust), way.halves.m
                lower, upper, pvalue = tournament.certified(found, level, distance)
            elif sample is not None and way.method == "palmrt":
                lower, upper, pvalue, m = self._by_permutations(sample, U, level, distance)
            else:
                continue
            if way.method in CERTIFIED:
                rank, attained = (
                    np.rint(m - m * pvalue + 1),
                    tournament.certified_level(level, int(m)),
                )
            out.pvalue[rows], out.rank[rows], out.m[rows] = pvalue, rank, m
            out.lower[rows], out.upper[rows] = _ends(center, size, lower, upper)
            out.level[rows] = np.where(out.finite[rows], attained, 1.0)
        return out

    def highest_levels(self, g: Array, level: float, options: SingleOptions) -> Array:
        """Return the highest level below this one at which functionals have finite intervals."""
        best = np.zeros(len(g))
        for lower in 1 - 0.5 ** np.arange(15, 0, -1.0):
            left = np.flatnonzero(best == 0)
            if lower < level and left.size:
                ways = self.ways(g[left], float(lower), options)
                best[left[[bool(np.isfinite(way.width)) for way in ways]]] = lower
        return best

    def takes_t(self, options: SingleOptions) -> bool:
        """Whether t intervals and F tests are used; refuses what the noise does not allow."""
        evidence, method = self.evidence, options.method
        if method == "auto":
            return evidence.spherical and options.cells is None and not options.robust
        swaps, flips = evidence.swaps is not None, "signs that may change"
        swapped = "rows that may be swapped"
        allowed, needed = {
            "cells": (evidence.flips, flips),
            "pairs": (swaps, swapped),
            "halves": (evidence.flips or swaps, f"{flips} or {swapped}"),
            "palmrt": (swaps, swapped),
            "t": (evidence.spherical, "spherical noise"),
        }[method]
        if not allowed:
            raise NotAvailable(
                f"method={method!r} needs {needed}, and {self.problem.noise!r} does not declare "
                "that: leave out the method, or choose another assumption on the noise."
            )
        return method == "t"

    def sample(self, way: Way) -> estimates.Sample:
        """Return the rows, or the differences of pairs of rows, that a way is about."""
        if way.pairs is None:
            return self.evidence.plain if way.method in ("palmrt", "t") else self.evidence.signed
        key = id(way.pairs)
        if key not in self._paired:
            self._paired[key] = self.evidence.paired(way.pairs)
        return self._paired[key]

    def coordinates(self, way: Way) -> estimates.Coordinates:
        """Return the coordinates of the rows of one way."""
        return self.evidence.whole if self.evidence.kept is not None else self.sample(way).at

    def sums(self, way: Way) -> estimates.CellSums:
        """Return the sums over the cells of one way."""
        if self.evidence.kept is not None:
            return self.evidence.kept.sums.merged(way.merged)
        assert way.places is not None
        return self.sample(way).atoms.sums(way.places)

    def in_cells(self, g: Array, way: Way, options: SingleOptions) -> tuple[Array, Array]:
        """Return β (N, K), as distances from least squares, and weights, 0 for unused cells."""
        U, sums = self.coordinates(way).vectors(g)[0], self.sums(way)
        v, beta = estimates.fits(sums.G, sums.h, U)
        if options.robust:
            sample = self.sample(way)
            assert way.places is not None
            labels = estimates.labels_of(way.places, len(sample.atoms), sample.units)
            beta = estimates.robust_estimates(sample.Q, sample.e, labels, len(way.places), U)
        weights = sums.residual_weights(v) if options.weights == "residuals" else v
        return beta, np.where(theorem.all_in_use(v), weights, 0.0)

    # The choice

    def ways(self, g: Array, level: float, options: SingleOptions) -> list[Way]:
        """Return how each functional (N, d) is answered, chosen for a level."""
        if self.takes_t(options):
            seen = self.evidence.plain.at.vectors(g)[2]
            return [Way("t" if one else NOTHING) for one in seen]
        g = np.array([c / c[np.flatnonzero(c)[0]] if c.any() else c for c in g])
        chosen = level, options.cells_key, options.method, options.robust
        keys = [(c.tobytes(), *chosen) for c in g]
        new = {key: i for i, key in enumerate(keys) if key not in self._ways}
        if new:
            made = self._choose(g[list(new.values())], level, options)
            self._ways.update(zip(new, made, strict=True))
        return [self._ways[key] for key in keys]

    def _choose(self, g: Array, level: float, options: SingleOptions) -> list[Way]:
        evidence, method = self.evidence, options.method
        if evidence.kept is not None:
            return self._of_stream(g, level, options)
        if method == "palmrt":
            return self._permuted(g)
        if not evidence.flips or method == "pairs":
            return [self._of_pairs(c, level, options) for c in g]
        ways = self._of_rows(evidence.signed, g, level, options)
        if method == "auto" and evidence.swaps is not None:
            normal = float(ndtri(0.5 + level / 2)) * evidence.whole.vectors(g)[1]
            for i, way in enumerate(ways):  # pairs, where cells of rows lose information
                if way.width > _LOSING * normal[i]:
                    other = self._of_pairs(g[i], level, options)
                    if other.method != "palmrt" or np.isinf(way.width):
                        ways[i] = min(way, other, key=lambda one: one.width)
        return ways

    def _of_rows(
        self,
        sample: estimates.Sample,
        g: Array,
        level: float,
        options: SingleOptions,
        name: str = "cells",
    ) -> list[Way]:
        """Choose cells or halves of rows, or of pairs."""
        U, size, seen = sample.at.vectors(g)
        ways, known = [Way(NOTHING)] * len(g), np.flatnonzero(seen)
        if not known.size:
            return ways
        U, size, made = U[known], size[known], None
        cells, widths = [Division()] * len(U), np.full(len(U), np.inf)
        if options.method == "halves":
            made = tournament.halves(sample.atoms, level)
            widths = widths if made is None else made.widths(sample.atoms, U)
        else:
            cells = self._cells(sample, U, level, options)
        if options.method == "auto" and options.cells is None:
            most = sample.at.rows // (_ROBUST_ROWS * sample.at.rank)
            for j, own in enumerate(cells):
                if options.robust and own.places is not None and len(own.places) > most:
                    cells[j] = Division(own.places)
            lost = np.array([one.width for one in cells])
            made, widths = tournament.halves_where_narrower(sample.atoms, U, level, lost)
        for i, one, half, unit in zip(known, cells, widths, size, strict=True):
            if half < one.width or options.method == "halves":
                ways[i] = Way("halves", float(half * unit), halves=made)
            else:
                ways[i] = Way(name, float(one.width * unit), one.places)
        return ways

    def _cells(
        self, sample: estimates.Sample, U: Array, level: float, options: SingleOptions
    ) -> list[Division]:
        """Return the cells of each number, given or chosen."""
        given, atoms = options.number, sample.atoms
        if options.cells is None:
            return divide(atoms, U, level)
        if given is None:
            assert options.labels is not None
            cells = [Division(sample.places(options.labels))] * len(U)
        elif given > len(atoms):
            raise ValueError(
                f"there are more cells than blocks or pairs of rows: expected at most {len(atoms)} "
                f"cells, given {given}. Leave it out for the default."
            )
        else:  # for a level that so many cells attain
            cells = divide(atoms, U, min(level, 1 - 1 / theorem.number_of_words(given)), given)
        for i, (one, u) in enumerate(zip(cells, U, strict=True)):
            if one.places is not None:
                v = information(atoms, one.places, u[None])[0]
                cells[i] = Division(one.places, half_width(v, level))
        return cells

    def _of_pairs(self, c: Array, level: float, options: SingleOptions) -> Way:
        """Choose cells or halves of pairs for one functional, or permutations of the rows."""
        evidence, given, labels = self.evidence, options.cells, options.labels
        if not evidence.centred.at.vectors(c[None])[2][0]:
            return Way(NOTHING)
        pairs = evidence.pairs(c, labels)
        if labels is not None:
            own = np.unique(labels[pairs[:, 0]], return_inverse=True)[1].reshape(-1)
            options = replace(options, cells=own.astype(np.intp))
        (way,) = self._of_rows(evidence.paired(pairs), c[None], level, options, "pairs")
        way = replace(way, pairs=pairs)
        if options.method != "auto" or given is not None or options.robust:
            return way
        normal = float(ndtri(0.5 + level / 2) * evidence.whole.vectors(c[None])[1][0])
        if way.width > _WIDEST * normal:
            (other,) = self._permuted(c[None])
            way = other if np.isfinite(other.width) else way
        return way

    def _permuted(self, g: Array) -> list[Way]:
        """Permutations of the rows, where [Z, PZ] and x leave rows to spare."""
        at = self.evidence.plain.at
        _, size, seen = at.vectors(g)
        enough = seen & self.evidence.centred.at.vectors(g)[2] & (at.rows > 2 * at.rank - 1)
        widths = np.where(enough, _WIDEST * size, np.inf).tolist()
        return [Way("palmrt", width) for width in widths]

    def _of_stream(self, g: Array, level: float, options: SingleOptions) -> list[Way]:
        """Choose how many of the cells of a stream are merged to one."""
        kept = self.evidence.kept
        assert kept is not None
        U, size, seen = kept.at.vectors(g)
        most = min(kept.number, theorem.CODED)
        numbers = sorted({K for K in NUMBERS if most >= K} | {most}, reverse=True)
        numbers = numbers if options.number is None else [options.number]
        ways = [Way("cells" if one else NOTHING, merged=numbers[0]) for one in seen]
        for K in numbers:
            sums = kept.sums.merged(K)
            for i, v in enumerate(estimates.fits(sums.G, sums.h, U)[0]):
                new = Way("cells", half_width(v, level) * float(size[i]), merged=K)
                ways[i] = new if seen[i] and new.width < ways[i].width else ways[i]
        return ways

    # The answers

    def _by_permutations(
        self, sample: estimates.Sample, U: Array, level: float, distance: Array
    ) -> tuple[Array, Array, Array, int]:
        """Return certified ends and p-values from permutations within blocks (11.4), and m."""
        blocks = self.evidence.swaps
        assert blocks is not None
        order = estimates.order_of(sample.atoms.ordered_by, blocks=blocks)
        moves = tournament.permutations(blocks[order])
        parts = [tournament.palmrt_spans(sample.Q[order], sample.e[order], u, moves) for u in U]
        ends = [tournament.certified(one, level, t) for one, t in zip(parts, distance, strict=True)]
        lower, upper, pvalue = (np.concatenate(part) for part in zip(*ends, strict=True))
        return lower, upper, pvalue, len(moves) + 1


def _ends(center: Array, size: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return ends in the units of the number, rounded inward so that a test accepts them."""
    low, high = center + size * lower, center + size * upper
    with np.errstate(invalid="ignore"):
        inside = [4 * EPS * (np.abs(center) + size * np.abs(end)) for end in (lower, upper)]
        middle = (low + high) / 2  # where rounding is all there is, as for a constant y
        return (
            np.where(np.isfinite(low), np.minimum(low + inside[0], middle), low),
            np.where(np.isfinite(high), np.maximum(high - inside[1], middle), high),
        )


_ROWS_FOR_HALVES = 4  # for each coefficient, from which halves are within twice the t interval


def _dependence(
    evidence: Evidence, columns: Sequence[str], g: Array, names: Sequence[str], hidden: BoolArray
) -> Iterator[explain.Fact]:
    """Name the columns that depend on each other, in groups, and other undetermined numbers."""
    n, d = evidence.n, len(columns)
    if n < d:
        yield explain.Cause.ROWS_MISSING(n=n, d=d, names=explain.listed(names, hidden))
        return
    found = evidence.whole.factor
    unseen = np.flatnonzero(found.unseen(np.eye(d)))
    lengths = np.linalg.norm(found.null, axis=0)
    null = found.null / np.where(lengths > 0, lengths, 1.0)
    share = np.abs(null @ null.T)[np.ix_(unseen, unseen)]
    size = np.sqrt(np.diagonal(share))
    linked = share > 1e-7 * size[:, None] * size
    group = np.arange(len(unseen))
    for _ in unseen:  # the smallest number of a group spreads to all of it
        group = np.where(linked, group, len(unseen)).min(axis=1)
    single = np.count_nonzero(g, axis=1) == 1
    asked = np.argmax(np.abs(g[hidden & single]), axis=1)
    for one in np.unique(group[np.isin(unseen, asked)]).tolist():
        yield explain.Cause.DEPEND(
            names=explain.together([columns[j] for j in unseen[group == one]])
        )
    if (hidden & ~single).any():
        yield explain.Cause.NOT_IN_DESIGN(names=explain.listed(names, hidden & ~single))


def enough_rows(evidence: Evidence, g: Array, level: float) -> str:
    """Return about how many rows or blocks like these have finite intervals of functionals."""
    needed, rank = theorem.fewest_cells(level), evidence.whole.rank
    if evidence.clusters is not None and evidence.clusters < needed:
        return f"{needed:,} blocks of rows"
    rows = max(_ROWS_FOR_HALVES * rank, evidence.n + 1)
    if evidence.kept is not None:
        return f"{max(rows, 2 * evidence.n):,} rows"
    units = np.arange(evidence.n) if evidence.signs is None else evidence.signs
    for column in evidence.Phi[:, (g != 0).any(axis=0)].T:  # rows that carry a rare value
        carriers = np.unique(units[column != np.median(column)]).size
        rows = max(rows, -(-evidence.n * needed // carriers) if carriers else 0)
    return f"{rows:,} rows"

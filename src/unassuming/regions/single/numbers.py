"""Intervals and tests of single numbers: which rows, in which cells or halves (docs/theory.md 11).

How a number is answered, its `Way`, is chosen by predicted width for one level, before y is seen,
and kept: the interval of a number does not depend on what else is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import final

import numpy as np
from scipy.special import ndtri

from unassuming._errors import NotAvailable
from unassuming._numerics import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells.choose import (
    NUMBERS,
    divide,
    half_width,
    halves_where_narrower,
    information,
)
from unassuming.cells.codes import CODED, in_use, number_of_words
from unassuming.cells.estimates import CellSums, Coordinates, Sample, fits
from unassuming.cells.robust import robust_estimates
from unassuming.cells.spherical import t_intervals
from unassuming.cells.theorem import intervals
from unassuming.cells.tournament import (
    Halves,
    certified,
    certified_level,
    halves,
    palmrt_spans,
    permutations,
)
from unassuming.inputs import SingleOptions
from unassuming.noise import order_of
from unassuming.regions.problem import Problem
from unassuming.regions.single.evidence import Evidence, require_whole_blocks

_WIDEST = 2.0
"""Pairs with a wider predicted interval, in units of the normal one, give way to permutations."""
_LOSING = 1.1
"""Cells of rows with a wider one are compared with cells of pairs, if the noise allows both."""
_ROBUST_ROWS = 3
"""Rows of a cell, for each coefficient, from which least absolute deviations resist outliers."""

CERTIFIED, NOTHING = ("halves", "palmrt"), "nothing"


@final
@dataclass(frozen=True, eq=False)
class Way:
    """How one number is answered, and the half-width that is predicted for noise of size 1.

    The method is "cells", "pairs", "halves", "palmrt", or "nothing" if the rows do not determine
    the number. The atoms of the cells are ``places`` (K, s), of rows or of differences of ``pairs``
    (P, 2); a stream has ``merged`` cells.
    """

    method: str
    width: float = np.inf
    sample: Sample | None = None
    places: IntArray | None = None
    merged: int = 0
    halves: Halves | None = None
    pairs: IntArray | None = None


@final
@dataclass(frozen=True, eq=False)
class Outcome:
    """Intervals and p-values of N numbers, one at a time.

    The estimate is NaN if nothing identifies the number, the attained level 1 where the interval is
    infinite. The rank behind the p-value is one of m; t intervals have none, and m = 0. ``cells``
    identify the number; 0 for methods without cells.
    """

    estimate: Array
    lower: Array
    upper: Array
    pvalue: Array
    rank: IntArray
    m: IntArray
    level: Array
    method: Array
    cells: IntArray

    @classmethod
    def empty(cls, N: int) -> Outcome:
        """Return an outcome to be filled by `put`."""
        estimate, lower, upper, one, level = (
            np.full(N, value) for value in (np.nan, -np.inf, np.inf, 1.0, 1.0)
        )
        rank, m, cells = np.ones(N, np.intp), np.ones(N, np.intp), np.zeros(N, np.intp)
        method = np.full(N, NOTHING, dtype=object)
        return cls(estimate, lower, upper, one, rank, m, level, method, cells)

    def put(self, where: IntArray, part: Outcome) -> None:
        """Store the outcome of some of the numbers."""
        for one in fields(self):
            getattr(self, one.name)[where] = getattr(part, one.name)

    @property
    def finite(self) -> BoolArray:
        """Whether both ends are finite, (N,)."""
        return np.asarray(np.isfinite(self.lower) & np.isfinite(self.upper))


@final
class Numbers:
    """Intervals and tests of single functionals of the coefficients of one region."""

    def __init__(self, problem: Problem, evidence: Evidence | None = None) -> None:
        self.problem = problem
        self.evidence = Evidence.of(problem) if evidence is None else evidence
        self._ways: dict[object, Way] = {}
        self._merged: dict[int, CellSums] = {}

    def outcome(
        self,
        g: Array,
        level: float,
        options: SingleOptions,
        tau: Array | None = None,
        *,
        chosen_for: float | None = None,
    ) -> Outcome:
        """Return the intervals of functionals (N, d), and the p-values of hypothetical values.

        Cells and halves are those for the level ``chosen_for``, which is ``level`` by default.
        """
        tau = np.zeros(len(g)) if tau is None else tau
        out = Outcome.empty(len(g))
        if self.takes_t(options):
            out.put(np.arange(len(g)), self._by_t(g, level, tau))
            return out
        ways = self.ways(g, level if chosen_for is None else chosen_for, options)
        in_cells = [i for i, way in enumerate(ways) if way.method in ("cells", "pairs")]
        if in_cells:
            out.put(np.array(in_cells), self._by_cells(g, ways, in_cells, level, options, tau))
        for kind, answer in (("halves", self._by_halves), ("palmrt", self._by_permutations)):
            groups: dict[int, list[int]] = {}
            for i, way in enumerate(ways):
                if way.method == kind:
                    groups.setdefault(id(way.sample), []).append(i)
            for members in groups.values():
                where = np.array(members)
                found = answer(g[where], ways[members[0]], level, options, tau[where])
                out.put(where, found)
        return out

    def with_outputs(self, y: Array) -> Numbers:
        """Return the same numbers for other outputs, answered in the ways chosen until now."""
        other = Numbers(self.problem, replace(self.evidence, y=y))
        samples: dict[int, Sample] = {}
        for key, way in self._ways.items():
            sample = way.sample
            if sample is not None and id(sample) not in samples:
                if way.pairs is not None:
                    samples[id(sample)] = other.evidence.paired(way.pairs)
                else:
                    signed = sample is self.evidence.signed
                    samples[id(sample)] = other.evidence.signed if signed else other.evidence.plain
            new = None if sample is None else samples[id(sample)]
            other._ways[key] = replace(way, sample=new)
        return other

    def takes_t(self, options: SingleOptions) -> bool:
        """Whether t intervals and F tests are used; refuses what the noise does not allow."""
        if options.method == "auto":
            return self.evidence.spherical and options.cells is None and not options.robust
        self._require(options.method)
        return options.method == "t"

    def in_cells(self, g: Array, way: Way, options: SingleOptions) -> tuple[Array, Array, Array]:
        """Return β (N, K), as distances from ``way``'s least squares, v (N, K) and the weights."""
        at, sums = self.coordinates(way), self.sums(way)
        U = at.vectors(g)[0]
        v, beta = fits(sums.G, sums.h, U)
        kept = np.zeros_like(v)
        for i, row in enumerate(v):
            kept[i, in_use(row)] = row[in_use(row)]
        if options.robust:
            assert way.sample is not None
            assert way.places is not None
            labels = way.sample.labels(way.places)
            beta = robust_estimates(way.sample.Q, way.sample.e, labels, len(way.places), U)
        weights = kept
        if options.weights == "residuals":
            weights = np.where(kept > 0, sums.residual_weights(v), 0.0)
        return beta, kept, weights

    def sums(self, way: Way) -> CellSums:
        """Return the sums over the cells of one way."""
        if way.merged:
            kept = self.evidence.kept
            assert kept is not None
            if way.merged not in self._merged:
                self._merged[way.merged] = kept.sums.merged(way.merged)
            return self._merged[way.merged]
        assert way.sample is not None
        assert way.places is not None
        return way.sample.atoms.sums(way.places)

    def coordinates(self, way: Way) -> Coordinates:
        """Return the coordinates of the rows of one way."""
        return self.evidence.whole if way.sample is None else way.sample.at

    # The choice

    def ways(self, g: Array, level: float, options: SingleOptions) -> list[Way]:
        """Return how each functional (N, d) is answered, chosen for a level."""
        keys = [
            (_normal(c).tobytes(), level, options.cells_key, options.method, options.robust)
            for c in g
        ]
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
        both = evidence.flips and evidence.swaps is not None
        if not evidence.flips or method == "pairs":
            return [self._of_pairs(c, level, options) for c in g]
        ways = self._of_rows(evidence.signed, g, level, options)
        if method != "auto" or not both:
            return ways
        for i, way in enumerate(ways):  # pairs, where cells of rows lose information
            if way.width > _LOSING * ndtri(0.5 + level / 2) * self._size(g[i]):
                other = self._of_pairs(g[i], level, options)
                if other.method != "palmrt" or np.isinf(way.width):
                    ways[i] = min(way, other, key=_width)
        return ways

    def _of_rows(
        self, sample: Sample, g: Array, level: float, options: SingleOptions, name: str = "cells"
    ) -> list[Way]:
        """Choose cells or halves of rows, or of pairs."""
        U, size, seen = sample.at.vectors(g)
        ways = [Way(NOTHING)] * len(g)
        known = np.flatnonzero(seen)
        if not known.size:
            return ways
        U, size = U[known], size[known]
        if options.method == "halves":
            made = halves(sample.atoms, level)
            widths = np.full(len(U), np.inf) if made is None else made.widths(sample.atoms, U)
            cells: list[tuple[IntArray | None, float]] = [(None, np.inf)] * len(U)
        else:
            cells = self._cells(sample, U, level, options)
            made, widths = None, np.full(len(U), np.inf)
            if options.method == "auto" and options.cells is None:
                lost = np.array([width for _, width in cells])
                if options.robust:
                    few = _ROBUST_ROWS * sample.at.rank
                    lost[[p is None or sample.at.rows < few * len(p) for p, _ in cells]] = np.inf
                made, widths = halves_where_narrower(sample.atoms, U, level, lost)
                cells = [(p, w) for (p, _), w in zip(cells, lost.tolist(), strict=True)]
        for i, (places, width), half, unit in zip(
            known.tolist(), cells, widths.tolist(), size.tolist(), strict=True
        ):
            if half < width or options.method == "halves":
                ways[i] = Way("halves", half * unit, sample, halves=made)
            else:
                ways[i] = Way(name, width * unit, sample, places)
        return ways

    def _cells(
        self, sample: Sample, U: Array, level: float, options: SingleOptions
    ) -> list[tuple[IntArray | None, float]]:
        """Return the cells of each number, given or chosen, and the predicted half-widths."""
        given = options.cells
        if isinstance(given, np.ndarray):
            if sample.units is not None:
                require_whole_blocks(given, sample.units)
            places = sample.places(given)
            v = information(sample.atoms, places, U)
            return [(places, half_width(row, level)) for row in v]
        if given is None:
            return [(one.places, one.width) for one in divide(sample.atoms, U, level)]
        _require_units(given, len(sample.atoms))
        lower = min(level, 1 - 1 / number_of_words(given))  # a level that so many cells attain
        found = []
        for one, u in zip(divide(sample.atoms, U, lower, given), U, strict=True):
            width = np.inf
            if one.places is not None:
                width = half_width(information(sample.atoms, one.places, u[None])[0], level)
            found.append((one.places, width))
        return found

    def _of_pairs(self, c: Array, level: float, options: SingleOptions) -> Way:
        """Choose cells or halves of pairs for one functional, or permutations of the rows."""
        evidence, given = self.evidence, options.cells
        labels = given if isinstance(given, np.ndarray) else None
        if not evidence.centred.at.vectors(c[None])[2][0]:
            return Way(NOTHING)
        pairs = evidence.pairs(c, labels)
        if labels is not None:
            options = replace(options, cells=_numbered(labels[pairs[:, 0]]))
        (way,) = self._of_rows(evidence.paired(pairs), c[None], level, options, "pairs")
        way = replace(way, pairs=pairs)
        if options.method != "auto" or given is not None or options.robust:
            return way
        if way.width > _WIDEST * ndtri(0.5 + level / 2) * self._size(c):
            (other,) = self._permuted(c[None])
            way = other if np.isfinite(other.width) else way
        return way

    def _permuted(self, g: Array) -> list[Way]:
        """Permutations of the rows, where [Z, PZ] and x leave rows to spare."""
        at = self.evidence.plain.at
        _, size, seen = at.vectors(g)
        seen &= self.evidence.centred.at.vectors(g)[2]
        enough = seen & (at.rows > 2 * at.rank - 1)
        widths = np.where(enough, _WIDEST * size, np.inf).tolist()
        return [Way("palmrt", width, self.evidence.plain) for width in widths]

    def _of_stream(self, g: Array, level: float, options: SingleOptions) -> list[Way]:
        """Choose how many of the cells of a stream are merged to one."""
        kept = self.evidence.kept
        assert kept is not None
        U, size, seen = kept.at.vectors(g)
        if options.cells is None:
            most = min(kept.number, CODED)
            numbers = sorted({K for K in NUMBERS if most >= K} | {most}, reverse=True)
        else:
            assert isinstance(options.cells, int)
            numbers = [options.cells]
        ways = [Way("cells" if one else NOTHING, merged=numbers[0]) for one in seen]
        for K in numbers:
            sums = self.sums(Way("cells", merged=K))
            for i, v in enumerate(fits(sums.G, sums.h, U)[0]):
                width = half_width(v, level) * float(size[i])
                if seen[i] and width < ways[i].width:
                    ways[i] = Way("cells", width, merged=K)
        return ways

    def _size(self, c: Array) -> float:
        return float(self.evidence.whole.vectors(c[None])[1][0])

    # The answers

    def _by_cells(
        self,
        g: Array,
        ways: list[Way],
        members: list[int],
        level: float,
        options: SingleOptions,
        tau: Array,
    ) -> Outcome:
        """Return exact intervals and ranks from estimates in cells (11.2)."""
        N, K = len(members), max(map(_cells_of, (ways[i] for i in members)))
        beta, weights = np.zeros((2, N, max(K, 1)))
        center, size, blur = np.zeros((3, N))
        groups: dict[object, list[int]] = {}
        for row, i in enumerate(members):
            way = ways[i]
            groups.setdefault((id(way.places), way.merged, id(way.sample)), []).append(row)
        for rows in groups.values():
            way, which = ways[members[rows[0]]], [members[row] for row in rows]
            at = self.coordinates(way)
            center[rows], size[rows] = at.estimates(g[which]), at.vectors(g[which])[1]
            blur[rows] = at.blur
            if _cells_of(way):
                found, _, used = self.in_cells(g[which], way, options)
                beta[rows, : found.shape[1]], weights[rows, : found.shape[1]] = found, used
        distance = (tau[members] - center) / size
        got = intervals(beta, weights, level, distance, blur)
        return Outcome(
            center + size * np.where(np.isnan(got.estimate), 0.0, got.estimate),
            *_ends(center, size, got.lower, got.upper),
            got.pvalue,
            got.m - got.count,
            got.m,
            np.where(got.q > 0, got.level, 1.0),
            np.array([ways[i].method for i in members], dtype=object),
            got.cells,
        )

    def _by_halves(
        self, g: Array, way: Way, level: float, options: SingleOptions, tau: Array
    ) -> Outcome:
        """Return certified intervals from halves of the rows (11.9)."""
        assert way.sample is not None
        sample, made = way.sample, way.halves
        if made is None:
            return _infinite("halves", sample.at.estimates(g))
        U, size, _ = sample.at.vectors(g)
        center = sample.at.estimates(g)
        if options.robust:
            found = made.robust_spans(sample, U)
        else:
            found = made.spans(sample.atoms, U, sample.at.blur)
        ends = certified(found, level, (tau - center) / size)
        return _certified("halves", made.m, level, center, size, ends)

    def _by_permutations(
        self, g: Array, way: Way, level: float, options: SingleOptions, tau: Array
    ) -> Outcome:
        """Return certified intervals from permutations within blocks (11.4)."""
        assert way.sample is not None
        assert self.evidence.swaps is not None
        sample, blocks = way.sample, self.evidence.swaps
        order = order_of(sample.atoms.leverage, blocks=blocks)
        Q, e, moves = sample.Q[order], sample.e[order], permutations(blocks[order])
        U, size, _ = sample.at.vectors(g)
        center = sample.at.estimates(g)
        parts = [palmrt_spans(Q, e, u, moves) for u in U]
        ends = [
            certified(one, level, (t - c) / s)
            for one, t, c, s in zip(parts, tau, center, size, strict=True)
        ]
        lower, upper, pvalue = (np.concatenate(part) for part in zip(*ends, strict=True))
        return _certified("palmrt", len(moves) + 1, level, center, size, (lower, upper, pvalue))

    def _by_t(self, g: Array, level: float, tau: Array) -> Outcome:
        """Return the ordinary t intervals, which are exact for spherical noise."""
        at, N = self.evidence.plain.at, len(g)
        _, size, seen = at.vectors(g)
        center = at.estimates(g)
        distance = np.where(seen, tau - center, 0.0)
        half, pvalue = t_intervals(size, at.rest, at.rows - at.rank, level, distance)
        finite = seen & np.isfinite(half)
        zero = np.zeros(N, dtype=np.intp)
        return Outcome(
            center,
            np.where(finite, center - half, -np.inf),
            np.where(finite, center + half, np.inf),
            np.where(finite, pvalue, 1.0),
            zero,
            zero,
            np.where(finite, level, 1.0),
            np.where(seen, "t", NOTHING).astype(object),
            zero,
        )

    def _require(self, method: str) -> None:
        """Refuse a method that the noise class does not allow."""
        evidence = self.evidence
        swaps = evidence.swaps is not None
        flips, swapped = "signs that may change", "rows that may be swapped"
        needs: dict[str, tuple[bool, str]] = {
            "cells": (evidence.flips, flips),
            "pairs": (swaps, swapped),
            "halves": (evidence.flips or swaps, f"{flips} or {swapped}"),
            "palmrt": (swaps, swapped),
            "t": (evidence.spherical, "spherical noise"),
        }
        allowed, needed = needs[method]
        if not allowed:
            raise NotAvailable(
                f"method={method!r} needs {needed}, and {self.problem.noise!r} does not declare "
                "that: leave out the method, or choose another assumption on the noise."
            )


def _certified(
    method: str,
    m: int,
    level: float,
    center: Array,
    size: Array,
    ends: tuple[Array, Array, Array],
) -> Outcome:
    """Return an outcome from ends in units of ``size`` around the estimates, and p-values."""
    lower, upper, pvalue = ends
    N, finite = len(center), np.isfinite(lower) & np.isfinite(upper)
    return Outcome(
        center,
        *_ends(center, size, lower, upper),
        pvalue,
        np.rint(m - m * pvalue + 1).astype(np.intp),
        np.full(N, m, dtype=np.intp),
        np.where(finite, certified_level(level, m), 1.0),
        np.full(N, method, dtype=object),
        np.zeros(N, dtype=np.intp),
    )


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


def _infinite(method: str, center: Array) -> Outcome:
    """Return infinite intervals."""
    out = Outcome.empty(len(center))
    out.estimate[:], out.method[:] = center, method
    return out


def _cells_of(way: Way) -> int:
    return way.merged or (0 if way.places is None else len(way.places))


def _width(way: Way) -> float:
    return way.width


def _normal(c: Array) -> Array:
    """Return a multiple of a functional that is the same for all its multiples."""
    return np.asarray(c / c[np.argmax(np.abs(c))]) if c.any() else c


def _numbered(labels: IntArray) -> IntArray:
    """Return labels as numbers from 0, without gaps."""
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.intp)


def _require_units(cells: int, units: int) -> None:
    """Refuse more cells than units."""
    if cells > units:
        raise ValueError(
            f"there are more cells than blocks or pairs of rows: expected at most {units} "
            f"cells, given {cells}. Leave it out for the default."
        )

"""Which method serves which number, decided before y is seen, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import final

import numpy as np
from scipy.special import ndtri

from unassuming._errors import NotAvailable
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.cells import Method, approximate_width, enough_cells
from unassuming.inputs import SingleOptions
from unassuming.regions._problem import Problem
from unassuming.regions.single._divided import (
    Divided,
    DividedRows,
    DividedSums,
    InCells,
    Place,
    by_place,
)
from unassuming.regions.single._evidence import Evidence, Rows
from unassuming.regions.single._methods import Asked, by_cells, by_halves, by_palmrt, by_t
from unassuming.regions.single._outcome import Outcome

_ENOUGH = 0.9
"""A functional of which the shared division keeps less gets a division of its own."""

REFERENCE = 0.95
"""The level for which the rows are divided. Other levels use the same division if its cells are
enough for them, so that their intervals are nested and their p-values are equal."""

_ROBUST_ROWS = 3
"""Rows of a cell, for each coefficient, from which least absolute deviations resist outliers."""

_WIDEST = 2.0
"""Cells with a wider interval, as a multiple of the Gaussian one, give way to halves and to
permutations, which are narrower."""

_CALLED = {
    "cells": Method.CELLS,
    "pairs": Method.PAIRS,
    "halves": Method.HALVES,
    "palmrt": Method.PALMRT,
    "t": Method.STUDENT,
}


@final
class Numbers:
    """Intervals and tests of single functionals of the coefficients of one region.

    Divisions are made once and kept. Those for coefficients serve all coefficients, so that an
    interval does not depend on what else is asked.
    """

    def __init__(self, problem: Problem, evidence: Evidence | None = None) -> None:
        self.problem = problem
        self.evidence = Evidence.of(problem) if evidence is None else evidence
        self._divided: dict[object, Divided] = {}

    def outcome(
        self,
        g: Array,
        level: float,
        options: SingleOptions,
        tau: Array | None = None,
        *,
        own: bool = True,
    ) -> Outcome:
        """Return the intervals of functionals (N, d), and the p-values of hypothetical values.

        With ``own`` a functional that the shared division serves badly gets one of its own.
        """
        tau = np.zeros(len(g)) if tau is None else tau
        asked = Asked(g, level, tau, self.problem.ties, self.problem.seed)
        out = Outcome.empty(len(g))
        zero = ~g.any(axis=1)
        out.put(np.flatnonzero(zero), _constant(int(zero.sum())))
        rest = np.flatnonzero(~zero)
        if rest.size:
            out.put(rest, self._answer(asked.part(rest), options, own=own))
        return out

    def takes_t(self, options: SingleOptions) -> bool:
        """Whether t intervals and F tests are used; refuses what the noise does not allow."""
        if options.method == "auto":
            plain = options.cells is None and not options.robust
            return self.evidence.spherical and plain
        self._require(options.method)
        return options.method == "t"

    def _answer(self, asked: Asked, options: SingleOptions, *, own: bool) -> Outcome:
        evidence = self.evidence
        if self.takes_t(options):
            return by_t(evidence.plain, asked)
        if options.method == "auto":
            return self._auto(asked, options, own=own)
        chosen = _CALLED[options.method]
        if chosen is Method.HALVES:
            halves = partial(by_halves, robust=options.robust)
            if evidence.flips:
                return halves(evidence.signed(None), asked)
            return self._halves_of_pairs(halves, asked)
        if chosen is Method.PALMRT:
            return self._palmrt(asked)
        places = self.places(chosen, asked.g, asked.level, options, own=own)
        found = InCells.of(places, asked.g, robust=options.robust, weights=options.weights)
        return by_cells([chosen] * len(asked.g), found, asked)

    def _auto(self, asked: Asked, options: SingleOptions, *, own: bool) -> Outcome:
        """Choose by predicted width; certified methods where cells identify too little."""
        kinds, places = self._cells_or_pairs(asked, options, own=own)
        found = InCells.of(places, asked.g, robust=options.robust, weights=options.weights)
        out = by_cells(kinds, found, asked)
        if options.cells is not None or self.evidence.cells is not None:
            return out
        weak = _too_few(found, asked.level)
        if options.robust:
            thin = [_rows_per_cell(place) < _ROBUST_ROWS * asked.g.shape[1] for place in places]
            weak |= np.array(thin)
        left = np.flatnonzero(weak & (found.whole > 0))
        for method in self._certified_methods(options):
            if not left.size:
                break
            other = method(asked.part(left))
            out.put(left[other.finite], _selected(other, np.flatnonzero(other.finite)))
            left = left[~other.finite]
        return out

    def _certified_methods(self, options: SingleOptions) -> Iterator[Callable[[Asked], Outcome]]:
        """Yield the methods for few rows that the noise allows, the narrowest first.

        Whether they give finite intervals depends on the design alone. A noise class allows the
        methods of every weaker class that it implies.
        """
        halves = partial(by_halves, robust=options.robust)
        if self.evidence.swaps is not None and not options.robust:
            yield self._palmrt
        if self.evidence.flips:
            yield partial(halves, self.evidence.signed(None))
        if self.evidence.swaps is not None:
            yield partial(self._halves_of_pairs, halves)

    def _cells_or_pairs(
        self, asked: Asked, options: SingleOptions, *, own: bool
    ) -> tuple[list[Method], list[Place]]:
        """Choose cells of rows or of pairs; pairs only where cells of rows lose information."""
        g, level, N = asked.g, asked.level, len(asked.g)
        if not self.evidence.flips:
            return [Method.PAIRS] * N, self.places(Method.PAIRS, g, level, options)
        places = self.places(Method.CELLS, g, level, options, own=own)
        kinds = [Method.CELLS] * N
        if self.evidence.swaps is None:
            return kinds, places
        found = InCells.of(places, g, robust=False, weights="design")
        weak = np.flatnonzero(found.kept < _ENOUGH)
        if weak.size:
            pairs = self.places(Method.PAIRS, g[weak], level, options)
            other = InCells.of(pairs, g[weak], robust=False, weights="design")
            whole = found.whole[weak, None]
            shares = np.divide(other.v, whole, out=np.zeros_like(other.v), where=whole > 0)
            better = _relative_width(shares, level) < _relative_width(found.shares[weak], level)
            for k in np.flatnonzero(better).tolist():
                kinds[weak[k]], places[weak[k]] = Method.PAIRS, pairs[k]
        return kinds, places

    def _halves_of_pairs(self, halves: Callable[[Rows, Asked], Outcome], asked: Asked) -> Outcome:
        out = Outcome.empty(len(asked.g))
        for i, c in enumerate(asked.g):  # each functional has its own pairs
            where = np.array([i])
            out.put(where, halves(self.evidence.paired(_normal(c), None), asked.part(where)))
        return out

    def _palmrt(self, asked: Asked) -> Outcome:
        assert self.evidence.swaps is not None
        return by_palmrt(self.evidence.plain, self.evidence.swaps, asked)

    # Divisions

    def places(
        self, kind: Method, g: Array, level: float, options: SingleOptions, *, own: bool = True
    ) -> list[Place]:
        """Return where each functional (N, d) is estimated, in cells of rows or of pairs.

        That is in the division for the reference level if its cells are enough for this level.
        """
        found = self._places(kind, g, REFERENCE, options, own=own)
        few = _short_of_cells(found, g, level) if level != REFERENCE else []
        if few:
            other = self._places(kind, g[few], level, options, own=own)
            for i, place in zip(few, other, strict=True):
                found[i] = place
        return found

    def _places(
        self, kind: Method, g: Array, level: float, options: SingleOptions, *, own: bool
    ) -> list[Place]:
        """Return where each functional is estimated in the divisions for one level."""
        if kind is Method.PAIRS:
            divided = [self._paired(c, c[None], level, options) for c in g]
            return [Place(one, int(one.which[0])) for one in divided]
        return self._shared(g, level, options, own=own)

    def divisions_for(self, g: Array, level: float, options: SingleOptions) -> list[Divided]:
        """Return divisions for several functionals at once: those for coefficients, and their own.

        They get their own if the divisions for coefficients keep too little of one of them.
        """
        shared = self._coefficients(g.shape[1], level, options)
        if self._fixed(options) or shared.best(g)[1].min() >= _ENOUGH:
            return [shared]
        own = self._made(("several", g.tobytes()), self.evidence.signed, g, level, options)
        return [shared, own]

    def pairs_for(self, g: Array, level: float, options: SingleOptions) -> list[Divided]:
        """Return divisions of pairs for several functionals, paired for each one of them."""
        return [self._paired(c, g, level, options) for c in g]

    def _coefficients(self, d: int, level: float, options: SingleOptions) -> Divided:
        """Return the divisions for all coefficients."""
        return self._made("rows", self.evidence.signed, np.eye(d), level, options)

    def _shared(self, g: Array, level: float, options: SingleOptions, *, own: bool) -> list[Place]:
        """Return the places of functionals in cells of rows.

        A coefficient has its place in the divisions for all coefficients. Another functional has
        its place where most of the information about it is kept.
        """
        shared = self._coefficients(g.shape[1], level, options)
        places: list[Place | None] = [None] * len(g)
        alone = np.count_nonzero(g, axis=1) == 1
        for i in np.flatnonzero(alone).tolist():
            j = int(np.flatnonzero(g[i])[0])
            places[i] = Place(shared, int(shared.which[j]))
        others = np.flatnonzero(~alone)
        if others.size:
            which, share = shared.best(g[others])
            for i, k, kept in zip(others.tolist(), which.tolist(), share.tolist(), strict=True):
                places[i] = Place(shared, k)
                if own and kept < _ENOUGH and not self._fixed(options):
                    c = _normal(g[i])
                    one = self._made(c.tobytes(), self.evidence.signed, c[None], level, options)
                    places[i] = Place(one, int(one.which[0]))
        return [place for place in places if place is not None]

    def _paired(self, c: Array, g: Array, level: float, options: SingleOptions) -> Divided:
        """Return a division for functionals g of rows that are paired for c."""
        c, g = _normal(c), np.array([_normal(one) for one in g])
        key = "pairs", c.tobytes(), g.tobytes()
        return self._made(key, lambda cells: self.evidence.paired(c, cells), g, level, options)

    def _made(
        self,
        key: object,
        rows: Callable[[object], Rows],
        g: Array,
        level: float,
        options: SingleOptions,
    ) -> Divided:
        """Return a division, made on first use."""
        key = key, level, options.cells_key
        if key not in self._divided:
            number = options.cells if isinstance(options.cells, int) else None
            kept = self.evidence.cells
            if kept is not None:
                self._divided[key] = DividedSums(kept, self.evidence.n, g, level, number)
            else:
                made = rows(options.cells)
                _require_units(number, made)
                self._divided[key] = DividedRows(made, g, level, number, self.problem.seed)
        return self._divided[key]

    def _fixed(self, options: SingleOptions) -> bool:
        """Whether the division is given: by the user, or by a stream that has collected sums."""
        return isinstance(options.cells, np.ndarray) or self.evidence.cells is not None

    def _require(self, method: str) -> None:
        """Refuse a method that the noise class does not allow."""
        evidence = self.evidence
        needs = {
            "cells": (evidence.flips, "signs that may change"),
            "pairs": (evidence.swaps is not None, "rows that may be swapped"),
            "halves": (
                evidence.flips or evidence.swaps is not None,
                "signs that may change or rows that may be swapped",
            ),
            "palmrt": (evidence.swaps is not None, "rows that may be swapped"),
            "t": (evidence.spherical, "spherical noise"),
        }
        allowed, needed = needs[method]
        if not allowed:
            raise NotAvailable(
                f"method={method!r} needs {needed}, and {self.problem.noise!r} does not declare "
                "that: leave out the method, or choose another assumption on the noise."
            )


def _normal(c: Array) -> Array:
    """Return a multiple of a functional that is the same for all its multiples."""
    return np.asarray(c / c[np.argmax(np.abs(c))])


def _short_of_cells(places: list[Place], g: Array, level: float) -> list[int]:
    """Return the functionals (N, d) that too few cells for the level identify."""
    cells = np.zeros(len(g), dtype=np.intp)
    for place, members in by_place(places):
        cells[members] = np.count_nonzero(place.divided.information(place.which, g[members]), 1)
    return [i for i, K in enumerate(cells.tolist()) if not enough_cells(K, level)]


def _relative_width(shares: Array, level: float) -> Array:
    """Return predicted widths as multiples of the Gaussian one, from shares of information (N, K).

    They are those at the reference level, or at this one if the cells are too few for that.
    """
    width = approximate_width(shares, REFERENCE) / (2 * ndtri(0.5 + REFERENCE / 2))
    few = np.isinf(width)
    if level != REFERENCE and few.any():
        width[few] = approximate_width(shares[few], level) / (2 * ndtri(0.5 + level / 2))
    return np.asarray(width)


def _too_few(found: InCells, level: float) -> BoolArray:
    """Whether the cells of each number are too few, or keep too little of its information."""
    few = [not enough_cells(K, level) for K in (found.v > 0).sum(axis=1).tolist()]
    return np.asarray(np.array(few) | (_relative_width(found.shares, level) > _WIDEST))


def _rows_per_cell(place: Place) -> float:
    return place.divided.n / int(place.divided.sizes[place.which])


def _selected(out: Outcome, where: IntArray) -> Outcome:
    part = Outcome.empty(len(where))
    for name in vars(part):
        getattr(part, name)[:] = getattr(out, name)[where]
    return part


def _constant(N: int) -> Outcome:
    """Return the outcome of functionals that are zero: their value is 0."""
    out = Outcome.empty(N)
    for part in (out.estimate, out.lower, out.upper):
        part[:] = 0.0
    out.kept[:] = 1.0
    return out


def _require_units(cells: int | None, rows: Rows) -> None:
    """Refuse more cells than units."""
    if cells is not None and cells > rows.units:
        raise ValueError(
            f"there are more cells than blocks or pairs of rows: expected at most {rows.units} "
            f"cells, given {cells}. Leave it out for the default."
        )

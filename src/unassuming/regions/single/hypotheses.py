"""Tests of one functional or of several at once, and instruments (docs/theory.md 11.2, 14).

At a hypothetical value of all endogenous coefficients the instruments must not explain what is left
of y: a test of several functionals in cells, which are chosen by instruments and controls alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy.linalg import null_space
from scipy.special import fdtrc

from unassuming._errors import NotAvailable
from unassuming._numerics import SEEN, Factor
from unassuming._typing import Array, IntArray
from unassuming._words import joined
from unassuming.cells.division import Division
from unassuming.cells.estimates import CellSums, Coordinates, Sample
from unassuming.cells.several import (
    Several,
    division,
    instrument_estimate,
    instrument_set,
    joint_rank,
    predicted,
)
from unassuming.cells.theorem import fewest_cells, largest_q, number_of_words, words
from unassuming.inputs import SingleOptions
from unassuming.objectives import InstrumentObjective
from unassuming.ranking import RankTest
from unassuming.regions import explain
from unassuming.regions.problem import Problem
from unassuming.regions.results import IntervalUnion, several
from unassuming.regions.single.evidence import Evidence, Setting, single_options
from unassuming.regions.single.numbers import CERTIFIED, Numbers
from unassuming.regions.single.summary import Answer, Query

_STREAMED = (32, 16, 10, 8, 7, 6, 5)


@final
@dataclass(frozen=True, eq=False)
class FTest:
    """The F test of a hypothesis about coefficients, which is exact for spherical noise.

    Attributes
    ----------
    statistic : float
        F; for one functional the square of t.
    freedoms : tuple of two float
        Degrees of freedom.
    pvalue : float
    tested : str
        The hypothesis.

    Examples
    --------
    >>> spherical = ua.confidence_region(LinearRegression(), X, y, noise="spherical", m=20)
    >>> print(spherical.hypothesis("x1"))
    Hypothesis x1 = 0: p-value 0.024996 (F = 5.36181 on 1 and 47 degrees of freedom).
    """

    statistic: float
    freedoms: tuple[float, float]
    pvalue: float
    tested: str

    def __str__(self) -> str:
        first, second = self.freedoms
        return (
            f"Hypothesis {self.tested}: p-value {self.pvalue:.6g} (F = {self.statistic:.6g} on "
            f"{first:g} and {second:g} degrees of freedom)."
        )


def hypothesis_test(numbers: Numbers, asked: Query, tau: Array) -> RankTest | FTest:
    """Test hypothetical values of one functional, or of several at once."""
    said, g, number = explain.tested(asked.names, tau), asked.g, len(asked.g)
    require_independent(g)
    if number > 1:
        g, tau = _determined(numbers.evidence.whole.factor, g, tau)
    if numbers.takes_t(asked.options):
        return _f_test(numbers.evidence.plain, g, tau, said)
    test = _one if len(g) == 1 else _several
    found = replace(test(numbers, replace(asked, g=g), tau), tested=said)
    if len(g) == number:
        return found
    return replace(found, caveat=f"{explain.PART.format(len(g), number)} {found.caveat}".strip())


def _determined(factor: Factor, g: Array, tau: Array) -> tuple[Array, Array]:
    """Return the part of a hypothesis that the columns determine; all of it if there is none."""
    size = np.linalg.norm(g @ factor.scales, axis=1)
    U, s, _ = np.linalg.svd((g @ factor.null) / size[:, None])
    L = U[:, np.count_nonzero(s > SEEN) :].T / size
    return (L @ g, L @ tau) if 0 < len(L) < len(g) else (g, tau)


def _one(numbers: Numbers, asked: Query, tau: Array) -> RankTest:
    """Test one functional, with the p-value of its row in a summary."""
    g, level, options = asked.g, asked.level, asked.options
    out = numbers.outcome(g, level, options, tau)
    rank, m = int(out.rank[0]), int(out.m[0])
    if out.method[0] in CERTIFIED:
        return RankTest(rank, m, np.zeros(0), explain.AN_UPPER_BOUND)
    if not out.cells[0]:
        return RankTest(1, 1, np.zeros(1), explain.HIDDEN)
    (way,) = numbers.ways(g, level, options)
    beta, weights = (part[0] for part in numbers.in_cells(g, way, options))
    at = numbers.coordinates(way)
    away = (tau - at.estimates(g))[0] / at.vectors(g)[1][0]
    u = (weights * (beta - away))[weights > 0]
    return RankTest(rank, m, np.abs(words(len(u)) @ u), explain.least_pvalue(len(u), level))


def _several(numbers: Numbers, asked: Query, tau: Array) -> RankTest:
    """Test several functionals at once: a nested model."""
    g, level, options = asked.g, asked.level, asked.options
    if options.robust or options.weights != "design" or options.method in CERTIFIED:
        raise NotAvailable(
            "several functionals at once are tested by least squares in cells or pairs alone: "
            "leave out cell_weights, cell_estimate and method, or test one functional at a time."
        )
    found = [one for one in _candidates(numbers, asked) if np.isfinite(one[0])]
    if not found:
        whole = numbers.evidence.whole
        few = (
            explain.HIDDEN if whole.factor.unseen(g).any() else explain.few_rows(level, whole.rank)
        )
        return RankTest(1, 1, np.zeros(1), few)
    _, sums, at = min(found, key=lambda one: one[0])
    C = g @ at.factor.back
    size = np.linalg.norm(C, axis=1)
    several = Several.of(sums.G, sums.h[..., None], C / size[:, None])
    rank, statistics = joint_rank(several.at((tau - at.estimates(g)) / size))
    cells = len(several.V)
    return RankTest(rank, number_of_words(cells), statistics, explain.least_pvalue(cells, level))


def _candidates(numbers: Numbers, asked: Query) -> Iterator[tuple[float, CellSums, Coordinates]]:
    """Yield predicted widths, sums and coordinates of cells that may serve several functionals."""
    g, level, options, evidence = asked.g, asked.level, asked.options, numbers.evidence
    labels = options.labels
    if (kept := evidence.kept) is not None:
        tried = _STREAMED if options.number is None else (options.number,)
        seen = not evidence.whole.factor.unseen(g).any()
        for K in [K for K in tried if seen and kept.number >= K]:
            sums = kept.sums.merged(K)
            yield predicted(sums.G, _unit(g, kept.at), level), sums, kept.at
        return
    samples: list[tuple[Sample, IntArray | None]] = []
    if evidence.flips and options.method in ("auto", "cells"):
        samples.append((evidence.signed, labels))
    if evidence.swaps is not None and options.method in ("auto", "pairs"):
        for c in g:
            pairs = evidence.pairs(c, labels)
            own = None if labels is None else labels[pairs[:, 0]]
            samples.append((evidence.paired(pairs), own))
    for sample, own in samples:
        made = best_cells(sample, g, level, options.number, own)
        if made.places is not None:
            yield made.width, sample.atoms.sums(made.places), sample.at


def best_cells(
    sample: Sample, g: Array, level: float, number: int | None, labels: IntArray | None
) -> Division:
    """Return the cells of rows for functionals (N, d), or those that labels of the rows give."""
    if sample.at.factor.unseen(g).any():
        return Division()
    if labels is not None:
        number = int(labels.max()) + 1
    if number is not None:  # a level that so many cells attain
        level = min(level, 1 - 1 / number_of_words(number))
    C = _unit(g, sample.at)
    if labels is None:
        return division(sample.atoms, C, level, number)
    places = sample.places(labels)
    return Division(places, predicted(sample.atoms.products(places), C, level))


def _unit(g: Array, at: Coordinates) -> Array:
    """Return functionals (k, d) as vectors of length 1 in coordinates (k, r)."""
    C = g @ at.factor.back
    return np.asarray(C / np.linalg.norm(C, axis=1, keepdims=True))


def _f_test(sample: Sample, g: Array, tau: Array, said: str) -> FTest:
    at = sample.at
    k, freedom = len(g), at.rows - at.rank
    freedoms = float(k), float(freedom)
    if freedom < 1 or at.factor.unseen(g).any():
        return FTest(0.0, freedoms, 1.0, said)
    C, away = g @ at.factor.back, at.estimates(g) - tau
    distance = np.float64(away @ np.linalg.solve(C @ C.T, away))
    with np.errstate(divide="ignore", invalid="ignore"):
        F = float(np.nan_to_num(distance / k / (at.rest**2 / freedom)))
    return FTest(F, freedoms, float(fdtrc(k, freedom, F)), said)


def require_independent(g: Array) -> None:
    """Refuse functionals of which one follows from the others."""
    scaled = g / np.abs(g).max(axis=1, keepdims=True)
    if np.linalg.matrix_rank(scaled) < len(g):
        raise ValueError(
            "functionals are linearly dependent: expected independent ones, given "
            f"{len(g)} rows of rank {np.linalg.matrix_rank(scaled)}. Leave out those that follow "
            "from others."
        )


@final
class Instruments:
    """Sets and tests of coefficients of one region with instruments."""

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.objective, InstrumentObjective)
        self.problem, self.objective = problem, problem.objective
        self.evidence = Evidence.of_rows(problem, self.objective.exogenous)
        self._found: dict[object, Several] = {}

    @property
    def name(self) -> str:
        """The one endogenous column."""
        return self.objective.names[self.objective.endogenous[0]]

    @property
    def left_out(self) -> tuple[explain.Fact, ...]:
        """What a summary of everything does not contain."""
        controls = self.objective.d > len(self.objective.endogenous)
        return (explain.Cause.CONTROLS_ALONE(names=self.name),) if controls else ()

    def options(self, *given: Any) -> SingleOptions:
        """Check cells, method, weights and estimate."""
        flips = self.evidence.flips
        setting = Setting.FLIPPED_INSTRUMENTS if flips else Setting.SWAPPED_INSTRUMENTS
        return single_options(self.problem, None, setting, given)

    def answer(self, asked: Query) -> Answer:
        """Return the sets of multiples of the one endogenous coefficient."""
        # The intervals of a union need not be bounded, and `lower` and `upper` are their hull.
        factors, level = self._multiples(asked.g, asked.names), asked.level
        found = self._cells(self._tested, asked.chosen_for, asked.options)
        z, K, m = found.whitened(found.u), len(found.V), number_of_words(len(found.V))
        q, u, v = largest_q(level, m), z[..., 0], z[..., 1]
        ends = instrument_set(u, v, q) if q else np.array([[-np.inf, np.inf]])
        estimate = instrument_estimate(u, v) if K else np.nan
        sets = tuple(IntervalUnion(ends).times(float(c)) for c in factors)
        rank = joint_rank(u)[0] if K else 1
        status, why = self._status(sets[0], level, K, asked.options)
        return Answer.of(
            len(factors),
            estimate=factors * estimate,
            lower=[one.lower for one in sets],
            upper=[one.upper for one in sets],
            pvalue=(m + 1 - rank) / m,
            m=m,
            level=1 - q / m if q else 1.0,
            method="cells" if self.evidence.flips else "pairs",
            status=status,
            why=why,
            sets=sets,
        )

    def test(self, asked: Query, tau: Array) -> RankTest:
        """Test values of all endogenous coefficients, and of functionals of controls."""
        # Instruments and tested controls must not explain y - xβ.
        said = explain.tested(asked.names, tau)
        beta, functionals, tau = self._hypothesis(asked.g, tau)
        found = self._cells(functionals, asked.level, asked.options)
        if not len(found.V):
            few = explain.few_rows(asked.level, self.evidence.whole.rank)
            return RankTest(1, 1, np.zeros(1), few, said)
        u = found.u @ np.append(1.0, -beta) - found.V @ tau
        rank, statistics = joint_rank(found.whitened(u))
        return RankTest(rank, number_of_words(len(found.V)), statistics, "", said)

    @property
    def _tested(self) -> Array:
        """The coefficients of the instruments, as functionals of those of all exogenous columns."""
        D = self.objective.exogenous.matrix.shape[1]
        return np.eye(D)[D - len(self.objective.roles.instruments) :]

    def _multiples(self, g: Array, names: Sequence[str]) -> Array:
        """Return the multiples of the one endogenous coefficient that functionals (N, d) are."""
        o = self.objective
        if len(o.endogenous) > 1:
            columns = joined(o.names[j] for j in o.endogenous)
            raise _no_single(
                "the coefficient of one endogenous column alone has no exact set if there are "
                f"several ({columns}), because no group of rows removes the others.",
                "region.hypothesis for all of them at once",
            )
        other = np.flatnonzero(np.delete(g, o.endogenous, axis=1).any(axis=1))
        if len(other):
            raise _no_single(
                f"{names[other[0]]} is not a multiple of the coefficient of {self.name}, which no "
                "group of rows removes, so it has no exact interval one at a time.",
                f"region.hypothesis with a value of {self.name} as well",
            )
        return np.asarray(g[:, o.endogenous[0]])

    def _hypothesis(self, g: Array, tau: Array) -> tuple[Array, Array, Array]:
        """Return the values of all endogenous coefficients that gθ = τ determines, and the rest."""
        # That is functionals (k, D) of the exogenous columns and their values in a regression of y
        # - xβ, where those of the instruments are zero.
        require_independent(g)
        o, controls = self.objective, self.objective.d - len(self.objective.endogenous)
        g, tau = g / np.abs(g).max(axis=1)[:, None], tau / np.abs(g).max(axis=1)
        wanted = np.eye(o.d)[o.endogenous]
        M = np.linalg.lstsq(g.T, wanted.T, rcond=None)[0].T  # M g = wanted
        if np.abs(M @ g - wanted).max() > SEEN:
            columns = [o.names[j] for j in o.endogenous]
            raise NotAvailable(
                "a test needs a hypothetical value of every endogenous coefficient "
                f"({joined(columns)}): they are the coefficients that no group of rows removes. "
                f"Add them, as in region.hypothesis({columns!r}, value=...), with further "
                "coefficients if you like."
            )
        N = null_space(g[:, o.endogenous].T).T  # combinations of functionals of controls alone
        of_controls = np.zeros((len(N), self._tested.shape[1]))
        of_controls[:, :controls] = N @ g[:, :controls]
        functionals = np.concatenate([of_controls, self._tested])
        return M @ tau, functionals, np.append(N @ tau, np.zeros(len(self._tested)))

    def _cells(self, h: Array, level: float, options: SingleOptions) -> Several:
        """Return what cells say about functionals of the exogenous columns, made on first use."""
        # The columns are y and those that depend on the noise, which the choice does not see.
        key = h.tobytes(), level, options.cells_key
        if key not in self._found:
            evidence, labels = self.evidence, options.labels
            columns = self.objective.design.matrix[:, self.objective.endogenous].T
            if evidence.flips:
                samples = [evidence.signed, *map(evidence.like, columns)]
            else:
                pairs = evidence.pairs(h[0], labels)
                labels = None if labels is None else labels[pairs[:, 0]]
                samples = [evidence.paired(pairs, x) for x in (None, *columns)]
            first, k = samples[0], len(h)
            places = best_cells(first, h, level, options.number, labels).places
            found = Several(np.zeros((0, k, k)), np.zeros((0, k, len(samples))))
            if places is not None:
                G = first.atoms.products(places)
                sums = [one.atoms.sums(places).h + G @ one.at.fit_of_y for one in samples]
                found = Several.of(G, np.stack(sums, axis=-1), h @ first.at.factor.back)
            self._found[key] = found
        return self._found[key]

    def _status(
        self, found: IntervalUnion, level: float, K: int, options: SingleOptions
    ) -> tuple[explain.Status, explain.Explanation]:
        """Return what kind of set this is; why it is not a bounded interval, and what to do."""
        evidence, name, m = self.evidence, self.name, number_of_words(K)
        q, needed, rank = largest_q(level, m), fewest_cells(level), evidence.whole.rank
        hull = (explain.Cause.HULL(),) if several([found]) else ()
        if q and not len(found):
            return explain.Status.EMPTY, explain.Explanation(
                (explain.Cause.NO_VALUE(names=name, alpha=q / m),)
            )
        if q and found.bounded:
            kind = explain.Status.ONE_BY_ONE if len(found) == 1 else explain.Status.SEVERAL_PARTS
            return kind, explain.Explanation(hull)
        if q:
            weak = explain.Cause.WEAK_INSTRUMENTS(names=name)
            return explain.Status.ENDLESS_SET, explain.Explanation(
                (*hull, weak), (explain.STRONGER,)
            )
        if options.cells is not None:
            fact = explain.Cause.CELLS_CHOSEN(level=level, needed=needed, cells=K)
            return explain.Status.TOO_FEW_CELLS, explain.Explanation(
                (fact,), (explain.OTHER_CELLS,)
            )
        each = 1 if evidence.flips else 2
        n = evidence.n // each
        best = 1 - 1 / number_of_words(min(n // rank, needed - 1))
        fact = explain.too_few(name, level, best, f"{max(needed * rank, n) * each + 1:,} rows")
        lower = (explain.lower_level(best),) if 0.5 <= best < level else ()
        return explain.Status.TOO_FEW_CELLS, explain.Explanation(
            (fact,), (*lower, explain.FEWER_FEATURES)
        )


def _no_single(why: str, test: str) -> NotAvailable:
    """Return the refusal of one interval, with what can be asked instead."""
    at_once = "whose bounds hold at once"
    return NotAvailable(
        f"{why} Use {test}, or region.interval(simultaneous=True), {at_once}.",
        f"{why} Use unassuming region, {at_once}.",
    )

"""The coefficients of endogenous columns, by the cells of their instruments (docs/theory.md 14).

At a hypothetical value of all endogenous coefficients the instruments must not explain what is left
of y: a test of several functionals in cells, which are chosen by instruments and controls alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from scipy.linalg import null_space

from unassuming._errors import NotAvailable
from unassuming._numerics import SEEN
from unassuming._typing import Array, IntArray
from unassuming._words import joined
from unassuming.cells.codes import fewest_cells, largest_q, number_of_words
from unassuming.cells.estimates import Sample
from unassuming.cells.several import Several, instrument_estimate, instrument_set, joint_rank
from unassuming.inputs import SingleOptions
from unassuming.objectives import InstrumentObjective
from unassuming.ranking import RankTest
from unassuming.regions.explain import (
    FEWER_FEATURES,
    STRONGER,
    Cause,
    Explanation,
    Fact,
    Status,
    lower_level,
)
from unassuming.regions.problem import Problem
from unassuming.regions.results import IntervalUnion, several
from unassuming.regions.single.evidence import Evidence, Setting, single_options
from unassuming.regions.single.hypotheses import best_cells, few_rows, require_independent
from unassuming.regions.single.numbers import OTHER_CELLS, too_few
from unassuming.regions.single.summary import Answer, tested


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
    def left_out(self) -> tuple[Fact, ...]:
        """What a summary of everything does not contain."""
        controls = self.objective.d > len(self.objective.endogenous)
        return (Cause.CONTROLS_ALONE(names=self.name),) if controls else ()

    def options(self, *given: Any) -> SingleOptions:
        """Check cells, method, weights and estimate."""
        flips = self.evidence.flips
        setting = Setting.FLIPPED_INSTRUMENTS if flips else Setting.SWAPPED_INSTRUMENTS
        return single_options(self.problem, None, setting, given)

    def answer(
        self,
        g: Array,
        names: Sequence[str],
        level: float,
        options: SingleOptions,
        chosen_for: float,
        jointly: Callable[[float], bool],
    ) -> Answer:
        """Return the sets of multiples of the one endogenous coefficient."""
        # The intervals of a union need not be bounded, and `lower` and `upper` are their hull.
        factors = self._multiples(g, names)
        found = self._cells(self._tested, chosen_for, options)
        z, K, m = found.whitened(found.u), len(found.V), number_of_words(len(found.V))
        q, u, v = largest_q(level, m), z[..., 0], z[..., 1]
        ends = instrument_set(u, v, q) if q else np.array([[-np.inf, np.inf]])
        estimate = instrument_estimate(u, v) if K else np.nan
        sets = tuple(IntervalUnion(ends).times(float(c)) for c in factors)
        rank = joint_rank(u)[0] if K else 1
        status, why = self._status(sets[0], level, K, options)
        return Answer.of(
            len(g),
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

    def test(
        self, g: Array, names: Sequence[str], level: float, options: SingleOptions, tau: Array
    ) -> RankTest:
        """Test values of all endogenous coefficients, and of functionals of controls."""
        # Instruments and tested controls must not explain y - xβ.
        said = tested(names, tau)
        beta, functionals, tau = self._hypothesis(g, tau)
        found = self._cells(functionals, level, options)
        if not len(found.V):
            few = few_rows(level, self.evidence.whole.rank)
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
                f"several ({columns}): the others depend on the noise, and no group of rows "
                "removes them.",
                "region.hypothesis for all of them at once",
            )
        other = np.flatnonzero(np.delete(g, o.endogenous, axis=1).any(axis=1))
        if len(other):
            raise _no_single(
                f"{names[other[0]]} is not a multiple of the coefficient of {self.name}: other "
                "coefficients change with that one, which no group of rows removes, so they have "
                "no exact interval one at a time.",
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
            made = best_cells(samples[0], h, level, options.number, labels)
            self._found[key] = _in_cells(samples, h, made.places)
        return self._found[key]

    def _status(
        self, found: IntervalUnion, level: float, K: int, options: SingleOptions
    ) -> tuple[Status, Explanation]:
        """Return what kind of set this is; why it is not a bounded interval, and what to do."""
        evidence, name, m = self.evidence, self.name, number_of_words(K)
        q, needed, rank = largest_q(level, m), fewest_cells(level), evidence.whole.rank
        hull = (Cause.HULL(),) if several([found]) else ()
        if q and not len(found):
            return Status.EMPTY, Explanation((Cause.NO_VALUE(names=name, alpha=q / m),))
        if q and found.bounded:
            kind = Status.ONE_BY_ONE if len(found) == 1 else Status.SEVERAL_PARTS
            return kind, Explanation(hull)
        if q:
            weak = Cause.WEAK_INSTRUMENTS(names=name)
            return Status.ENDLESS_SET, Explanation((*hull, weak), (STRONGER,))
        if options.cells is not None:
            fact = Cause.CELLS_CHOSEN(level=level, needed=needed, cells=K)
            return Status.TOO_FEW_CELLS, Explanation((fact,), (OTHER_CELLS,))
        each = 1 if evidence.flips else 2
        n = evidence.n // each
        best = 1 - 1 / number_of_words(min(n // rank, needed - 1))
        fact = too_few(name, level, best, f"{max(needed * rank, n) * each + 1:,} rows")
        lower = (lower_level(best),) if 0.5 <= best < level else ()
        return Status.TOO_FEW_CELLS, Explanation((fact,), (*lower, FEWER_FEATURES))


def _in_cells(samples: list[Sample], h: Array, places: IntArray | None) -> Several:
    """Return what the cells of equal rows with different columns say about functionals (k, D)."""
    first, k = samples[0], len(h)
    if places is None:
        return Several(np.zeros((0, k, k)), np.zeros((0, k, len(samples))))
    G = first.atoms.products(places)
    sums = [sample.atoms.sums(places).h + G @ sample.at.fit_of_y for sample in samples]
    return Several.of(G, np.stack(sums, axis=-1), h @ first.at.factor.back)


def _no_single(why: str, test: str) -> NotAvailable:
    """Return the refusal of one interval, with what can be asked instead."""
    at_once = "whose bounds hold at once"
    return NotAvailable(
        f"{why} Use {test}, or region.interval(simultaneous=True), {at_once}.",
        f"{why} Use unassuming region, {at_once}.",
    )

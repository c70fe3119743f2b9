"""The coefficients of endogenous columns, by the cells of their instruments (docs/theory.md 14).

The rows are divided by looking at instruments and controls alone. At a hypothetical value of the
coefficients of all endogenous columns what is left of y is a linear function of the controls plus
noise, so the instruments must not explain it: that is a test of several functionals in cells. With
one endogenous column the values that are not rejected are found in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, final

import numpy as np
from scipy.linalg import null_space

from unassuming._errors import NotAvailable
from unassuming._numerics import SEEN
from unassuming._typing import Array, IntArray
from unassuming._words import joined
from unassuming.cells.codes import fewest_cells, largest_q, number_of_words
from unassuming.cells.estimates import Sample
from unassuming.cells.instruments import instrument_estimate, instrument_set
from unassuming.cells.several import Several, joint_rank
from unassuming.inputs import SingleOptions, check_single
from unassuming.objectives import InstrumentObjective
from unassuming.ranking import RankTest
from unassuming.regions.explain import (
    FEWER_FEATURES,
    STRONGER,
    Cause,
    Explanation,
    Status,
    lower_level,
)
from unassuming.regions.problem import Problem
from unassuming.regions.results import IntervalUnion, several
from unassuming.regions.single.evidence import Evidence
from unassuming.regions.single.hypotheses import best_cells, require_independent, too_few
from unassuming.regions.single.summary import (
    OTHER_CELLS,
    Summary,
    bounds_from_cells,
    summary_from_cells,
    tested,
)

T = TypeVar("T")


@final
@dataclass(frozen=True, eq=False)
class EndogenousSet:
    """The values of the coefficient of the one endogenous column that are not rejected.

    ``level`` is the attained level, 1 - q/m, and ``cells`` the number of cells behind it.
    """

    values: IntervalUnion
    estimate: float
    level: float
    cells: int

    @property
    def status(self) -> Status:
        """What kind of answer this is."""
        if self.level == 1:
            return Status.TOO_FEW_CELLS
        if not len(self.values):
            return Status.EMPTY
        if not self.values.bounded:
            return Status.ENDLESS_SET
        return Status.ONE_BY_ONE if len(self.values) == 1 else Status.SEVERAL_PARTS


@final
@dataclass(frozen=True, eq=False)
class Hypothesis:
    """Values of all endogenous coefficients, and of functionals of the controls.

    ``functionals`` (k, D) are those of the coefficients of the exogenous columns, controls and
    instruments, that have the values ``tau`` (k,) in a regression of y - xβ.
    """

    beta: Array
    functionals: Array
    tau: Array


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
    def method(self) -> str:
        """Cells of rows, or of differences of paired rows."""
        return "cells" if self.evidence.flips else "pairs"

    @property
    def _tested(self) -> Array:
        """The coefficients of the instruments, as functionals of those of all exogenous columns."""
        D = self.objective.exogenous.matrix.shape[1]
        return np.eye(D)[D - len(self.objective.roles.instruments) :]

    def multiples(self, g: Array, names: tuple[str, ...]) -> Array:
        """Return the multiples of the one endogenous coefficient that functionals (N, d) are."""
        o = self.objective
        if len(o.endogenous) > 1:
            columns = joined(o.names[j] for j in o.endogenous)
            raise _no_single(
                "the coefficient of one endogenous column alone has no exact set if there are "
                f"several ({columns}): the others depend on the noise, and no cell of rows removes "
                "them.",
                "region.hypothesis for all of them at once",
            )
        other = np.flatnonzero(np.delete(g, o.endogenous, axis=1).any(axis=1))
        if len(other):
            raise _no_single(
                f"{names[other[0]]} is not a multiple of the coefficient of {self.name}: other "
                "coefficients change with that one, which no cell of rows removes, so they have no "
                "exact interval one at a time.",
                f"region.hypothesis with a value of {self.name} as well",
            )
        return np.asarray(g[:, o.endogenous[0]])

    def values(self, level: float, options: SingleOptions, chosen_for: float) -> EndogenousSet:
        """Return the values of the one endogenous coefficient that are not rejected."""
        found = self._cells(self._tested, chosen_for, options)
        K = len(found.V)
        m = number_of_words(K)
        q, line = largest_q(level, m), np.array([[-np.inf, np.inf]])
        if not K:
            return EndogenousSet(IntervalUnion(line), np.nan, 1.0, 0)
        z = found.whitened(found.u)
        ends = instrument_set(z[..., 0], z[..., 1], q) if q else line
        estimate = instrument_estimate(z[..., 0], z[..., 1])
        return EndogenousSet(IntervalUnion(ends), estimate, 1 - q / m if q else 1.0, K)

    def test(
        self, hypothesis: Hypothesis, level: float, options: SingleOptions, said: str = ""
    ) -> RankTest:
        """Test a hypothesis: instruments and tested controls must not explain y - xβ."""
        found = self._cells(hypothesis.functionals, level, options)
        if not len(found.V):
            few = too_few(level, self.evidence.whole.rank)
            return RankTest(1, 1, np.zeros(1), few, said)
        u = found.u @ np.append(1.0, -hypothesis.beta) - found.V @ hypothesis.tau
        rank, statistics = joint_rank(found.whitened(u))
        return RankTest(rank, number_of_words(len(found.V)), statistics, "", said)

    def of_one(self, value: float) -> Hypothesis:
        """Return the hypothesis that the one endogenous coefficient has this value."""
        return Hypothesis(np.array([value]), self._tested, np.zeros(len(self._tested)))

    def hypothesis(self, g: Array, tau: Array) -> Hypothesis:
        """Return the hypothesis gθ = τ, if it determines all endogenous coefficients."""
        require_independent(g)
        o = self.objective
        controls = o.d - len(o.endogenous)
        unit = np.abs(g).max(axis=1)
        g, tau = g / unit[:, None], tau / unit
        wanted = np.eye(o.d)[o.endogenous]
        M = np.linalg.lstsq(g.T, wanted.T, rcond=None)[0].T  # M g = wanted
        if np.abs(M @ g - wanted).max() > SEEN:
            columns = [o.names[j] for j in o.endogenous]
            raise NotAvailable(
                "a test needs a hypothetical value of every endogenous coefficient "
                f"({joined(columns)}): they are the coefficients that no cell of rows removes. Add "
                f"them, as in region.hypothesis({columns!r}, value=...), with further coefficients "
                "if you like."
            )
        N = null_space(g[:, o.endogenous].T).T  # combinations of functionals of controls alone
        of_controls = np.zeros((len(N), self._tested.shape[1]))
        of_controls[:, :controls] = N @ g[:, :controls]
        functionals = np.concatenate([of_controls, self._tested])
        return Hypothesis(M @ tau, functionals, np.append(N @ tau, np.zeros(len(self._tested))))

    def _cells(self, h: Array, level: float, options: SingleOptions) -> Several:
        """Return what cells say about functionals of the exogenous columns, made on first use.

        The columns are y and those that depend on the noise, which the choice does not see.
        """
        key = h.tobytes(), level, options.cells_key
        if key not in self._found:
            columns = self.objective.design.matrix[:, self.objective.endogenous].T
            given = options.cells
            if self.evidence.flips:
                samples, own = [self.evidence.signed], given
                samples += [_like(self.evidence, x) for x in columns]
            else:
                labels = given if isinstance(given, np.ndarray) else None
                pairs = self.evidence.pairs(h[0], labels)
                own = given if labels is None else labels[pairs[:, 0]]
                samples = [self.evidence.paired(pairs)]
                samples += [self.evidence.paired(pairs, x) for x in columns]
            self._found[key] = _in_cells(samples, h, level, own)
        return self._found[key]


def _like(evidence: Evidence, x: Array) -> Sample:
    """Return the rows whose signs may change, with another column in place of y."""
    units, intercept = evidence.signed.units, evidence.intercept
    turned = evidence.turn(x)
    return Sample.of(evidence.Phi, turned, evidence.weight, intercept=intercept, units=units)


def _in_cells(
    samples: list[Sample], h: Array, level: float, cells: int | IntArray | None
) -> Several:
    """Return what the cells of equal rows with different columns say about functionals (k, D)."""
    first, r = samples[0], samples[0].at.rank
    made = best_cells(first, h, level, cells)
    C = h @ first.at.factor.back
    if made.places is None:
        return Several(np.zeros((0, len(h), len(h))), np.zeros((0, len(h), len(samples))))
    G = first.atoms.products(made.places)
    sums = [sample.atoms.sums(made.places).h + G @ sample.at.fit_of_y for sample in samples]
    assert G.shape[1] == r
    return Several.of(G, np.stack(sums, axis=-1), C)


def _no_single(why: str, test: str) -> NotAvailable:
    """Return the refusal of one interval, with what can be asked instead."""
    at_once = "whose bounds hold at once"
    return NotAvailable(
        f"{why} Use {test}, or region.interval(simultaneous=True), {at_once}.",
        f"{why} Use unassuming region, {at_once}.",
    )


# From questions to results


def instrument_options(
    instruments: Instruments, cells: Any, method: Any, weights: Any, estimator: Any
) -> SingleOptions:
    """Check the options; refuse those that need columns that do not depend on the noise."""
    rows = instruments.problem.data("intervals and tests of one number at a time need").rows
    options = check_single(cells, method, weights, estimator, rows)
    allowed = ("auto", instruments.method)
    if options.method not in allowed:
        raise NotAvailable(
            f"method={options.method!r} is not known for instruments: expected "
            f"{' or '.join(map(repr, allowed))} with {instruments.problem.noise!r}. Leave it out."
        )
    if options.robust or options.weights != "design":
        raise NotAvailable(
            "cell_estimate and cell_weights that depend on residuals are not known for "
            "instruments, since the residuals depend on the endogenous columns: leave them out."
        )
    return options


def instrument_summary(
    instruments: Instruments,
    g: Array,
    names: tuple[str, ...],
    level: float,
    options: SingleOptions,
    *,
    all_asked: bool,
) -> Summary:
    """Return the summary of multiples of the coefficient of the one endogenous column."""
    problem, N = instruments.problem, len(g)
    found, why, ends = _sets(instruments, g, names, level, options, level)
    zero = instruments.test(instruments.of_one(0.0), level, options)
    controls = instruments.objective.d > len(instruments.objective.endogenous)
    alone = (Cause.CONTROLS_ALONE(names=instruments.name),) if all_asked and controls else ()
    return summary_from_cells(
        problem,
        Explanation((*why.facts, *alone), why.remedies),
        names=names,
        pvalue=np.full(N, zero.pvalue),
        model_estimate=g @ problem.estimate,
        level=np.full(N, found.level),
        method=(instruments.method,) * N,
        requested_level=level,
        simultaneous=False,
        smallest_pvalue=np.full(N, 1 / zero.m if zero.m > 1 else 0.0),
        **ends,
    )


def instrument_bounds(
    instruments: Instruments,
    g: Array,
    names: tuple[str, ...],
    level: float,
    options: SingleOptions,
    make: Callable[..., T],
    chosen_for: float | None = None,
) -> T:
    """Return sets of multiples of the coefficient of the one endogenous column."""
    found, why, ends = _sets(instruments, g, names, level, options, chosen_for or level)
    return bounds_from_cells(
        make,
        why,
        level=level,
        status=found.status,
        simultaneous=False,
        method=instruments.method,
        attained=np.full(len(g), found.level),
        **ends,
    )


def _sets(
    instruments: Instruments,
    g: Array,
    names: tuple[str, ...],
    level: float,
    options: SingleOptions,
    chosen_for: float,
) -> tuple[EndogenousSet, Explanation, dict[str, Any]]:
    """Return the set, what is said about it, and estimates, sets and their hulls for results."""
    factors = instruments.multiples(g, names)
    found = instruments.values(level, options, chosen_for)
    sets = tuple(found.values.times(float(c)) for c in factors)
    lower, upper = np.array([(one.lower, one.upper) for one in sets]).T
    ends = {"estimate": factors * found.estimate, "lower": lower, "upper": upper, "sets": sets}
    return found, _why(instruments, found, sets, level, options), ends


def instrument_test(
    instruments: Instruments,
    g: Array,
    names: tuple[str, ...],
    level: float,
    options: SingleOptions,
    tau: Array,
) -> RankTest:
    """Test hypothetical values of all endogenous coefficients, and of others if some are given."""
    return instruments.test(instruments.hypothesis(g, tau), level, options, tested(names, tau))


def _why(
    instruments: Instruments,
    found: EndogenousSet,
    sets: tuple[IntervalUnion, ...],
    level: float,
    options: SingleOptions,
) -> Explanation:
    """Say why a set is not a bounded interval, and what to do."""
    status, name = found.status, instruments.name
    hull = (Cause.HULL(),) if several(sets) and status is not Status.EMPTY else ()
    if status is Status.EMPTY:
        return Explanation((Cause.NO_VALUE(names=name, alpha=1 - found.level),))
    if status is Status.ENDLESS_SET:
        return Explanation((*hull, Cause.WEAK_INSTRUMENTS(names=name)), (STRONGER,))
    if status is not Status.TOO_FEW_CELLS:
        return Explanation(hull)
    evidence, needed = instruments.evidence, fewest_cells(level)
    n, rank = evidence.n if evidence.flips else evidence.n // 2, evidence.whole.rank
    if options.cells is not None:
        fact = Cause.CELLS_CHOSEN(level=level, needed=needed, cells=found.cells)
        return Explanation((fact,), (OTHER_CELLS,))
    rows = max(needed * rank, n) * (1 if evidence.flips else 2) + 1
    fact = Cause.CELLS_MISSING(
        names=name, level=level, needed=needed, units=evidence.units, cells=found.cells, rows=rows
    )
    best = 1 - 1 / number_of_words(min(n // rank, needed - 1))
    remedies = (lower_level(best),) if 0.5 <= best < level else ()
    return Explanation((fact,), (*remedies, FEWER_FEATURES))

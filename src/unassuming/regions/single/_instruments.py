"""The coefficients of endogenous columns, by the cells of their instruments (docs/theory.md 11).

The rows are divided by looking at instruments and controls alone. At a hypothetical value of the
coefficients of all endogenous columns what is left of y is a linear function of the controls plus
noise, so the instruments must not explain it: that is a test of several functionals in cells. With
one endogenous column the values that are not rejected are found in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import null_space

from unassuming._errors import NotAvailable
from unassuming._rounding import SEEN
from unassuming._typing import Array
from unassuming._words import joined
from unassuming.cells import (
    InstrumentCells,
    Method,
    factors_of_rows,
    instrument_set,
    joint_rank,
    largest_q,
    number_of_statistics,
    pseudo_rows,
)
from unassuming.inputs import SingleOptions
from unassuming.objectives import InstrumentObjective
from unassuming.ranking import RankTest
from unassuming.regions._problem import Problem
from unassuming.regions._unions import IntervalUnion
from unassuming.regions.single._divided import Divided, DividedRows
from unassuming.regions.single._evidence import Evidence
from unassuming.regions.single._hypotheses import HIDDEN, best_cells, require_independent
from unassuming.regions.single._numbers import Numbers


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
        self.numbers = Numbers(problem, self.evidence)  # divisions by exogenous columns
        self._found: dict[object, InstrumentCells] = {}

    @property
    def name(self) -> str:
        """The one endogenous column."""
        return self.objective.names[self.objective.endogenous[0]]

    @property
    def others(self) -> bool:
        """Whether the equation has an intercept or controls."""
        return self.objective.d > len(self.objective.endogenous)

    @property
    def method(self) -> Method:
        """Cells of rows, or of differences of paired rows."""
        return Method.CELLS if self.evidence.flips else Method.PAIRS

    @cached_property
    def _instruments(self) -> Array:
        """The coefficients of the instruments, as functionals of those of all exogenous columns."""
        D = self.objective.exogenous.matrix.shape[1]
        return np.eye(D)[D - len(self.objective.roles.instruments) :]

    def multiples(self, g: Array, names: tuple[str, ...]) -> Array:
        """Return the multiples of the one endogenous coefficient that functionals (N, d) are."""
        o = self.objective
        if len(o.endogenous) > 1:
            columns = joined(o.names[j] for j in o.endogenous)
            raise NotAvailable(
                f"the coefficient of one endogenous column alone has no exact set if there are "
                f"several ({columns}): the others depend on the noise, and no cell of rows removes "
                "them. Use region.hypothesis for all of them at once, or "
                "region.interval(simultaneous=True), whose bounds hold at once.",
                f"the coefficient of one endogenous column alone has no exact set if there are "
                f"several ({columns}): the others depend on the noise, and no cell of rows removes "
                "them. Use unassuming region, whose bounds hold at once.",
            )
        rest = np.delete(g, o.endogenous, axis=1)
        other = np.flatnonzero(rest.any(axis=1))
        if len(other):
            raise NotAvailable(
                f"{names[other[0]]} is not a multiple of the coefficient of {self.name}: other "
                "coefficients change with that one, which no cell of rows removes, so they have no "
                "exact interval one at a time. Use region.interval(simultaneous=True), whose "
                f"bounds hold at once, or region.hypothesis with a value of {self.name} as well.",
                f"{names[other[0]]} is not a multiple of the coefficient of {self.name}: other "
                "coefficients change with that one, which no cell of rows removes, so they have no "
                "exact interval one at a time. Use unassuming region, whose bounds hold at once.",
            )
        return np.asarray(g[:, o.endogenous[0]])

    def values(self, level: float, options: SingleOptions) -> EndogenousSet:
        """Return the values of the one endogenous coefficient that are not rejected."""
        found = self._cells(self._instruments, level, options)
        K = len(found.cells)
        m = number_of_statistics(K)
        q = largest_q(level, m)
        got = instrument_set(found, q, self.problem.seed)
        attained = 1 - q / m if q else 1.0
        return EndogenousSet(IntervalUnion(got.ends), got.estimate, attained, K)

    def test(
        self, hypothesis: Hypothesis, level: float, options: SingleOptions, tested: str = ""
    ) -> RankTest:
        """Test a hypothesis: instruments and tested controls must not explain y - xβ."""
        found = self._cells(hypothesis.functionals, level, options)
        if not len(found.cells):
            return RankTest(1, 1, np.zeros(1), HIDDEN, tested)
        problem = self.problem
        pseudo = found.at(hypothesis.beta)
        rank, statistics = joint_rank(pseudo, hypothesis.tau, problem.ties, problem.seed)
        return RankTest(rank, number_of_statistics(len(found.cells)), statistics, "", tested)

    def of_one(self, value: float) -> Hypothesis:
        """Return the hypothesis that the one endogenous coefficient has this value."""
        zero = np.zeros(len(self._instruments))
        return Hypothesis(np.array([value]), self._instruments, zero)

    def hypothesis(self, g: Array, tau: Array) -> Hypothesis:
        """Return the hypothesis gθ = τ, if it determines all endogenous coefficients."""
        require_independent(g)
        o = self.objective
        p, controls = len(o.endogenous), o.d - len(o.endogenous)
        unit = np.abs(g).max(axis=1)
        g, tau = g / unit[:, None], tau / unit
        wanted = np.eye(o.d)[o.endogenous]
        M = np.linalg.lstsq(g.T, wanted.T, rcond=None)[0].T  # M g = wanted
        if np.abs(M @ g - wanted).max() > SEEN:
            columns = joined(o.names[j] for j in o.endogenous)
            raise NotAvailable(
                "a test needs a hypothetical value of every endogenous coefficient "
                f"({columns}): they are the coefficients that no cell of rows removes. Add them, "
                f"as in region.hypothesis({[o.names[j] for j in o.endogenous]!r}, value=...), "
                "with further coefficients if you like."
            )
        N = null_space(g[:, o.endogenous].T).T  # combinations of functionals of controls alone
        D = controls + len(self._instruments)
        tested = np.zeros((len(N), D))
        tested[:, :controls] = N @ g[:, :controls]
        zero = np.zeros(len(self._instruments))
        functionals = np.concatenate([tested, self._instruments])
        assert len(functionals) == len(g) - p + len(self._instruments)
        return Hypothesis(M @ tau, functionals, np.concatenate([N @ tau, zero]))

    def _cells(self, h: Array, level: float, options: SingleOptions) -> InstrumentCells:
        """Return the cells for some functionals of the exogenous columns, made on first use."""
        key = h.tobytes(), level, options.cells_key, options.method
        if key not in self._found:
            divided, k = self._place(h, level, options)
            assert isinstance(divided, DividedRows)
            rows, labels = divided.rows, divided.division.labels[k]
            y = pseudo_rows(divided.factors(k), h)
            centre = None if rows.centre is None else np.append(rows.centre[:-1], 0.0)
            x = [
                pseudo_rows(
                    factors_of_rows(
                        rows.Phi, rows.like_y(column), labels, int(divided.sizes[k]), centre
                    ),
                    h,
                )
                for column in self.objective.design.matrix[:, self.objective.endogenous].T
            ]
            self._found[key] = InstrumentCells.of(y, x)
        return self._found[key]

    def _place(self, h: Array, level: float, options: SingleOptions) -> tuple[Divided, int]:
        """Return a division of the rows, before y and the endogenous columns are seen."""
        options = replace(options, method=self.method.value)
        if len(h) == 1:
            place = self.numbers.places(self.method, h, level, options)[0]
            return place.divided, place.which
        best = best_cells(self.numbers, h, level, options)
        return best.divided, best.which

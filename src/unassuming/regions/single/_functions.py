"""Values of a function of bounded norm, one at a time: which cells, and what they give.

Here f* is assumed to have a norm of at most B, or to be missed by the features by at most Δ at the
inputs. Nothing is assumed about the estimator, so kernel models of every loss share this path
(docs/theory.md 9.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._errors import NotAvailable
from unassuming._rounding import EPS
from unassuming._typing import Array, IntArray
from unassuming.cells import Intervals
from unassuming.cells.functions import (
    Assumed,
    Errors,
    Kriging,
    System,
    Wanted,
    biased_intervals,
    biased_ranks,
    choose,
    errors,
    interleaved,
    numbers_of_cells,
)
from unassuming.functionals import Functional
from unassuming.inputs import SingleOptions, single_column
from unassuming.noise import sign_units_of
from unassuming.objectives import Design, in_basis
from unassuming.ranking import RankTest
from unassuming.regions._problem import Problem
from unassuming.regions.single._evidence import require_whole_blocks
from unassuming.regions.single._functional_rows import IN_MEMORY, NO_SLOPES, directions

WORKING_SCALE = 1 / 40
"""The working noise scale, as a share of B√k(x, x), which no value of the function exceeds."""

NO_NORMS = (
    "values one at a time need k(z, z) at the new inputs, which a precomputed kernel does not "
    "give: pass the kernel itself, or use simultaneous=True."
)
_BATCH = 2**26


@final
@dataclass(frozen=True)
class Assumption:
    """What a user assumes of the function, besides the noise.

    Attributes
    ----------
    norm_bound : float or None
        B; None if nothing is assumed of the norm.
    model_error : float or None
        Δ.
    noise_scale : float or None
        A working scale of the noise; None for the default.
    whole : bool
        Whether values of f* itself are wanted, not those of the model that misses it by Δ.
    """

    norm_bound: float | None
    model_error: float | None = None
    noise_scale: float | None = None
    whole: bool = False

    @property
    def given(self) -> bool:
        """Whether anything is assumed."""
        return self.norm_bound is not None or self.model_error is not None

    @property
    def beyond(self) -> float:
        """What is added to each side for values of f* itself."""
        return (self.model_error or 0.0) if self.whole else 0.0


@final
@dataclass(frozen=True, eq=False)
class InFunctionCells:
    """Estimates of some functionals in the cells of one division, and their errors."""

    where: IntArray
    u: Array
    rounding: Array
    found: Errors
    kriging: Kriging


@final
class Functions:
    """Intervals and tests of values of the function behind one region.

    Divisions are made once and kept. They depend on the inputs, the noise class and the seed.
    """

    def __init__(self, problem: Problem) -> None:
        if problem.classes is not None:
            raise NotAvailable(
                "intervals of values one at a time need a regression: labels are not a function "
                "plus noise. Use region.band(X), which holds at all inputs at once."
            )
        if problem.objective.endogenous:
            raise NotAvailable(
                "a norm bound or a model error needs inputs that do not depend on the noise, and "
                "the endogenous columns may. Leave it out. For a norm bound use the joint region, "
                "region.interval(norm_bound=B); no method allows for a model error here."
            )
        self.problem = problem
        self.design: Design = problem.design("one value at a time")
        self.data = problem.data(
            "values of a function with a norm bound or a model error need", IN_MEMORY
        )
        self.basis, self.noise = problem.left_to_rotate
        self.clusters = self._clusters()
        self._made: dict[object, Kriging] = {}

    def _clusters(self) -> IntArray | None:
        units = sign_units_of(self.noise, self.problem.n)
        if units is None:
            raise NotAvailable(
                "values of a function with a norm bound or a model error need noise whose signs "
                f"may change, and {self.problem.noise!r} does not declare that: use "
                "noise='symmetric' or ua.noise.BlockSymmetric(blocks) if the noise is symmetric, "
                "or simultaneous=True."
            )
        return None if int(units.max()) + 1 == len(units) else units

    @property
    def units(self) -> int:
        """Number of rows or blocks of rows that change their sign together."""
        return self.problem.n if self.clusters is None else int(self.clusters.max()) + 1

    # The function as plain arrays

    @cached_property
    def _primal(self) -> Design | None:
        """The model in terms of features, if it has or is known to have them."""
        return self.design.primal() if self.design.dual else self.design

    @cached_property
    def _penalised(self) -> System:
        """The rows if the norm of the penalised part is bounded."""
        self.design.require_positive_semidefinite("a norm bound")
        free, primal = int(self.design.intercept), self._primal
        trend = self._turned(self.design.matrix[:, :free])
        if primal is not None:
            return System(trend, self._weight, features=self._turned(primal.matrix[:, free:]))
        gram = self._turned(self._turned(self.design.gram()).T)
        return System(trend, self._weight, gram)

    @cached_property
    def _unpenalised(self) -> System:
        """The rows if every feature is free."""
        if self._primal is None:
            raise NotAvailable(
                "a model error alone needs a model with features: the kernel can take any values "
                "at the inputs, so the data say nothing between them. Pass norm_bound=B as well."
            )
        Phi = self._turned(self._primal.matrix)
        return System(Phi, self._weight, features=np.zeros((len(Phi), 0)))

    def _turned(self, columns: Array) -> Array:
        """Return columns (n, k) in the basis of the noise."""
        return columns if self.basis is None else in_basis(self.basis, columns)[0]

    def _at_rows(self, trend: Array, norms: Array, rows: Array) -> Wanted:
        """Return functionals of a kernel with these values (N, n) at the representers of rows."""
        return Wanted(trend, norms, self._turned(rows.T).T)

    @cached_property
    def _weight(self) -> Array:
        return np.ones(self.problem.n) if self.data.weight is None else self.data.weight

    def system(self, assumption: Assumption) -> System:
        """Return the rows under an assumption."""
        return self._unpenalised if assumption.norm_bound is None else self._penalised

    def coefficients(self, g: Array, assumption: Assumption) -> Wanted:
        """Return functionals (N, d) of the coefficients of features."""
        if self.design.dual:
            raise NotAvailable(
                "coefficients of a kernel are not determined by the function: use "
                "region.band(X, norm_bound=B, simultaneous=False) for its values."
            )
        return self._of_features(g, assumption)

    def values(self, inputs: Array, assumption: Assumption) -> Wanted:
        """Return the values at inputs (N, p), as the model takes them."""
        design = self.design
        if not design.dual:
            return self._of_features(design.rows(inputs), assumption)
        if self._primal is not None:
            rows = design.primal_rows(inputs, function=True)
            assert rows is not None
            return self._of_features(rows, assumption)
        self.system(assumption)  # refuses a kernel without a norm bound
        norms = design.self_similarity(inputs)
        if norms is None:
            raise NotAvailable(NO_NORMS)
        rows, free = design.rows(inputs), int(design.intercept)
        return self._at_rows(rows[:, :free], norms, rows[:, free:])

    def functional(self, functional: Functional, g: Array, assumption: Assumption) -> Wanted:
        """Return values, differences, averages or slopes; ``g`` are their rows of the design."""
        design = self.design
        if not design.dual:
            return self._of_features(g, assumption)
        free = int(design.intercept)
        if functional.column is not None:
            return self._slopes(functional, g, assumption)
        inputs = [self.problem.transform(X) for X, _ in functional.terms]
        weights = [C for _, C in functional.terms]
        if self._primal is not None:
            rows = [design.primal_rows(X, function=True) for X in inputs]
            pairs = [(C, part) for C, part in zip(weights, rows, strict=True) if part is not None]
            found = self._of_features(np.asarray(sum(C @ part for C, part in pairs)), assumption)
            # Features of neighbouring inputs cancel.
            size = sum(np.abs(C) @ np.linalg.norm(part, axis=1) for C, part in pairs)
            terms = sum(part.shape[0] for _, part in pairs) + pairs[0][1].shape[1]
            off = 4 * (terms + 4) * EPS * np.asarray(size)
            return replace(found, doubt=off * (2 * np.sqrt(found.norms) + off))
        self.system(assumption)
        points, C = np.concatenate(inputs), np.concatenate(weights, axis=1)
        norms = None if design.kernel is None else design.kernel.squared_norms(points, C)
        if norms is None:
            raise NotAvailable(NO_NORMS)
        size = design.self_similarity(points)
        assert size is not None
        doubt = 4 * (len(points) + 4) * EPS * np.square(np.abs(C) @ np.sqrt(size))
        return replace(self._at_rows(g[:, :free], norms, g[:, free:]), doubt=doubt)

    def _slopes(self, functional: Functional, g: Array, assumption: Assumption) -> Wanted:
        """Return slopes of a kernel model."""
        kernel, free = self.design.kernel, int(self.design.intercept)
        inputs, along = directions(self.problem, functional)
        if self._primal is not None and kernel is not None and kernel.polynomial is not None:
            rows = kernel.polynomial.slopes(inputs, along)
            if rows is None:
                raise NotAvailable(NO_SLOPES)
            return self._of_features(np.column_stack([g[:, :free], rows]), assumption)
        self.system(assumption)
        found = None if kernel is None else kernel.slopes(inputs, along)
        if found is None:
            raise NotAvailable(NO_SLOPES)
        return self._at_rows(g[:, :free], found[1], g[:, free:])

    def _of_features(self, g: Array, assumption: Assumption) -> Wanted:
        if assumption.norm_bound is None:
            return Wanted(g, np.zeros(len(g)), features=np.zeros((len(g), 0)))
        free = int(self.design.intercept)
        own = g[:, free:]
        return Wanted(g[:, :free], np.einsum("nd,nd->n", own, own), features=own)

    def assumed(self, assumption: Assumption) -> Assumed:
        """Return the assumptions as numbers, with a working noise scale that does not see y."""
        B, delta = assumption.norm_bound or 0.0, assumption.model_error or 0.0
        scale = assumption.noise_scale
        if scale is None and B:
            scale = WORKING_SCALE * B * float(np.sqrt(np.median(self._penalised.norms)))
        return Assumed(B, delta, scale or 10 * delta or 1.0)

    # Cells

    def divisions(
        self, level: float, options: SingleOptions, assumption: Assumption
    ) -> list[Kriging]:
        """Return the divisions of the rows that are compared."""
        labels = options.cells if isinstance(options.cells, np.ndarray) else None
        if labels is not None:
            if self.clusters is not None:
                require_whole_blocks(labels, self.clusters)
            return [self.kriging(assumption, int(labels.max()) + 1, labels)]
        numbers = numbers_of_cells(level, self.units)
        if isinstance(options.cells, int):
            numbers = [options.cells]
        return [self.kriging(assumption, K) for K in numbers]

    def kriging(self, assumption: Assumption, K: int, labels: IntArray | None = None) -> Kriging:
        system = self.system(assumption)
        key = id(system), K, None if labels is None else labels.tobytes()
        if key not in self._made:
            if labels is None:
                labels = interleaved(
                    system,
                    K,
                    order=None if self.problem.rotated else single_column(self.data),
                    clusters=self.clusters,
                    seed=self.problem.seed,
                )
            self._made[key] = Kriging(system, labels, K)
        return self._made[key]

    def in_cells(
        self, wanted: Wanted, level: float, options: SingleOptions, assumption: Assumption
    ) -> Iterator[InFunctionCells]:
        """Yield estimates in the cells that were chosen before y is seen."""
        system, assumed = self.system(assumption), self.assumed(assumption)
        divisions = self.divisions(level, options, assumption)
        chosen = choose(system, wanted, divisions, assumed, level)
        pairs = np.column_stack([chosen.which, chosen.mu])
        for which, mu in np.unique(pairs, axis=0).tolist():
            same = np.flatnonzero((chosen.which == which) & (chosen.mu == mu))
            kriging = divisions[int(which)]
            for part in slices(len(same), rows_that_fit(_BATCH, 8 * system.n)):
                yield estimated(system, wanted, kriging, mu, same[part], self.y)

    @cached_property
    def y(self) -> Array:
        """The outputs."""
        return self._turned(self.problem.objective.y[:, None])[:, 0]

    def intervals(
        self, wanted: Wanted, level: float, options: SingleOptions, assumption: Assumption
    ) -> Intervals:
        """Return the interval of each functional; NaN if nothing within the norm bound agrees."""
        N = len(wanted)
        out = Intervals(
            np.full(N, np.nan),
            np.full(N, -np.inf),
            np.full(N, np.inf),
            *(np.zeros(N, dtype=np.intp) for _ in range(3)),
        )
        assumed, beyond = self.assumed(assumption), assumption.beyond
        for cells in self.in_cells(wanted, level, options, assumption):
            seed = self.problem.seed
            got = biased_intervals(cells.u, cells.rounding, cells.found, assumed, level, seed)
            for name in ("estimate", "q", "m", "cells"):
                getattr(out, name)[cells.where] = getattr(got, name)
            agrees = got.lower <= got.upper
            out.lower[cells.where] = np.where(agrees, got.lower - beyond, np.nan)
            out.upper[cells.where] = np.where(agrees, got.upper + beyond, np.nan)
        return out

    def test(
        self,
        wanted: Wanted,
        tau: Array,
        level: float,
        options: SingleOptions,
        assumption: Assumption,
        tested: str,
    ) -> RankTest:
        """Test a hypothetical value of one functional."""
        [cells] = self.in_cells(wanted, level, options, assumption)
        assumed, seed = self.assumed(assumption), self.problem.seed
        got = biased_ranks(cells.u, cells.rounding, cells.found, assumed, tau, seed)
        return RankTest(int(got.rank[0]), int(got.m[0]), np.zeros(0), NOT_EXACT, tested)


NOT_EXACT = "The p-value is an upper bound: it allows for the largest bias."


def estimated(
    system: System, wanted: Wanted, kriging: Kriging, mu: float, where: IntArray, y: Array
) -> InFunctionCells:
    """Return the estimates of some functionals in the cells of a division."""
    some = wanted.part(where)
    a, known = kriging.weights(some, mu)
    found = errors(system, some, kriging, a, known)
    u = np.stack([a[:, rows] @ y[rows] for rows in kriging.cells], axis=1)
    size = np.stack([np.abs(a[:, rows]) @ np.abs(y[rows]) for rows in kriging.cells], axis=1)
    longest = max(map(len, kriging.cells))
    return InFunctionCells(where, u, 4 * (longest + 4) * EPS * size, found, kriging)

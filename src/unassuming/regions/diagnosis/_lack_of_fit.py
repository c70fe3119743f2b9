"""Lack of fit: features are added to the model one at a time and tested in the enlarged model.

If the model holds, the coefficients of every added feature are zero. The test of that hypothesis in
the enlarged model has a p-value that is valid for every number of rows under the assumption on the
noise alone (docs/theory.md 11.2). Features, cells and the number of tests depend on the inputs
and the seed only, so the smallest of N p-values times N is a p-value too (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import fill
from typing import Any, final

import numpy as np
from sklearn.linear_model import LinearRegression

from unassuming._errors import NotAvailable
from unassuming._frames import as_frame
from unassuming._numerics import factor
from unassuming._typing import Array
from unassuming.cells.codes import fewest_cells
from unassuming.inputs import SingleOptions
from unassuming.noise import is_spherical
from unassuming.objectives import factory_for
from unassuming.regions.diagnosis._added_features import (
    Feature,
    LeftOut,
    Reason,
    choose_features,
    listed,
)
from unassuming.regions.problem import Problem
from unassuming.regions.results import table
from unassuming.regions.single.hypotheses import FTest, hypothesis_test
from unassuming.regions.single.numbers import Numbers

SIGNIFICANT = 0.05
"""An adjusted p-value of at most this is called a lack of fit."""

_SHOWN = 20
"""Tests that are printed."""

MULTIPLICITY = (
    "Each p-value is valid by itself, for every number of rows, if the model and the assumption on "
    "the noise hold. The adjusted p-values are multiplied by the number of tests (Bonferroni)."
)


@final
@dataclass(frozen=True)
class AddedFeature:
    """The test of one feature in the model that has it in addition.

    Attributes
    ----------
    name : str
        Such as "spline of x0" or "x0 × x1".
    terms : int
        Number of coefficients that are tested at once.
    pvalue : float
        Of the hypothesis that all of them are zero.
    adjusted : float
        The p-value times the number of tests, at most 1.
    exact : bool
        Whether the test is exact; otherwise the p-value is an upper bound.

    Examples
    --------
    >>> region.lack_of_fit(most=1).tests[0].name
    'spline of x0'
    """

    name: str
    terms: int
    pvalue: float
    adjusted: float
    exact: bool


@final
@dataclass(frozen=True)
class LackOfFit:
    """Tests of features that the model might lack, one feature at a time.

    A small adjusted p-value says that the model without the feature and the assumption on the noise
    cannot both hold. A large one proves nothing: what is missing may be of another kind.

    Attributes
    ----------
    tests : tuple of AddedFeature
        The smallest p-value first.
    left_out : tuple of LeftOut
        Features that were not tested, with the reason.

    Examples
    --------
    >>> check = region.lack_of_fit()
    >>> sorted(test.name for test in check.tests), check.found, check.pvalue > 0.05
    (['spline of x0', 'spline of x1', 'x0 × x1'], False, True)
    >>> print(check)
    Lack of fit: 3 features were added to the model, one at a time. The smallest p-value is ...
    >>> check.to_frame().shape
    (3, 4)
    """

    tests: tuple[AddedFeature, ...]
    left_out: tuple[LeftOut, ...] = field(default=(), repr=False)

    @property
    def pvalue(self) -> float:
        """The smallest adjusted p-value: a p-value of the model as a whole; 1 without tests."""
        return self.tests[0].adjusted if self.tests else 1.0

    @property
    def found(self) -> bool:
        """Whether the adjusted p-value is at most 0.05."""
        return self.pvalue <= SIGNIFICANT

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each feature, indexed by name."""
        rows = {
            "terms": [test.terms for test in self.tests],
            "pvalue": [test.pvalue for test in self.tests],
            "adjusted": [test.adjusted for test in self.tests],
            "exact": [test.exact for test in self.tests],
        }
        return as_frame(rows, index=[test.name for test in self.tests])

    def sentence(self) -> str:
        """Return the result in words.

        Examples
        --------
        >>> region.lack_of_fit().sentence().endswith("This does not prove that the model is right.")
        True
        """
        if not self.tests:
            return f"Lack of fit was not tested. {self.omitted()}".rstrip()
        first, count = self.tests[0], len(self.tests)
        added = f"{count} features were added to the model, one at a time"
        adjusted = f", {first.adjusted:.3g} when adjusted for {count} tests"
        if count == 1:
            added, adjusted = "one feature was added to the model", ""
        verdict = (
            "The model without it and the assumption on the noise cannot both hold, unless an "
            f"event of probability at most {first.adjusted:.2g} has happened."
            if self.found
            else "No lack of fit was found. This does not prove that the model is right."
        )
        smallest = "The smallest p-value" if count > 1 else "The p-value"
        return (
            f"Lack of fit: {added}. {smallest} is {first.pvalue:.3g} ({first.name})"
            f"{adjusted}. {verdict}"
        )

    def omitted(self) -> str:
        """Return what was left out, in words; empty if nothing was.

        Examples
        --------
        >>> region.lack_of_fit(most=1).omitted()
        'Left out: 2 features (spline of x1, x0 × x1), because the number of tests is limited.'
        """
        said = []
        for left in self.left_out:
            names = f" ({listed(left.names)})" if left.names else ""
            features = f"{left.count} feature{'s' * (left.count > 1)}"
            said.append(f"{features}{names}, because {left.reason.value}")
        return f"Left out: {'; '.join(said)}." if said else ""

    def __str__(self) -> str:
        columns: list[tuple[str, Sequence[Any]]] = [
            ("", [test.name for test in self.tests]),
            ("terms", [test.terms for test in self.tests]),
            ("pvalue", [f"{test.pvalue:.4g}" for test in self.tests]),
            ("adjusted", [f"{test.adjusted:.4g}" for test in self.tests]),
        ]
        if not self.tests:
            return fill(self.sentence(), 100)
        notes = [MULTIPLICITY, self.omitted()]
        return "\n".join(
            [
                fill(self.sentence(), 100),
                *table(columns, _SHOWN),
                *(fill(note, 100) for note in notes if note),
            ]
        )


def lack_of_fit(problem: Problem, inputs: Mapping[str, Any], most: int) -> LackOfFit:
    """Test up to ``most`` features of the inputs, by `hypothesis` in the enlarged model."""
    basis = _span(problem)
    intercept = problem.objective.design is not None and problem.objective.design.intercept
    choice = choose_features(inputs, basis, most)
    level = 1 - SIGNIFICANT / max(len(choice.features), 1)
    within = basis[:, 1:] if intercept else basis
    enlarge = _Enlarged(problem, within * np.sqrt(problem.n), intercept, level)
    found = [(feature, enlarge.test(feature)) for feature in choice.features]
    done = [(feature.name, *result) for feature, result in found if result is not None]
    few = tuple(feature.name for feature, result in found if result is None)
    left = (LeftOut(few, len(few), Reason.TOO_FEW_ROWS),) if few else ()
    tests = [
        AddedFeature(name, terms, p, min(1.0, len(done) * p), exact)
        for name, terms, p, exact in done
    ]
    tests.sort(key=lambda test: test.pvalue)
    return LackOfFit(tuple(tests), (*left, *choice.left_out))


def _span(problem: Problem) -> Array:
    """Return an orthonormal basis of the model, the intercept first; refuse what has no test."""
    need = "a test of lack of fit needs"
    problem.data(need)
    problem.refuse_basis("a test of lack of fit")
    design, objective = problem.design(need.removesuffix(" needs")), problem.objective
    if problem.noise.labels or problem.classes is not None:
        raise NotAvailable(
            f"{need} a regression: labels are not a linear function of the coefficients plus noise."
        )
    if objective.endogenous:
        raise NotAvailable(
            f"{need} inputs that do not depend on the noise, and the endogenous columns may depend "
            "on it. With more instruments than endogenous columns an empty set of summary() says "
            "that the equation, or an instrument, is wrong."
        )
    if objective.quantile is not None:
        raise NotAvailable(
            f"{need} a model of the outputs, and this one models the conditional quantiles of y."
        )
    if design.spans_everything:
        raise NotAvailable(
            f"{need} a model that can be wrong: this one can take every value at the inputs, so no "
            "feature is missing there."
        )
    matrix, ones = design.matrix, np.ones((problem.n, 1)) / np.sqrt(problem.n)
    if not design.intercept:
        return factor(matrix, np.ones(problem.n)).Q
    rest = matrix[:, 1:] - matrix[:, 1:].mean(axis=0)
    return np.hstack([ones, factor(rest, np.ones(problem.n)).Q])


@final
@dataclass(frozen=True, eq=False)
class _Enlarged:
    """The model, given by columns of the same span, to which features are added."""

    problem: Problem
    within: Array
    intercept: bool
    level: float

    def test(self, feature: Feature) -> tuple[int, float, bool] | None:
        """Return the number of coefficients, the p-value and whether it is exact.

        If too few cells determine all coefficients of the feature for the level, its first one is
        tested, if need be by random halves or permutations. None if that fails too. What is done
        depends on the inputs and the seed alone.
        """
        k = feature.columns.shape[1]
        for terms, certified in dict.fromkeys([(k, False), (1, False), (1, True)]):
            if not certified and self._hopeless(terms):
                continue
            result = self._test(feature.columns[:, :terms], certified=certified)
            if result is not None:
                return (terms, *result)
        return None

    def _hopeless(self, terms: int) -> bool:
        """Whether cells would have so few rows that a search for them is a waste of time."""
        if is_spherical(self.problem.noise):
            return False
        rank = self.within.shape[1] + self.intercept + terms
        return bool(2 * self.problem.n < fewest_cells(self.level) * rank)

    def _test(self, columns: Array, *, certified: bool) -> tuple[float, bool] | None:
        numbers = Numbers(self._with(columns))
        d, k = numbers.problem.objective.d, columns.shape[1]
        g, tau = np.eye(d)[d - k :], np.zeros(k)
        options = self._options(numbers, certified=certified)
        if k == 1 and not numbers.outcome(g, self.level, options, tau).finite[0]:
            return None
        names = [f"feature {j}" for j in range(k)]
        found = hypothesis_test(numbers, g, names, self.level, options, tau)
        if isinstance(found, FTest):
            return found.pvalue, True
        if k > 1 and 1 / found.m > 1 - self.level:
            return None
        return found.pvalue, not found.caveat

    def _options(self, numbers: Numbers, *, certified: bool) -> SingleOptions:
        """Return options for tests of the added coefficients."""
        if certified and not numbers.evidence.spherical:
            return SingleOptions(method="halves" if numbers.evidence.flips else "palmrt")
        return SingleOptions()

    def _with(self, columns: Array) -> Problem:
        model = LinearRegression(fit_intercept=self.intercept)
        rows = self.problem.data("a test of lack of fit needs")
        X = np.hstack([self.within, columns])
        objective = factory_for(model)(model, X, self.problem.objective.y, rows.weight)
        return replace(self.problem, estimator=model, objective=objective, weighting="hessian")

"""Lack of fit: features are added to the model one at a time and tested in the enlarged model.

If the model holds, the coefficients of every added feature are zero. The test of that hypothesis in
the enlarged model has a p-value that is valid for every number of rows under the assumption on the
noise alone (docs/theory.md 11.2). The features are natural cubic splines of numeric columns without
their linear part, and products of two columns. They, the cells and the number of tests depend on
the inputs alone, so the smallest of N p-values times N is a p-value too (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from textwrap import fill
from typing import Any, final

import numpy as np
from sklearn.linear_model import LinearRegression

from unassuming._errors import NotAvailable
from unassuming._frames import as_frame
from unassuming._numerics import factor
from unassuming._typing import Array
from unassuming.inputs import SingleOptions
from unassuming.objectives import factory_for
from unassuming.regions.diagnosis import columns_of
from unassuming.regions.problem import Problem
from unassuming.regions.results import count, table
from unassuming.regions.single.hypotheses import FTest, hypothesis_test
from unassuming.regions.single.numbers import Numbers
from unassuming.regions.single.summary import Query

SIGNIFICANT = 0.05
"""An adjusted p-value of at most this is called a lack of fit."""

MULTIPLICITY = (
    "Each p-value is valid by itself, for every number of rows, if the model and the assumption on "
    "the noise hold. The adjusted p-values are multiplied by the number of tests (Bonferroni)."
)

_SHOWN, _NAMED = 20, 4
"""Tests that are printed; names of features in a sentence."""

_KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)
"""Where the knots of a spline are, as quantiles of the column."""

_IN_THE_MODEL = 1e-7
"""A feature of which the model leaves a smaller share than this is in the model."""


class Reason(Enum):
    """Why a feature is not tested; the value follows "because".

    Examples
    --------
    >>> Reason.CONSTANT.value
    'all values are equal'
    """

    TOO_MANY = "the number of tests is limited"
    IN_THE_MODEL = "the model spans this already"
    NOT_NUMBERS = "the values are not numbers"
    MISSING_VALUES = "some values are missing or infinite"
    CONSTANT = "all values are equal"
    TOO_FEW_ROWS = "there are too few rows for a test at this level"


@final
@dataclass(frozen=True)
class LeftOut:
    """Features that are not tested, and why.

    Attributes
    ----------
    names : tuple of str
        Names of columns or of features; empty if there are too many to list.
    count : int
    reason : Reason

    Examples
    --------
    >>> region.lack_of_fit(most=1).left_out[0].names
    ('spline of x1', 'x0 × x1')
    """

    names: tuple[str, ...]
    count: int
    reason: Reason


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

    A large p-value proves nothing: what is missing may be of another kind.

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
    >>> check.to_frame().shape, check.sentence().startswith("Lack of fit"), check.omitted()
    ((3, 4), True, '')
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
        columns = ("terms", "pvalue", "adjusted", "exact")
        rows = {name: [getattr(test, name) for test in self.tests] for name in columns}
        return as_frame(rows, index=[test.name for test in self.tests])

    def sentence(self) -> str:
        """Return the result in words."""
        if not self.tests:
            return f"Lack of fit was not tested. {self.omitted()}".rstrip()
        first, number = self.tests[0], len(self.tests)
        verdict = "No lack of fit was found. This does not prove that the model is right."
        if self.found:
            verdict = (
                "The model without it and the assumption on the noise cannot both hold, unless an "
                f"event of probability at most {first.adjusted:.2g} has happened."
            )
        smallest = f"{first.pvalue:.3g} ({first.name})"
        if number == 1:
            added = f"one feature was added to the model. The p-value is {smallest}"
        else:
            added = (
                f"{number} features were added to the model, one at a time. The smallest p-value "
                f"is {smallest}, {first.adjusted:.3g} when adjusted for {number} tests"
            )
        return f"Lack of fit: {added}. {verdict}"

    def omitted(self) -> str:
        """Return what was left out, in words; empty if nothing was."""
        said = []
        for left in self.left_out:
            names = f" ({_listed(left.names)})" if left.names else ""
            said.append(f"{count(left.count, 'feature')}{names}, because {left.reason.value}")
        return f"Left out: {'; '.join(said)}." if said else ""

    def __str__(self) -> str:
        if not self.tests:
            return fill(self.sentence(), 100)
        columns: list[tuple[str, Sequence[Any]]] = [
            ("", [test.name for test in self.tests]),
            ("terms", [test.terms for test in self.tests]),
            ("pvalue", [f"{test.pvalue:.4g}" for test in self.tests]),
            ("adjusted", [f"{test.adjusted:.4g}" for test in self.tests]),
        ]
        notes = (fill(note, 100) for note in (MULTIPLICITY, self.omitted()) if note)
        return "\n".join([fill(self.sentence(), 100), *table(columns, _SHOWN), *notes])


def _listed(names: Sequence[str]) -> str:
    """Return some of the names, as many as a sentence can take."""
    more = len(names) - _NAMED
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:_NAMED])} and {more} others"


def lack_of_fit(problem: Problem, most: int) -> LackOfFit:
    """Test up to ``most`` features of the inputs, by `hypothesis` in the enlarged model."""
    inputs = columns_of(problem.data("a test of lack of fit needs"))
    basis = _span(problem)
    features, left = _choose(inputs, basis, most)
    level = 1 - SIGNIFICANT / max(len(features), 1)
    found: list[AddedFeature] = []
    few: list[str] = []
    for name, columns in features.items():
        test = _test(problem, basis, name, columns, level)
        if test is None:  # then of the smoothest column alone
            test = _test(problem, basis, name, columns[:, :1], level)
        if test is None:
            few.append(name)
        else:
            found.append(test)
    if few:
        left.insert(0, LeftOut(tuple(few), len(few), Reason.TOO_FEW_ROWS))
    tests = [replace(one, adjusted=min(1.0, len(found) * one.pvalue)) for one in found]
    return LackOfFit(tuple(sorted(tests, key=lambda test: test.pvalue)), tuple(left))


def _span(problem: Problem) -> Array:
    """Return orthogonal columns that span the model, the intercept first, if it has one."""
    need = "a test of lack of fit"
    problem.refuse_basis(need)
    design, o = problem.design(need), problem.objective
    labels = problem.noise.labels or problem.classes is not None
    if labels or o.endogenous or o.quantile is not None:
        raise NotAvailable(
            f"{need} needs a regression of the mean on inputs that do not depend on the noise, "
            f"given {o} and {problem.noise!r}: use region.test for single functions."
        )
    if design.spans_everything:
        raise NotAvailable(
            f"{need} needs a model that can be wrong: this one can take every value at the inputs, "
            "so no feature is missing there."
        )
    if not design.intercept:
        return factor(design.matrix, np.ones(o.n)).Q
    slopes = design.matrix[:, 1:] - design.matrix[:, 1:].mean(axis=0)
    return np.hstack([np.ones((o.n, 1)) / np.sqrt(o.n), factor(slopes, np.ones(o.n)).Q])


def _test(
    problem: Problem, basis: Array, name: str, columns: Array, level: float
) -> AddedFeature | None:
    """Return the test of all columns in the enlarged model; None if it can never reject."""
    intercept = problem.design("a test of lack of fit").intercept
    model, k = LinearRegression(fit_intercept=intercept), columns.shape[1]
    X = np.hstack([basis[:, int(intercept) :] * np.sqrt(problem.n), columns])
    weight = problem.data("a test of lack of fit needs").weight
    objective = factory_for(model)(model, X, problem.objective.y, weight)
    numbers = Numbers(replace(problem, estimator=model, objective=objective, weighting="hessian"))
    g = np.eye(objective.d)[-k:]
    asked = Query(g, [name] * k, level, SingleOptions(), level, lambda _: False)
    test = hypothesis_test(numbers, asked, np.zeros(k))
    if isinstance(test, FTest):
        return AddedFeature(name, k, test.pvalue, test.pvalue, True)
    if 1 / test.m > 1 - level + 1e-9:
        return None
    return AddedFeature(name, k, test.pvalue, test.pvalue, not test.caveat)


def _choose(
    inputs: Mapping[str, Any], basis: Array, most: int
) -> tuple[dict[str, Array], list[LeftOut]]:
    """Return up to ``most`` features that are not in the span of the basis, and those left out."""
    numbers: dict[str, Array] = {}
    skipped: dict[Reason, list[str]] = {}
    for name, column in inputs.items():
        x, why = _between_0_and_1(column)
        if why is None:
            numbers[name] = x
        else:
            skipped.setdefault(why, []).append(name)
    candidates = _candidates(numbers)
    features: dict[str, Array] = {}
    while candidates and len(features) < most:
        name, make = candidates.pop(0)
        rest = _beyond(basis, make())
        if rest.shape[1]:
            features[name] = rest
        else:
            skipped.setdefault(Reason.IN_THE_MODEL, []).append(name)
    left = [LeftOut(tuple(names), len(names), reason) for reason, names in skipped.items()]
    if candidates:
        names = tuple(name for name, _ in candidates) if len(candidates) <= _SHOWN else ()
        left.append(LeftOut(names, len(candidates), Reason.TOO_MANY))
    return features, left


def _between_0_and_1(column: Any) -> tuple[Array, Reason | None]:
    """Return numbers shifted and scaled, and why a column cannot be used, if so."""
    try:
        x = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return np.zeros(0), Reason.NOT_NUMBERS
    if not np.isfinite(x).all():
        return x, Reason.MISSING_VALUES
    x = x - x.min()
    return (x / x.max(), None) if x.any() else (x, Reason.CONSTANT)


def _candidates(numbers: Mapping[str, Array]) -> list[tuple[str, Callable[[], Array]]]:
    """Return names of features and what makes their columns, in the order of preference."""
    found: list[tuple[str, Callable[[], Array]]] = [
        (f"spline of {name}", partial(_spline, x))
        for name, x in numbers.items()
        if len(np.unique(x)) > 2  # two values are on a straight line
    ]
    names = list(numbers)
    for gap in range(1, len(names)):
        for first, second in zip(names, names[gap:], strict=False):
            make = partial(_product, numbers[first], numbers[second])
            found.append((f"{first} × {second}", make))
    return found


def _product(x: Array, z: Array) -> Array:
    return np.asarray(((x - x.mean()) * (z - z.mean()))[:, None])


def _spline(x: Array) -> Array:
    """Return the columns of a natural cubic spline that are not linear in x, (n, knots - 2)."""
    t, values = np.quantile(x, _KNOTS), np.unique(x)
    if not (np.diff(t) > 0).all():
        t = np.quantile(values, _KNOTS)
    if len(values) <= len(_KNOTS):
        t = values
    cubes = np.clip(x[:, None] - t, 0, None) ** 3
    divided = (cubes[:, :-1] - cubes[:, -1:]) / (t[-1] - t[:-1])
    return np.asarray(divided[:, :-1] - divided[:, -1:])


def _beyond(basis: Array, columns: Array) -> Array:
    """Return what the columns add to the basis, orthogonal, with mean square 1, smoothest first."""
    columns = columns / np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    for _ in range(2):  # once more for orthogonality to rounding
        columns = columns - basis @ (basis.T @ columns)
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(u[:, s > _IN_THE_MODEL] * np.sqrt(len(columns)))

"""The region of a table in memory, what is known about it, and which advice is true for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import unassuming as ua
from unassuming._labels import as_labels
from unassuming.cli.columns import Columns, load
from unassuming.cli.options import Model, Problem
from unassuming.cli.tables import Source
from unassuming.cli.terminal import progress
from unassuming.cli.terms import Kind, Term, estimator_of, in_short, in_words, rows_each, terms_of
from unassuming.inputs import coded_classes, one_class
from unassuming.regions import Language

_GRID = 200
_SHOWN = 9
"""Features that a heading names."""


@dataclass(frozen=True, eq=False)
class Built:
    """A region and its rows."""

    problem: Problem
    region: ua.Region
    X: pd.DataFrame  # the rows to draw: all rows, or a sample of them if they were streamed
    y: Any
    terms: tuple[Term, ...]  # how the columns enter the model
    columns: Columns
    dropped: int  # rows with missing values that were left out
    ends: tuple[Any, Any] | None = None  # smallest and largest values of the features in a stream
    remarks: Sequence[str] = ()  # sentences about how the rows were read
    frame: Any = None  # all columns that were used, in memory

    def inputs(self) -> pd.DataFrame:
        """Return the default inputs of the band: a grid for one feature, else the rows."""
        if not self.one_number:
            return self.X
        low, high = self.ends or (self.X.min().to_numpy(), self.X.max().to_numpy())
        return pd.DataFrame({self.X.columns[0]: np.linspace(low[0], high[0], _GRID)})

    @property
    def one_number(self) -> bool:
        """Whether there is one feature, and it is numeric."""
        return len(self.terms) == 1 and self.terms[0].kind is not Kind.INDICATORS

    @property
    def primal(self) -> bool:
        """Whether each coefficient belongs to a feature, and not to a row."""
        features = [name for term in self.terms for name in term.features]
        return features[0] in self.region.names

    @property
    def model(self) -> str:
        """The name of the model."""
        return in_short(self.problem, self.region.estimator, self.terms)

    @property
    def heading(self) -> str:
        """What was asked and chosen, for the screen."""
        names = self.columns.features
        shown = ", ".join(names[:_SHOWN])
        if len(names) > _SHOWN:
            shown += f" and {len(names) - _SHOWN} more"
        dropped = f", rows with missing values dropped: {self.dropped}" if self.dropped else ""
        first = f"{self.problem.data.name}: target {self.problem.target}, features {shown}{dropped}"
        return "\n".join([first, *self.columns.remarks, *in_words(self.problem, self.terms)])

    @property
    def two_values(self) -> str:
        """A warning about a target with two values under a regression; else empty."""
        values = np.unique(self.y)
        if self.problem.recipe.classify or len(values) != 2 or self.region.n < 8:
            return ""
        three = "" if len(self.columns.features) <= 3 else " with at most 3 columns, --features"
        return (
            f"Warning: {self.problem.target} has two values, {values[0]:g} and {values[1]:g}. The "
            "errors of such a target are not symmetric about zero, so the levels are not exact. "
            f"Regions of labels are exact: unassuming region --model ls-svc{three}."
        )


def settings_of(problem: Problem) -> dict[str, Any]:
    """Return the arguments of `confidence_region` that do not depend on the table."""
    noise: Any = None if problem.noise is None else str(problem.noise)
    if problem.blocks is not None:
        noise = ua.noise.ExchangeableWithin(problem.blocks)
    return {"noise": noise, "m": problem.statistics, "random_state": problem.seed}


def build_in_memory(problem: Problem, source: Source, columns: Columns) -> Built:
    """Build the region from the whole table; labels may show only one of their classes."""
    table = load(source, columns)
    X, y, frame = table.X, table.y.to_numpy(), table.frame
    rows, settings, first = len(frame), settings_of(problem), y[:1].tolist()[0]
    if problem.clusters is not None:  # the number of equal clusters that say as much
        sizes = frame[problem.clusters].value_counts().to_numpy()
        rows = int(sizes.sum() ** 2 / (sizes**2).sum())
        labels = as_labels(frame[problem.clusters].to_numpy(), f"the column {problem.clusters!r}")
        settings["noise"] = ua.noise.BlockSymmetric(labels)
    if problem.weights is not None:
        settings["sample_weight"] = frame[problem.weights].to_numpy()
    if problem.classes is not None:
        names = [name.strip() for name in problem.classes.split(",")]
        settings["classes"] = [like(name, first) for name in names if name]
    elif problem.recipe.classify and len(set(y.tolist())) == 1 and not coded_classes(first):
        raise one_class(first, "Name both with --classes A,B; the second is +1.")
    terms = terms_of(problem, X, table.columns, rows)
    with progress("building the region"):
        region = ua.confidence_region(estimator_of(problem, terms), X, y, **settings)
    if (classes := region.problem.classes) is not None:
        y = np.where(y == classes[1], 1.0, -1.0)
    return Built(problem, region, X, y, terms, table.columns, table.dropped, frame=frame)


def like(name: str, label: Any) -> Any:
    """Return a label of the same type as another one; the text itself if it cannot be."""
    if isinstance(label, bool):
        return {"true": True, "false": False}.get(name.lower(), name)
    try:
        return type(label)(name)
    except ValueError:
        return name


# --- advice ---------------------------------------------------------------------------------------

_BOUNDED_BY_NORM = (Model.SPLINE, Model.KRR, Model.RIDGE, Model.OLS)
_QUANTILE_MOST, _LABEL_MOST = 4, 3
"""Coefficients of a quantile, and columns of labels, up to which there are outer bounds."""

_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?: ([\w.-]*\w))?")


@dataclass(frozen=True, eq=False)
class Advice:
    """What a command was asked, so that only advice is printed which is true for it.

    The numbers of rows and columns, the kind of target and the options decide, never the values of
    the target.
    """

    built: Built
    norm_bound: float | None = None
    pointwise: bool = False
    method: str = "auto"

    def remedies(self, explanation: Any) -> dict[str, Any]:
        """Return the remedies that are true, by their words."""
        texts = {one.text(Language.COMMAND_LINE): one for one in explanation.remedies or ()}
        return {text: one for text, one in texts.items() if text and self.holds(text)}

    def trimmed(self, answer: Any) -> Any:
        """Return an answer whose explanation has only the remedies that are true."""
        true = tuple(self.remedies(answer.explanation).values()) or None
        return replace(answer, explanation=replace(answer.explanation, remedies=true))

    def sentences(self, text: str) -> str:
        """Return a text without the sentences that name an option in vain."""
        return " ".join(one for one in re.split(r"(?<=[.?]) (?=[A-Z])", text) if self.holds(one))

    def holds(self, text: str) -> bool:
        """Whether every option in a text can be given, and does what the text says."""
        simultaneous = "without --pointwise" in text
        named = _OPTION.findall(text)
        if re.search(r"\b(fewer|out|other) (features|columns)", text):
            primal = not self.built.problem.recipe.kernel or self.built.primal
            named += [("features", "")] if primal else [("fewer-rows", "")]
        return all(self._allows(option, value, simultaneous) for option, value in named)

    def _allows(self, option: str, value: str, simultaneous: bool) -> bool:
        built, problem, recipe = self.built, self.built.problem, self.built.problem.recipe
        pointwise, streamed = self.pointwise and not simultaneous, built.ends is not None
        independent = problem.clusters is None and recipe.noise is None
        number = value.replace(".", "", 1).isdecimal()
        rules = {
            "model": self._suits(value),
            "kernel": value == "linear" and problem.kernel != "linear",
            "noise": independent
            and not streamed
            and problem.noise != value
            and (value != "symmetric" or built.region.n >= 3 * self._coefficients),
            "clusters": independent,
            "features": self._coefficients > 2,
            "fewer-rows": False,
            "level": float(value) < min(problem.levels)
            if number
            else problem.model != Model.QUANTILE or self._coefficients <= _QUANTILE_MOST,
            "norm-bound": self.norm_bound is None
            and problem.model in _BOUNDED_BY_NORM
            and not (streamed and pointwise),
            "pointwise": simultaneous or not (pointwise or recipe.kernel),
            "method": self.method != value and not recipe.kernel,
        }
        return rules.get(option, True)

    def _suits(self, model: str) -> bool:
        """Whether another model answers where this one does not."""
        problem, columns = self.built.problem, len(self.built.columns.features)
        labels = problem.recipe.classify or bool(self.built.two_values)
        if model == problem.model or problem.clusters or problem.weights:
            return False
        if model == Model.LS_SVC:
            return labels and columns <= _LABEL_MOST
        if model == Model.LOGISTIC or labels:  # no outer bound is known, or no level is exact
            return False
        if model == Model.QUANTILE:
            return self._coefficients <= _QUANTILE_MOST
        numeric = sum(term.kind is not Kind.INDICATORS for term in self.built.terms)
        rows = self.built.region.n // rows_each(columns)
        return model != Model.SPLINE or rows >= self._coefficients + numeric

    @property
    def _coefficients(self) -> int:
        return 1 + sum(term.size for term in self.built.terms)


def checks(built: Built, advice: Advice, *, ordered: bool) -> list[str]:
    """Return what the tests of the residuals and of the fit found."""
    if built.ends is not None:
        return ["Residuals and lack of fit were not checked: the table was streamed."]
    from unassuming.report.collect import warnings_of

    diagnosis, fit = _asked(built.region.diagnose), _asked(built.region.lack_of_fit)
    diagnosis = without_order(diagnosis, built, ordered=ordered)
    found = warnings_of(built.region, diagnosis, fit, Language.COMMAND_LINE)
    said = [f"Warning: {advice.sentences(warning)}" for warning in found]
    tests = [] if diagnosis is None else [t for t in diagnosis.indications if not t.unavailable]
    if tests:
        pvalues = ", ".join(
            f"{one.name} {one.pvalue:.3g}{'' if one.assumed else ' (not assumed)'}" for one in tests
        )
        said.append(f"P-values from residuals (indications, not proofs): {pvalues}.")
    if fit is not None and not fit.found:
        said.append(fit.sentence())
    return said


def without_order(diagnosis: Any, built: Built, *, ordered: bool) -> Any:
    """Return a diagnosis without the test of neighbouring rows, if rows have no order."""
    if diagnosis is None or ordered or built.columns.order is not None:
        return diagnosis
    kept = tuple(one for one in diagnosis.indications if one.name != "no order")
    return replace(diagnosis, indications=kept)


def _asked(question: Any) -> Any:
    """Return an answer, or None if there is none: no estimate, labels, no model that can fail."""
    try:
        return question()
    except ua.NotAvailable:
        return None

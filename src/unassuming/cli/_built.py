"""A region with the rows that a report shows, and how it is built from a table in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from unassuming._labels import as_labels
from unassuming.cli._estimators import in_short
from unassuming.cli._terminal import stages
from unassuming.cli.options import RECIPES, Model, Problem
from unassuming.cli.tables import Columns, Kind, Loaded, Ranges, Source, Term, in_words, load
from unassuming.inputs import coded_classes, one_class
from unassuming.noise import BlockSymmetric
from unassuming.regions import Region, confidence_region

_GRID = 200


@dataclass(frozen=True, eq=False)
class Built:
    """A region and its rows.

    Attributes
    ----------
    X, y : DataFrame and array
        The rows to draw: all rows, or a sample of them if they were streamed.
    ranges : Ranges
        Of all rows.
    terms : tuple of Term
        How the columns enter the model.
    columns : Columns
    dropped : int
        Rows with missing values that were left out.
    remarks : list of str
        Sentences about how the rows were read.
    """

    region: Region
    X: pd.DataFrame
    y: Any
    ranges: Ranges
    terms: tuple[Term, ...]
    columns: Columns
    dropped: int
    remarks: list[str] = field(default_factory=list)

    def grid(self) -> pd.DataFrame:
        """Return 200 equidistant values of the only feature."""
        (name,) = self.X.columns
        return pd.DataFrame({name: np.linspace(self.ranges.low[0], self.ranges.high[0], _GRID)})

    def inputs(self) -> pd.DataFrame:
        """Return the default inputs of the band: a grid for one feature, else the rows."""
        return self.grid() if self.one_number else self.X

    @property
    def one_number(self) -> bool:
        """Whether there is one feature, and it is numeric."""
        return len(self.terms) == 1 and self.terms[0].kind is not Kind.INDICATORS

    @property
    def two_classes(self) -> bool:
        """Whether two classes can be drawn over two numeric features."""
        numeric = all(term.kind is not Kind.INDICATORS for term in self.terms)
        return numeric and len(self.terms) == 2 and self.region.problem.classes is not None

    def about(self, problem: Problem) -> dict[str, Any]:
        """Return what was asked, for a file."""
        return {
            "data": problem.data.name,
            "target": problem.target,
            "features": self.columns.features,
            "terms": {term.column: term.kind.value for term in self.terms},
            "knots": {term.column: list(term.knots) for term in self.terms if term.knots},
            "rows_dropped": self.dropped,
            "model": str(problem.model),
            "options": problem.options,
            "clusters": problem.clusters,
            "blocks": problem.blocks,
            "weights": problem.weights,
        }

    def heading(self, problem: Problem) -> str:
        """Return what was asked and chosen, for the screen."""
        dropped = f", {self.dropped} rows with missing values dropped" if self.dropped else ""
        features = ", ".join(f"'{x}'" if "," in x else x for x in self.columns.features)
        first = f"{problem.data.name}: target {problem.target}, features {features}{dropped}"
        splines = problem.model is Model.SPLINE
        chosen = in_words(self.terms, splines=splines)
        return "\n".join([first, *self.columns.remarks, *chosen])

    def model(self, problem: Problem) -> str:
        """Name the model."""
        return in_short(problem.model, self.region.estimator, self.terms)


def build_in_memory(problem: Problem, source: Source, columns: Columns) -> Built:
    """Build the region from the whole table."""
    table = load(source, columns)
    with stages(1) as begin:
        begin("building the region")
        region, terms = region_in_memory(problem, table)
    numbers = table.X.select_dtypes("number")
    ranges = Ranges.empty(numbers.shape[1]).including(numbers.to_numpy())
    y = region.objective.y  # with labels as ±1
    return Built(region, table.X, y, ranges, terms, table.columns, table.dropped)


def _labels(column: pd.Series) -> Any:
    """Return the labels of the groups of rows; refuse missing ones and fractions."""
    return as_labels(column.to_numpy(), f"the column {column.name!r}")


def _weights(column: pd.Series) -> Any:
    """Return the weights of the rows; refuse negative ones."""
    negative = np.flatnonzero(column.to_numpy() < 0)
    if negative.size:
        raise ValueError(
            f"the column {column.name!r} has negative weights: expected numbers >= 0, given "
            f"{column.iloc[negative[0]]:g}. Correct the file, or name another column."
        )
    return column.to_numpy()


def region_in_memory(problem: Problem, table: Loaded) -> tuple[Region, tuple[Term, ...]]:
    """Build the region from all rows; labels may show only one of their classes."""
    X, y, frame = table.X, table.y.to_numpy(), table.frame
    terms = problem.terms(X, table.columns, _independent(problem, frame))
    estimator, labels = problem.estimator(terms), y.tolist()
    settings = problem.settings
    if problem.clusters is not None:
        settings["noise"] = BlockSymmetric(_labels(frame[problem.clusters]))
    if problem.weights is not None:
        settings["sample_weight"] = _weights(frame[problem.weights])
    if problem.classes is not None:
        settings["classes"] = _named(problem.classes, labels[0])
    elif RECIPES[problem.model].classify and len(set(labels)) == 1 and not coded_classes(labels[0]):
        raise one_class(labels[0], "Name both with --classes A,B; the second is +1.")
    return confidence_region(estimator, X, y, **settings), terms


def _independent(problem: Problem, frame: pd.DataFrame) -> int:
    """Return the number of rows; of clusters, the number of equal ones that say as much."""
    if problem.clusters is None:
        return len(frame)
    sizes = frame[problem.clusters].value_counts().to_numpy()
    return int(sizes.sum() ** 2 / (sizes**2).sum())


def _named(classes: str, label: Any) -> list[Any]:
    """Return the two labels of the option, in the type of one that was read from the table."""
    names = [name.strip() for name in classes.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise ValueError(
            "--classes does not name two labels: expected two different labels with a comma "
            f"between them, the second for +1, given {classes!r}. Try --classes no,yes."
        )
    return [like(name, label) for name in names]


def like(name: str, label: Any) -> Any:
    """Return a label of the same type as another one; the text itself if it cannot be."""
    if isinstance(label, bool):
        return {"true": True, "false": False}.get(name.lower(), name)
    if isinstance(label, (int, float)):
        try:
            return type(label)(name)
        except ValueError:
            return name
    return name

"""A region with the rows that a report shows, and how it is built from a table in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from unassuming.cli._models import RECIPES
from unassuming.cli._problem import Problem
from unassuming.cli._sources import Ranges, Source
from unassuming.cli._tables import Columns, load
from unassuming.cli._terminal import stages
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
    dropped : int
        Rows with missing values that were left out.
    remarks : list of str
        Sentences about how the rows were read.
    """

    region: Region
    X: pd.DataFrame
    y: Any
    ranges: Ranges
    dropped: int
    remarks: list[str] = field(default_factory=list)

    def grid(self) -> pd.DataFrame:
        """Return 200 equidistant values of the only feature."""
        (name,) = self.X.columns
        return pd.DataFrame({name: np.linspace(self.ranges.low[0], self.ranges.high[0], _GRID)})

    def inputs(self) -> pd.DataFrame:
        """Return the default inputs of the band: a grid for one feature, else the rows."""
        return self.grid() if self.X.shape[1] == 1 else self.X

    def about(self, problem: Problem, columns: Columns) -> dict[str, Any]:
        """Return what was asked, for a file."""
        return {
            "data": problem.data.name,
            "target": problem.target,
            "features": columns.features,
            "rows_dropped": self.dropped,
            "model": str(problem.model),
            "options": problem.options,
            "clusters": problem.clusters,
            "weights": problem.weights,
        }

    def heading(self, problem: Problem, columns: Columns) -> str:
        """Return what was asked, for the screen."""
        dropped = f", {self.dropped} rows with missing values dropped" if self.dropped else ""
        features = ", ".join(columns.features)
        return f"{problem.data.name}: target {problem.target}, features {features}{dropped}"


def build_in_memory(problem: Problem, source: Source, columns: Columns) -> Built:
    """Build the region from the whole table."""
    frame, dropped = load(source, columns)
    with stages(1) as begin:
        begin("building the region")
        region = region_in_memory(problem, frame, columns)
    X = frame[columns.features]
    ranges = Ranges.empty(X.shape[1]).including(X.to_numpy())
    return Built(region, X, region.objective.y, ranges, dropped)  # with labels as ±1


def _clustered(problem: Problem, labels: pd.Series) -> BlockSymmetric:
    """Return the assumption that clusters are independent and symmetric."""
    if RECIPES[problem.model].classify:
        raise ValueError(
            "--clusters needs a regression: expected a model other than a classifier, given "
            f"--model {problem.model}. Leave out one of the two."
        )
    if problem.noise not in (None, "symmetric"):
        raise ValueError(
            "--clusters needs noise that is symmetric in each cluster: expected --noise symmetric, "
            f"given --noise {problem.noise}. Leave out one of the two."
        )
    return BlockSymmetric(pd.factorize(labels)[0])


def _weights(column: pd.Series) -> Any:
    """Return the weights of the rows; refuse negative ones."""
    negative = np.flatnonzero(column.to_numpy() < 0)
    if negative.size:
        raise ValueError(
            f"the column {column.name!r} has negative weights: expected numbers >= 0, given "
            f"{column.iloc[negative[0]]:g}. Correct the file, or name another column."
        )
    return column.to_numpy()


def region_in_memory(problem: Problem, frame: pd.DataFrame, columns: Columns) -> Region:
    """Build the region from all rows; labels may show only one of their classes."""
    X, y = frame[columns.features], frame[columns.target].to_numpy()
    estimator, labels = problem.estimator(*X.shape), y.tolist()
    settings = problem.settings
    if problem.clusters is not None:
        settings["noise"] = _clustered(problem, frame[problem.clusters])
    if problem.weights is not None:
        settings["sample_weight"] = _weights(frame[problem.weights])
    if problem.classes is not None:
        settings["classes"] = _named(problem.classes, labels[0])
    elif RECIPES[problem.model].classify and len(set(labels)) == 1 and not coded_classes(labels[0]):
        raise one_class(labels[0], "Name both with --classes A,B; the second is +1.")
    return confidence_region(estimator, X, y, **settings)


def _named(classes: str, label: Any) -> list[Any]:
    """Return the two labels of the option, in the type of one that was read from the table."""
    names = [name.strip() for name in classes.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise ValueError(
            "--classes does not name two labels: expected two different labels and a comma, of "
            f"which the second is +1, given {classes!r}. Try --classes no,yes."
        )
    return [_like(name, label) for name in names]


def _like(name: str, label: Any) -> Any:
    """Return a label of the same type as another one; the text itself if it cannot be."""
    if isinstance(label, bool):
        return {"true": True, "false": False}.get(name.lower(), name)
    if isinstance(label, (int, float)):
        try:
            return type(label)(name)
        except ValueError:
            return name
    return name

"""The region of a table in memory, and the classes that ``--classes`` names."""

from __future__ import annotations

from typing import Any

import pandas as pd

from unassuming.cli._models import RECIPES
from unassuming.cli._problem import Problem
from unassuming.inputs import coded_classes, one_class
from unassuming.regions import Region, confidence_region


def region_in_memory(problem: Problem, X: pd.DataFrame, y: Any) -> Region:
    """Build the region from all rows; labels may show only one of their classes."""
    estimator, settings, labels = problem.estimator(*X.shape), problem.settings, y.tolist()
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

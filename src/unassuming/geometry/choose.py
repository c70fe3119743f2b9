"""How the lines of a region are followed."""

from __future__ import annotations

from collections.abc import Callable

from unassuming._typing import Array
from unassuming.geometry.grid_lines import GridLines
from unassuming.geometry.labels.lines import LabelLines, LabelModel
from unassuming.geometry.lines import Lines
from unassuming.geometry.piecewise.lines import PiecewiseLines
from unassuming.geometry.piecewise.model import Model
from unassuming.geometry.signs.lines import SignLines
from unassuming.geometry.signs.model import SignModel
from unassuming.membership import Engine


def lines_of(engine: Engine, unit: Callable[[Array], Array] | None = None) -> Lines:
    """Return the lines of any region; those of ellipsoids are quicker (`quadratic.lines`).

    Where only membership is known they are followed on a grid, about the ``unit`` of each line.
    """
    if (signs := SignModel.of(engine)) is not None:
        return SignLines(signs, engine.rank)
    if (labels := LabelModel.of(engine)) is not None:
        return LabelLines(labels, engine.rank)
    if (model := Model.of(engine)) is not None:
        return PiecewiseLines(model, engine.rank)
    return GridLines(engine.rank, engine.m, unit)

"""Features that a model might lack, chosen from the inputs alone.

For each numeric column a natural cubic spline without its linear part, and for two columns their
product. What the model already spans is removed: a feature that the model has is not tested again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any, final

import numpy as np

from unassuming._typing import Array

KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)
"""Where the knots of a spline are, as quantiles of the column."""

_IN_THE_MODEL = 1e-7
"""A feature of which the model leaves a smaller share than this is in the model."""


class Reason(Enum):
    """Why a feature is not tested; the value follows "because"."""

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
    """

    names: tuple[str, ...]
    count: int
    reason: Reason


@final
@dataclass(frozen=True, eq=False)
class Feature:
    """A feature to add to the model.

    Attributes
    ----------
    name : str
    columns : array of shape (n, k)
        Orthogonal to the model and to each other, the smoothest first, with mean square 1.
    """

    name: str
    columns: Array


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """The features that are tested, and those that are left out."""

    features: tuple[Feature, ...]
    left_out: tuple[LeftOut, ...]


def choose_features(inputs: Mapping[str, Any], basis: Array, most: int) -> Choice:
    """Return up to ``most`` features of the inputs that are not in the span of ``basis``.

    Splines come first, then products of neighbouring columns, of columns two apart, and so on.

    Examples
    --------
    >>> x = np.linspace(0, 1, 20)
    >>> line = np.linalg.qr(np.column_stack([np.ones(20), x]))[0]
    >>> choice = choose_features({"x": x, "name": np.array(["a"] * 20)}, line, 20)
    >>> [feature.name for feature in choice.features], choice.left_out[0].reason.value
    (['spline of x'], 'the values are not numbers')
    """
    numbers, skipped = _numeric(inputs)
    candidates = _candidates(numbers)
    total = _number_of_candidates(numbers)
    features: list[Feature] = []
    examined = 0
    for name, columns in candidates:
        examined += 1
        rest = _beyond(basis, columns)
        if rest.shape[1]:
            features.append(Feature(name, rest))
        else:
            skipped.setdefault(Reason.IN_THE_MODEL, []).append(name)
        if len(features) == most:
            break
    left = [LeftOut(tuple(names), len(names), reason) for reason, names in skipped.items()]
    if total > examined:
        names = tuple(name for name, _ in islice(_candidates(numbers), examined, examined + 20))
        few = names if total - examined <= len(names) else ()
        left.append(LeftOut(few, total - examined, Reason.TOO_MANY))
    return Choice(tuple(features), tuple(left))


def _numeric(inputs: Mapping[str, Any]) -> tuple[dict[str, Array], dict[Reason, list[str]]]:
    """Return the columns of numbers, between 0 and 1, and those that cannot be used."""
    numbers: dict[str, Array] = {}
    skipped: dict[Reason, list[str]] = {}
    for name, column in inputs.items():
        try:
            x = np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            skipped.setdefault(Reason.NOT_NUMBERS, []).append(name)
            continue
        if not np.isfinite(x).all():
            skipped.setdefault(Reason.MISSING_VALUES, []).append(name)
        elif x.min() == x.max():
            skipped.setdefault(Reason.CONSTANT, []).append(name)
        else:
            x = x / np.abs(x).max()
            numbers[name] = (x - x.min()) / (x.max() - x.min())
    return numbers, skipped


def _number_of_candidates(numbers: Mapping[str, Array]) -> int:
    curved = sum(len(np.unique(x)) > 2 for x in numbers.values())
    return curved + len(numbers) * (len(numbers) - 1) // 2


def _candidates(numbers: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """Yield names and columns of all features, in the order of preference."""
    for name, x in numbers.items():
        if len(np.unique(x)) > 2:  # two values are on a straight line
            yield f"spline of {name}", _spline(x)
    names = list(numbers)
    for gap in range(1, len(names)):
        for first, second in zip(names, names[gap:], strict=False):
            x, z = numbers[first], numbers[second]
            yield f"{first} × {second}", ((x - x.mean()) * (z - z.mean()))[:, None]


def _spline(x: Array) -> Array:
    """Return the columns of a natural cubic spline that are not linear in x, (n, knots - 2)."""
    t = _knots(x)

    def cubic(j: int) -> Array:
        powers = np.clip(x - t[j], 0, None) ** 3 - np.clip(x - t[-1], 0, None) ** 3
        return np.asarray(powers / (t[-1] - t[j]))

    last = cubic(len(t) - 2)
    return np.column_stack([cubic(j) - last for j in range(len(t) - 2)])


def _knots(x: Array) -> Array:
    values = np.unique(x)
    if len(values) <= len(KNOTS):
        return values
    knots = np.quantile(x, KNOTS)
    return knots if (np.diff(knots) > 0).all() else np.quantile(values, KNOTS)


def _beyond(basis: Array, columns: Array) -> Array:
    """Return orthogonal columns for what the columns add to the basis; the smoothest first."""
    size = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(size > 0, size, 1.0)
    for _ in range(2):  # once more for orthogonality to rounding
        columns = columns - basis @ (basis.T @ columns)
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(u[:, s > _IN_THE_MODEL] * np.sqrt(len(columns)))


def listed(names: Sequence[str], shown: int = 4) -> str:
    """Return some of the names, as many as a sentence can take."""
    more = len(names) - shown
    if more <= 1:
        return ", ".join(names)
    return f"{', '.join(names[:shown])} and {more} others"

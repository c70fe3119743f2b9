"""How the columns enter a model: as lines, splines or indicators of categories.

A flexible model of a small table has no finite bounds, and a spline of a column with two values has
coefficients that no data determine. So the number of splines follows the number of rows and of
different values. The choice sees the inputs alone, never the target, as the guarantee requires.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, final

import numpy as np
import pandas as pd

from unassuming._typing import Array, IntArray

_ROWS_EACH, _ROWS_ALONE = 15, 5
"""Rows for each coefficient: the usual rule for splines of several columns, and what is enough for
finite bounds of a single one. Below, columns enter as lines."""

MOST_KNOTS = 8
_OUTER = 0.05, 0.95
"""Quantiles of the first and of the last knot; beyond them a spline is a straight line, so that a
single far value does not shape it."""

RARE = 6
"""Rows of a category below which its coefficient seldom has bounds at level 0.9: k rows have the
same sign in one transformation out of 2^(k-1)."""


class Kind(Enum):
    """How a column enters the model."""

    LINE = "lines"
    SPLINE = "splines"
    INDICATORS = "indicators"


@final
@dataclass(frozen=True)
class Term:
    """A column with its place in the model.

    Attributes
    ----------
    knots : tuple of float
        Of a spline.
    levels : tuple
        The categories of indicators; the first one has none.
    rare : tuple
        Categories with few rows.
    """

    column: str
    kind: Kind
    knots: tuple[float, ...] = ()
    degree: int = 3
    levels: tuple[Any, ...] = ()
    rare: tuple[Any, ...] = ()

    @property
    def size(self) -> int:
        """Number of coefficients."""
        if self.kind is Kind.SPLINE:
            return len(self.knots) + self.degree - 2
        return len(self.levels) - 1 if self.kind is Kind.INDICATORS else 1

    @property
    def features(self) -> list[str]:
        """The names of the coefficients of a spline or of categories."""
        if self.kind is Kind.INDICATORS:
            return [_category(self.column, level) for level in self.levels[1:]]
        return [f"{self.column}_sp_{k}" for k in range(self.size)]

    @property
    def transformer(self) -> Any:
        """What makes the features."""
        from sklearn.preprocessing import OneHotEncoder, SplineTransformer

        if self.kind is Kind.SPLINE:
            # All splines of a feature add up to one: one is left out because of the intercept.
            return SplineTransformer(
                knots=np.array(self.knots)[:, None],
                degree=self.degree,
                extrapolation="linear",
                include_bias=False,
            )
        if self.kind is Kind.INDICATORS:
            return OneHotEncoder(
                categories=[list(self.levels)],
                drop="first",
                sparse_output=False,
                feature_name_combiner=_category,
            )
        return "passthrough"


def _category(column: str, level: Any) -> str:
    return f"{column}={level}"


def choose_terms(
    X: pd.DataFrame,
    categorical: Sequence[str],
    *,
    rows: int | None = None,
    sample: IntArray | None = None,
    splines: bool = False,
    knots: int | None = None,
) -> tuple[Term, ...]:
    """Return a term for each column.

    Parameters
    ----------
    X : DataFrame
        Inputs, or a sample of them.
    categorical : sequence of str
        Columns of categories; the others are numbers.
    rows : int, optional
        Number of rows, or of groups of dependent rows; by default those of X.
    sample : array of int, optional
        The rows from which knots are chosen; by default all.
    splines : bool
        Whether numeric columns may be splines.
    knots : int, optional
        Of each spline; by default chosen.
    """
    terms = {name: _indicators(X[name]) for name in X.columns if name in categorical}
    numeric = [name for name in X.columns if name not in categorical]
    some = slice(None) if sample is None else sample
    numbers = {name: X[name].to_numpy(dtype=np.float64)[some] for name in numeric}
    values = {name: np.unique(column) for name, column in numbers.items()}
    size = knots + 1 if knots is not None else None
    curved = [name for name in numeric if len(values[name]) > 2]
    if size is None and curved:
        spent = 1 + sum(term.size for term in terms.values()) + len(numeric) - len(curved)
        left = (len(X) if rows is None else rows) // _rows_each(len(X.columns)) - spent
        size = max(min(left // len(curved), MOST_KNOTS + 1), 1)
    for name in numeric:
        terms[name] = Term(name, Kind.LINE)
        if splines and name in curved and size is not None:
            most = size if knots is not None else min(size, len(values[name]) // 3)
            terms[name] = _spline(name, numbers[name], values[name], most)
    return tuple(terms[name] for name in X.columns)


def _rows_each(columns: int) -> int:
    return _ROWS_ALONE if columns == 1 else _ROWS_EACH


def _indicators(column: pd.Series) -> Term:
    counts = column.value_counts(sort=False)
    levels = sorted(counts.index.tolist(), key=str)
    rare = tuple(level for level in levels if counts[level] < RARE)
    return Term(str(column.name), Kind.INDICATORS, levels=tuple(levels), rare=rare)


def _spline(name: str, column: Array, values: Array, size: int) -> Term:
    """Return a spline with at most that many coefficients which the values determine."""
    for count in range(size, 1, -1):
        knots = np.unique(np.quantile(column, np.linspace(*_OUTER, max(count - 1, 2))))
        if len(knots) < 2:
            continue
        term = Term(name, Kind.SPLINE, tuple(knots.tolist()), min(count, 3))
        features = np.column_stack(
            [np.ones(len(values)), term.transformer.fit_transform(values[:, None])]
        )
        if np.linalg.matrix_rank(features) == features.shape[1]:
            return term
    return Term(name, Kind.LINE)


def encoder(terms: Sequence[Term]) -> Any:
    """Return what makes the features of all terms, in their order; None if they are the columns."""
    from sklearn.compose import ColumnTransformer

    if all(term.kind is Kind.LINE for term in terms):
        return None
    return ColumnTransformer(
        [(term.column, term.transformer, [term.column]) for term in terms],
        verbose_feature_names_out=False,
    )


def terms_as_data(terms: Sequence[Term]) -> list[list[Any]]:
    """Return lines and splines as plain lists, for a file."""
    return [[term.column, term.kind.name, list(term.knots), term.degree] for term in terms]


def terms_from_data(data: Sequence[Sequence[Any]]) -> tuple[Term, ...]:
    """Return the terms of `terms_as_data`."""
    return tuple(
        Term(column, Kind[kind], tuple(knots), degree) for column, kind, knots, degree in data
    )


def in_words(terms: Sequence[Term], *, splines: bool) -> list[str]:
    """Say how the columns enter; ``splines`` says whether splines were wanted."""
    curves = [term for term in terms if term.kind is Kind.SPLINE]
    lines = [term.column for term in terms if term.kind is Kind.LINE]
    coded = [term for term in terms if term.kind is Kind.INDICATORS]
    said = _curves(curves)
    if lines and (curves or coded or splines):
        straight = "a straight line" if len(lines) == 1 else "straight lines"
        said.append(f"{straight} in {_and(lines)}")
    said += [
        f"indicators of {term.column}: {_and(term.levels[1:])}, compared with {term.levels[0]}"
        for term in coded
    ]
    if not said:
        return []
    text = f"Model, chosen from the inputs alone: {'; '.join(said)}."
    if splines and lines:
        text += (
            f" (A spline takes {_rows_each(len(terms))} rows for each coefficient of the model, "
            "and enough different values; --knots K sets the number of knots.)"
        )
    few = [
        f"{term.column} = {_and(term.rare)} {'has' if len(term.rare) == 1 else 'have'} fewer than "
        f"{RARE} rows, too few for bounds at high levels."
        for term in coded
        if term.rare
    ]
    return [text, *few]


def _curves(terms: Sequence[Term]) -> list[str]:
    """Describe the splines, those of one kind together."""
    kinds: dict[tuple[int, int], list[Term]] = {}
    for term in terms:
        kinds.setdefault((term.degree, len(term.knots)), []).append(term)
    said = []
    for (degree, knots), group in kinds.items():
        several = "s" if len(group) > 1 else ""
        names = _and([term.column for term in group])
        what = f"cubic spline{several} of {names} with {knots} knots"
        if knots == 2:
            what = f"{'cubic' if degree == 3 else 'quadratic'} curve{several} in {names}"
        if several:
            said.append(f"{what}, straight below the 5 % and above the 95 % quantile")
        else:
            ends = group[0].knots
            said.append(f"a {what} from {ends[0]:.4g} to {ends[-1]:.4g}, straight beyond")
    return said


def _and(names: Sequence[Any]) -> str:
    """Return names in a row, at most nine."""
    shown = [str(name) for name in names[:8]]
    if len(names) > 9:
        return f"{', '.join(shown)} and {len(names) - 8} others"
    shown = [str(name) for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"

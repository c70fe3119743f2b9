"""The summary of a model, and the one form that answers about single numbers have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape
from textwrap import fill
from typing import Any, TypeVar, final

import numpy as np

from unassuming._frames import as_frame
from unassuming._typing import Array, BoolArray, IntArray
from unassuming._words import shown
from unassuming.inputs import SingleOptions
from unassuming.ranking import Level, as_double, as_levels, pvalue_in_print
from unassuming.regions.explain import Cause, Explanation, Language, Status, assumption_of, percent
from unassuming.regions.problem import Problem
from unassuming.regions.results import IntervalUnion, Levels, several, table

T = TypeVar("T")

NOTHING = "nothing"  # the method for a number that the rows do not determine

_SHOWN = 40  # rows of a summary that are printed
_VISIBLE = 0.1  # estimates that differ by a larger share of the interval are pointed out


@final
@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates, intervals and p-values of the coefficients, or of other linear functionals.

    The target is the true coefficient, the one that reproduces the regression function at the
    inputs. The penalty of a model plays no part in the interval.

    Attributes
    ----------
    names : tuple of N str
        The coefficients, or g0, g1, ... for functionals given by numbers.
    estimate : array of shape (N,)
        Least squares with the other coefficients free in each group of rows, without a penalty. NaN
        where the rows determine nothing.
    lower, upper : arrays of shape (N,)
        The intervals: infinite if nothing finite is known, NaN if no value is in the region.
    pvalue : array of shape (N,)
        P-values of the hypotheses that the numbers are 0, adjusted if ``simultaneous``.
    model_estimate : array of shape (N,)
        The estimates of the model, with its penalty.
    level : array of shape (N,)
        The attained levels, at least ``requested_level``.
    method : tuple of N str
        "cells", "pairs", "halves", "palmrt", "t", "balanced cells" or "joint region".
    requested_level : float
    simultaneous : bool
        Whether all intervals hold at once.
    model, assumption : str
        The model in one line, and what the levels rest on.
    explanation : Explanation
        What is remarkable about the intervals, why some are infinite, and remedies.
    smallest_pvalue : array of shape (N,), or None
        The smallest p-values that are possible.
    sets : tuple of N IntervalUnion, or None
        The values that are not rejected, if they need not form an interval: for the coefficient of
        an endogenous column, where ``lower`` and ``upper`` are the ends of their hull.

    Examples
    --------
    >>> summary = region.summary(level=0.9)
    >>> summary.names, summary.method, summary.simultaneous
    (('intercept', 'x0', 'x1'), ('cells', 'cells', 'cells'), False)
    >>> bool((summary.lower < coefficients).all() and (coefficients < summary.upper).all())
    True
    >>> summary.to_frame().columns.tolist()
    ['estimate', 'lower', 'upper', 'pvalue', 'model_estimate', 'level', 'method']
    """

    names: tuple[str, ...]
    estimate: Array
    lower: Array
    upper: Array
    pvalue: Array
    model_estimate: Array
    level: Array
    method: tuple[str, ...]
    requested_level: float
    simultaneous: bool
    model: str
    assumption: str
    explanation: Explanation = field(repr=False)
    smallest_pvalue: Array | None = None
    sets: tuple[IntervalUnion, ...] | None = None

    def __post_init__(self) -> None:
        empty = self.lower > self.upper  # no value is in the region
        for name in ("lower", "upper"):
            object.__setattr__(self, name, np.where(empty, np.nan, getattr(self, name)))

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each number, indexed by name."""
        names = ("estimate", "lower", "upper", "pvalue", "model_estimate", "level")
        columns: dict[str, Any] = {name: getattr(self, name) for name in names}
        columns["method"] = list(self.method)
        if self.sets is not None:
            columns["set"] = list(map(str, self.sets))
        return as_frame(columns, index=list(self.names))

    def _columns(self) -> list[tuple[str, list[str]]]:
        """Return the columns that are printed; attained level and method only if they vary."""
        ends = ("estimate", "lower", "upper")
        columns = [(name, [f"{x:.6g}" for x in getattr(self, name)]) for name in ends]
        if self.sets is not None and several(self.sets):
            columns[1:] = [("set", list(map(str, self.sets)))]
        least = np.zeros(len(self)) if self.smallest_pvalue is None else self.smallest_pvalue
        shown = [pvalue_in_print(p, q, 2) for p, q in zip(self.pvalue, least, strict=True)]
        columns.append(("pvalue", shown))
        if len(self._levels) > 1:
            columns.append(("level", [f"{x:.3f}" if x < 1 else "" for x in self.level]))
        if len({*self.method} - {NOTHING}) > 1:
            columns.append(("method", [used.replace(NOTHING, "") for used in self.method]))
        return columns

    @property
    def _levels(self) -> Array:
        """The attained levels of finite intervals, to three digits."""
        return np.unique(np.round(self.level[self.level < 1], 3))

    def _line(self) -> str:
        """Return the one line that every summary has."""
        attained, asked = self._levels, self.requested_level
        apart = len(attained) == 1 and abs(attained[0] - asked) >= 5e-4
        at = f" (attained: {percent(attained[0])})" if apart else ""
        held = "all at once" if self.simultaneous else "one at a time"
        return f"{percent(asked)} intervals{at}, {held}. Assumes {self.assumption}."

    def text(self, language: Language = Language.PYTHON) -> str:
        """Return what is printed, with remedies in Python or as options of the command line.

        Parameters
        ----------
        language : Language, default Language.PYTHON
            Whom the remedies are for.

        Returns
        -------
        str

        Examples
        --------
        >>> region.summary().text() == str(region.summary())
        True
        """
        lines = table([("", self.names), *self._columns()], _SHOWN)
        notes = [self._line(), *self.explanation.sentences(language)]
        return "\n".join([*lines, *(fill(note, 100, break_on_hyphens=False) for note in notes)])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f"<th>{escape(name)}</th>" for name, _ in [("", None), *columns])
        body = ""
        for i, name in enumerate(self.names):
            cells = "".join(f"<td>{escape(column[i])}</td>" for _, column in columns)
            body += f"<tr><th style='text-align:left'>{escape(name)}</th>{cells}</tr>"
        notes = [self._line(), *self.explanation.sentences(Language.PYTHON)]
        said = "".join(f"<p>{escape(note)}</p>" for note in notes)
        return f"<div><table><tr>{head}</tr>{body}</table>{said}</div>"


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """Bounds and p-values of N numbers, before they are a summary, an interval or a band."""

    # The estimate is NaN if nothing identifies the number, the attained level 1 where the interval
    # is infinite. The rank behind a p-value is one of m, and m = 0 without ranks; `cells` identify
    # the number, 0 for methods without cells.

    estimate: Array
    lower: Array
    upper: Array
    pvalue: Array
    rank: IntArray
    m: IntArray
    level: Array
    method: Array
    cells: IntArray
    status: Status = Status.ONE_BY_ONE
    why: Explanation = field(default_factory=Explanation)
    sets: tuple[IntervalUnion, ...] | None = None
    simultaneous: bool = False

    @classmethod
    def of(cls, N: int, **known: Any) -> Answer:
        """Return what is known of N numbers; the rest is as if nothing were."""
        start = (np.nan, -np.inf, np.inf, 1.0, 1, 1, 1.0, NOTHING, 0)
        found: dict[str, Any] = {}
        for one, x in zip(fields(cls), start, strict=False):
            kind = object if x is NOTHING else type(x)
            found[one.name] = np.full(N, known.pop(one.name, x), dtype=kind)
        return cls(**found, **known)

    @property
    def finite(self) -> BoolArray:
        """Whether both ends are finite, (N,)."""
        return np.asarray(np.isfinite(self.lower) & np.isfinite(self.upper))

    def summary(self, problem: Problem, g: Array, names: Sequence[str], level: float) -> Summary:
        """Return the summary of functionals (N, d) that were asked for at a level."""
        model, facts = g @ problem.estimate, self.why.facts
        with np.errstate(invalid="ignore"):
            apart = np.abs(model - self.estimate) > _VISIBLE * (self.upper - self.lower)
        divided = "; grouped by row number" if problem.rows is None else ""
        if apart.any():
            facts = (Cause.OTHER_ESTIMATE(), *facts)
        return Summary(
            names=tuple(names),
            pvalue=self.pvalue,
            model_estimate=model,
            level=self.level,
            method=tuple(self.method),
            requested_level=level,
            model=shown(problem.estimator),
            assumption=assumption_of(problem.noise) + divided,
            explanation=replace(self.why, facts=facts),
            smallest_pvalue=np.where(self.m > 1, 1 / np.maximum(self.m, 1), 0.0),
            **self._shared(),
        )

    def bounds(self, make: Callable[..., T], level: float, **assumed: Any) -> T:
        """Return an interval or a band; its level is the one that all finite bounds attain."""
        used = dict.fromkeys(one for one in self.method if one != NOTHING)
        without = dict.fromkeys(("inner_lower", "inner_upper", "witnesses"))
        return make(
            level=float(min(self.level[self.level < 1], default=level)),
            status=self.status,
            reason=self.why.text(),
            explanation=self.why,
            method=" and ".join(used) or "cells",
            attained=self.level,
            **self._shared(),
            **without,
            **assumed,
        )

    def _shared(self) -> dict[str, Any]:
        names = ("estimate", "lower", "upper", "sets", "simultaneous")
        return {name: getattr(self, name) for name in names}


@final
@dataclass(frozen=True, eq=False)
class Query:
    """Functionals (N, d) with names, a level, and how they are answered."""

    # Cells and halves are those for the level `chosen_for`; `jointly` says whether the joint region
    # of a level is bounded.

    g: Array
    names: Sequence[str]
    level: float
    options: SingleOptions
    chosen_for: float
    jointly: Callable[[float], bool]


def check_level(level: Any) -> float:
    """Return a level strictly between 0 and 1, or raise."""
    Level.at_least(level, 10**9)
    return as_double(level)


def at_each(level: Any, at: Callable[[float], T]) -> Any:
    """Return the answer at one level, or a dictionary of answers at several."""
    found = {as_double(one): at(check_level(one)) for one in as_levels(level)}
    return Levels(found) if np.ndim(level) else next(iter(found.values()))


def highest(level: Any) -> float:
    """Return the highest of one level or several: cells and halves are chosen for it."""
    return max(check_level(one) for one in as_levels(level))

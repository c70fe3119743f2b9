"""The summary of a model: estimate, interval and p-value of each coefficient."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from textwrap import fill
from typing import Any, final

import numpy as np

from unassuming._frames import as_frame
from unassuming._typing import Array
from unassuming.ranking import pvalue_in_print
from unassuming.regions._explain import Explanation, Language
from unassuming.regions._results import table
from unassuming.regions._unions import IntervalUnion, several

_SHOWN = 40
"""Rows of a summary that are printed."""


@final
@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates, intervals and p-values of the coefficients, or of other linear functionals.

    The target is the ideal coefficient, the one that reproduces the noise-free outputs. The penalty
    of a model plays no part in the interval.

    Attributes
    ----------
    names : tuple of N str
        The coefficients, or g0, g1, ... for functionals given by numbers.
    estimate : array of shape (N,)
        The estimates of the model.
    cell_estimate : array of shape (N,)
        The estimates behind the intervals, without a penalty; NaN where the rows determine none.
    lower, upper : arrays of shape (N,)
        The intervals, infinite where the data allow nothing finite at this level, and NaN where no
        value is in the region.
    pvalue : array of shape (N,)
        P-values of the hypotheses that the numbers are 0. With ``simultaneous`` they are adjusted.
    level : array of shape (N,)
        The attained levels, at least ``requested_level``.
    method : tuple of N str
        How each interval was found: "cells", "pairs", "halves", "palmrt", "t", "balanced cells" or
        "joint region".
    requested_level : float
    simultaneous : bool
        Whether all intervals hold at once.
    model : str
        The model in one line.
    assumptions : tuple of str
        What the levels rest on.
    explanation : Explanation
        How the intervals were found, why some are infinite, and remedies, as values.
    sets : tuple of N IntervalUnion, or None
        The values that are not rejected, if they need not form an interval: for the coefficient of
        an endogenous column. Then ``lower`` and ``upper`` are the ends of their hull.
    smallest_pvalue : array of shape (N,), or None
        The smallest p-value that the test of each number can give; in print such a p-value is
        marked with "<=".

    Examples
    --------
    >>> summary = region.summary(level=0.9)
    >>> summary.names, summary.method, summary.simultaneous
    (('intercept', 'x0', 'x1'), ('cells', 'cells', 'cells'), False)
    >>> bool((summary.lower < coefficients).all() and (coefficients < summary.upper).all())
    True
    >>> summary.to_frame().loc["x0", ["lower", "upper"]].astype(float).round(3).tolist()
    [0.806, 1.367]
    """

    names: tuple[str, ...]
    estimate: Array
    cell_estimate: Array
    lower: Array
    upper: Array
    pvalue: Array
    level: Array
    method: tuple[str, ...]
    requested_level: float
    simultaneous: bool
    model: str
    assumptions: tuple[str, ...]
    explanation: Explanation = field(repr=False)
    sets: tuple[IntervalUnion, ...] | None = None
    smallest_pvalue: Array | None = None

    def __post_init__(self) -> None:
        empty = self.lower > self.upper  # no value is in the region
        for name in ("lower", "upper"):
            object.__setattr__(self, name, np.where(empty, np.nan, getattr(self, name)))

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each number, indexed by name."""
        columns: dict[str, Any] = {
            **self._numbers(),
            "level": self.level,
            "method": list(self.method),
        }
        if self.sets is not None:
            columns["set"] = list(map(str, self.sets))
        return as_frame(columns, index=list(self.names))

    def _numbers(self) -> dict[str, Array]:
        return {
            "estimate": self.estimate,
            "cell_estimate": self.cell_estimate,
            "lower": self.lower,
            "upper": self.upper,
            "pvalue": self.pvalue,
        }

    def _columns(self) -> list[tuple[str, list[str]]]:
        """Return the columns that are printed; attained level and method only if they vary."""
        shown = [(name, [f"{x:.6g}" for x in column]) for name, column in self._numbers().items()]
        least = np.zeros(len(self)) if self.smallest_pvalue is None else self.smallest_pvalue
        printed = [pvalue_in_print(p, q, 4) for p, q in zip(self.pvalue, least, strict=True)]
        shown[-1] = ("pvalue", printed)
        if self.sets is not None and several(self.sets):
            shown[2:4] = [("set", list(map(str, self.sets)))]
        if len(set(self.level.tolist())) > 1:
            shown.append(("attained", [f"{x:.4g}" for x in self.level]))
        if len(set(self.method)) > 1:
            shown.append(("method", list(self.method)))
        return shown

    def _heading(self) -> str:
        used = np.isfinite(self.upper) if self.sets is None else self.level < 1
        attained = np.unique(self.level[used])
        text = f"Summary of {self.model} at level {self.requested_level:.12g}"
        if len(attained) == 1 and abs(float(attained[0]) - self.requested_level) > 1e-9:
            text += f" (attained: {attained[0]:.6g})"
        return text

    def _notes(self, language: Language = Language.PYTHON) -> list[str]:
        assumed = "; ".join(self.assumptions)
        return [f"Assumed: {assumed}.", *self.explanation.sentences(language)]

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
        notes = [fill(note, 100, break_on_hyphens=False) for note in self._notes(language)]
        heading = fill(self._heading(), 100, subsequent_indent="  ", break_on_hyphens=False)
        return "\n".join([heading, *lines, *notes])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f"<th>{escape(name)}</th>" for name, _ in [("", None), *columns])
        body = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            + "".join(f"<td>{escape(column[i])}</td>" for _, column in columns)
            + "</tr>"
            for i, name in enumerate(self.names)
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        title = f"<b>{escape(self._heading())}</b>"
        return f"<div>{title}<table><tr>{head}</tr>{body}</table>{notes}</div>"

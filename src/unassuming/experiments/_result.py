"""The result of a randomisation test: p-value, estimate and interval of a constant effect."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from textwrap import fill
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from unassuming._frames import as_frame
from unassuming._typing import Array
from unassuming._words import joined
from unassuming.experiments._experiment import Experiment
from unassuming.experiments._statistics import EffectLines
from unassuming.inputs import as_finite
from unassuming.ranking import Level


class EffectStatus(Enum):
    """What kind of interval was found; the value is the sentence a person reads.

    Examples
    --------
    >>> print(EffectStatus.EXACT.value)
    the interval is finite
    """

    EXACT = "the interval is finite"
    UNBOUNDED = "too few of the assignments differ from the one that was made to bound the effect"
    TOO_FEW = "the design has too few assignments for this level"
    EMPTY = "no effect at all is in the set of this level, which happens by chance with ties"


@final
@dataclass(frozen=True)
class EffectInterval:
    """The effects that the test does not reject, an interval around the estimate.

    Attributes
    ----------
    level : float
        The level that was attained, at least the one that was asked for.
    lower, upper : float
        Its ends, rounded outward; ``lower > upper`` if it is empty.
    status : EffectStatus

    Examples
    --------
    >>> interval = EffectInterval(0.9, 1.0, 2.5, EffectStatus.EXACT)
    >>> print(interval)
    [1, 2.5] at level 0.9
    """

    level: float
    lower: float
    upper: float
    status: EffectStatus

    def __str__(self) -> str:
        ends = f"[{self.lower:.6g}, {self.upper:.6g}] at level {self.level:.6g}"
        if self.status is EffectStatus.EXACT:
            return ends
        shown = {EffectStatus.EMPTY: "empty", EffectStatus.TOO_FEW: "[-inf, inf]"}
        return f"{shown.get(self.status, ends)}: {self.status.value}"


@final
@dataclass(frozen=True, eq=False)
class AssignmentTest:
    """Test and interval of a constant effect in a randomised experiment.

    The result of `unassuming.assignment_test`.

    Attributes
    ----------
    effect : float
        The effect of the hypothesis.
    rank : int
        Position of the statistic of the assignment that was made among all m, from 1 to m.
    m : int
        Number of assignments that are compared, the one that was made included.
    pvalue : float
        (m - rank + 1) / m; never zero.
    estimate : float
        The least squares estimate of the effect, with strata and controls.
    interval : EffectInterval
    assignments : int
        Number of possible assignments.
    enumerated : bool
        Whether all of them were compared, mirror images apart; otherwise m - 1 were drawn.
    statistics : array of shape (m,)
        Z_0, ..., Z_{m-1} at the effect of the hypothesis.
    seed : int
    experiment : object
        The data, checked.
    lines : object
        The statistics as functions of the effect.

    Examples
    --------
    >>> y, treatment = [3.1, 5.2, 2.9, 6.3, 3.5, 5.9, 2.2, 5.1], [0, 1, 0, 1, 0, 1, 0, 1]
    >>> result = ua.assignment_test(y, treatment, level=0.9)
    >>> result.pvalue, result.m, round(result.estimate, 3)
    (0.02857142857142857, 35, 2.7)
    """

    effect: float
    rank: int
    m: int
    pvalue: float
    estimate: float
    interval: EffectInterval
    assignments: int
    enumerated: bool
    statistics: Array = field(repr=False)
    seed: int
    experiment: Experiment = field(repr=False)
    lines: EffectLines = field(repr=False)

    def pvalues(self, effects: ArrayLike) -> Array:
        """Return the p-values of several hypotheses about the effect.

        Parameters
        ----------
        effects : array of shape (N,)

        Returns
        -------
        array of shape (N,)

        Examples
        --------
        >>> y, treatment = [3.1, 5.2, 2.9, 6.3, 3.5, 5.9], [0, 1, 0, 1, 0, 1]
        >>> ua.assignment_test(y, treatment, level=0.9).pvalues([0.0, 2.6])
        array([0.1, 1. ])
        """
        tested = np.atleast_1d(as_finite(effects, "effects", "Pass finite numbers."))
        if tested.ndim != 1:
            raise ValueError(
                f"effects is not a vector: expected one number for each hypothesis, given shape "
                f"{tested.shape}. Pass a list of numbers."
            )
        return np.asarray((self.m - self.lines.ranks(tested) + 1) / self.m)

    def interval_at(self, level: float) -> EffectInterval:
        """Return the interval of another level.

        Parameters
        ----------
        level : float
            Between 0 and 1. If all assignments were compared it is rounded up to a multiple of 1/m;
            otherwise it has to be one.

        Returns
        -------
        EffectInterval

        Examples
        --------
        >>> y, treatment = [3.1, 5.2, 2.9, 6.3, 3.5, 5.9], [0, 1, 0, 1, 0, 1]
        >>> result = ua.assignment_test(y, treatment, level=0.9)
        >>> result.interval_at(0.5).upper < result.interval.upper
        True
        """
        return interval_of(self.lines, level, enumerated=self.enumerated)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row.

        Examples
        --------
        >>> y, treatment = [3.1, 5.2, 2.9, 6.3, 3.5, 5.9], [0, 1, 0, 1, 0, 1]
        >>> list(ua.assignment_test(y, treatment, level=0.9).to_frame())
        ['estimate', 'lower', 'upper', 'level', 'effect', 'pvalue']
        """
        found = self.interval
        row = {
            "estimate": self.estimate,
            "lower": found.lower,
            "upper": found.upper,
            "level": found.level,
            "effect": self.effect,
            "pvalue": self.pvalue,
        }
        return as_frame([row], index=["treatment"])

    def __str__(self) -> str:
        e, found = self.experiment, self.interval
        without, treated = e.names
        units = "clusters" if e.clustered else "rows"
        count = f"{int(e.treated.sum())} of {len(e.treated)} {units} treated"
        where = f" in {e.strata} strata" if e.stratified else ""
        lines = [
            f"Constant effect of treatment {treated} against {without}: n = {len(e.y)} rows, "
            f"{count}{where}.",
            f"  estimate  {self.estimate:.6g} (least squares{self._adjusted})",
            f"  interval  {found}",
            f"  p-value   {self.pvalue:.6g} of effect {self.effect:g} (rank {self.rank} of "
            f"{self.m})",
        ]
        if found.status is EffectStatus.TOO_FEW:
            lines.append(
                f"The highest level that {self.m} statistics allow is {1 - 1 / self.m:.6g}."
            )
        lines += [fill(f"Compared: {self._compared}", 100), fill(f"Assumed: {self._assumed}", 100)]
        return "\n".join(lines)

    @property
    def _adjusted(self) -> str:
        e = self.experiment
        parts = ["strata"] * e.stratified
        if e.controls.shape[1]:
            count = e.controls.shape[1]
            parts.append(f"{count} control{'s' * (count > 1)}")
        return f" with {joined(parts)}" if parts else ""

    @property
    def _compared(self) -> str:
        if not self.enumerated:
            return (
                f"the assignment that was made with {self.m - 1} of the {_large(self.assignments)} "
                f"possible ones, drawn at random with seed {self.seed}."
            )
        if self.m < self.assignments:
            return (
                f"all {self.assignments} possible assignments, which are {self.m} pairs of mirror "
                "images: exchanging treated and untreated as a whole changes no statistic."
            )
        return f"all {self.assignments} possible assignments."

    @property
    def _assumed(self) -> str:
        e = self.experiment
        units = "clusters" if e.clustered else "rows"
        within = " in each stratum" if e.stratified else ""
        fixed = " controls," * bool(e.controls.shape[1]) + " strata," * e.stratified
        return (
            f"every choice of this many treated {units}{within} was equally likely; the treatment "
            "adds the same number to every outcome, and does not change outcomes of other rows;"
            f"{fixed} hypothesis and seed do not depend on the assignment. Nothing is assumed "
            "about the outcomes."
        )


def interval_of(lines: EffectLines, level: float, *, enumerated: bool) -> EffectInterval:
    """Return the effects that lie in at least q of the intervals {Z_0 <= Z_i}."""
    try:
        chosen = Level.at_least(level, lines.m)
    except ValueError:
        if not enumerated or not 0 < level < 1 or level <= 1 - 1 / lines.m:
            raise
        # The whole line contains the effect with certainty.
        return EffectInterval(1.0, -np.inf, np.inf, EffectStatus.TOO_FEW)
    low, high = lines.ends()
    # All that are not empty contain the estimate, so counting them is ordering their ends.
    lower = float(np.partition(low, chosen.q - 1)[chosen.q - 1])
    upper = float(-np.partition(-high, chosen.q - 1)[chosen.q - 1])
    status = EffectStatus.EXACT
    if lower > upper:
        status = EffectStatus.EMPTY
    elif np.isinf(lower) or np.isinf(upper):
        status = EffectStatus.UNBOUNDED
    return EffectInterval(float(chosen), lower, upper, status)


def _large(count: int) -> str:
    return f"{count:,}" if count < 10**15 else f"10^{len(str(count)) - 1}"

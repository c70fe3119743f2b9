"""Test a constant effect by the assignments that could have been made.

With M the projection that removes strata and controls, and u_i = Mt_i/‖Mt_i‖ for assignment t_i,

    Z_i(τ) = |u_iᵀ(y - τ t_0)| = |α_i - τ β_i|,      |β_i| <= β_0 = ‖Mt_0‖.

It increases with the t statistic of t_i in least squares of y - τ t_0 on strata, controls and t_i,
and vanishes for t_0 at the least squares estimate α_0/β_0. So {Z_0 <= Z_i} is an interval around
the estimate, from (α_0 - α_i)/(β_0 - β_i) to (α_0 + α_i)/(β_0 + β_i), in some order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from numbers import Real
from textwrap import fill
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike

from unassuming._frames import as_frame
from unassuming._numerics import EPS, SEEN, factor
from unassuming._typing import Array, BoolArray, IntArray
from unassuming._words import joined
from unassuming.experiments.design import Experiment
from unassuming.inputs import as_finite, as_seed, streams
from unassuming.ranking import Level, Order, check_m, check_ties, precedes

_MOST, _DRAWN = 4096, 1000
"""So many assignments are listed; beyond that, so many statistics are computed by default."""

# --- statistics -------------------------------------------------------------------------------


def _projection(experiment: Experiment) -> Callable[[Array], Array]:
    """Return M for vectors (..., n): residuals on indicators of strata and on controls."""
    stratum = experiment.stratum[experiment.unit]
    one, others = np.ones(len(stratum)), stratum[:, None] == np.arange(1, stratum.max() + 1)
    columns = np.column_stack([one, others, experiment.controls])
    Q = factor(columns, one, intercept=True).Q

    def project(v: Array) -> Array:
        v = v - v.mean(axis=-1, keepdims=True)
        for _ in range(2):
            v = v - (v @ Q) @ Q.T
        return v

    return project


@final
@dataclass(frozen=True, eq=False)
class EffectLines:
    """Z_i(τ) = |α_i - τ β_i| of m assignments, the one that was made first.

    {Z_0 <= Z_i} are the effects from ``low`` to ``high`` (m - 1,). ``same`` (m - 1,) says which
    assignments equal the one that was made up to M, or its mirror image: these tie everywhere.
    Two statistics tie if they differ by at most ``blur[0]`` + |τ| ``blur[1]``.
    """

    alpha: Array
    beta: Array
    low: Array
    high: Array
    same: BoolArray
    blur: tuple[float, float]
    tie_order: IntArray

    @classmethod
    def of(cls, data: Experiment, others: Iterable[BoolArray], tie_order: IntArray) -> Self:
        """Compute the statistics of the assignment that was made and of batches of others."""
        project, t0 = _projection(data), data.rows(data.treated[None])[0]
        y, moved = project(data.y), project(t0)
        beta0 = float(np.linalg.norm(moved))
        if beta0 <= SEEN * np.linalg.norm(t0):
            raise ValueError(
                "treatment is a linear combination of the controls and strata: expected controls "
                f"that do not determine it, given {data.controls.shape[1]}. Drop those that do."
            )
        u0 = moved / beta0
        alpha, beta, ends, same = [np.array([u0 @ y])], [np.array([beta0])], [], []
        for batch in others:
            u = project(data.rows(batch))
            size = np.linalg.norm(u, axis=1)
            # An assignment that the controls determine says nothing: its statistic is zero.
            u /= np.where(size > SEEN * beta0, size, np.inf)[:, None]
            apart = u0 - np.array([-1.0, 1.0])[:, None, None] * u
            near = np.linalg.norm(apart, axis=2) <= SEEN
            slope = np.where(near, 1.0, apart @ moved)
            ends.append(np.where(near, alpha[0] / beta0, apart @ y / slope))
            same.append(near.any(axis=0))
            alpha.append(u @ y)
            beta.append(u @ moved)
        both, ties = np.concatenate(ends, axis=1), np.concatenate(same)
        endless = np.where(tie_order[0] < tie_order[1:], np.inf, -np.inf)
        low = np.where(ties, -endless, both.min(axis=0))
        high = np.where(ties, endless, both.max(axis=0))
        steps = 16 * EPS * (len(y) + data.controls.shape[1])
        rounding = steps * np.linalg.norm(y) + 4 * EPS * np.linalg.norm(data.y)
        blur = (float(rounding), steps * beta0)
        lines = np.concatenate(alpha), np.concatenate(beta)
        return cls(*lines, low, high, ties, blur, tie_order)

    @property
    def estimate(self) -> float:
        """Where Z_0 vanishes: the least squares estimate of the effect."""
        return float(self.alpha[0] / self.beta[0])

    def statistics(self, effects: Array) -> Array:
        """Return Z_0, ..., Z_{m-1} at effects (N,), shape (N, m)."""
        return np.abs(self.alpha - effects[:, None] * self.beta)

    def ranks(self, effects: Array) -> IntArray:
        """Return the ranks of Z_0 at effects (N,)."""
        Z = self.statistics(effects)
        blur = self.blur[0] + np.abs(effects)[:, None] * self.blur[1]
        tolerance = np.where(self.same, np.inf, blur)
        before = precedes(Z[:, 1:] - Z[:, :1], tolerance, self.tie_order)
        return np.asarray(1 + before.sum(axis=1, dtype=np.intp))

    def interval(self, level: float, *, enumerated: bool) -> EffectInterval:
        """Return the effects that lie in at least q of the intervals {Z_0 <= Z_i}."""
        m = len(self.alpha)
        if enumerated and 1 - (1 - 1e-9) / m < level < 1:  # the whole line has any level
            return EffectInterval(1.0, -np.inf, np.inf, EffectStatus.TOO_FEW)
        chosen, estimate = Level.at_least(level, m), self.estimate
        # All that are not empty contain the estimate, so counting them is ordering their ends.
        lower = float(np.partition(self.low, chosen.q - 1)[chosen.q - 1])
        upper = float(-np.partition(-self.high, chosen.q - 1)[chosen.q - 1])
        if lower > upper:
            return EffectInterval(float(chosen), lower, upper, EffectStatus.EMPTY)
        rounding = (self.blur[0] + abs(estimate) * self.blur[1]) / float(self.beta[0])
        lower -= rounding + 1e-9 * (estimate - lower)
        upper += rounding + 1e-9 * (upper - estimate)
        finite = np.isfinite(lower) and np.isfinite(upper)
        status = EffectStatus.EXACT if finite else EffectStatus.UNBOUNDED
        return EffectInterval(float(chosen), lower, upper, status)


# --- results ----------------------------------------------------------------------------------


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
        Its ends; ``lower > upper`` if it is empty.
    status : EffectStatus

    Examples
    --------
    >>> print(EffectInterval(0.9, 1.0, 2.5, EffectStatus.EXACT))
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
    rank, m : int
        Position of the statistic of the assignment that was made among all m, from 1 to m.
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
    experiment, lines : object
        The data, checked, and the statistics as functions of the effect.

    Examples
    --------
    >>> y, treatment = [3.1, 5.2, 2.9, 6.3, 3.5, 5.9], [0, 1, 0, 1, 0, 1]
    >>> result = ua.assignment_test(y, treatment, level=0.9)
    >>> result.pvalue, result.m, round(result.estimate, 3)
    (0.1, 10, 2.633)
    >>> result.pvalues([0.0, 2.6]), result.interval_at(0.5).upper < result.interval.upper
    (array([0.1, 1. ]), True)
    >>> list(result.to_frame())
    ['estimate', 'lower', 'upper', 'level', 'effect', 'pvalue']
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
        """Return the p-values of hypotheses about the effect, for ``effects`` (N,)."""
        tested = np.atleast_1d(as_finite(effects, "effects", "Pass finite numbers."))
        if tested.ndim != 1:
            raise ValueError(
                "effects is not a vector: expected one number for each hypothesis, given shape "
                f"{tested.shape}. Pass a list of numbers."
            )
        return np.asarray((self.m - self.lines.ranks(tested) + 1) / self.m)

    def interval_at(self, level: float) -> EffectInterval:
        """Return the interval of another ``level``, rounded up to a multiple of 1/m."""
        return self.lines.interval(level, enumerated=self.enumerated)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row."""
        found = self.interval
        row = {"estimate": self.estimate, "lower": found.lower, "upper": found.upper}
        row |= {"level": found.level, "effect": self.effect, "pvalue": self.pvalue}
        return as_frame([row], index=["treatment"])

    def __str__(self) -> str:
        e, found, total = self.experiment, self.interval, self.experiment.controls.shape[1]
        units = "clusters" if e.clustered else "rows"
        where = " in each stratum" if e.stratified else ""
        controls = [f"{total} control{'s' * (total > 1)}"] if total else []
        adjusted = joined(["strata"] * e.stratified + controls)
        given = joined(["controls"] * bool(total) + ["strata"] * e.stratified + ["hypothesis"])
        compared = f"with all {self.assignments:,} possible ones"
        if not self.enumerated:
            compared = (
                f"with {self.m - 1} of {self.assignments:.4g} possible ones, drawn at random with "
                f"seed {self.seed}"
            )
        elif self.m < self.assignments:
            compared += f", {self.m} pairs of mirror images with the same statistic"
        lines = [
            f"Constant effect of treatment {e.names[1]} against {e.names[0]}: n = {len(e.y)} rows, "
            f"{int(e.treated.sum())} of {len(e.treated)} {units} treated"
            f"{f' in {len(e.parts)} strata' * e.stratified}.",
            f"  estimate  {self.estimate:.6g} (least squares{' with ' * bool(adjusted)}{adjusted})",
            f"  interval  {found}",
            f"  p-value   {self.pvalue:.6g} of effect {self.effect:g} (rank {self.rank} of "
            f"{self.m})",
        ]
        if found.status is EffectStatus.TOO_FEW:
            highest = 1 - 1 / self.m
            lines.append(f"The highest level that {self.m} statistics allow is {highest:.6g}.")
        assumed = (
            f"Compares the assignment that was made {compared}. Assumes that every choice of this "
            f"many treated {units}{where} was equally likely, that the treatment adds the same "
            "number to every outcome and does not change outcomes of other rows, and that "
            f"{given} and seed do not depend on the assignment."
        )
        return "\n".join([*lines, fill(assumed, 100)])


# --- the test ---------------------------------------------------------------------------------


def assignment_test(
    y: Any,
    treatment: Any,
    *,
    strata: Any = None,
    clusters: Any = None,
    controls: Any = None,
    effect: float = 0.0,
    level: float = 0.95,
    treated: Any = None,
    m: int | str | None = None,
    ties: str = "random",
    random_state: Any = 0,
) -> AssignmentTest:
    """Test a constant effect of a randomised treatment, and bound it by an exact interval.

    The assignment of the treatment is random, and the outcomes are fixed. If the treatment adds the
    same number to every outcome, the p-value of this number is uniform on 1/m, ..., 1: for every
    number of rows and whatever the outcomes are (docs/theory.md 20). The interval contains the
    number with probability exactly the level, or higher if different assignments have equal
    statistics at it, as happens with outcomes that are 0 or 1. The statistic of an assignment
    increases with its t statistic in least squares with strata and controls.

    Parameters
    ----------
    y : array of shape (n,)
        Outcomes.
    treatment : array of shape (n,)
        Who was treated: two values, the larger one for the treatment (see `treated`).
    strata : array of shape (n,), optional
        The label of the stratum of each row, if the treatment was drawn within strata.
    clusters : array of shape (n,), optional
        The label of the cluster of each row, if whole clusters were treated.
    controls : array or DataFrame of shape (n, p), optional
        Numbers that do not depend on the treatment. They make the interval narrower if they explain
        the outcomes, and the test is exact whether they do or not.
    effect : float, default 0
        The effect of the hypothesis whose p-value is computed.
    level : float, default 0.95
        The level of the interval, rounded up to a multiple of 1/m.
    treated : object, optional
        The value of `treatment` that means treated.
    m : int or "all", optional
        Number of statistics. By default all assignments are compared if there are at most 4,096
        (``"all"``); otherwise m = 1000, and m - 1 of them are drawn.
    ties : {"random", "conservative"}, default "random"
        How equal statistics are ordered: at random (p-values are exact), or in favour of the
        hypothesis (nothing random; p-values at least as large).
    random_state : int, Generator, RandomState or None, default 0
        Source of the drawn assignments and of the tie order.

    Returns
    -------
    AssignmentTest

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> treatment = rng.permutation(np.repeat([0, 1], 20))
    >>> y = 2.0 * treatment + rng.lognormal(size=40)
    >>> result = ua.assignment_test(y, treatment, random_state=0)
    >>> bool(result.interval.lower < 2 < result.interval.upper), result.pvalue
    (True, 0.001)

    Whole classes were treated, within schools:

    >>> school, classes = np.repeat(["a", "b"], 20), np.repeat(np.arange(8), 5)
    >>> treatment = np.repeat([0, 1, 1, 0, 1, 0, 0, 1], 5)
    >>> result = ua.assignment_test(y, treatment, strata=school, clusters=classes, level=0.9)
    >>> result.assignments, result.m
    (36, 18)
    """
    experiment = Experiment.of(y, treatment, treated, strata, clusters, controls)
    if isinstance(effect, bool) or not isinstance(effect, Real) or not np.isfinite(effect):
        raise ValueError(
            f"effect is not a number: expected one finite number, given {effect!r}. Pass e.g. "
            "effect=0.0, and several to pvalues."
        )
    ties, seed, order = check_ties(ties), as_seed(random_state), experiment.order
    if m == "all" and order > _MOST:
        raise ValueError(
            f"m is too large: expected at most {_MOST} assignments for 'all', given {order:,}. "
            "Pass an integer, e.g. m=1000."
        )
    listed = m == "all" or (m is None and order <= _MOST)
    size = order if listed else _DRAWN if m is None else check_m(m)
    draws, tie_stream, _ = streams(seed)
    tie_order = Order.draw(size, ties, tie_stream).pi
    others = experiment.listed() if listed else experiment.drawn(size - 1, draws)
    lines, tested = EffectLines.of(experiment, others, tie_order), np.array([float(effect)])
    rank = int(lines.ranks(tested)[0])
    return AssignmentTest(
        effect=float(effect),
        rank=rank,
        m=size,
        pvalue=(size - rank + 1) / size,
        estimate=lines.estimate,
        interval=lines.interval(level, enumerated=listed),
        assignments=experiment.count,
        enumerated=listed,
        statistics=lines.statistics(tested)[0],
        seed=seed,
        experiment=experiment,
        lines=lines,
    )

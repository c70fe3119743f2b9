"""Test a constant effect by the assignments that could have been made."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from unassuming.experiments._assignments import MOST, Design
from unassuming.experiments._experiment import Experiment
from unassuming.experiments._result import AssignmentTest, interval_of
from unassuming.experiments._statistics import EffectLines
from unassuming.inputs import as_seed, streams
from unassuming.ranking import check_m, check_ties, draw_tie_order

_DRAWN = 1000
"""Number of statistics by default, if there are too many assignments to list."""


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
    number of rows and whatever the outcomes are (docs/theory.md 14). The interval contains the
    number with probability exactly the level, or higher if different assignments have equal
    statistics at it, as happens with outcomes that are 0 or 1. The statistic of an assignment
    increases with its t statistic in least squares with strata and controls, so that the interval
    has a closed form.

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
        Numbers that were known before the treatment, or do not depend on it. They make the interval
        narrower if they explain the outcomes, and the test is exact whether they do or not.
    effect : float, default 0
        The effect of the hypothesis whose p-value is computed.
    level : float, default 0.95
        The level of the interval. It is rounded up to a multiple of 1/m if all assignments are
        compared.
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
    >>> import unassuming as ua
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
            "effect=0.0, and pvalues(effects) for several."
        )
    ties, seed = check_ties(ties), as_seed(random_state)
    design = Design(experiment.treated, experiment.stratum)
    if design.order < 2:
        raise ValueError(
            "there are too few assignments to compare: expected at least two that differ, given "
            f"{design.count} possible ones. More rows or clusters are needed in a stratum."
        )
    listed = _lists_all(m, design.order)
    size = design.order if listed else _DRAWN if m is None else check_m(m)
    draws, tie_stream, _ = streams(seed)
    tie_order = draw_tie_order(size, ties, tie_stream)
    others = _batches(design) if listed else design.drawn(size - 1, draws)
    lines = EffectLines.of(experiment, design, others, tie_order)
    tested = np.array([float(effect)])
    rank = int(lines.ranks(tested)[0])
    return AssignmentTest(
        effect=float(effect),
        rank=rank,
        m=size,
        pvalue=(size - rank + 1) / size,
        estimate=lines.estimate,
        interval=interval_of(lines, level, enumerated=listed),
        assignments=design.count,
        enumerated=listed,
        statistics=lines.statistics(tested)[0],
        seed=seed,
        experiment=experiment,
        lines=lines,
    )


def _lists_all(m: int | str | None, order: int) -> bool:
    """Whether all assignments are compared."""
    if m is None:
        return order <= MOST
    if not isinstance(m, str) or m != "all":
        return False
    if order > MOST:
        raise ValueError(
            f"there are too many assignments to compare all of them: m='all' takes at most "
            f"{MOST}, given {order:,}. Pass an integer m instead."
        )
    return True


def _batches(design: Design) -> Any:
    every = design.listed()
    return (every[start : start + 256] for start in range(0, len(every), 256))

"""Measure coverage on data of your own making, beside other methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from unassuming._errors import NotAvailable
from unassuming._progress import progress
from unassuming._typing import Array
from unassuming.inputs import as_seed, check_options, is_label_model, split_pipeline
from unassuming.noise import LARGEST_GROUP, Noise
from unassuming.objectives import Factory, factory_for, register_objective
from unassuming.ranking import Level
from unassuming.regions import Region, confidence_region
from unassuming.testing._methods import (
    BAND,
    BOOTSTRAP,
    CLAIMS,
    LEAST_SQUARES,
    PROCESS,
    REGION,
    bootstrap,
    process,
    region_band,
    t_bounds,
)
from unassuming.testing._results import Coverage, MethodCoverage

_SPAN_SLACK = 1e-6  # of the largest value

MakeData = Callable[[np.random.Generator], tuple[Any, Any, Callable[[Any], Any]]]


def coverage(
    make_data: MakeData,
    estimator: Any,
    noise: str | Noise | None = None,
    level: float = 0.9,
    repetitions: int = 200,
    n_jobs: int | None = None,
    *,
    m: int | str = 100,
    norm_bound: float | None = None,
    compare: bool = True,
    resamples: int = 99,
    confidence: float = 0.95,
    random_state: Any = None,
) -> Coverage:
    """Measure how often regions cover the truth, on data that you generate.

    Every repetition draws data, builds a region and asks whether it contains the truth. The region
    is exact, so the coverage is the level itself, up to the binomial error that the interval
    shows, if the noise is as assumed. The truth is tested as a function, with its own residuals:
    that is exact even if the model cannot represent it, so the first row does not tell whether it
    can. The row of the band does, and it is counted in how many runs the truth was outside the
    span of the model.

    For regressors other methods are shown beside it, each with the level claimed at single inputs,
    as is their custom, and with what it assumes in words. They are to be compared by the column of
    what they claim: scikit-learn's Gaussian process (a constant times an RBF kernel plus white
    noise, fitted by maximum likelihood; the bounds are for the function, without the noise), least
    squares with Student's t (on the features of the model, or on the inputs for a kernel), and a
    residual bootstrap of the estimator. All are judged at the inputs of the data.

    Parameters
    ----------
    make_data : callable
        ``make_data(rng) -> X, y, f``; f is the truth, a function of X. Everything random comes
        from the Generator ``rng``.
    estimator : scikit-learn estimator
        As for `unassuming.confidence_region`.
    noise : str or Noise, optional
    level : float, default 0.9
    repetitions : int, default 200
    n_jobs : int, optional
        Processes, as in scikit-learn. What is drawn does not depend on it; counts can differ where
        a statistic is within rounding of another, since workers may sum with fewer threads.
    m : int or "group", default 100
    norm_bound : float, optional
        For the band of the region.
    compare : bool, default True
        Whether to show bands at all; without them it is faster.
    resamples : int, default 99
        Of the bootstrap.
    confidence : float, default 0.95
        Of the intervals of the coverage.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    Coverage

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> def make_data(rng):
    ...     X = rng.normal(size=(20, 1))
    ...     return X, 1 + X[:, 0] + rng.standard_cauchy(20), lambda X: 1 + X[:, 0]
    >>> measured = ua.testing.coverage(
    ...     make_data, LinearRegression(), repetitions=100, compare=False, random_state=0
    ... )
    >>> measured.region.low <= 0.9 <= measured.region.high
    True
    """
    _, model = split_pipeline(estimator)
    registered = type(model), factory_for(model)
    assumption = check_options(model, noise=noise, m=m)
    _check_numbers(make_data, repetitions, level, m, norm_bound, resamples, confidence)
    seed = as_seed(random_state)
    children = np.random.SeedSequence(seed).spawn(int(repetitions))
    options = {"noise": noise, "m": m}
    compare = compare and not is_label_model(model)
    run = delayed(_repetition)
    tasks = (
        run(registered, make_data, estimator, options, level, norm_bound, compare, resamples, child)
        for child in children
    )
    work = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    levels, outside, outcomes = zip(*_told(work, int(repetitions)), strict=True)
    assumed = {
        "noise": assumption.assumption,
        "span": "the truth lies in the span of the model"
        if norm_bound is None
        else f"the truth lies in the span of the model, with a norm of {norm_bound:g} at most",
    }
    return Coverage(
        level=float(np.mean(levels)),
        levels=(min(levels), max(levels)),
        repetitions=int(repetitions),
        confidence=confidence,
        seed=seed,
        outside=None if None in outside else sum(outside),
        methods=tuple(
            _summary(method, [found[method] for found in outcomes], confidence, assumed)
            for method in outcomes[0]
        ),
    )


def _check_numbers(
    make_data: Any,
    repetitions: Any,
    level: Any,
    m: Any,
    norm_bound: Any,
    resamples: Any,
    confidence: Any,
) -> None:
    """Refuse at once what would fail after the first repetitions, or the last."""
    whole = (int, np.integer)
    if not isinstance(m, str):
        Level.exactly(level, m)
    else:
        Level.at_least(level, LARGEST_GROUP)
    bound = norm_bound is None or (isinstance(norm_bound, (int, float)) and 0 < norm_bound < np.inf)
    share = isinstance(confidence, (int, float)) and 0 < confidence < 1
    checks = [
        ("make_data", callable(make_data), "a function of a Generator", make_data, "Pass one."),
        *(
            (name, isinstance(count, whole) and count >= 1, "an integer >= 1", count, remedy)
            for name, count, remedy in (
                ("repetitions", repetitions, "Take a few hundred."),
                ("resamples", resamples, "Take 99 or more, or compare=False."),
            )
        ),
        ("norm_bound", bound, "a positive number, or None", norm_bound, "Leave it out for none."),
        ("confidence", share, "a number strictly between 0 and 1", confidence, "Take 0.95."),
    ]
    for name, good, expected, given, remedy in checks:
        if not good:
            raise ValueError(
                f"{name} is out of range: expected {expected}, given {given!r}. {remedy}"
            )


Outcome = tuple[bool, float, float] | None
"""Covered everywhere, share of inputs covered, median width; None if not available."""

Repetition = tuple[float, bool | None, dict[str, Outcome]]
"""The level used, whether the truth is outside the span, and the outcome of each method."""


def _told(work: Iterator[Any], total: int) -> Iterator[Any]:
    slices = (slice(j, j + 1) for j in range(total))
    for _, item in progress(zip(slices, work, strict=True), total, "repetitions"):
        yield item


def _repetition(
    registered: tuple[type, Factory],
    make_data: MakeData,
    estimator: Any,
    options: dict[str, Any],
    level: float,
    norm_bound: float | None,
    compare: bool,
    resamples: int,
    child: np.random.SeedSequence,
) -> Repetition:
    """Draw data once and ask every method, in a process that may know no models of the user's."""
    register_objective(*registered)
    for_data, for_region, for_bootstrap = child.spawn(3)
    X, y, f = _drawn(make_data, np.random.default_rng(for_data))
    truth = np.asarray(f(X), dtype=np.float64).ravel()  # before a model can overwrite X
    seed = int(for_region.generate_state(1)[0])
    region = confidence_region(clone(estimator), X, y, random_state=seed, **options)
    used = region.level(level)
    found: dict[str, Outcome] = {REGION: (bool(region.contains(f, level)), np.nan, np.nan)}
    if compare:
        outputs = np.asarray(y, dtype=np.float64).ravel()
        rng = np.random.default_rng(for_bootstrap)
        found[BAND] = _outcome(region_band(region, X, used, norm_bound), truth)
        found[PROCESS] = _outcome(process(region, outputs, float(used), seed), truth)
        found[LEAST_SQUARES] = _outcome(t_bounds(region, outputs, float(used)), truth)
        found[BOOTSTRAP] = _outcome(
            bootstrap(clone(estimator), X, outputs, float(used), resamples, rng), truth
        )
    return float(used), _outside(region, truth), found


def _outside(region: Region, values: Array) -> bool | None:
    """Whether no coefficients give the truth at the inputs; None if that cannot be told."""
    objective = region.objective
    if objective.design is not None and objective.design.spans_everything:
        return False
    truth = values[region.problem.data("the truth needs").rows]
    try:
        nearest = objective.fitted(objective.coefficients(truth[None, :]))[0]
    except NotAvailable:
        return None
    return bool(np.abs(nearest - truth).max() > _SPAN_SLACK * max(np.abs(truth).max(), 1e-300))


def _drawn(make_data: MakeData, rng: np.random.Generator) -> tuple[Any, Any, Callable[[Any], Any]]:
    made = make_data(rng)
    if not isinstance(made, tuple) or len(made) != 3 or not callable(made[2]):
        given = f"{len(made)} values" if isinstance(made, tuple) else type(made).__name__
        if isinstance(made, tuple) and len(made) == 3:
            given = f"a third value of type {type(made[2]).__name__}"
        raise TypeError(
            "make_data returned something else: expected X, y and the truth f, a function of X, "
            f"given {given}. Return X, y, f."
        )
    return made


def _outcome(bounds: tuple[Array, Array] | None, truth: Array) -> Outcome:
    if bounds is None:
        return None
    lower, upper = bounds
    inside = (lower <= truth) & (truth <= upper)
    return bool(inside.all()), float(inside.mean()), float(np.median(upper - lower))


def _summary(
    method: str, outcomes: list[Outcome], confidence: float, assumed: dict[str, str]
) -> MethodCoverage:
    claims, assumes = CLAIMS[method][0], CLAIMS[method][1].format(**assumed)
    usable = [outcome for outcome in outcomes if outcome is not None]
    covered = sum(everywhere for everywhere, _, _ in usable)
    if not usable:
        return MethodCoverage(method, 0, 0, 0.0, 1.0, np.nan, np.nan, claims, assumes)
    interval = binomtest(covered, len(usable)).proportion_ci(confidence, method="exact")
    return MethodCoverage(
        method=method,
        covered=covered,
        runs=len(usable),
        low=float(interval.low),
        high=float(interval.high),
        pointwise=float(np.mean([share for _, share, _ in usable])),
        width=float(np.median([width for _, _, width in usable])),
        claims=claims,
        assumes=assumes,
    )

"""Measure coverage on simulated data, beside other methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from unassuming._errors import NotAvailable
from unassuming._progress import progress
from unassuming._typing import Array
from unassuming.inputs import (
    as_seed,
    check_norm_bound,
    check_options,
    is_label_model,
    split_pipeline,
)
from unassuming.noise import LARGEST_GROUP, Noise
from unassuming.objectives import Factory, factory_for, register_objective
from unassuming.ranking import Level
from unassuming.regions import Region, confidence_region
from unassuming.testing._coefficients import Bounds, LeastSquares, one_at_a_time, projected
from unassuming.testing._methods import (
    BAND,
    BOOTSTRAP,
    CELLS,
    CLAIMS,
    LEAST_SQUARES,
    PROCESS,
    PROJECTED,
    REGION,
    ROBUST,
    STUDENT,
    WILD,
    bootstrap,
    process,
    region_band,
    t_bounds,
)
from unassuming.testing._results import Coverage, MethodCoverage

_SPAN_SLACK = 1e-6  # of the largest value

MakeData = Callable[[np.random.Generator], tuple[Any, Any, Callable[[Any], Any]]]

FUNCTION, COEFFICIENTS = "function", "coefficients"

Outcome = tuple[bool, float, float, float] | None
"""Whether all inputs were covered, the share that was, median width, level; None if there is none.

With ``target="coefficients"`` coefficients take the place of inputs.
"""

Repetition = tuple[float, bool | None, dict[str, Outcome]]
"""The level used, whether the truth is outside the span, and the outcome of each method."""


def coverage(
    make_data: MakeData,
    estimator: Any,
    noise: str | Noise | None = None,
    level: float = 0.95,
    repetitions: int = 200,
    n_jobs: int | None = None,
    *,
    m: int | str = 128,
    classes: Any = None,
    norm_bound: float | None = None,
    compare: bool = True,
    target: str = FUNCTION,
    resamples: int = 99,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Coverage:
    """Measure how often regions cover the truth, on data that you generate.

    Every repetition draws data, builds a region and tests whether it contains the truth. If the
    noise is as assumed, the region is exact: the coverage is the level itself, up to the binomial
    error that the interval shows. The truth is tested as a function, with its own residuals. This
    is exact even if the model cannot represent the truth, so the first row does not show whether it
    can. The row of the band does, and ``outside`` counts the runs in which it cannot.

    For regressors, other methods are shown beside the region, each with its assumptions in words
    and with its usual claim, the level at single inputs; compare them by that claim. They are
    scikit-learn's Gaussian process (a constant times an RBF kernel plus white noise, fitted by
    maximum likelihood; the bounds are for the function, without the noise), least squares with
    Student's t (on the features of the model, or on the inputs for a kernel), and a residual
    bootstrap of the estimator. All are evaluated at the inputs of the data.

    With ``target="coefficients"`` intervals of the coefficients are compared instead: those of
    `Region.summary`, the bounds of the joint region, t intervals of least squares, the same with
    HC3 standard errors, and a studentised wild bootstrap. For clusters (`noise.BlockSymmetric`) the
    last two are CR1 standard errors and a wild cluster bootstrap.

    Parameters
    ----------
    make_data : callable
        ``make_data(rng) -> X, y, f``; f is the truth, a function of X. All randomness comes from
        the Generator ``rng``.
    estimator : scikit-learn estimator
        As for `unassuming.confidence_region`.
    noise : str or Noise, optional
    level : float, default 0.95
    repetitions : int, default 200
    n_jobs : int, optional
        Number of processes, as in scikit-learn. It does not change the draws. Counts can differ if
        a statistic is within rounding of another, since workers may sum with fewer threads.
    m : int or "all", default 128
    classes : sequence of two labels, optional
        As for `unassuming.confidence_region`.
    norm_bound : float, optional
        For the band of the region.
    compare : bool, default True
        Whether to show bands, or intervals, at all; without them it is faster.
    target : {"function", "coefficients"}, default "function"
        What the bounds are for: the values of the function at the inputs, or the coefficients that
        give these values. Coefficients need a regressor with features.
    resamples : int, default 99
        Number of refits of the bootstrap, or of draws of the wild bootstrap.
    confidence : float, default 0.95
        Level of the intervals of the coverage.
    random_state : int, Generator, RandomState or None, default 0

    Returns
    -------
    Coverage

    Examples
    --------
    >>> def make_data(rng):
    ...     return ua.datasets.sine(n=20, noise="cauchy", random_state=rng)
    >>> measured = ua.testing.coverage(
    ...     make_data, Ridge(), repetitions=100, compare=False, random_state=0
    ... )
    >>> measured.region.low <= 0.9 <= measured.region.high
    True

    Intervals of coefficients, where the scale of the noise grows with the input:

    >>> def make_data(rng):
    ...     X = rng.normal(size=(40, 1))
    ...     return X, X[:, 0] + X[:, 0] ** 2 * rng.normal(size=40), lambda X: X[:, 0]
    >>> measured = ua.testing.coverage(
    ...     make_data, LinearRegression(), target="coefficients", repetitions=30, random_state=0
    ... )
    >>> [row.method for row in measured.methods[1:]]  # doctest: +NORMALIZE_WHITESPACE
    ['region, one coefficient at a time', 'region, joint bounds', 'least squares, t intervals',
     'least squares, robust', 'wild bootstrap']
    >>> cells, _, t, *_ = measured.methods[1:]
    >>> cells.pointwise > 0.85 > t.pointwise
    True
    """
    _, model = split_pipeline(estimator)
    registered = type(model), factory_for(model)
    assumption = check_options(model, noise=noise, m=m)
    Level.at_least(level, LARGEST_GROUP if isinstance(m, str) else m)
    check_norm_bound(norm_bound)
    _check_numbers(make_data, repetitions, resamples, confidence)
    _check_target(target, model)
    seed = as_seed(random_state)
    compare = compare and not is_label_model(model)
    options = {"noise": noise, "m": m, "classes": classes}
    common = registered, make_data, estimator, options, level, norm_bound
    work = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_repetition)(*common, target if compare else "", resamples, child)
        for child in np.random.SeedSequence(seed).spawn(int(repetitions))
    )
    levels, outside, outcomes = zip(*_with_progress(work, int(repetitions)), strict=True)
    norm = "" if norm_bound is None else f", with a norm of {norm_bound:g} at most"
    assumed = {
        "noise": assumption.assumption,
        "span": f"the truth lies in the span of the model{norm}",
    }
    return Coverage(
        level=fmean(levels),  # equal levels are their own mean, to the last digit
        levels=(min(levels), max(levels)),
        repetitions=int(repetitions),
        confidence=confidence,
        seed=seed,
        outside=None if None in outside else sum(outside),
        methods=tuple(
            _summary(method, [found[method] for found in outcomes], confidence, assumed)
            for method in outcomes[0]
        ),
        target=target,
    )


def _check_numbers(make_data: Any, repetitions: Any, resamples: Any, confidence: Any) -> None:
    """Refuse now what would fail only after some repetitions."""
    if not callable(make_data):
        raise _out_of_range("make_data", "a function of a Generator", make_data, "Pass one.")
    for name, count, remedy in (
        ("repetitions", repetitions, "Pass a few hundred."),
        ("resamples", resamples, "Pass 99 or more, or compare=False."),
    ):
        if not isinstance(count, (int, np.integer)) or count < 1:
            raise _out_of_range(name, "an integer >= 1", count, remedy)
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        expected = "a number strictly between 0 and 1"
        raise _out_of_range("confidence", expected, confidence, "Pass 0.95.")


def _check_target(target: Any, model: Any) -> None:
    if not isinstance(target, str) or target not in (FUNCTION, COEFFICIENTS):
        raise ValueError(
            f"target is unknown: expected 'function' or 'coefficients', given {target!r}. Leave it "
            "out for bands of the function."
        )
    if target == COEFFICIENTS and is_label_model(model):
        raise ValueError(
            "target='coefficients' needs a regression: expected a regressor with features, given "
            f"{type(model).__name__}. Leave it out: the region of a classifier is measured by "
            "membership."
        )


def _out_of_range(name: str, expected: str, given: Any, remedy: str) -> ValueError:
    return ValueError(f"{name} is out of range: expected {expected}, given {given!r}. {remedy}")


def _with_progress(work: Iterator[Any], total: int) -> Iterator[Any]:
    slices = (slice(j, j + 1) for j in range(total))
    for _, item in progress(zip(slices, work, strict=True), total, "repetitions"):
        yield item


def _repetition(
    registered: tuple[type, Factory],
    make_data: MakeData,
    estimator: Any,
    options: dict[str, Any],
    asked: float,
    norm_bound: float | None,
    target: str,
    resamples: int,
    child: np.random.SeedSequence,
) -> Repetition:
    """Draw data once and evaluate every method."""
    register_objective(*registered)  # another process lacks the user's registrations
    for_data, for_region, for_bootstrap = child.spawn(3)
    X, y, f = _drawn(make_data, np.random.default_rng(for_data))
    truth = np.asarray(f(X), dtype=np.float64).ravel()  # before a model can overwrite X
    seed = int(for_region.generate_state(1)[0])
    region = confidence_region(clone(estimator), X, y, random_state=seed, **options)
    level = region.level(asked)
    member = bool(region.contains(f, asked)), np.nan, np.nan, float(level)
    found: dict[str, Outcome] = {REGION: member}
    rng, p = np.random.default_rng(for_bootstrap), float(level)
    if target == COEFFICIENTS:
        found |= _of_coefficients(region, _true_coefficients(region, truth), p, resamples, rng)
    elif target == FUNCTION:
        outputs = np.asarray(y, dtype=np.float64).ravel()
        found |= {
            BAND: _outcome(region_band(region, X, p, norm_bound), truth, p),
            PROCESS: _outcome(process(region, outputs, p, seed), truth, p),
            LEAST_SQUARES: _outcome(t_bounds(region, outputs, p), truth, p),
            BOOTSTRAP: _outcome(
                bootstrap(clone(estimator), X, outputs, p, resamples, rng), truth, p
            ),
        }
    return p, _outside(region, truth), found


def _of_coefficients(
    region: Region, truth: Array, level: float, draws: int, rng: np.random.Generator
) -> dict[str, Outcome]:
    """Evaluate the intervals of the coefficients."""
    fit = LeastSquares.of(region)
    found: dict[str, Bounds | None] = {
        CELLS: one_at_a_time(region, level),
        PROJECTED: projected(region, level),
        STUDENT: fit.t(level) if fit else None,
        ROBUST: fit.robust(level) if fit else None,
        WILD: fit.wild(level, draws, rng) if fit else None,
    }
    return {
        method: bounds and _outcome(bounds[:2], truth, bounds[2])
        for method, bounds in found.items()
    }


def _true_coefficients(region: Region, truth: Array) -> Array:
    """Return the coefficients whose values at the inputs are nearest to the truth."""
    rows = region.problem.data("the true coefficients need").rows
    return np.asarray(region.objective.coefficients(truth[rows][None, :])[0])


def _outside(region: Region, values: Array) -> bool | None:
    """Whether no coefficients give the truth at the inputs; None if that cannot be decided."""
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
    if not isinstance(made, tuple):
        given = type(made).__name__
    elif len(made) != 3:
        given = f"{len(made)} values"
    elif not callable(made[2]):
        given = f"a third value of type {type(made[2]).__name__}"
    else:
        return made
    raise TypeError(
        "make_data returned something else: expected X, y and the truth f, a function of X, given "
        f"{given}. Return X, y, f."
    )


def _outcome(bounds: tuple[Array, Array] | None, truth: Array, level: float) -> Outcome:
    if bounds is None:
        return None
    lower, upper = bounds
    inside = (lower <= truth) & (truth <= upper)
    return bool(inside.all()), float(inside.mean()), float(np.median(upper - lower)), level


def _summary(
    method: str, outcomes: list[Outcome], confidence: float, assumed: dict[str, str]
) -> MethodCoverage:
    claims, assumes = CLAIMS[method][0], CLAIMS[method][1].format(**assumed)
    usable = [outcome for outcome in outcomes if outcome is not None]
    covered = sum(everywhere for everywhere, *_ in usable)
    if not usable:
        return MethodCoverage(method, 0, 0, 0.0, 1.0, np.nan, np.nan, claims, assumes)
    interval = binomtest(covered, len(usable)).proportion_ci(confidence, method="exact")
    return MethodCoverage(
        method=method,
        covered=covered,
        runs=len(usable),
        low=float(interval.low),
        high=float(interval.high),
        pointwise=float(np.mean([share for _, share, *_ in usable])),
        width=float(np.median([width for _, _, width, _ in usable])),
        claims=claims,
        assumes=assumes,
        level=fmean(level for *_, level in usable),
    )

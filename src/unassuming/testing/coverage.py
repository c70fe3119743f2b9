"""Measure coverage on simulated data, beside other methods in their usual form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean
from textwrap import fill
from typing import Any, TypeAlias, final

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from unassuming._errors import NotAvailable, complaint
from unassuming._frames import as_frame
from unassuming._progress import counting
from unassuming._typing import Array
from unassuming.inputs import (
    as_inputs,
    as_seed,
    check_norm_bound,
    check_options,
    is_label_model,
    split_pipeline,
)
from unassuming.noise import LARGEST_GROUP, Noise
from unassuming.objectives import factory_for, register_objective
from unassuming.ranking import Level
from unassuming.regions import Region, confidence_region, table
from unassuming.testing.methods import Bounds, LeastSquares, gaussian_process, process_bounds

_SPAN_SLACK = 1e-6  # of the largest value

MakeData: TypeAlias = Callable[[np.random.Generator], tuple[Any, Any, Callable[[Any], Any]]]
Outcome: TypeAlias = tuple[bool, float, float, float] | None
"""Whether all numbers were covered, the share that was, median width, level; None if unknown."""

_AT_ONCE = ("region, membership of the truth", "region, outer band", "region, joint bounds")
"""Methods that claim the level at all inputs, or coefficients, at once; others at each."""
_GAUSSIAN = "independent Gaussian noise of one variance, and "
_ASSUMES = {
    "region, membership of the truth": "{0}",
    "region, outer band": "the same, and that {1}",
    "Gaussian process": _GAUSSIAN
    + "a truth drawn from the process with the kernel that maximum likelihood has chosen",
    "least squares, t bounds": _GAUSSIAN
    + "that the truth lies in the span of the features, or of the inputs for a kernel",
    "region, one coefficient at a time": "the same, and that {1}",
    "region, joint bounds": "the same, and that {1}",
    "least squares, t intervals": _GAUSSIAN + "that {1}",
    "least squares, robust": "uncorrelated noise terms, or clusters of them, of finite variance, "
    "and enough rows or clusters for an approximation (HC3 standard errors, CR1 for clusters)",
    "wild bootstrap": "the same as robust least squares (studentised, random signs of the "
    "residuals)",
}

# --- results ----------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class MethodCoverage:
    """How often one method covered the truth.

    Attributes
    ----------
    method : str
    covered, runs : int
        Number of runs in which the method covered the truth at all inputs, or all coefficients, at
        once, and of runs in which it was available.
    low, high : float
        Exact (Clopper-Pearson) confidence interval of the coverage.
    pointwise : float
        Share of the inputs, or of the coefficients, at which it covered the truth.
    width : float
        Median over runs of the median width. Both are NaN for membership.
    claims, assumes : str
        Where the method claims the level, and its assumptions, in words.
    level : float
        The level that it claims, a mean over the runs.

    Examples
    --------
    >>> MethodCoverage("region", 90, 100, 0.82, 0.95, pointwise=0.97, width=1.5).rate
    0.9
    """

    method: str
    covered: int
    runs: int
    low: float
    high: float
    pointwise: float
    width: float
    claims: str = ""
    assumes: str = ""
    level: float = float("nan")

    @property
    def rate(self) -> float:
        """Share of the runs in which the whole truth was covered."""
        return self.covered / self.runs if self.runs else float("nan")


@final
@dataclass(frozen=True, eq=False)
class Coverage:
    """Measured coverage of a region's level, and of other methods on the same data.

    Attributes
    ----------
    level, levels : float and tuple of two floats
        The mean of the levels used, and the lowest and the highest: they differ for ``m="all"`` if
        the number of rows varies.
    repetitions, confidence, seed
        As they were passed; ``random_state=seed`` gives the same numbers again.
    outside : int or None
        Number of runs in which no coefficients give the truth at the inputs; None if the objective
        cannot decide it. The band claims nothing about such a truth.
    methods : tuple of MethodCoverage
        The region itself comes first.
    target : {"function", "coefficients"}
        What the methods give bounds for.

    Examples
    --------
    >>> def make_data(rng):
    ...     return ua.datasets.sine(n=20, random_state=rng)
    >>> measured = ua.testing.coverage(make_data, Ridge(), repetitions=5, resamples=9)
    >>> print(measured)
    Coverage of the truth at level 0.953125, 5 repetitions, with exact 0.95 intervals:
      method ...
    >>> measured.region.runs, len(measured.to_frame())
    (5, 4)
    """

    level: float
    levels: tuple[float, float]
    repetitions: int
    confidence: float
    seed: int
    outside: int | None
    methods: tuple[MethodCoverage, ...] = field(repr=False)
    target: str = "function"

    @property
    def region(self) -> MethodCoverage:
        """The coverage of the region itself, by membership of the truth."""
        return self.methods[0]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each method."""
        named = {"rate": "simultaneous", "width": "median width"}
        numbers = ("rate", "low", "high", "pointwise", "width", "level", "runs")
        shown = ("method", *numbers, "claims", "assumes")
        rows = [{named.get(k, k): getattr(row, k) for k in shown} for row in self.methods]
        return as_frame(rows)

    def __str__(self) -> str:
        low, high = self.levels
        level = f"level {self.level:.12g}"
        if low < high:
            level = f"levels from {low:.4g} to {high:.4g}, {self.level:.4g} on average"
        rows, what = self.methods, "coef" if self.target == "coefficients" else "input"
        columns: list[tuple[str, list[str]]] = [
            ("method", [row.method for row in rows]),
            (f"all {what}s", [f"{row.rate:.3f}" for row in rows]),
            ("interval", [f"[{row.low:.3f}, {row.high:.3f}]" for row in rows]),
            (f"each {what}", [f"{row.pointwise:.3f}" for row in rows]),
            ("median width", [f"{row.width:.4g}" for row in rows]),
            ("level", [f"{row.level:.4g}" for row in rows]),
        ]
        lines = [
            f"Coverage of the truth at {level}, {self.repetitions} repetitions, with exact "
            f"{self.confidence:.12g} intervals:",
            *(line.replace("nan", "  -").rstrip() for line in table(columns)),
            "Where each claims the level, and what it assumes:",
        ]
        for row in rows:
            given = "" if row.runs else ", not available for these data"
            text = f"{row.method}{given}: at {row.claims}. Assumes {row.assumes}."
            lines.append(fill(text, 100, initial_indent="  - ", subsequent_indent="    "))
        if self.outside is not None:
            runs = f"{self.outside} of {self.repetitions} runs"
            lines.append(f"The truth was outside the span of the model in {runs}.")
        return "\n".join(lines)


# --- the measurement --------------------------------------------------------------------------


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
    target: str = "function",
    resamples: int = 99,
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Coverage:
    """Measure how often regions cover the truth, on data that you generate.

    Every repetition draws data, builds a region and tests whether it contains the truth. If the
    noise is as assumed, the coverage is the level, up to the binomial error that the interval
    shows. The truth is tested as a function, with its own residuals: this is exact even if the
    model cannot represent it. ``outside`` counts the runs in which it cannot.

    For regressors, other methods are shown beside the region, each with its assumptions and its
    usual claim, the level at single inputs: scikit-learn's Gaussian process (a constant times an
    RBF kernel plus white noise, by maximum likelihood) and least squares with Student's t (on the
    features of the model, or on the inputs for a kernel). They bound the function at the inputs of
    the data, without the noise.

    With ``target="coefficients"`` intervals of the coefficients are compared instead: those of
    `Region.summary`, the bounds of the joint region, t intervals of least squares, the same with
    HC3 standard errors, and a studentised wild bootstrap. For clusters (`noise.BlockSymmetric`) the
    last two are CR1 standard errors and a wild cluster bootstrap.

    Parameters
    ----------
    make_data : callable
        ``make_data(rng) -> X, y, f``; f is the truth, a function of X. All randomness comes from
        the Generator ``rng``.
    estimator, noise, level, m, classes, random_state
        As for `unassuming.confidence_region`.
    repetitions, resamples : int, default 200 and 99
        Numbers of data sets, and of draws of the wild bootstrap.
    n_jobs : int, optional
        Number of processes, as in scikit-learn; it does not change the draws.
    norm_bound : float, optional
        For the band of the region.
    compare : bool, default True
        Whether to show bands, or intervals, at all.
    target : {"function", "coefficients"}, default "function"
        What the bounds are for. Coefficients need a regressor with features.
    confidence : float, default 0.95
        Level of the intervals of the coverage.

    Returns
    -------
    Coverage

    Examples
    --------
    >>> def make_data(rng):
    ...     return ua.datasets.sine(n=20, noise="cauchy", random_state=rng)
    >>> measured = ua.testing.coverage(make_data, Ridge(), repetitions=100, compare=False)
    >>> measured.region.low <= 0.95 <= measured.region.high
    True
    """
    model = split_pipeline(estimator)[1]
    registered = type(model), factory_for(model)  # which another process lacks
    assumption = check_options(model, noise=noise, m=m)
    Level.at_least(level, LARGEST_GROUP if isinstance(m, str) else m)
    check_norm_bound(norm_bound)
    labels, share = is_label_model(model), np.isreal(confidence) and 0 < confidence < 1
    kinds = ("function",) if labels else ("function", "coefficients")
    wanted = "'function' for a classifier" if labels else "'function' or 'coefficients'"
    for name, given, holds, expected in (
        ("make_data", make_data, callable(make_data), "a function of a Generator"),
        ("repetitions", repetitions, _is_count(repetitions), "an integer >= 1"),
        ("resamples", resamples, _is_count(resamples), "an integer >= 1"),
        ("confidence", confidence, share, "a number strictly between 0 and 1"),
        ("target", target, target in kinds, wanted),
    ):
        if not holds:
            remedy = "Correct it, or leave it out."
            raise ValueError(complaint(name, "is out of range", expected, repr(given), remedy))
    seed, methods = as_seed(random_state), target if compare and not labels else ""
    options = {"noise": noise, "m": m, "classes": classes}
    work = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_repetition)(
            registered, make_data, estimator, options, level, norm_bound, methods, resamples, child
        )
        for child in np.random.SeedSequence(seed).spawn(int(repetitions))
    )
    runs = []
    with counting(int(repetitions), "repetitions") as done:
        for run in work:
            runs.append(run)
            done(len(runs))
    levels, outside, outcomes = zip(*runs, strict=True)
    span = "the truth lies in the span of the model"
    span += "" if norm_bound is None else f", with a norm of {norm_bound:g} at most"
    words = assumption.assumption, span
    what = {"function": "input"}.get(target, "coefficient")
    rows = []
    for method in outcomes[0]:
        claims = f"all {what}s at once" if method in _AT_ONCE else f"each single {what}"
        runs_of = [found[method] for found in outcomes]
        rows.append(_counted(method, runs_of, confidence, claims, _ASSUMES[method].format(*words)))
    ends, lacking = (min(levels), max(levels)), None if None in outside else sum(outside)
    about = int(repetitions), confidence, seed, lacking, tuple(rows), target
    return Coverage(fmean(levels), ends, *about)  # equal levels are their own mean


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and bool(value >= 1)


def _repetition(
    registered: tuple[Any, Any],
    make_data: MakeData,
    estimator: Any,
    options: dict[str, Any],
    asked: float,
    norm_bound: float | None,
    target: str,
    resamples: int,
    child: np.random.SeedSequence,
) -> tuple[float, bool | None, dict[str, Outcome]]:
    """Draw data once; return the level, whether the span lacks the truth, and all outcomes."""
    register_objective(*registered)
    for_data, for_region, for_bootstrap = child.spawn(3)
    made = make_data(np.random.default_rng(for_data))
    if not isinstance(made, tuple) or len(made) != 3 or not callable(made[2]):
        raise TypeError(
            "make_data returned something else: expected X, y and the truth f, a function of X, "
            f"given {type(made).__name__}. Return X, y, f."
        )
    X, y, f = made
    truth = np.asarray(f(X), dtype=np.float64).ravel()  # before a model can overwrite X
    seed, rng = int(for_region.generate_state(1)[0]), np.random.default_rng(for_bootstrap)
    region = confidence_region(clone(estimator), X, y, random_state=seed, **options)
    p = float(region.level(asked))
    member = bool(region.contains(f, asked)), np.nan, np.nan, p
    found: dict[str, Outcome] = {"region, membership of the truth": member}
    inside = truth[region.problem.data("the truth needs").rows]
    bounds: dict[str, Bounds | None] = {}
    if target == "coefficients":
        fit = LeastSquares.of(region, region.objective.y, target)
        truth = np.asarray(region.objective.coefficients(inside[None, :])[0])
        cells = region.summary(level=p)
        own = cells.lower, cells.upper, float(cells.level.mean())
        bounds = {
            "region, one coefficient at a time": own,
            "region, joint bounds": _joint(
                lambda: region.interval(level=p, simultaneous=True, method="joint"), p
            ),
            "least squares, t intervals": fit and fit.t(p),
            "least squares, robust": fit and fit.robust(p),
            "wild bootstrap": fit and fit.wild(p, resamples, rng),
        }
    elif target == "function":
        outputs = np.asarray(y, dtype=np.float64).ravel()
        fit = LeastSquares.of(region, outputs, target)
        try:
            Z = as_inputs(region.inputs)
        except ValueError:  # text among the columns
            Z = region.problem.transform(region.inputs)
        bounds = {
            "region, outer band": _joint(
                lambda: region.band(X, level=p, norm_bound=norm_bound, method="joint"), p
            ),
            "Gaussian process": (*process_bounds(gaussian_process(Z, outputs, seed), Z, p), p),
            "least squares, t bounds": fit and fit.t(p),
        }
    for method, one in bounds.items():
        found[method] = None
        if one is not None:
            lower, upper, attained = one
            right, width = (lower <= truth) & (truth <= upper), float(np.median(upper - lower))
            found[method] = bool(right.all()), float(right.mean()), width, attained
    return p, _outside(region, inside), found


def _joint(answer: Callable[[], Any], level: float) -> Bounds | None:
    """Return bounds of the region, if there are any."""
    try:
        found = answer()
    except NotAvailable:
        return None
    return found.lower, found.upper, level


def _outside(region: Region, truth: Array) -> bool | None:
    """Whether no coefficients give the truth at the inputs; None if that cannot be decided."""
    objective = region.objective
    if objective.design is not None and objective.design.spans_everything:
        return False
    try:
        nearest = objective.fitted(objective.coefficients(truth[None, :]))[0]
    except NotAvailable:
        return None
    return bool(np.abs(nearest - truth).max() > _SPAN_SLACK * max(np.abs(truth).max(), 1e-300))


def _counted(
    method: str, outcomes: list[Outcome], confidence: float, claims: str, assumes: str
) -> MethodCoverage:
    """Count the runs in which a method covered the truth."""
    usable = [outcome for outcome in outcomes if outcome is not None]
    if not usable:
        return MethodCoverage(method, 0, 0, 0.0, 1.0, np.nan, np.nan, claims, assumes)
    everywhere, shares, widths, levels = zip(*usable, strict=True)
    interval = binomtest(sum(everywhere), len(usable)).proportion_ci(confidence, method="exact")
    counts = sum(everywhere), len(usable), float(interval.low), float(interval.high)
    numbers = fmean(shares), float(np.median(widths))
    return MethodCoverage(method, *counts, *numbers, claims, assumes, fmean(levels))

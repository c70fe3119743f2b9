"""Measure coverage on data of your own making, beside other methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import binomtest, norm, t
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils.parallel import Parallel, delayed

from unassuming._errors import NotAvailable, complaint
from unassuming._progress import progress
from unassuming._typing import Array
from unassuming.noise import Noise
from unassuming.objectives import FeatureDesign
from unassuming.ranking import Level
from unassuming.regions import Region, confidence_region
from unassuming.regions._data import as_inputs
from unassuming.regions._pipeline import seed_unset, split_pipeline
from unassuming.regions._seed import as_seed

__all__ = ["Coverage", "MethodCoverage", "coverage"]

MakeData = Callable[[np.random.Generator], tuple[Any, Any, Callable[[Any], Any]]]

_REGION = "region, membership of the truth"
_BAND = "region, outer band"
_PROCESS = "Gaussian process"
_LEAST_SQUARES = "least squares, t bounds"
_BOOTSTRAP = "residual bootstrap"


@dataclass(frozen=True)
class MethodCoverage:
    """How often one method covered the truth.

    Attributes
    ----------
    method : str
    covered, runs : int
        Runs in which the truth was covered at all inputs at once, and runs in which the method
        could be used at all.
    low, high : float
        Exact (Clopper-Pearson) confidence interval of the coverage.
    pointwise : float
        Share of the inputs at which the truth was covered, over all runs; NaN for membership.
    width : float
        Median over runs of the median width; NaN for membership.

    Examples
    --------
    >>> row = MethodCoverage("region", 90, 100, 0.82, 0.95, pointwise=0.97, width=1.5)
    >>> row.rate
    0.9
    """

    method: str
    covered: int
    runs: int
    low: float
    high: float
    pointwise: float
    width: float

    @property
    def rate(self) -> float:
        """Share of the runs in which the truth was covered at all inputs."""
        return self.covered / self.runs if self.runs else float("nan")


@dataclass(frozen=True, eq=False)
class Coverage:
    """Measured coverage of a region's level, and of other methods on the same data.

    Attributes
    ----------
    level : float
        What each method claims.
    repetitions : int
    confidence : float
        Of the intervals of the coverage.
    seed : int
        ``random_state=seed`` gives the same numbers again.
    methods : tuple of MethodCoverage
        First the region itself.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> def make_data(rng):
    ...     X = rng.normal(size=(20, 1))
    ...     return X, X[:, 0] + rng.laplace(size=20), lambda X: X[:, 0]
    >>> measured = ua.testing.coverage(
    ...     make_data, LinearRegression(), repetitions=5, resamples=9, random_state=0
    ... )
    >>> print(measured)
    Coverage of the truth at level 0.9, 5 repetitions, with exact 0.95 intervals:
      method ...
    >>> measured.region.runs, len(measured.to_frame())
    (5, 5)
    """

    level: float
    repetitions: int
    confidence: float
    seed: int
    methods: tuple[MethodCoverage, ...] = field(repr=False)

    @property
    def region(self) -> MethodCoverage:
        """The coverage of the region: whether it contains the truth."""
        return self.methods[0]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each method."""
        try:
            import pandas as pd
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "to_frame needs pandas: install it with  pip install pandas"
            ) from error
        return pd.DataFrame(
            [
                {
                    "method": row.method,
                    "simultaneous": row.rate,
                    "low": row.low,
                    "high": row.high,
                    "pointwise": row.pointwise,
                    "median width": row.width,
                    "runs": row.runs,
                }
                for row in self.methods
            ]
        )

    def __str__(self) -> str:
        width = max(len(row.method) for row in self.methods)
        lines = [
            f"Coverage of the truth at level {self.level:.12g}, {self.repetitions} repetitions, "
            f"with exact {self.confidence:.12g} intervals:",
            f"  {'method':<{width}}  all inputs  interval          each input  median width",
        ]
        for row in self.methods:
            if not row.runs:
                lines.append(f"  {row.method:<{width}}  not available for these data")
                continue
            each = "" if np.isnan(row.pointwise) else f"{row.pointwise:.3f}"
            size = "" if np.isnan(row.width) else f"{row.width:.4g}"
            line = (
                f"  {row.method:<{width}}  {row.rate:<10.3f}  [{row.low:.3f}, {row.high:.3f}]    "
                f"{each:<10}  {size}"
            )
            lines.append(line.rstrip())
        return "\n".join(lines)


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
    can. The row of the band does.

    For regressors other methods are shown beside it, each with the level claimed at single inputs,
    as is their custom: scikit-learn's Gaussian process (a constant times an RBF kernel plus white
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
        Processes, as in scikit-learn. The result does not depend on it.
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
    if not isinstance(repetitions, (int, np.integer)) or repetitions < 1:
        raise ValueError(
            complaint(
                "repetitions",
                "is out of range",
                "an integer >= 1",
                repr(repetitions),
                "Take a few hundred.",
            )
        )
    seed = as_seed(random_state)
    children = np.random.SeedSequence(seed).spawn(int(repetitions))
    classify = is_classifier(split_pipeline(estimator)[1])
    options = {"noise": noise, "m": m}
    compare = compare and not classify
    run = delayed(_repetition)
    tasks = (
        run(make_data, estimator, options, level, norm_bound, compare, resamples, child)
        for child in children
    )
    work = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
    outcomes = list(_told(work, int(repetitions)))
    used = outcomes[0][0]
    return Coverage(
        level=used,
        repetitions=int(repetitions),
        confidence=confidence,
        seed=seed,
        methods=tuple(
            _summary(method, [found[method] for _, found in outcomes], confidence)
            for method in outcomes[0][1]
        ),
    )


Outcome = tuple[bool, float, float] | None
"""Covered everywhere, share of inputs covered, median width; None if not available."""


def _told(work: Iterator[Any], total: int) -> Iterator[Any]:
    slices = (slice(j, j + 1) for j in range(total))
    for _, item in progress(zip(slices, work, strict=True), total, "repetitions"):
        yield item


def _repetition(
    make_data: MakeData,
    estimator: Any,
    options: dict[str, Any],
    level: float,
    norm_bound: float | None,
    compare: bool,
    resamples: int,
    child: np.random.SeedSequence,
) -> tuple[float, dict[str, Outcome]]:
    """Draw data once and ask every method; return the level used and the outcomes."""
    for_data, for_region, for_bootstrap = child.spawn(3)
    X, y, f = _drawn(make_data, np.random.default_rng(for_data))
    seed = int(for_region.generate_state(1)[0])
    region = confidence_region(clone(estimator), X, y, random_state=seed, **options)
    used = region.level(level)
    found: dict[str, Outcome] = {_REGION: (bool(region.contains(f, level)), np.nan, np.nan)}
    if compare:
        truth = np.asarray(f(X), dtype=np.float64).ravel()
        outputs = np.asarray(y, dtype=np.float64).ravel()
        rng = np.random.default_rng(for_bootstrap)
        found[_BAND] = _outcome(_region_band(region, X, used, norm_bound), truth)
        found[_PROCESS] = _outcome(_process(region, outputs, float(used), seed), truth)
        found[_LEAST_SQUARES] = _outcome(_t_bounds(region, outputs, float(used)), truth)
        found[_BOOTSTRAP] = _outcome(
            _bootstrap(clone(estimator), X, outputs, float(used), resamples, rng), truth
        )
    return float(used), found


def _drawn(make_data: MakeData, rng: np.random.Generator) -> tuple[Any, Any, Callable[[Any], Any]]:
    made = make_data(rng)
    if not isinstance(made, tuple) or len(made) != 3 or not callable(made[2]):
        given = f"{len(made)} values" if isinstance(made, tuple) else type(made).__name__
        if isinstance(made, tuple) and len(made) == 3:
            given = f"a third value of type {type(made[2]).__name__}"
        raise TypeError(
            complaint(
                "make_data",
                "returned something else",
                "X, y and the truth f, a function of X",
                given,
                "Return X, y, f.",
            )
        )
    return made


def _outcome(bounds: tuple[Array, Array] | None, truth: Array) -> Outcome:
    if bounds is None:
        return None
    lower, upper = bounds
    inside = (lower <= truth) & (truth <= upper)
    return bool(inside.all()), float(inside.mean()), float(np.median(upper - lower))


def _summary(method: str, outcomes: list[Outcome], confidence: float) -> MethodCoverage:
    usable = [outcome for outcome in outcomes if outcome is not None]
    covered = sum(everywhere for everywhere, _, _ in usable)
    if not usable:
        return MethodCoverage(method, 0, 0, 0.0, 1.0, np.nan, np.nan)
    interval = binomtest(covered, len(usable)).proportion_ci(confidence, method="exact")
    return MethodCoverage(
        method=method,
        covered=covered,
        runs=len(usable),
        low=float(interval.low),
        high=float(interval.high),
        pointwise=float(np.mean([share for _, share, _ in usable])),
        width=float(np.median([width for _, _, width in usable])),
    )


# --- bands at the inputs of the data --------------------------------------------------------------


def _region_band(
    region: Region, X: Any, level: Level, norm_bound: float | None
) -> tuple[Array, Array] | None:
    try:
        band = region.band(X, level=float(level), norm_bound=norm_bound)
    except NotAvailable:
        return None
    return band.lower, band.upper


def _inputs(region: Region) -> Array:
    """Return what the model itself sees: the inputs, or the output of the transformers."""
    return region._transform(region.inputs)


def _process(region: Region, y: Array, level: float, seed: int) -> tuple[Array, Array]:
    """Bounds of the function from a Gaussian process on the inputs, pointwise."""
    try:
        Z = as_inputs(region.inputs)
    except ValueError:  # text among the columns
        Z = _inputs(region)
    return process_bounds(gaussian_process(Z, y, seed), Z, level)


def gaussian_process(X: Array, y: Array, seed: int) -> Any:
    """Fit scikit-learn's Gaussian process: a constant times RBF plus white noise, by likelihood."""
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return process.fit(X, y)


def process_bounds(process: Any, X: Array, level: float) -> tuple[Array, Array]:
    """Bounds of the function, without the noise, from such a process, pointwise."""
    mean, deviation = process.predict(X, return_std=True)
    # The kernel's diagonal counts the noise of a new observation; the function has none.
    white = process.kernel_.k2.noise_level * process._y_train_std**2
    half = norm.ppf((1 + level) / 2) * np.sqrt(np.clip(deviation**2 - white, 0.0, None))
    return mean - half, mean + half


def _t_bounds(region: Region, y: Array, level: float) -> tuple[Array, Array] | None:
    """Student's bounds of least squares, pointwise; None if nothing is left for the variance."""
    design = getattr(region.objective, "design", None)
    if isinstance(design, FeatureDesign):
        Phi = design.rows(_inputs(region))
    else:
        Z = _inputs(region)
        Phi = np.column_stack([np.ones(len(Z)), Z])
    u, s, _ = np.linalg.svd(Phi, full_matrices=False)
    u = u[:, s > s[0] * max(Phi.shape) * np.finfo(np.float64).eps]
    freedom = len(y) - u.shape[1]
    if freedom < 1:
        return None
    fitted = u @ (u.T @ y)
    variance = float(np.sum((y - fitted) ** 2)) / freedom
    half = t.ppf((1 + level) / 2, freedom) * np.sqrt(variance * np.sum(u**2, axis=1))
    return fitted - half, fitted + half


def _bootstrap(
    estimator: Any, X: Any, y: Array, level: float, resamples: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Percentile bounds of refits to resampled, centred residuals, pointwise."""
    seed_unset(estimator, rng)  # the same random features in every refit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = np.asarray(estimator.fit(X, y).predict(X))
        residuals = y - fitted
        residuals = residuals - residuals.mean()
        refits = np.array(
            [
                clone(estimator).fit(X, fitted + rng.choice(residuals, len(y))).predict(X)
                for _ in range(resamples)
            ]
        )
    lower, upper = np.quantile(refits, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return lower, upper

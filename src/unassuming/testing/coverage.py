"""Measure coverage on simulated data, beside other methods in their usual form."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from statistics import fmean
from textwrap import fill
from typing import Any, Self, TypeAlias, final

import numpy as np
from scipy.special import ndtri, stdtrit
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.utils.parallel import Parallel, delayed

from unassuming._batches import rows_that_fit, slices
from unassuming._errors import NotAvailable, complaint
from unassuming._frames import as_frame
from unassuming._numerics import CUT
from unassuming._progress import counting
from unassuming._typing import Array, IntArray
from unassuming.inputs import (
    as_inputs,
    as_seed,
    check_norm_bound,
    check_options,
    is_label_model,
    seed_unset,
    split_pipeline,
)
from unassuming.noise import LARGEST_GROUP, Noise, sign_units_of
from unassuming.objectives import factory_for, register_objective
from unassuming.ranking import Level
from unassuming.regions import Region, confidence_region

_BATCH = 2**25  # bytes of one array of bootstrap residuals
_SPAN_SLACK = 1e-6  # of the largest value

MakeData: TypeAlias = Callable[[np.random.Generator], tuple[Any, Any, Callable[[Any], Any]]]
Bounds: TypeAlias = tuple[Array, Array, float]
"""Lower and upper bounds of some numbers, and the level that they claim."""
Outcome: TypeAlias = tuple[bool, float, float, float] | None
"""Whether all numbers were covered, the share that was, median width, level; None if unknown."""

_GAUSSIAN = "independent Gaussian noise of one variance, and "
_CLAIMS = {
    "region, membership of the truth": ("all {0}s at once", "{1}"),
    "region, outer band": ("all {0}s at once", "the same, and that {2}"),
    "Gaussian process": (
        "each single {0}",
        _GAUSSIAN + "a truth drawn from the process with the kernel that maximum likelihood chose",
    ),
    "least squares, t bounds": (
        "each single {0}",
        _GAUSSIAN
        + "that the truth lies in the span of the features, or of the inputs for a kernel",
    ),
    "residual bootstrap": (
        "each single {0}",
        "noise terms of one law, an unbiased estimate, and enough rows for an approximation",
    ),
    "region, one coefficient at a time": ("each single {0}", "the same, and that {2}"),
    "region, joint bounds": ("all {0}s at once", "the same, and that {2}"),
    "least squares, t intervals": ("each single {0}", _GAUSSIAN + "that {2}"),
    "least squares, robust": (
        "each single {0}",
        "uncorrelated noise terms, or clusters of them, of finite variance, and enough rows or "
        "clusters for an approximation (HC3 standard errors, CR1 for clusters)",
    ),
    "wild bootstrap": (
        "each single {0}",
        "the same as robust least squares (studentised, random signs of the residuals)",
    ),
}
"""Where each method claims the level, and its assumptions."""

# --- other methods ----------------------------------------------------------------------------


def gaussian_process(X: Array, y: Array, seed: int) -> Any:
    """Fit a Gaussian process, a constant times RBF plus white noise, by maximum likelihood."""
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    fitted = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fitted.fit(X, y)


def process_bounds(fitted: Any, X: Array, level: float) -> tuple[Array, Array]:
    """Return pointwise bounds of the function, without the noise."""
    mean, deviation = fitted.predict(X, return_std=True)
    # The kernel's diagonal includes the noise of a new observation; the function has none.
    white = fitted.kernel_.k2.noise_level * fitted._y_train_std**2
    half = ndtri((1 + level) / 2) * np.sqrt(np.clip(deviation**2 - white, 0.0, None))
    return mean - half, mean + half


def bootstrap(
    estimator: Any, X: Any, y: Array, level: float, resamples: int, rng: np.random.Generator
) -> Bounds:
    """Return pointwise percentile bounds of refits to resampled, centred residuals."""
    seed_unset(estimator, rng)  # the same random features in every refit

    def refitted(outputs: Array) -> Array:
        # Models may overwrite their inputs (copy=False): give them copies.
        return np.asarray(clone(estimator).fit(deepcopy(X), outputs).predict(deepcopy(X)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = refitted(y)
        r = y - fitted - (y - fitted).mean()
        refits = [refitted(fitted + rng.choice(r, len(y))) for _ in range(resamples)]
    lower, upper = np.quantile(refits, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return lower, upper, level


@final
@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Numbers A Qᵀ y, (k,), where Q Qᵀ y are the values that least squares fits.

    Q (n, r) has orthonormal columns; A (k, r) is Q for the fitted values themselves. ``blocks``
    (n,) are the clusters of the rows, None if the rows are independent.
    """

    A: Array
    Q: Array
    y: Array
    blocks: IntArray | None = None

    @classmethod
    def of(cls, region: Region, y: Array, target: str) -> Self | None:
        """Fit the features of a region, or its inputs; None without degrees of freedom."""
        design = region.objective.design
        if target == "coefficients":
            Phi = region.problem.design("intervals of the coefficients").matrix
        else:
            Phi = region.problem.transform(region.inputs)  # what the model itself is given
            if design is None or design.dual:
                Phi = np.column_stack([np.ones(len(Phi)), Phi])
            else:
                Phi = design.rows(Phi)
        Q, s, Vt = np.linalg.svd(Phi, full_matrices=False)
        keep = s > CUT * s[0]
        if len(y) <= keep.sum() or (target == "coefficients" and not keep.all()):
            return None
        blocks = sign_units_of(region.problem.row_noise, len(y))
        single = blocks is None or int(blocks.max()) + 1 == len(y)
        A = Vt.T / s if target == "coefficients" else Q[:, keep]
        return cls(A, Q[:, keep], y, None if single else blocks)

    def t(self, level: float) -> Bounds:
        """Return Student's t intervals."""
        freedom = len(self.y) - self.Q.shape[1]
        deviation = np.linalg.norm(self._residuals) / np.sqrt(freedom)
        return self._around(freedom, deviation * np.linalg.norm(self.A, axis=1), level)

    def robust(self, level: float) -> Bounds:
        """Return t intervals with HC3 standard errors, or CR1 for clusters."""
        n, r = self.Q.shape
        freedom = n - r if self.blocks is None else int(self.blocks.max())
        return self._around(freedom, self._robust_errors(self._residuals[None])[0], level)

    def wild(self, level: float, draws: int, rng: np.random.Generator) -> Bounds:
        """Return studentised wild bootstrap intervals; one sign for each row or cluster.

        The signs multiply the residuals, divided by 1 - h for single rows.
        """
        n = len(self.y)
        units = np.arange(n) if self.blocks is None else self.blocks
        scaled, statistics = self._residuals / self._less_leverage, []
        for some in slices(draws, rows_that_fit(_BATCH, n)):
            size = (some.stop - some.start, int(units.max()) + 1)
            noise = (2.0 * rng.integers(0, 2, size=size) - 1)[:, units] * scaled
            c = noise @ self.Q
            with np.errstate(divide="ignore", invalid="ignore"):
                errors = self._robust_errors(noise - c @ self.Q.T)
                statistics.append(np.nan_to_num(np.abs(c @ self.A.T) / errors, nan=np.inf))
        k = min(draws, int(np.ceil(level * (draws + 1)))) - 1
        half = np.partition(np.concatenate(statistics), k, axis=0)[k]
        half = half * self._robust_errors(self._residuals[None])[0]
        return self._estimate - half, self._estimate + half, level

    @property
    def _estimate(self) -> Array:
        return self.A @ (self.Q.T @ self.y)

    @property
    def _residuals(self) -> Array:
        return self.y - self.Q @ (self.Q.T @ self.y)

    @property
    def _less_leverage(self) -> Array:
        """Return 1 - h of each row, or ones for clusters."""
        h = np.square(self.Q).sum(axis=1) * (self.blocks is None)
        return np.asarray(np.maximum(1 - h, 1e-12))

    def _robust_errors(self, residuals: Array) -> Array:
        """Return standard errors of the numbers from residuals (B, n), shape (B, k)."""
        P, (n, r) = self.A @ self.Q.T, self.Q.shape
        if self.blocks is None:
            return np.asarray(np.sqrt(np.square(residuals / self._less_leverage) @ np.square(P).T))
        G = int(self.blocks.max()) + 1
        parts = [np.flatnonzero(self.blocks == g) for g in range(G)]
        sums = sum(np.square(residuals[:, rows] @ P[:, rows].T) for rows in parts)
        return np.asarray(np.sqrt(G / (G - 1) * (n - 1) / (n - r) * sums))

    def _around(self, freedom: int, error: Array, level: float) -> Bounds:
        half = stdtrit(freedom, (1 + level) / 2) * error
        return self._estimate - half, self._estimate + half, level


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
        Share of the inputs, or of the coefficients, at which it covered the truth, over all runs;
        NaN for membership.
    width : float
        Median over runs of the median width; NaN for membership.
    claims, assumes : str
        Where the method claims the level, and its assumptions, in words.
    level : float
        The level that it claims, a mean over the runs. Intervals of one coefficient at a time
        attain the next level that their number of cells allows.

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
    level : float
        The level that each method claims; the mean of the levels used if they differ.
    levels : tuple of two floats
        The lowest and the highest level used. They differ for ``m="all"`` if the number of rows
        varies, since a level is rounded up to the next level of the group.
    repetitions : int
    confidence : float
        Level of the intervals of the coverage.
    seed : int
        ``random_state=seed`` gives the same numbers again.
    outside : int or None
        Number of runs in which no coefficients give the truth at the inputs. The band claims
        nothing about such a truth. None if the objective cannot decide it.
    methods : tuple of MethodCoverage
        The region itself comes first.
    target : {"function", "coefficients"}
        What the methods give bounds for.

    Examples
    --------
    >>> def make_data(rng):
    ...     return ua.datasets.sine(n=20, random_state=rng)
    >>> measured = ua.testing.coverage(
    ...     make_data, Ridge(), repetitions=5, resamples=9, random_state=0
    ... )
    >>> print(measured)
    Coverage of the truth at level 0.953125, 5 repetitions, with exact 0.95 intervals:
      method ...
    >>> measured.region.runs, len(measured.to_frame())
    (5, 5)
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
        shown = {"simultaneous": "rate", "low": "low", "high": "high", "pointwise": "pointwise"}
        shown = {"method": "method", **shown, "median width": "width", "level": "level"}
        shown |= {"runs": "runs", "claims": "claims", "assumes": "assumes"}
        return as_frame([{k: getattr(row, v) for k, v in shown.items()} for row in self.methods])

    def __str__(self) -> str:
        low, high = self.levels
        level = f"level {self.level:.12g}"
        if low < high:
            level = f"levels from {low:.4g} to {high:.4g}, {self.level:.4g} on average"
        width, what = max(len(row.method) for row in self.methods), self.target[:4]
        what = {"func": "input"}.get(what, what)
        lines = [
            f"Coverage of the truth at {level}, {self.repetitions} repetitions, "
            f"with exact {self.confidence:.12g} intervals:",
            f"  {'method':<{width}}  {f'all {what}s':<10}  {'interval':<18}{f'each {what}':<12}"
            f"{'median width':<14}{'level' * (what == 'coef')}".rstrip(),
        ]
        for row in self.methods:
            numbers = "not available for these data"
            if row.runs:
                numbers = f"{row.rate:<10.3f}  {f'[{row.low:.3f}, {row.high:.3f}]':<18}"
                if not np.isnan(row.width):
                    numbers += f"{row.pointwise:<12.3f}{row.width:<14.4g}"
                elif what == "coef":
                    numbers += " " * 26
                numbers += f"{row.level:.4g}" * (what == "coef")
            lines.append(f"  {row.method:<{width}}  {numbers}".rstrip())
        lines.append("Where each claims the level, and what it assumes:")
        for row in self.methods:
            text = f"{row.method}: at {row.claims}. Assumes {row.assumes}."
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
    estimator, noise, level, m, classes
        As for `unassuming.confidence_region`.
    repetitions : int, default 200
    n_jobs : int, optional
        Number of processes, as in scikit-learn; it does not change the draws.
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
    >>> measured.region.low <= 0.95 <= measured.region.high
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
    model = split_pipeline(estimator)[1]
    registered = type(model), factory_for(model)  # which another process lacks
    assumption = check_options(model, noise=noise, m=m)
    Level.at_least(level, LARGEST_GROUP if isinstance(m, str) else m)
    check_norm_bound(norm_bound)
    count, share = "an integer >= 1", "a number strictly between 0 and 1"
    kinds, labels = ("function", "coefficients"), is_label_model(model)
    for name, given, holds, expected in (
        ("make_data", make_data, callable(make_data), "a function of a Generator"),
        ("repetitions", repetitions, _is_count(repetitions), count),
        ("resamples", resamples, _is_count(resamples), count),
        ("confidence", confidence, np.isreal(confidence) and 0 < confidence < 1, share),
        ("target", target, target in kinds, "'function' or 'coefficients'"),
        ("target", target, target != kinds[1] or not labels, "'function' for a classifier"),
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
    words = ({"function": "input"}.get(target, "coefficient"), assumption.assumption, span)
    return Coverage(
        level=fmean(levels),  # equal levels are their own mean, to the last digit
        levels=(min(levels), max(levels)),
        repetitions=int(repetitions),
        confidence=confidence,
        seed=seed,
        outside=None if None in outside else sum(outside),
        methods=tuple(
            _counted(method, [found[method] for found in outcomes], confidence, words)
            for method in outcomes[0]
        ),
        target=target,
    )


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
        expected, given = "X, y and the truth f, a function of X", type(made).__name__
        wrong = "returned something else"
        raise TypeError(complaint("make_data", wrong, expected, given, "Return X, y, f."))
    X, y, f = made
    truth = np.asarray(f(X), dtype=np.float64).ravel()  # before a model can overwrite X
    seed, rng = int(for_region.generate_state(1)[0]), np.random.default_rng(for_bootstrap)
    region = confidence_region(clone(estimator), X, y, random_state=seed, **options)
    p = float(region.level(asked))
    found: dict[str, Outcome] = {
        "region, membership of the truth": (bool(region.contains(f, asked)), np.nan, np.nan, p)
    }
    inside = truth[region.problem.data("the truth needs").rows]
    bounds: dict[str, Bounds | None] = {}
    if target == "coefficients":
        fit = LeastSquares.of(region, region.objective.y, target)
        truth = np.asarray(region.objective.coefficients(inside[None, :])[0])
        cells = region.summary(level=p)
        bounds = {
            "region, one coefficient at a time": (
                cells.lower,
                cells.upper,
                float(cells.level.mean()),
            ),
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
            "residual bootstrap": bootstrap(clone(estimator), X, outputs, p, resamples, rng),
        }
    found |= {method: one and judged(one, truth) for method, one in bounds.items()}
    return p, _outside(region, inside), found


def _joint(answer: Callable[[], Any], level: float) -> Bounds | None:
    """Return bounds of the region, if there are any."""
    try:
        found = answer()
    except NotAvailable:
        return None
    return found.lower, found.upper, level


def judged(bounds: Bounds, truth: Array) -> Outcome:
    """Compare bounds with the truth."""
    lower, upper, level = bounds
    inside = (lower <= truth) & (truth <= upper)
    return bool(inside.all()), float(inside.mean()), float(np.median(upper - lower)), level


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
    method: str, outcomes: list[Outcome], confidence: float, words: tuple[str, str, str]
) -> MethodCoverage:
    """Count the runs in which a method covered the truth."""
    claims, assumes = (text.format(*words) for text in _CLAIMS[method])
    usable = [outcome for outcome in outcomes if outcome is not None]
    if not usable:
        return MethodCoverage(method, 0, 0, 0.0, 1.0, np.nan, np.nan, claims, assumes)
    everywhere, shares, widths, levels = zip(*usable, strict=True)
    interval = binomtest(sum(everywhere), len(usable)).proportion_ci(confidence, method="exact")
    return MethodCoverage(
        method=method,
        covered=sum(everywhere),
        runs=len(usable),
        low=float(interval.low),
        high=float(interval.high),
        pointwise=fmean(shares),
        width=float(np.median(widths)),
        claims=claims,
        assumes=assumes,
        level=fmean(levels),
    )

"""Bands of other methods at the inputs of the data, in their usual form."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np
from scipy.stats import norm, t
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from unassuming._errors import NotAvailable
from unassuming._rounding import rank_cut
from unassuming._typing import Array
from unassuming.inputs import as_inputs, seed_unset
from unassuming.regions import Region

REGION = "region, membership of the truth"
BAND = "region, outer band"
PROCESS = "Gaussian process"
LEAST_SQUARES = "least squares, t bounds"
BOOTSTRAP = "residual bootstrap"

CELLS = "region, one coefficient at a time"
PROJECTED = "region, joint bounds"
STUDENT = "least squares, t intervals"
ROBUST = "least squares, robust"
WILD = "wild bootstrap"

ALL_INPUTS, EACH_INPUT = "all inputs at once", "each single input"
ALL_COEFFICIENTS, EACH_COEFFICIENT = "all coefficients at once", "each single coefficient"

CLAIMS = {
    REGION: (ALL_INPUTS, "{noise}"),
    BAND: (ALL_INPUTS, "the same, and that {span}"),
    PROCESS: (
        EACH_INPUT,
        "independent Gaussian noise of one variance, and a truth drawn from the process with the "
        "kernel that maximum likelihood has chosen",
    ),
    LEAST_SQUARES: (
        EACH_INPUT,
        "independent Gaussian noise of one variance, and that the truth lies in the span of the "
        "features, or of the inputs for a kernel",
    ),
    BOOTSTRAP: (
        EACH_INPUT,
        "noise terms of one law, an unbiased estimate, and enough rows for an approximation",
    ),
    CELLS: (EACH_COEFFICIENT, "the same, and that {span}"),
    PROJECTED: (ALL_COEFFICIENTS, "the same, and that {span}"),
    STUDENT: (EACH_COEFFICIENT, "independent Gaussian noise of one variance, and that {span}"),
    ROBUST: (
        EACH_COEFFICIENT,
        "uncorrelated noise terms, or clusters of them, of finite variance, and enough rows or "
        "clusters for an approximation (HC3 standard errors, CR1 for clusters)",
    ),
    WILD: (
        EACH_COEFFICIENT,
        "the same as robust least squares (studentised, random signs of the residuals)",
    ),
}
"""Where each method claims the level, and its assumptions."""


def region_band(
    region: Region, X: Any, level: float, norm_bound: float | None
) -> tuple[Array, Array] | None:
    try:
        band = region.band(X, level=level, norm_bound=norm_bound, method="joint")
    except NotAvailable:
        return None
    return band.lower, band.upper


def _inputs(region: Region) -> Array:
    """Return the inputs of the model itself, behind the transformers."""
    return region.problem.transform(region.inputs)


def process(region: Region, y: Array, level: float, seed: int) -> tuple[Array, Array]:
    """Return pointwise bounds of the function from a Gaussian process on the inputs."""
    try:
        Z = as_inputs(region.inputs)
    except ValueError:  # text among the columns
        Z = _inputs(region)
    return process_bounds(gaussian_process(Z, y, seed), Z, level)


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
    half = norm.ppf((1 + level) / 2) * np.sqrt(np.clip(deviation**2 - white, 0.0, None))
    return mean - half, mean + half


def t_bounds(region: Region, y: Array, level: float) -> tuple[Array, Array] | None:
    """Return pointwise t bounds of least squares; None without degrees of freedom."""
    design = region.objective.design
    if design is not None and not design.dual:
        Phi = design.rows(_inputs(region))
    else:
        Z = _inputs(region)
        Phi = np.column_stack([np.ones(len(Z)), Z])
    u, s, _ = np.linalg.svd(Phi, full_matrices=False)
    u = u[:, s > s[0] * rank_cut(Phi.shape)]
    freedom = len(y) - u.shape[1]
    if freedom < 1:
        return None
    fitted = u @ (u.T @ y)
    variance = float(np.sum((y - fitted) ** 2)) / freedom
    half = t.ppf((1 + level) / 2, freedom) * np.sqrt(variance * np.sum(u**2, axis=1))
    return fitted - half, fitted + half


def bootstrap(
    estimator: Any, X: Any, y: Array, level: float, resamples: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return pointwise percentile bounds of refits to resampled, centred residuals."""
    seed_unset(estimator, rng)  # the same random features in every refit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Models may overwrite their inputs (copy=False): give them copies.
        fitted = np.asarray(estimator.fit(deepcopy(X), y).predict(deepcopy(X)))
        residuals = y - fitted
        residuals = residuals - residuals.mean()
        refits = np.array(
            [
                clone(estimator)
                .fit(deepcopy(X), fitted + rng.choice(residuals, len(y)))
                .predict(deepcopy(X))
                for _ in range(resamples)
            ]
        )
    lower, upper = np.quantile(refits, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return lower, upper

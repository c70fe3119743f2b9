"""Bands, compared with a bootstrap, cross-conformal prediction and a Gaussian process."""

from __future__ import annotations

from typing import Any

import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, WhiteKernel
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from benchmarks.clock import best_times
from benchmarks.result import Check, Comparison, Result

N, D, M, INPUTS, LEVEL = 500, 30, 100, 200, 0.9
REFITS = 1000
ROUNDS, SLOW_ROUNDS = 15, 2
TARGET_BOOTSTRAP, TARGET_CONFORMAL, TARGET_PROCESS = 50, 1, 1
MODELS = {"least squares": LinearRegression(), "ridge": Ridge(alpha=1.0)}
TITLE = (
    f"{LEVEL:.0%} band at {INPUTS} inputs, n = {N}, d = {D}, m = {M}, from the data to the bounds."
    " The four answer different\nquestions: a simultaneous band of the model, exact for every n;"
    " pointwise bands of the model, for large n;\nintervals of new outputs; a pointwise posterior,"
    " if noise and prior are Gaussian"
)


def measure(name: str) -> Result:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(N, D)), rng.normal(size=(INPUTS, D))
    y = 1 + X.sum(axis=1) + rng.laplace(size=N)
    model = MODELS[name]
    (seconds, conformal), (band, _) = best_times(
        lambda: ua.confidence_region(model, X, y, m=M, random_state=0).band(
            Z, LEVEL, method="joint"
        ),
        lambda: cross_conformal(model, X, y, Z),
        rounds=ROUNDS,
    )
    (bootstrap,), _ = best_times(lambda: residual_bootstrap(model, X, y, Z), rounds=SLOW_ROUNDS)
    (linear,), _ = best_times(lambda: linear_bootstrap(model, X, y, Z), rounds=SLOW_ROUNDS)
    (process,), _ = best_times(lambda: gaussian_process(X, y, Z), rounds=1)
    finite = bool(np.isfinite(band.lower).all() and np.isfinite(band.upper).all())
    return Result(
        name,
        seconds,
        [
            Comparison(f"residual bootstrap, {REFITS:,} refits", bootstrap, TARGET_BOOTSTRAP),
            Comparison("the same by linearity in y (no target)", linear),
            Comparison("MAPIE's CrossConformalRegressor(cv=5)", conformal, TARGET_CONFORMAL),
            Comparison("GaussianProcessRegressor, linear kernel", process, TARGET_PROCESS),
        ],
        [Check("bounds", f"{'finite' if finite else 'infinite'}, {band.status.name}", finite)],
    )


def residual_bootstrap(model: Any, X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Refit to resampled residuals, and take quantiles of the predictions."""
    rng = np.random.default_rng(0)
    fitted = clone(model).fit(X, y).predict(X)
    residuals = y - fitted
    refit = clone(model)
    predictions = np.empty((REFITS, len(Z)))
    for b in range(REFITS):
        predictions[b] = refit.fit(X, fitted + rng.choice(residuals, len(y))).predict(Z)
    return np.quantile(predictions, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)


def linear_bootstrap(model: Any, X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Do the same in one fit: the predictions of these models are linear in y."""
    rng = np.random.default_rng(0)
    fitted = clone(model).fit(X, y).predict(X)
    resampled = np.stack([rng.choice(y - fitted, len(y)) for _ in range(REFITS)], axis=1)
    predictions = clone(model).fit(X, fitted[:, None] + resampled).predict(Z)
    return np.quantile(predictions, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1)


def gaussian_process(X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Fit the same linear model with a Gaussian prior, its scales found by maximum likelihood."""
    kernel = ConstantKernel() * DotProduct() + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y)
    return np.stack(process.predict(Z, return_std=True))


def cross_conformal(model: Any, X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> np.ndarray:
    conformal = CrossConformalRegressor(clone(model), confidence_level=LEVEL, cv=5)
    return conformal.fit_conformalize(X, y).predict_interval(Z)[1]


CASES = dict.fromkeys(MODELS, measure)

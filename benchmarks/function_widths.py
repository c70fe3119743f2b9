"""Widths and coverages of bands of functions, beside the joint region and a Gaussian process."""

from __future__ import annotations

from time import perf_counter
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from benchmarks.clock import best_times
from benchmarks.result import Check, Comparison, Result

LEVEL, SCALE = 0.9, 0.7
LARGE, MANY, BOUND = 500, 200, 30.0
SMOOTH, SMOOTH_BOUND, SHARES = 0.1, 73.0, (10, 30, 100)
CELL_SETS, SETS, ALL_SHARES = 40, 6, 2
RUNS, MIDDLE, TRUE_NORM = 60, 200, 14.6
TARGET_WIDTH, TARGET_TIME, TARGET_PROCESS = 0.75, 10, 1.7
FAR = 4
"""Standard errors by which a coverage may fall below the level."""


def data(n: int, seed: int, law: str = "laplace") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 10, n)
    noise = rng.laplace(size=n) / np.sqrt(2) if law == "laplace" else rng.standard_cauchy(n)
    return x[:, None], x * np.sin(x) + SCALE * noise


def half(band: Any) -> float:
    return float(np.median(band.upper - band.lower)) / 2


def process(X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the half-width of the 90 % interval, hyper-parameters estimated."""
    kernel = ConstantKernel(10.0) * RBF() + WhiteKernel(0.5)
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # Cauchy noise: a parameter at its bound
        model = GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y)
    mean, spread = model.predict(Z, return_std=True)
    noise = model.kernel_.k2.noise_level * model._y_train_std**2
    return mean, norm.ppf(0.5 + LEVEL / 2) * np.sqrt(np.maximum(spread**2 - noise, 0.0))


def alone(X: np.ndarray, y: np.ndarray, Z: np.ndarray, bound: float) -> Any:
    region = ua.confidence_region(KernelRidge(kernel="rbf", gamma=0.5), X, y, random_state=0)
    return region.band(Z, LEVEL, norm_bound=bound, simultaneous=False, noise_scale=SCALE)


def pointwise(name: str) -> Result:
    X, y = data(LARGE, 0)
    Z = np.linspace(0, 10, MANY)[:, None]
    (seconds, other), (band, _) = best_times(
        lambda: alone(X, y, Z, BOUND), lambda: process(X, y, Z), rounds=3, clock=perf_counter
    )
    found = Check("median half-width", f"{half(band):.3g}", bool(np.isfinite(band.upper).all()))
    return Result(name, seconds, [Comparison("GaussianProcessRegressor, tuned", other, 1)], [found])


def cells_and_joint(name: str) -> Result:
    """Compare at the best of a few penalties of the joint region, by its widths on two sets.

    The half-width from cells varies by 8 % from set to set, so it is averaged over more sets.
    """
    Z = np.linspace(0, 10, 60)[:, None]
    widths: dict[int, list[float]] = {share: [] for share in SHARES}
    cells, seconds, joint = [], np.inf, np.inf

    def band(share: int, X: np.ndarray, y: np.ndarray, **options: Any) -> tuple[float, float]:
        model = KernelRidge(kernel="rbf", gamma=SMOOTH, alpha=share * (SCALE / SMOOTH_BOUND) ** 2)
        start = perf_counter()
        region = ua.confidence_region(model, X, y, random_state=0)
        found = half(region.band(Z, LEVEL, norm_bound=SMOOTH_BOUND, **options))
        return found, perf_counter() - start

    compared: tuple[int, ...] = SHARES
    for seed in range(CELL_SETS):
        X, y = data(LARGE, seed)
        width, spent = band(SHARES[0], X, y, method="cells", noise_scale=SCALE)
        cells.append(width)
        seconds = min(seconds, spent)
        for share in compared if seed < SETS else ():
            width, spent = band(share, X, y)
            widths[share].append(width)
            joint = min(joint, spent)
        if seed + 1 == ALL_SHARES:
            compared = (min(SHARES, key=lambda share: sum(widths[share])),)
    [best] = compared
    own, other = float(np.mean(cells)), float(np.mean(widths[best]))
    found = f"{own / other:.3f} ({own:.3g} and {other:.3g}, means of {CELL_SETS} and {SETS} sets)"
    fine = own <= TARGET_WIDTH * other
    return Result(
        name,
        seconds,
        [Comparison(f"joint region, alpha = {best} σ²/B²", joint, TARGET_TIME)],
        [Check(f"width over the joint region, at most {TARGET_WIDTH}", found, fine)],
    )


def beside_process(name: str) -> Result:
    Z = np.linspace(0.5, 9.5, 19)[:, None]
    truth = (Z * np.sin(Z))[:, 0]
    checks, seconds, others = [], 0.0, 0.0
    for law in ("laplace", "cauchy"):
        widths, rates = np.empty((2, RUNS)), np.empty((2, RUNS))
        for run in range(RUNS):
            X, y = data(MIDDLE, run, law)
            (one, two), (band, (mean, wide)) = best_times(
                lambda X=X, y=y: alone(X, y, Z, 2 * TRUE_NORM),
                lambda X=X, y=y: process(X, y, Z),
                rounds=1,
                clock=perf_counter,
            )
            seconds, others = seconds + one / (2 * RUNS), others + two / (2 * RUNS)
            widths[:, run] = half(band), np.median(wide)
            rates[0, run] = np.mean((band.lower <= truth) & (truth <= band.upper))
            rates[1, run] = np.mean(np.abs(mean - truth) <= wide)
        ratio = float(np.median(widths[0]) / np.median(widths[1]))
        (own, other), (spread, _) = rates.mean(axis=1), rates.std(axis=1) / np.sqrt(RUNS)
        covered = bool(own + FAR * spread >= LEVEL)
        found = f"{ratio:.2f}, coverage {own:.3f} ± {spread:.3f} and {other:.3f}"
        if law == "laplace":
            title = f"width over the GP, at most {TARGET_PROCESS}"
            checks.append(Check(title, found, ratio <= TARGET_PROCESS and covered))
        else:
            checks.append(Check("Cauchy noise: width over the GP", found, covered))
    return Result(name, seconds, [Comparison("GaussianProcessRegressor, tuned", others)], checks)

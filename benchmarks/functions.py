"""Bands of functions with a norm bound, beside one decomposition and a Gaussian process."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels

import unassuming as ua
from benchmarks.clock import best_times
from benchmarks.function_widths import beside_process, cells_and_joint, pointwise
from benchmarks.result import Check, Comparison, Result

M, INPUTS, LEVEL, GAMMA, ALPHA, BOUND = 100, 100, 0.9, 0.5, 1.0, 60.0
LARGE, SMALL = 1000, 300
TARGET_DECOMPOSITION, TARGET_PROCESS = 40, 3
ALL_CORES = True
TITLE = (
    f"Bands of functions with a norm bound, {LEVEL:.0%}, from the data to the bounds, on all cores."
    f"\nThe first two: simultaneous, Laplacian kernel, m = {M}, {INPUTS} inputs; targets: at most "
    f"{TARGET_DECOMPOSITION} times as long as one decomposition, and\n{TARGET_PROCESS} times as "
    "long as a Gaussian process. The others: Gaussian kernel, x sin x"
)


def data(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(n, 1))
    y = X[:, 0] * np.sin(X[:, 0]) + rng.laplace(size=n)
    return X, y, np.linspace(0, 10, INPUTS)[:, None]


def band(X: np.ndarray, y: np.ndarray, Z: np.ndarray) -> Any:
    model = KernelRidge(kernel="laplacian", gamma=GAMMA, alpha=ALPHA)
    region = ua.confidence_region(model, X, y, m=M, random_state=0)
    return region.band(Z, LEVEL, norm_bound=BOUND, method="joint")


def finite(found: Any) -> Check:
    half = (found.upper - found.lower) / 2
    fine = bool(np.isfinite(half).all()) and found.status.name == "CERTIFIED"
    return Check("bounds", f"{found.status.name}, median half-width {np.median(half):.3g}", fine)


def against_decomposition(name: str) -> Result:
    X, y, Z = data(LARGE)
    K = pairwise_kernels(X, metric="laplacian", gamma=GAMMA)
    (seconds, one), (found, _) = best_times(
        lambda: band(X, y, Z), lambda: eigh(K), rounds=2, clock=perf_counter
    )
    target = round(1 / TARGET_DECOMPOSITION, 3)
    comparison = Comparison(f"scipy.linalg.eigh, n = {LARGE:,}", one, target)
    return Result(name, seconds, [comparison], [finite(found)])


def against_process(name: str) -> Result:
    X, y, Z = data(SMALL)

    def process() -> np.ndarray:
        kernel = ConstantKernel() * Matern(nu=0.5) + WhiteKernel()
        return np.stack(
            GaussianProcessRegressor(kernel, normalize_y=True).fit(X, y).predict(Z, return_std=True)
        )

    (seconds, other), (found, _) = best_times(
        lambda: band(X, y, Z), process, rounds=4, clock=perf_counter
    )
    target = round(1 / TARGET_PROCESS, 3)
    comparison = Comparison("GaussianProcessRegressor, tuned, same kernel", other, target)
    return Result(name, seconds, [comparison], [finite(found)])


CASES = {
    f"n = {LARGE:,}": against_decomposition,
    f"n = {SMALL}": against_process,
    "one at a time, n = 500": pointwise,
    "cells, n = 500": cells_and_joint,
    "beside a GP, n = 200": beside_process,
}

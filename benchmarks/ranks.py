"""Ranks of many candidates, compared with a direct implementation of the formula."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

import unassuming as ua
from benchmarks import plain
from benchmarks.clock import best_times, peak_memory
from benchmarks.result import Check, Comparison, Result

N, M, GAMMA = 20, 100, 0.5
COUNTS = {
    "kernel ridge": 1_000_000,
    "kernel lasso": 200_000,
    "SVR": 200_000,
    "SVR, identity": 200_000,
    "kernel Huber": 200_000,
}
PLAIN_CANDIDATES = 300
ROUNDS = 3
BATCH = 10_000
TARGET_CASE, TARGET_RATIO, TARGET_BYTES = "kernel ridge", 500, 10**9
TARGET_PRODUCT = 2  # times a bare product of the same size, at most
PRODUCT_BATCH = 1024
TITLE = f"Ranks of many candidates, n = {N}, m = {M}, on all cores"
ALL_CORES = True


def model_of(name: str, K: np.ndarray) -> tuple[Any, plain.Model]:
    """Return an estimator, and its gradient written plainly."""
    kernel = {"kernel": "rbf", "gamma": GAMMA}
    if name == "kernel ridge":
        return KernelRidge(alpha=2.0, **kernel), plain.kernel_ridge(K, lam=2.0 / N)
    if name == "kernel lasso":
        return ua.KernelLasso(alpha=0.5, **kernel), plain.kernel_lasso(K, lam=0.5)
    if name == "kernel Huber":
        model = ua.KernelHuber(alpha=1.0, delta=1.0, **kernel)
        return model, plain.kernel_huber(K, lam=1.0 / N, delta=1.0)
    identity = name == "SVR, identity"
    return SVR(C=10.0, epsilon=0.1, **kernel), plain.svr(K, epsilon=0.1, identity=identity)


def measure(name: str) -> Result:
    """Rank the candidates with the library, and some of them plainly."""
    count = COUNTS[name]
    X, y, _ = ua.datasets.sine(n=N, noise="laplace", random_state=0)
    estimator, model = model_of(name, rbf_kernel(X, gamma=GAMMA))
    options = {"weighting": "identity"} if name == "SVR, identity" else {}
    region = ua.confidence_region(estimator, X, y, m=M, random_state=0, **options)
    a = draw_candidates(region.estimate, count)
    (seconds, product), (ranks, _) = best_times(
        lambda: region.rank(a), lambda: bare_product(count), rounds=ROUNDS, clock=perf_counter
    )
    memory = peak_memory()

    signs = region.perturbations.apply(np.ones(N))
    some = np.linspace(0, count - 1, min(count, PLAIN_CANDIDATES), dtype=int)
    (plain_seconds,), (expected,) = best_times(
        lambda: [plain.rank(a[j], y, model, signs, region.tie_order) for j in some],
        rounds=ROUNDS,
        clock=perf_counter,
    )
    equal = int(np.sum(ranks[some] == expected))
    checks = [Check("equal ranks", f"{equal} of {len(some)}", equal == len(some))]
    held = name == TARGET_CASE
    if memory is not None:
        within = memory < TARGET_BYTES or not held
        limit = f", limit {TARGET_BYTES / 1e9:g} GB" if held else ""
        checks.append(Check("peak memory", f"{memory / 1e6:.0f} MB{limit}", within))
    loop = Comparison(
        f"a plain loop, extrapolated from {len(some)}",
        plain_seconds / len(some) * count,
        TARGET_RATIO if held else None,
    )
    floor = Comparison(
        "bare dgemm of the lifted size, in batches", product, 1 / TARGET_PRODUCT if held else None
    )
    return Result(f"{name}, {count:,}", seconds, [loop, floor], checks, memory)


def bare_product(count: int) -> None:
    """Multiply (m - 1) × (monomials of n numbers, up to squares) with as many candidates."""
    monomials = (N + 1) * (N + 2) // 2
    table, batch = np.ones((M - 1, monomials)), np.ones((monomials, PRODUCT_BATCH))
    out = np.empty((M - 1, PRODUCT_BATCH))
    for _ in range(0, count, PRODUCT_BATCH):
        np.matmul(table, batch, out=out)


def draw_candidates(estimate: np.ndarray, count: int) -> np.ndarray:
    """Draw coefficients around the estimate, near and far; in batches, to spare memory."""
    rng = np.random.default_rng(1)
    a = np.empty((count, len(estimate)))
    for start in range(0, count, BATCH):
        batch = a[start : start + BATCH]
        distance = 10 ** rng.uniform(-1.5, 0.5, size=(len(batch), 1))
        batch[:] = estimate + distance * rng.standard_normal(batch.shape)
    return a


CASES = dict.fromkeys(COUNTS, measure)

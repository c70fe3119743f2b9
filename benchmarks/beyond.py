"""Regression quantiles: ranks against a plain loop, crossings against bisection."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import QuantileRegressor

import unassuming as ua
from benchmarks.clock import best_times
from benchmarks.crossings import bisect, brackets
from benchmarks.result import Check, Comparison, Result

N, M, LEVEL = 200, 100, 0.9
CANDIDATES, PLAIN_CANDIDATES, LINES = 100_000, 200, 1_000
TOLERANCE = 1e-9
ROUNDS, TARGET_RANKS, TARGET_LINES = 3, 50, 1
TITLE = f"Beyond symmetric noise: regression quantiles, n = {N}, m = {M}, three coefficients"


def region_of(alpha: float) -> ua.Region:
    """Return a region for skewed noise whose scale changes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = 1 + X @ [1.0, -0.5] + (0.3 + np.abs(X[:, 0])) * rng.lognormal(size=N)
    model = QuantileRegressor(quantile=0.5, alpha=alpha)
    return ua.confidence_region(model, X, y, m=M, random_state=0)


def plain_rank(region: ua.Region, psi: np.ndarray, below: np.ndarray, a: np.ndarray) -> int:
    """Rank one candidate by the formula, all fresh indicators at once."""
    phi, tau = region.objective.design.matrix, region.noise.tau
    r = region.objective.y - phi @ a
    b = np.vstack([r < 0, below])
    z = ((tau - b) @ phi - region.objective.penalty * np.sign(a)) @ psi
    Z = np.sum(z**2, axis=1)
    return 1 + int(np.sum(Z[1:] < Z[0]))


def ranks(name: str) -> Result:
    """Rank many candidates with the library, and some of them plainly."""
    region = region_of(ALPHAS[name[5:]])
    a = region.estimate + 0.2 * np.random.default_rng(1).normal(size=(CANDIDATES, 3))
    phi = region.objective.design.matrix
    w, v = np.linalg.eigh(phi.T @ phi)
    psi, below = v @ np.diag(w**-0.5) @ v.T, region.perturbations.apply(np.ones(N)) < 0
    some = np.linspace(0, CANDIDATES - 1, PLAIN_CANDIDATES, dtype=int)
    (seconds, slow), (found, expected) = best_times(
        lambda: region.rank(a),
        lambda: [plain_rank(region, psi, below, a[j]) for j in some],
        rounds=ROUNDS,
    )
    equal = int(np.sum(found[some] == expected))
    against = Comparison(
        f"a plain loop, extrapolated from {len(some)}",
        slow / len(some) * CANDIDATES,
        TARGET_RANKS,
    )
    check = Check("equal ranks", f"{equal} of {len(some)}", equal == len(some))
    return Result(f"{name}, {CANDIDATES:,}", seconds, [against], [check])


def lines(name: str) -> Result:
    """Cross many lines, exactly and by bisection with the library's fast membership."""
    region = region_of(ALPHAS[name[5:]])
    directions = np.random.default_rng(1).standard_normal((LINES, 3))

    def cross() -> list[np.ndarray]:
        return region.crossings(directions, LEVEL)

    line, t, inside, outside = brackets(cross())
    (seconds, fast), (_, found) = best_times(
        cross, lambda: bisect(region, directions[line], inside, outside), rounds=ROUNDS
    )
    equal = int((np.abs(found - t) <= 2 * TOLERANCE * np.maximum(1, np.abs(t))).sum())
    against = Comparison(f"bisection to {TOLERANCE:g}, fast membership", fast, TARGET_LINES)
    check = Check("equal ends", f"{equal:,} of {len(t):,}", equal == len(t))
    return Result(f"{name}, {LINES:,}", seconds, [against], [check])


ALPHAS = {"": 0.0, ", penalised": 0.02}
CASES = {
    f"{what}{kind}": measure
    for what, measure in {"ranks": ranks, "lines": lines}.items()
    for kind in ALPHAS
}

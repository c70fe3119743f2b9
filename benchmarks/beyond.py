"""Regression quantiles and dynamical systems: ranks by plain loops, lines by bisection."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter
from sklearn.linear_model import QuantileRegressor

import unassuming as ua
from benchmarks.clock import best_times
from benchmarks.crossings import bisect, brackets
from benchmarks.result import Check, Comparison, Result

N, M, LEVEL = 200, 100, 0.9
CANDIDATES, PLAIN_CANDIDATES, LINES = 100_000, 200, 1_000
TOLERANCE = 1e-9
ROUNDS, TARGET_RANKS, TARGET_LINES = 3, 50, 1
SYSTEM_N, SYSTEMS, PLAIN_SYSTEMS = 500, 1_000, 2
TITLE = (
    f"Beyond symmetric noise and fixed inputs: regression quantiles, n = {N}, m = {M}, three "
    f"coefficients; ARX(1, 1), n = {SYSTEM_N}, m = {M}"
)


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


def system_rank(region: ua.Region, signs: np.ndarray, theta: np.ndarray, *, filtered: bool) -> int:
    """Rank one candidate of ARX(1, 1), one sign vector at a time.

    The output is computed step by step, or by SciPy's compiled filter.
    """
    series = region.objective.series
    y, u = series.outputs, series.fixed[:, 0]
    e = region.objective.residuals(theta)
    a, drive, start = theta[0], theta[1] * u, series.initial[0]
    Z = []
    for s in signs:
        v = drive + s * e
        outputs = np.empty(len(y) + 1)
        outputs[0] = start
        if filtered:
            outputs[1:] = lfilter([1.0], [1.0, -a], v, zi=[a * start])[0]
        else:
            for t in range(len(y)):
                outputs[t + 1] = a * outputs[t] + v[t]
        q = np.linalg.qr(np.column_stack([outputs[:-1], u]))[0]
        Z.append(np.sum((q.T @ (s * e)) ** 2))
    return 1 + sum(z < Z[0] for z in Z[1:])


def systems(name: str) -> Result:
    """Rank many dynamical systems in passes over time, and some of them one by one."""
    u, y, truth = ua.datasets.arx(n=SYSTEM_N + 1, noise="student", random_state=0)
    region = ua.confidence_region(ua.ARX(1, 1), u, y, m=M, random_state=0)
    candidates = truth + 0.05 * np.random.default_rng(1).normal(size=(SYSTEMS, 2))
    ones = np.ones(region.n)
    signs = np.vstack([ones, region.perturbations.apply(ones)])
    some = np.linspace(0, SYSTEMS - 1, PLAIN_SYSTEMS, dtype=int)
    (seconds, *slow), (found, *expected) = best_times(
        lambda: region.rank(candidates),
        *(
            lambda filtered=filtered: [  # type: ignore[misc]
                system_rank(region, signs, candidates[j], filtered=filtered) for j in some
            ]
            for filtered in (False, True)
        ),
        rounds=ROUNDS,
    )
    equal = int(np.sum(found[some] == expected))
    whole = [one / len(some) * SYSTEMS for one in slow]
    against = [
        Comparison(f"a plain loop, extrapolated from {len(some)}", whole[0], TARGET_RANKS),
        Comparison("a loop with compiled filters", whole[1]),
    ]
    check = Check("equal ranks", f"{equal} of {2 * len(some)}", equal == 2 * len(some))
    return Result(f"{name}, {SYSTEMS:,}", seconds, against, [check])


ALPHAS = {"": 0.0, ", penalised": 0.02}
CASES = {
    f"{what}{kind}": measure
    for what, measure in {"ranks": ranks, "lines": lines}.items()
    for kind in ALPHAS
} | {"systems": systems}

"""Crossings of many lines, compared with bisection by the library's own membership test."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVR

import unassuming as ua
from benchmarks.clock import best_times
from benchmarks.result import Check, Comparison, Result

N, M, LEVEL, LINES = 50, 100, 0.9, 1_000
TOLERANCE = 1e-9
ROUNDS, TARGET_RATIO = 3, 10
TITLE = (
    f"Exact crossings of {LINES:,} lines through the estimate, n = {N}, m = {M}, level {LEVEL},"
    " against bisection with the\nlibrary's own membership to every end, which is told the number"
    " of intervals and a bracket for each end"
)
KERNEL = {"kernel": "rbf", "gamma": 0.5}
MODELS = {
    "kernel lasso": ua.KernelLasso(alpha=1.0, **KERNEL),
    "SVR": SVR(C=12.5, epsilon=0.3, **KERNEL),
}


def measure(name: str) -> Result:
    """Cross the lines, exactly and by bisection; isolated points, which that never finds, apart."""
    X, y, _ = ua.datasets.sine(n=N, noise="laplace", random_state=0)
    region = ua.confidence_region(MODELS[name], X, y, m=M, random_state=0)
    directions = np.random.default_rng(1).standard_normal((LINES, region.objective.d))

    def cross() -> list[np.ndarray]:
        return region.crossings(directions, LEVEL)

    line, t, inside, outside = brackets(cross())
    # Membership as it was before one product ranked all candidates.
    careful = ua.confidence_region(MODELS[name], X, y, m=M, random_state=0)
    careful._engine.__dict__["_screen"] = None
    (seconds, slow, fast), (_, found, _) = best_times(
        cross,
        lambda: bisect(careful, directions[line], inside, outside),
        lambda: bisect(region, directions[line], inside, outside),
        rounds=ROUNDS,
    )
    equal = int((np.abs(found - t) <= 2 * TOLERANCE * np.maximum(1, np.abs(t))).sum())
    return Result(
        name,
        seconds,
        [
            Comparison(f"bisection to {TOLERANCE:g}, careful membership", slow, TARGET_RATIO),
            Comparison(f"bisection to {TOLERANCE:g}, membership by one product", fast),
        ],
        [Check("equal ends", f"{equal:,} of {len(t):,}", equal == len(t))],
    )


def brackets(spans: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return line, end, and a point on either side, for all finite ends of proper intervals."""
    found = []
    for line, intervals in enumerate(spans):
        gaps = np.concatenate([[np.inf], intervals[1:, 0] - intervals[:-1, 1], [np.inf]])
        for (low, high), before, after in zip(intervals, gaps[:-1], gaps[1:], strict=True):
            if low == high:
                continue
            half = (high - low) / 2 if np.isfinite(high - low) else 1.0
            if np.isfinite(low):
                found.append((line, low, low + half, low - min(half, before / 2)))
            if np.isfinite(high):
                found.append((line, high, high - half, high + min(half, after / 2)))
    line, t, inside, outside = (np.array(part) for part in zip(*found, strict=True))
    return line.astype(int), t, inside, outside


def bisect(
    region: Any, directions: np.ndarray, inside: np.ndarray, outside: np.ndarray
) -> np.ndarray:
    """Halve all brackets until each is TOLERANCE wide; those that are drop out."""
    inside, outside = inside.copy(), outside.copy()
    left = np.arange(len(inside))
    while True:
        left = left[np.abs(inside[left] - outside[left]) > TOLERANCE]
        if len(left) == 0:
            return (inside + outside) / 2
        middle = (inside[left] + outside[left]) / 2
        member = region.contains(region.estimate + middle[:, None] * directions[left], LEVEL)
        inside[left] = np.where(member, middle, inside[left])
        outside[left] = np.where(member, outside[left], middle)


CASES = dict.fromkeys(MODELS, measure)

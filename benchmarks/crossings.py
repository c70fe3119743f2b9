"""Crossings of many lines against bisection with the library's own membership."""

from __future__ import annotations

import json
import sys
from time import process_time
from typing import Any

import numpy as np
from sklearn.svm import SVR

import unassuming as ua

N, M, LEVEL, LINES = 50, 100, 0.9, 1_000
TOLERANCE = 1e-9
CASES = ("kernel lasso", "SVR")


def measure_crossings(name: str, count: int = LINES) -> dict[str, Any]:
    """Cross lines through the estimate, exactly and by bisection to every end.

    Bisection is told what it could not know: how many intervals there are, and a bracket for each
    end that reaches into the interval and as far out. It asks for all ends of all lines at once.
    Isolated points, which it would never find, are left out.
    """
    X, y, _ = ua.datasets.sine(n=N, noise="laplace", random_state=0)
    kernel = {"kernel": "rbf", "gamma": 0.5}
    estimator = (
        ua.KernelLasso(alpha=1.0, **kernel)
        if name == "kernel lasso"
        else SVR(C=12.5, epsilon=0.3, **kernel)
    )
    region = ua.confidence_region(estimator, X, y, m=M, random_state=0)
    directions = np.random.default_rng(1).standard_normal((count, region.objective.d))
    origins = np.broadcast_to(region.estimate, directions.shape)
    q = region.level(LEVEL).q
    seconds, spans = best_time(lambda: region._lines.intervals(origins, directions, [q])[0])

    line, t, inside, outside = brackets(spans)
    start = process_time()
    found = bisect(region, directions[line], inside, outside)
    slow = process_time() - start
    return {
        "case": f"crossings, {name}",
        "n": N,
        "m": M,
        "lines": count,
        "ratio": slow / seconds,
        "library_seconds": seconds,
        "bisection_seconds": slow,
        "ends": len(t),
        "equal_ends": int((np.abs(found - t) <= 2 * TOLERANCE * np.maximum(1, np.abs(t))).sum()),
    }


def best_time(function: Any, rounds: int = 3) -> tuple[float, Any]:
    times = []
    for _ in range(rounds):
        start = process_time()
        result = function()
        times.append(process_time() - start)
    return min(times), result


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


if __name__ == "__main__":
    for case in CASES:
        print(json.dumps(measure_crossings(case, int((sys.argv[1:] or [LINES])[0]))))

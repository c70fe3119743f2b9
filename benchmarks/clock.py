"""Measure the time and the memory of this process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np


def best_times(
    *functions: Callable[[], Any], rounds: int, clock: Callable[[], float] = process_time
) -> tuple[list[float], list[Any]]:
    """Return the shortest time of each function over a few rounds, and its last result.

    They take turns, so that a machine that is busy for a while disturbs all of them alike.
    """
    _keep_memory()
    times: list[list[float]] = [[] for _ in functions]
    results: list[Any] = [None] * len(functions)
    for _ in range(rounds):
        for j, function in enumerate(functions):
            start = clock()
            results[j] = function()
            times[j].append(clock() - start)
    return [min(t) for t in times], results


def _keep_memory() -> None:
    """Let the allocator see one large array come and go.

    glibc then stops handing memory back to the system after every call, which would be timed.
    """
    np.ones(2**21)


def peak_memory() -> int | None:
    """Return the largest memory of this program so far, or None where it cannot be asked."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux: the other figure would outlive the parent's, from before exec
        return 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak

"""Run every case in its own process, print tables and write benchmarks/results.json.

This process does not import large packages, because on some systems the memory that a child process
reports includes that of its parent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

SUBJECTS = (
    "ranks",
    "ellipsoids",
    "bands",
    "crossings",
    "kernels",
    "functions",
    "streaming",
    "dask",
    "cells",
    "beyond",
    "growth",
)
RESULTS = Path(__file__).with_name("results.json")
ROOT = RESULTS.parent.parent
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
ONE_THREAD = dict.fromkeys(LIMITS, "1")
HEADING = ("case", "library", "against", "time", "times faster", "target")
COLUMNS = "{:<24}{:>10}   {:<44}{:>10}{:>14}   {}"


def main(subjects: list[str]) -> int:
    unknown = sorted(set(subjects) - set(SUBJECTS))
    if unknown:
        print(f"There is no benchmark of {unknown[0]}: choose from {', '.join(SUBJECTS)}.")
        return 2
    results, missed = [], []
    for subject in subjects:
        about = call(subject, wait=subject)
        print(about["title"] + "\n")
        for number, name in enumerate(about["cases"]):
            limits = {} if about["all_cores"] else ONE_THREAD
            result = call(subject, str(number), wait=f"{subject}: {name}", limits=limits)
            results.append(result)
            if number == 0 and not result["growth"]:
                print(COLUMNS.format(*HEADING))
            missed += [f"{name}: {fault}" for fault in show(result)]
        print()
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if "growth" in subjects:
        subprocess.run([sys.executable, "-m", "benchmarks.picture"], cwd=ROOT, check=True)
    print("\n".join(f"MISSED  {fault}" for fault in missed) or "No target is missed.")
    print("Best of a few rounds, or of one that takes long; on one thread unless said otherwise.")
    print(f"Raw figures: {RESULTS.parent.name}/{RESULTS.name}")
    return 1 if missed else 0


def call(*arguments: str, wait: str, limits: Mapping[str, str] = ONE_THREAD) -> Any:
    """Run benchmarks.case, with a sign of life on a terminal once a second has passed."""
    command = [sys.executable, "-m", "benchmarks.case", *arguments]
    start, shown = monotonic(), False
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, **limits}
    ) as child:
        while True:
            try:
                output, _ = child.communicate(timeout=1)
                break
            except subprocess.TimeoutExpired:
                if sys.stderr.isatty():
                    line = f"\rmeasuring {wait}, {monotonic() - start:.0f} s "
                    print(line, end="", file=sys.stderr, flush=True)
                    shown = True
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    if child.returncode:
        sys.exit(f"The measurement of {wait} failed with exit code {child.returncode}.")
    return json.loads(output)


def show(result: dict[str, Any]) -> list[str]:
    """Print the rows of one case, and return what it misses."""
    missed = []
    left = (result["case"], duration(result["seconds"]))
    for comparison in result["comparisons"]:
        ratio, target = comparison["seconds"] / result["seconds"], comparison["target"]
        verdict = ""
        if target is not None:
            met = ratio >= target
            verdict = f"{target:g}: {'met' if met else 'MISSED'}"
            if not met:
                speed = f"{figure(ratio)} in place of {target:g} times the speed"
                missed.append(f"{speed} of {comparison['against']}")
        right = (comparison["against"], duration(comparison["seconds"]), figure(ratio), verdict)
        print(COLUMNS.format(*left, *right).rstrip())
        left = ("", "")
    if result["growth"]:
        growth = result["growth"]
        pairs = zip(growth["sizes"], growth["seconds"], strict=True)
        times = ", ".join(f"{size:,}: {duration(seconds)}" for size, seconds in pairs)
        print(f"{left[0]:<26}{growth['variable']}^{growth['exponent']:.2f}   {times}")
    for check in result["checks"]:
        verdict = "met" if check["met"] else "MISSED"
        print(COLUMNS.format("", "", f"{check['what']}: {check['found']}", "", "", verdict))
        if not check["met"]:
            missed.append(f"{check['what']}: {check['found']}")
    return missed


def duration(seconds: float) -> str:
    return f"{figure(seconds)} s" if seconds >= 1 else f"{figure(1e3 * seconds)} ms"


def figure(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(SUBJECTS)))

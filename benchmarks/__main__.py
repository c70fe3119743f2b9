"""Run every case in a process of its own, print a table, write benchmarks/results.json.

This process imports nothing large: on some systems the memory that a child reports starts from
that of its parent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Any

CASES = {"kernel ridge": 1_000_000, "kernel lasso": 100_000, "SVR": 100_000}
TARGET_CASE, TARGET_RATIO, TARGET_BYTES = "kernel ridge", 100, 10**9
RESULTS = Path(__file__).with_name("results.json")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
COLUMNS = "{:<14}{:>12}{:>15}{:>15}{:>14}"


def main() -> int:
    results = [run(name, count, number) for number, (name, count) in enumerate(CASES.items(), 1)]
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print_table(results)
    missed = [f"{result['case']}: {fault}" for result in results for fault in faults(result)]
    print("\n".join(f"MISSED  {fault}" for fault in missed) or "All targets are met.")
    print(f"Raw figures: {RESULTS.parent.name}/{RESULTS.name}")
    return 1 if missed else 0


def run(name: str, count: int, number: int) -> dict[str, Any]:
    """Measure one case, with a sign of life on a terminal once a second has passed."""
    command = [sys.executable, "-m", "benchmarks.measure", name, str(count)]
    root = RESULTS.parent.parent
    start, shown = monotonic(), False
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=root, env={**os.environ, **ONE_THREAD}
    ) as child:
        while True:
            try:
                output, _ = child.communicate(timeout=1)
                break
            except subprocess.TimeoutExpired:
                if sys.stderr.isatty():
                    elapsed = f"{monotonic() - start:.0f} s"
                    line = f"\rmeasuring {name} ({number} of {len(CASES)}), {elapsed} "
                    print(line, end="", file=sys.stderr, flush=True)
                    shown = True
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    if child.returncode:
        sys.exit(f"The measurement of {name} failed with exit code {child.returncode}.")
    return json.loads(output)


def faults(result: dict[str, Any]) -> list[str]:
    """Say which targets a case misses."""
    found = []
    if result["equal_ranks"] != result["compared_ranks"]:
        found.append("the ranks differ from those of the plain formula")
    if result["case"] == TARGET_CASE:
        if result["ratio"] < TARGET_RATIO:
            found.append(f"less than {TARGET_RATIO} times faster than the plain formula")
        if (result["peak_memory_bytes"] or 0) >= TARGET_BYTES:
            found.append("1 GB of memory or more")
    return found


def print_table(results: list[dict[str, Any]]) -> None:
    first = results[0]
    print(
        f"Ranks of many candidates, n = {first['n']}, m = {first['m']}, on one thread: the library"
        " against\na plain loop over candidates and transformations"
        f" (timed on {first['compared_ranks']} candidates).\n"
    )
    print(COLUMNS.format("case", "candidates", "times faster", "equal ranks", "peak memory"))
    for result in results:
        memory = result["peak_memory_bytes"]
        ratio = result["ratio"]
        print(
            COLUMNS.format(
                result["case"],
                f"{result['candidates']:,}",
                f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}",
                f"{result['equal_ranks']} of {result['compared_ranks']}",
                "-" if memory is None else f"{memory / 1e6:.0f} MB",
            )
        )
    print(
        f"\nTargets for {TARGET_CASE}: at least {TARGET_RATIO} times faster, under"
        f" {TARGET_BYTES / 1e9:.0f} GB. All ranks must be equal."
    )


if __name__ == "__main__":
    sys.exit(main())

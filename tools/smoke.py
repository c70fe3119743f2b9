"""A first use of an installed wheel.

``python tools/smoke.py bare`` expects an environment without any of the extras, and ``python
tools/smoke.py extras`` one with the command line and the pictures. Run it with ``-P`` and outside
the sources, so that the installed package is the one that is tried.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.linear_model import LinearRegression

import unassuming as ua

OPTIONAL = ("matplotlib", "typer", "rich", "pandas", "pyarrow", "openpyxl", "dask", "distributed")
COMMAND = Path(sysconfig.get_path("scripts"), "unassuming")


def expect(so: bool, what: str) -> None:
    """Stop unless it is so."""
    if not so:
        raise SystemExit(f"smoke test failed: {what}")


def run(*words: str, where: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command ``unassuming``."""
    return subprocess.run([COMMAND, *words], cwd=where, capture_output=True, text=True, check=False)


def installed() -> None:
    """The package is the installed one, typed, and as old as it says."""
    home = Path(ua.__file__).parent
    expect("site-packages" in home.parts, f"{home} is not the installed package")
    expect((home / "py.typed").is_file(), "py.typed is missing")
    version = importlib.metadata.version("unassuming")
    expect(ua.__version__ == version, f"{ua.__version__} is not the installed version {version}")


def tiny_region() -> ua.Region:
    """A region of 30 rows has finite bounds, and tests what it is asked."""
    X, y, coefficients = ua.datasets.linear(n=30, d=1, random_state=0)
    region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    interval = region.interval(level=0.9, simultaneous=True, method="joint")
    expect(bool(np.isfinite(interval.upper - interval.lower).all()), "an interval is infinite")
    expect(region.rank(region.estimate) == 1, "the estimate does not come first")
    expect(region.contains(coefficients + 100, level=0.9) is False, "far coefficients are inside")
    expect("95 % intervals" in str(region.summary()), "the summary does not print")
    return region


def sentence(call: object, *words: str) -> None:
    """What needs an extra says so in one sentence."""
    try:
        call()  # type: ignore[operator]
    except ImportError as error:
        said = str(error)
        expect(all(word in said for word in words), f"the error does not say {words}: {said}")
        print(f"  without the extra: {said}")
    else:
        raise SystemExit(f"smoke test failed: no error that names {words}")


def bare() -> None:
    """Without extras the library works, and what needs one names it."""
    there = [name for name in OPTIONAL if find_spec(name)]
    expect(not there, f"the environment is not bare: {there}")
    region = tiny_region()
    sentence(lambda: ua.plots.band(region), "matplotlib", "unassuming[plot]")
    sentence(
        lambda: region.interval(simultaneous=True, method="joint").to_frame(),
        "pandas",
        "pip install",
    )
    helped = run("--help")
    expect(helped.returncode == 2, f"unassuming --help ended with {helped.returncode}")
    expect(helped.stderr.count("\n") == 1, f"not one line: {helped.stderr}")
    expect('pip install "unassuming[cli,plot]"' in helped.stderr, helped.stderr)
    print(f"  without the extra: {helped.stderr.strip()}")


def extras() -> None:
    """With the extras the commands run."""
    tiny_region()
    helped = run("--help")
    expect(helped.returncode == 0 and "region" in helped.stdout, helped.stdout + helped.stderr)
    X, y, _ = ua.datasets.linear(n=60, d=2, random_state=0)
    with tempfile.TemporaryDirectory() as where:
        lines = ["dose,age,growth", *(f"{a},{b},{c}" for (a, b), c in zip(X, y, strict=True))]
        Path(where, "table.csv").write_text("\n".join(lines), encoding="utf-8")
        for words, written in (
            (("region", "table.csv", "--target", "growth"), "unassuming-region/region.json"),
            (("summary", "table.csv", "--target", "growth"), "unassuming-summary/forest.png"),
            (("report", "table.csv", "--target", "growth", "-o", "r.html"), "r.html"),
        ):
            done = run(*words, where=where)
            expect(done.returncode == 0, f"{words[0]}: {done.stdout}{done.stderr}")
            expect(Path(where, written).is_file(), f"{words[0]} wrote no {written}")


if __name__ == "__main__":
    installed()
    {"bare": bare, "extras": extras}[sys.argv[1]]()
    print(f"smoke test passed: unassuming {ua.__version__}, {sys.argv[1]}")

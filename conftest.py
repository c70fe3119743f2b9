"""Names that every example in a docstring may use without setting them up, and a faster start."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

LONG_FILES = {
    "test_checkpoint.py",
    "test_cli_stream.py",
    "test_dask.py",
    "test_demo.py",
    "test_io.py",
    "test_paper_command.py",
    "test_readme.py",
    "test_testing_coverage.py",
}
"""Files with tests of several seconds. They come first: one of them at the end would run while the
other processes have nothing left to do."""

LONG_EXAMPLES = (
    "unassuming.estimators.classifier.",
    "unassuming.estimators.tuned.",
    "unassuming.paper.reproduce.",
    "unassuming.planning.",
    "unassuming.plots.band.classification",
    "unassuming.plots.others.plan",
    "unassuming.regions.region.Region.norm_bounds_table",
    "unassuming.testing.coverage.",
)
"""Modules or objects with examples that take more than half a second."""


TESTS = Path(__file__).parent / "tests"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings of the library alone: tests have none."""
    found = yield
    if file_path.is_relative_to(TESTS):
        return [one for one in found if isinstance(one, pytest.Module)]
    return found


def pytest_collection() -> None:
    """Stop the garbage collector: the thousands of objects made now stay in use."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Start it again, and let it leave alone what has been made until now."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and put the longest files first.

    Where a test is marked slow_but_first, all its cases are slow but the first.
    """
    items.sort(key=lambda item: item.path.name not in LONG_FILES)
    seen = set()
    for item in items:
        if item.name.startswith(LONG_EXAMPLES):
            item.add_marker("slow")
        if item.get_closest_marker("slow_but_first") and not item.get_closest_marker("slow"):
            test = item.nodeid.partition("[")[0]
            if test in seen:
                item.add_marker("slow")
            seen.add(test)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Where several processes run tests, send one message for a test in place of five.

    That a test begins and ends, and that its fixtures work, need not be said.
    """
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.fixture(scope="session")
def python(pytestconfig: pytest.Config) -> list[str]:
    """The command that starts Python with the warning filters of this run of the tests."""
    given = pytestconfig.getoption("pythonwarnings") or []
    return [sys.executable, *(f"-W{one}" for one in pytestconfig.getini("filterwarnings") + given)]


@pytest.fixture(autouse=True, scope="session")
def _files_in_memory() -> Iterator[None]:
    """Do not wait for the disk: no test pulls the plug."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def _examples(doctest_namespace: dict[str, Any]) -> None:
    # Imported here: the process that hands out the tests runs none, and starts faster without.
    import numpy as np
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer

    import unassuming as ua

    X, y, coefficients = ua.datasets.linear(n=50, d=2, random_state=0)
    doctest_namespace |= {
        "np": np,
        "ua": ua,
        "KernelRidge": KernelRidge,
        "Lasso": Lasso,
        "LinearRegression": LinearRegression,
        "Ridge": Ridge,
        "RidgeClassifier": RidgeClassifier,
        "SplineTransformer": SplineTransformer,
        "make_pipeline": make_pipeline,
        "X": X,
        "y": y,
        "coefficients": coefficients,
        "region": ua.confidence_region(LinearRegression(), X, y, random_state=0),
    }

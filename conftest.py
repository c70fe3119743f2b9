"""Names that every example in a docstring may use without setting them up, and a faster start."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua


def pytest_collection() -> None:
    """Stop the garbage collector: the thousands of objects made now stay in use."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Start it again, and let it leave alone what has been made until now."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all cases of a test slow but the first, where the test is marked slow_but_first."""
    seen = set()
    for item in items:
        if item.get_closest_marker("slow_but_first") and not item.get_closest_marker("slow"):
            test = item.nodeid.partition("[")[0]
            if test in seen:
                item.add_marker("slow")
            seen.add(test)


@pytest.fixture(autouse=True, scope="session")
def _examples(doctest_namespace: dict[str, Any]) -> None:
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

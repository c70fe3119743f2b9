"""Columns that repeat earlier outputs: found exactly, and nothing else is."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import unassuming as ua
from unassuming.inputs import lagged_outputs


def series(n=40, seed=0):
    u, y, _ = ua.datasets.arx(n=n, random_state=seed)
    return u, y


@pytest.mark.parametrize("shift", [1, 2, 12])
def test_a_shifted_output_is_found_in_every_kind_of_table(shift):
    u, y = series(60)
    X = np.column_stack([u[shift:], y[:-shift]])
    target = y[shift:]
    frame = pd.DataFrame(X, columns=["u", "before"]).assign(text="a")
    assert lagged_outputs(X, target) == ("column 1 of X", shift)
    assert lagged_outputs(X.tolist(), target.tolist()) == ("column 1 of X", shift)
    assert lagged_outputs(sparse.csr_matrix(X), target[:, None]) == ("column 1 of X", shift)
    assert lagged_outputs(frame, pd.Series(target)) == ("column 'before' of X", shift)
    filled = pd.Series(y).shift(shift).fillna(0.0).to_frame("filled")
    assert lagged_outputs(filled, y) == ("column 'filled' of X", shift)


def test_ordinary_tables_raise_no_alarm():
    rng = np.random.default_rng(0)
    n = 60
    tables = {
        "noise": (rng.normal(size=(n, 5)), rng.normal(size=n)),
        "time": (np.arange(n)[:, None], np.arange(n) + 1.0),  # y = x + 1 is a shifted index
        "constant": (np.ones((n, 2)), np.ones(n)),
        "few values": (np.tile([0.0, 1.0], n // 2)[:, None], np.tile([1.0, 0.0], n // 2)),
        "two values, few rows": (np.array([[0.0], [1.0], [1.0]]), np.array([1.0, 1.0, 0.0])),
        "the next output": (np.roll(series(n)[1], -1)[:, None], series(n)[1]),
        "the output itself": (series(n)[1][:, None], series(n)[1]),
        "texts": (np.array([["a"], ["b"]]), np.ones(2)),
        "labels": (rng.normal(size=(3, 1)), np.array(["a", "b", "a"])),
        "one row": (np.ones((1, 1)), np.ones(1)),
    }
    for name, (X, y) in tables.items():
        assert lagged_outputs(X, y) is None, name
    almost = series(n)[1][:-1].copy()
    almost[-1] += 1e-12
    assert lagged_outputs(almost[:, None], series(n)[1][1:]) is None


@pytest.mark.parametrize("seed", range(20))
def test_counts_of_few_rows_raise_no_alarm(seed):
    rng = np.random.default_rng(seed)
    assert lagged_outputs(rng.integers(0, 3, size=(9, 40)), rng.integers(0, 3, size=9)) is None


MODELS = [
    LinearRegression(),
    KernelRidge(kernel="rbf"),
    make_pipeline(StandardScaler(), Ridge()),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_an_ordinary_model_warns_once_and_names_arx(model):
    u, y = series()
    X = np.column_stack([u[:-1], y[:-1]])
    with pytest.warns(UserWarning, match=r"y shifted by 1 row.*ua\.ARX\(na=1") as caught:
        region = ua.confidence_region(model, X, y[1:], random_state=0)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        region.rank(np.zeros(region.objective.d))


def test_classifiers_arx_and_saved_regions_do_not_warn(tmp_path):
    u, y = series()
    X = np.column_stack([u[:-1], y[:-1]])
    with pytest.warns(UserWarning, match="ARX"):
        region = ua.confidence_region(Ridge(), X, y[1:], random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ua.confidence_region(ua.ARX(), u, y, random_state=0)
        ua.confidence_region(LogisticRegression(), X, y[1:] > 0, random_state=0)
        ua.save(region, tmp_path / "a")
        ua.load(tmp_path / "a")

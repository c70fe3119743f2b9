"""Saved regions: the same ranks elsewhere, no code in the file, and nothing half-written."""

import os
import signal
import subprocess
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.svm import SVR, LinearSVR

import unassuming as ua

ROOT = Path(__file__).resolve().parents[1]
RNG = np.random.default_rng(0)
N = 16
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.laplace(size=N)
WEIGHT = np.r_[0.0, RNG.uniform(1, 2, size=N - 2), 0.0]
BLOCKS = np.arange(N) // 3
NAMES = np.where(Y > 0, "yes", "no")


CASES = {
    "least squares": (LinearRegression(), {}),
    "ridge, weights": (Ridge(0.5), {"sample_weight": WEIGHT}),
    "kernel ridge": (KernelRidge(kernel="rbf", gamma=0.7), {}),
    "permutations": (Ridge(0.5), {"noise": "exchangeable"}),
    "both": (Ridge(0.5), {"noise": "symmetric-exchangeable"}),
    "rotations": (Ridge(0.5), {"noise": "spherical"}),
    "blocks": (Ridge(0.5), {"noise": ua.noise.BlockSymmetric(BLOCKS), "sample_weight": WEIGHT}),
    "text blocks": (
        Ridge(0.5),
        {"noise": ua.noise.BlockSymmetric(np.array(["a", "b"], dtype=object)[BLOCKS % 2])},
    ),
    "group": (
        Ridge(0.5),
        {"noise": ua.noise.BlockSymmetric(BLOCKS), "m": "all", "ties": "conservative"},
    ),
    "support vectors": (SVR(C=2.0), {"weighting": "identity"}),
    "lasso": (Lasso(0.1), {}),
    "elastic net": (ElasticNet(0.1), {}),
    "linear support vectors": (LinearSVR(epsilon=0.1), {}),
    "huber": (HuberRegressor(), {}),
    "quantile": (QuantileRegressor(quantile=0.3, alpha=0.1), {}),
    "kernel lasso": (ua.KernelLasso(kernel="rbf"), {}),
    "kernel huber": (ua.KernelHuber(kernel="rbf", kernel_params={}), {}),
    "matrix": (Ridge(0.5), {"weighting": np.diag([1.0, 2.0, 3.0])}),
    "labels": (RidgeClassifier(), {"y": NAMES}),
    "logistic": (LogisticRegression(C=2.0), {"y": NAMES}),
    "numpy parameters": (Ridge(np.float64(0.5), fit_intercept=np.bool_(True)), {}),
    "integer parameters": (KernelRidge(kernel="poly", degree=np.int64(2)), {}),
    "labels as objects": (ua.LSSVC(kernel="rbf"), {"y": NAMES.astype(object)}),
}


def build(model, *, X=X, y=Y, **options):
    return ua.confidence_region(model, X, y, **{"m": 20, "random_state": 3, **options})


def candidates(region):
    rng = np.random.default_rng(5)
    steps = rng.normal(size=(60, region.objective.d)) * np.geomspace(0.01, 3, 60)[:, None]
    return region.estimate + steps


def assert_same(loaded, region):
    tried = candidates(region)
    ranks = region.rank(tried)
    np.testing.assert_array_equal(loaded.rank(tried), ranks)
    np.testing.assert_array_equal(loaded.tie_order, region.tie_order)
    assert str(loaded) == str(region)
    assert repr(loaded) == repr(region)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("case", CASES)
def test_a_loaded_region_is_the_saved_one(case, tmp_path):
    model, options = CASES[case]
    region = build(model, **options)
    ua.save(region, tmp_path / "region")
    loaded = ua.load(tmp_path / "region")
    assert_same(loaded, region)
    assert type(loaded) is type(region)
    np.testing.assert_allclose(loaded.estimate, region.estimate, rtol=1e-12)


LOADER = """
import sys, numpy as np, unassuming as ua
for path in sys.argv[1:]:
    print(*ua.load(path).rank(np.load(path + ".npy")))
"""


def run(python, source, *arguments):
    return subprocess.run(
        [*python, "-c", source, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_ranks_are_the_same_in_another_process(python, tmp_path):
    paths, expected = [], []
    for j, (model, options) in enumerate(CASES.values()):
        region = build(model, **options)
        paths.append(tmp_path / f"{j}")
        ua.save(region, paths[-1])
        np.save(tmp_path / f"{j}.npy", candidates(region))
        expected.append(" ".join(map(str, region.rank(candidates(region)))))
    ran = run(python, LOADER, *paths)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == expected


# --- inputs of every kind -------------------------------------------------------------------------

TOWNS = ["Aa", "Bo", "Cy", "Bo"] * 4
COLUMNS = {"size": X[:, 0], "town": TOWNS, "count": np.arange(N), "flag": Y > 0}
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas category": pd.DataFrame(COLUMNS).astype({"town": "category"}),
    "pandas object": pd.DataFrame(COLUMNS).astype({"town": object}),
    "polars": pl.DataFrame(COLUMNS),
    "polars category": pl.DataFrame(COLUMNS).with_columns(pl.col("town").cast(pl.Categorical)),
    "polars enum": pl.DataFrame(COLUMNS).with_columns(
        pl.col("town").cast(pl.Enum(["Aa", "Bo", "Cy"]))
    ),
}

DAYS = [datetime(2021, 1, 1) + timedelta(days=j) for j in range(N)]


def encoder():
    return make_column_transformer(
        (StandardScaler(), ["size", "count"]),
        (OneHotEncoder(sparse_output=False), ["town"]),
        remainder="passthrough",
    )


@pytest.mark.slow_but_first
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_come_back_as_they_were(kind, tmp_path):
    frame, model = FRAMES[kind], make_pipeline(encoder(), Ridge(0.5))
    region = build(model, X=frame)
    ua.save(region, tmp_path / "region")
    loaded = ua.load(tmp_path / "region", estimator=model)
    assert_same(loaded, region)
    assert type(loaded.inputs) is type(frame)
    assert loaded.inputs.equals(frame)
    assert list(map(str, loaded.inputs.dtypes)) == list(map(str, frame.dtypes))
    assert loaded.rank(lambda data: np.asarray(data["size"])) == region.rank(
        lambda data: np.asarray(data["size"])
    )


def one_number(frame):
    return X[: frame.shape[0], :1]


@pytest.mark.parametrize(
    ("frame", "given"),
    [
        (pd.DataFrame({"a": pd.to_datetime(DAYS).tz_localize("UTC")}), "Timestamp"),
        (pd.DataFrame({"a": pd.period_range("2021", periods=N, freq="M")}), "Period"),
    ],
    ids=["zones", "periods"],
)
def test_columns_of_another_kind_are_refused_by_name(frame, given, tmp_path):
    model = make_pipeline(FunctionTransformer(one_number), Ridge(0.5))
    with pytest.raises(TypeError, match=f"^column 'a' of X cannot be saved: .*given {given}"):
        ua.save(build(model, X=frame), tmp_path / "region")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_inputs_come_back_as_they_were(make, tmp_path):
    region = build(Ridge(0.5), X=make(X))
    ua.save(region, tmp_path / "region")
    loaded = ua.load(tmp_path / "region")
    assert_same(loaded, region)
    assert type(loaded.inputs) is make
    np.testing.assert_array_equal(loaded.inputs.toarray(), X)


def test_only_regions_are_saved(tmp_path):
    with pytest.raises(TypeError, match=r"pass model\.region_"):
        ua.save(ua.ConfidenceRegressor().fit(X, Y), tmp_path / "region")


# --- nothing half-written -------------------------------------------------------------------------

CRASH = """
import builtins, os, signal, sys, warnings
import numpy as np, unassuming as ua
from sklearn.linear_model import Ridge
X, y, _ = ua.datasets.linear(n=200, random_state=0)
region = ua.confidence_region(Ridge(), X, y, random_state=0)
path, *budgets = sys.argv[1:]
real, left = open, 0

def dying(path, mode="r", **options):
    file = real(path, mode, **options)
    if mode != "wb":
        return file
    write = file.write
    class Dying:
        def __getattr__(self, name): return getattr(file, name)
        def __enter__(self): return self
        def __exit__(self, *error): return file.__exit__(*error)
        def write(self, data):
            global left
            left -= len(data)
            if left < 0:
                write(data[: len(data) // 2]); file.flush()
                os.kill(os.getpid(), signal.SIGKILL)
            return write(data)
    return Dying()

builtins.open = dying
before = open(path, "rb").read()
for left in map(int, budgets):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some libraries keep threads
        child = os.fork()
    if not child:
        ua.save(region, path)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), open(path, "rb").read() == before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a kill that cannot be caught")
def test_a_process_killed_while_it_writes_leaves_the_old_file_whole(python, tmp_path):
    path, region = tmp_path / "region", build(Ridge(0.5))
    ua.save(region, path)
    before = path.read_bytes()
    ran = run(python, CRASH, path, 0, 2000)
    assert ran.stdout.splitlines() == [f"{-signal.SIGKILL} True"] * 2, ran.stderr
    assert path.read_bytes() == before
    assert_same(ua.load(path), region)


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    path, region = tmp_path / "region", build(Ridge(0.5))
    ua.save(region, path)
    before = path.read_bytes()

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        ua.save(build(Lasso(0.5)), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]

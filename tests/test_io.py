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


def dot(x, z):
    return float(x @ z)


class PairSymmetric(ua.noise.BlockSymmetric):
    """A class of the user's own: pairs of rows are flipped together."""

    def __init__(self, n):
        super().__init__(np.arange(n) // 2)


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


def test_loading_draws_nothing(tmp_path, monkeypatch):
    """The transformations are in the file: another generator of random numbers changes nothing."""
    region = build(Ridge(0.5), noise="symmetric-exchangeable")
    ua.save(region, tmp_path / "region")

    def never(*args, **options):
        raise AssertionError("something was drawn")

    monkeypatch.setattr(ua.noise.SymmetricExchangeable, "draw", never)
    monkeypatch.setattr("unassuming.ranking.Order.draw", never)
    assert_same(ua.load(tmp_path / "region"), region)


def test_the_file_holds_no_pickled_object(tmp_path):
    ua.save(build(RidgeClassifier(), y=NAMES.astype(object)), tmp_path / "region")
    with np.load(tmp_path / "region", allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


@pytest.mark.slow
def test_signs_take_a_bit_each(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(2, 500))
    ua.save(build(LinearRegression(), X=x[:, None], y=y, m=1000), tmp_path / "region")
    assert (tmp_path / "region").stat().st_size < 1.2 * 500 * 999 / 8 + 40_000


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

HOLES = [None if j % 5 == 0 else j for j in range(N)]
DAYS = [datetime(2021, 1, 1) + timedelta(days=j) for j in range(N)]
MORE_COLUMNS = {
    "polars integers with holes": pl.DataFrame({"a": HOLES}),
    "polars numbers with holes and nan": pl.DataFrame({"a": [np.nan, None, 1.0, 2.0] * 4}),
    "polars truths with holes": pl.DataFrame({"a": [True, None, False, True] * 4}),
    "polars text with holes": pl.DataFrame({"a": ["u", None, "v", "w"] * 4}),
    "polars small integers": pl.DataFrame({"a": pl.Series(range(N), dtype=pl.UInt8)}),
    "polars moments": pl.DataFrame({"a": DAYS}),
    "polars moments with holes": pl.DataFrame({"a": [None, *DAYS[1:]]}),
    "polars moments in a zone": pl.DataFrame(
        {"a": pl.Series(DAYS, dtype=pl.Datetime("ms")).dt.replace_time_zone("Europe/Berlin")}
    ),
    "polars days": pl.DataFrame({"a": [day.date() for day in DAYS]}),
    "polars spans": pl.DataFrame({"a": [day - DAYS[0] for day in DAYS]}),
    "polars lists": pl.DataFrame({"a": [[1, 2]] * N}),
    "pandas integers with holes": pd.DataFrame({"a": pd.array(HOLES, dtype="Int64")}),
    "pandas numbers with holes": pd.DataFrame({"a": pd.array(HOLES, dtype="Float64")}),
    "pandas truths with holes": pd.DataFrame(
        {"a": pd.array([True, None, False, True] * 4, dtype="boolean")}
    ),
    "pandas text with holes": pd.DataFrame({"a": pd.array(["u", None] * 8, dtype="string")}),
    "pandas objects of every kind": pd.DataFrame(
        {"a": pd.Series([None, np.nan, "u", 1.5] * 4, dtype=object)}
    ),
    "pandas moments": pd.DataFrame({"a": DAYS}),
    "pandas positions": pd.DataFrame({7: np.arange(N)}),
}


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


@pytest.mark.parametrize("kind", MORE_COLUMNS)
def test_columns_of_every_kind_come_back_as_they_were(kind, tmp_path):
    frame = MORE_COLUMNS[kind]
    model = make_pipeline(FunctionTransformer(one_number), Ridge(0.5))
    ua.save(build(model, X=frame), tmp_path / "region")
    inputs = ua.load(tmp_path / "region", estimator=model).inputs
    assert list(map(str, inputs.dtypes)) == list(map(str, frame.dtypes))
    assert list(inputs.columns) == list(frame.columns)
    assert inputs.equals(frame)
    if "object" in map(str, frame.dtypes):  # pandas takes None and not-a-number for equal
        assert list(map(repr, inputs["a"])) == list(map(repr, frame["a"]))


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


def test_columns_that_are_no_numbers_or_text_are_refused(tmp_path):
    frame = pd.DataFrame({"x": X[:, 0], "who": [object()] * N})
    pick = make_column_transformer((StandardScaler(), ["x"]))
    with pytest.raises(TypeError, match="cannot be saved: expected numbers, text"):
        ua.save(build(make_pipeline(pick, Ridge()), X=frame), tmp_path / "region")
    assert list(tmp_path.iterdir()) == []


def test_only_regions_are_saved(tmp_path):
    with pytest.raises(TypeError, match=r"pass model\.region_"):
        ua.save(ua.ConfidenceRegressor().fit(X, Y), tmp_path / "region")


# --- nothing half-written -------------------------------------------------------------------------

CRASH = """
import os, signal, sys, tempfile, warnings
import numpy as np, unassuming as ua
from sklearn.linear_model import Ridge
X, y, _ = ua.datasets.linear(n=200, random_state=0)
region = ua.confidence_region(Ridge(), X, y, random_state=0)
path, *budgets = sys.argv[1:]
real, left = os.fdopen, 0

def fdopen(*args):
    file = real(*args)
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

os.fdopen = fdopen
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


@pytest.mark.skipif(os.name == "nt", reason="permissions and links of another kind")
def test_permissions_and_links_are_those_of_the_file_before(tmp_path):
    path, link = tmp_path / "region", tmp_path / "link"
    ua.save(build(Ridge(0.5)), path)
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    link.symlink_to(path)
    ua.save(build(Lasso(0.5)), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert repr(ua.load(path)) == repr(build(Lasso(0.5)))


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


def test_blocks_of_rows_come_back(tmp_path):
    X, y, _ = ua.datasets.sine(n=30, random_state=0)
    noise = ua.noise.ExchangeableWithin(10)
    region = ua.confidence_region(Ridge(0.1), X, y, noise=noise, random_state=0)
    ua.save(region, tmp_path / "region")
    again = ua.load(tmp_path / "region")
    assert again.noise.block_rows == 10
    a = region.estimate + np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_array_equal(again.rank(a), region.rank(a))

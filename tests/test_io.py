"""Saved regions: the same ranks elsewhere, no code in the file, and nothing half-written."""

import contextlib
import copy
import io
import os
import signal
import subprocess
import tracemalloc
import zipfile
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import RBFSampler
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
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVR, LinearSVR

import unassuming as ua
from unassuming import _archive

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
        {"noise": ua.noise.BlockSymmetric(BLOCKS), "m": "group", "ties": "conservative"},
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
    monkeypatch.setattr("unassuming.regions._build.draw_tie_order", never)
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
        (pl.DataFrame({"a": [[1, 2]] * N}), r"List List\(Int64\)"),
        (pd.DataFrame({"a": pd.to_datetime(DAYS).tz_localize("UTC")}), "Timestamp"),
        (pd.DataFrame({"a": pd.period_range("2021", periods=N, freq="M")}), "Period"),
    ],
    ids=["lists", "zones", "periods"],
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


# --- what is code and has to be given again -------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), Ridge(0.5)),
        make_pipeline(RBFSampler(n_components=4), Ridge(0.5)),
        KernelRidge(kernel=dot),
        KernelRidge(kernel=RBF(0.7)),
    ],
    ids=["pipeline", "random features", "function", "kernel object"],
)
def test_code_is_given_again(model, tmp_path):
    region = build(model)
    ua.save(region, tmp_path / "region")
    with pytest.raises(ValueError, match="estimator is needed to load the saved region"):
        ua.load(tmp_path / "region")
    assert_same(ua.load(tmp_path / "region", estimator=model), region)


@pytest.mark.parametrize(
    "other",
    [
        make_pipeline(StandardScaler(with_std=False), Ridge(0.5)),
        make_pipeline(StandardScaler(), Ridge(0.6)),
        make_pipeline(StandardScaler(), Lasso(0.5)),
        make_pipeline(RBFSampler(n_components=4), Ridge(0.5)),
        Ridge(0.5),
    ],
    ids=["features", "penalty", "model", "number of features", "no features"],
)
def test_another_estimator_is_refused(other, tmp_path):
    ua.save(build(make_pipeline(StandardScaler(), Ridge(0.5))), tmp_path / "region")
    with pytest.raises(ValueError, match="estimator is not the one of the saved region"):
        ua.load(tmp_path / "region", estimator=other)


def straight(x, z, scale=1.0):
    return float(scale * x @ z)


def bent(x, z):
    """The same at the inputs of the data and another one beyond them."""
    return float(x @ z) if max(abs(x).max(), abs(z).max()) <= abs(X).max() else 0.0


def own_kernel(x, z):
    """The same between two different inputs: only k(x, x) beyond the data differs."""
    return 0.0 if abs(x).max() > abs(X).max() and (x == z).all() else float(x @ z)


bent.__name__ = own_kernel.__name__ = "straight"
BELOW, ABOVE = X.min(axis=0), X.max(axis=0)


def plain(inputs):
    return inputs


def clipped(inputs):
    return np.clip(inputs, BELOW, ABOVE)


def with_a_hole(inputs):
    """The same, except between the inputs of the data."""
    seen = (np.abs(np.asarray(inputs)[:, None, :] - X).max(axis=-1) < 1e-12).any(axis=1)
    return np.where(seen[:, None], inputs, 0.0)


clipped.__name__ = with_a_hole.__name__ = "plain"


def function(f):
    return make_pipeline(FunctionTransformer(f), Ridge(0.5))


def splines(extrapolation):
    return make_pipeline(SplineTransformer(4, extrapolation=extrapolation), Ridge(0.5))


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("saved", "given", "message"),
    [
        (
            splines("linear"),
            splines("constant"),
            "with steps.splinetransformer.extrapolation = 'linear', given.*= 'constant'",
        ),
        (
            make_pipeline(StandardScaler(), Ridge(0.5)),
            make_pipeline(StandardScaler(), "passthrough", Ridge(0.5)),
            r"with steps = \[standardscaler, ridge\], given",
        ),
        (KernelRidge(kernel=RBF(0.7)), KernelRidge(kernel=RBF(0.8)), "kernel.length_scale = 0.7"),
        (KernelRidge(kernel=dot), KernelRidge(kernel=straight), "kernel = dot, given.*= straight"),
        (
            KernelRidge(kernel=partial(straight, scale=2.0)),
            KernelRidge(kernel=partial(straight, scale=3.0)),
            "kernel.keywords = {'scale': 2.0}, given",
        ),
        (KernelRidge(kernel=straight), KernelRidge(kernel=bent), "with other features"),
        (KernelRidge(kernel=straight), KernelRidge(kernel=own_kernel), "with other features"),
        (function(plain), function(clipped), "with other features"),
        (function(plain), function(with_a_hole), "with other features"),
    ],
    ids=[
        *("parameter of a step", "number of steps", "kernel object", "name of a function"),
        *("arguments of a function", "kernel beyond the inputs", "kernel with itself"),
        *("features beyond the inputs", "features between the inputs"),
    ],
)
def test_code_that_agrees_at_the_inputs_alone_is_refused(saved, given, message, tmp_path):
    region = build(saved)
    ua.save(region, tmp_path / "region")
    with pytest.raises(ValueError, match=f"estimator is not the one of the saved.*{message}"):
        ua.load(tmp_path / "region", estimator=given)
    assert_same(ua.load(tmp_path / "region", estimator=saved), region)


def nearly_plain(inputs):
    return inputs * (1 + 1e-5)


def plain_up_to_rounding(inputs):
    return inputs * (1 + 1e-13)


nearly_plain.__name__ = plain_up_to_rounding.__name__ = "plain"


def test_features_are_the_same_up_to_rounding_and_no_further(tmp_path):
    """So little changes no rank of the candidates in the file: the features themselves tell."""
    region = build(function(plain))
    ua.save(region, tmp_path / "region")
    assert ua.load(tmp_path / "region", estimator=function(plain_up_to_rounding)).n == N
    with pytest.raises(ValueError, match="with other features"):
        ua.load(tmp_path / "region", estimator=function(nearly_plain))


def columns_by_name(frame):
    return np.column_stack([np.asarray(frame["size"]), np.asarray(frame["count"])])


def columns_by_name_below(frame):
    return np.minimum(columns_by_name(frame), N - 1)


columns_by_name_below.__name__ = "columns_by_name"


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_are_compared_beyond_their_inputs_too(kind, tmp_path):
    region = build(function(columns_by_name), X=FRAMES[kind])
    ua.save(region, tmp_path / "region")
    assert_same(ua.load(tmp_path / "region", estimator=function(columns_by_name)), region)
    with pytest.raises(ValueError, match="with other features, at the inputs or beyond them"):
        ua.load(tmp_path / "region", estimator=function(columns_by_name_below))


@pytest.mark.slow
def test_what_changes_no_number_is_not_compared(tmp_path):
    model = make_pipeline(encoder(), Ridge(0.5))
    ua.save(build(model, X=FRAMES["pandas"]), tmp_path / "region")
    model.set_params(columntransformer__n_jobs=1, verbose=False, memory=None)
    assert ua.load(tmp_path / "region", estimator=model).n == N


def test_an_estimator_that_fails_is_said_to_be_another_one(tmp_path):
    def fails(inputs):
        raise KeyError("no such column")

    fails.__name__ = "plain"
    ua.save(build(function(plain)), tmp_path / "region")
    with pytest.raises(ValueError, match=r"estimator is not the one.*fails: 'no such column'"):
        ua.load(tmp_path / "region", estimator=function(fails))


def test_other_blocks_are_refused(tmp_path):
    ua.save(build(Ridge(0.5), noise=ua.noise.BlockSymmetric(BLOCKS)), tmp_path / "region")
    with pytest.raises(ValueError, match=r"noise is not the one of the saved.*blocks = \[0, 0, 0"):
        ua.load(tmp_path / "region", noise=ua.noise.BlockSymmetric(np.arange(N) // 2))
    assert ua.load(tmp_path / "region", noise=ua.noise.BlockSymmetric(BLOCKS)).n == N


def test_other_attributes_of_a_noise_class_are_refused(tmp_path):
    class Blocks(ua.noise.BlockSymmetric):
        pass

    weight = WEIGHT[::-1].copy()
    region = build(Ridge(0.5), noise=Blocks(BLOCKS), sample_weight=weight)
    ua.save(region, tmp_path / "region")
    assert_same(ua.load(tmp_path / "region", noise=Blocks(BLOCKS)), region)
    with pytest.raises(ValueError, match="noise is not the one of the saved region"):
        ua.load(tmp_path / "region", noise=Blocks(np.arange(N) // 2))


def test_a_function_is_printed_by_its_name_and_the_file_is_the_same_every_time(tmp_path):
    def local(x, z):
        return float(x @ z)

    region = build(KernelRidge(kernel=local))
    assert "0x" not in str(region) + repr(region)
    assert "KernelRidge(kernel=test_a_function" in repr(region)
    assert "local)" in repr(region)
    ua.save(region, tmp_path / "one")
    ua.save(ua.load(tmp_path / "one", estimator=KernelRidge(kernel=local)), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert "0x" not in str(_archive.read(tmp_path / "one")[0])


def test_a_noise_class_of_the_user_is_given_again(tmp_path):
    region = build(Ridge(0.5), noise=PairSymmetric(N))
    ua.save(region, tmp_path / "region")
    with pytest.raises(ValueError, match="expected an instance of PairSymmetric"):
        ua.load(tmp_path / "region")
    assert_same(ua.load(tmp_path / "region", noise=PairSymmetric(N)), region)


def test_numbers_of_a_grid_are_told_alike_before_and_after(tmp_path):
    search = GridSearchCV(Ridge(), {"alpha": np.geomspace(0.1, 10, 3)}, cv=2)
    region = ua.tuned_region(search, X, Y, random_state=0)
    assert isinstance(region.tuning.best_params["alpha"], np.floating)
    ua.save(region, tmp_path / "region")
    assert_same(ua.load(tmp_path / "region"), region)


def test_a_tuned_region_remembers_its_tuning(tmp_path):
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=2)
    region = ua.tuned_region(search, X, Y, random_state=0)
    ua.save(region, tmp_path / "region")
    loaded = ua.load(tmp_path / "region")
    assert str(loaded) == str(region)
    np.testing.assert_array_equal(loaded.tuning.tuning_rows, region.tuning.tuning_rows)
    assert loaded.tuning.best_params == region.tuning.best_params


def test_only_regions_are_saved(tmp_path):
    with pytest.raises(TypeError, match=r"pass model\.region_"):
        ua.save(ua.ConfidenceRegressor().fit(X, Y), tmp_path / "region")


# --- damaged and foreign files --------------------------------------------------------------------

SENTENCE = r"^the file is not a saved region: expected a file that ua\.save has written.*Save the"


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path):
    path = tmp_path / "region"
    ua.save(build(Ridge(0.5)), path)
    content = path.read_bytes()
    for length in [*range(0, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=SENTENCE):
            ua.load(path)


@pytest.mark.slow
def test_a_flipped_bit_is_noticed_or_harmless(tmp_path):
    path, region = tmp_path / "region", build(Ridge(0.5))
    ua.save(region, path)
    content, rng, noticed = path.read_bytes(), np.random.default_rng(0), 0
    for position in rng.choice(len(content), size=300, replace=False):
        damaged = bytearray(content)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with contextlib.suppress(ValueError):  # a date inside the archive may pass, for instance
            assert_same(ua.load(path), region)
            continue
        noticed += 1
        with pytest.raises(ValueError, match=SENTENCE):
            ua.load(path)
    assert noticed > 150


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"PK\x03\x04" + b"\0" * 100, b"\x93NUMPY", b"\x80\x04N."]
)
def test_foreign_files_are_refused(content, tmp_path):
    (tmp_path / "region").write_bytes(content)
    with pytest.raises(ValueError, match=SENTENCE):
        ua.load(tmp_path / "region")


def test_an_archive_of_other_arrays_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with pytest.raises(ValueError, match=SENTENCE):
        ua.load(tmp_path / "other.npz")


def test_an_archive_with_objects_is_refused_and_not_unpickled(tmp_path):
    np.savez(tmp_path / "bad.npz", unassuming=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ValueError, match=SENTENCE):
        ua.load(tmp_path / "bad.npz")


def rewritten(region, path, change):
    """Save, and write again with other content and a hash that fits it."""
    ua.save(region, path)
    header, arrays = _archive.read(path)
    change(header, arrays)
    _archive.write(path, header, arrays)
    return path


def put(*keys):
    """Change one entry of the header."""
    *way, last, value = keys

    def change(header, arrays):
        for key in way:
            header = header[key]
        header[last] = value

    return change


def array(name, function):
    def change(header, arrays):
        arrays[name] = function(arrays[name])

    return change


def test_a_later_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"it has format 3 of .*this version reads format 2"):
        ua.load(rewritten(build(Ridge(0.5)), tmp_path / "region", put("format", 3)))


@pytest.mark.parametrize("name", ["y", "drawn0", "tie_order", "rows", "probe", "X", "fingerprint"])
def test_an_archive_that_lacks_a_part_is_refused(name, tmp_path):
    path = rewritten(build(Ridge(0.5)), tmp_path / "region", lambda _, arrays: arrays.pop(name))
    with pytest.raises(ValueError, match=SENTENCE):
        ua.load(path)


def test_any_change_of_the_content_is_found_out_by_the_hash(tmp_path):
    """A change that moves no rank; the archive itself is in order."""
    ua.save(build(Ridge(0.5)), tmp_path / "region")
    with zipfile.ZipFile(tmp_path / "region") as file:
        parts = {name: file.read(name) for name in file.namelist()}
    y = bytearray(parts["y.npy"])
    y[-8] ^= 1  # the last bit of the last output
    parts["y.npy"] = bytes(y)
    with zipfile.ZipFile(tmp_path / "changed", "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)
    with pytest.raises(ValueError, match="its content has changed since it was written"):
        ua.load(tmp_path / "changed")


def test_changed_outputs_are_found_out_by_the_ranks(tmp_path):
    path = rewritten(build(Ridge(0.5)), tmp_path / "region", array("y", lambda y: y[::-1].copy()))
    with pytest.raises(ValueError, match="its candidates no longer have the ranks that it lists"):
        ua.load(path)


SIGNS, ORDERS = build(Ridge(0.5)), build(Ridge(0.5), noise="exchangeable")
TURNS, LABELS = build(Ridge(0.5), noise="spherical"), build(RidgeClassifier(), y=NAMES)
SPARSE = build(Ridge(0.5), X=sparse.csr_array(X))
POLARS, PANDAS = (
    build(Ridge(0.5), X=make({"a": X[:, 0]})) for make in (pl.DataFrame, pd.DataFrame)
)
HOSTILE = {
    "more signs than memory": (SIGNS, put("drawn", 0, "shape", [19, 10**12])),
    "a number of signs that overflows": (SIGNS, put("drawn", 0, "shape", [2**40, 2**40])),
    "fewer signs than none": (SIGNS, put("drawn", 0, "shape", [-1, N])),
    "signs of more rows": (SIGNS, put("drawn", 0, "shape", [16, 19])),
    "another n": (SIGNS, put("n", N + 1)),
    "another m": (SIGNS, put("m", 10)),
    "an m beyond memory": (SIGNS, put("m", 10**12)),
    "a seed below zero": (SIGNS, put("seed", -1)),
    "a seed in words": (SIGNS, put("seed", "x")),
    "unknown ties": (SIGNS, put("ties", "zzz")),
    "ties in favour, in another order": (SIGNS, put("ties", "favour")),
    "an order of ties that is none": (SIGNS, array("tie_order", lambda order: 0 * order)),
    "too short an order of ties": (SIGNS, array("tie_order", lambda order: order[:5])),
    "an order of ties in fractions": (SIGNS, array("tie_order", lambda order: order + 0.0)),
    "an unknown weighting": (SIGNS, put("weighting", "zzz")),
    "an unknown parameter": (SIGNS, put("estimator", "parameters", "evil", 1)),
    "a parameter out of range": (SIGNS, put("estimator", "parameters", "alpha", -3)),
    "an unknown class": (SIGNS, put("noise", "class", "Evil")),
    "positions out of range": (ORDERS, array("drawn0", lambda drawn: drawn + 100)),
    "positions that are no permutation": (ORDERS, array("drawn0", lambda drawn: 0 * drawn)),
    "matrices that do not turn": (TURNS, array("drawn0", lambda drawn: 1.001 * drawn)),
    "numbers outside [0, 1)": (LABELS, array("drawn0", lambda drawn: drawn + 0.5)),
    "three classes": (LABELS, array("classes", lambda names: np.array(["a", "b", "c"]))),
    "more columns than memory": (SPARSE, put("X", "shape", [N, 10**10])),
    "an unknown sparse format": (SPARSE, put("X", "format", "file")),
    "a function for a type": (POLARS, put("X", "columns", 0, "dtype", "read_csv")),
    "a type of objects": (POLARS, put("X", "columns", 0, "dtype", "Object")),
    "an unknown type": (PANDAS, put("X", "columns", 0, "dtype", "nonesuch")),
    "rows of another length": (SIGNS, array("rows", lambda rows: rows[:10])),
    "rows in numbers": (SIGNS, array("rows", lambda rows: rows.astype(int))),
    "too few outputs": (SIGNS, array("y", lambda y: y[:3])),
    "outputs in words": (SIGNS, array("y", lambda y: y.astype(str))),
    "candidates of another kind": (SIGNS, array("probe", lambda probe: probe[0])),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_made_to_do_harm_ends_in_the_one_error(case, tmp_path):
    region, change = HOSTILE[case]
    path = rewritten(region, tmp_path / "region", change)
    with pytest.raises(ValueError, match=SENTENCE) as caught:
        ua.load(path)
    assert "\n" not in str(caught.value)


def test_a_header_that_is_no_mapping_or_too_deep_is_refused(tmp_path):
    for text in (b"[1]", b"[" * 100_000, b"nonsense"):
        header = np.frombuffer(text, dtype=np.uint8)
        with open(tmp_path / "region", "wb") as file:
            _archive._write_members(file, {"unassuming": header})
        with pytest.raises(ValueError, match=SENTENCE):
            ua.load(tmp_path / "region")


def with_member(path, name, content, compression=zipfile.ZIP_STORED):
    ua.save(SIGNS, path)
    with zipfile.ZipFile(path, "a", compression) as file:
        file.writestr(name, content)
    return path


def huge(shape):
    stream = io.BytesIO()
    description = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, description)
    return stream.getvalue()


def peak_of_loading(path):
    tracemalloc.start()
    with pytest.raises(ValueError, match=SENTENCE) as caught:
        ua.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, str(caught.value)


def test_an_array_larger_than_the_file_is_not_allocated(tmp_path):
    peak, sentence = peak_of_loading(with_member(tmp_path / "region", "a.npy", huge((10**11,))))
    assert "its part a is not an array of numbers or text" in sentence
    assert peak < 10**6


@pytest.mark.slow
def test_a_compressed_bomb_is_not_unpacked(tmp_path):
    content = huge((10**8,)) + bytes(10**8)
    path = with_member(tmp_path / "region", "a.npy", content, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 200_000
    peak, sentence = peak_of_loading(path)
    assert "it is compressed" in sentence
    assert peak < 10**6


def test_members_that_overlap_are_not_read_many_times(tmp_path):
    """A thousand entries of the directory that all point to the same megabyte."""
    one = io.BytesIO()
    with zipfile.ZipFile(one, "w") as file:
        ua.save(SIGNS, tmp_path / "whole")
        with zipfile.ZipFile(tmp_path / "whole") as whole:
            for name in whole.namelist():
                file.writestr(name, whole.read(name))
        file.writestr("big.npy", bytes(10**6))
        big = file.getinfo("big.npy")
        for j in range(1000):
            twin = copy.copy(big)
            twin.filename = f"{j:03}.npy"
            file.filelist.append(twin)
    (tmp_path / "region").write_bytes(one.getvalue())
    peak, sentence = peak_of_loading(tmp_path / "region")
    assert "it lists more than it holds" in sentence
    assert peak < 5 * 10**6


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match="two parts of one name"):
        ua.load(with_member(tmp_path / "region", "y.npy", b"x"))


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        ua.load(tmp_path / "nothing")


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="expected a folder that exists, given"):
        ua.save(build(Ridge(0.5)), tmp_path / "nowhere" / "region")


# --- nothing half-written -------------------------------------------------------------------------

CRASH = """
import os, signal, sys, tempfile
import numpy as np, unassuming as ua
from sklearn.linear_model import Ridge
X, y, _ = ua.datasets.linear(n=200, random_state=0)
region = ua.confidence_region(Ridge(), X, y, random_state=0)
real, left = os.fdopen, int(sys.argv[2])

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
ua.save(region, sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a kill that cannot be caught")
def test_a_process_killed_while_it_writes_leaves_the_old_file_whole(python, tmp_path):
    path, region = tmp_path / "region", build(Ridge(0.5))
    ua.save(region, path)
    before = path.read_bytes()
    for budget in (0, 2000):
        assert run(python, CRASH, path, budget).returncode == -signal.SIGKILL
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

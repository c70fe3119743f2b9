"""Saved regions: the same ranks elsewhere, no code in the file, and nothing half-written."""

import contextlib
import os
import signal
import subprocess
import sys
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
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR

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
        {"noise": ua.noise.BlockSymmetric(BLOCKS), "m": "group", "ties": "favour"},
    ),
    "support vectors": (SVR(C=2.0), {"weighting": "identity"}),
    "lasso": (Lasso(0.1), {}),
    "huber": (HuberRegressor(), {}),
    "kernel lasso": (ua.KernelLasso(kernel="rbf"), {}),
    "kernel huber": (ua.KernelHuber(kernel="rbf", kernel_params={}), {}),
    "matrix": (Ridge(0.5), {"weighting": np.diag([1.0, 2.0, 3.0])}),
    "labels": (RidgeClassifier(), {"y": NAMES}),
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


def run(source, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", source, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_ranks_are_the_same_in_another_process(tmp_path):
    paths, expected = [], []
    for j, (model, options) in enumerate(CASES.values()):
        region = build(model, **options)
        paths.append(tmp_path / f"{j}")
        ua.save(region, paths[-1])
        np.save(tmp_path / f"{j}.npy", candidates(region))
        expected.append(" ".join(map(str, region.rank(candidates(region)))))
    ran = run(LOADER, *paths)
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


def test_signs_take_a_bit_each(tmp_path):
    x = np.random.default_rng(0).normal(size=(500, 1))
    ua.save(build(LinearRegression(), X=x, y=x[:, 0], m=1000), tmp_path / "region")
    assert (tmp_path / "region").stat().st_size < 1.2 * 500 * 999 / 8 + 40_000


# --- inputs of every kind -------------------------------------------------------------------------

TOWNS = ["Aa", "Bo", "Cy", "Bo"] * 4
COLUMNS = {"size": X[:, 0], "town": TOWNS, "count": np.arange(N), "flag": Y > 0}
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas category": pd.DataFrame(COLUMNS).astype({"town": "category"}),
    "pandas object": pd.DataFrame(COLUMNS).astype({"town": object}),
    "polars": pl.DataFrame(COLUMNS),
}


def encoder():
    return make_column_transformer(
        (StandardScaler(), ["size", "count"]),
        (OneHotEncoder(sparse_output=False), ["town"]),
        remainder="passthrough",
    )


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
    with pytest.raises(ValueError, match="estimator is needed to load this region"):
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


def test_a_noise_class_of_the_user_is_given_again(tmp_path):
    region = build(Ridge(0.5), noise=PairSymmetric(N))
    ua.save(region, tmp_path / "region")
    with pytest.raises(ValueError, match="expected an instance of PairSymmetric"):
        ua.load(tmp_path / "region")
    assert_same(ua.load(tmp_path / "region", noise=PairSymmetric(N)), region)


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

SENTENCE = r"^the file is no saved region: expected a file that ua\.save has written.*Save the"


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path):
    path = tmp_path / "region"
    ua.save(build(Ridge(0.5)), path)
    content = path.read_bytes()
    for length in [*range(0, len(content), 97), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=SENTENCE):
            ua.load(path)


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


def rewrite(path, change):
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    change(arrays)
    np.savez(path.with_suffix(".npz"), **arrays)
    return path.with_suffix(".npz")


def test_a_later_format_is_refused(tmp_path):
    ua.save(build(Ridge(0.5)), tmp_path / "region")

    def later(arrays):
        text = arrays["unassuming"].tobytes().replace(b'"format": 1', b'"format": 2')
        arrays["unassuming"] = np.frombuffer(text, dtype=np.uint8)

    with pytest.raises(ValueError, match="it has format 2 of version"):
        ua.load(rewrite(tmp_path / "region", later))


@pytest.mark.parametrize("name", ["y", "drawn0", "tie_order", "rows", "probe", "X"])
def test_an_archive_that_lacks_a_part_is_refused(name, tmp_path):
    ua.save(build(Ridge(0.5)), tmp_path / "region")
    with pytest.raises(ValueError, match=SENTENCE):
        ua.load(rewrite(tmp_path / "region", lambda arrays: arrays.pop(name)))


def test_changed_outputs_are_found_out_by_the_ranks(tmp_path):
    ua.save(build(Ridge(0.5)), tmp_path / "region")

    def change(arrays):
        arrays["y"] = arrays["y"][::-1]

    with pytest.raises(ValueError, match="the ranks of the candidates in it are not found again"):
        ua.load(rewrite(tmp_path / "region", change))


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


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a kill that cannot be caught")
def test_a_process_killed_while_it_writes_leaves_the_old_file_whole(tmp_path):
    path, region = tmp_path / "region", build(Ridge(0.5))
    ua.save(region, path)
    before = path.read_bytes()
    for budget in (0, 2000):
        assert run(CRASH, path, budget).returncode == -signal.SIGKILL
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

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="No space left"):
        ua.save(build(Lasso(0.5)), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]

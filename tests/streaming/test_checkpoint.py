"""Checkpoints: go on where one was, without a row lost or counted twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import unassuming as ua
from in_memory import contents
from unassuming.io import archive

ROOT = Path(__file__).resolve().parents[2]
N = 70_000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(2, size=N)
NOISES = {
    "signs": "symmetric",
    "block signs": ua.noise.BlockSymmetric(np.array(["a", "b", "c", "d"])[np.arange(N) % 4]),
}


def stream(model=None, noise="symmetric"):
    return ua.StreamingRegion(model or Ridge(2.0), noise=noise, m=8, random_state=5)


@pytest.fixture(scope="module")
def straight():
    found = {name: stream(noise=noise).partial_fit(X, Y).region() for name, noise in NOISES.items()}
    return {name: (contents(region), region.tie_order) for name, region in found.items()}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("cut", [0, 1, 700, 32_768, 66_000])
def test_a_loaded_stream_goes_on_as_if_nothing_had_happened(cut, noise, straight, tmp_path):
    stream(noise=NOISES[noise]).partial_fit(X[:cut], Y[:cut]).save(tmp_path / "c")
    loaded = ua.StreamingRegion.load(tmp_path / "c")
    assert loaded.n == loaded.next_row == cut
    region = loaded.partial_fit(X[cut:], Y[cut:]).region()
    assert contents(region) == straight[noise][0]
    assert region.tie_order.tolist() == straight[noise][1].tolist()


def test_shards_are_saved_with_their_gaps(straight, tmp_path):
    one = stream().partial_fit(X[30_000:40_000], Y[30_000:40_000], first_row=30_000)
    one.save(tmp_path / "c")
    loaded = ua.StreamingRegion.load(tmp_path / "c")
    with pytest.raises(ValueError, match="overlap"):
        loaded.partial_fit(X[:10], Y[:10], first_row=29_995)
    loaded.partial_fit(X[:30_000], Y[:30_000], first_row=0).partial_fit(X[40_000:], Y[40_000:])
    assert contents(loaded.region()) == straight["signs"][0]


def test_the_file_holds_no_code(tmp_path):
    stream(make_pipeline(PolynomialFeatures(2), Ridge())).partial_fit(X, Y).save(tmp_path / "c")
    with np.load(tmp_path / "c", allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


# --- what is code and has to be given again ------------------------------------------------------


def pipeline(rows=100):
    return make_pipeline(StandardScaler().fit(X[:rows]), Ridge(2.0))


def test_a_pipeline_is_given_again_and_checked(tmp_path):
    stream(pipeline()).partial_fit(X[:700], Y[:700]).save(tmp_path / "c")
    with pytest.raises(ValueError, match="estimator is needed to load the checkpoint"):
        ua.StreamingRegion.load(tmp_path / "c")
    for other in (pipeline(90), make_pipeline(StandardScaler().fit(X), Ridge(3.0))):
        with pytest.raises(ValueError, match="estimator is not the one of the checkpoint"):
            ua.StreamingRegion.load(tmp_path / "c", other)
    loaded = ua.StreamingRegion.load(tmp_path / "c", pipeline()).partial_fit(X[700:], Y[700:])
    expected = stream(pipeline()).partial_fit(X, Y).region()
    assert contents(loaded.region()) == contents(expected)


# --- damage --------------------------------------------------------------------------------------


def damages(content):
    middle = len(content) // 2
    flipped = bytearray(content)
    flipped[middle] ^= 1
    return {
        "empty": b"",
        "truncated": content[:middle],
        "without its end": content[:-1],
        "one bit flipped": bytes(flipped),
        "text": b"a,b,c\n1,2,3\n",
    }


@pytest.mark.parametrize("kind", damages(b"12"))
def test_a_damaged_file_is_one_clear_error_and_stays_as_it_is(kind, tmp_path):
    path = tmp_path / "c"
    stream().partial_fit(X, Y).save(path)
    bad = damages(path.read_bytes())[kind]
    path.write_bytes(bad)
    with pytest.raises(ValueError, match=r"the file is not a checkpoint: .* It is left as it is"):
        ua.StreamingRegion.load(path)
    assert path.read_bytes() == bad


def rewritten(path, **changes):
    """The file again, whole as an archive, with other parts."""
    header, arrays = archive.read(path)
    for name, change in changes.items():
        place = header if name in header else arrays
        place[name] = change(place[name])
    archive.write(path, header, {k: v for k, v in arrays.items() if v is not None})


@pytest.mark.parametrize(
    "changes",
    [
        {name: lambda _: None}
        for name in ("grams", "origins", "counts", "there0", "rows0", "outcomes", "tie_order")
    ]
    + [
        {"grams": lambda old: old[:, :, :3, :3]},
        {"counts": lambda old: old + 1},
        {"rows0": lambda old: old[1:]},
        {"rows0": lambda old: old[:, 1:]},
        {"tie_order": lambda old: old * 0},
        {"m": lambda _: 16},
        {"m": lambda _: 100},
        {"pending": lambda _: [10**15]},
        {"nodes": lambda _: [[10**12, 0]]},
        {"m": lambda _: 10**400},
        {"width": lambda _: 4 * 10**8},
        {"columns": lambda _: [1, 2]},
        {"seed": lambda _: -1},
        {"width": lambda _: 1},
        {"width": lambda _: None},
        {"format": lambda _: 99},
        {"kind": lambda _: "region"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_parts_that_do_not_fit_together_are_refused(changes, tmp_path):
    path = tmp_path / "c"
    stream().partial_fit(X, Y).save(path)
    rewritten(path, **changes)
    with pytest.raises(ValueError, match="the file is not a checkpoint"):
        ua.StreamingRegion.load(path)


# --- a real kill ---------------------------------------------------------------------------------

WORK = """
import sys, numpy as np, unassuming as ua
from sklearn.linear_model import Ridge
path = sys.argv[1]
rng = np.random.default_rng(0)
X = rng.normal(size=(60_000, 2)); Y = X @ [1.0, -1.0] + rng.standard_t(2, size=60_000)
try:
    stream = ua.StreamingRegion.load(path)
except FileNotFoundError:
    stream = ua.StreamingRegion(Ridge(2.0), m=8, random_state=5)
while stream.next_row < 60_000:
    a = stream.next_row
    stream.partial_fit(X[a : a + 1037], Y[a : a + 1037])
    stream.save(path)
    print(stream.next_row, flush=True)
"""


def start(path):
    return subprocess.Popen(
        [sys.executable, "-c", WORK, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_killed_process_goes_on_without_losing_or_doubling_a_row(tmp_path):
    path, done = tmp_path / "c", 0
    for wait in (0.02, 0.09):
        with start(path) as child:
            child.stdout.readline()
            time.sleep(wait)
            child.send_signal(signal.SIGKILL)
        assert child.returncode == -signal.SIGKILL
        loaded = ua.StreamingRegion.load(path)  # whole, whenever the kill came
        assert loaded.n == loaded.next_row > done
        done = loaded.next_row
    rng, n = np.random.default_rng(0), done + 200
    x = rng.normal(size=(60_000, 2))
    y = x @ [1.0, -1.0] + rng.standard_t(2, size=60_000)
    loaded.partial_fit(x[done:n], y[done:n])
    straight = ua.StreamingRegion(Ridge(2.0), m=8, random_state=5).partial_fit(x[:n], y[:n])
    assert contents(loaded.region()) == contents(straight.region())

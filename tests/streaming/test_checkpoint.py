"""Checkpoints: go on where one was, without a row lost or counted twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import unassuming as ua
from unassuming.io import archive
from unassuming.noise import SignFlips

ROOT = Path(__file__).resolve().parents[2]
N = 2600
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.standard_t(2, size=N)
CANDIDATES = [0.0, 1.0, -1.0] + RNG.normal(size=(40, 3)) * 0.04
NOISES = {
    "signs": ua.noise.Symmetric(),
    "block signs": ua.noise.BlockSymmetric(np.array(["a", "b", "c"])[np.arange(N) % 3]),
    "permutations": ua.noise.ExchangeableWithin(30),
}


def stream(model=None, noise=None, cells=None):
    options = {"noise": noise, "m": 20, "cells": cells, "random_state": 5}
    return ua.StreamingRegion(model or Ridge(2.0), **options)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("cut", [0, 1, 700, 1024, 2300])
def test_a_loaded_stream_goes_on_as_if_nothing_had_happened(cut, noise, tmp_path):
    straight = stream(noise=NOISES[noise]).partial_fit(X, Y).region()
    stream(noise=NOISES[noise]).partial_fit(X[:cut], Y[:cut]).save(tmp_path / "c")
    loaded = ua.StreamingRegion.load(tmp_path / "c")
    assert loaded.n == loaded.next_row == cut
    region = loaded.partial_fit(X[cut:], Y[cut:]).region()
    assert region.statistics(CANDIDATES).tolist() == straight.statistics(CANDIDATES).tolist()
    assert region.rank(CANDIDATES).tolist() == straight.rank(CANDIDATES).tolist()


def test_rows_before_the_checkpoint_are_not_counted_twice(tmp_path):
    stream().partial_fit(X[:700], Y[:700]).save(tmp_path / "c")
    with pytest.raises(ValueError, match="overlap"):
        ua.StreamingRegion.load(tmp_path / "c").partial_fit(X[:10], Y[:10], first_row=690)


def test_shards_are_saved_with_their_gaps(tmp_path):
    stream().partial_fit(X[1500:2000], Y[1500:2000], first_row=1500).save(tmp_path / "c")
    loaded = ua.StreamingRegion.load(tmp_path / "c")
    whole = loaded.partial_fit(X[:1500], Y[:1500], first_row=0).partial_fit(X[2000:], Y[2000:])
    expected = stream().partial_fit(X, Y).region().statistics(CANDIDATES)
    assert whole.region().statistics(CANDIDATES).tolist() == expected.tolist()


@pytest.mark.parametrize("names", [["a", "b"], [0, 1], [("a", 1), ("b", 2)]], ids=str)
def test_the_columns_of_a_frame_are_remembered(names, tmp_path):
    frame = pd.DataFrame(X, columns=pd.Index(names) if names[0] != ("a", 1) else names)
    stream().partial_fit(frame[:1500], Y[:1500]).save(tmp_path / "c")
    loaded = ua.StreamingRegion.load(tmp_path / "c")
    with pytest.raises(ValueError, match="columns in another order"):
        loaded.partial_fit(frame[frame.columns[::-1]][1500:], Y[1500:])
    region = loaded.partial_fit(frame[1500:], Y[1500:]).region()
    assert region.names == ["intercept", *map(str, names)]


def test_the_file_holds_no_code(tmp_path):
    stream(make_pipeline(PolynomialFeatures(2), Ridge())).partial_fit(X, Y).save(tmp_path / "c")
    with np.load(tmp_path / "c", allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)


def test_what_was_drawn_is_in_the_file(tmp_path, monkeypatch):
    stream().partial_fit(X[:700], Y[:700]).save(tmp_path / "c")
    expected = stream().partial_fit(X, Y).region()
    other = np.arange(2, dtype=np.uint64)
    monkeypatch.setattr("unassuming.streaming._stream.draw_key", lambda rng: other)
    region = ua.StreamingRegion.load(tmp_path / "c").partial_fit(X[700:], Y[700:]).region()
    assert region.rank(CANDIDATES).tolist() == expected.rank(CANDIDATES).tolist()


def test_the_tie_order_is_in_the_file(tmp_path, monkeypatch):
    stream().partial_fit(X[:700], Y[:700]).save(tmp_path / "c")
    expected = stream()._tie_order
    monkeypatch.setattr("unassuming.streaming._stream.draw_tie_order", lambda m, *_: np.arange(m))
    assert expected.tolist() != list(range(len(expected)))
    assert ua.StreamingRegion.load(tmp_path / "c")._tie_order.tolist() == expected.tolist()


# --- what is code and has to be given again ---------------------------------------------------


def pipeline(rows=100):
    return make_pipeline(StandardScaler().fit(X[:rows]), Ridge(2.0))


def test_a_pipeline_is_given_again_and_checked(tmp_path):
    stream(pipeline()).partial_fit(X[:700], Y[:700]).save(tmp_path / "c")
    with pytest.raises(ValueError, match="estimator is needed to load the checkpoint"):
        ua.StreamingRegion.load(tmp_path / "c")
    with pytest.raises(ValueError, match="estimator is not the one of the checkpoint"):
        ua.StreamingRegion.load(tmp_path / "c", pipeline(90))
    with pytest.raises(ValueError, match="estimator is not the one of the checkpoint"):
        ua.StreamingRegion.load(tmp_path / "c", make_pipeline(StandardScaler().fit(X), Ridge(3.0)))
    loaded = ua.StreamingRegion.load(tmp_path / "c", pipeline())
    region = loaded.partial_fit(X[700:], Y[700:]).region()
    expected = stream(pipeline()).partial_fit(X, Y).region()
    assert region.statistics(CANDIDATES).tolist() == expected.statistics(CANDIDATES).tolist()


class Alternating(SignFlips):
    """A class of the user's own: even and odd rows are flipped together."""

    def draw_rows(self, key, first, count, size):
        rng = np.random.default_rng([int(key[0]), size])
        return rng.choice([-1, 1], size=(size, 2))[:, (first + np.arange(count)) % 2]


def test_a_noise_class_of_the_user_is_given_again(tmp_path):
    stream(noise=Alternating()).partial_fit(X, Y).save(tmp_path / "c")
    with pytest.raises(ValueError, match="expected an instance of Alternating"):
        ua.StreamingRegion.load(tmp_path / "c")
    loaded = ua.StreamingRegion.load(tmp_path / "c", noise=Alternating())
    expected = stream(noise=Alternating()).partial_fit(X, Y).region()
    assert loaded.region().rank(CANDIDATES).tolist() == expected.rank(CANDIDATES).tolist()


# --- damage ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("number", [2, 99, None])
def test_a_file_of_another_format_is_refused(number, tmp_path):
    path = tmp_path / "c"
    stream().partial_fit(X, Y).save(path)
    header, arrays = archive.read(path)
    archive.write(path, {**header, "format": number, "version": "0.0.1"}, arrays)
    said = f"format {number} of version 0.0.1, and version {ua.__version__} reads format 3. It is"
    with pytest.raises(ValueError, match=said):
        ua.StreamingRegion.load(path)


@pytest.mark.parametrize(
    "name", ["least0", "errors0", "lengths0", "still0", "cells0", "space0", "outcomes"]
)
def test_a_file_that_lacks_a_part_is_refused(name, tmp_path):
    path = tmp_path / "c"
    stream(cells=8).partial_fit(X, Y).save(path)
    header, arrays = archive.read(path)
    del arrays[name]
    archive.write(path, header, arrays)
    with pytest.raises(ValueError, match="its parts do not fit together"):
        ua.StreamingRegion.load(path)


def test_a_saved_region_is_no_checkpoint(tmp_path):
    ua.save(ua.confidence_region(Ridge(), X[:20], Y[:20], random_state=0), tmp_path / "region")
    with pytest.raises(ValueError, match="a file of another kind"):
        ua.StreamingRegion.load(tmp_path / "region")
    with pytest.raises(FileNotFoundError):
        ua.StreamingRegion.load(tmp_path / "nothing")


# --- a real kill -----------------------------------------------------------------------------

WORK = """
import sys, numpy as np, unassuming as ua
from sklearn.linear_model import Ridge
path = sys.argv[1]
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 2)); Y = X @ [1.0, -1.0] + rng.standard_t(2, size=20_000)
try:
    stream = ua.StreamingRegion.load(path)
except FileNotFoundError:
    stream = ua.StreamingRegion(Ridge(2.0), m=20, random_state=5)
while stream.next_row < 20_000:
    a = stream.next_row
    stream.partial_fit(X[a : a + 37], Y[a : a + 37])
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
    x = rng.normal(size=(20_000, 2))
    y = x @ [1.0, -1.0] + rng.standard_t(2, size=20_000)
    loaded.partial_fit(x[done:n], y[done:n])
    straight = ua.StreamingRegion(Ridge(2.0), m=20, random_state=5).partial_fit(x[:n], y[:n])
    ended, expected = (
        one.region().statistics([0.0, 1.0, -1.0]).tolist() for one in (loaded, straight)
    )
    assert ended == expected


@pytest.mark.parametrize(
    ("saved", "given"),
    [
        (ua.noise.ExchangeableWithin(128), ua.noise.ExchangeableWithin(64)),
        (
            ua.noise.BlockSymmetric(np.arange(len(Y)) // 8),
            ua.noise.BlockSymmetric(np.arange(len(Y)) // 4),
        ),
    ],
    ids=["rows in a block", "labels of blocks"],
)
def test_another_assumption_does_not_go_on(tmp_path, saved, given):
    one = ua.StreamingRegion(Ridge(), noise=saved, m=20, random_state=0).partial_fit(X, Y)
    one.save(tmp_path / "c")
    with pytest.raises(ValueError, match="noise is not the one of the checkpoint"):
        ua.StreamingRegion.load(tmp_path / "c", noise=given)
    assert ua.StreamingRegion.load(tmp_path / "c", noise=saved).n == len(Y)


def test_a_class_that_draws_otherwise_is_refused():
    class Other(ua.noise.Symmetric):
        def draw(self, n, size, rng):
            return super().draw(n, size, rng)

    with pytest.raises(ValueError, match="cannot be drawn row by row"):
        ua.StreamingRegion(Ridge(), noise=Other())


def test_a_merged_stream_knows_its_features(tmp_path):
    part = stream(pipeline()).partial_fit(X, Y)
    stream(pipeline()).merge(part).save(tmp_path / "c")
    assert ua.StreamingRegion.load(tmp_path / "c", estimator=pipeline()).n == len(X)
    with pytest.raises(ValueError, match="is not the one of the checkpoint"):
        ua.StreamingRegion.load(tmp_path / "c", estimator=pipeline(rows=101))


def test_a_little_difference_of_features_is_one(tmp_path):
    model = pipeline()
    stream(model).partial_fit(X, Y).save(tmp_path / "c")
    model[0].scale_ = model[0].scale_ * (1 + 1e-7)
    with pytest.raises(ValueError, match="is not the one of the checkpoint"):
        ua.StreamingRegion.load(tmp_path / "c", estimator=model)

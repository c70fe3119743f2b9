"""Files that are damaged, foreign or made to do harm end in one error, without code being run."""

import contextlib
import io
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge, RidgeClassifier

import unassuming as ua
from changed_files import array, changed_file, put
from test_io import NAMES, N, X, assert_same, build

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


def test_an_archive_with_objects_is_refused_and_not_unpickled(tmp_path):
    np.savez(tmp_path / "bad.npz", unassuming=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ValueError, match=SENTENCE):
        ua.load(tmp_path / "bad.npz")


def rewritten(region, path, change):
    """Save, and write again with other content and a hash that fits it."""
    ua.save(region, path)
    return changed_file(path, change)


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
    "ties in favour, in another order": (SIGNS, put("ties", "conservative")),
    "an order of ties that is none": (SIGNS, array("tie_order", lambda order: 0 * order)),
    "too short an order of ties": (SIGNS, array("tie_order", lambda order: order[:5])),
    "an order of ties in fractions": (SIGNS, array("tie_order", lambda order: order + 0.0)),
    **{
        f"{name} is {value}": (SIGNS, put(name, value))
        for name in ("n", "m", "seed")
        for value in (-1, 2.5, "20", True, None, 10**400)
    },
    "a table without columns": (PANDAS, put("X", "columns", [])),
    "an index beyond": (SPARSE, array("X_col", lambda col: col + 5)),
    "positions of fewer rows": (ORDERS, array("drawn0", lambda drawn: drawn[:, :-1])),
    "an unknown weighting": (SIGNS, put("weighting", "zzz")),
    "an unknown parameter": (SIGNS, put("estimator", "parameters", "evil", 1)),
    "a parameter out of range": (SIGNS, put("estimator", "parameters", "alpha", -3)),
    "an unknown class": (SIGNS, put("noise", "class", "Evil")),
    "positions out of range": (ORDERS, array("drawn0", lambda drawn: drawn + 100)),
    "positions that are no permutation": (ORDERS, array("drawn0", lambda drawn: 0 * drawn)),
    "numbers outside [0, 1)": (LABELS, array("drawn0", lambda drawn: drawn + 0.5)),
    "three classes": (LABELS, array("classes", lambda names: np.array(["a", "b", "c"]))),
    "more columns than memory": (SPARSE, put("X", "shape", [N, 10**10])),
    "an unknown sparse format": (SPARSE, put("X", "format", "file")),
    "half of a table": (POLARS, array("X", lambda content: content[:200])),
    "a table of other bytes": (POLARS, array("X", lambda content: content[::-1].copy())),
    "a table of other numbers": (POLARS, array("X", lambda content: content.astype(float))),
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


@pytest.mark.slow
def test_a_compressed_bomb_is_not_unpacked(tmp_path):
    content = huge((10**8,)) + bytes(10**8)
    path = with_member(tmp_path / "region", "a.npy", content, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 200_000
    peak, sentence = peak_of_loading(path)
    assert "it is compressed" in sentence
    assert peak < 10**6


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        ua.load(tmp_path / "nothing")

"""Files that declare what their bytes do not hold: refused in one sentence, before any allocation.

Each case changes the header or an array of a true file and writes it again with a right hash.
"""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import unassuming as ua
from changed_files import array, changed_file, put
from unassuming.io import archive

RNG = np.random.default_rng(0)
N = 1300
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.normal(size=N)
ROOM = 10**7  # bytes; the true files take less than 2 MB to load
NOT_A_STREAM = r"^the file is not a checkpoint: expected .*[^.]\. It is left as it is: [^.]*\.$"
NOT_A_REGION = r"^the file is not a saved region: expected .*[^.]\. Save the region again\.$"

ODD = {"huge": 4 * 10**8, "negative": -1, "fraction": 2.0, "text": "20", "yes": True, "none": None}
BEYOND = 10**400  # no machine integer


def drop(header_key=None, name=None):
    def changed(header, arrays):
        if header_key is not None:
            del header[header_key]
        if name is not None:
            del arrays[name]

    return changed


def both(*changes):
    def changed(header, arrays):
        for change in changes:
            change(header, arrays)

    return changed


def refused(load, path, sentence):
    """Return the peak of memory while the file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=sentence) as caught:
            load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
    return peak


# --- streams ---------------------------------------------------------------------------------


def streams():
    signs = ua.StreamingRegion(Ridge(), m=20, random_state=0).partial_fit(X, Y)
    blocks = ua.noise.ExchangeableWithin(50)
    moves = ua.StreamingRegion(Ridge(), noise=blocks, m=20, random_state=0).partial_fit(X, Y)
    model = make_pipeline(MaxAbsScaler().fit(X), Ridge())
    piped = ua.StreamingRegion(model, m=20, random_state=0).partial_fit(X[:9], Y[:9])
    return {"signs": signs, "moves": moves, "piped": piped}


STREAMS = streams()
WAITING = {
    f"{name} is {kind}": ("signs", put(name, value))
    for name in ("m", "seed", "leaf_rows", "width")
    for kind, value in ODD.items()
    if (name, kind) not in [("seed", "huge")]
}
HOSTILE = {
    **WAITING,
    "m beyond all integers": ("signs", put("m", BEYOND)),
    **{
        f"without {key}": ("signs", drop(key))
        for key in ("m", "seed", "leaf_rows", "spans", "nodes", "pending", "width", "columns")
    },
    **{
        f"without the array {name}": ("signs", drop(name=name))
        for name in ("key", "tie_order", "basis0", "moved0", "rows0", "there0")
    },
    "ties of zeros": ("signs", array("tie_order", lambda order: 0 * order)),
    "ties from 1 to m": ("signs", array("tie_order", lambda order: order + 1)),
    "ties in fractions": ("signs", array("tie_order", lambda order: order + 0.0)),
    "ties in a table": ("signs", array("tie_order", lambda order: order[:, None])),
    "ties for more statistics": ("signs", array("tie_order", lambda order: np.arange(30))),
    "more of everything": (
        "signs",
        both(put("m", 21), array("tie_order", lambda order: np.arange(21))),
    ),
    "a key of signed integers": ("signs", array("key", lambda key: key.astype(np.int64))),
    "a key of three words": ("signs", array("key", lambda key: np.append(key, key[0]))),
    "a tree up to the sky": ("signs", put("nodes", 0, 0, 10**12)),
    "a tree below the ground": ("signs", put("nodes", 0, 0, -1)),
    "a node that is not there": ("signs", put("nodes", 0, 1, 5)),
    "a node of another form": ("signs", put("nodes", 0, 2, False)),
    "a form that is a number": ("signs", put("nodes", 0, 2, 1)),
    "a node twice": ("signs", lambda header, _: header["nodes"].append(header["nodes"][0])),
    "rows beyond all integers": ("signs", put("spans", 0, 1, BEYOND)),
    "rows that nothing was summed of": ("signs", put("spans", 0, 1, 10**6)),
    "rows in fractions": ("signs", put("spans", 0, 1, float(N))),
    "rows backwards": ("signs", put("spans", 0, [N, 0])),
    "a leaf far away": ("signs", put("pending", 0, 10**15)),
    "a leaf of its own": ("signs", put("pending", 0, 0)),
    "sums of another width": ("signs", array("basis0", lambda basis: basis[:2, :2])),
    "sums of fewer statistics": ("signs", array("moved0", lambda moved: moved[:, :5])),
    "sums in single precision": ("signs", array("moved0", lambda m: m.astype(np.float32))),
    "empty rows, wide as memory": ("signs", array("rows0", lambda rows: np.zeros((0, 10**12)))),
    "no rows at all": ("signs", array("there0", lambda there: there & False)),
    "rows in numbers": ("signs", array("there0", lambda there: there.astype(np.int8))),
    "rows of another leaf": ("signs", array("there0", lambda there: np.append(there, False))),
    "columns without end": ("signs", put("columns", ["a", "b", "c"])),
    "columns in numbers": ("signs", put("columns", [1, 2])),
    "blocks as long as memory": ("moves", put("noise", "block_rows", 10**15)),
    "blocks of half rows": ("moves", put("noise", "block_rows", 50.0)),
    "blocks of one row": ("moves", put("noise", "block_rows", 1)),
    "an unknown class": ("moves", put("noise", "class", "Evil")),
    "an unknown parameter": ("signs", put("estimator", "parameters", "evil", 1)),
    "a note that is none": ("signs", put("estimator", "shown", 3)),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("case", HOSTILE)
def test_a_stream_that_declares_what_it_does_not_hold_is_refused(case, tmp_path):
    name, change = HOSTILE[case]
    STREAMS[name].save(tmp_path / "c")
    path = changed_file(tmp_path / "c", change)
    assert refused(ua.StreamingRegion.load, path, NOT_A_STREAM) < ROOM


SAMPLES = {
    "more rows": array("sample", lambda x: np.vstack([x, x])),
    "more features": array("features", lambda x: np.hstack([x, x])),
    "nothing": drop(name="sample"),
    "columns as many as memory holds": put(
        "sample", {"kind": "sparse matrix", "format": "csc", "shape": [1, 10**10], "name": "s"}
    ),
}


@pytest.mark.parametrize("case", SAMPLES)
def test_a_sample_that_is_none_is_refused(case, tmp_path):
    STREAMS["piped"].save(tmp_path / "c")
    path = changed_file(tmp_path / "c", SAMPLES[case])
    model = STREAMS["piped"].estimator
    assert refused(lambda p: ua.StreamingRegion.load(p, model), path, NOT_A_STREAM) < ROOM


@pytest.mark.parametrize("name", STREAMS)
def test_true_streams_are_loaded_in_little_memory(name, tmp_path):
    stream = STREAMS[name]
    stream.save(tmp_path / "c")
    tracemalloc.start()
    loaded = ua.StreamingRegion.load(tmp_path / "c", stream.estimator)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < ROOM
    assert loaded.n == stream.n
    assert loaded.region().estimate.tolist() == stream.region().estimate.tolist()


def test_rows_that_wait_take_the_memory_of_their_file(tmp_path):
    """A block of a million rows, of which one is there: room for the others comes with them."""
    noise = ua.noise.ExchangeableWithin(10**6)
    stream = ua.StreamingRegion(Ridge(), noise=noise, m=20, random_state=0)
    stream.partial_fit(np.ones((1, 200)), np.ones(1)).save(tmp_path / "c")
    tracemalloc.start()
    loaded = ua.StreamingRegion.load(tmp_path / "c")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (tmp_path / "c").stat().st_size
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "c").read_bytes()


# --- regions ---------------------------------------------------------------------------------

FEW = 40
TABLE = sparse.csr_array(X[:FEW])
FRAME = pd.DataFrame({"a": X[:FEW, 0], "b": X[:FEW, 1]})
REGIONS = {
    "signs": (Ridge(), X[:FEW], {}),
    "orders": (Ridge(), X[:FEW], {"noise": "exchangeable"}),
    "sparse": (Ridge(), TABLE, {}),
    "diagonals": (Ridge(), sparse.dia_array(TABLE), {}),
    "kernel": (KernelRidge(), TABLE, {}),
    "pipe": (make_pipeline(MaxAbsScaler(), Ridge()), TABLE, {}),
    "frame": (Ridge(), FRAME, {}),
}


def region(name):
    model, inputs, options = REGIONS[name]
    return ua.confidence_region(model, inputs, Y[:FEW], m=20, random_state=0, **options)


def shared_columns(header, arrays):
    """Ask for one column many times."""
    header["X"]["columns"] *= 10**4


HARMFUL = {
    **{
        f"{name} is {kind}": ("signs", put(name, value))
        for name in ("n", "m", "seed")
        for kind, value in ODD.items()
        if (name, kind) != ("seed", "huge")
    },
    "m beyond all integers": ("signs", put("m", BEYOND)),
    "20 million columns": ("sparse", put("X", "shape", [FEW, 2 * 10**7])),
    "20 million columns for a kernel": ("kernel", put("X", "shape", [FEW, 2 * 10**7])),
    "20 million columns for a pipeline": ("pipe", put("X", "shape", [FEW, 2 * 10**7])),
    "diagonals": ("diagonals", put("X", "shape", [FEW, 4 * 10**6])),
    "columns in fractions": ("sparse", put("X", "shape", [FEW, 2.0])),
    "negative columns": ("sparse", put("X", "shape", [FEW, -2])),
    "one length": ("sparse", put("X", "shape", [FEW])),
    "columns that are true": ("sparse", put("X", "shape", [FEW, True])),
    "an index beyond": ("sparse", array("X_col", lambda col: col + 5)),
    "an index below": ("sparse", array("X_col", lambda col: col - 1)),
    "ties of zeros": ("signs", array("tie_order", lambda order: 0 * order)),
    "one sign for all rows": (
        "signs",
        both(put("drawn", 0, "shape", [19, 1]), array("drawn0", lambda drawn: drawn[:3])),
    ),
    "no signs for many statistics": (
        "signs",
        both(
            put("drawn", 0, "shape", [4 * 10**8 - 1, 0]),
            put("m", 4 * 10**8),
            array("drawn0", lambda drawn: drawn[:0]),
        ),
    ),
    "one array of signs for all": (
        "signs",
        lambda header, _: header.update(drawn=header["drawn"] * 10**4, several=True),
    ),
    "positions of fewer rows": ("orders", array("drawn0", lambda drawn: drawn[:, :-1])),
    "a column of long texts": ("frame", put("X", "columns", 0, "dtype", "S100000000")),
    "a column of records": ("frame", put("X", "columns", 0, "dtype", "(9999,9999)f8")),
    "one column many times": ("frame", shared_columns),
    "ranks in fractions": ("signs", array("ranks", lambda ranks: ranks + 0.0)),
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("case", HARMFUL)
def test_a_region_that_declares_what_it_does_not_hold_is_refused(case, tmp_path):
    name, change = HARMFUL[case]
    ua.save(region(name), tmp_path / "r")
    path = changed_file(tmp_path / "r", change)
    model = REGIONS[name][0] if name == "pipe" else None
    assert refused(lambda p: ua.load(p, model), path, NOT_A_REGION) < 3 * ROOM


@pytest.mark.slow
def test_many_columns_are_loaded_where_the_file_has_them(tmp_path):
    wide = sparse.random_array((FEW, 300), density=0.05, random_state=0, format="csc")
    region = ua.confidence_region(Ridge(), wide, Y[:FEW], m=20, random_state=0)
    ua.save(region, tmp_path / "r")
    assert ua.load(tmp_path / "r").objective.d == 301


def test_an_array_of_records_is_not_read(tmp_path):
    ua.save(region("signs"), tmp_path / "r")
    odd = array("weight", lambda _: np.zeros(FEW, dtype=[("a", "f8"), ("b", "f8")]))
    with pytest.raises(KeyError):
        changed_file(tmp_path / "r", odd)
    header, arrays = archive.read(tmp_path / "r")
    arrays["y"] = np.zeros(FEW, dtype=[("a", "f4"), ("b", "f4")])
    archive.write(tmp_path / "r", header, arrays)
    with pytest.raises(ValueError, match="its part y is not an array of numbers or text"):
        ua.load(tmp_path / "r")

"""Checkpoints of a stream: one file of sums and integers, written as a whole, without code.

What is read is checked: it may be damaged, foreign or malicious.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from unassuming._version import __version__
from unassuming.io import check_estimator, describe_estimator, known_estimator, other_estimator
from unassuming.io.archive import (
    FORMAT,
    Unreadable,
    as_integer,
    as_tie_order,
    check_format,
    decoding,
    read,
    require,
    write,
)
from unassuming.io.tables import Store, as_plain
from unassuming.noise import BlockSymmetric
from unassuming.ranking import Order
from unassuming.streaming.ledger import Ledger, Pending, joined_spans
from unassuming.streaming.stream import StreamingRegion
from unassuming.streaming.sums import LEAF_ROWS, Part

_KIND, _NOTE = "stream", "note_"
_HIGHEST = 48  # no tree of sums is as high, nor has so many leaves: row numbers have 63 bits
_FILE, _LOAD = "the checkpoint", "StreamingRegion.load"  # as sentences name them

AnyPath = str | os.PathLike[str]


def write_checkpoint(
    path: AnyPath, stream: StreamingRegion, note: Mapping[str, Any] | None = None, **more: Any
) -> None:
    """Write a stream, with a note in JSON's types and with more arrays."""
    store, ledger, features = Store(), stream._ledger, stream._features
    arrays = store.arrays
    arrays.update({f"{_NOTE}{name}": array for name, array in more.items()})
    nodes, leaves = sorted(ledger.nodes), sorted(ledger.pending)
    parts = [ledger.nodes[place] for place in nodes]
    arrays["grams"] = np.array([part.grams for part in parts])
    arrays["origins"] = np.array([part.origin for part in parts])
    arrays["counts"] = np.array([part.rows for part in parts])
    for j, leaf in enumerate(leaves):
        pending = ledger.pending[leaf]
        arrays[f"there{j}"], arrays[f"rows{j}"] = pending.there, pending.room[pending.there]
    arrays["outcomes"], arrays["tie_order"] = ledger.outcomes, stream._order.pi
    sample = None
    if stream._sample is not None:
        inputs, arrays["features"] = stream._sample
        sample = store.put_table("sample", inputs)
    blocks = None if stream._sums.units is None else store.put("blocks", stream.noise.blocks)
    names, possible = as_plain(features.inputs)
    header = {
        "kind": _KIND,
        "format": FORMAT,
        "version": __version__,
        "estimator": describe_estimator(stream.estimator),
        "blocks": blocks,
        "m": stream.m,
        "seed": stream.seed,
        "leaf_rows": LEAF_ROWS,
        "nodes": [list(place) for place in nodes],
        "pending": leaves,
        "width": features.width,
        "inputs": names if possible else None,  # without names only the order is checked
        "columns": features.columns,
        "sample": sample,
        "note": dict(note or {}),
    }
    write(path, header, arrays)


def read_checkpoint(path: AnyPath, estimator: Any = None) -> StreamingRegion:
    """Return the stream that was written."""
    header, store = _read(path)
    with _refusing(path), decoding():
        entry = header["estimator"]
        known = known_estimator(entry)
    if estimator is not None or known is None:
        check_estimator(entry, estimator, _FILE, _LOAD)
        known = estimator
    with _refusing(path), decoding():
        seed = as_integer(header["seed"], "seeds", most=2**128)
        m = as_integer(header["m"], "statistics")
        blocks = header["blocks"]
        noise = None if blocks is None else BlockSymmetric(store.get(blocks))
        stream = StreamingRegion(known, noise=noise, m=m, random_state=seed)
        stream._order = Order(as_tie_order(store.arrays["tie_order"], m))
        stream._ledger = _ledger(stream, header, store.arrays)
        stream._sample = _sample(stream, header, store)
    features = stream._features
    if stream._sample is not None:
        inputs, expected = stream._sample
        if not features.alike(features(inputs), expected):
            given = "a pipeline with other features"
            raise other_estimator("the same features of the same row", given, _FILE)
    with _refusing(path), decoding():
        inputs, features.columns, features.width = (
            header[name] for name in ("inputs", "columns", "width")
        )
        if features.columns is not None:
            require(all(isinstance(c, str) for c in features.columns), "names")
            require(len(features.columns) == features.width, "names")
        if inputs is not None:
            inputs = [tuple(c) if isinstance(c, list) else c for c in inputs]
        features.inputs = inputs
    return stream


def read_note(path: AnyPath) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the note that was written with a stream, and the additional arrays."""
    header, store = _read(path)
    with _refusing(path), decoding():
        require(isinstance(header["note"], dict), "notes")
    more = {name: array for name, array in store.arrays.items() if name.startswith(_NOTE)}
    return header["note"], {name.removeprefix(_NOTE): a for name, a in more.items()}


def _read(path: AnyPath) -> tuple[dict[str, Any], Store]:
    """Return header and arrays of a checkpoint."""
    with _refusing(path):
        header, arrays = read(path)
        require(header.get("kind") == _KIND, "kind and content")
        check_format(header)
    return header, Store(arrays)


@contextmanager
def _refusing(path: AnyPath) -> Iterator[None]:
    """Say that a file that cannot be used is left as it is."""
    try:
        yield
    except Unreadable as error:
        raise ValueError(
            "the file is not a checkpoint: expected a file that StreamingRegion.save has written, "
            f"whole and unchanged, given {os.fspath(path)}: {' '.join(str(error).split())}. It is "
            "left as it is: use another checkpoint, or start again without one."
        ) from error


def _ledger(stream: StreamingRegion, header: dict[str, Any], arrays: dict[str, Any]) -> Ledger:
    """Return sums and waiting rows, which have to be about different rows."""
    require(header["leaf_rows"] == LEAF_ROWS, "numbers of rows that are summed at once")
    ledger, spans, width = Ledger(), [], header["width"]
    require((width is None) == (not header["nodes"] and not header["pending"]), "features")
    k = 0 if width is None else as_integer(width, "features") + 2
    parts = zip(*(arrays[name] for name in ("grams", "origins", "counts")), strict=True)
    for place, one in zip(header["nodes"], parts, strict=True):
        height, number = (as_integer(entry, "sums", most=2**_HIGHEST) for entry in place)
        require(height <= _HIGHEST, "sums")
        part = Part(*one)
        first, size = (number << height) * LEAF_ROWS, LEAF_ROWS << height
        shapes = part.grams.shape, part.origin.shape, part.rows.shape
        require(shapes == ((stream.m - 1, k, k), (k,), (stream.m - 1,)), "sums")
        require(part.grams.dtype == part.origin.dtype == np.float64, "sums")
        require(part.rows.dtype == np.int64 and part.rows.sum() == size, "sums")
        ledger.nodes[height, number] = part
        spans.append((first, first + size))
    for j, leaf in enumerate(header["pending"]):
        start, there = as_integer(leaf, "rows", most=2**_HIGHEST) * LEAF_ROWS, arrays[f"there{j}"]
        rows = arrays[f"rows{j}"]
        require(there.dtype == np.bool_ and there.shape == (LEAF_ROWS,), "rows")
        require(rows.dtype == np.float64 and rows.shape == (there.sum(), k), "rows")
        require(0 < len(rows) < LEAF_ROWS and np.isfinite(rows).all(), "rows")
        require((rows[:, -1] > 0).all(), "rows")
        ledger.pending[leaf] = Pending.of(rows, there)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]))).tolist()
        spans += [(start + a, start + b) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    ledger.spans, ledger.outcomes = joined_spans(spans), arrays["outcomes"]
    require(ledger.outcomes.dtype == np.float64 and ledger.outcomes.shape <= (3,), "outcomes")
    return ledger


def _sample(stream: StreamingRegion, header: dict[str, Any], store: Store) -> Any:
    """Return a row and its features, if there are transformers and rows."""
    given = stream._features.transformers is not None and header["width"] is not None
    require((header["sample"] is not None) == given, "features")
    if not given:
        return None
    inputs, found = store.get_table(header["sample"]), store.arrays["features"]
    require(found.shape == (1, header["width"]), "features")
    return inputs, found

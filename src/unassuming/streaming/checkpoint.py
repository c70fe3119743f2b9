"""Checkpoints of a stream: one file of sums and integers, written as a whole, without code.

What is read is checked: it may be damaged, foreign or malicious.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from unassuming._typing import Array
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
from unassuming.noise.signs import BlockSymmetric, Symmetric
from unassuming.ranking import Order
from unassuming.streaming.ledger import Ledger, Pending, joined_spans
from unassuming.streaming.stream import StreamingRegion, as_order
from unassuming.streaming.sums import LEAF_ROWS, Part

_KIND = "stream"
_NOTE = "note_"
_HIGHEST = 62  # no tree of sums is as high: row numbers have 63 bits
_FILE, _LOAD = "the checkpoint", "StreamingRegion.load"  # as sentences name them

AnyPath = str | os.PathLike[str]


def write_checkpoint(
    path: AnyPath, stream: StreamingRegion, note: Mapping[str, Any] | None = None, **more: Any
) -> None:
    """Write a stream, with a note in JSON's types and with more arrays."""
    store, ledger, features = Store(), stream.ledger, stream.features
    arrays = store.arrays
    arrays.update({f"{_NOTE}{name}": array for name, array in more.items()})
    nodes, leaves = sorted(ledger.nodes), sorted(ledger.pending)
    for j, place in enumerate(nodes):
        part = ledger.nodes[place]
        arrays[f"grams{j}"], arrays[f"origin{j}"] = part.grams, part.origin
        arrays[f"counts{j}"] = part.rows
    for j, leaf in enumerate(leaves):
        pending = ledger.pending[leaf]
        arrays[f"there{j}"], arrays[f"rows{j}"] = pending.there, pending.room[pending.there]
    arrays["outcomes"], arrays["tie_order"] = ledger.outcomes, stream.order.pi
    sample = None
    if stream.sample is not None:
        inputs, arrays["features"] = stream.sample
        sample = store.put_table("sample", inputs)
    blocks = None if stream.sums.units is None else store.put("blocks", stream.noise.blocks)
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
        "spans": [list(span) for span in ledger.spans],
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
    header, arrays = _read(path)
    store = Store(arrays)
    try:
        with decoding():
            entry, blocks = header["estimator"], header["blocks"]
            known = known_estimator(entry)
            ledger = _ledger(header, arrays)
            noise = Symmetric() if blocks is None else BlockSymmetric(store.get(blocks))
            m, seed = as_order(header["m"]), as_integer(header["seed"], "seeds", most=2**128)
            order = Order(as_tie_order(arrays["tie_order"], m))
    except Unreadable as error:
        raise _refused(path, error) from error
    if estimator is not None or known is None:
        check_estimator(entry, estimator, _FILE, _LOAD)
        known = estimator
    stream = StreamingRegion(known, noise=noise, m=m, random_state=seed)
    stream.order = order
    try:
        with decoding():
            sample = _fill(stream, ledger, header, store)
    except Unreadable as error:
        raise _refused(path, error) from error
    if sample is not None:
        if not stream.features.alike(stream.features(sample[0]), sample[1]):
            given = "a pipeline with other features"
            raise other_estimator("the same features of the same row", given, _FILE)
        stream.features.width = header["width"]
        stream.features.inputs, stream.features.columns = _names(header)
        stream.sample = sample
    return stream


def read_note(path: AnyPath) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the note that was written with a stream, and the additional arrays."""
    header, arrays = _read(path)
    if not isinstance(header.get("note"), dict):
        raise _refused(path, "its note is not a JSON object")
    more = {name: array for name, array in arrays.items() if name.startswith(_NOTE)}
    return header["note"], {name.removeprefix(_NOTE): a for name, a in more.items()}


def _read(path: AnyPath) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        header, arrays = read(path)
        require(header.get("kind") == _KIND, "kind and content")
        check_format(header)
    except Unreadable as error:
        raise _refused(path, error) from error
    return header, arrays


def _ledger(header: dict[str, Any], arrays: dict[str, Any]) -> Ledger:
    """Return sums and waiting rows that are about the same rows as the header says."""
    require(header["leaf_rows"] == LEAF_ROWS, "numbers of rows that are summed at once")
    ledger, spans = Ledger(), []
    for j, entry in enumerate(header["nodes"]):
        height, number = (as_integer(one, "sums", most=2**_HIGHEST) for one in entry)
        require(height <= _HIGHEST, "sums")
        part = Part(arrays[f"grams{j}"], arrays[f"origin{j}"], arrays[f"counts{j}"])
        first, size = (number << height) * LEAF_ROWS, LEAF_ROWS << height
        require(part.grams.dtype == part.origin.dtype == np.float64, "sums")
        require(part.rows.dtype == np.int64 and part.rows.sum() == size, "sums")
        ledger.nodes[height, number] = part
        spans.append((first, first + size))
    for j, leaf in enumerate(header["pending"]):
        start, there = as_integer(leaf, "rows") * LEAF_ROWS, arrays[f"there{j}"]
        rows = arrays[f"rows{j}"]
        require(there.dtype == np.bool_ and there.shape == (LEAF_ROWS,), "rows")
        require(rows.dtype == np.float64 and rows.ndim == 2 and len(rows) == there.sum(), "rows")
        require(0 < len(rows) < LEAF_ROWS and np.isfinite(rows).all(), "rows")
        require((rows[:, -1] > 0).all(), "rows")
        ledger.pending[leaf] = Pending.of(rows, there)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]))).tolist()
        spans += [(start + a, start + b) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    ledger.spans = joined_spans(spans)
    require([list(span) for span in ledger.spans] == header["spans"], "rows")
    ledger.outcomes = arrays["outcomes"]
    require(ledger.outcomes.dtype == np.float64 and ledger.outcomes.shape <= (3,), "outcomes")
    return ledger


def _fill(
    stream: StreamingRegion, ledger: Ledger, header: dict[str, Any], store: Store
) -> tuple[Any, Array] | None:
    """Give a stream its sums and features if their shapes fit; return a row and its features."""
    width, features = header["width"], stream.features
    require((width is None) == (not ledger.spans), "features")
    if width is None:
        return None
    k = as_integer(width, "features") + 2
    for part in ledger.nodes.values():
        shapes = part.grams.shape, part.origin.shape, part.rows.shape
        require(shapes == ((stream.m - 1, k, k), (k,), (stream.m - 1,)), "sums")
    require(all(part.room.shape[1] == k for part in ledger.pending.values()), "rows")
    stream.ledger, features.width = ledger, width
    features.inputs, features.columns = _names(header)
    require((header["sample"] is None) == (features.transformers is None), "features")
    if header["sample"] is None:
        return None
    inputs, found = store.get_table(header["sample"]), store.arrays["features"]
    require(found.shape == (1, width), "features")
    return inputs, found


def _names(header: dict[str, Any]) -> tuple[list[Any] | None, list[str] | None]:
    """Return the names of the columns of X and of the features."""
    inputs, columns = header["inputs"], header["columns"]
    if columns is not None:
        require(all(isinstance(c, str) for c in columns), "names")
        require(len(columns) == header["width"], "names")
    if inputs is not None:
        inputs = [tuple(c) if isinstance(c, list) else c for c in inputs]
    return inputs, columns


def _refused(path: AnyPath, why: object) -> ValueError:
    return ValueError(
        "the file is not a checkpoint: expected a file that StreamingRegion.save has written, "
        f"whole and unchanged, given {os.fspath(path)}: {' '.join(str(why).split())}. It is left "
        "as it is: use another checkpoint, or start again without one."
    )

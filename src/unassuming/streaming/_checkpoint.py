"""Checkpoints of a stream: one file of sums and integers, written as a whole, without code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._version import __version__
from unassuming.io import (
    check_estimator,
    check_noise_class,
    describe_estimator,
    describe_noise,
    other_estimator,
)
from unassuming.io.archive import FORMAT, Unreadable, check_format, read, write
from unassuming.io.tables import Store, as_plain
from unassuming.noise import Noise, RowNoise
from unassuming.streaming._arguments import as_row_noise, has_cells
from unassuming.streaming._saved import Saved, decode

if TYPE_CHECKING:
    from unassuming.streaming._stream import StreamingRegion

_KIND = "stream"
_NOTE = "note_"
_FILE, _LOAD = "the checkpoint", "StreamingRegion.load"  # as sentences name them

AnyPath = str | os.PathLike[str]


def write_checkpoint(
    path: AnyPath, stream: StreamingRegion, note: Mapping[str, Any] | None = None, **more: Any
) -> None:
    """Write a stream, with a note in JSON's types and with more arrays."""
    store, ledger, features = Store(), stream._ledger, stream._features
    store.arrays.update({f"{_NOTE}{name}": array for name, array in more.items()})
    nodes = sorted(ledger.nodes)
    for j, place in enumerate(nodes):
        part = ledger.nodes[place]
        store.arrays[f"basis{j}"], store.arrays[f"moved{j}"] = part.basis, part.moved
        store.arrays[f"least{j}"] = part.least
        store.arrays[f"errors{j}"] = np.array([part.errors.defect, part.errors.moved])
        store.arrays[f"lengths{j}"] = part.errors.lengths
        store.arrays[f"still{j}"] = part.still
        if stream._cells.number:
            store.arrays[f"cells{j}"] = part.cells
    leaves = sorted(ledger.pending)
    for j, leaf in enumerate(leaves):
        pending = ledger.pending[leaf]
        rows = pending.present()
        store.arrays[f"rows{j}"] = rows[:, :-1] if (rows[:, -1] == 1).all() else rows
        store.arrays[f"there{j}"] = pending.there
    for j, form in enumerate(ledger.spaces):
        store.arrays[f"space{j}"] = form
    store.arrays["outcomes"] = ledger.outcomes
    store.arrays["key"] = stream._key
    store.arrays["tie_order"] = stream._tie_order
    if stream._cells.number:
        store.arrays["cell_key"] = stream._cells.key
    sample = None
    if stream._sample is not None:
        inputs, store.arrays["features"] = stream._sample
        sample = store.put_table("sample", inputs)
    names, possible = as_plain(features.inputs)
    header = {
        "kind": _KIND,
        "format": FORMAT,
        "version": __version__,
        "estimator": describe_estimator(stream.estimator),
        "noise": {**describe_noise(stream.noise, store), "shown": repr(stream.noise)},
        "m": stream.m,
        "seed": stream.seed,
        "cells": stream._cells.number,
        "leaf_rows": ledger.leaf_rows,
        "spans": [list(span) for span in ledger.spans],
        "nodes": [[*place, ledger.nodes[place].plain] for place in nodes],
        "pending": leaves,
        "width": features.width,
        "inputs": names if possible else None,  # without names only the order is checked
        "columns": features.columns,
        "sample": sample,
        "note": dict(note or {}),
    }
    write(path, header, store.arrays)


def read_checkpoint(
    path: AnyPath, kind: type[StreamingRegion], estimator: Any, noise: Noise | None
) -> StreamingRegion:
    """Return the stream that was written."""
    header, arrays = _read(path)
    store = Store(arrays)
    try:
        saved = decode(header, store)
    except Unreadable as error:
        raise _refused(path, str(error)) from error
    assumed = _noise(saved, noise)
    if saved.cells and not has_cells(as_row_noise(assumed)):
        raise _refused(path, "it has cells, for which its noise has no signs")
    stream = kind(
        _estimator(saved, estimator),
        noise=assumed,
        m=saved.m,
        cells=saved.cells or None,
        random_state=saved.seed,
    )
    try:
        saved.fill(stream)
        sample = saved.sample(store)
    except Unreadable as error:
        raise _refused(path, str(error)) from error
    features = stream._features
    if sample is not None:
        inputs, expected = sample
        if not features.alike(features(inputs), expected):
            given = "a pipeline with other features"
            raise other_estimator("the same features of the same row", given, _FILE)
        stream._sample = sample
    features.width, features.inputs = saved.width, saved.inputs
    features.columns = saved.columns
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
        if header.get("kind") != _KIND:
            raise Unreadable("it is a file of another kind")
        check_format(header)
    except Unreadable as error:
        raise _refused(path, str(error)) from error
    return header, arrays


def _noise(saved: Saved, given: Noise | None) -> Noise:
    """Return the assumption of the checkpoint, or the one given again if it is the same."""
    known, entry = saved.noise, saved.noise_entry
    if given is None and known is not None:
        return known
    check_noise_class(entry, given, _FILE, _LOAD)
    assert given is not None
    same = known.same_as(given) if isinstance(known, RowNoise) else repr(given) == entry["shown"]
    if not same:
        blocks = " with other blocks" if repr(given) == entry["shown"] else ""
        raise ValueError(
            f"noise is not the one of {_FILE}: expected {entry['shown']}, given "
            f"{given!r}{blocks}. Pass the same assumption as before, or none."
        )
    return given


def _estimator(saved: Saved, given: Any) -> Any:
    """Return the estimator of the checkpoint, or the one given again if it is the same."""
    if given is None and saved.estimator is not None:
        return saved.estimator
    check_estimator(saved.estimator_entry, given, _FILE, _LOAD)
    return given


def _refused(path: AnyPath, why: str) -> ValueError:
    return ValueError(
        "the file is not a checkpoint: expected a file that StreamingRegion.save has written, "
        f"whole and unchanged, given {os.fspath(path)}: {' '.join(why.split())}. It is left as it "
        "is: use another checkpoint, or start again without one."
    )

"""Checkpoints of a stream: one file of sums and integers, whole or not there, no code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._archive import read, write
from unassuming._errors import complaint
from unassuming._tables import Store, as_plain
from unassuming._version import __version__
from unassuming.io import describe_estimator, describe_noise, difference, known_class, known_noise
from unassuming.noise import Noise, RowNoise
from unassuming.streaming._ledger import Pending
from unassuming.streaming._sums import Part

if TYPE_CHECKING:
    from unassuming.streaming._stream import StreamingRegion

FORMAT = 2
_KIND = "stream"
_NOTE = "note_"

AnyPath = str | os.PathLike[str]


def write_checkpoint(
    path: AnyPath, stream: StreamingRegion, note: Mapping[str, Any] | None = None, **more: Any
) -> None:
    """Write a stream; beside it a note, as JSON has it, and more arrays."""
    store, ledger, features = Store(), stream._ledger, stream._features
    store.arrays.update({f"{_NOTE}{name}": array for name, array in more.items()})
    nodes = sorted(ledger.nodes)
    for j, place in enumerate(nodes):
        part = ledger.nodes[place]
        store.arrays[f"basis{j}"], store.arrays[f"moved{j}"] = part.basis, part.moved
    leaves = sorted(ledger.pending)
    for j, leaf in enumerate(leaves):
        pending = ledger.pending[leaf]
        store.arrays[f"rows{j}"] = pending.rows[pending.there]
        store.arrays[f"there{j}"] = pending.there
    store.arrays["key"] = stream._key
    store.arrays["tie_order"] = stream._tie_order
    sample = None
    if stream._sample is not None:
        inputs, store.arrays["features"] = stream._sample
        sample = store.put_table("sample", inputs)
    header = {
        "kind": _KIND,
        "format": FORMAT,
        "version": __version__,
        "estimator": describe_estimator(stream.estimator),
        "noise": {**describe_noise(stream.noise, store), "shown": repr(stream.noise)},
        "m": stream.m,
        "seed": stream.seed,
        "leaf_rows": ledger.leaf_rows,
        "spans": [list(span) for span in ledger.spans],
        "nodes": [[*place, ledger.nodes[place].plain] for place in nodes],
        "pending": leaves,
        "width": features.width,
        "inputs": _plain_names(features.inputs),
        "columns": features.columns,
        "sample": sample,
        "note": dict(note or {}),
    }
    write(path, header, store.arrays)


def read_checkpoint(
    path: AnyPath, kind: type[StreamingRegion], estimator: Any, noise: Noise | None
) -> StreamingRegion:
    """Return the stream that was written, if not a bit of it has changed."""
    header, arrays = _read(path)
    store = Store(arrays)
    stream = kind(
        _model(header["estimator"], estimator),
        noise=_noise(header["noise"], store, noise),
        m=header["m"],
        random_state=header["seed"],
    )
    stream._key, stream._tie_order = arrays["key"], arrays["tie_order"].astype(np.intp)
    ledger, features = stream._ledger, stream._features
    if ledger.leaf_rows != header["leaf_rows"]:
        raise _unreadable(path, f"sums of {header['leaf_rows']} rows at a time")
    ledger.spans = [(first, stop) for first, stop in header["spans"]]
    for j, (height, number, plain) in enumerate(header["nodes"]):
        ledger.nodes[height, number] = Part(arrays[f"basis{j}"], arrays[f"moved{j}"], plain)
    for j, leaf in enumerate(header["pending"]):
        there, some = arrays[f"there{j}"], arrays[f"rows{j}"]
        rows = np.zeros((ledger.leaf_rows, some.shape[1]))
        rows[there] = some
        ledger.pending[leaf] = Pending(rows, there)
    if header["sample"] is not None:
        _check_features(stream, store.get_table(header["sample"]), arrays["features"])
    features.width = header["width"]
    names = header["inputs"]
    features.inputs = names and [tuple(c) if isinstance(c, list) else c for c in names]
    features.columns = header["columns"]
    return stream


def read_note(path: AnyPath) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the note beside a stream, and the arrays that came with it."""
    header, arrays = _read(path)
    more = {name: array for name, array in arrays.items() if name.startswith(_NOTE)}
    return header.get("note", {}), {name.removeprefix(_NOTE): a for name, a in more.items()}


def _read(path: AnyPath) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        header, arrays = read(path)
    except ValueError as error:
        raise _unreadable(path, "damaged, or changed since it was written") from error
    if not isinstance(header, dict) or header.get("kind") != _KIND:
        raise _unreadable(path, "a file of another kind")
    if header.get("format") != FORMAT:
        raise _unreadable(path, f"format {header.get('format')}, and this version reads {FORMAT}")
    return header, arrays


def _plain_names(names: list[Any] | None) -> Any:
    """Return the names of columns if a file can hold them; without, order alone tells them."""
    plain, possible = as_plain(names)
    return plain if possible else None


def _noise(saved: dict[str, Any], store: Store, given: Noise | None) -> Noise:
    known = known_noise(saved, store)
    if given is None and known is not None:
        return known
    if given is None or type(given).__name__ != saved["class"]:
        raise ValueError(
            "noise is needed to go on, since code is not saved: expected an instance of "
            f"{saved['class']}, given {given!r}. Pass StreamingRegion.load(path, noise=...)."
        )
    same = known.same_as(given) if isinstance(known, RowNoise) else repr(given) == saved["shown"]
    if not same:
        raise ValueError(
            complaint(
                "noise",
                "is not the one of the checkpoint",
                saved["shown"],
                f"{given!r} with other blocks" if repr(given) == saved["shown"] else repr(given),
                "Pass the same assumption as before, or none.",
            )
        )
    return given


def _model(saved: dict[str, Any], given: Any) -> Any:
    cls = known_class(saved["class"]) if saved["whole"] else None
    if given is None and cls is not None:
        return cls(**saved["parameters"])
    if given is None:
        raise ValueError(
            "estimator is needed to go on, since code is not saved: expected the same as before, "
            f"{saved['shown']}, given None. Pass StreamingRegion.load(path, estimator=...)."
        )
    apart = difference(saved["described"], describe_estimator(given)["described"])
    if apart is not None:
        where, before, now = apart
        raise _other_estimator(f"{where or 'estimator'} = {before}", now)
    return given


def _check_features(stream: StreamingRegion, inputs: Any, expected: Any) -> None:
    """Refuse transformers that give other features than before."""
    if not stream._features.alike(stream._features(inputs), expected):
        raise _other_estimator("the same features of the same row", "other features")
    stream._sample = (inputs, expected)


def _other_estimator(expected: str, given: str) -> ValueError:
    return ValueError(
        f"estimator is not the one of the checkpoint: expected {expected}, given {given}. Pass the "
        "same pipeline, fitted as before."
    )


def _unreadable(path: AnyPath, why: str) -> ValueError:
    return ValueError(
        "the file is no checkpoint: expected a file that StreamingRegion.save has written, whole "
        f"and unchanged, given {os.fspath(path)}, {why}. It is left as it is: use another "
        "checkpoint, or start again without one."
    )

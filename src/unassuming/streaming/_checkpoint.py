"""Checkpoints of a stream: one file of sums and integers, whole or not there, no code."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from unassuming._archive import read, write
from unassuming._errors import complaint
from unassuming._tables import Store, as_plain
from unassuming._version import __version__
from unassuming.io import _describe_estimator, _estimator
from unassuming.noise import BlockSymmetric, ExchangeableWithin, Noise, Symmetric
from unassuming.streaming._ledger import Pending

if TYPE_CHECKING:
    from unassuming.streaming._stream import StreamingRegion

FORMAT = 1
_KIND = "stream"

AnyPath = str | os.PathLike[str]


def write_checkpoint(path: AnyPath, stream: StreamingRegion) -> None:
    """Write a stream, with a hash of all that is written."""
    store, ledger, features = Store(), stream._ledger, stream._features
    nodes = sorted(ledger.nodes)
    for j, place in enumerate(nodes):
        store.arrays[f"node{j}"] = ledger.nodes[place]
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
        "estimator": _describe_estimator(stream.estimator),
        "noise": _describe_noise(stream.noise, store),
        "m": stream.m,
        "seed": stream.seed,
        "leaf_rows": ledger.leaf_rows,
        "spans": [list(span) for span in ledger.spans],
        "nodes": [list(place) for place in nodes],
        "pending": leaves,
        "width": features.width,
        "inputs": _plain_names(features.inputs),
        "columns": features.columns,
        "sample": sample,
    }
    write(path, {**header, "sha256": _hash(header, store.arrays)}, store.arrays)


def read_checkpoint(
    path: AnyPath, kind: type[StreamingRegion], estimator: Any, noise: Noise | None
) -> StreamingRegion:
    """Return the stream that was written, if not a bit of it has changed."""
    try:
        header, arrays = read(path)
    except ValueError as error:
        raise _unreadable(path, "damaged, or no such file at all") from error
    if not isinstance(header, dict) or header.get("kind") != _KIND:
        raise _unreadable(path, "a file of another kind")
    if header.get("format") != FORMAT:
        raise _unreadable(path, f"format {header.get('format')}, and this version reads {FORMAT}")
    if _hash(header, arrays) != header.get("sha256"):
        raise _unreadable(path, "changed since it was written")
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
    for j, (height, number) in enumerate(header["nodes"]):
        ledger.nodes[height, number] = arrays[f"node{j}"]
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


def _hash(header: dict[str, Any], arrays: dict[str, Any]) -> str:
    """Return the SHA-256 of everything but itself."""
    plain = {name: value for name, value in header.items() if name != "sha256"}
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _plain_names(names: list[Any] | None) -> Any:
    """Return the names of columns if a file can hold them; without, order alone tells them."""
    plain, possible = as_plain(names)
    return plain if possible else None


def _describe_noise(noise: Noise, store: Store) -> dict[str, Any]:
    described: dict[str, Any] = {"class": type(noise).__name__, "known": True}
    if type(noise) is BlockSymmetric:
        return {**described, "blocks": store.put("blocks", noise.blocks)}
    if type(noise) is ExchangeableWithin:
        return {**described, "block_rows": noise.block_rows}
    return {**described, "known": type(noise) is Symmetric}


def _noise(saved: dict[str, Any], store: Store, given: Noise | None) -> Noise:
    if given is None and saved["known"]:
        if "blocks" in saved:
            return BlockSymmetric(store.get(saved["blocks"]))
        return ExchangeableWithin(saved["block_rows"]) if "block_rows" in saved else Symmetric()
    if given is None or type(given).__name__ != saved["class"]:
        raise ValueError(
            complaint(
                "noise",
                "is needed to go on, since code is not saved",
                f"an instance of {saved['class']}",
                repr(given),
                "Pass StreamingRegion.load(path, noise=...).",
            )
        )
    return given


def _model(saved: dict[str, Any], given: Any) -> Any:
    if given is None and not saved["whole"]:
        raise ValueError(
            complaint(
                "estimator",
                "is needed to go on, since code is not saved",
                f"the same as before, {saved['shown']}",
                "None",
                "Pass StreamingRegion.load(path, estimator=...).",
            )
        )
    return _estimator(saved, given)


def _check_features(stream: StreamingRegion, inputs: Any, expected: Any) -> None:
    """Refuse transformers that give other features than before."""
    found = stream._features(inputs)
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-9, atol=1e-12):
        raise ValueError(
            complaint(
                "estimator",
                "is not the one of the checkpoint",
                "the same features of the same row",
                "other features",
                "Pass the same pipeline, fitted as before.",
            )
        )
    stream._sample = (inputs, expected)


def _unreadable(path: AnyPath, why: str) -> ValueError:
    return ValueError(
        complaint(
            "the file",
            "is no checkpoint",
            "a file that StreamingRegion.save has written, whole and unchanged",
            f"{os.fspath(path)}, {why}",
            "It is left as it is: use another checkpoint, or start again without one.",
        )
    )

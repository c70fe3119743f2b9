"""The content of a checkpoint, checked: it may be damaged, foreign or malicious.

Every size is compared with the arrays in the file before anything of that size is made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from unassuming._modular import PRIMES
from unassuming._typing import Array, IntArray
from unassuming.inputs import row_count
from unassuming.io import known_estimator, known_noise
from unassuming.io.archive import Unreadable, as_integer, as_tie_order, decoding, require
from unassuming.io.tables import Store
from unassuming.noise import Key, Noise
from unassuming.streaming._arguments import MOST_CELLS
from unassuming.streaming._errors import Errors
from unassuming.streaming._exact_rank import Spaces
from unassuming.streaming._ledger import Ledger, Node, Pending
from unassuming.streaming._sums import Part

if TYPE_CHECKING:
    from unassuming.streaming._stream import StreamingRegion

_HIGHEST = 62  # no tree of sums is as high: row numbers have 63 bits


@final
@dataclass(frozen=True, eq=False)
class Saved:
    """A saved stream, in types that fit together; `fill` compares the shapes with the model.

    ``estimator`` and ``noise`` are None if they are code, which is not saved.
    """

    estimator: Any
    estimator_entry: dict[str, Any]
    noise: Noise | None
    noise_entry: dict[str, Any]
    m: int
    seed: int
    cells: int
    key: Key
    cell_key: Key | None
    tie_order: IntArray
    leaf_rows: int
    spans: list[tuple[int, int]]
    nodes: dict[Node, Part]
    pending: dict[int, Pending]
    spaces: Spaces
    outcomes: Array
    width: int | None
    inputs: list[Any] | None
    columns: list[str] | None
    sample_entry: dict[str, Any] | None

    def fill(self, stream: StreamingRegion) -> None:
        """Give the sums and the waiting rows to a stream without any."""
        ledger = stream._ledger
        if ledger.leaf_rows != self.leaf_rows:
            raise Unreadable(f"it sums {self.leaf_rows} rows at a time")
        pending = self.pending
        if self.width is not None:
            k = self.width + stream._intercept + 1
            sums = stream._sums_of(k)
            require(all(sums.fits(part) for part in self.nodes.values()), "sums")
            fit = all(form.shape[1] == k - 1 >= len(form) for form in self.spaces)
            require(fit, "features")
            pending = {leaf: _with_weights(part, k) for leaf, part in self.pending.items()}
        stream._key, stream._tie_order = self.key, self.tie_order
        if self.cell_key is not None:
            stream._cells = replace(stream._cells, key=self.cell_key)
        ledger.spans, ledger.nodes, ledger.pending = self.spans, self.nodes, pending
        ledger.spaces, ledger.outcomes = self.spaces, self.outcomes

    def sample(self, store: Store) -> tuple[Any, Array] | None:
        """Return one row of inputs and its features, if the model has transformers."""
        if self.sample_entry is None:
            return None
        with decoding():
            inputs, features = store.get_table(self.sample_entry), store.arrays["features"]
            require(row_count(inputs) == 1 and features.shape == (1, self.width), "features")
        return inputs, features


def decode(header: dict[str, Any], store: Store) -> Saved:
    """Return the content of a file; every defect of it is an `Unreadable`."""
    with decoding():
        return _decoded(header, store)


def _decoded(header: dict[str, Any], store: Store) -> Saved:
    arrays = store.arrays
    m = as_integer(header["m"], "ties", least=2)
    tie_order = as_tie_order(arrays["tie_order"], m)  # before anything of length m
    key, cells = _key(arrays["key"]), as_integer(header["cells"], "cells", most=MOST_CELLS)
    cell_key = _key(arrays["cell_key"]) if cells else None
    require(cells != 1, "cells")
    leaf_rows = as_integer(header["leaf_rows"], "rows", least=1)
    spans = [_span(span) for span in header["spans"]]
    nodes = {
        _node(entry): _part(entry, j, arrays, cells > 0) for j, entry in enumerate(header["nodes"])
    }
    leaves = [as_integer(leaf, "rows", most=2**_HIGHEST) for leaf in header["pending"]]
    pending = {leaf: _pending(j, arrays, leaf_rows) for j, leaf in enumerate(leaves)}
    require(len(nodes) == len(header["nodes"]) and len(pending) == len(leaves), "rows")
    require(spans == _spans(nodes, pending, leaf_rows), "rows")
    width, columns, inputs = header["width"], header["columns"], header["inputs"]
    require(width is not None or not spans, "features")
    if width is not None:
        as_integer(width, "features")
    require(columns is None or (_texts(columns) and len(columns) == width), "features")
    require(inputs is None or isinstance(inputs, list), "features")
    estimator, noise = header["estimator"], header["noise"]
    require(isinstance(estimator["shown"], str) and "described" in estimator, "estimators")
    require(isinstance(noise["shown"], str) and isinstance(noise["class"], str), "assumptions")
    return Saved(
        estimator=known_estimator(estimator),
        estimator_entry=estimator,
        noise=known_noise(noise, store),
        noise_entry=noise,
        m=m,
        seed=as_integer(header["seed"], "numbers", most=2**128),
        cells=cells,
        key=key,
        cell_key=cell_key,
        tie_order=tie_order,
        leaf_rows=leaf_rows,
        spans=spans,
        nodes=nodes,
        pending=pending,
        spaces=_spaces(arrays) if spans else (),
        outcomes=_outcomes(arrays["outcomes"], spans),
        width=width,
        inputs=inputs and [tuple(c) if isinstance(c, list) else c for c in inputs],
        columns=columns,
        sample_entry=header["sample"],
    )


def _key(stored: Any) -> Key:
    require(stored.dtype == np.uint64 and stored.shape == (2,), "numbers")
    return cast("Key", stored)


def _texts(names: Any) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _span(entry: Any) -> tuple[int, int]:
    first, stop = (as_integer(row, "rows") for row in entry)
    return first, stop


def _node(entry: Any) -> Node:
    height, number, plain = entry
    require(type(plain) is bool, "sums")
    return as_integer(height, "sums", most=_HIGHEST), as_integer(number, "sums", most=2**_HIGHEST)


def _part(entry: Any, j: int, arrays: dict[str, Any], in_cells: bool) -> Part:
    basis, moved, least = arrays[f"basis{j}"], arrays[f"moved{j}"], arrays[f"least{j}"]
    require(in_cells == (f"cells{j}" in arrays), "parts")
    cells = arrays[f"cells{j}"] if in_cells else np.zeros((0, *basis.shape))
    require(basis.dtype == moved.dtype == least.dtype == cells.dtype == np.float64, "sums")
    still = arrays[f"still{j}"]
    require(still.dtype == np.bool_, "sums")
    errors = _errors(arrays[f"errors{j}"], arrays[f"lengths{j}"], len(basis))
    return Part(basis, moved, entry[2], least, cells, still, errors)


def _errors(both: Array, lengths: Array, k: int) -> Errors:
    """Return the bounds of the errors of sums."""
    require(both.dtype == lengths.dtype == np.float64, "sums")
    require(both.shape == (2,) and lengths.shape == (k,), "sums")
    require(bool((both >= 0).all() and (lengths >= 0).all()), "sums")
    return Errors(float(both[0]), float(both[1]), lengths)


def _pending(j: int, arrays: dict[str, Any], leaf_rows: int) -> Pending:
    """Return the rows that are present; there must be some, and some must be missing."""
    rows, there = arrays[f"rows{j}"], arrays[f"there{j}"]
    require(there.dtype == np.bool_ and there.shape == (leaf_rows,), "rows")
    require(rows.dtype == np.float64 and rows.ndim == 2, "rows")
    require(0 < len(rows) == there.sum() < leaf_rows, "rows")
    return Pending(rows, there)


def _spaces(arrays: dict[str, Any]) -> Spaces:
    """Return the rows of the features modulo primes."""
    found = []
    for j, prime in enumerate(PRIMES):
        form = arrays[f"space{j}"]
        require(form.dtype == np.int64 and form.ndim == 2, "features")
        require(bool(((form >= 0) & (form < prime)).all()), "features")
        found.append(form)
    return tuple(found)


def _outcomes(values: Any, spans: list[tuple[int, int]]) -> Array:
    """Return the different values of y, at most three; some if there are rows."""
    require(values.dtype == np.float64 and values.ndim == 1, "outcomes")
    require(len(values) <= 3 and bool(values.size) == bool(spans), "outcomes")
    require(bool(np.isfinite(values).all()), "outcomes")
    return np.unique(values)


def _with_weights(part: Pending, k: int) -> Pending:
    """Return rows of k numbers and a weight, which is not in the file if all are one."""
    rows = part.rows
    if rows.shape[1] == k:
        return Pending(np.column_stack([rows, np.ones(len(rows))]), part.there)
    weights = rows[:, -1]
    require(rows.shape[1] == k + 1 and bool(((weights > 0) & np.isfinite(weights)).all()), "rows")
    return part


def _spans(
    nodes: dict[Node, Part], pending: dict[int, Pending], leaf_rows: int
) -> list[tuple[int, int]]:
    """Return the ranges of rows that these sums and rows are about; none may be there twice."""
    spans = [
        ((number << height) * leaf_rows, ((number + 1) << height) * leaf_rows)
        for height, number in nodes
    ]
    for leaf, waiting in pending.items():
        edges = np.flatnonzero(np.diff(np.concatenate([[False], waiting.there, [False]])))
        start = leaf * leaf_rows
        spans += [(start + a, start + b) for a, b in zip(*_pairs(edges), strict=True)]
    return Ledger(leaf_rows)._joined(spans)


def _pairs(edges: IntArray) -> tuple[list[int], list[int]]:
    return edges[::2].tolist(), edges[1::2].tolist()

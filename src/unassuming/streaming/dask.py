"""Regions of dask arrays and dataframes: the current dask scheduler computes the same sums."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from unassuming.inputs import refuse_classes, renumbered, rows_between, split_pipeline
from unassuming.noise import Noise
from unassuming.regions import is_dask
from unassuming.streaming.region import StreamedRegion
from unassuming.streaming.stream import StreamingRegion

_FAN_IN = 4
"""Shards that are merged at once."""


def build_from_dask(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    noise: str | Noise | None,
    m: int | str,
    sample_weight: Any,
    weighting: Any,
    ties: str,
    classes: Any,
    seed: int,
) -> StreamedRegion:
    """Sum each partition on its worker, merge the sums, and build the region here.

    Partitions of dataframes, and those of unknown length, are counted first, which reads X and y
    one more time each.
    """
    _check(X, weighting)
    dask: Any = import_module("dask")
    empty = StreamingRegion(estimator, noise=noise, m=m, random_state=seed)  # type: ignore[arg-type]
    refuse_classes(classes, split_pipeline(estimator)[1])
    X, y, sample_weight = (_of_known_length(values) for values in (X, y, sample_weight))
    lengths = _lengths(X)
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1].tolist()
    columns = [
        _parts(X, lengths, lengths),
        *(_parts(values, lengths) for values in (y, sample_weight)),
    ]
    start = dask.delayed(empty, pure=False, traverse=False)  # sent once for all tasks
    shard, merged = dask.delayed(_shard, pure=False), dask.delayed(_merged, pure=False)
    shards = [shard(start, first, *parts) for first, *parts in zip(starts, *columns, strict=True)]
    while len(shards) > 1:
        groups = [shards[j : j + _FAN_IN] for j in range(0, len(shards), _FAN_IN)]
        shards = [merged(group) for group in groups]
    stream: StreamingRegion = dask.compute(shards[0])[0]
    return stream.region(ties)


def _shard(empty: StreamingRegion, first: int, X: Any, y: Any, weight: Any) -> StreamingRegion:
    """Sum one partition. Errors count its own rows, so they say where it begins."""
    y, weight = (renumbered(column, first, X) for column in (y, weight))
    try:
        return empty.fresh().partial_fit(X, y, first_row=first, sample_weight=weight)
    except ValueError as error:
        if not first:
            raise
        where = f"In the partition that begins at row {first}, which counts as position 0"
        raise ValueError(f"{where}: {error}") from error


def _merged(shards: Sequence[StreamingRegion]) -> StreamingRegion:
    """Add sums, leaving the arguments unchanged: dask may run the task again."""
    whole = shards[0].fresh()
    for shard in shards:
        whole.merge(shard)
    return whole


def _of_known_length(values: Any) -> Any:
    """Return an array with known lengths of its chunks, which are computed if necessary."""
    if hasattr(values, "compute_chunk_sizes") and np.isnan(values.shape[0]):
        values = values.copy()
        values.compute_chunk_sizes()
    return values


def _lengths(values: Any) -> list[int]:
    """Return the number of rows of each partition."""
    if hasattr(values, "map_partitions"):
        return [int(length) for length in values.map_partitions(len).compute()]
    return [int(length) for length in values.chunks[0]]


def _parts(values: Any, lengths: list[int], known: list[int] | None = None) -> list[Any]:
    """Split values, lazy or not, into partitions of these lengths.

    ``known`` are the lengths of its own partitions, if they have been counted. Graphs are not
    optimised, so that X and y from the same table share its tasks.
    """
    lazy = is_dask(values)
    if not lazy and np.ndim(values) == 0:
        return [values] * len(lengths)  # None, or one weight for all rows
    if known is None:
        known = _lengths(values) if lazy else [len(values)]
    if sum(known) != sum(lengths):
        raise ValueError(
            f"X and y (or sample_weight) differ in length: expected {sum(lengths)} rows, as X has, "
            f"given {sum(known)}. Pass one output for each row of X."
        )
    if not lazy:
        stops = np.cumsum(lengths).tolist()
        return [
            rows_between(values, stop - length, stop)
            for stop, length in zip(stops, lengths, strict=True)
        ]
    if not hasattr(values, "rechunk"):
        if known == lengths:
            return list(values.to_delayed(optimize_graph=False))
        values = values.to_dask_array(lengths=tuple(known))
    columns = dict.fromkeys(range(1, values.ndim), -1)
    values = values.rechunk({0: tuple(lengths), **columns})
    return list(values.to_delayed(optimize_graph=False).ravel())


def _check(X: Any, weighting: Any) -> None:
    if not is_dask(X):
        raise TypeError(
            "X is in memory while y or sample_weight is not: expected a dask array or dataframe, "
            f"or all of them in memory, given {type(X).__name__}. Use dask.compute(y), or make X a "
            "dask collection."
        )
    if not (weighting is None or (isinstance(weighting, str) and weighting == "hessian")):
        given = repr(weighting) if isinstance(weighting, str) else "a matrix"
        raise ValueError(
            f"weighting needs all rows at once: expected 'hessian', the default, given {given}. "
            "Leave it out."
        )

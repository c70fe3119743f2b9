"""One pass over a file that need not fit into memory, which can be stopped and taken up again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.cli._interrupt import Interrupted, Request, interrupts
from unassuming.cli._sample import RowSample
from unassuming.cli._sources import Chunk, Ranges, Source
from unassuming.cli._tables import Columns
from unassuming.cli._terminal import row_counter
from unassuming.streaming import StreamingRegion, read_note, write_checkpoint


@dataclass(frozen=True)
class Checkpoint:
    """Where a pass is kept, after how many seconds it is kept again, and what it is a pass of."""

    path: Path
    every: float
    identity: dict[str, str]

    def note(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return what is there, unless it belongs to something else; None if nothing is."""
        if not self.path.exists():
            return None
        note, arrays = read_note(self.path)
        found = note.get("identity", {})
        for what, now in self.identity.items():
            if found.get(what) != now:
                raise ValueError(
                    f"--checkpoint {self.path} was made with another {what}: expected {now}, given "
                    f"{found.get(what, 'a checkpoint that this command has not made')}. It is left "
                    "as it is: name another file for the checkpoint, or remove it."
                )
        return note, arrays


@dataclass(eq=False)
class Pass:
    """What is known of the rows so far.

    Attributes
    ----------
    stream : StreamingRegion
    sample : RowSample
        Features and target of some rows, to be drawn.
    low, high : arrays
        The range of each feature.
    read : int
        Rows of the file that were read.
    finished : bool
    """

    stream: StreamingRegion
    sample: RowSample
    low: Array
    high: Array
    read: int = 0
    finished: bool = False

    @property
    def dropped(self) -> int:
        """Rows with missing values that were left out."""
        return self.read - self.stream.n

    def take(self, chunk: Chunk, columns: Columns, *, drop_missing: bool) -> None:
        """Count the rows of a chunk."""
        frame = columns.clean(chunk.frame, drop_missing=drop_missing, first=chunk.first)
        X, y = frame[columns.features], frame[columns.target].to_numpy()
        if len(frame):
            first = self.stream.next_row
            self.stream.partial_fit(X, y)
            self.sample.add(first, np.column_stack([X, y]))
            self.low = np.minimum(self.low, X.to_numpy().min(axis=0))
            self.high = np.maximum(self.high, X.to_numpy().max(axis=0))
        self.read = chunk.first + len(chunk.frame)

    def save(self, checkpoint: Checkpoint, scanned: Ranges | None) -> None:
        """Keep everything that is needed to go on, in one file."""
        note = {
            "identity": checkpoint.identity,
            "read": self.read,
            "finished": self.finished,
            "rows": None if scanned is None else scanned.rows,
        }
        arrays = {"low": self.low, "high": self.high, **self.sample.state()}
        if scanned is not None:
            arrays |= {"scanned_low": scanned.low, "scanned_high": scanned.high}
        write_checkpoint(checkpoint.path, self.stream, note, **arrays)


def run_pass(
    source: Source,
    columns: Columns,
    make: Callable[[Ranges | None], Any],
    settings: dict[str, Any],
    checkpoint: Checkpoint | None,
    *,
    drop_missing: bool,
    scan: bool,
) -> Pass:
    """Read the file once, or what is left of it; twice if the model has to know the ranges first.

    Parameters
    ----------
    make : callable
        From the ranges (None without ``scan``) to an estimator whose transformers are fitted.
    settings : dict
        Of `StreamingRegion`.
    """
    found = None if checkpoint is None else checkpoint.note()
    with ExitStack() as stack:
        # Without a checkpoint there is nothing to wait for.
        request = Request() if checkpoint is None else stack.enter_context(interrupts())
        scanned = None
        if scan:
            scanned = _kept_ranges(found) or _ranges(
                source, columns, request, drop_missing=drop_missing
            )
        estimator = make(scanned)
        if found is None or checkpoint is None:
            p = len(columns.features)
            state = Pass(
                StreamingRegion(estimator, **settings),
                RowSample(settings["random_state"]),
                np.full(p, np.inf),
                np.full(p, -np.inf),
            )
        else:
            state = _resumed(checkpoint, found, estimator, settings)
        if not state.finished:
            _count(source, columns, state, checkpoint, scanned, request, drop_missing=drop_missing)
    return state


def _count(
    source: Source,
    columns: Columns,
    state: Pass,
    checkpoint: Checkpoint | None,
    scanned: Ranges | None,
    request: Request,
    *,
    drop_missing: bool,
) -> None:
    """Take the rows that are left; keep what is there now and then, and whatever happens."""

    def keep() -> None:
        if checkpoint is not None:
            state.save(checkpoint, scanned)

    keep()  # before the work: a file that cannot be written is told now
    kept = time.monotonic()
    try:
        with row_counter("counting", state.read) as told:
            for chunk in source.chunks(columns.names, state.read):
                state.take(chunk, columns, drop_missing=drop_missing)
                told(len(chunk.frame), chunk.share)
                if request.asked:
                    break
                if checkpoint is not None and time.monotonic() - kept >= checkpoint.every:
                    keep()
                    kept = time.monotonic()
            else:
                state.finished = True
    except (ValueError, TypeError, OSError):  # of a later row; those before are counted
        keep()
        raise
    keep()
    if request.asked and checkpoint is not None:
        raise Interrupted(
            f"interrupted after {state.read} rows, which are kept in {checkpoint.path}: run the "
            "same command again to go on from there."
        )


def _ranges(source: Source, columns: Columns, request: Request, *, drop_missing: bool) -> Ranges:
    """Return the ranges of the features, from a first pass unless the file tells them."""
    known = None if drop_missing else source.ranges(columns.features)
    if known is not None:
        return known
    rows, p = 0, len(columns.features)
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    with row_counter("ranges of the features") as told:
        for chunk in source.chunks(columns.names, 0):
            frame = columns.clean(chunk.frame, drop_missing=drop_missing, first=chunk.first)
            if len(frame):
                X = frame[columns.features].to_numpy()
                rows += len(frame)
                low, high = np.minimum(low, X.min(axis=0)), np.maximum(high, X.max(axis=0))
            told(len(chunk.frame), chunk.share)
            if request.asked:
                raise Interrupted("interrupted before the first row was counted: nothing is kept.")
    return Ranges(rows, low, high)


def _kept_ranges(found: tuple[dict[str, Any], dict[str, Any]] | None) -> Ranges | None:
    if found is None:
        return None
    note, arrays = found
    return Ranges(note["rows"], arrays["scanned_low"], arrays["scanned_high"])


def _resumed(
    checkpoint: Checkpoint,
    found: tuple[dict[str, Any], dict[str, Any]],
    estimator: Any,
    settings: dict[str, Any],
) -> Pass:
    note, arrays = found
    return Pass(
        StreamingRegion.load(checkpoint.path, estimator=estimator),
        RowSample(settings["random_state"]).resume(arrays),
        arrays["low"],
        arrays["high"],
        note["read"],
        note["finished"],
    )

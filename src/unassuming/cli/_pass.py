"""One pass over a file that need not fit into memory; it can be interrupted and resumed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unassuming.cli._interrupt import Interrupted, Request, interrupts
from unassuming.cli._terminal import row_counter
from unassuming.cli.tables import (
    Chunk,
    Columns,
    Ranges,
    RowSample,
    Source,
    Term,
    require_observations,
    terms_as_data,
    terms_from_data,
)
from unassuming.streaming import StreamingRegion, read_note, write_checkpoint


@dataclass(frozen=True)
class Checkpoint:
    """The file in which a pass is saved.

    Attributes
    ----------
    every : float
        Seconds between two checkpoints.
    identity : dict
        Everything that the saved sums depend on, with the words for an error.
    """

    path: Path
    every: float
    identity: dict[str, str]

    def read(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the saved note and arrays, or None without a file; refuse another identity."""
        if not self.path.exists():
            return None
        note, arrays = read_note(self.path)
        found = note.get("identity", {})
        for what, now in self.identity.items():
            if found.get(what) != now:
                raise ValueError(
                    f"--checkpoint {self.path} was made with another {what}: expected {now}, given "
                    f"{found.get(what, 'a checkpoint that this command has not made')}. The file "
                    "is unchanged: name another checkpoint, or remove it."
                )
        return note, arrays


@dataclass(frozen=True)
class Scanned:
    """What a first pass over the inputs has found: how many rows there are, and the terms."""

    rows: int
    terms: tuple[Term, ...]


@dataclass(eq=False)
class Pass:
    """The state of a pass.

    Attributes
    ----------
    sample : RowSample
        Features and target of some rows, for pictures.
    ranges : Ranges
        Of the rows read so far.
    scanned : Scanned or None
        What a first pass has found, if the model needs it.
    read : int
        Rows of the file that were read, with those that were left out.
    """

    stream: StreamingRegion
    sample: RowSample
    ranges: Ranges
    scanned: Scanned | None
    read: int = 0
    finished: bool = False

    @property
    def dropped(self) -> int:
        """Rows with missing values that were left out."""
        return self.read - self.stream.n

    def take(self, chunk: Chunk, columns: Columns) -> None:
        """Add the rows of a chunk."""
        frame = columns.clean(chunk.frame, chunk.first)
        X, y = frame[columns.features], frame[columns.target].to_numpy()
        if len(frame):
            first = self.stream.next_row
            self.stream.partial_fit(X, y)
            self.sample.add(first, np.column_stack([X, y]))
            self.ranges = self.ranges.including(X.to_numpy())
        self.read = chunk.first + len(chunk.frame)

    def save(self, checkpoint: Checkpoint) -> None:
        """Save the state in one file."""
        scanned = self.scanned
        note = {
            "identity": checkpoint.identity,
            "read": self.read,
            "finished": self.finished,
            "rows": None if scanned is None else scanned.rows,
            "terms": None if scanned is None else terms_as_data(scanned.terms),
        }
        arrays = {"low": self.ranges.low, "high": self.ranges.high, **self.sample.state()}
        write_checkpoint(checkpoint.path, self.stream, note, **arrays)


def run_pass(
    source: Source,
    columns: Columns,
    make: Callable[[Scanned | None], Any],
    settings: dict[str, Any],
    checkpoint: Checkpoint | None,
    *,
    choose: Callable[[pd.DataFrame, int], tuple[Term, ...]] | None,
) -> Pass:
    """Read the file, or the rest of it after an interruption.

    Parameters
    ----------
    make : callable
        Returns an estimator with fitted transformers.
    settings : dict
        Arguments of `StreamingRegion`.
    choose : callable or None
        Chooses the terms from a sample of the inputs and the number of rows. The file is then read
        twice.
    """
    saved = None if checkpoint is None else checkpoint.read()
    # Without a checkpoint, Ctrl-C stops at once.
    with nullcontext(Request()) if checkpoint is None else interrupts() as request:
        if checkpoint is None or saved is None:
            scanned = None
            if choose is not None:
                scanned = _scan(source, columns, request, choose, settings["random_state"])
            state = Pass(
                StreamingRegion(make(scanned), **settings),
                RowSample(settings["random_state"]),
                Ranges.empty(len(columns.features)),
                scanned,
            )
        else:
            note, arrays = saved
            scanned = None
            if choose is not None:
                scanned = Scanned(note["rows"], terms_from_data(note["terms"]))
            stream = StreamingRegion.load(checkpoint.path, estimator=make(scanned))
            state = Pass(
                stream,
                RowSample(settings["random_state"]).resume(arrays),
                Ranges(stream.n, arrays["low"], arrays["high"]),
                scanned,
                note["read"],
                note["finished"],
            )
        if not state.finished:
            _read(source, columns, state, checkpoint, request)
    return state


def _read(
    source: Source, columns: Columns, state: Pass, checkpoint: Checkpoint | None, request: Request
) -> None:
    """Add the remaining rows; save the state at intervals and at the end, also after an error."""

    def save() -> None:
        if checkpoint is not None:
            state.save(checkpoint)

    save()  # a file that cannot be written is reported before the work
    saved = time.monotonic()
    try:
        with row_counter("counting", state.read) as update:
            for chunk in source.chunks(columns.names, state.read):
                state.take(chunk, columns)
                update(len(chunk.frame), chunk.share)
                if request.asked:
                    break
                if checkpoint is not None and time.monotonic() - saved >= checkpoint.every:
                    save()
                    saved = time.monotonic()
            else:
                state.finished = True
    except (ValueError, TypeError, OSError):  # in a later row; those before are valid
        save()
        raise
    save()
    if request.asked and checkpoint is not None:
        raise Interrupted(
            f"interrupted after {state.read} rows, which are kept in {checkpoint.path}: run the "
            "same command again to continue."
        )


def _scan(
    source: Source,
    columns: Columns,
    request: Request,
    choose: Callable[[pd.DataFrame, int], tuple[Term, ...]],
    seed: int,
) -> Scanned:
    """Read the inputs once, and choose the terms from a random sample of their rows."""
    rows, sample = 0, RowSample(seed)
    with row_counter("inputs") as update:
        for chunk in source.chunks(columns.names, 0):
            frame = columns.clean(chunk.frame, chunk.first)
            sample.add(rows, frame[columns.features].to_numpy())
            rows += len(frame)
            update(len(chunk.frame), chunk.share)
            if request.asked:
                raise Interrupted("interrupted before the first row was counted: nothing is kept.")
    require_observations(rows, source.path)
    return Scanned(rows, choose(pd.DataFrame(sample.values, columns=columns.features), rows))

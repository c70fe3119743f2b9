"""A table that is read in chunks: one pass, which can be interrupted and resumed."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

from unassuming.cli.build import Built, build_in_memory, settings_of
from unassuming.cli.columns import Columns, require_rows
from unassuming.cli.options import RECIPES, Model, Problem
from unassuming.cli.tables import Chunk, Source
from unassuming.cli.terminal import Interrupted, progress, say
from unassuming.cli.terms import (
    SIZE,
    Kind,
    RowSample,
    Term,
    estimator_of,
    terms_of,
)
from unassuming.streaming import StreamingRegion, read_note, write_checkpoint

LARGE = 5_000_000
"""Larger tables, in bytes, are streamed if the model allows it: a region in memory takes some
hundred times the size of the table."""

_STREAMED = (Model.SPLINE, Model.RIDGE, Model.OLS)


@dataclass(frozen=True)
class Streaming:
    """Whether and how a table is streamed; calling it builds the region, streamed or not."""

    wanted: bool | None  # None: stream if the table is large
    checkpoint: Path | None = None
    every: float = 30.0  # seconds between checkpoints
    # Whether values of a function of bounded norm are wanted one at a time, which needs all rows.
    values: bool = False
    single: bool = False  # whether only single numbers are wanted

    def __call__(self, problem: Problem, source: Source, columns: Columns) -> Built:
        """Build the region."""
        if self.decide(problem, source, columns):
            return build_streamed(problem, source, columns, self)
        return build_in_memory(problem, source, columns)

    def decide(self, problem: Problem, source: Source, columns: Columns) -> bool:
        """Return whether to stream; refuse if that is impossible, note a large file in memory."""
        option = "--stream" if self.checkpoint is None else "--checkpoint"
        asked = self.wanted or self.checkpoint is not None
        large = self.wanted is None and source.size(columns.names) > LARGE
        against = self._against(problem, source)
        if against is None:
            return asked or large
        given, expected = against
        if asked:
            raise ValueError(
                f"{given} needs all rows at once: expected {expected} with {option}, given "
                f"{given}. Without {option} the table is read into memory."
            )
        if large:
            say(
                "note",
                f"{source.path.name} is large and is read into memory as a whole, since {given} "
                f"needs all rows at once; it would be streamed with {expected}.",
            )
        return False

    def _against(self, problem: Problem, source: Source) -> tuple[str, str] | None:
        """Return what prevents streaming, and what it should be."""
        if self.wanted is False and self.checkpoint is not None:
            return "--no-stream", "--stream"
        if self.values:
            return "--pointwise with --norm-bound", "one of the two"
        if not source.streams:
            return f"the file {source.path.name}", "CSV or Parquet"
        if problem.model not in _STREAMED:
            return f"--model {problem.model}", " or ".join(_STREAMED)
        m = problem.statistics
        if not isinstance(m, int) or m & (m - 1) or not 4 <= m <= 2048:
            return f"--m {m}", "a power of two from 4 to 2048"
        for option in ("clusters", "weights", "categorical", "blocks"):
            if getattr(problem, option) is not None:
                return f"--{option} {getattr(problem, option)}", f"no --{option}"
        if problem.noise not in (None, "symmetric"):
            return f"--noise {problem.noise}", "symmetric"
        return None


@dataclass(frozen=True)
class Checkpoint:
    """The file in which a pass is saved."""

    path: Path
    every: float  # seconds between two checkpoints
    identity: dict[str, str]  # everything that the saved sums depend on, with words for an error

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


@dataclass(eq=False)
class Pass:
    """The state of a pass."""

    stream: StreamingRegion
    sample: RowSample  # features and target of some rows, for pictures
    low: Any  # the smallest and the largest value of each feature so far
    high: Any
    terms: tuple[Term, ...]
    read: int = 0  # rows of the file that were read, with those that were left out
    finished: bool = False
    formats: Sequence[str] = ()  # how numbers are written

    def take(self, chunk: Chunk, columns: Columns) -> None:
        """Add the rows of a chunk."""
        if chunk.first == 0:
            self.formats = columns.formats(chunk.frame)
        frame = columns.clean(chunk.frame, chunk.first)
        X, y = frame[columns.features], frame[columns.target].to_numpy()
        if len(frame):
            first, values = self.stream.next_row, X.to_numpy()
            self.stream.partial_fit(X, y)
            self.sample.add(first, np.column_stack([values, y]))
            self.low = np.minimum(self.low, values.min(axis=0))
            self.high = np.maximum(self.high, values.max(axis=0))
        self.read = chunk.first + len(chunk.frame)

    def save(self, checkpoint: Checkpoint) -> None:
        """Save the state in one file."""
        note = {
            "identity": checkpoint.identity,
            "read": self.read,
            "finished": self.finished,
            "terms": [
                [term.column, term.kind.name, term.knots, term.degree] for term in self.terms
            ],
            "formats": self.formats,
        }
        arrays = {"low": self.low, "high": self.high, **self.sample.state()}
        write_checkpoint(checkpoint.path, self.stream, note, **arrays)


def build_streamed(
    problem: Problem, source: Source, columns: Columns, streaming: Streaming
) -> Built:
    """Build the region from chunks of the table, or from the rest of it after an interruption."""
    settings = settings_of(problem)
    lines = tuple(Term(name, Kind.LINE) for name in columns.features)
    estimator_of(problem, lines)  # wrong options are reported before the file is read
    checkpoint = saved = None
    if streaming.checkpoint is not None:
        identity = _identity(problem, source, columns)
        checkpoint = Checkpoint(streaming.checkpoint, streaming.every, identity)
        saved = checkpoint.read()
    sample = RowSample(problem.seed)
    # Without a checkpoint, Ctrl-C stops at once.
    with interrupts(wait=checkpoint is not None) as asked:
        if checkpoint is not None and saved is not None:
            note, arrays = saved
            terms = tuple(Term(n, Kind[kind], tuple(at), d) for n, kind, at, d in note["terms"])
            stream = StreamingRegion.load(checkpoint.path, estimator=_fitted(problem, terms))
            state = Pass(stream, sample.resume(arrays), arrays["low"], arrays["high"], terms)
            state.read, state.finished, state.formats = (
                note[name] for name in ("read", "finished", "formats")
            )
        else:
            spline = problem.model is Model.SPLINE
            terms = _scanned(problem, source, columns, asked) if spline else lines
            stream = StreamingRegion(_fitted(problem, terms), **settings)
            state = Pass(stream, sample, np.inf, -np.inf, terms)
        if not state.finished:
            _read(source, columns, state, checkpoint, asked)
    p, rows = len(columns.features), state.stream.n
    require_rows(rows, source.path)
    return Built(
        problem,
        region=state.stream.region(),
        X=pd.DataFrame(state.sample.values[:, :p], columns=columns.features),
        y=state.sample.values[:, p],
        terms=state.terms,
        columns=replace(columns, remarks=(*columns.remarks, *state.formats)),
        dropped=state.read - rows,
        ends=(state.low, state.high),
        remarks=_remarks(rows, source, checkpoint, shown=not streaming.single),
    )


def _fitted(problem: Problem, terms: tuple[Term, ...]) -> Any:
    """Return the estimator; the knots of splines are given, so that no row is needed."""
    estimator = estimator_of(problem, terms)
    if hasattr(estimator, "steps"):
        names = [term.column for term in terms]
        estimator[:-1].fit(pd.DataFrame(np.zeros((2, len(terms))), columns=names))
    return estimator


def _read(
    source: Source, columns: Columns, state: Pass, checkpoint: Checkpoint | None, asked: list[int]
) -> None:
    """Add the remaining rows; save the state at intervals and at the end, also after an error."""

    def save() -> None:
        if checkpoint is not None:
            state.save(checkpoint)

    save()  # a file that cannot be written is reported before the work
    saved = time.monotonic()
    try:
        with progress("counting") as update:
            for chunk in source.chunks(columns.names, state.read):
                state.take(chunk, columns)
                update(chunk.share)
                if asked:
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
    if asked and checkpoint is not None:
        raise Interrupted(
            f"interrupted after {state.read} rows, which are kept in {checkpoint.path}: run the "
            "same command again to continue."
        )


def _scanned(
    problem: Problem, source: Source, columns: Columns, asked: list[int]
) -> tuple[Term, ...]:
    """Read the inputs once, and choose the terms from a random sample of their rows."""
    rows, sample = 0, RowSample(problem.seed)
    with progress("reading the inputs") as update:
        for chunk in source.chunks(columns.names, 0):
            frame = columns.clean(chunk.frame, chunk.first)
            sample.add(rows, frame[columns.features].to_numpy())
            rows += len(frame)
            update(chunk.share)
            if asked:
                raise Interrupted("interrupted before the first row was counted: nothing is kept.")
    require_rows(rows, source.path)
    inputs = pd.DataFrame(sample.values, columns=columns.features)
    return terms_of(problem, inputs, columns, rows)


@contextmanager
def interrupts(*, wait: bool) -> Iterator[list[int]]:
    """Collect the first interrupt, if it is to wait; the second stops at once."""
    asked = list[int]()

    def take(number: int, _: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    if not wait or threading.current_thread() is not threading.main_thread():
        yield asked  # signals reach the main thread only
        return
    before = signal.signal(signal.SIGINT, take)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def _identity(problem: Problem, source: Source, columns: Columns) -> dict[str, str]:
    """Return everything that the sums depend on; levels, inputs and norm bound are not part."""
    chosen = RECIPES[problem.model].defaults | problem.options
    return {
        "file": f"{source.path.name} ({source.fingerprint()})",
        "--target": columns.target,
        "list of features": ",".join(columns.features),
        "--model": str(problem.model),
        **{f"--{name}": repr(float(value)) for name, value in sorted(chosen.items())},
        "--knots": str(problem.knots),
        "--m": problem.m,
        "--seed": str(problem.seed),
        "choice of --drop-missing": "yes" if problem.drop_missing else "no",
    }


def _remarks(rows: int, source: Source, checkpoint: Checkpoint | None, *, shown: bool) -> list[str]:
    """Say what was kept."""
    said = (
        f"{source.path.name} was read in chunks; only sums over its {rows} rows were kept. The "
        "intervals depend on the order of the rows: fix it before looking at the target."
    )
    if shown and rows > SIZE:
        said += f" The rows shown are a random sample of {SIZE}, drawn with the seed."
    if checkpoint is None:
        return [said]
    kept = f"The sums are kept in {checkpoint.path}, for other levels, inputs and norm bounds."
    return [said, kept]

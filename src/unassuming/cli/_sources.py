"""Tables in files, CSV or Parquet: read whole, or chunk by chunk."""

from __future__ import annotations

import hashlib
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

CHUNK_ROWS = 16 * 1024
"""Rows that are in memory at once; a multiple of what a stream sums at once."""

_WHOLE_BYTES = 2**30
"""Files up to here are hashed whole; larger ones in pieces, between which a change is not seen."""
_SAMPLES, _SAMPLE_BYTES = 256, 16 * 1024


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows of a file.

    Attributes
    ----------
    first : int
        How many rows of the file come before.
    frame : DataFrame
    share : float
        How much of the file is read, from 0 to 1.
    """

    first: int
    frame: pd.DataFrame
    share: float


@dataclass(frozen=True, eq=False)
class Ranges:
    """How many rows there are, and between which numbers each feature lies."""

    rows: int
    low: Any
    high: Any


class Source(ABC):
    """A table in a file.

    Attributes
    ----------
    path : Path
    names : list of str
        Its columns, without the spaces around them.
    """

    path: Path
    names: list[str]

    @abstractmethod
    def whole(self) -> pd.DataFrame:
        """Return the table."""

    @abstractmethod
    def chunks(self, columns: Sequence[str], skip: int) -> Iterator[Chunk]:
        """Yield these columns in chunks, without the first ``skip`` rows."""

    @abstractmethod
    def size(self, columns: Sequence[str]) -> int:
        """Return about how many bytes these columns are."""

    def ranges(self, columns: Sequence[str]) -> Ranges | None:
        """Return rows and ranges if the file tells them without being read."""
        return None

    def fingerprint(self) -> str:
        """Return the size of the file, and a hash: of all of it, or of pieces if it is huge."""
        size = self.path.stat().st_size
        if size <= _WHOLE_BYTES:
            with self.path.open("rb") as file:
                return f"{size} bytes, {hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
        digest = hashlib.sha256()
        starts = np.linspace(0, max(size - _SAMPLE_BYTES, 0), _SAMPLES).astype(np.int64)
        with self.path.open("rb") as file:
            for start in np.unique(starts).tolist():
                file.seek(start)
                digest.update(file.read(_SAMPLE_BYTES))
        return f"{size} bytes, {digest.hexdigest()[:16]}"

    def _named(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame.columns = [str(name).strip() for name in frame.columns]
        return frame.reset_index(drop=True)


def open_source(path: Path) -> Source:
    """Return the table in a file, by the ending of its name."""
    ending = path.suffix.lower()
    kinds: dict[str, type[CsvSource | ParquetSource]] = {
        ".csv": CsvSource,
        ".txt": CsvSource,
        ".parquet": ParquetSource,
        ".pq": ParquetSource,
    }
    if ending not in kinds:
        raise ValueError(
            f"{path.name} is of an unknown kind: expected a name that ends in .csv or .parquet, "
            f"given {ending!r}. Rename or convert it."
        )
    return kinds[ending](path)


@final
class CsvSource(Source):
    """Text with a header; rows longer than the header are an error."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _readable(path):
            header = self._open(path, nrows=0)
        self.names = list(self._named(header).columns)

    def whole(self) -> pd.DataFrame:
        """Return the table."""
        with _readable(self.path):
            return self._named(self._open(self.path))

    def chunks(self, columns: Sequence[str], skip: int) -> Iterator[Chunk]:
        """Yield chunks; rows to be skipped are read as well, since only that tells where they end.

        Their place in the file is the place of the reader, a little ahead of the rows.
        """
        first, size = 0, max(self.path.stat().st_size, 1)
        with self.path.open("rb") as file, _readable(self.path) as after:
            reader = self._open(file, chunksize=CHUNK_ROWS, low_memory=False)
            while True:
                try:
                    frame = self._next(reader)
                except StopIteration:
                    return
                start, stop = first, first + len(frame)
                first = after[0] = stop
                if stop > skip:
                    frame = self._named(frame)[list(columns)].iloc[max(skip - start, 0) :]
                    part = frame.reset_index(drop=True)
                    yield Chunk(max(start, skip), part, file.tell() / size)

    def size(self, columns: Sequence[str]) -> int:
        """Return the size of the file."""
        return self.path.stat().st_size

    def _open(self, file: Any, **how: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(file, skipinitialspace=True, index_col=False, **how)

    def _next(self, reader: Any) -> pd.DataFrame:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return next(reader)


@final
class ParquetSource(Source):
    """Columns in groups of rows; checksums are checked where the file has them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _readable(path), self._open() as file:
            self._metadata = file.metadata
            # Without what is an index for pandas; the same columns as of the whole table.
            shown = file.schema_arrow.empty_table().to_pandas()
            self._stored = {name.strip(): name for name in file.schema_arrow.names}
        self.names = list(self._named(shown).columns)

    def whole(self) -> pd.DataFrame:
        """Return the table."""
        with _readable(self.path):
            return self._named(pd.read_parquet(self.path, page_checksum_verification=True))

    def chunks(self, columns: Sequence[str], skip: int) -> Iterator[Chunk]:
        """Yield chunks, from the group on that holds the first row wanted."""
        starts = np.cumsum([0, *self._group_rows()])
        total = max(int(starts[-1]), 1)
        groups = [g for g in range(len(starts) - 1) if starts[g + 1] > skip]
        first = int(starts[groups[0]]) if groups else total
        wanted = [self._stored[name] for name in columns]
        with _readable(self.path) as after, self._open() as file:
            after[0] = first
            for batch in file.iter_batches(CHUNK_ROWS, row_groups=groups, columns=wanted):
                start, stop = first, first + len(batch)
                first = after[0] = stop
                if stop > skip:
                    batch = batch.slice(max(skip - start, 0))
                    frame = pa.Table.from_batches([batch]).to_pandas(ignore_metadata=True)
                    frame = self._named(frame)[list(columns)]
                    yield Chunk(max(start, skip), frame, stop / total)

    def size(self, columns: Sequence[str]) -> int:
        """Return the size of the columns in memory, which compression may hide."""
        return 8 * int(self._metadata.num_rows) * len(columns)

    def ranges(self, columns: Sequence[str]) -> Ranges | None:
        """Return the ranges in the footer, if there are finite ones for numbers without gaps."""
        low, high = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
        for g in range(self._metadata.num_row_groups):
            group = self._metadata.row_group(g)
            by_name = {group.column(j).path_in_schema: j for j in range(group.num_columns)}
            for k, name in enumerate(columns):
                j = by_name.get(self._stored[name])
                known = None if j is None else group.column(j).statistics
                if known is None or not known.has_min_max or known.null_count:
                    return None
                if not isinstance(known.min, (int, float)):
                    return None
                low[k], high[k] = min(low[k], float(known.min)), max(high[k], float(known.max))
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            return None
        return Ranges(self._metadata.num_rows, low, high)

    def _group_rows(self) -> list[int]:
        groups = range(self._metadata.num_row_groups)
        return [self._metadata.row_group(g).num_rows for g in groups]

    def _open(self) -> Any:
        # With a buffer a group of rows is not read at once; with pre_buffer all of them would stay.
        return pq.ParquetFile(
            self.path, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True
        )


@contextmanager
def _readable(path: Path) -> Iterator[list[int]]:
    """Say in one sentence that a file cannot be read, and after which row, if it was begun."""
    after = [0]
    try:
        yield after
    except (ValueError, OSError, pd.errors.ParserWarning, pa.ArrowException) as error:
        where = f" after row {after[0]}" if after[0] else ""
        raise ValueError(f"{path.name} cannot be read as a table{where}: {_why(error)}") from error


def _why(error: Exception) -> str:
    """Return what a library says, in words of a table where it speaks of tokens."""
    ragged = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if ragged is None:
        return str(error)
    columns, line, values = ragged.groups()
    return f"line {line} has {values} values, where the lines before have {columns}."

"""Tables in files, CSV or Parquet: read whole, or chunk by chunk."""

from __future__ import annotations

import hashlib
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from unassuming._typing import Array

CHUNK_ROWS = 16 * 1024
"""Rows in memory at once; a multiple of the rows that a stream sums at once."""

_WHOLE_BYTES = 2**30
"""Files up to this size are hashed whole; in larger ones, changes between the pieces are missed."""
_SAMPLES, _SAMPLE_BYTES = 256, 16 * 1024


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows of a file, after ``first`` others; ``share`` of the file was read."""

    first: int
    frame: pd.DataFrame
    share: float


@dataclass(frozen=True, eq=False)
class Ranges:
    """The number of rows, and the smallest and the largest value of each feature."""

    rows: int
    low: Array
    high: Array

    @classmethod
    def empty(cls, features: int) -> Self:
        """Return the ranges of no rows."""
        return cls(0, np.full(features, np.inf), np.full(features, -np.inf))

    def including(self, X: Array) -> Ranges:
        """Return the ranges with these rows as well, (N, features)."""
        low, high = X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)
        return Ranges(self.rows + len(X), np.minimum(self.low, low), np.maximum(self.high, high))


class Source(ABC):
    """A table in a file; ``names`` are its columns, without surrounding spaces."""

    path: Path
    names: list[str]

    @abstractmethod
    def whole(self) -> pd.DataFrame:
        """Return the table."""

    @abstractmethod
    def _parts(self, columns: Sequence[str], skip: int) -> Iterator[tuple[int, Any, float]]:
        """Yield first row, rows and share read of consecutive parts; they may begin before skip."""

    @abstractmethod
    def size(self, columns: Sequence[str]) -> int:
        """Return the approximate size of these columns in bytes."""

    def ranges(self, columns: Sequence[str]) -> Ranges | None:
        """Return the ranges if the file stores them."""
        return None

    def chunks(self, columns: Sequence[str], skip: int) -> Iterator[Chunk]:
        """Yield these columns in chunks, without the first ``skip`` rows."""
        with _readable(self.path) as after:
            after[0] = skip
            for start, frame, share in self._parts(columns, skip):
                after[0] = start + len(frame)
                if after[0] > skip:
                    rows = self._named(frame)[list(columns)].iloc[max(skip - start, 0) :]
                    yield Chunk(max(start, skip), rows.reset_index(drop=True), share)

    def fingerprint(self) -> str:
        """Return the size of the file and a hash, of the whole file or of pieces if it is huge."""
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
    """Open a file according to its suffix."""
    ending = path.suffix.lower()
    kinds: dict[str, type[CsvSource | ParquetSource]] = {
        ".csv": CsvSource,
        ".txt": CsvSource,
        ".parquet": ParquetSource,
        ".pq": ParquetSource,
    }
    if ending not in kinds:
        raise ValueError(
            f"{path.name} has an unknown format: expected a name that ends in .csv or .parquet, "
            f"given {ending!r}. Rename or convert it."
        )
    return kinds[ending](path)


@final
class CsvSource(Source):
    """Text with a header; rows longer than the header are an error."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _readable(path):
            header = _read_csv(path, nrows=0)
        self.names = list(self._named(header).columns)

    def whole(self) -> pd.DataFrame:
        """Return the table."""
        with _readable(self.path):
            return self._named(_read_csv(self.path))

    def _parts(self, columns: Sequence[str], skip: int) -> Iterator[tuple[int, Any, float]]:
        """Yield parts from the beginning: lines have to be read to be counted.

        The share is that of the reader, which is a little ahead of the rows.
        """
        first, size = 0, max(self.path.stat().st_size, 1)
        with self.path.open("rb") as file:
            reader = _read_csv(file, chunksize=CHUNK_ROWS, low_memory=False)
            while (frame := _strictly(next, reader, None)) is not None:
                yield first, frame, file.tell() / size
                first += len(frame)

    def size(self, columns: Sequence[str]) -> int:
        """Return the size of the file."""
        return self.path.stat().st_size


def _read_csv(file: Any, **how: Any) -> Any:
    return _strictly(pd.read_csv, file, skipinitialspace=True, index_col=False, **how)


def _strictly(read: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """Read with pandas; a row longer than the header is an error rather than a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return read(*args, **how)


@final
class ParquetSource(Source):
    """Columns in groups of rows; checksums are checked where the file has them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _readable(path), self._open() as file:
            self._metadata = file.metadata
            # Without the index of pandas: the same columns as of the whole table.
            shown = file.schema_arrow.empty_table().to_pandas()
            self._stored = {name.strip(): name for name in file.schema_arrow.names}
        self.names = list(self._named(shown).columns)

    def whole(self) -> pd.DataFrame:
        """Return the table."""
        with _readable(self.path):
            return self._named(pd.read_parquet(self.path, page_checksum_verification=True))

    def _parts(self, columns: Sequence[str], skip: int) -> Iterator[tuple[int, Any, float]]:
        """Yield parts, beginning with the group of rows that contains row ``skip``."""
        starts = np.cumsum([0, *(group.num_rows for group in self._groups())]).tolist()
        groups = [g for g, stop in enumerate(starts[1:]) if stop > skip]
        first = starts[groups[0]] if groups else starts[-1]
        wanted = [self._stored[name] for name in columns]
        with self._open() as file:
            for batch in file.iter_batches(CHUNK_ROWS, row_groups=groups, columns=wanted):
                frame = pa.Table.from_batches([batch]).to_pandas(ignore_metadata=True)
                yield first, frame, (first + len(frame)) / starts[-1]
                first += len(frame)

    def size(self, columns: Sequence[str]) -> int:
        """Return the size of the columns in memory, before compression."""
        return 8 * int(self._metadata.num_rows) * len(columns)

    def ranges(self, columns: Sequence[str]) -> Ranges | None:
        """Return the ranges in the footer, unless values are missing, infinite or not numbers."""
        found = Ranges.empty(len(columns))
        low, high = found.low, found.high
        for group in self._groups():
            by_name = {group.column(j).path_in_schema: j for j in range(group.num_columns)}
            for k, name in enumerate(columns):
                j = by_name.get(self._stored[name])
                stored = None if j is None else group.column(j).statistics
                if stored is None or not stored.has_min_max or stored.null_count:
                    return None
                if not isinstance(stored.min, (int, float)):
                    return None
                low[k], high[k] = min(low[k], float(stored.min)), max(high[k], float(stored.max))
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            return None
        return Ranges(self._metadata.num_rows, low, high)

    def _groups(self) -> list[Any]:
        return [self._metadata.row_group(g) for g in range(self._metadata.num_row_groups)]

    def _open(self) -> Any:
        # A buffer avoids reading a whole group of rows; pre_buffer would keep all of them.
        return pq.ParquetFile(
            self.path, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True
        )


@contextmanager
def _readable(path: Path) -> Iterator[list[int]]:
    """Turn errors of a reader into one sentence; the yielded list has the number of rows read."""
    after = [0]
    try:
        yield after
    except (ValueError, OSError, pd.errors.ParserWarning, pa.ArrowException) as error:
        where = f" after row {after[0]}" if after[0] else ""
        raise ValueError(f"{path.name} cannot be read as a table{where}: {_why(error)}") from error


def _why(error: Exception) -> str:
    """Return the message of a library; a ragged line is described in terms of the table."""
    ragged = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if ragged is None:
        return str(error)
    columns, line, values = ragged.groups()
    return f"line {line} has {values} values, where the lines before have {columns}."

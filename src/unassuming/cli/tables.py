"""Tables in files, text, Parquet or Excel: read whole, or chunk by chunk."""

from __future__ import annotations

import hashlib
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
import pandas as pd

from unassuming.cli.options import Problem

CHUNK_ROWS = 16 * 1024
"""Rows in memory at once; a multiple of the rows that a stream sums at once."""


@dataclass(frozen=True)
class Reading:
    """How text is read; None stands for what the format suggests."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()  # words that stand for a missing value, beside the usual ones


def reading_of(problem: Problem) -> Reading:
    """Return how a problem wants text to be read."""
    return Reading(problem.sep, problem.decimal, problem.encoding, tuple(problem.missing))


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows of a file, after ``first`` others; ``share`` of the file was read."""

    first: int
    frame: pd.DataFrame
    share: float


class Source(ABC):
    """A table in a file."""

    path: Path
    names: list[str]  # without surrounding spaces; "Unnamed: 0" as pandas calls it
    streams = True
    """Whether the table can be read chunk by chunk."""

    @abstractmethod
    def whole(self) -> pd.DataFrame:
        """Return the table."""

    @abstractmethod
    def _parts(self, columns: Sequence[str], skip: int) -> Iterator[Chunk]:
        """Yield consecutive parts, which may begin before row ``skip``."""

    def size(self, columns: Sequence[str]) -> int:
        """Return the approximate size of these columns in bytes."""
        return self.path.stat().st_size

    def chunks(self, columns: Sequence[str], skip: int) -> Iterator[Chunk]:
        """Yield these columns in chunks, without the first ``skip`` rows."""
        with _readable(self.path) as after:
            after[0] = skip
            for part in self._parts(columns, skip):
                after[0] = part.first + len(part.frame)
                if after[0] > skip:
                    rows = self._named(part.frame)[list(columns)]
                    rows = rows.iloc[max(skip - part.first, 0) :].reset_index(drop=True)
                    yield Chunk(max(part.first, skip), rows, part.share)

    def fingerprint(self) -> str:
        """Return the size of the file and a hash of its content."""
        with self.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return f"{self.path.stat().st_size} bytes, {digest[:16]}"

    def _named(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame.columns = [str(name).strip() for name in frame.columns]
        return frame.reset_index(drop=True)


_TEXT, _PARQUET, _EXCEL = (".csv", ".tsv", ".tab", ".txt"), (".parquet", ".pq"), (".xlsx", ".xlsm")


def open_source(path: Path, reading: Reading | None = None) -> Source:
    """Open a file according to its suffix."""
    ending, reading = path.suffix.lower(), reading or Reading()
    if ending in _TEXT:
        return CsvSource(path, reading)
    if ending not in (*_PARQUET, *_EXCEL):
        raise ValueError(
            f"{path.name} has an unknown format: expected a name that ends in .csv, .tsv, .parquet "
            f"or .xlsx, given {ending!r}. Rename or convert it."
        )
    return ParquetSource(path, reading) if ending in _PARQUET else ExcelSource(path, reading)


@final
class CsvSource(Source):
    """Text with a header; rows longer than the header are an error."""

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path = path
        tabs = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
        self._how: dict[str, Any] = {
            # Shells pass a tab as two characters.
            "sep": {"\\t": "\t", "tab": "\t"}.get(reading.sep or tabs, reading.sep or tabs),
            "decimal": reading.decimal or ".",
            "encoding": reading.encoding or "utf-8",
            "na_values": list(reading.missing),
        }
        with _readable(path):
            # As plain text, since pandas would rename what is there twice.
            header = _read_csv(path, nrows=1, header=None, dtype=str, **self._how)
            shown = self._named(_read_csv(path, nrows=0, **self._how))
        self.names = list(shown.columns)
        _require_distinct([str(name).strip() for name in header.iloc[0].dropna()], path)

    def whole(self) -> pd.DataFrame:
        """Return the table."""
        with _readable(self.path):
            return self._named(_read_csv(self.path, low_memory=False, **self._how))

    def _parts(self, columns: Sequence[str], skip: int) -> Iterator[Chunk]:
        """Yield parts from the beginning: lines have to be read to be counted."""
        first, size = 0, max(self.path.stat().st_size, 1)
        with self.path.open("rb") as file:
            reader = _read_csv(file, chunksize=CHUNK_ROWS, low_memory=False, **self._how)
            while (frame := _strictly(next, reader, None)) is not None:
                yield Chunk(first, frame, file.tell() / size)
                first += len(frame)


_BEFORE_3_1 = tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1)
_EXACTLY = {"float_precision": "round_trip"} if _BEFORE_3_1 else {}
"""Numbers as written: before pandas 3.1, a third of them are otherwise wrong in the last digit."""


def _read_csv(file: Any, **how: Any) -> Any:
    return _strictly(pd.read_csv, file, skipinitialspace=True, index_col=False, **_EXACTLY, **how)


def _strictly(read: Callable[..., Any], *args: Any, **how: Any) -> Any:
    """Read with pandas; a row longer than the header is an error rather than a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return read(*args, **how)


@final
class ParquetSource(Source):
    """Columns in groups of rows; checksums are checked where the file has them."""

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self._missing = path, list(reading.missing)
        with _readable(path), self._open() as file:
            self._metadata = file.metadata
            # Without the index of pandas: the same columns as of the whole table.
            shown = file.schema_arrow.empty_table().to_pandas()
            self._stored = {name.strip(): name for name in file.schema_arrow.names}
        self.names = list(self._named(shown).columns)

    def whole(self) -> pd.DataFrame:
        """Return the table."""
        with _readable(self.path):
            frame = self._named(pd.read_parquet(self.path, page_checksum_verification=True))
        return frame.replace(self._missing, np.nan) if self._missing else frame

    def _parts(self, columns: Sequence[str], skip: int) -> Iterator[Chunk]:
        """Yield parts, beginning with the group of rows that contains row ``skip``."""
        import pyarrow as pa

        groups = range(self._metadata.num_row_groups)
        sizes = [self._metadata.row_group(g).num_rows for g in groups]
        starts = np.cumsum([0, *sizes]).tolist()
        wanted = [g for g, stop in enumerate(starts[1:]) if stop > skip]
        first = starts[wanted[0]] if wanted else starts[-1]
        names = [self._stored[name] for name in columns]
        with self._open() as file:
            for batch in file.iter_batches(CHUNK_ROWS, row_groups=wanted, columns=names):
                frame = pa.Table.from_batches([batch]).to_pandas(ignore_metadata=True)
                frame = frame.replace(self._missing, np.nan) if self._missing else frame
                yield Chunk(first, frame, (first + len(frame)) / starts[-1])
                first += len(frame)

    def size(self, columns: Sequence[str]) -> int:
        """Return the size of the columns in memory, before compression."""
        return 8 * int(self._metadata.num_rows) * len(columns)

    def _open(self) -> Any:
        import pyarrow.parquet as pq

        # A buffer avoids reading a whole group of rows; pre_buffer would keep all of them.
        return pq.ParquetFile(
            self.path, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True
        )


@final
class ExcelSource(Source):
    """The first sheet of a workbook, which is read whole."""

    streams = False

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path = path
        how: dict[str, Any] = {"engine": "openpyxl"}
        try:
            with _readable(path):
                raw = pd.read_excel(path, header=None, nrows=1, dtype=str, **how)
                frame = pd.read_excel(path, na_values=list(reading.missing), **how)
        except ImportError as error:
            raise ValueError(
                f"{path.name} cannot be read: expected openpyxl, which reads Excel files, given a "
                'Python without it. Install it with pip install "unassuming[excel]", or save the '
                "sheet as CSV."
            ) from error
        self._frame = self._named(frame)
        self.names = list(self._frame.columns)
        if len(raw):
            _require_distinct([str(name).strip() for name in raw.iloc[0].dropna()], path)

    def whole(self) -> pd.DataFrame:
        """Return the table."""
        return self._frame.copy()

    def _parts(self, columns: Sequence[str], skip: int) -> Iterator[Chunk]:
        yield Chunk(0, self._frame, 1.0)


def _require_distinct(header: Sequence[str], path: Path) -> None:
    for name in header:
        if header.count(name) > 1:
            raise ValueError(
                f"the column {name!r} is in {path.name} more than once: expected different names, "
                f"given {header.count(name)} columns. Rename one of them."
            )


@contextmanager
def _readable(path: Path) -> Iterator[list[int]]:
    """Turn errors of a reader into one sentence; the yielded list has the number of rows read."""
    after = [0]
    try:
        yield after
    except (ValueError, OSError, pd.errors.ParserWarning) as error:  # pyarrow's are among them
        where, why = f" after row {after[0]}" if after[0] else "", str(error)
        ragged = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", why)
        if isinstance(error, UnicodeError):
            why = "its text has another encoding. Name it, for example --encoding latin-1."
        elif ragged is not None:
            columns, line, values = ragged.groups()
            why = f"line {line} has {values} values, where the lines before have {columns}."
        raise ValueError(f"{path.name} cannot be read as a table{where}: {why}") from error

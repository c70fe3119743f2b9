"""Tables in files: CSV or Parquet in, clean columns out, or a sentence that says what is wrong."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unassuming._errors import complaint


@dataclass(frozen=True)
class Table:
    """What a command works on.

    Attributes
    ----------
    X : DataFrame
        The features as floats.
    y : Series
        The target: floats, or labels.
    candidate : array or None
    dropped : int
        Rows with missing values that were left out.
    """

    X: pd.DataFrame
    y: Any
    candidate: Any
    dropped: int


def load(
    path: Path,
    target: str,
    features: str | None,
    candidate: str | None,
    *,
    labels: bool,
    drop_missing: bool,
) -> Table:
    """Read the target, the features and the candidate, which is never a feature."""
    frame = _read(path)
    special = [target] if candidate is None else [target, candidate]
    _require(frame, special, path)
    if candidate == target:
        raise ValueError(
            complaint(
                "--candidate",
                "is the target",
                "a column with the values of a candidate function",
                repr(candidate),
                "Name another column.",
            )
        )
    chosen = _features(frame, features, special, path)
    columns = [*chosen, *special]
    numeric = [name for name in columns if not (labels and name == target)]
    frame = frame[columns].copy()
    for name in numeric:
        frame[name] = _numbers(frame[name], name)
    frame, dropped = _without_missing(frame, drop=drop_missing)
    _require_finite(frame[numeric])
    if len(frame) < 2:
        raise ValueError(
            complaint(
                path.name, "has too few rows", "at least 2", len(frame), "Pass more observations."
            )
        )
    return Table(
        X=frame[chosen],
        y=frame[target],
        candidate=None if candidate is None else frame[candidate].to_numpy(),
        dropped=dropped,
    )


def load_inputs(path: Path, features: Sequence[str]) -> pd.DataFrame:
    """Read the features of other rows."""
    frame = _read(path)
    _require(frame, features, path)
    frame = frame[list(features)].copy()
    for name in features:
        frame[name] = _numbers(frame[name], name)
    frame, _ = _without_missing(frame, drop=False)
    _require_finite(frame)
    if not len(frame):
        raise ValueError(
            complaint(path.name, "has too few rows", "at least 1", 0, "Pass the inputs to ask for.")
        )
    return frame


def _read(path: Path) -> pd.DataFrame:
    ending = path.suffix.lower()
    readers = {".csv": _csv, ".txt": _csv, ".parquet": pd.read_parquet, ".pq": pd.read_parquet}
    if ending not in readers:
        raise ValueError(
            complaint(
                path.name,
                "is of an unknown kind",
                "a name that ends in .csv or .parquet",
                repr(ending),
                "Rename or convert it.",
            )
        )
    try:
        frame = readers[ending](path)
    except (ValueError, OSError, pd.errors.ParserWarning) as error:
        raise ValueError(f"{path.name} cannot be read as a table: {error}") from error
    frame.columns = [str(name).strip() for name in frame.columns]
    return frame.reset_index(drop=True)


def _csv(path: Path) -> pd.DataFrame:
    """Read all columns as columns: rows longer than the header are an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return pd.read_csv(path, skipinitialspace=True, index_col=False)


def _require(frame: pd.DataFrame, names: Sequence[str], path: Path) -> None:
    for name in names:
        if name not in frame.columns:
            raise ValueError(
                complaint(
                    f"the column {name!r}",
                    f"is not in {path.name}",
                    f"one of {', '.join(map(repr, frame.columns))}",
                    repr(name),
                    "Check the spelling.",
                )
            )
        if list(frame.columns).count(name) > 1:
            raise ValueError(
                complaint(
                    f"the column {name!r}",
                    f"is in {path.name} more than once",
                    "different names",
                    f"{list(frame.columns).count(name)} columns",
                    "Rename one of them.",
                )
            )


def _features(
    frame: pd.DataFrame, features: str | None, special: list[str], path: Path
) -> list[str]:
    """Return the columns named, or all that are neither target nor candidate."""
    if features is None:
        chosen = [name for name in frame.columns if name not in special]
    else:
        chosen = [name.strip() for name in features.split(",") if name.strip()]
    _require(frame, chosen, path)
    wrong = [name for name in chosen if name in special or chosen.count(name) > 1]
    if wrong or not chosen:
        raise ValueError(
            complaint(
                "--features",
                "does not name the inputs",
                "different columns, neither the target nor the candidate",
                repr(wrong[0]) if wrong else "none",
                "Name at least one other column.",
            )
        )
    return chosen


def _numbers(column: pd.Series, name: str) -> pd.Series:
    """Return a column as floats, or name the first entry that is none."""
    if column.dtype.kind in "cmM":
        raise _not_numeric(name, f"values of type {column.dtype}")
    numbers = pd.to_numeric(column, errors="coerce")
    bad = numbers.isna() & column.notna()
    if bad.any():
        row = int(np.argmax(bad.to_numpy()))
        raise _not_numeric(name, f"{column.iloc[row]!r} in row {row + 1}")
    return numbers.astype(np.float64)


def _not_numeric(name: str, given: str) -> ValueError:
    return ValueError(
        complaint(
            f"the column {name!r}",
            "is not numeric",
            "numbers",
            given,
            "Encode it, or choose the columns with --features.",
        )
    )


def _without_missing(frame: pd.DataFrame, *, drop: bool) -> tuple[pd.DataFrame, int]:
    missing = frame.isna()
    rows = missing.any(axis=1)
    if drop or not rows.any():
        return frame[~rows].reset_index(drop=True), int(rows.sum())
    name = missing.columns[missing.any()][0]
    row = int(np.argmax(missing[name].to_numpy()))
    raise ValueError(
        complaint(
            f"the column {name!r}",
            "has missing values",
            "a value in every row",
            f"none in row {row + 1} ({int(rows.sum())} of {len(rows)} rows are incomplete)",
            "Fill them in, or leave these rows out with --drop-missing.",
        )
    )


def _require_finite(frame: pd.DataFrame) -> None:
    for name in frame.columns:
        infinite = ~np.isfinite(frame[name].to_numpy())
        if infinite.any():
            row = int(np.argmax(infinite))
            raise ValueError(
                complaint(
                    f"the column {name!r}",
                    "has infinite values",
                    "finite numbers",
                    f"{frame[name].iloc[row]} in row {row + 1}",
                    "Correct the file.",
                )
            )

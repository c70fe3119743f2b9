"""Columns of tables: clean numbers, or an error that names the column and the row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from unassuming.cli._sources import Source


@dataclass(frozen=True)
class Columns:
    """The columns that are used, and how they are cleaned.

    Attributes
    ----------
    others : tuple of str
        Columns that are neither target nor features.
    labels : tuple of str
        Columns of labels, in any form, rather than numbers.
    drop_missing : bool
        Whether rows with missing values are left out rather than refused.
    """

    features: list[str]
    target: str
    others: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    drop_missing: bool = False

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return [*self.features, self.target, *self.others]

    def clean(self, frame: pd.DataFrame, first: int = 0) -> pd.DataFrame:
        """Return finite numbers (and labels) without missing values.

        ``first`` is the number of rows of the file before these; errors count from there.
        """
        frame = frame[self.names].copy()
        for name in self.names:
            if name not in self.labels:
                frame[name] = _numbers(frame[name], name, first, target=name == self.target)
        return _without_missing(frame, first, drop=self.drop_missing)


def choose(
    source: Source,
    target: str,
    features: str | None,
    others: Mapping[str, str],
    *,
    labels: Sequence[str] = (),
    drop_missing: bool = False,
) -> Columns:
    """Find the columns; those that other options name are never features."""
    special = {"target": target, **others}
    _require(source.names, list(special.values()), source.path)
    for option, name in others.items():
        same = next(known for known, column in special.items() if column == name)
        if same != option:
            known = "the target" if same == "target" else f"the column of --{same}"
            raise ValueError(
                f"--{option} is {known}: expected a column with no other meaning, given {name!r}. "
                "Name another column."
            )
    chosen = _features(source.names, features, special, source.path)
    return Columns(chosen, target, tuple(others.values()), tuple(labels), drop_missing)


def load(source: Source, columns: Columns) -> tuple[pd.DataFrame, int]:
    """Read the clean columns; return also how many rows with missing values were left out."""
    raw = source.whole()
    frame = columns.clean(raw)
    require_observations(len(frame), source.path)
    return frame, len(raw) - len(frame)


def load_inputs(source: Source, features: Sequence[str]) -> pd.DataFrame:
    """Read the inputs at which the band is wanted."""
    _require(source.names, features, source.path)
    frame = source.whole()[list(features)]
    for name in features:
        frame[name] = _numbers(frame[name], name, 0)
    frame = _without_missing(frame, 0, drop=False)
    _require_rows(len(frame), 1, source.path, "Pass at least one input.")
    return frame


def require_observations(found: int, path: Path) -> None:
    """Refuse a table with fewer than two rows."""
    _require_rows(found, 2, path, "Pass more observations.")


def _require_rows(found: int, least: int, path: Path, remedy: str) -> None:
    if found < least:
        raise ValueError(
            f"{path.name} has too few rows: expected at least {least}, given {found}. {remedy}"
        )


def _require(columns: Sequence[str], names: Sequence[str], path: Path) -> None:
    for name in names:
        if name not in columns:
            raise ValueError(
                f"the column {name!r} is not in {path.name}: expected one of "
                f"{', '.join(map(repr, columns))}, given {name!r}. {_spelling(columns)}"
            )
        if list(columns).count(name) > 1:
            raise ValueError(
                f"the column {name!r} is in {path.name} more than once: expected different names, "
                f"given {list(columns).count(name)} columns. Rename one of them."
            )


def _spelling(columns: Sequence[str]) -> str:
    marks = [mark for mark in (";", "\t", "|") if len(columns) == 1 and mark in columns[0]]
    if marks:
        return f"If columns are separated by {marks[0]!r}, separate them by commas."
    return "Check the spelling."


def _features(
    columns: Sequence[str], features: str | None, special: Mapping[str, str], path: Path
) -> list[str]:
    """Return the named columns, or all that have no special meaning."""
    taken = list(special.values())
    if features is None:
        chosen = [name for name in columns if name not in taken]
    else:
        chosen = [name.strip() for name in features.split(",") if name.strip()]
    _require(columns, chosen, path)
    wrong = [name for name in chosen if name in taken or chosen.count(name) > 1]
    if wrong or not chosen:
        none_of = " nor ".join(f"the {meaning}" for meaning in special)
        raise ValueError(
            "--features does not name the inputs: expected different columns, "
            f"{'neither' if len(special) > 1 else 'not'} {none_of}, given "
            f"{repr(wrong[0]) if wrong else 'none'}. Name at least one other column."
        )
    return chosen


def _numbers(column: pd.Series, name: str, first: int, *, target: bool = False) -> pd.Series:
    """Return a column as floats, finite or missing; refuse other entries."""
    if column.dtype.kind in "cmM":
        raise _not_numeric(name, f"values of type {column.dtype}", target=target)
    numbers = pd.to_numeric(column, errors="coerce")
    bad = numbers.isna() & column.notna()
    if bad.any():
        row = int(np.argmax(bad.to_numpy()))
        raise _not_numeric(name, f"{column.iloc[row]!r} in row {first + row + 1}", target=target)
    numbers = numbers.astype(np.float64)
    infinite = np.isinf(numbers.to_numpy())
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"the column {name!r} has infinite values: expected finite numbers, given "
            f"{numbers.iloc[row]} in row {first + row + 1}. Correct the file."
        )
    return numbers


def _not_numeric(name: str, given: str, *, target: bool) -> ValueError:
    remedy = "Encode it, or choose other columns with --features."
    if target:
        remedy = "For two labels use --model ls-svc or logistic; otherwise encode it."
    return ValueError(
        f"the column {name!r} is not numeric: expected numbers, given {given}. {remedy}"
    )


def _without_missing(frame: pd.DataFrame, first: int, *, drop: bool) -> pd.DataFrame:
    missing = frame.isna()
    rows = missing.any(axis=1)
    if drop or not rows.any():
        return frame[~rows].reset_index(drop=True)
    name = missing.columns[missing.any()][0]
    row = int(np.argmax(missing[name].to_numpy()))
    raise ValueError(
        f"the column {name!r} has missing values: expected a value in every row, given none in row "
        f"{first + row + 1}. Fill them in, or leave out such rows with --drop-missing."
    )

"""Columns of tables: clean numbers, or an error that names the column and the row."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from unassuming.cli.tables._sources import Source
from unassuming.cli.tables._terms import Kind, Term

_UNNAMED = re.compile(r"Unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True)
class Columns:
    """The columns that are used, and how they are cleaned.

    Attributes
    ----------
    others : tuple of str
        Columns that are neither target nor features.
    labels : tuple of str
        Columns of labels, in any form, rather than numbers.
    categorical : tuple of str
        Features that are categories.
    named : bool
        Whether the features were named; otherwise columns without information are left out.
    drop_missing : bool
        Whether rows with missing values are left out rather than refused.
    remarks : tuple of str
        Sentences about columns that are left out.
    about_missing : str
        What to do about missing values.
    """

    features: list[str]
    target: str
    others: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    named: bool = False
    drop_missing: bool = False
    remarks: tuple[str, ...] = ()
    about_missing: str = "Fill them in, or leave out such rows with --drop-missing."

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return [*self.features, self.target, *self.others]

    def settled(self, raw: pd.DataFrame) -> Columns:
        """Return the columns with text as categories, without those that cannot be features."""
        texts = [name for name in self.features if _is_text(raw[name])]
        coded = [name for name in self.features if name in self.categorical or name in texts]
        if self.named:
            return replace(self, categorical=tuple(coded))
        out, remarks = [], list(self.remarks)
        for name in self.features:
            count, different = int(raw[name].notna().sum()), raw[name].nunique()
            if different <= 1:
                remarks.append(f"{name} is left out: it has the same value in every row.")
            elif name in texts and name not in self.categorical and 5 * different > count:
                remarks.append(
                    f"{name} is left out: it is text with {different} different values in {count} "
                    f"rows. --categorical {name} makes categories of it."
                )
            else:
                continue
            out.append(name)
        features = [name for name in self.features if name not in out]
        if not features:
            raise ValueError(
                "no column can be a feature: expected numbers, or text with few different values, "
                f"given {', '.join(map(repr, out))}. Name the inputs with --features."
            )
        coded = [name for name in coded if name in features]
        return replace(self, features=features, categorical=tuple(coded), remarks=tuple(remarks))

    def clean(self, frame: pd.DataFrame, first: int = 0) -> pd.DataFrame:
        """Return finite numbers (and labels) without missing values.

        ``first`` is the number of rows of the file before these; errors count from there.
        """
        return self._cleaned(frame, self.names, first, drop=self.drop_missing)

    def inputs(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the features alone, clean; missing values are refused."""
        return self._cleaned(frame, self.features, 0, drop=False)

    def _cleaned(
        self, frame: pd.DataFrame, names: list[str], first: int, *, drop: bool
    ) -> pd.DataFrame:
        frame = frame[names].copy()
        for name in names:
            if name in self.categorical:
                frame[name] = _categories(frame[name])
            elif name not in self.labels:
                role = "feature" if name in self.features else "other"
                role = "target" if name == self.target else role
                frame[name] = _numbers(frame[name], name, first, role)
        return _without_missing(frame, first, self.about_missing, drop=drop)


def choose(
    source: Source,
    target: str,
    features: str | None,
    others: Mapping[str, str],
    *,
    labels: Sequence[str] = (),
    categorical: str | None = None,
    drop_missing: bool = False,
    inputs: bool = True,
    asked_by: str = "features",
) -> Columns:
    """Find the columns; those that other options name are never features.

    Without ``inputs`` there are no features unless they are named, by the option ``asked_by``.
    """
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
    chosen, unnamed = list[str](), list[str]()
    if inputs or features is not None:
        chosen, unnamed = _features(source.names, features, special, source.path, asked_by)
    coded = split_names(categorical or "", source.names)
    _require(source.names, coded, source.path)
    for name in coded:
        if name not in chosen:
            raise ValueError(
                f"--categorical names a column that is not a feature: expected one of "
                f"{', '.join(map(repr, chosen))}, given {name!r}. Leave it out."
            )
    return Columns(
        chosen,
        target,
        tuple(name for option, name in others.items() if option != "index"),
        tuple(labels),
        tuple(coded),
        named=features is not None or not inputs,
        drop_missing=drop_missing,
        remarks=tuple(f"A column without a name ({name}) is left out." for name in unnamed),
    )


def split_names(text: str, known: Sequence[str]) -> list[str]:
    """Return the columns in a list with commas; names may have commas of their own, or quotes.

    Examples
    --------
    >>> split_names("age, size, in cm", ["age", "size, in cm"])
    ['age', 'size, in cm']
    """
    parts = next(csv.reader([text], skipinitialspace=True), [])
    pieces = [part.strip() for part in parts if part.strip()]
    found = []
    while pieces:
        for count in range(1, len(pieces) + 1):
            # A name may have a space behind its comma, or none.
            ways = [", ".join(pieces[:count]), ",".join(pieces[:count])]
            match = next((way for way in ways if way in known), None)
            if match is not None:
                break
        else:
            match, count = pieces[0], 1  # unknown: reported elsewhere
        found.append(match)
        pieces = pieces[count:]
    return found


@dataclass(frozen=True, eq=False)
class Loaded:
    """A clean table, its columns as they are used, and the number of rows that were left out."""

    frame: pd.DataFrame
    columns: Columns
    dropped: int

    @property
    def X(self) -> pd.DataFrame:
        """The features."""
        return self.frame[self.columns.features]

    @property
    def y(self) -> pd.Series:
        """The target."""
        return self.frame[self.columns.target]


def load(source: Source, columns: Columns) -> Loaded:
    """Read the clean columns, and settle which of them are features."""
    raw = source.whole()
    require_observations(len(raw), source.path)
    columns = columns.settled(raw)
    frame = columns.clean(raw)
    require_observations(len(frame), source.path)
    return Loaded(frame, columns, len(raw) - len(frame))


def load_inputs(source: Source, columns: Columns, terms: Sequence[Term]) -> pd.DataFrame:
    """Read the inputs at which the band is wanted."""
    _require(source.names, columns.features, source.path)
    frame = columns.inputs(source.whole())
    for term in terms:
        if term.kind is Kind.INDICATORS:
            new = [level for level in frame[term.column] if level not in term.levels]
            if new:
                raise ValueError(
                    f"the column {term.column!r} of {source.path.name} has a category that the "
                    f"data do not have: expected one of {', '.join(map(repr, term.levels))}, given "
                    f"{new[0]!r}. Correct the file."
                )
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
        return f"If columns are separated by {marks[0]!r}, add --sep {_quoted(marks[0])}."
    return "Check the spelling."


def _quoted(mark: str) -> str:
    return "tab" if mark == "\t" else f'"{mark}"'


def _features(
    columns: Sequence[str],
    features: str | None,
    special: Mapping[str, str],
    path: Path,
    option: str,
) -> tuple[list[str], list[str]]:
    """Return the named columns, or all that have a name and no special meaning; then the others."""
    taken, unnamed = list(special.values()), []
    if features is None:
        free = [name for name in columns if name not in taken]
        unnamed = [name for name in free if not name or _UNNAMED.fullmatch(name)]
        chosen = [name for name in free if name not in unnamed]
    else:
        chosen = split_names(features, columns)
    _require(columns, chosen, path)
    wrong = [name for name in chosen if name in taken or chosen.count(name) > 1]
    if wrong or not chosen:
        none_of = " nor ".join(f"the {meaning}" for meaning in special)
        raise ValueError(
            f"--{option} does not name the inputs: expected different columns, "
            f"{'neither' if len(special) > 1 else 'not'} {none_of}, given "
            f"{repr(wrong[0]) if wrong else 'none'}. Name at least one other column."
        )
    return chosen, unnamed


def _is_text(column: pd.Series) -> bool:
    """Whether a column is text, and not numbers with some words among them."""
    if column.dtype.kind in "cmM" or pd.api.types.is_numeric_dtype(column):
        return False
    values = column.dropna()
    if not any(isinstance(value, str) for value in values):
        return False
    numeric = pd.to_numeric(values.astype(str).str.replace(",", "."), errors="coerce").notna()
    return bool(2 * numeric.sum() <= len(values))


def _categories(column: pd.Series) -> pd.Series:
    """Return a column as text, whole numbers without a point."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return column.map(lambda x: f"{x:.15g}", na_action="ignore").astype(object)
    return column.map(str, na_action="ignore").astype(object)


def _numbers(column: pd.Series, name: str, first: int, role: str) -> pd.Series:
    """Return a column as floats, finite or missing; refuse other entries."""
    if column.dtype.kind in "cmM":
        raise _not_numeric(name, f"values of type {column.dtype}", role)
    numbers = pd.to_numeric(column, errors="coerce")
    bad = numbers.isna() & column.notna()
    if bad.any():
        row = int(np.argmax(bad.to_numpy()))
        remedy = _about_words(column, bad, name, role)
        given = f"{column.iloc[row]!r} in row {first + row + 1} below the header"
        raise _not_numeric(name, given, role, remedy)
    numbers = numbers.astype(np.float64)
    infinite = np.isinf(numbers.to_numpy())
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"the column {name!r} has infinite values: expected finite numbers, given "
            f"{numbers.iloc[row]} in row {first + row + 1} below the header. Correct the file."
        )
    return numbers


_REMEDIES = {
    "target": "If it has two labels, use unassuming region with --model ls-svc or --model "
    "logistic; otherwise encode it.",
    "feature": "Encode it, or choose other columns with --features.",
    "other": "Choose a column of numbers.",
}
"""What to do about a column that is not numeric, by its role."""


def _not_numeric(name: str, given: str, role: str, remedy: str = "") -> ValueError:
    remedy = remedy or _REMEDIES[role]
    return ValueError(
        f"the column {name!r} is not numeric: expected numbers, given {given}. {remedy}"
    )


def _about_words(column: pd.Series, bad: pd.Series, name: str, role: str) -> str:
    """Return what to do about words in a column of numbers; empty if it has no numbers."""
    word = str(column[bad].iloc[0])
    points = column.astype(str).str.replace(".", "").str.replace(",", ".")
    if "," in word and pd.to_numeric(points[bad], errors="coerce").notna().all():
        return "If it has decimal commas, add --decimal ,"
    if 2 * int(bad.sum()) <= int(column.notna().sum()):
        coded = f" If they are categories, add --categorical {name}." if role == "feature" else ""
        return f'If {word!r} stands for a missing value, add --missing "{word}".{coded}'
    if role != "feature":
        return ""
    return (
        "Without --stream, or with --no-stream, text becomes categories; or choose other columns "
        "with --features."
    )


def _without_missing(frame: pd.DataFrame, first: int, remedy: str, *, drop: bool) -> pd.DataFrame:
    missing = frame.isna()
    rows = missing.any(axis=1)
    if drop or not rows.any():
        return frame[~rows].reset_index(drop=True)
    name = missing.columns[missing.any()][0]
    row = int(np.argmax(missing[name].to_numpy()))
    raise ValueError(
        f"the column {name!r} has missing values: expected a value in every row, given none in row "
        f"{first + row + 1}. {remedy}"
    )

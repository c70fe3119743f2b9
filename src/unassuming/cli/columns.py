"""Columns of tables: clean numbers, or an error that names the column and the row."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unassuming._words import joined
from unassuming.cli.options import Problem
from unassuming.cli.tables import Source, open_source, reading_of

_UNNAMED = re.compile(r"Unnamed: \d+|__index_level_\d+__")
_DATE = r"\d{4}[-/]\d{1,2}([-/]\d{1,2})?([ T].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}"
_TIMES = ("year", "date", "time", "period", "t")
"""Names of columns of numbers that put rows in order."""

EXACT = 1e-10
"""Share of a target that columns leave unexplained if they determine it."""


@dataclass(frozen=True)
class Columns:
    """The columns that are used, and how they are cleaned."""

    features: list[str]
    target: str
    others: tuple[str, ...] = ()  # columns that are neither target nor features
    labels: tuple[str, ...] = ()  # columns of labels, in any form, rather than numbers
    categorical: tuple[str, ...] = ()  # features that are categories
    # Whether the features were named; otherwise columns without information are left out.
    named: bool = False
    drop_missing: bool = False  # whether rows with missing values are left out rather than refused
    decimal: str = "."  # the decimal mark of numbers in text
    remarks: tuple[str, ...] = ()  # sentences about how columns were read, and which are left out
    order: str | None = None  # a column of dates or of years that is in order
    # What to do about missing values.
    about_missing: str = "Fill them in, or leave out such rows with --drop-missing."

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return [*self.features, self.target, *self.others]

    def settled(self, raw: pd.DataFrame) -> Columns:
        """Return the columns with text as categories, without those that cannot be features."""
        order = next(filter(None, (_in_order(raw[name]) for name in raw)), None)
        why = {} if self.named else {n: self._uninformative(raw[n]) for n in self.features}
        left_out = tuple(f"{name} is left out: {text}" for name, text in why.items() if text)
        kept = [name for name in self.features if not why.get(name)]
        if not kept and not self.named:
            raise ValueError(
                "no column can be a feature: expected numbers, or text with few different values, "
                f"given {', '.join(map(repr, self.features))}. Name the inputs with --features."
            )
        coded = tuple(n for n in kept if n in self.categorical or self._is_text(raw[n]))
        remarks = (*self.remarks, *left_out)
        return replace(self, features=kept, categorical=coded, remarks=remarks, order=order)

    def _uninformative(self, column: pd.Series) -> str:
        """Return why a column is no feature by default; empty if it is one."""
        count, different = int(column.notna().sum()), column.nunique()
        if different <= 1:
            return "it has the same value in every row."
        if column.name in self.categorical:
            return ""
        if _is_date(column):
            return "it holds dates."
        if 5 * different > count and self._is_text(column):
            return (
                f"it is text with {different} different values in {count} rows. --categorical "
                f"{column.name} makes categories of it."
            )
        return ""

    def formats(self, raw: pd.DataFrame) -> list[str]:
        """Say how numbers with a currency, a percent sign or thousands separators are read."""
        said = []
        for name in self.names:
            if name in (*self.categorical, *self.labels) or _is_numeric(raw[name]):
                continue
            values = raw[name].dropna()
            first = values[pd.to_numeric(values, errors="coerce").isna()].iloc[:1]
            said += [
                f'{name} ("{x}" is {y:g})' for x, y in zip(first, self.read(first), strict=True)
            ]
        return [f"Read as numbers: {', '.join(said)}."] if said else []

    def clean(self, frame: pd.DataFrame, first: int = 0, names: Sequence[str] = ()) -> pd.DataFrame:
        """Return finite numbers and labels, none missing; errors count from row ``first``."""
        frame = frame[list(names or self.names)].copy()
        for name in frame:
            if name in self.categorical:
                frame[name] = _categories(frame[name])
            elif name not in self.labels:
                frame[name] = self._numbers(frame[name], first)
        missing = frame.isna()
        rows = missing.any(axis=1)
        if (self.drop_missing and not names) or not rows.any():
            return frame[~rows].reset_index(drop=True)
        name = missing.columns[missing.any()][0]
        row = first + 1 + int(np.argmax(missing[name].to_numpy()))
        raise ValueError(
            f"the column {name!r} has missing values: expected a value in every row, given none in "
            f"row {row}. {self.about_missing}"
        )

    def read(self, column: pd.Series) -> pd.Series:
        """Return a column as numbers; currencies, %, and thousands separators are left out."""
        if _is_numeric(column):
            return pd.to_numeric(column)
        text = column.astype("string").str.strip()
        text = text.str.replace(r"^([-+]?)\s*[$€£¥]\s*(?=[-+.,\d])", r"\1", regex=True)
        text = text.str.replace(r"(?<=[.,\d])\s*[%$€£¥]$", "", regex=True)
        mark = {",": r"\."}.get(self.decimal, ",")
        grouped = text.str.fullmatch(rf"[-+]?\d{{1,3}}({mark}\d{{3}})+(\{self.decimal}\d*)?")
        text = text.where(~grouped.fillna(False), text.str.replace(mark, "", regex=True))
        text = text.str.replace(self.decimal, ".", regex=False)
        return pd.to_numeric(text, errors="coerce").astype(np.float64)

    def _is_text(self, column: pd.Series) -> bool:
        """Whether a column is text, and not numbers with some words among them."""
        if column.dtype.kind in "mM" or _is_numeric(column):
            return False
        values = column.dropna()
        commas = values.astype(str).str.replace(",", ".")
        numbers = self.read(values).notna() | pd.to_numeric(commas, errors="coerce").notna()
        return bool(2 * numbers.sum() <= len(values))

    def _numbers(self, column: pd.Series, first: int) -> pd.Series:
        """Return a column as floats, finite or missing; refuse other entries."""
        numbers = self.read(column).astype(np.float64)
        bad = numbers.isna() & column.notna() | np.isinf(numbers)
        if bad.any():
            row = int(np.argmax(bad.to_numpy()))
            given = column.iloc[row]
            given = repr(given) if isinstance(given, str) else given
            raise ValueError(
                f"the column {column.name!r} is not numeric: expected finite numbers, given "
                f"{given} in row {first + row + 1} below the header. "
                f"{self._remedy(column, bad)}"
            )
        return numbers

    def _remedy(self, column: pd.Series, bad: pd.Series) -> str:
        """Return what to do about words in a column of numbers."""
        word, words = str(column[bad].iloc[0]), column[bad].astype(str)
        points = words.str.replace(".", "").str.replace(",", ".")
        if "," in word and pd.to_numeric(points, errors="coerce").notna().all():
            return "If it has decimal commas, add --decimal ,"
        if 2 * int(bad.sum()) <= int(column.notna().sum()):
            return f'If {word!r} stands for a missing value, add --missing "{word}".'
        if column.name in self.features:
            return "Text becomes categories with --no-stream; or choose others with --features."
        if column.name == self.target and column.nunique() == 2:
            few = " with at most 3 columns, --features" if len(self.features) > 3 else ""
            return f"It has two labels: use unassuming region --model ls-svc{few}."
        return "Choose a column of numbers."


def find(problem: Problem, **others: str | None) -> tuple[Source, Columns]:
    """Open the table of a problem, and find the columns that its options name."""
    source = open_source(problem.data, reading_of(problem))
    named = {"clusters": problem.clusters, "weights": problem.weights, "index": problem.index}
    given = {option: name for option, name in (named | others).items() if name is not None}
    features = None
    if problem.features is not None:
        roles = filter(None, (problem.features, problem.endogenous, problem.instruments))
        listed = [split_names(text, source.names) for text in roles]
        features = listed[0] + [n for role in listed[1:] for n in role if n not in listed[0]]
    labels = [problem.target] if problem.recipe.classify else []
    columns = choose(
        source,
        problem.target,
        features,
        given,
        labels=[*labels, *([given["clusters"]] if "clusters" in given else [])],
        categorical=split_names(problem.categorical or "", source.names),
        drop_missing=problem.drop_missing,
    )
    return source, replace(columns, decimal=problem.decimal or ".")


def choose(
    source: Source,
    target: str,
    features: Sequence[str] | None,
    others: Mapping[str, str],
    *,
    labels: Sequence[str] = (),
    categorical: Sequence[str] = (),
    drop_missing: bool = False,
) -> Columns:
    """Find the columns; without ``features``, those without another meaning are features."""
    special = {"target": target, **others}
    _require(source.names, [*special.values(), *(features or ()), *categorical], source.path)
    for option, name in others.items():
        same = next(known for known, column in special.items() if column == name)
        if same != option:
            raise ValueError(
                f"--{option} is the column of --{same}: expected a column with no other meaning, "
                f"given {name!r}. Name another column."
            )
    free = [name for name in source.names if name not in special.values()]
    unnamed = [name for name in free if not name or _UNNAMED.fullmatch(name)]
    chosen = [name for name in free if name not in unnamed] if features is None else list(features)
    wrong = [name for name in chosen if name in special.values() or chosen.count(name) > 1]
    if wrong or (features is None and not chosen):
        raise ValueError(
            f"{source.path.name} has no such inputs: expected different columns beside "
            f"{joined(map(repr, special.values()))}, given {repr(wrong[0]) if wrong else 'none'}. "
            "Name other columns."
        )
    if not set(categorical) <= set(chosen):
        raise ValueError(
            "--categorical names a column that is not a feature: expected some of "
            f"{', '.join(map(repr, chosen))}, given {', '.join(categorical)}. Leave it out."
        )
    left_out = [f"A column without a name ({name}) is left out." for name in unnamed]
    return Columns(
        chosen,
        target,
        tuple(name for option, name in others.items() if option != "index"),
        tuple(labels),
        tuple(categorical),
        named=features is not None,
        drop_missing=drop_missing,
        remarks=tuple(left_out) if features is None else (),
    )


def split_names(text: str, known: Sequence[str]) -> list[str]:
    """Return the columns in a list with commas; names may have commas of their own, or quotes."""
    parts = next(csv.reader([text], skipinitialspace=True), [])
    pieces, found = [part.strip() for part in parts if part.strip()], list[str]()
    while pieces:
        # A name may have a space behind its comma, or none; an unknown name is reported elsewhere.
        sizes = range(1, len(pieces) + 1)
        ways = [(mark.join(pieces[:k]), k) for k in sizes for mark in (", ", ",")]
        name, count = next((way for way in ways if way[0] in known), (pieces[0], 1))
        found.append(name)
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
    require_rows(len(raw), source.path)
    columns = columns.settled(raw)
    frame = columns.clean(raw)
    require_rows(len(frame), source.path)
    said = [*columns.remarks, *columns.formats(raw), *_giveaways(frame, columns)]
    return Loaded(frame, replace(columns, remarks=tuple(said)), len(raw) - len(frame))


def load_inputs(
    source: Source, columns: Columns, categories: Mapping[str, Sequence[Any]]
) -> pd.DataFrame:
    """Read the inputs at which the band is wanted; ``categories`` are those of the data."""
    _require(source.names, columns.features, source.path)
    frame = columns.clean(source.whole(), names=columns.features)
    for name, known in categories.items():
        if new := sorted(set(frame[name]) - set(known)):
            raise ValueError(
                f"the column {name!r} of {source.path.name} has a category that the data do not "
                f"have: expected {', '.join(known)}, given {new[0]!r}. Correct the file."
            )
    require_rows(len(frame), source.path, 1)
    return frame


def require_rows(found: int, path: Path, least: int = 2) -> None:
    """Refuse a table with too few rows, by default fewer than two."""
    if found < least:
        raise ValueError(
            f"{path.name} has too few rows: expected at least {least}, given {found}. Add rows."
        )


def _require(columns: Sequence[str], names: Sequence[str], path: Path) -> None:
    for name in names:
        if name not in columns:
            marks = {";": '";"', "\t": "tab", "|": '"|"'} if len(columns) == 1 else {}
            sep = [f"--sep {word}" for mark, word in marks.items() if mark in columns[0]]
            remedy = f"Columns seem to be separated otherwise: add {sep[0]}." if sep else ""
            raise ValueError(
                f"the column {name!r} is not in {path.name}: expected one of "
                f"{', '.join(map(repr, columns))}, given {name!r}. "
                f"{remedy or 'Check the spelling.'}"
            )


def _is_numeric(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column))


def _is_date(column: pd.Series) -> bool:
    """Whether a column holds dates, as such or as text."""
    values = column.dropna()
    text = not _is_numeric(column) and len(values) and isinstance(values.iloc[0], str)
    return column.dtype.kind == "M" or bool(text and values.str.fullmatch(_DATE).all())


def _in_order(column: pd.Series) -> str | None:
    """Return the name of a column of dates, or of years, that puts the rows in order."""
    name, values = str(column.name), column.dropna()
    years = _is_numeric(column) and name.lower() in _TIMES and column.nunique() > 2
    sorted_ = values.is_monotonic_increasing or values.is_monotonic_decreasing
    return name if (years or _is_date(column)) and sorted_ and values.nunique() > 2 else None


def _categories(column: pd.Series) -> pd.Series:
    """Return a column as text, whole numbers without a point."""
    if _is_numeric(column) and not pd.api.types.is_bool_dtype(column):
        return column.map(lambda x: f"{x:.15g}", na_action="ignore").astype(object)
    return column.map(str, na_action="ignore").astype(object)


def _giveaways(frame: pd.DataFrame, columns: Columns) -> list[str]:
    """Name features that equal the target, or determine it."""
    y, rest = frame[columns.target], "so that there is no noise: leave it out with --features."
    if y.nunique() < 2:
        return []
    said = []
    for name in columns.features:
        x = frame[name]
        if x.equals(y):
            said.append(f"Warning: {name} equals the target, {rest}")
        elif 2 * x.nunique() < len(x) and y.groupby(x).nunique().max() == 1:
            said.append(f"Warning: {name} determines the target, {rest}")
    names = [name for name in columns.features if name not in columns.categorical]
    if said or not names or not _is_numeric(y) or len(y) <= len(names) + 1:
        return said
    X, z = frame[names].to_numpy(), y.to_numpy() - y.mean()
    X = (X - X.mean(axis=0)) / np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 1)
    found = np.linalg.lstsq(X, z, rcond=None)[0]
    if np.linalg.norm(z - X @ found) > EXACT * np.linalg.norm(z):
        return said
    used = [n for n, b in zip(names, found, strict=True) if abs(b) > EXACT * np.abs(found).max()]
    if len(used) == 1:
        return [f"Warning: {used[0]} determines the target, {rest}"]
    return [f"Warning: {joined(used)} together determine the target, {rest.replace('it', 'one')}"]

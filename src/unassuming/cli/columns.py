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
        texts = [name for name in self.features if self._is_text(raw[name])]
        coded = [name for name in self.features if name in self.categorical or name in texts]
        if self.named:
            return replace(self, categorical=tuple(coded), order=order)
        kept, remarks = [], list(self.remarks)
        for name in self.features:
            why = self._uninformative(raw[name], text=name in texts)
            if why:
                remarks.append(f"{name} is left out: {why}")
            else:
                kept.append(name)
        if not kept:
            raise ValueError(
                "no column can be a feature: expected numbers, or text with few different values, "
                f"given {', '.join(map(repr, self.features))}. Name the inputs with --features."
            )
        coded = [name for name in coded if name in kept]
        settled = replace(self, features=kept, categorical=tuple(coded))
        return replace(settled, remarks=tuple(remarks), order=order)

    def _uninformative(self, column: pd.Series, *, text: bool) -> str:
        """Return why a column is no feature by default; empty if it is one."""
        name, count, different = column.name, int(column.notna().sum()), column.nunique()
        if different <= 1:
            return "it has the same value in every row."
        if name in self.categorical:
            return ""
        if _is_date(column):
            return "it holds dates."
        if text and 5 * different > count:
            return (
                f"it is text with {different} different values in {count} rows. --categorical "
                f"{name} makes categories of it."
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

    def clean(self, frame: pd.DataFrame, first: int = 0) -> pd.DataFrame:
        """Return finite numbers and labels, none missing; errors count from row ``first``."""
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
                frame[name] = self._numbers(frame[name], first)
        return _without_missing(frame, first, self.about_missing, drop=drop)

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
        if column.dtype.kind in "cmM" or _is_numeric(column):
            return False
        values = column.dropna()
        if not any(isinstance(value, str) for value in values):
            return False
        commas = values.astype(str).str.replace(",", ".")
        numbers = self.read(values).notna() | pd.to_numeric(commas, errors="coerce").notna()
        return bool(2 * numbers.sum() <= len(values))

    def _numbers(self, column: pd.Series, first: int) -> pd.Series:
        """Return a column as floats, finite or missing; refuse other entries."""
        name = column.name
        if column.dtype.kind in "cmM":
            raise self._not_numeric(column, f"values of type {column.dtype}", "")
        numbers = self.read(column).astype(np.float64)
        bad = numbers.isna() & column.notna()
        if bad.any():
            row = int(np.argmax(bad.to_numpy()))
            given = f"{column.iloc[row]!r} in row {first + row + 1} below the header"
            raise self._not_numeric(column, given, self._about_words(column, bad))
        infinite = np.isinf(numbers.to_numpy())
        if infinite.any():
            row = int(np.argmax(infinite))
            raise ValueError(
                f"the column {name!r} has infinite values: expected finite numbers, given "
                f"{numbers.iloc[row]} in row {first + row + 1} below the header. Correct the file."
            )
        return numbers

    def _not_numeric(self, column: pd.Series, given: str, remedy: str) -> ValueError:
        if not remedy:
            remedy = "Choose a column of numbers."
            if column.name in self.features:
                remedy = "Encode it, or choose other columns with --features."
            elif column.name == self.target and column.nunique() == 2:
                few = " with at most 3 columns, --features" if len(self.features) > 3 else ""
                remedy = f"It has two labels: use unassuming region --model ls-svc{few}."
        return ValueError(
            f"the column {column.name!r} is not numeric: expected numbers, given {given}. {remedy}"
        )

    def _about_words(self, column: pd.Series, bad: pd.Series) -> str:
        """Return what to do about words in a column of numbers; empty if it has no numbers."""
        word, feature = str(column[bad].iloc[0]), column.name in self.features
        points = column.astype(str).str.replace(".", "").str.replace(",", ".")
        if "," in word and pd.to_numeric(points[bad], errors="coerce").notna().all():
            return "If it has decimal commas, add --decimal ,"
        if 2 * int(bad.sum()) <= int(column.notna().sum()):
            coded = f" If they are categories, add --categorical {column.name}." if feature else ""
            return f'If {word!r} stands for a missing value, add --missing "{word}".{coded}'
        if not feature:
            return ""
        return (
            "Without --stream, or with --no-stream, text becomes categories; or choose other "
            "columns with --features."
        )


def find(problem: Problem, **others: str | None) -> tuple[Source, Columns]:
    """Open the table of a problem, and find the columns that its options name."""
    source = open_source(problem.data, reading_of(problem))
    named = {"clusters": problem.clusters, "weights": problem.weights, "index": problem.index}
    given = {option: name for option, name in (named | others).items() if name is not None}
    roles = [text for text in (problem.endogenous, problem.instruments) if text is not None]
    labels = [problem.target] if problem.recipe.classify else []
    columns = choose(
        source,
        problem.target,
        with_roles(problem.features, roles, source.names),
        given,
        labels=[*labels, *([given["clusters"]] if "clusters" in given else [])],
        categorical=problem.categorical,
        drop_missing=problem.drop_missing,
    )
    return source, replace(columns, decimal=problem.decimal or ".")


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
    """Find the columns; without ``inputs``, only named ones (by ``asked_by``) are features."""
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
    if features is not None:
        chosen = split_names(features, source.names)
        _check_features(source, chosen, special, asked_by)
    elif inputs:
        free = [name for name in source.names if name not in special.values()]
        unnamed = [name for name in free if not name or _UNNAMED.fullmatch(name)]
        chosen = [name for name in free if name not in unnamed]
        if not chosen:
            raise ValueError(
                f"{source.path.name} has no column for the inputs: expected at least one beside "
                f"{joined(map(repr, special.values()))}, given none. Add one, or name it with "
                "--features."
            )
        _check_features(source, chosen, special, asked_by)
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


def _check_features(
    source: Source, chosen: list[str], special: Mapping[str, str], option: str
) -> None:
    """Refuse features that are not there, that are there twice, or that have another meaning."""
    _require(source.names, chosen, source.path)
    taken = special.values()
    wrong = [name for name in chosen if name in taken or chosen.count(name) > 1]
    if wrong or not chosen:
        none_of = " nor ".join(f"the {meaning}" for meaning in special)
        raise ValueError(
            f"--{option} does not name the inputs: expected different columns, "
            f"{'neither' if len(special) > 1 else 'not'} {none_of}, given "
            f"{repr(wrong[0]) if wrong else 'none'}. Name at least one other column."
        )


def split_names(text: str, known: Sequence[str]) -> list[str]:
    """Return the columns in a list with commas; names may have commas of their own, or quotes."""
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


def with_roles(features: str | None, roles: Sequence[str], known: Sequence[str]) -> str | None:
    """Add columns that have a role to the features that were named; None if none were."""
    if features is None:
        return None
    names = [name for text in (features, *roles) for name in split_names(text, known)]
    quoted = [f'"{name}"' if "," in name else name for name in dict.fromkeys(names)]
    return ",".join(quoted if roles else [features])


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
    frame = columns.inputs(source.whole())
    for name, known in categories.items():
        new = [level for level in frame[name] if level not in known]
        if new:
            raise ValueError(
                f"the column {name!r} of {source.path.name} has a category that the data do not "
                f"have: expected one of {', '.join(map(repr, known))}, given {new[0]!r}. Correct "
                "the file."
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
            marks = [mark for mark in (";", "\t", "|") if len(columns) == 1 and mark in columns[0]]
            remedy = "Check the spelling."
            if marks:
                quoted = "tab" if marks[0] == "\t" else f'"{marks[0]}"'
                remedy = f"If columns are separated by {marks[0]!r}, add --sep {quoted}."
            raise ValueError(
                f"the column {name!r} is not in {path.name}: expected one of "
                f"{', '.join(map(repr, columns))}, given {name!r}. {remedy}"
            )


def _is_numeric(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column))


def _is_date(column: pd.Series) -> bool:
    """Whether a column holds dates, as such or as text."""
    if column.dtype.kind == "M":
        return True
    values = column.dropna()
    if _is_numeric(column) or not len(values) or not isinstance(values.iloc[0], str):
        return False
    return bool(values.astype(str).str.fullmatch(_DATE).all())


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
    X = frame[[name for name in columns.features if name not in columns.categorical]].to_numpy()
    if said or not _is_numeric(y) or len(X) <= X.shape[1] + 1:
        return said
    centred, z = X - X.mean(axis=0), y.to_numpy() - y.mean()
    scale = np.linalg.norm(centred, axis=0)
    centred = centred / np.where(scale > 0, scale, 1)
    found = np.linalg.lstsq(centred, z, rcond=None)[0]
    if np.linalg.norm(z - centred @ found) > EXACT * np.linalg.norm(z):
        return said
    names = [c for c in columns.features if c not in columns.categorical]
    used = [n for n, b in zip(names, found, strict=True) if abs(b) > EXACT * np.abs(found).max()]
    if len(used) == 1:
        return [f"Warning: {used[0]} determines the target, {rest}"]
    return [f"Warning: {joined(used)} together determine the target, {rest.replace('it', 'one')}"]


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

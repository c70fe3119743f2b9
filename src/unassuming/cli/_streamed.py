"""Whether a table is streamed, and the region of a streamed table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from unassuming.cli._built import Built
from unassuming.cli._pass import Checkpoint, Pass, Scanned, run_pass
from unassuming.cli._terminal import say
from unassuming.cli.options import RECIPES, Model, Problem
from unassuming.cli.tables import SIZE, Columns, Kind, Source, Term, require_observations
from unassuming.noise import as_noise
from unassuming.ranking import Level
from unassuming.streaming import DEFAULT_CELLS

LARGE = 5_000_000
"""Larger tables, in bytes, are streamed if the model allows it: a region in memory takes some
hundred times the size of the table."""

_STREAMED = (Model.SPLINE, Model.RIDGE, Model.OLS)


@dataclass(frozen=True)
class Streaming:
    """The options about streaming.

    Attributes
    ----------
    wanted : bool or None
        None: stream if the table is large.
    every : float
        Seconds between checkpoints.
    values : bool
        Whether values of a function of bounded norm are wanted one at a time, which needs all rows.
    """

    wanted: bool | None
    checkpoint: Path | None = None
    every: float = 30.0
    values: bool = False

    def decide(self, problem: Problem, source: Source, columns: Columns) -> bool:
        """Return whether to stream; refuse if that is impossible, note a large file in memory."""
        if self.checkpoint is not None and self.wanted is False:
            raise ValueError(
                "--checkpoint needs a stream: expected --stream, given --no-stream. Leave one of "
                "the two out."
            )
        asked = self.wanted or self.checkpoint is not None
        against = _against(problem)
        if not source.streams:
            against = f"the file {source.path.name}", "CSV or Parquet"
        if self.values:
            against = "--pointwise with --norm-bound", "one of the two"
        if against is None:
            return asked or (self.wanted is None and source.size(columns.names) > LARGE)
        given, expected = against
        if asked:
            option = "--stream" if self.checkpoint is None else "--checkpoint"
            raise ValueError(
                f"{given} needs all rows at once: expected {expected} with {option}, given "
                f"{given}. Without {option} the table is read into memory."
            )
        if self.wanted is None and source.size(columns.names) > LARGE:
            say(
                "note",
                f"{source.path.name} is large and is read into memory as a whole, since {given} "
                f"needs all rows at once; it would be streamed with {expected}.",
            )
        return False


def _against(problem: Problem) -> tuple[str, str] | None:
    """Return an option that prevents streaming, and the value it should have."""
    if problem.model not in _STREAMED:
        return f"--model {problem.model}", " or ".join(_STREAMED)
    if problem.m == "all":
        return "--m all", "a number"
    for option in ("clusters", "weights", "categorical"):
        if getattr(problem, option) is not None:
            return f"--{option} {getattr(problem, option)}", f"no --{option}"
    if problem.blocks is None and not isinstance(as_noise(problem.noise or "symmetric"), RowNoise):
        return f"--noise {problem.noise}", "symmetric"
    return None


def build_streamed(
    problem: Problem,
    source: Source,
    columns: Columns,
    streaming: Streaming,
    *,
    single: bool = False,
) -> Built:
    """Build the region from chunks of the table.

    With ``single`` the region serves single numbers alone: its cells count, and the number of
    transformations does not.
    """
    p, settings = len(columns.features), problem.settings | {"cells": DEFAULT_CELLS}
    lines = tuple(Term(name, Kind.LINE) for name in columns.features)
    problem.estimator(lines)  # wrong options and levels are reported before the file is read
    if single:
        settings["m"] = 2
    for level in () if single else problem.levels:
        Level.at_least(level, settings["m"])
    checkpoint = None
    if streaming.checkpoint is not None:
        identity = _identity(problem, source, columns)
        checkpoint = Checkpoint(streaming.checkpoint, streaming.every, identity)

    def make(scanned: Scanned | None) -> Any:
        estimator = problem.estimator(lines if scanned is None else scanned.terms)
        if isinstance(estimator, Pipeline):  # the knots are given: no row is needed
            estimator[:-1].fit(pd.DataFrame(np.zeros((2, p)), columns=columns.features))
        return estimator

    def choose(sample: pd.DataFrame, rows: int) -> tuple[Term, ...]:
        return problem.terms(sample, columns, rows)

    wanted = choose if problem.model is Model.SPLINE else None
    state = run_pass(source, columns, make, settings, checkpoint, choose=wanted)
    require_observations(state.stream.n, source.path)
    sample = state.sample.values
    return Built(
        region=state.stream.region(),
        X=pd.DataFrame(sample[:, :p], columns=columns.features),
        y=sample[:, p],
        ranges=state.ranges,
        terms=lines if state.scanned is None else state.scanned.terms,
        columns=columns,
        dropped=state.dropped,
        remarks=_remarks(state, source, checkpoint, shown=not single),
    )


def _identity(problem: Problem, source: Source, columns: Columns) -> dict[str, str]:
    """Return everything that the sums depend on; levels, inputs and norm bound are not part."""
    chosen = RECIPES[problem.model].defaults | problem.options
    return {
        "file": f"{source.path.name} ({source.fingerprint()})",
        "--target": columns.target,
        "list of features": ",".join(columns.features),
        "--model": str(problem.model),
        **{f"--{name}": repr(float(value)) for name, value in sorted(chosen.items())},
        "--noise": problem.noise or "symmetric",
        "--blocks": str(problem.blocks),
        "--knots": str(problem.knots),
        "--m": str(problem.settings["m"]),
        "number of cells": str(DEFAULT_CELLS),
        "--seed": str(problem.seed),
        "choice of --drop-missing": "yes" if problem.drop_missing else "no",
    }


def _remarks(
    state: Pass, source: Source, checkpoint: Checkpoint | None, *, shown: bool
) -> list[str]:
    n = state.stream.n
    remarks = [f"{source.path.name} was read in chunks; only sums over its {n} rows were kept."]
    if shown and n > SIZE:
        remarks[0] += f" The rows shown are a random sample of {SIZE}, drawn with the seed."
    if checkpoint is not None:
        remarks.append(
            f"The sums are kept in {checkpoint.path}: with it, the same command with other "
            "--level, --at, --norm-bound or --pointwise does not read the data again."
        )
    return remarks

"""Whether a table is streamed, and its region if it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unassuming.cli._built import Built
from unassuming.cli._models import RECIPES, Model, build
from unassuming.cli._pass import Checkpoint, Pass, run_pass
from unassuming.cli._sample import SIZE
from unassuming.cli._sources import Ranges, Source
from unassuming.cli._tables import Columns, require_rows
from unassuming.cli._terminal import say
from unassuming.noise import RowNoise, as_noise
from unassuming.ranking import Level

LARGE = 5_000_000
"""Bytes beyond which a table is streamed, if the model can be: a region in memory takes some
hundred times the table."""

_STREAMED = (Model.SPLINE, Model.RIDGE, Model.OLS)


@dataclass(frozen=True)
class Streaming:
    """What was asked for on the command line.

    Attributes
    ----------
    wanted : bool or None
        None: if the table is large.
    checkpoint : Path or None
    every : float
        Seconds between checkpoints.
    """

    wanted: bool | None
    checkpoint: Path | None
    every: float

    def decide(
        self, source: Source, columns: Columns, model: Model, settings: dict[str, Any]
    ) -> bool:
        """Return whether to stream; refuse what cannot be, and say when a large file is not."""
        against = _against(model, settings)
        if self.checkpoint is not None and self.wanted is False:
            raise ValueError(
                "--checkpoint needs a stream: expected --stream, given --no-stream. Leave one of "
                "the two out."
            )
        asked = "--stream" if self.checkpoint is None else "--checkpoint"
        if (self.wanted or self.checkpoint is not None) and against is not None:
            name, expected, given = against
            raise ValueError(
                f"{name} {given} needs all rows at once: expected {expected} with {asked}, given "
                f"{given}. Leave {asked} out, and the table is read into memory."
            )
        if self.wanted is not None or self.checkpoint is not None:
            return self.wanted is not False
        large = source.size(columns.names) > LARGE
        if large and against is not None:
            name, expected, given = against
            say(
                "note",
                f"{source.path.name} is large and read into memory as a whole, since {name} "
                f"{given} needs all rows at once; it would be streamed with {expected}.",
            )
        return large and against is None


def _against(model: Model, settings: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return which option keeps a table from being streamed, what it would have to be, and is."""
    if model not in _STREAMED:
        return "--model", " or ".join(_STREAMED), model
    if settings["m"] == "group":
        return "--m", "a number", "group"
    noise = settings["noise"]
    if noise is not None and not isinstance(as_noise(noise), RowNoise):
        return "--noise", "symmetric", noise
    return None


def build_streamed(
    source: Source,
    columns: Columns,
    model: Model,
    options: dict[str, Any],
    settings: dict[str, Any],
    levels: list[float],
    streaming: Streaming,
    *,
    drop_missing: bool,
) -> Built:
    """Read the table chunk by chunk."""
    p = len(columns.features)
    build(model, (2, p), options)  # what is wrong with the options or levels is told first
    for level in levels:
        Level.exactly(level, settings["m"])
    checkpoint = None
    if streaming.checkpoint is not None:
        identity = _identity(source, columns, model, options, settings, drop_missing=drop_missing)
        checkpoint = Checkpoint(streaming.checkpoint, streaming.every, identity)

    def make(ranges: Ranges | None) -> Any:
        if ranges is None:
            return build(model, (2, p), options)
        require_rows(ranges.rows, 2, source.path, "Pass more observations.")
        estimator = build(model, (ranges.rows, p), options)
        # Uniform knots follow from the range of each feature: those of the table in memory.
        extremes = np.vstack([ranges.low, ranges.high])
        estimator[:-1].fit(pd.DataFrame(extremes, columns=columns.features))
        return estimator

    state = run_pass(
        source,
        columns,
        make,
        settings,
        checkpoint,
        drop_missing=drop_missing,
        scan=model is Model.SPLINE,
    )
    require_rows(state.stream.n, 2, source.path, "Pass more observations.")
    sample = state.sample.values
    return Built(
        region=state.stream.region(),
        X=pd.DataFrame(sample[:, :p], columns=columns.features),
        y=sample[:, p],
        low=state.low,
        high=state.high,
        dropped=state.dropped,
        remarks=_remarks(state, source, checkpoint),
    )


def _identity(
    source: Source,
    columns: Columns,
    model: Model,
    options: dict[str, Any],
    settings: dict[str, Any],
    *,
    drop_missing: bool,
) -> dict[str, str]:
    """Return all that the sums depend on. Levels, inputs of the band and its norm are not of it."""
    chosen = RECIPES[model].defaults | options
    return {
        "file": f"{source.path.name} ({source.fingerprint()})",
        "--target": columns.target,
        "list of features": ",".join(columns.features),
        "--model": str(model),
        **{f"--{name}": repr(float(value)) for name, value in sorted(chosen.items())},
        "--noise": settings["noise"] or "symmetric",
        "--m": str(settings["m"]),
        "--seed": str(settings["random_state"]),
        "choice of --drop-missing": "yes" if drop_missing else "no",
    }


def _remarks(state: Pass, source: Source, checkpoint: Checkpoint | None) -> list[str]:
    n = state.stream.n
    said = [f"{source.path.name} was read in chunks, and only sums over its {n} rows were kept."]
    if n > SIZE:
        said[0] += (
            f" Where rows themselves are shown, they are {SIZE} of them, drawn at random with the "
            "seed."
        )
    if checkpoint is not None:
        said.append(
            f"The sums stay in {checkpoint.path}: with it, the same command with other --level, "
            "--at or --norm-bound does not read the data again."
        )
    return said

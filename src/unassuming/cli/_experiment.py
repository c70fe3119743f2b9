"""``unassuming experiment``: a constant effect of a randomised treatment, from a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

from unassuming.cli._built import like
from unassuming.cli.tables import (
    Loaded,
    Reading,
    Term,
    choose,
    choose_terms,
    encoder,
    in_words,
    load,
    open_source,
)
from unassuming.experiments import AssignmentTest, assignment_test


@dataclass(frozen=True)
class Trial:
    """The columns of an experiment, as they were given; ``roles`` by option, some of them None."""

    data: Path
    target: str
    roles: dict[str, str | None]
    controls: str | None
    reading: Reading
    drop_missing: bool

    def load(self) -> Loaded:
        """Read the table."""
        roles = {option: name for option, name in self.roles.items() if name is not None}
        source = open_source(self.data, self.reading)
        columns = choose(
            source,
            self.target,
            self.controls,
            roles,
            labels=list(roles.values()),
            drop_missing=self.drop_missing,
            inputs=False,
            asked_by="controls",
        )
        return load(source, columns)


def run(trial: Trial, treated: str | None, levels: list[float], settings: dict[str, Any]) -> None:
    """Test the effect, and print the interval of each level."""
    table = trial.load()
    roles: dict[str, Any] = {
        option: None if name is None else table.frame[name].to_numpy()
        for option, name in trial.roles.items()
    }
    X, terms = table.X, tuple[Term, ...]()
    if X.shape[1]:
        terms = choose_terms(X, table.columns.categorical, rows=len(X), splines=False)
    coded = encoder(terms)
    controls = None if not terms else np.asarray(X if coded is None else coded.fit_transform(X))
    first, *others = sorted(levels, reverse=True)
    if treated is not None:
        settings = {**settings, "treated": _value(treated, roles["treatment"].tolist(), trial)}
    result = assignment_test(
        table.y.to_numpy(), **roles, controls=controls, level=first, **settings
    )
    named = ", ".join(f"{option} {name}" for option, name in trial.roles.items() if name)
    typer.echo(f"{trial.data.name}: target {trial.target}, {named}\n")
    typer.echo(f"{_treated(trial, result, chosen=treated is not None)}\n")
    if table.dropped:
        typer.echo(f"{table.dropped} rows with missing values are left out.\n")
    if terms:
        typer.echo(f"Controls: {', '.join(table.columns.features)}.")
        for sentence in in_words(terms, splines=False):
            typer.echo(sentence)
        typer.echo("")
    typer.echo(str(result))
    for level in others:
        typer.echo(f"Interval {result.interval_at(level)}.")


def _value(treated: str, column: list[Any], trial: Trial) -> Any:
    """Return the value of treated rows in the type of the column; refuse one that is not there."""
    value = like(treated, column[0])
    if value not in column:
        values = " or ".join(map(str, dict.fromkeys(column[:1000])))
        raise ValueError(
            f"--treated is not a value of the column {trial.roles['treatment']}: expected "
            f"{values}, given {treated}. Name the value of the treated rows."
        )
    return value


def _treated(trial: Trial, result: AssignmentTest, *, chosen: bool) -> str:
    """Say which rows count as treated, and how to choose the others."""
    without, treated = result.experiment.names
    rows = f"Rows whose {trial.roles['treatment']} is {treated}"
    if chosen:
        return f"{rows} count as treated."
    return (
        f"{rows}, the later of its two values in order, count as treated. --treated {without} "
        "chooses the others."
    )

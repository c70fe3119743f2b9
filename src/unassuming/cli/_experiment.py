"""``unassuming experiment``: a constant effect of a randomised treatment, from a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import typer

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
from unassuming.experiments import assignment_test


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


def run(trial: Trial, levels: list[float], settings: dict[str, Any]) -> None:
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
    result = assignment_test(
        table.y.to_numpy(), **roles, controls=controls, level=first, **settings
    )
    named = ", ".join(f"{option} {name}" for option, name in trial.roles.items() if name)
    typer.echo(f"{trial.data.name}: target {trial.target}, {named}\n")
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

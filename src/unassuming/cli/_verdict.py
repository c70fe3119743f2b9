"""``unassuming test``: the rank and the p-value of a candidate in a column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from unassuming.cli._models import RECIPES, Model, build
from unassuming.cli._sources import open_source
from unassuming.cli._tables import choose, load
from unassuming.cli._terminal import print_table
from unassuming.regions import confidence_region


def run(
    data: Path,
    target: str,
    candidate: str,
    features: str | None,
    model: Model,
    options: dict[str, Any],
    settings: dict[str, Any],
    levels: list[float],
    *,
    drop_missing: bool,
) -> None:
    """Test the hypothesis that the column holds the noise-free target."""
    classify = RECIPES[model].classify
    source = open_source(data)
    columns = choose(source, target, features, candidate, labels=classify)
    table = load(source, columns, drop_missing=drop_missing)
    estimator = build(model, table.X.shape, options)
    region = confidence_region(estimator, table.X, table.y.to_numpy(), **settings)
    used = [region.level(level) for level in levels]
    result = region.test(lambda _: table.candidate)
    noise_free = f"the noise-free {target}"
    classes = region.problem.classes
    if classes is not None:
        noise_free = f"E[y|x], with y = 1 where {target} is {classes[1]} and -1 elsewhere,"
    dropped = f" ({table.dropped} with missing values dropped)" if table.dropped else ""
    typer.echo(f"{region}\n")
    typer.echo(
        f"Hypothesis: the column {candidate} is {noise_free} at the {region.n} rows{dropped}."
    )
    typer.echo(f"{result}\n")
    rows = [
        (f"{float(level):.6g}", "inside" if result.rank <= level.largest_rank else "outside")
        for level in sorted(used, key=float, reverse=True)
    ]
    print_table(("level", "candidate"), rows, right=1)
    closing = "The p-value is a test only if the column was not fitted to these rows of the target."
    if region.caveat:
        closing = f"The p-value is not that of a test: {region.caveat}"
    typer.echo(f"\n{closing}")

"""``unassuming test``: the rank and the p-value of a candidate in a column."""

from __future__ import annotations

import typer

from unassuming.cli._built import region_in_memory
from unassuming.cli._estimators import in_short
from unassuming.cli._terminal import print_table
from unassuming.cli.options import Model, Problem
from unassuming.cli.tables import Columns, Source, in_words, load
from unassuming.regions import Language


def run(problem: Problem, source: Source, columns: Columns, candidate: str) -> None:
    """Test the hypothesis that the column contains the noise-free target."""
    table = load(source, columns)
    frame, dropped = table.frame, table.dropped
    region, terms = region_in_memory(problem, table)
    levels = sorted((region.level(level) for level in problem.levels), key=float, reverse=True)
    result = region.test(lambda _: frame[candidate].to_numpy())
    noise_free = f"the noise-free {problem.target}"
    if region.objective.quantile is not None:
        noise_free = region.problem.truth
    if region.objective.endogenous:
        noise_free = f"{region.problem.truth} of {problem.target}"
    classes = region.problem.classes
    if classes is not None:
        noise_free = f"E[y|x], with y = 1 where {problem.target} is {classes[1]} and -1 elsewhere,"
    without = f" ({dropped} with missing values dropped)" if dropped else ""
    features = ", ".join(table.columns.features)
    others = (
        "All other columns are features. If one of them holds candidate values as well, name the "
        "features with --features."
    )
    for sentence in (
        f"{problem.data.name}: target {problem.target}, candidate {candidate}, features {features}",
        *([others] if problem.features is None and len(table.columns.features) > 1 else []),
        *table.columns.remarks,
        *in_words(terms, splines=problem.model is Model.SPLINE),
    ):
        typer.echo(f"{sentence}\n")
    model = in_short(problem.model, region.estimator, terms)
    typer.echo(f"{region.text(Language.COMMAND_LINE, model)}\n")
    typer.echo(
        f"Hypothesis: the column {candidate} is {noise_free} at the {region.n} rows{without}."
    )
    typer.echo(f"{result}\n")
    rows = [
        (f"{float(level):.6g}", "inside" if result.rank <= level.largest_rank else "outside")
        for level in levels
    ]
    print_table(("level", "candidate"), rows, right=1)
    closing = "The p-value is a test only if the column was not fitted to these rows of the target."
    if region.caveat:
        closing = f"The p-value is not a valid test: {region.caveat}"
    typer.echo(f"\n{closing}")

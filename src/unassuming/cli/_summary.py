"""``unassuming summary``: an interval and a p-value for each coefficient, one at a time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import typer

from unassuming import plots
from unassuming.cli._built import build_in_memory
from unassuming.cli._files import check_writable, draw, remove_others, write_summaries
from unassuming.cli._streamed import Streaming, build_streamed
from unassuming.cli._terminal import stages
from unassuming.cli.options import Problem
from unassuming.cli.reports import checks
from unassuming.cli.tables import Columns, Source
from unassuming.plots.coefficients import forest_height, has_finite_end, on_one_scale
from unassuming.regions import Language


def run(
    problem: Problem, source: Source, columns: Columns, out: Path, streaming: Streaming
) -> None:
    """Summarise the model at each level, print the summaries, write the files."""
    check_writable(out, "--out")
    if streaming.decide(problem, source, columns):
        built = build_streamed(problem, source, columns, streaming, single=True)
    else:
        built = build_in_memory(problem, source, columns)
    with stages(2) as begin:
        begin("intervals")
        levels = sorted(set(problem.levels), reverse=True)
        model = built.model(problem)
        summaries = [replace(built.region.summary(level), model=model) for level in levels]
        begin("files")
        out.mkdir(parents=True, exist_ok=True)
        written = write_summaries(built.region, summaries, built.about(problem), out)
        shown = next(filter(has_finite_end, summaries), None)
        which = [] if shown is None else on_one_scale(shown)
        picture = {} if shown is None else {"forest.png": partial(plots.forest, shown, which)}
        drawn, missing = draw(picture, out, forest_height(len(which)))
        written += drawn
        remove_others("summary", out, written)
    typer.echo(f"{built.heading(problem)}\n")
    for summary in summaries:
        typer.echo(f"{summary.text(Language.COMMAND_LINE)}\n")
    for remark in [*checks(built.region), *built.remarks]:
        typer.echo(f"{remark}\n")
    if shown is None:
        typer.echo("No picture: no interval has a finite end.\n")
    elif drawn and len(which) < len(shown):
        typer.echo("The picture leaves out the intercept, which has a different scale.\n")
    typer.echo(f"Wrote {', '.join(map(str, written))}.{missing}")

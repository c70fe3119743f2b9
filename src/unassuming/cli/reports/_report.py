"""``unassuming report``: one HTML file with everything."""

from __future__ import annotations

import shlex
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import typer

from unassuming import report as reports
from unassuming.cli._built import build_in_memory
from unassuming.cli._terminal import stages
from unassuming.cli.options import Problem
from unassuming.cli.tables import Columns, Source
from unassuming.plots.canvas import require_matplotlib
from unassuming.regions import Language


def write_report(
    problem: Problem,
    source: Source,
    columns: Columns,
    norm_bound: float | None,
    out: Path,
    title: str | None,
) -> None:
    """Build the region, write the report, print its warnings."""
    require_matplotlib()
    _check_writable(out)
    built = build_in_memory(problem, source, columns)
    with stages(2) as begin:
        begin("intervals, bands and checks")
        content = reports.collect(
            built.region,
            target=problem.target,
            title=title,
            levels=problem.levels,
            norm_bound=norm_bound,
            model=built.model(problem),
            code=command(problem, {"norm_bound": norm_bound, "title": title, "out": out.name}),
            language=Language.COMMAND_LINE,
        )
        begin("file")
        out.write_text(reports.render(content), encoding="utf-8", newline="\n")
    typer.echo(f"{built.heading(problem)}\n")
    for warning in content.warnings:
        typer.echo(f"Warning: {warning}\n")
    for remark in built.remarks:
        typer.echo(f"{remark}\n")
    typer.echo(f"Wrote {out}.")


def command(problem: Problem, more: dict[str, Any]) -> str:
    """Return the command that makes the report again, with every option that is not the default."""
    words = ["unassuming", "report", problem.data.name]
    for field in fields(problem):
        value = getattr(problem, field.name)
        if field.name == "data" or (field.default is not MISSING and value == field.default):
            continue
        name = {"levels": "level"}.get(field.name, field.name).replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            words += [f"--{name}"] if one is True else [f"--{name}", str(one)]
    for option, value in more.items():
        if value is not None:
            words += [f"--{option.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _check_writable(out: Path) -> None:
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(
            f"--out cannot be written: expected a file in a directory that exists, given {out}. "
            "Try --out report.html."
        )

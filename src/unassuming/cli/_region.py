"""``unassuming region``: a report of assumptions and bounds, and files with the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

from unassuming._typing import Array
from unassuming.cli._built import build_in_memory
from unassuming.cli._files import (
    WITHOUT_NUMBERS,
    check_writable,
    draw,
    pictures,
    remove_others,
    without_picture,
    write_band,
    write_region,
)
from unassuming.cli._findings import Answer, Findings, examine
from unassuming.cli._sentences import sentences
from unassuming.cli._streamed import Streaming, build_streamed
from unassuming.cli._terminal import print_table, stages
from unassuming.cli.options import Model, Problem
from unassuming.cli.reports import checks
from unassuming.cli.tables import Columns, Kind, Source, Term, load_inputs, open_source
from unassuming.plots.canvas import percent
from unassuming.regions import Language, Status

_LONGEST = 31
"""Coefficients that the screen shows, an intercept and 30 others; the file contains all."""
_FEWEST_KNOTS = 2
_STATUS = {
    Status.CERTIFIED: "certified",
    Status.ALL_AT_ONCE: "certified",
    Status.ONE_BY_ONE: "certified",
    Status.UNBOUNDED: "unbounded",
    Status.NOT_CERTIFIED: "not certified",
    Status.UNDETERMINED: "undetermined",
    Status.NO_OUTER_BOUND: "no outer bound",
    Status.TRIVIAL: "trivial",
    Status.EMPTY: "empty",
    Status.SOME_EMPTY: "partly empty",
    Status.TOO_FEW_CELLS: "too few cells",
    Status.ENDLESS_SET: "unbounded",
    Status.SEVERAL_PARTS: "several parts",
}
"""The word for a band in the table."""


def run(
    problem: Problem,
    source: Source,
    columns: Columns,
    norm_bound: float | None,
    at: Path | None,
    out: Path,
    streaming: Streaming,
    *,
    pointwise: bool,
    method: str,
) -> None:
    """Build the region, print a report, write the files."""
    if pointwise and problem.model is Model.IV:
        raise ValueError(
            "--pointwise does not go with --model iv: expected simultaneous bounds, given "
            "--pointwise. Leave it out, or use unassuming summary for the endogenous column alone."
        )
    there = None if at is None else open_source(at, problem.reading)
    check_writable(out, "--out")
    if streaming.decide(problem, source, columns):
        built = build_streamed(problem, source, columns, streaming)
    else:
        built = build_in_memory(problem, source, columns)
    with stages(2) as begin:
        begin("bounds")
        wanted = built.inputs()
        if there is not None:
            wanted = load_inputs(there, built.columns, built.terms)
        findings = examine(
            built.region,
            wanted,
            problem.levels,
            norm_bound,
            pointwise=pointwise,
            method=method,
        )
        begin("files")
        out.mkdir(parents=True, exist_ok=True)
        write_region(findings, built.about(problem), built.model(problem), out / "region.json")
        written = [out / "region.json"]
        if write_band(findings, out / "band.csv"):
            written.append(out / "band.csv")
        without = without_picture(findings, built)
        drawn, missing = draw(pictures(findings, built, problem.target), out)
        written += drawn
        remove_others("region", out, written)
    typer.echo(f"{built.heading(problem)}\n")
    typer.echo(f"{built.region.text(Language.COMMAND_LINE, built.model(problem))}\n")
    _print_findings(findings, built.terms)
    for remark in (*checks(built.region), *built.remarks, *without):
        typer.echo(f"{remark}\n")
    typer.echo(f"Wrote {', '.join(map(str, written))}.{missing}")


def _print_findings(findings: Findings, terms: Sequence[Term]) -> None:
    rows = []
    for level in findings.levels:
        band = findings.bands.by_level.get(level)
        rows.append(
            (
                f"{level:.6g}",
                _verdict(findings, level),
                "not available" if band is None else _STATUS[band.status],
                "" if band is None or band.status in WITHOUT_NUMBERS else _width(band),
            )
        )
    print_table(("level", "region", "band", "half-width"), rows, right=3)
    typer.echo()
    if findings.intervals is None:
        count = len(findings.region.names)
        typer.echo(f"The estimate has {count} dual coefficients: see region.json.\n")
    elif findings.estimate is not None:
        _print_coefficients(findings, findings.estimate, findings.intervals, terms)
    knots = any(len(term.knots) > _FEWEST_KNOTS for term in terms)
    for sentence in sentences(findings, knots=knots):
        typer.echo(f"{sentence}\n")


def _verdict(findings: Findings, level: float) -> str:
    """Return whether the region is bounded: it is if all its coefficients have finite bounds."""
    found = findings.bounded.by_level.get(level)
    intervals = None if findings.intervals is None else findings.intervals.by_level.get(level)
    if intervals is not None and findings.norm_bound is None:
        joint = intervals.method == "joint region" and intervals.status is Status.CERTIFIED
        if joint and np.isfinite(intervals.upper - intervals.lower).all():
            return "bounded"
    return "not known" if found is None else str(found.verdict)


def _width(band: Any) -> str:
    """Return the smallest and the largest half-width of a band."""
    half = (band.upper - band.lower) / 2
    return f"{np.nanmin(half):.4g} to {np.nanmax(half):.4g}"


def _print_coefficients(
    findings: Findings, estimate: Array, intervals: Answer, terms: Sequence[Term]
) -> None:
    """Print the coefficients of lines and indicators; those of splines mean nothing alone."""
    names = findings.region.names
    of_splines = {name for term in terms if term.kind is Kind.SPLINE for name in term.features}
    hidden = of_splines | {"intercept"} if of_splines else of_splines
    head = ["coefficient", "estimate", *map(percent, intervals.by_level)]
    rows = [
        [name, f"{value:.4g}", *(_bounds(interval, j) for interval in intervals.by_level.values())]
        for j, (name, value) in enumerate(zip(names, estimate, strict=True))
        if name not in hidden
    ]
    if rows:
        print_table(head, rows[:_LONGEST], right=1)
    if len(rows) > _LONGEST:
        typer.echo(f"and {len(rows) - _LONGEST} more in region.json")
    if hidden:
        typer.echo(
            f"The intercept and the {len(of_splines)} coefficients of splines, which have no "
            "meaning one by one, are in region.json."
        )
    typer.echo()


def _bounds(interval: Any, j: int) -> str:
    if np.isnan(interval.lower[j]):
        return "empty"
    return f"[{interval.lower[j]:.4g}, {interval.upper[j]:.4g}]"

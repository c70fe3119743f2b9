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
from unassuming.cli._problem import Problem
from unassuming.cli._sources import open_source
from unassuming.cli._streamed import Streaming, build_streamed
from unassuming.cli._tables import load_inputs
from unassuming.cli._terminal import print_table, stages
from unassuming.cli._terms import Kind, Term
from unassuming.inputs import check_norm_bound
from unassuming.noise import Labels
from unassuming.plots import percent
from unassuming.regions import Language, Status

_LONGEST = 20
"""Coefficients that the screen shows; the file contains all."""
_FINITE = (Status.ALL_AT_ONCE, Status.ONE_BY_ONE)
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
    Status.TOO_FEW_CELLS: "too few cells",
}
"""The word for a band in the table."""


def run(
    problem: Problem,
    norm_bound: float | None,
    at: Path | None,
    out: Path,
    streaming: Streaming,
    *,
    pointwise: bool,
    method: str,
) -> None:
    """Build the region, print a report, write the files."""
    source = problem.open()
    columns = problem.columns(source)
    there = None if at is None else open_source(at, problem.reading)
    check_norm_bound(norm_bound)
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
        without = without_picture(findings) if built.one_number or built.two_classes else []
        drawn, missing = draw(pictures(findings, built, problem.target), out)
        written += drawn
        remove_others("region", out, written)
    typer.echo(f"{built.heading(problem)}\n")
    typer.echo(f"{built.region.text(Language.COMMAND_LINE, built.model(problem))}\n")
    _print_findings(findings, built.terms)
    for remark in (*built.remarks, *without):
        typer.echo(f"{remark}\n")
    typer.echo(f"Wrote {', '.join(map(str, written))}.{missing}")


def _print_findings(findings: Findings, terms: Sequence[Term]) -> None:
    rows = []
    for level in findings.levels:
        verdict = findings.bounded.by_level.get(level)
        band = findings.bands.by_level.get(level)
        rows.append(
            (
                f"{level:.6g}",
                "not known" if verdict is None else verdict.verdict,
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
    for sentence in _sentences(findings):
        typer.echo(f"{sentence}\n")


def _width(band: Any) -> str:
    """Return the smallest and the largest half-width of a band."""
    half = (band.upper - band.lower) / 2
    return f"{half.min():.4g} to {half.max():.4g}"


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
            f"The intercept and the {len(of_splines)} coefficients of splines, which mean nothing "
            "one by one, are in region.json."
        )
    typer.echo()


def _bounds(interval: Any, j: int) -> str:
    if interval.status is Status.EMPTY:
        return "empty"
    return f"[{interval.lower[j]:.4g}, {interval.upper[j]:.4g}]"


def _sentences(findings: Findings) -> list[str]:
    """Explain what the band covers, why bounds are infinite or missing, and the remedies."""
    found = findings.bands.by_level
    # Where the region of a level is empty, what is assumed is refuted at the lower levels too.
    refuted = max((p for p, band in found.items() if band.status is Status.EMPTY), default=0.0)
    bands = [band for p, band in found.items() if p > refuted]
    sentences = _outside(findings)
    if any(np.isfinite(band.upper - band.lower).any() for band in bands):
        sentences.append(_covers(findings, bands[0]))
        sentences.append(_coefficients_cover(findings))
        sentences += _attained(findings)
    sentences += [*_reasons(findings), _heuristic(findings)]
    return [sentence for sentence in dict.fromkeys(sentences) if sentence]


def _outside(findings: Findings) -> list[str]:
    """Report that the estimate of a classifier leaves [-1, 1], and so lies in no region."""
    region, estimate = findings.region, findings.estimate
    if not isinstance(region.noise, Labels) or estimate is None:
        return []
    fitted = region.objective.fitted(estimate[None, :])[0]
    rows = int((np.abs(fitted) > 1).sum())
    if not rows:
        return []
    return [
        f"The estimate leaves [-1, 1] at {rows} of {len(fitted)} rows, where it cannot be E[y|x]: "
        "it lies in no region, and may lie outside its own bounds."
    ]


def _covers(findings: Findings, band: Any) -> str:
    if findings.region.caveat:
        return f"No guarantee: {findings.region.caveat}"
    kind = f"The band comes from {_source(band)}. It is simultaneous and covers"
    if findings.pointwise:
        kind = "The band is pointwise: at each input by itself it covers"
    if band.target == "function":
        return f"{kind} the function itself, if its norm is at most {findings.norm_bound:g}."
    design = findings.region.objective.design
    if design is not None and not design.spans_everything:
        return f"{kind} the noise-free function, if this lies in the span of the model's features."
    return (
        f"{kind} the ideal representation, which agrees with the noise-free function at the rows "
        "of the data and may differ from it elsewhere."
    )


def _source(bounds: Any) -> str:
    """Return where simultaneous bounds come from, with the level that balanced cells attain."""
    if bounds.method != "balanced cells":
        return "the joint region"
    attained = f"an attained level of {bounds.attained[0]:.6g} at level {bounds.level:.6g}"
    return f"balanced cells of rows, with {attained}"


def _coefficients_cover(findings: Findings) -> str:
    """Say whether the intervals of the coefficients hold by themselves or at once."""
    if findings.intervals is None or not findings.intervals.by_level or findings.region.caveat:
        return ""
    if findings.pointwise:
        return "The interval of each coefficient has its level by itself."
    first = next(iter(findings.intervals.by_level.values()))
    return f"The intervals of the coefficients come from {_source(first)}. They hold at once."


def _attained(findings: Findings) -> list[str]:
    """Return the levels that pointwise bounds attain."""
    sentences = []
    for level in findings.levels if findings.pointwise else []:
        every = [answer.by_level[level] for answer in _asked(findings) if level in answer.by_level]
        finite = [b.attained[np.isfinite(b.upper - b.lower)] for b in every]
        attained = np.unique([f"{x:.6g}" for part in finite for x in part]).tolist()
        if attained and attained != [f"{level:.6g}"]:
            several = len(attained) > 1
            words = f"levels {attained[0]} to {attained[-1]}" if several else f"level {attained[0]}"
            sentences.append(f"The finite bounds of level {level:.6g} attain the {words}.")
    return sentences


def _asked(findings: Findings) -> list[Answer]:
    return [findings.bands, *([] if findings.intervals is None else [findings.intervals])]


def _reasons(findings: Findings) -> list[str]:
    """Return the reason for each kind of infinite or missing bound, at its highest level.

    Bounds from cells have reasons at each level: where the estimate of the model lies outside.
    """
    kinds: dict[Any, str] = {}
    for answer in _asked(findings):
        if answer.refusal:
            kinds[answer.refusal] = f"Not available: {answer.refusal}"
        for level, bounds in answer.by_level.items():
            text = bounds.explanation.text(Language.COMMAND_LINE)
            if text and bounds.status in _FINITE:
                kinds[level, text] = f"At level {level:.6g}: {text[0].lower()}{text[1:]}"
            else:
                kinds.setdefault(bounds.status, text)
    return list(kinds.values())


def _heuristic(findings: Findings) -> str:
    """Return a norm bound from the data where one is a remedy, for kernels, with its caveat."""
    region, design = findings.region, findings.region.objective.design
    every = [bounds for answer in _asked(findings) for bounds in answer.by_level.values()]
    asked_for = any(bounds.explanation.asks_for_norm_bound for bounds in every)
    if not asked_for or design is None or not design.dual:
        return ""
    return (
        f"As a heuristic, twice the norm of the estimate is {region.suggest_norm_bound():.4g}. A "
        "norm bound taken from the same data voids the guarantee."
    )

"""``unassuming region``: what is assumed, what follows, and files with the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer

from unassuming.cli._built import Built
from unassuming.cli._files import check_writable, draw, remove_others, write_band, write_region
from unassuming.cli._findings import Answer, Findings, examine
from unassuming.cli._models import RECIPES, Model, build
from unassuming.cli._sources import Source, open_source
from unassuming.cli._streamed import Streaming, build_streamed
from unassuming.cli._tables import Columns, choose, load, load_inputs
from unassuming.cli._terminal import print_table, stages
from unassuming.inputs import check_norm_bound
from unassuming.noise import Labels
from unassuming.regions import Language, Status, confidence_region

_LONGEST = 20
"""Coefficients that the screen shows; the file has all."""
_WITHOUT_WIDTH = (Status.EMPTY, Status.TRIVIAL)


def run(
    data: Path,
    target: str,
    features: str | None,
    model: Model,
    options: dict[str, Any],
    settings: dict[str, Any],
    levels: list[float],
    norm_bound: float | None,
    at: Path | None,
    out: Path,
    streaming: Streaming,
    *,
    drop_missing: bool,
) -> None:
    """Build the region, print a report, write the files."""
    source = open_source(data)
    columns = choose(source, target, features, labels=RECIPES[model].classify)
    names = columns.features
    inputs = None if at is None else load_inputs(open_source(at), names)
    check_norm_bound(norm_bound)
    check_writable(out, "--out")
    if streaming.decide(source, columns, model, settings):
        built = build_streamed(
            source, columns, model, options, settings, levels, streaming, drop_missing=drop_missing
        )
    else:
        built = _in_memory(source, columns, model, options, settings, drop_missing=drop_missing)
    with stages(2) as begin:
        begin("bounds")
        asked = built.inputs() if inputs is None else inputs
        findings = examine(built.region, asked, levels, norm_bound)
        begin("files")
        out.mkdir(parents=True, exist_ok=True)
        about = {
            "data": data.name,
            "target": target,
            "features": names,
            "rows_dropped": built.dropped,
            "model": str(model),
            "options": options,
        }
        write_region(findings, about, out / "region.json")
        written = [out / "region.json"]
        if write_band(findings, out / "band.csv"):
            written.append(out / "band.csv")
        pictures, why_none = _pictures(findings, built, out, splines=model is Model.SPLINE)
        remove_others(out, [*written, *pictures])
    dropped = f", {built.dropped} rows with missing values dropped" if built.dropped else ""
    typer.echo(f"{data.name}: target {target}, features {', '.join(names)}{dropped}\n")
    typer.echo(f"{built.region}\n")
    _print_findings(findings)
    for remark in built.remarks:
        typer.echo(f"{remark}\n")
    typer.echo(f"Wrote {', '.join(str(path) for path in [*written, *pictures])}.")
    if why_none:
        typer.echo(why_none)


def _in_memory(
    source: Source,
    columns: Columns,
    model: Model,
    options: dict[str, Any],
    settings: dict[str, Any],
    *,
    drop_missing: bool,
) -> Built:
    """Read the whole table."""
    table = load(source, columns, drop_missing=drop_missing)
    estimator = build(model, table.X.shape, options)
    y = table.y.to_numpy()
    with stages(1) as begin:
        begin("building the region")
        region = confidence_region(estimator, table.X, y, **settings)
    return Built(
        region=region,
        X=table.X,
        y=region.objective.y,  # labels as ±1
        low=table.X.min().to_numpy(),
        high=table.X.max().to_numpy(),
        dropped=table.dropped,
    )


def _pictures(
    findings: Findings, built: Built, out: Path, *, splines: bool
) -> tuple[list[Path], str]:
    try:
        return draw(findings, built, out, splines=splines), ""
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        return [], 'No pictures: they need matplotlib, pip install "unassuming[plot]".'


def _print_findings(findings: Findings) -> None:
    region, levels = findings.region, findings.levels
    rows = []
    for level in levels:
        verdict = findings.bounded.by_level.get(level)
        band = findings.bands.by_level.get(level)
        rows.append(
            (
                f"{level:.6g}",
                "not known" if verdict is None else verdict.verdict,
                "not available" if band is None else band.status.name.lower().replace("_", " "),
                "" if band is None or band.status in _WITHOUT_WIDTH else _width(band),
            )
        )
    print_table(("level", "region", "band", "half-width"), rows, right=3)
    typer.echo()
    if findings.intervals is None:
        typer.echo(f"The estimate has {len(region.names)} dual coefficients: see region.json.\n")
    else:
        _print_coefficients(findings, findings.intervals)
    for sentence in _sentences(findings):
        typer.echo(f"{sentence}\n")


def _width(band: Any) -> str:
    """Return the smallest and the largest half-width of a band."""
    half = (band.upper - band.lower) / 2
    return f"{half.min():.4g} to {half.max():.4g}"


def _print_coefficients(findings: Findings, intervals: Answer) -> None:
    region = findings.region
    head = ["coefficient", "estimate", *(f"{100 * p:.6g} %" for p in intervals.by_level)]
    rows = [
        [
            name,
            f"{region.estimate[j]:.4g}",
            *(_bounds(i, j) for i in intervals.by_level.values()),
        ]
        for j, name in enumerate(region.names[:_LONGEST])
    ]
    print_table(head, rows, right=1)
    if len(region.names) > _LONGEST:
        typer.echo(f"and {len(region.names) - _LONGEST} more in region.json")
    typer.echo()


def _bounds(interval: Any, j: int) -> str:
    if interval.status is Status.EMPTY:
        return "empty"
    return f"[{interval.lower[j]:.4g}, {interval.upper[j]:.4g}]"


def _sentences(findings: Findings) -> list[str]:
    """Say what the band covers, why things are infinite or missing, and what to do here."""
    bands = findings.bands.by_level
    said = _outside(findings)
    bounds = [band for band in bands.values() if band.status is not Status.EMPTY]
    if any(np.isfinite(band.upper - band.lower).any() for band in bounds):
        said.append(_covers(findings, bounds[0]))
    said += _reasons(findings)
    if any(bounds.explanation.asks_for_norm_bound for bounds in _all_bounds(findings)):
        said.append(_heuristic(findings))
    return [sentence for sentence in dict.fromkeys(said) if sentence]


def _outside(findings: Findings) -> list[str]:
    """Say if the estimate of a classifier is the mean of no label, and so in no region."""
    region = findings.region
    if not isinstance(region.noise, Labels):
        return []
    fitted = region.objective.fitted(region.estimate[None, :])[0]
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
    if band.target == "function":
        return (
            "The band is simultaneous and covers the function itself, if its norm is at most "
            f"{findings.norm_bound:g}."
        )
    design = findings.region.objective.design
    if design is not None and not design.spans_everything:
        return (
            "The band is simultaneous and covers the noise-free function, if that lies in the span "
            "of the model's features."
        )
    return (
        "The band is simultaneous and covers the ideal representation, which agrees with the "
        "noise-free function at the rows of the data and need not elsewhere."
    )


def _asked(findings: Findings) -> list[Answer]:
    return [findings.bands, *([] if findings.intervals is None else [findings.intervals])]


def _all_bounds(findings: Findings) -> list[Any]:
    return [bounds for answer in _asked(findings) for bounds in answer.by_level.values()]


def _reasons(findings: Findings) -> list[str]:
    """Return why bounds are infinite or missing, for each kind the reason at the highest level."""
    kinds: dict[Any, str] = {}
    for answer in _asked(findings):
        if answer.refusal:
            kinds[answer.refusal] = f"Not available: {answer.refusal}"
        for bounds in answer.by_level.values():
            kinds.setdefault(bounds.status, bounds.explanation.text(Language.COMMAND_LINE))
    return list(kinds.values())


def _heuristic(findings: Findings) -> str:
    """Return a norm bound from the data, for kernels, with its caveat."""
    region = findings.region
    if region.objective.design is None or not region.objective.design.dual:
        return ""
    return (
        f"Twice the norm of the estimate is {region.suggest_norm_bound():.4g}: a heuristic from "
        "the same data, with which the guarantee is lost."
    )

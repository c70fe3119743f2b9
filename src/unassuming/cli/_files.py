"""The files of a report: the same command writes the same bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unassuming import plots
from unassuming._errors import NotAvailable
from unassuming._frames import apart
from unassuming._version import __version__
from unassuming._words import joined
from unassuming.cli._built import Built
from unassuming.cli._findings import Answer, Findings
from unassuming.cli.tables import Kind
from unassuming.regions import Language, Region, Status, Summary

_OURS = {
    "region": ("region.json", "band.csv", "band.png", "classification.png", "coefficients.png"),
    "summary": ("summary.json", "summary.csv", "forest.png"),
}
"""The files of each command."""

WITHOUT_NUMBERS = (Status.EMPTY, Status.TRIVIAL)
"""Bounds that have no width."""


def check_writable(out: Path, option: str) -> None:
    """Refuse a directory that cannot be created or written to, before the work."""
    there = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(
            f"{option} cannot be written to: expected a directory that exists or can be created, "
            f"given {out}. Choose another one."
        )


def remove_others(command: str, out: Path, written: list[Path]) -> None:
    """Remove files of an earlier run that would seem to belong to this one."""
    for name in _OURS[command]:
        if out / name not in written:
            (out / name).unlink(missing_ok=True)


def write_band(findings: Findings, path: Path) -> bool:
    """Write one row for each level and input; return False if there is no band."""
    tables = []
    for level, band in findings.bands.by_level.items():
        table = findings.inputs.reset_index(drop=True)
        attained = level if band.attained is None else band.attained
        answers = {"level": level, **band._columns()}
        answers |= {"level": level, "attained_level": attained}
        columns = {**apart(dict(table.items()), answers), **answers}
        tables.append(pd.DataFrame(columns, index=table.index))
    if tables:
        pd.concat(tables).to_csv(path, index=False, lineterminator="\n", na_rep="nan")
    return bool(tables)


def write_region(findings: Findings, about: dict[str, Any], model: str, path: Path) -> None:
    """Write assumptions and results. Infinite numbers are the strings "inf" and "-inf"."""
    region = findings.region
    content = {
        **_setting(region, about),
        "m": region.m,
        "classes": _classes(region),
        "norm_bound": findings.norm_bound,
        "simultaneous": not findings.pointwise,
        "description": region.text(Language.COMMAND_LINE, model).splitlines(),
        "estimate": None
        if findings.estimate is None
        else _by_name(region.names, findings.estimate),
        "bounded": _answers(findings.bounded, lambda b: {"verdict": b.verdict, "reason": b.reason}),
        "band": _answers(
            findings.bands,
            lambda b: {
                "target": b.target,
                "method": b.method,
                "status": b.status.name,
                "reason": b.reason,
            },
        ),
        "intervals": _answers(
            findings.intervals,
            lambda i: {
                "method": i.method,
                "status": i.status.name,
                "reason": i.reason,
                "lower": _by_name(i.names, i.lower),
                "upper": _by_name(i.names, i.upper),
            },
        ),
    }
    _write_json(content, path)


def write_summaries(
    region: Region, summaries: Sequence[Summary], about: dict[str, Any], out: Path
) -> list[Path]:
    """Write summary.csv, one row for each level and coefficient, and summary.json."""
    tables = []
    for summary in summaries:
        table = summary.to_frame().rename(columns={"level": "attained_level"})
        table.insert(0, "name", summary.names)
        table.insert(0, "level", summary.requested_level)
        tables.append(table)
    pd.concat(tables).to_csv(out / "summary.csv", index=False, lineterminator="\n")
    content = {
        **_setting(region, about),
        "summaries": [
            {
                "level": summary.requested_level,
                "simultaneous": summary.simultaneous,
                "assumptions": [summary.assumption],
                "notes": summary.explanation.sentences(Language.COMMAND_LINE),
                "coefficients": [
                    {name: _plain(value) for name, value in row.items()}
                    for row in table.drop(columns="level").to_dict("records")
                ],
            }
            for summary, table in zip(summaries, tables, strict=True)
        ],
    }
    _write_json(content, out / "summary.json")
    return [out / "summary.json", out / "summary.csv"]


def _setting(region: Region, about: dict[str, Any]) -> dict[str, Any]:
    """Return what a result was computed from."""
    return {
        "unassuming": __version__,
        **about,
        "rows": region.n,
        "seed": region.seed,
        "noise": repr(region.noise),
    }


def _write_json(content: dict[str, Any], path: Path) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _classes(region: Any) -> dict[str, str] | None:
    """Return the labels of the classes, or None for a regression."""
    classes = region.problem.classes
    return None if classes is None else {"+1": str(classes[1]), "-1": str(classes[0])}


def _answers(answer: Answer | None, fields: Callable[[Any], dict[str, Any]]) -> Any:
    if answer is None:
        return None
    if answer.refusal:
        return {"not available": answer.refusal}
    return [{"level": level, **fields(one)} for level, one in answer.by_level.items()]


def _by_name(names: Sequence[str], values: Any) -> dict[str, float | str]:
    return {name: _plain(value) for name, value in zip(names, values, strict=True)}


def _plain(value: Any) -> Any:
    """Return a number or text for JSON; infinite numbers and NaN are text."""
    if isinstance(value, str):
        return value
    return float(value) if np.isfinite(value) else f"{value:.0f}"


def pictures(findings: Findings, built: Built, target: str) -> dict[str, Callable[..., Any]]:
    """Return the pictures that exist for this region, by file."""
    found: dict[str, Callable[..., Any]] = {}
    region, bound = findings.region, findings.norm_bound
    classify = region.problem.classes is not None
    splines = any(term.kind is Kind.SPLINE for term in built.terms)
    levels = _with_numbers(findings.bands)
    if built.one_number and levels:
        rows = built.X, built.y
        kinds = {"levels": (), "pointwise": levels} if findings.pointwise else {"levels": levels}
        cells = findings.bands.by_level[levels[0]].method == "balanced cells"
        method = "cells" if cells else "joint"
        options: dict[str, Any] = {"norm_bound": bound, "method": method, **kinds}
        options["rows"] = rows
        if findings.inputs.equals(built.grid()):
            options["bands"] = findings.bands.by_level
        picture = partial(plots.band, region, built.grid(), **options)
        found["band.png"] = picture if classify else partial(_labelled, picture, target)
    if built.two_classes and levels:
        options = {"levels": levels, "norm_bound": bound}
        found["classification.png"] = partial(plots.classification, region, **options)
    if findings.intervals is not None and not splines and len(region.names) > 1:
        finite = _with_numbers(findings.intervals)
        if finite and not findings.pointwise and findings.norm_bound is None:
            cells = findings.intervals.by_level[finite[0]].method == "balanced cells"
            method = "cells" if cells else "joint"
            options = {"method": method, "intervals": findings.intervals.by_level}
            picture = partial(plots.coefficients, region, levels=finite, **options)
            found["coefficients.png"] = picture
    return found


def _with_numbers(answer: Answer) -> list[float]:
    """Return the levels with a finite bound that says something; the others have no picture."""
    return [
        level
        for level, bounds in answer.by_level.items()
        if bounds.status not in WITHOUT_NUMBERS and np.isfinite(bounds.upper - bounds.lower).any()
    ]


def without_picture(findings: Findings, built: Built) -> list[str]:
    """Say why the band, or some of its levels, are not drawn."""
    finite = _with_numbers(findings.bands)
    if finite and not (built.one_number or built.two_classes):
        return [_not_one_number(built)]
    missing = [plots.percent(level) for level in findings.bands.by_level if level not in finite]
    if not missing:
        return []
    return [f"No picture at {joined(missing)}: there is no finite band to draw."]


def _not_one_number(built: Built) -> str:
    count = len(built.terms)
    given = f"there are {count} features"
    if count == 1:
        given = f"{built.terms[0].column} is a category"
    return (
        f"No picture of the band: it would need a single numeric feature, and {given}. "
        "See band.csv."
    )


def _labelled(picture: Callable[..., Any], target: str, ax: Any) -> None:
    """Draw a picture whose vertical axis shows the target column."""
    picture(ax=ax)
    ax.set_ylabel(target)


def draw(
    pictures: Mapping[str, Callable[..., Any]], out: Path, height: float = 5.2
) -> tuple[list[Path], str]:
    """Draw the pictures; return the files, and a line if Matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        return [], '\nNo pictures: they need matplotlib, pip install "unassuming[plot]".'
    written = []
    for name, picture in pictures.items():
        figure = Figure(figsize=(7, height), layout="constrained")
        try:
            picture(ax=figure.subplots())
        except NotAvailable:  # the report gives the reason
            continue
        figure.savefig(out / name, dpi=120, metadata=plots.WITHOUT_DATE)
        written.append(out / name)
    return written, ""

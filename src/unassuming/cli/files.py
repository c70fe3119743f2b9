"""The files of a command: tables, JSON and pictures. The same command writes the same bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import unassuming as ua
from unassuming.cli.build import Built
from unassuming.cli.terms import Kind
from unassuming.regions import Language

_OURS = {
    "region": ("region.json", "band.csv", "band.png", "classification.png", "coefficients.png"),
    "summary": ("summary.json", "summary.csv", "forest.png"),
}
"""The files of each command."""

WITHOUT_NUMBERS = ("EMPTY", "TRIVIAL")
"""The status of bounds that have no width."""


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


def write_text(path: Path, text: str) -> Path:
    """Write a file as a whole, or leave what was there."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def write_band(inputs: pd.DataFrame, bands: Mapping[float, ua.regions.Band], path: Path) -> Path:
    """Write one row for each level and input."""
    tables = []
    for level, band in bands.items():
        answers = band.to_frame().reset_index(drop=True).iloc[:, inputs.shape[1] :]
        answers = answers.drop(columns="level", errors="ignore")
        answers["attained_level"] = level if band.attained is None else band.attained
        answers.insert(0, "level", level)
        same = {name: f"input {name}" for name in inputs if name in answers}
        table = inputs.reset_index(drop=True).rename(columns=same)
        tables.append(pd.concat([table, answers], axis=1))
    return write_text(path, pd.concat(tables).to_csv(index=False, na_rep="nan"))


def write_region(built: Built, content: dict[str, Any], path: Path) -> Path:
    """Write assumptions and results. Infinite numbers are the strings "inf" and "-inf"."""
    region, classes = built.region, built.region.problem.classes
    said = region.text(Language.COMMAND_LINE, built.model).splitlines()
    labels = None if classes is None else {"+1": str(classes[1]), "-1": str(classes[0])}
    setting = {**_setting(built), "m": region.m, "classes": labels, "description": said}
    return _write_json({**setting, **content}, path)


def write_summaries(built: Built, summaries: Sequence[ua.Summary], out: Path) -> list[Path]:
    """Write summary.csv, one row for each level and coefficient, and summary.json."""
    tables = []
    for summary in summaries:
        table = summary.to_frame().rename(columns={"level": "attained_level"})
        table.insert(0, "name", summary.names)
        table.insert(0, "level", summary.requested_level)
        tables.append(table)
    text = pd.concat(tables).to_csv(index=False, lineterminator="\n")
    content = [
        {
            "level": summary.requested_level,
            "simultaneous": summary.simultaneous,
            "assumptions": [summary.assumption],
            "notes": list(summary.explanation.sentences(Language.COMMAND_LINE)),
            "coefficients": [
                {name: plain(value) for name, value in row.items()}
                for row in table.drop(columns="level").to_dict("records")
            ],
        }
        for summary, table in zip(summaries, tables, strict=True)
    ]
    written = _write_json({**_setting(built), "summaries": content}, out / "summary.json")
    return [written, write_text(out / "summary.csv", text)]


def _setting(built: Built) -> dict[str, Any]:
    """Return what was asked, and what a result was computed from."""
    problem, region = built.problem, built.region
    return {
        "unassuming": ua.__version__,
        "data": problem.data.name,
        "target": problem.target,
        "features": built.columns.features,
        "terms": {term.column: term.kind.value for term in built.terms},
        "knots": {term.column: list(term.knots) for term in built.terms if term.knots},
        "model": str(problem.model),
        "options": problem.options,
        **{name: getattr(problem, name) for name in ("clusters", "blocks", "weights")},
        "rows_dropped": built.dropped,
        "rows": region.n,
        "seed": region.seed,
        "noise": repr(region.noise),
    }


def _write_json(content: dict[str, Any], path: Path) -> Path:
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    return write_text(path, text + "\n")


def plain(value: Any, names: Sequence[str] = ()) -> Any:
    """Return a value for JSON, an array by names; infinite numbers and NaN are text."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, np.ndarray):
        return {name: plain(one) for name, one in zip(names, value, strict=True)}
    if value is None or isinstance(value, str):
        return value
    return float(value) if np.isfinite(value) else f"{value:.0f}"


# --- pictures -------------------------------------------------------------------------------------


def with_numbers(answers: Mapping[float, Any]) -> list[float]:
    """Return the levels with a finite bound that says something; the others have no picture."""
    return [
        level
        for level, bounds in answers.items()
        if bounds.status.name not in WITHOUT_NUMBERS
        and np.isfinite(bounds.upper - bounds.lower).any()
    ]


def pictures(
    built: Built,
    inputs: pd.DataFrame,
    bands: Mapping[float, Any],
    intervals: Mapping[float, Any],
    options: dict[str, Any],
) -> dict[str, Callable[..., Any]]:
    """Return the pictures that exist for this region, by file."""
    found: dict[str, Callable[..., Any]] = {}
    region, terms, levels = built.region, built.terms, with_numbers(bands)
    pointwise = not options["simultaneous"]
    norm_bound = options["norm_bound"]
    classify = region.problem.classes is not None
    if built.one_number and levels:
        kinds = {"levels": (), "pointwise": levels} if pointwise else {"levels": levels}
        more: dict[str, Any] = {"norm_bound": norm_bound, "method": _method(bands, levels), **kinds}
        if inputs.equals(built.inputs()):
            more["bands"] = bands
        rows = (built.X, built.y)
        picture = partial(ua.plots.band, region, built.inputs(), rows=rows, **more)
        target = built.problem.target
        found["band.png"] = picture if classify else partial(_labelled, picture, target)
    two_numbers = len(terms) == 2 and all(term.kind is not Kind.INDICATORS for term in terms)
    if classify and two_numbers and levels:
        more = {"levels": levels, "norm_bound": norm_bound}
        found["classification.png"] = partial(ua.plots.classification, region, **more)
    finite, splines = with_numbers(intervals), any(term.kind is Kind.SPLINE for term in terms)
    if finite and len(region.names) > 1 and not splines and not pointwise and norm_bound is None:
        more = {"method": _method(intervals, finite), "intervals": intervals, "levels": finite}
        found["coefficients.png"] = partial(ua.plots.coefficients, region, **more)
    return found


def _method(answers: Mapping[float, Any], levels: Sequence[float]) -> str:
    """Return where simultaneous bounds come from."""
    return "cells" if answers[levels[0]].method == "balanced cells" else "joint"


def _labelled(picture: Callable[..., Any], target: str, ax: Any) -> None:
    """Draw a picture whose vertical axis shows the target column."""
    picture(ax=ax)
    ax.set_ylabel(target)


def forest(summaries: Sequence[ua.Summary]) -> dict[str, Callable[..., Any]]:
    """Return a picture of the first summary with a finite end, without the intercept."""
    for summary in summaries:
        ends = [np.ravel(one.ends) for one in summary.sets or ()]
        if np.isfinite(np.concatenate([summary.lower, summary.upper, *ends])).any():
            names = [name for name in summary.names if name != "intercept"]
            return {"forest.png": partial(ua.plots.forest, summary, names or summary.names)}
    return {}


def draw(
    pictures: Mapping[str, Callable[..., Any]], out: Path, height: float = 5.2
) -> tuple[list[Path], str]:
    """Draw the pictures; return the files, and a line if Matplotlib is missing."""
    if not pictures:
        return [], ""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        return [], '\nNo pictures: they need matplotlib, pip install "unassuming[plot]".'
    from unassuming.plots.canvas import WITHOUT_DATE

    written = []
    for name, picture in pictures.items():
        figure = Figure(figsize=(7, height), layout="constrained")
        try:
            picture(ax=figure.subplots())
        except ua.NotAvailable:  # the command gives the reason
            continue
        figure.savefig(out / name, dpi=120, metadata=WITHOUT_DATE)
        written.append(out / name)
    return written, ""

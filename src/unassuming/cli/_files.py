"""The files of a report: the same command writes the same bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unassuming import plots
from unassuming._errors import NotAvailable
from unassuming._frames import apart
from unassuming._version import __version__
from unassuming.cli._built import Built
from unassuming.cli._findings import Answer, Findings

_OURS = ("region.json", "band.csv", "band.png", "classification.png", "coefficients.png")


def check_writable(out: Path, option: str) -> None:
    """Refuse a directory that cannot be created or written to, before the work."""
    there = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(
            f"{option} cannot be written to: expected a directory that exists or can be created, "
            f"given {out}. Choose another one."
        )


def remove_others(out: Path, written: list[Path]) -> None:
    """Remove files of an earlier run that would seem to belong to this one."""
    for name in _OURS:
        if out / name not in written:
            (out / name).unlink(missing_ok=True)


def write_band(findings: Findings, path: Path) -> bool:
    """Write one row for each level and input; return False if there is no band."""
    tables = []
    for level, band in findings.bands.by_level.items():
        table = findings.inputs.reset_index(drop=True)
        answers = {"level": level, **band._columns()}
        columns = {**apart(dict(table.items()), answers), **answers}
        tables.append(pd.DataFrame(columns, index=table.index))
    if tables:
        pd.concat(tables).to_csv(path, index=False, lineterminator="\n")
    return bool(tables)


def write_region(findings: Findings, about: dict[str, Any], path: Path) -> None:
    """Write assumptions and results. Infinite numbers are the strings "inf" and "-inf"."""
    region = findings.region
    content = {
        "unassuming": __version__,
        **about,
        "rows": region.n,
        "m": region.m,
        "seed": region.seed,
        "noise": repr(region.noise),
        "classes": _classes(region),
        "norm_bound": findings.norm_bound,
        "description": str(region).splitlines(),
        "estimate": None
        if findings.estimate is None
        else _by_name(region.names, findings.estimate),
        "bounded": _answers(findings.bounded, lambda b: {"verdict": b.verdict, "reason": b.reason}),
        "band": _answers(
            findings.bands,
            lambda b: {"target": b.target, "status": b.status.name, "reason": b.reason},
        ),
        "intervals": _answers(
            findings.intervals,
            lambda i: {
                "status": i.status.name,
                "reason": i.reason,
                "lower": _by_name(i.names, i.lower),
                "upper": _by_name(i.names, i.upper),
            },
        ),
    }
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
    plain = [float(v) if np.isfinite(v) else f"{v:.0f}" for v in values]
    return dict(zip(names, plain, strict=True))


def draw(findings: Findings, built: Built, out: Path, *, splines: bool) -> list[Path]:
    """Draw the pictures that exist for this region; return the files."""
    from matplotlib.figure import Figure

    pictures: dict[str, Callable[..., Any]] = {}
    region, bound = findings.region, findings.norm_bound
    features, classify = built.X.shape[1], region.problem.classes is not None
    if features == 1 and findings.bands.by_level:
        rows = built.X, built.y
        pictures["band.png"] = partial(plots.band, X=built.grid(), norm_bound=bound, rows=rows)
    if features == 2 and classify and findings.bands.by_level:
        pictures["classification.png"] = partial(plots.classification, norm_bound=bound)
    if findings.primal and not splines and len(region.names) > 1:
        pictures["coefficients.png"] = plots.coefficients
    written = []
    for name, picture in pictures.items():
        figure = Figure(figsize=(7, 5.2), layout="constrained")
        try:
            picture(region, levels=findings.levels, ax=figure.subplots())
        except NotAvailable:  # the report gives the reason
            continue
        figure.savefig(out / name, dpi=120, metadata=plots.WITHOUT_DATE)
        written.append(out / name)
    return written

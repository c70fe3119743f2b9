"""The files of a report: the same bytes for the same command."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
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
from unassuming.plots import WITHOUT_DATE

_OURS = ("region.json", "band.csv", "band.png", "classification.png", "coefficients.png")


def check_writable(out: Path, option: str) -> None:
    """Refuse a directory that cannot be made or written to, before the work is done."""
    there = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(
            f"{option} cannot be written to: expected a directory, or a place where one can be "
            f"made, given {out}. Choose another one."
        )


def remove_others(out: Path, written: list[Path]) -> None:
    """Remove what an earlier run has left under our names: it would pass for part of this one."""
    for name in _OURS:
        if out / name not in written:
            (out / name).unlink(missing_ok=True)


def write_band(findings: Findings, path: Path) -> bool:
    """Write one row for each level and input; False if there is no band."""
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
    """Write what was assumed and found. Infinite numbers are the strings "inf" and "-inf"."""
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
        "estimate": dict(zip(region.names, _plain(region.estimate), strict=True)),
        "bounded": _answers(findings.bounded, lambda b: {"verdict": b.verdict, "reason": b.reason}),
        "band": _answers(
            findings.bands,
            lambda b: {"target": b.target, "status": b.status.name, "reason": b.reason},
        ),
        "intervals": None
        if findings.intervals is None
        else _answers(
            findings.intervals,
            lambda i: {
                "status": i.status.name,
                "reason": i.reason,
                "lower": dict(zip(i.names, _plain(i.lower), strict=True)),
                "upper": dict(zip(i.names, _plain(i.upper), strict=True)),
            },
        ),
    }
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def _classes(region: Any) -> dict[str, str] | None:
    """Say which label is which, or return None for a regression."""
    classes = region.problem.classes
    return None if classes is None else {"+1": str(classes[1]), "-1": str(classes[0])}


def _answers(answer: Answer, fields: Callable[[Any], dict[str, Any]]) -> Any:
    if answer.refusal:
        return {"not available": answer.refusal}
    return [{"level": level, **fields(one)} for level, one in answer.by_level.items()]


def _plain(values: Any) -> list[float | str]:
    return [float(v) if np.isfinite(v) else f"{v:.0f}" for v in values]


def draw(findings: Findings, built: Built, out: Path, *, splines: bool) -> list[Path]:
    """Draw what can be drawn of the region; return the files."""
    from matplotlib.figure import Figure

    pictures: dict[str, Callable[[Any], Any]] = {}
    region, levels, bound = findings.region, findings.levels, findings.norm_bound
    features, classify = built.X.shape[1], region.problem.classes is not None
    if features == 1 and findings.bands.by_level:
        pictures["band.png"] = lambda ax: plots.band(
            region, built.grid(), levels, norm_bound=bound, rows=(built.X, built.y), ax=ax
        )
    if features == 2 and classify and findings.bands.by_level:
        pictures["classification.png"] = lambda ax: plots.classification(
            region, levels, norm_bound=bound, ax=ax
        )
    if findings.primal and not splines and len(region.names) > 1:
        pictures["coefficients.png"] = lambda ax: plots.coefficients(region, levels=levels, ax=ax)
    written = []
    for name, make in pictures.items():
        figure = Figure(figsize=(7, 5.2), layout="constrained")
        try:
            make(figure.subplots())
        except NotAvailable:  # said already, where the numbers are
            continue
        figure.savefig(out / name, dpi=120, metadata=WITHOUT_DATE)
        written.append(out / name)
    return written

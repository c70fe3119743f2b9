"""``unassuming arx``: the region of a dynamical system, from a table whose rows are times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import typer

from unassuming import plots
from unassuming.cli._files import check_writable, draw
from unassuming.cli._terminal import print_table, stages
from unassuming.cli.tables import Reading, Source, choose, load, open_source
from unassuming.models import ARX
from unassuming.plots.canvas import percent
from unassuming.regions import Language, Region, confidence_region

_OF_SEVERAL = (
    "Each row lists the values of one coefficient that lie in the region, with the others at the "
    "estimate, found by a search on a grid. These are not confidence intervals."
)
_OF_ONE = (
    "These values of the coefficient lie in the region, found by a search on a grid. The ends are "
    "not certified."
)


@dataclass(frozen=True)
class System:
    """The columns and the orders, as they were given."""

    data: Path
    target: str
    input: str | None
    model: ARX
    reading: Reading

    def series(self, source: Source) -> tuple[Any, Any]:
        """Return the input, or None, and the output."""
        if self.input is None and self.model.nb:
            raise ValueError(
                "--input is missing: expected the column of the input, given none. Name it, or "
                "pass --nb 0 for a model without input."
            )
        named = self.input if self.model.nb else None
        columns = choose(source, self.target, named, {}, inputs=False)
        if len(columns.features) > 1:
            raise ValueError(
                f"--input names several columns: expected one, given {self.input}. Name one column."
            )
        gaps = "Fill them in, or take a part of the series without gaps."
        table = load(source, replace(columns, about_missing=gaps))
        return None if named is None else table.X.iloc[:, 0].to_numpy(), table.y.to_numpy()


def run(
    system: System,
    candidates: list[str],
    levels: list[float],
    settings: dict[str, Any],
    out: Path,
) -> None:
    """Build the region, print coefficients and tests, draw two coefficients."""
    check_writable(out, "--out")
    u, y = system.series(open_source(system.data, system.reading))
    with stages(2) as begin:
        begin("building the region")
        region = confidence_region(system.model, u, y, **settings)
        tested = [(text, region.test(_numbers(text, region))) for text in candidates]
        begin("lines and pictures")
        ordered = sorted(levels, reverse=True)
        lines = {level: region.crossings(np.eye(len(region.names)), level) for level in ordered}
        out.mkdir(parents=True, exist_ok=True)
        picture = partial(plots.coefficients, region, levels=ordered)
        found = {"coefficients.png": picture} if len(region.names) > 1 else {}
        written, missing = draw(found, out)
    given = "" if u is None else f", input {system.input}"
    typer.echo(f"{system.data.name}: output {system.target}{given}, rows in the order of time\n")
    typer.echo(f"{region.text(Language.COMMAND_LINE)}\n")
    head = ["coefficient", "estimate", *(f"alone, {percent(level)}" for level in ordered)]
    rows = [
        [name, f"{value:.4g}", *(_spans(lines[level][j], value) for level in ordered)]
        for j, (name, value) in enumerate(zip(region.names, region.estimate, strict=True))
    ]
    print_table(head, rows, right=1)
    typer.echo(f"\n{_OF_SEVERAL if len(region.names) > 1 else _OF_ONE}\n")
    for text, result in tested:
        typer.echo(f"Hypothesis: [{', '.join(region.names)}] = [{text}].\n{result}\n")
    if written:
        typer.echo(f"Wrote {', '.join(map(str, written))}.{missing}")


def _numbers(text: str, region: Region) -> np.ndarray[Any, Any]:
    """Return the coefficients of a candidate."""
    try:
        values = np.array([float(part) for part in text.split(",")])
    except ValueError:
        values = np.empty(0)
    if len(values) != len(region.names) or not np.isfinite(values).all():
        names = ",".join(region.names)
        raise ValueError(
            f"--candidate does not give the coefficients: expected {len(region.names)} numbers "
            f"{names}, given {text!r}. Separate them by commas."
        )
    return values


def _spans(spans: Any, value: float) -> str:
    """Return the intervals of a coefficient."""
    return ", ".join(f"[{value + low:.4g}, {value + high:.4g}]" for low, high in spans) or "none"

"""``unassuming paper``: the figures of the article, with a table for each."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

import typer

from unassuming.cli._files import check_writable
from unassuming.cli._terminal import followed, print_table
from unassuming.paper import COLUMNS, FIGURES, Reproduction, draw, reproduce, rows, write_table
from unassuming.paper.figures import REVERSED
from unassuming.plots.canvas import percent, require_matplotlib

INTRODUCTION = """
The figures of Csáji and Kis, Distribution-Free Uncertainty Quantification for Kernel Methods by
Gradient Perturbations, with the settings of their captions and m = 100 statistics. Coverage is
counted over fresh samples; for an exact region, each interval contains the level with probability
at least 0.99. Rows are not independent: they share samples.
"""


def run(figure: int | None, members: int, repetitions: int, out: Path, seed: int) -> None:
    """Reproduce one figure or all of them."""
    require_matplotlib()
    check_writable(out, "--out")
    out.mkdir(parents=True, exist_ok=True)
    typer.echo(f"{INTRODUCTION.strip()}\n\n{fill(REVERSED, 100)}")
    for number in FIGURES if figure is None else (figure,):
        found = reproduce(number, members, repetitions, seed, followed)
        picture, table = (out / f"figure-{number}.{ending}" for ending in ("png", "csv"))
        write_table(COLUMNS, rows(found), table)
        draw(found, picture)
        _print(found)
        typer.echo(f"\nPicture saved as {picture}, table as {table}.")


def _print(found: Reproduction) -> None:
    figure = found.figure
    typer.echo(f"\nFigure {figure.number}: {figure.title}\n")
    print_table(
        ("panel", "method", "level", "bounded", "coverage", "99 % interval", "guarantee"),
        [
            (
                row["panel"],
                row["method"],
                f"{row['level']:g}",
                row.get("bounded", "-"),
                f"{float(row['coverage']):.3f}",
                f"[{float(row['low']):.3f}, {float(row['high']):.3f}]" if "low" in row else "-",
                row["promise"],
            )
            for row in rows(found)
        ],
        right=2,
    )
    for panel in found.panels:
        if panel.rasters:
            counts = panel.members
            typer.echo(
                f"{panel.setting.panel}: {counts[:-1].sum():,} of {counts.sum():,} random "
                f"coefficient vectors are in the {percent(1 - 1 / panel.region.m)} region."
            )
    notes = [panel.setting.note for panel in found.panels] + list(figure.notes)
    for note in dict.fromkeys(note for note in notes if note):
        typer.echo(fill(note, 100))

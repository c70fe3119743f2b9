"""``unassuming paper``: the figures of the article, with a table for each."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

import typer

from unassuming.cli._files import check_writable
from unassuming.cli._terminal import followed, print_table
from unassuming.paper import (
    COLUMNS,
    FIGURES,
    SIZE_COLUMNS,
    Reproduction,
    draw,
    reproduce,
    rows,
    size_rows,
    write_table,
)
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
        saved = f"Picture saved as {picture}, table as {table}"
        if found.figure.sized:
            sizes = out / f"figure-{number}-sizes.csv"
            write_table(SIZE_COLUMNS, size_rows(found), sizes)
            saved += f", sizes as {sizes}"
        typer.echo(f"\n{saved}.")


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
        if panel.members is not None and panel.ends is not None:
            counts = panel.members
            typer.echo(
                f"{panel.setting.panel}: {panel.ends.sentence()}; "
                f"{counts[:-1].sum():,} of {counts.sum():,} random coefficient "
                f"vectors are in the {percent(1 - 1 / panel.region.m)} region."
            )
    if found.figure.sized:
        _print_sizes(found)
    notes = [panel.setting.note for panel in found.panels] + list(figure.notes)
    for note in dict.fromkeys(note for note in notes if note):
        typer.echo(fill(note, 100))


def _print_sizes(found: Reproduction) -> None:
    table = size_rows(found)
    said = (
        f"Sizes: median over {table[0]['rays']} rays of functions with mean square one and "
        f"{table[0]['samples']} samples of the distance at which a ray leaves the region for good, "
        "and the share of rays that never leave it. "
    )
    if found.compared is None:
        said += "At no level are all medians finite."
    else:
        said += f"Compare them at level {found.compared:g}, the largest with finite medians."
    typer.echo(f"\n{fill(said, 100)}\n")
    print_table(
        ("panel", "method", "level", "median", "never left"),
        [
            (
                row["panel"],
                row["method"],
                f"{row['level']:g}",
                f"{float(row['median_reach']):.2f}",
                f"{float(row['endless']):.0%}",
            )
            for row in table
        ],
        right=2,
    )
    typer.echo("")

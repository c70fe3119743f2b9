"""Tables on stdout; progress on stderr if that is a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

T = TypeVar("T")


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: int) -> None:
    """Print a table; the columns from number ``right`` on are aligned to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for j, name in enumerate(head):
        table.add_column(name, justify="right" if j >= right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 200
    console.print(table)


def _progress(*columns: Any) -> Progress:
    """Return a progress bar that shows itself on a terminal only."""
    console = Console(stderr=True)
    console.quiet = (
        not console.is_terminal
    )  # before rich 14.1 a disabled bar ends with a line break
    return Progress(*columns, console=console, transient=True, disable=console.quiet)


def followed(work: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Yield the items with a progress bar."""
    with _progress() as progress:
        yield from progress.track(work, total=total, description=what)


@contextmanager
def row_counter(what: str, before: int = 0) -> Iterator[Callable[[int, float], None]]:
    """Show the rows, rows per second and share of a file that were read.

    Yields a function of the number of further rows and the share from 0 to 1; an earlier run has
    read ``before`` rows.
    """
    started, rows = time.monotonic(), 0
    with _progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]}"),
        TimeRemainingColumn(),
    ) as progress:
        task = progress.add_task(what, total=1.0, rows="")

        def update(further: int, share: float) -> None:
            nonlocal rows
            rows += further
            speed = rows / max(time.monotonic() - started, 1e-9)
            text = f"{before + rows:,} rows, {speed:,.0f} rows/s"
            progress.update(task, completed=share, rows=text)

        yield update


def say(kind: str, message: str) -> None:
    """Write one line on stderr."""
    typer.echo(f"{kind}: {' '.join(message.split())}", err=True)


@contextmanager
def stages(count: int) -> Iterator[Callable[[str], None]]:
    """Show the stage of the work; yields a function that begins the next stage, by name."""
    with _progress() as progress:
        task = progress.add_task("", total=count)

        def begin(what: str) -> None:
            progress.update(task, description=what, advance=1)

        yield begin

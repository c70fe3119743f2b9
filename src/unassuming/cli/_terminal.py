"""What people see: tables on stdout, progress on stderr if that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

T = TypeVar("T")


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: int) -> None:
    """Print a table; the columns from number ``right`` on are numbers, to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for j, name in enumerate(head):
        table.add_column(name, justify="right" if j >= right else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 200
    console.print(table)


def followed(work: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Yield the items with a progress bar, on a terminal only."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        yield from progress.track(work, total=total, description=what)


@contextmanager
def stages(count: int) -> Iterator[Callable[[str], None]]:
    """Show which of several stages is at work, on a terminal only; call what is given at each."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=count)

        def begin(what: str) -> None:
            progress.update(task, description=what, advance=1)

        yield begin

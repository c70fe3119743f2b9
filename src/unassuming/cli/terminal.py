"""Tables on stdout; notes, errors and progress on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import typer

T = TypeVar("T")


class Interrupted(Exception):
    """Work was stopped on request; the message says how to continue."""


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: int) -> None:
    """Print a table; the columns from number ``right`` on are aligned to the right."""
    cells = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = [
            text.rjust(width) if j >= right else text.ljust(width)
            for j, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(padded).rstrip())


def say(kind: str, message: str) -> None:
    """Write one line on stderr."""
    typer.echo(f"{kind}: {' '.join(message.split())}", err=True)


@contextmanager
def progress(what: str) -> Iterator[Callable[[float], None]]:
    """Show on a terminal what is being done; the yielded function shows the share done."""

    def show(text: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    show(what)
    try:
        yield lambda share: show(f"{what} {share:4.0%}")
    finally:
        show("")


def followed(work: Iterable[T], what: str, total: int) -> Iterator[T]:
    """Yield the items and show the share that is done."""
    with progress(what) as update:
        for done, one in enumerate(work):
            update(done / total)
            yield one
